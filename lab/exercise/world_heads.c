/* SPDX-License-Identifier: MIT */
/* Keys of a point, and weights and outputs of heads through the engine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/exercise/world.h"
#include "lab/measure/frames.h"
#include "lab/measure/random.h"
#include "lab/setups/pair.h"

enum { GAMMA_STREAM = 901, ALPHA_STREAM = 902, NOISY_DRAWS = 16 };

/* Rows of keys: all n, or a, b and one that stands for the others with a bias. */
struct keys {
    int64_t rows;
    int all;
    double *key, *bias, *query, *weights, *lse;
};

void lab_world_means(const struct lab_exercise *exercise,
                     double mean[LAB_SPACE][LAB_SPACE])
{
    lab_pair_set_keys(&mean[0][0], LAB_SPACE, 1, 1, exercise->overlap);
}

/* Draws of both magnitudes where isotropic noise is drawn too. */
static int64_t noisy_law(const struct lab_exercise *exercise, int magnitude,
                         struct lab_draw **draw)
{
    float normal[2 * NOISY_DRAWS];
    *draw = calloc(NOISY_DRAWS, sizeof **draw);
    if (!*draw)
        return -1;
    lab_random_normals(exercise->seed, GAMMA_STREAM, 0, normal, 2 * NOISY_DRAWS);
    const double sd = magnitude ? sqrt(exercise->sigma2) : 0;
    const double sd_b = magnitude ? sqrt(exercise->sigma2_b) : 0;
    for (int x = 0; x < NOISY_DRAWS; x++)
        (*draw)[x] = (struct lab_draw){.weight = 1.0 / NOISY_DRAWS,
                                       .gamma = 1 + sd * (double)normal[2 * x],
                                       .gamma_b = 1 + sd_b * (double)normal[2 * x + 1]};
    return NOISY_DRAWS;
}

static int open_keys(struct keys *keys, const struct lab_point *point,
                     const struct lab_draws *draws)
{
    /* Without isotropic noise the unwanted keys are equal in score. */
    keys->all = lab_point_alpha(point) > 0 || draws->count == 1;
    keys->rows = keys->all ? point->n : LAB_SPACE;
    if (keys->rows < LAB_SPACE)
        keys->rows = LAB_SPACE; /* the third is then masked */
    const int64_t cells = draws->count * keys->rows;
    keys->key = calloc((size_t)(LAB_SPACE * cells + cells + keys->rows +
                                2 * LAB_SPACE * LAB_SPACE * draws->count),
                       sizeof *keys->key);
    if (!keys->key)
        return -1;
    keys->weights = keys->key + LAB_SPACE * cells;
    keys->bias = keys->weights + cells;
    keys->query = keys->bias + keys->rows;
    keys->lse = keys->query + LAB_SPACE * LAB_SPACE * draws->count;
    return 0;
}

static int set_keys(const struct lab_point *point, struct keys *keys,
                    struct lab_draws *draws)
{
    const double spread = sqrt(lab_point_alpha(point));
    const int64_t cells = draws->count * keys->rows;
    float *const normal = spread > 0 ? malloc(2 * (size_t)cells * sizeof *normal) : NULL;
    if (spread > 0 && !normal)
        return -1;
    if (normal)
        lab_random_normals(point->exercise->seed, ALPHA_STREAM, 0, normal, 2 * cells);
    for (int64_t x = 0; x < draws->count; x++) {
        double *const key = keys->key + LAB_SPACE * x * keys->rows;
        lab_pair_set_keys(key, keys->rows, draws->draw[x].gamma, draws->draw[x].gamma_b,
                          point->exercise->overlap);
        /* Noise outside the plane of mu_a and mu_b does not change scores. */
        for (int64_t i = 0; normal && i < keys->rows; i++)
            for (int c = 0; c < 2; c++)
                key[LAB_SPACE * i + c] +=
                    spread * (double)normal[2 * (x * keys->rows + i) + c];
        memcpy(draws->draw[x].key, key, sizeof draws->draw[x].key);
    }
    free(normal);
    return 0;
}

/* Exercise options: a mean negated for head 2, a bias on scores of 0. */
static void set_query(const struct lab_point *point, struct keys *keys,
                      const double *query, int64_t count, int head)
{
    const struct lab_exercise *const exercise = point->exercise;
    double mean[LAB_SPACE][LAB_SPACE], turned[LAB_SPACE];
    memcpy(turned, query, sizeof turned);
    if (head && exercise->mirror_a)
        turned[0] = -turned[0];
    if (head && exercise->mirror_b)
        turned[1] = -turned[1];
    for (int64_t x = 0; x < count * LAB_SPACE; x++)
        memcpy(keys->query + LAB_SPACE * x, turned, sizeof turned);
    lab_world_means(exercise, mean);
    for (int64_t i = 0; i < keys->rows; i++) {
        const int kind = i < 2 ? (int)i : 2;
        keys->bias[i] = kind == 2 && !keys->all ? log((double)(point->n - 2)) : 0;
        if (i >= point->n)
            keys->bias[i] = -INFINITY;
        /* An exact 0, as orthogonal means give it. */
        if (lab_point_alpha(point) <= 0 &&
            fabs(lab_dot(turned, mean[kind], LAB_SPACE)) <= 0)
            keys->bias[i] += exercise->zero;
    }
}

static int forward(const struct lab_point *point, struct keys *keys, int64_t count)
{
    return lab_exercise_forward(
        point->exercise,
        LAB_PROBLEM(keys->rows, LAB_SPACE, keys->query, keys->key, lab_point_tau(point),
                    .nb = count, .bias = keys->bias, .weights = keys->weights));
}

/* Whether key x of all draws is equal to that of the first draw. */
static int is_repeated(const struct lab_draws *draws, int64_t x)
{
    const struct lab_draw *const draw = &draws->draw[x / LAB_SPACE];
    return x >= LAB_SPACE && !memcmp(draw->key[x % LAB_SPACE],
                                     draws->draw->key[x % LAB_SPACE], sizeof *draw->key);
}

/* Scores of all keys of all draws, each different key once. */
static int forward_scores(const struct lab_point *point, const struct keys *keys,
                          const struct lab_draws *draws)
{
    const int64_t count = draws->count * LAB_SPACE;
    int64_t used = 0;
    if (count == 0)
        return 0;
    double *const key = malloc((size_t)(count * (LAB_SPACE + 1)) * sizeof *key);
    if (!key)
        return -1;
    double *const score = key + count * LAB_SPACE;
    for (int64_t x = 0; x < count; x++)
        if (!is_repeated(draws, x))
            memcpy(key + LAB_SPACE * used++,
                   draws->draw[x / LAB_SPACE].key[x % LAB_SPACE],
                   LAB_SPACE * sizeof *key);
    const int status = lab_exercise_scores(point->exercise, used, LAB_SPACE, keys->query,
                                           key, lab_point_tau(point), score);
    used = 0;
    for (int64_t x = 0; x < count && !status; x++)
        keys->lse[x] = is_repeated(draws, x) ? score[x % LAB_SPACE] : score[used++];
    free(key);
    return status;
}

static void read_head(const struct lab_point *point, const struct keys *keys, int64_t x,
                      struct lab_head *head)
{
    const double *const weight = keys->weights + x * keys->rows;
    double squares = 0;
    *head = (struct lab_head){.output = {weight[0], weight[1], 0}};
    for (int64_t i = 2; i < keys->rows; i++) {
        head->rest += weight[i];
        squares += weight[i] * weight[i];
    }
    if (!keys->all && point->n > 2)
        squares /= (double)(point->n - 2);
    head->output[2] = sqrt(squares);
    memcpy(head->score, keys->lse + LAB_SPACE * x, sizeof head->score);
}

static int attend(const struct lab_point *point, int heads, const double *query,
                  struct lab_draws *draws)
{
    struct keys keys;
    int status = open_keys(&keys, point, draws);
    if (!status)
        status = set_keys(point, &keys, draws);
    for (int h = 0; h < heads && !status; h++) {
        set_query(point, &keys, query + LAB_SPACE * h, draws->count, h);
        status = forward_scores(point, &keys, draws);
        if (!status)
            status = forward(point, &keys, draws->count);
        for (int64_t x = 0; x < draws->count && !status; x++)
            read_head(point, &keys, x, &draws->draw[x].head[h]);
    }
    free(keys.key);
    return status;
}

int lab_world_heads(const struct lab_point *point, int magnitude, int heads,
                    const double *query, struct lab_draws *draws)
{
    draws->count = lab_point_alpha(point) > 0
                       ? noisy_law(point->exercise, magnitude, &draws->draw)
                       : lab_world_law(point, magnitude, &draws->draw);
    return draws->count < 0 ? -1 : attend(point, heads, query, draws);
}

int lab_world_heads_at(const struct lab_point *point, double gamma, int heads,
                       const double *query, struct lab_draws *draws)
{
    draws->count = lab_world_law(point, 0, &draws->draw);
    if (draws->count < 0)
        return -1;
    draws->draw->gamma = gamma;
    return attend(point, heads, query, draws);
}
