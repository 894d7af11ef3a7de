/* SPDX-License-Identifier: MIT */
#include "lab/setups/scene.h"

#include <float.h>
#include <math.h>

#include "lab/setups/scene_plan.h"

double lab_pair_error(double a, double b, double others_squared)
{
    return (a - 0.5) * (a - 0.5) + (b - 0.5) * (b - 0.5) + others_squared;
}

void lab_scene_set_queries(struct lab_scene *scene, const attend_theory_query *queries,
                           int count)
{
    for (int h = 0; h < count; h++) {
        scene->query[h][0] = queries[h].a;
        scene->query[h][1] = queries[h].b;
        scene->rest_query[h] = queries[h].rest;
    }
}

attend_theory_scene lab_scene_law(const struct lab_scene *scene, int positive)
{
    attend_theory_scene law = attend_theory_scene_exercise((double)scene->n, 0, positive);

    law.tau = scene->tau;
    law.alpha = scene->alpha;
    law.softcap = scene->softcap;
    for (int kind = 0; kind < (int)scene->noisy; kind++)
        law.sigma2[kind] = scene->sigma2;
    return law;
}

attend_theory_query lab_scene_query(const struct lab_scene *scene, int head)
{
    return (attend_theory_query){.a = scene->query[head][0],
                                 .b = scene->query[head][1],
                                 .rest = scene->rest_query[head]};
}

attend_theory_output lab_scene_theory(const struct lab_scene *scene, int positive)
{
    const attend_theory_scene law = lab_scene_law(scene, positive);
    attend_theory_query query[LAB_HEADS_MAX];
    const int heads = scene->averaged > 0 ? scene->averaged : scene->heads;

    for (int h = 0; h < heads; h++)
        query[h] = lab_scene_query(scene, h);
    if (scene->unit_keys)
        return attend_theory_unit_keys(&law, query[0]);
    return heads == 1 ? attend_theory_head(&law, query[0])
                      : attend_theory_heads(&law, query, heads);
}

struct measurement {
    struct lab_plan plan;
    struct lab_histogram *const *histograms;
};

static attend_status perform(const void *arg, struct lab_worker *worker, int64_t first,
                             int64_t trials, struct lab_block *block)
{
    const struct measurement *const m = arg;
    const struct lab_plan *const plan = &m->plan;
    const struct lab_scene_room room = lab_scene_room(plan, worker->scratch);
    const attend_status status = lab_scene_block(plan, worker, &room, first, trials);
    for (int c = 0; c < plan->count && status == ATTEND_OK; c++) {
        const double *const values = room.values + c * plan->block;
        block->moments[c] = lab_moments_of(values, trials);
        for (int64_t t = 0; t < trials && m->histograms && m->histograms[c]; t++)
            lab_histogram_add(&block->histogram[c], values[t]);
    }
    return status;
}

/*
 * What f32 does to a weight, relative to it: a few roundings of its own, and those of a
 * score, which are as large as the score.
 */
static double rounding_of(const struct lab_plan *plan)
{
    const struct lab_scene *const scene = plan->scene;
    double largest = 1;

    if (plan->dtype == ATTEND_F64)
        return 0;
    for (int h = 0; h < scene->heads; h++) {
        largest = fmax(largest, scene->tau * fabs(scene->rest_query[h]));
        for (int i = 0; i < scene->wanted; i++)
            largest = fmax(largest, scene->tau * fabs(scene->query[h][i]));
    }
    return 4 * (double)FLT_EPSILON * largest;
}

int lab_scene_measure(struct lab_session *session, const struct lab_scene *scene,
                      uint64_t stream, int64_t trials, lab_observe observe, void *arg,
                      int count, struct lab_moments *moments,
                      struct lab_histogram *const *histograms)
{
    struct measurement m = {.plan = {.scene = scene,
                                     .seed = session->seed,
                                     .stream = stream,
                                     .observe = observe,
                                     .arg = arg,
                                     .count = count},
                            .histograms = histograms};
    int failed = lab_plan_open(&m.plan, session);

    if (!failed) {
        const struct lab_blocks blocks = {.trials = trials,
                                          .size = m.plan.block,
                                          .count = count,
                                          .scratch = lab_scene_room_size(&m.plan),
                                          .perform = perform,
                                          .arg = &m};
        failed = lab_measure_blocks(session, &blocks, moments, histograms);
        for (int c = 0; c < count; c++) {
            moments[c].sure = m.plan.noisy == 0 && scene->alpha <= 0;
            moments[c].rounding = rounding_of(&m.plan);
        }
    }
    lab_plan_close(&m.plan);
    return failed;
}
