/* SPDX-License-Identifier: MIT */
#include "lab/setups/scene.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measure/random.h"
#include "lab/measure/trials.h"

double lab_pair_error(double a, double b, double others_squared)
{
    return (a - 0.5) * (a - 0.5) + (b - 0.5) * (b - 0.5) + others_squared;
}

void lab_scene_set_pair(struct lab_scene *scene, double C)
{
    scene->query[0][0] = C;
    scene->query[scene->heads == 2][1] = C;
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

void lab_pair_observe(const struct lab_outcome *outcome, int count, double *values)
{
    values[LAB_WEIGHT_A] = outcome->weight[0][0];
    values[LAB_LEAK] = outcome->others[0];
    values[LAB_COEFFICIENT_A] = outcome->coefficient[0];
    values[LAB_COEFFICIENT_B] = outcome->coefficient[1];
    values[LAB_ERROR] = lab_pair_error(outcome->coefficient[0], outcome->coefficient[1],
                                       outcome->others_squared);
    for (int x = LAB_PAIR_VALUES; x < count; x++)
        values[x] = outcome->gamma[0] > 0 ? values[x - LAB_PAIR_VALUES] : NAN;
}

double lab_pair_theory(const struct lab_scene *scene, const attend_theory_output *output,
                       int value, int is_variance)
{
    const double *const moment = is_variance ? output->variance : output->mean;

    switch (value % LAB_PAIR_VALUES) {
    case LAB_LEAK:
        return ((double)scene->n - 2) * moment[ATTEND_THEORY_REST];
    case LAB_COEFFICIENT_B:
        return moment[ATTEND_THEORY_B];
    case LAB_ERROR:
        return output->mse;
    default:
        return moment[ATTEND_THEORY_A];
    }
}

/* ---- the plan: constants of a measurement ----------------------------------- */

enum form {
    COLLAPSED, /* unwanted keys as one */
    PROJECTED, /* all keys, in the space that the queries span */
    DRAWN      /* all keys, all entries */
};

/* Constants of a measurement, shared by the threads. */
struct plan {
    const struct lab_scene *scene;
    enum form form;
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
struct scratch {
    void *k, *out, *weights; /* [block][sets][nk][d], [block][heads][dv], [..][nk] */
    float *normals;          /* [block][sets][noisy] magnitudes, then other entries */
    double *values;          /* [count][block] */
    double *gamma;           /* [block][wanted] */
};

/* Element `at` of an array of f64, or else of f32. */
static void put(void *array, attend_dtype dtype, int64_t at, double x)
{
    if (dtype == ATTEND_F64)
        ((double *)array)[at] = x;
    else
        ((float *)array)[at] = (float)x;
}

static double get(const void *array, attend_dtype dtype, int64_t at)
{
    return dtype == ATTEND_F64 ? ((const double *)array)[at]
                               : (double)((const float *)array)[at];
}

/* Most trials of a block, and most entries of its keys: they stay in the second cache. */
enum { BLOCK_MAX = 256, BLOCK_ENTRIES = 1 << 16 };

static int64_t noisy_keys(const struct lab_scene *scene)
{
    if (scene->sigma2 == 0)
        return 0;
    switch (scene->noisy) {
    case LAB_NOISY_NONE:
        return 0;
    case LAB_NOISY_A:
        return 1;
    case LAB_NOISY_WANTED:
        return scene->wanted;
    case LAB_NOISY_ALL:
        break;
    }
    return scene->n;
}

static enum form choose_form(const struct lab_scene *scene, int64_t d)
{
    int sees_rest = 0;

    for (int h = 0; h < scene->heads; h++)
        sees_rest |= scene->rest_query[h] != 0;
    if (scene->alpha > 0)
        return d <= LAB_ENTRIES_MAX / scene->n ? DRAWN : PROJECTED;
    return sees_rest && noisy_keys(scene) > scene->wanted ? PROJECTED : COLLAPSED;
}

/*
 * Coordinates of a query: along mu_0 .. mu_{wanted-1}, then along the unwanted means
 * one by one (DRAWN), along their normalised sum (PROJECTED), or the
 * coefficient of a single one of them (COLLAPSED).
 */
static void fill_queries(struct plan *plan)
{
    const struct lab_scene *const scene = plan->scene;
    const int64_t w = scene->wanted;
    const double rest = (double)(scene->n - w);
    const double size = plan->form == PROJECTED ? sqrt(rest) : 1;

    for (int64_t h = 0; h < scene->heads; h++) {
        for (int64_t i = 0; i < w; i++)
            put(plan->q, plan->dtype, h * plan->d + i, scene->query[h][i]);
        const int64_t end = plan->form == DRAWN ? scene->n : plan->d;
        for (int64_t i = w; i < end; i++)
            put(plan->q, plan->dtype, h * plan->d + i, size * scene->rest_query[h]);
    }
}

/* v_i is unit vector i for wanted keys and unit vector `wanted` for all the others. */
static void fill_values(struct plan *plan)
{
    const int64_t w = plan->scene->wanted;

    for (int64_t i = 0; i < plan->nk; i++)
        put(plan->v, plan->dtype, i * plan->dv + (i < w ? i : w), 1);
    if (plan->form == COLLAPSED && plan->nk > w)
        put(plan->bias, plan->dtype, w, log((double)(plan->n - w)));
}

static int open_plan(struct plan *plan, struct lab_session *session)
{
    const struct lab_scene *const scene = plan->scene;
    const int64_t w = scene->wanted, d = scene->d > 0 ? scene->d : scene->n;

    assert(scene->n >= w && w > 0 && w <= LAB_WANTED_MAX && d >= scene->n);
    assert(scene->heads > 0 && scene->heads <= LAB_HEADS_MAX);
    plan->form = choose_form(scene, d);
    if (plan->form == PROJECTED && scene->unit_keys && scene->alpha > 0)
        return lab_misuse(session,
                          "--n: %lld keys of unit norm with alpha above 0 need all n d "
                          "entries, of which %d at most are drawn",
                          (long long)scene->n, (int)LAB_ENTRIES_MAX);
    plan->n = scene->n;
    plan->nk = plan->form == COLLAPSED && scene->n > w ? w + 1 : scene->n;
    plan->d = plan->form == DRAWN ? d : w + 1;
    plan->dv = (int)w + 1;
    plan->averaged = scene->averaged > 0 ? scene->averaged : scene->heads;
    plan->sets = scene->independent_noise ? scene->heads : 1;
    plan->noisy = noisy_keys(scene);
    if (plan->form == COLLAPSED && plan->noisy > w)
        plan->noisy = w; /* noise of the others does not change scores */
    plan->dtype = plan->form == DRAWN ? ATTEND_F32 : ATTEND_F64;
    plan->block = BLOCK_ENTRIES / (plan->sets * plan->nk * plan->d);
    plan->block = plan->block < 1 ? 1 : plan->block > BLOCK_MAX ? BLOCK_MAX : plan->block;

    const size_t size = attend_dtype_size(plan->dtype);
    plan->q = calloc((size_t)(scene->heads * plan->d), size);
    plan->v = calloc((size_t)(plan->nk * plan->dv), size);
    plan->bias = calloc((size_t)plan->nk, size);
    if (!plan->q || !plan->v || !plan->bias)
        return lab_fail(session, "out of memory for %lld keys", (long long)plan->nk);
    fill_queries(plan);
    fill_values(plan);
    plan->rule = attend_rule_default();
    plan->rule.scale_is_set = 1;
    plan->rule.scale = scene->tau;
    plan->rule.softcap = scene->softcap;
    if (plan->form == COLLAPSED)
        plan->rule.bias =
            (attend_view){plan->bias, plan->dtype, {1, 1, 1, plan->nk}, {0, 0, 0, 1}};
    return 0;
}

static void close_plan(struct plan *plan)
{
    free(plan->q);
    free(plan->v);
    free(plan->bias);
}

/* The parts of the scratch, in numbers, in the order of struct scratch. */
enum { KEYS, OUT, WEIGHTS, NORMALS, VALUES, GAMMA, PARTS };

static void part_sizes(const struct plan *plan, size_t size[PARTS])
{
    const size_t block = (size_t)plan->block, sets = block * (size_t)plan->sets;
    const size_t rows = block * (size_t)plan->scene->heads;

    size[KEYS] = sets * (size_t)(plan->nk * plan->d);
    size[OUT] = rows * (size_t)plan->dv;
    size[WEIGHTS] = rows * (size_t)plan->nk;
    size[NORMALS] = sets * (size_t)(plan->noisy + 1) +
                    (plan->form == PROJECTED && plan->scene->alpha > 0 ? size[KEYS] : 0);
    size[VALUES] = (size_t)plan->count * block;
    size[GAMMA] = block * (size_t)plan->scene->wanted;
}

static size_t scratch_size(const struct plan *plan)
{
    size_t size[PARTS], sum = 0;

    part_sizes(plan, size);
    for (int x = 0; x < PARTS; x++)
        sum += size[x];
    return sum;
}

static struct scratch scratch_of(const struct plan *plan, double *memory)
{
    size_t size[PARTS];
    double *part[PARTS + 1] = {memory};

    part_sizes(plan, size);
    for (int x = 0; x < PARTS; x++)
        part[x + 1] = part[x] + size[x];
    return (struct scratch){.k = part[KEYS],
                            .out = part[OUT],
                            .weights = part[WEIGHTS],
                            .normals = (float *)part[NORMALS],
                            .values = part[VALUES],
                            .gamma = part[GAMMA]};
}

/* ---- a block of trials ------------------------------------------------------ */

/* k -> k / |k|; only a projected key can be 0. */
static void normalise(const struct plan *plan, void *k, int64_t rows)
{
    for (int64_t r = 0; r < rows; r++) {
        double square = 0;
        for (int64_t j = 0; j < plan->d; j++) {
            const double x = get(k, plan->dtype, r * plan->d + j);
            square += x * x;
        }
        const double factor = square > 0 ? 1 / sqrt(square) : 0;
        for (int64_t j = 0; j < plan->d; j++)
            put(k, plan->dtype, r * plan->d + j,
                factor * get(k, plan->dtype, r * plan->d + j));
    }
}

/* Isotropic noise, or zeros, in every entry of the keys of a block. */
static void draw_isotropic(const struct plan *plan, const struct scratch *scratch,
                           int64_t trial, int64_t trials)
{
    const int64_t each = plan->sets * plan->nk * plan->d, entries = trials * each;
    const float sd = (float)sqrt(plan->scene->alpha);

    if (plan->scene->alpha == 0) {
        memset(scratch->k, 0, (size_t)entries * attend_dtype_size(plan->dtype));
        return;
    }
    float *const normals =
        plan->form == DRAWN
            ? scratch->k
            : scratch->normals + plan->block * plan->sets * (plan->noisy + 1);
    lab_random_noise(plan->seed, 2 * plan->stream, (uint64_t)(trial * each), sd, normals,
                     entries);
    if (plan->form != DRAWN)
        for (int64_t x = 0; x < entries; x++)
            ((double *)scratch->k)[x] = (double)normals[x];
}

/* Adds the means and the noise of magnitude to the isotropic noise. */
static void draw_keys(const struct plan *plan, const struct scratch *scratch,
                      int64_t trial, int64_t trials)
{
    const int64_t w = plan->scene->wanted, sets = trials * plan->sets;
    const double sigma = sqrt(plan->scene->sigma2);
    const double part = plan->form == PROJECTED ? 1 / sqrt((double)(plan->n - w)) : 1;

    draw_isotropic(plan, scratch, trial, trials);
    lab_random_normals(plan->seed, 2 * plan->stream + 1,
                       (uint64_t)(trial * plan->sets * plan->noisy), scratch->normals,
                       sets * plan->noisy);
    for (int64_t s = 0; s < sets; s++)
        for (int64_t i = 0; i < plan->nk; i++) {
            const int64_t column = plan->form != DRAWN && i > w ? w : i;
            const int64_t at = (s * plan->nk + i) * plan->d + column;
            const double noise =
                i < plan->noisy ? sigma * (double)scratch->normals[s * plan->noisy + i]
                                : 0;
            const double gamma =
                (i < w ? 1 : part) * (1 + noise) + get(scratch->k, plan->dtype, at);
            put(scratch->k, plan->dtype, at, gamma);
            if (i < w && s % plan->sets == 0)
                scratch->gamma[s / plan->sets * w + i] = gamma;
        }
    if (plan->scene->unit_keys && plan->form == PROJECTED) {
        /* alpha is 0: the direction is +-mu, of which 1 / sqrt(n - w) shows. */
        for (int64_t r = 0; r < sets * plan->nk; r++) {
            double *const x = (double *)scratch->k + r * plan->d;
            const int64_t i = r % plan->nk < w ? r % plan->nk : w;
            x[i] = copysign(i < w ? 1 : part, x[i]);
        }
    } else if (plan->scene->unit_keys) {
        normalise(plan, scratch->k, sets * plan->nk);
    }
}

static attend_status attend_block(const struct plan *plan, struct lab_worker *worker,
                                  const struct scratch *scratch, int64_t trials)
{
    const int64_t heads = plan->scene->heads, nk = plan->nk, d = plan->d, dv = plan->dv;
    const int64_t each = nk * d;
    attend_io io = attend_io_default();

    io.q = (attend_view){plan->q, plan->dtype, {trials, heads, 1, d}, {0, d, d, 1}};
    io.k = (attend_view){scratch->k,
                         plan->dtype,
                         {trials, plan->sets, nk, d},
                         {plan->sets * each, each, d, 1}};
    io.v =
        (attend_view){plan->v, plan->dtype, {trials, plan->sets, nk, dv}, {0, 0, dv, 1}};
    io.out = (attend_tensor){
        scratch->out, plan->dtype, {trials, heads, 1, dv}, {heads * dv, dv, dv, 1}};
    if (plan->form != COLLAPSED && !plan->scene->plain)
        io.weights = (attend_tensor){scratch->weights,
                                     plan->dtype,
                                     {trials, heads, 1, nk},
                                     {heads * nk, nk, nk, 1}};
    return attend_forward(worker->ctx, &plan->rule, &io, &worker->err);
}

/* Squares of the weights of the unwanted keys, and of their coefficients in c. */
static void add_squares(const struct plan *plan, const struct scratch *scratch,
                        int64_t trial, struct lab_outcome *outcome)
{
    const int64_t heads = plan->scene->heads, w = plan->scene->wanted, nk = plan->nk;
    const double rest = (double)(plan->n - w), averaged = (double)plan->averaged;
    double others = 0;

    outcome->others_squared = 0;
    if (plan->form == COLLAPSED) {
        for (int64_t h = 0; h < heads; h++) {
            const double weight = outcome->others[h];
            outcome->squares[h] = rest > 0 ? weight * weight / rest : 0;
            others += h < plan->averaged ? weight / averaged : 0;
        }
        outcome->others_squared = rest > 0 ? others * others / rest : 0;
        return;
    }
    for (int64_t h = 0; h < heads; h++)
        outcome->squares[h] = 0;
    for (int64_t i = w; i < nk; i++) {
        double coefficient = 0;
        for (int64_t h = 0; h < heads; h++) {
            const double weight =
                get(scratch->weights, plan->dtype, (trial * heads + h) * nk + i);
            outcome->squares[h] += weight * weight;
            coefficient += h < plan->averaged ? weight / averaged : 0;
        }
        outcome->others_squared += coefficient * coefficient;
    }
}

/* NaN instead. */
static void skip_squares(const struct plan *plan, struct lab_outcome *outcome)
{
    outcome->others_squared = NAN;
    for (int h = 0; h < plan->scene->heads; h++)
        outcome->squares[h] = NAN;
}

static void add_scores(const struct plan *plan, const struct scratch *scratch,
                       int64_t trial, struct lab_outcome *outcome)
{
    for (int64_t h = 0; h < plan->scene->heads; h++) {
        const int64_t set = trial * plan->sets + (plan->sets > 1 ? h : 0);
        for (int64_t i = 0; i < plan->scene->wanted; i++) {
            double score = 0;
            for (int64_t c = 0; c < plan->d; c++)
                score += get(plan->q, plan->dtype, h * plan->d + c) *
                         get(scratch->k, plan->dtype, (set * plan->nk + i) * plan->d + c);
            outcome->score[h][i] = plan->scene->tau * score;
        }
    }
}

static void observe_block(const struct plan *plan, const struct scratch *scratch,
                          int64_t trials)
{
    const int64_t heads = plan->scene->heads, w = plan->scene->wanted;
    const double averaged = (double)plan->averaged;
    double values[LAB_TRIAL_VALUES_MAX];
    struct lab_outcome outcome;

    for (int64_t t = 0; t < trials; t++) {
        for (int64_t i = 0; i < w; i++) {
            outcome.coefficient[i] = 0;
            outcome.gamma[i] = scratch->gamma[t * w + i];
        }
        for (int64_t h = 0; h < heads; h++) {
            const int64_t row = (t * heads + h) * plan->dv;
            for (int64_t i = 0; i < w; i++) {
                outcome.weight[h][i] = get(scratch->out, plan->dtype, row + i);
                if (h < plan->averaged)
                    outcome.coefficient[i] += outcome.weight[h][i] / averaged;
            }
            outcome.others[h] = get(scratch->out, plan->dtype, row + w);
        }
        if (plan->scene->plain)
            skip_squares(plan, &outcome);
        else
            add_squares(plan, scratch, t, &outcome);
        if (plan->scene->scores)
            add_scores(plan, scratch, t, &outcome);
        plan->observe(plan->arg, &outcome, values);
        for (int c = 0; c < plan->count; c++)
            scratch->values[c * plan->block + t] = values[c];
    }
}

static attend_status perform_block(const struct plan *plan, struct lab_worker *worker,
                                   const struct scratch *scratch, int64_t first,
                                   int64_t trials)
{
    draw_keys(plan, scratch, first, trials);
    const attend_status status = attend_block(plan, worker, scratch, trials);
    if (status == ATTEND_OK)
        observe_block(plan, scratch, trials);
    return status;
}

/* ---- the measurement -------------------------------------------------------- */

struct measurement {
    struct plan plan;
    struct lab_histogram *const *histograms;
};

static attend_status perform(const void *arg, struct lab_worker *worker, int64_t first,
                             int64_t trials, struct lab_block *block)
{
    const struct measurement *const m = arg;
    const struct plan *const plan = &m->plan;
    const struct scratch scratch = scratch_of(plan, worker->scratch);
    const attend_status status = perform_block(plan, worker, &scratch, first, trials);
    for (int c = 0; c < plan->count && status == ATTEND_OK; c++) {
        const double *const values = scratch.values + c * plan->block;
        block->moments[c] = lab_moments_of(values, trials);
        for (int64_t t = 0; t < trials && m->histograms && m->histograms[c]; t++)
            lab_histogram_add(&block->histogram[c], values[t]);
    }
    return status;
}

/*
 * Relative error of a weight in f32: a few roundings of its own, and those of a score,
 * which are proportional to the score.
 */
static double rounding_of(const struct plan *plan)
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
    int failed = open_plan(&m.plan, session);

    if (!failed) {
        const struct lab_blocks blocks = {.trials = trials,
                                          .size = m.plan.block,
                                          .count = count,
                                          .scratch = scratch_size(&m.plan),
                                          .perform = perform,
                                          .arg = &m};
        failed = lab_measure_blocks(session, &blocks, moments, histograms);
        for (int c = 0; c < count; c++) {
            moments[c].sure = m.plan.noisy == 0 && scene->alpha <= 0;
            moments[c].rounding = rounding_of(&m.plan);
        }
    }
    close_plan(&m.plan);
    return failed;
}
