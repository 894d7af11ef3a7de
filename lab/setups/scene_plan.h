/* SPDX-License-Identifier: MIT */
/* A scene made ready for many trials, and a block of trials on one thread. */
#ifndef LAB_SCENE_PLAN_H
#define LAB_SCENE_PLAN_H

#include "lab/measure/trials.h"
#include "lab/setups/scene.h"

enum lab_form {
    LAB_COLLAPSED, /* unwanted keys as one */
    LAB_PROJECTED, /* all keys, in the space that the queries span */
    LAB_DRAWN      /* all keys, all entries */
};

/* What is the same in every trial; shared by the threads. */
struct lab_plan {
    const struct lab_scene *scene;
    enum lab_form form;
    attend_dtype dtype;
    int64_t n, nk, d, sets; /* keys of one trial: [sets][nk][d] */
    int64_t noisy;          /* keys 0 .. noisy-1 of each set have magnitude noise */
    int64_t block;          /* trials of a block */
    int dv, averaged;
    uint64_t seed, stream;
    attend_rule rule;
    void *q, *v, *bias; /* [heads][d], [nk][dv], [nk] */
    lab_observe observe;
    void *arg;
    int count;
};

/* The scratch of one thread. */
struct lab_scene_room {
    void *k, *out, *weights; /* [block][sets][nk][d], [block][heads][dv], [..][nk] */
    float *normals;          /* [block][sets][noisy] magnitudes, then other entries */
    double *values;          /* [count][block] */
    double *gamma;           /* [block][wanted] */
};

/* Element `at` of an array of f64, or else of f32. */
static inline void lab_put(void *array, attend_dtype dtype, int64_t at, double x)
{
    if (dtype == ATTEND_F64)
        ((double *)array)[at] = x;
    else
        ((float *)array)[at] = (float)x;
}

static inline double lab_get(const void *array, attend_dtype dtype, int64_t at)
{
    return dtype == ATTEND_F64 ? ((const double *)array)[at]
                               : (double)((const float *)array)[at];
}

/*
 * From plan->scene, seed, stream, observe, arg and count; the rest is set.  Close it
 * also after a failure.  0, or -1 after lab_fail() or lab_misuse().
 */
int lab_plan_open(struct lab_plan *plan, struct lab_session *session);
void lab_plan_close(struct lab_plan *plan);

/* The numbers that it takes, and its parts. */
size_t lab_scene_room_size(const struct lab_plan *plan);
struct lab_scene_room lab_scene_room(const struct lab_plan *plan, double *scratch);

/*
 * Trials first .. first + trials - 1, at most plan->block of them, by attend_forward();
 * what observe() says of them is in room->values.
 */
attend_status lab_scene_block(const struct lab_plan *plan, struct lab_worker *worker,
                              const struct lab_scene_room *room, int64_t first,
                              int64_t trials);

#endif
