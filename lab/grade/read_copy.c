/* SPDX-License-Identifier: MIT */
/* Question 1a: weights, and when attention copies. */
#include <math.h>
#include <stdlib.h>

#include "lab/grade/probing.h"
#include "lab/measure/random.h"

enum { SCORE_STREAM = 942 };

static double own_score(const struct lab_asked *asked, const struct lab_world *world,
                        int64_t i)
{
    float normal;
    lab_random_normals(asked->exercise->seed, SCORE_STREAM,
                       4096 * (uint64_t)world->number + (uint64_t)i, &normal, 1);
    return world->scale * (double)normal;
}

/* Scores of n keys and their weights, to be freed through *scores. */
static int some_weights(const struct lab_asked *asked, const struct lab_world *world,
                        double **scores, double **weights)
{
    *scores = malloc(2 * (size_t)world->n * sizeof **scores);
    if (!*scores)
        return -1;
    *weights = *scores + world->n;
    for (int64_t i = 0; i < world->n; i++)
        (*scores)[i] = own_score(asked, world, i);
    return lab_exercise_softmax_scores(asked->exercise, world->n, *scores, *weights);
}

/* Key i is the first. */
static void bind_softmax(const struct lab_asked *asked, const struct lab_world *world,
                         struct lab_letters *letters)
{
    double sum = 0;
    for (int64_t i = 0; i < world->n; i++)
        sum += exp(own_score(asked, world, i));
    lab_letters_number(letters, "s_i", own_score(asked, world, 0));
    lab_letters_number(letters, "Z", sum);
    lab_letters_number(letters, "n", (double)world->n);
}

static int read_softmax(const struct lab_asked *asked, const struct lab_world *world,
                        struct lab_found *found)
{
    double *scores = NULL, *weights = NULL, claimed;
    const int status = some_weights(asked, world, &scores, &weights);
    if (!status && !lab_asked_number(asked, 0, world, &claimed, found))
        lab_found_number(found, weights[0], claimed);
    free(scores);
    return status;
}

static int read_sum(const struct lab_asked *asked, const struct lab_world *world,
                    struct lab_found *found)
{
    double *scores = NULL, *weights = NULL, claimed, sum = 0;
    const int status = some_weights(asked, world, &scores, &weights);
    for (int64_t i = 0; !status && i < world->n; i++)
        sum += weights[i];
    if (!status && !lab_asked_number(asked, 0, world, &claimed, found))
        lab_found_number(found, sum, claimed);
    free(scores);
    return status;
}

/* The least and the largest weight of random scores. */
static int extremes(const struct lab_asked *asked, const struct lab_world *world,
                    double *least, double *most)
{
    double *scores = NULL, *weights = NULL;
    const int status = some_weights(asked, world, &scores, &weights);
    *least = INFINITY;
    *most = -INFINITY;
    for (int64_t i = 0; !status && i < world->n; i++) {
        *least = fmin(*least, weights[i]);
        *most = fmax(*most, weights[i]);
    }
    free(scores);
    return status;
}

/* No weight is outside of the bounds, and a score that leads by 1000 comes to both. */
static int read_bounds(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_found *found)
{
    const double leading[2] = {1000, 0};
    double low, high, least, most, reached[2];
    if (extremes(asked, world, &least, &most) ||
        lab_exercise_softmax_scores(asked->exercise, 2, leading, reached))
        return -1;
    if (lab_asked_number(asked, 0, world, &low, found) ||
        lab_asked_number(asked, 1, world, &high, found))
        return 0;
    if (least < low - 1e-12)
        lab_found_number(found, least, low);
    else if (most > high + 1e-12)
        lab_found_number(found, most, high);
    else if (fabs(reached[1] - low) > 1e-9)
        lab_found_number(found, reached[1], low);
    else
        lab_found_number(found, reached[0], high);
    return 0;
}

const struct lab_probing lab_probe_softmax = {
    .bind = bind_softmax,
    .read = read_softmax,
    .number = 1,
};
const struct lab_probing lab_probe_sum = {
    .bind = bind_softmax,
    .read = read_sum,
    .number = 1,
};
const struct lab_probing lab_probe_bounds = {
    .bind = bind_softmax,
    .read = read_bounds,
};

/* ---- copies -------------------------------------------------------------------- */

static int weight_of_copy(const struct lab_asked *asked, const struct lab_world *world,
                          struct lab_pair_query query, struct lab_pair_weights *p)
{
    return lab_exercise_pair(asked->exercise, world->n, query, p);
}

static void found_copy(const struct lab_pair_weights *p, struct lab_found *found)
{
    *found = (struct lab_found){
        .computed = p->a, .claimed = 1, .error = lab_pair_distance(p, 1, 0)};
}

/* |k_j| is the scale and the query, of length 1, stands at 100 degrees to it. */
static int read_long_key(const struct lab_asked *asked, const struct lab_world *world,
                         struct lab_found *found)
{
    const double angle = 100 * 3.14159265358979323846 / 180;
    const struct lab_pair_query query = {world->scale * cos(angle), sin(angle), 0};
    struct lab_pair_weights p;
    if (weight_of_copy(asked, world, query, &p))
        return -1;
    found_copy(&p, found);
    return 0;
}

/* Choices: gap, key-length, angle. */
static int read_condition(const struct lab_asked *asked, const struct lab_world *world,
                          struct lab_found *found)
{
    const double scale = asked->choice[0] == 0 ? world->scale : asked->exercise->unit;
    struct lab_pair_weights p;
    if (asked->choice[0] == 1)
        return read_long_key(asked, world, found);
    if (weight_of_copy(asked, world, (struct lab_pair_query){.a = scale}, &p))
        return -1;
    found_copy(&p, found);
    return 0;
}

/* Choices: aligned, aligned-and-long; within 0.1 rad of k_j. */
static int read_needs(const struct lab_asked *asked, const struct lab_world *world,
                      struct lab_found *found)
{
    const double angle = 0.1;
    const double length = asked->choice[0] ? world->scale : asked->exercise->unit;
    const struct lab_pair_query query = {length * cos(angle), length * sin(angle), 0};
    struct lab_pair_weights p;
    if (weight_of_copy(asked, world, query, &p))
        return -1;
    found_copy(&p, found);
    return 0;
}

static void bind_gap(const struct lab_asked *asked, const struct lab_world *world,
                     struct lab_letters *letters)
{
    (void)asked;
    lab_letters_number(letters, "D", world->scale);
    lab_letters_number(letters, "n", (double)world->n);
}

/* v_o is the mean of the other values, of length 1 / sqrt(n - 1). */
static void bind_copy(const struct lab_asked *asked, const struct lab_world *world,
                      struct lab_letters *letters)
{
    const double n = (double)world->n, v_j[] = {1, 0}, v_o[] = {0, 1 / sqrt(n - 1)};
    struct lab_pair_weights p = {0};
    lab_exercise_pair(asked->exercise, world->n,
                      (struct lab_pair_query){.a = world->scale}, &p);
    bind_gap(asked, world, letters);
    lab_letters_number(letters, "j", 2);
    lab_letters_number(letters, "p_j", p.a);
    lab_letters_matrix(letters, "v_j", 2, 1, v_j);
    lab_letters_matrix(letters, "v_o", 2, 1, v_o);
}

static int read_copy_weight(const struct lab_asked *asked, const struct lab_world *world,
                            struct lab_found *found)
{
    struct lab_pair_weights p;
    double claimed;
    if (weight_of_copy(asked, world, (struct lab_pair_query){.a = world->scale}, &p))
        return -1;
    if (!lab_asked_number(asked, 0, world, &claimed, found))
        lab_found_number(found, p.a, claimed);
    return 0;
}

static int read_copy_output(const struct lab_asked *asked, const struct lab_world *world,
                            struct lab_found *found)
{
    struct lab_letters letters = {0};
    struct lab_value claimed;
    struct lab_pair_weights p;
    if (weight_of_copy(asked, world, (struct lab_pair_query){.a = world->scale}, &p))
        return -1;
    bind_copy(asked, world, &letters);
    if (lab_asked_value(asked, 0, &letters, 2, 1, &claimed, found))
        return 0;
    const double others = p.b + p.others;
    const double off_j = claimed.x[0] - p.a;
    const double off_o = claimed.x[1] - others / sqrt((double)world->n - 1);
    lab_found_distance(found, hypot(off_j, off_o));
    return 0;
}

const struct lab_probing lab_probe_copy_condition = {
    .bind = bind_gap,
    .read = read_condition,
    .free = LAB_FREES_SCALE,
    .far = 1e9,
    .grows = "the scale",
    .measures = "weight of v_j",
    .against = "wanted",
};
const struct lab_probing lab_probe_copy_weight = {
    .bind = bind_gap,
    .read = read_copy_weight,
    .free = LAB_FREES_SCALE,
    .far = 250,
    .grows = "D",
    .number = 1,
};
const struct lab_probing lab_probe_copy_output = {
    .bind = bind_copy,
    .read = read_copy_output,
    .free = LAB_FREES_SCALE,
    .far = 250,
    .grows = "D",
};
const struct lab_probing lab_probe_copy_needs = {
    .bind = bind_gap,
    .read = read_needs,
    .free = LAB_FREES_SCALE,
    .far = 1e9,
    .grows = "|q|",
    .measures = "weight of v_j",
    .against = "wanted",
};
