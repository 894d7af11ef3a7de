/* SPDX-License-Identifier: MIT */
#include "lab/design/design.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/design/design_head.h"
#include "lab/measure/frames.h"
#include "base/error.h"

void lab_design_free(struct lab_design *design)
{
    free(design->queries);
    design->queries = NULL;
}

/* The stream of the keys; noise has another. */
enum { KEYS_STREAM = 0 };

void lab_design_random_keys(uint64_t seed, int64_t n, int64_t d, double *keys)
{
    lab_normals(seed, KEYS_STREAM, 0, keys, n * d);
    for (int64_t i = 0; i < n; i++)
        lab_unit(keys + i * d, d);
}

static void close_heads(struct lab_design_head *heads, int count)
{
    for (int h = 0; h < count; h++)
        lab_design_head_close(&heads[h]);
}

static attend_status open_heads(const struct lab_design_request *request,
                                const double *factor, int count,
                                struct lab_design_head *heads, attend_error *err)
{
    const int own = request->m / count;

    for (int h = 0; h < count; h++) {
        const attend_status status =
            lab_design_head_open(request, factor, h * own, own, &heads[h], err);
        if (status != ATTEND_OK) {
            close_heads(heads, h);
            return status;
        }
    }
    return ATTEND_OK;
}

/* ---- prediction ----------------------------------------------------------- */

/* Moments of the coefficient of every value in the mean of the heads' outputs. */
struct prediction {
    double *mean, *variance; /* [n] */
    double leak, mse;
};

static double wanted_of(const struct lab_design_request *request, int64_t i)
{
    const int x = lab_design_item_of(request, i);

    if (x < 0)
        return 0;
    return request->weights ? request->weights[x] : 1.0 / request->m;
}

static attend_status predict(const struct lab_design_request *request,
                             const struct lab_design_head *heads, int count,
                             struct prediction *prediction, attend_error *err)
{
    const size_t n = (size_t)request->n;
    double *const memory = calloc(4 * n, sizeof *memory);
    double *const mean = memory + 2 * n, *const variance = memory + 3 * n;
    int failed = !memory;

    *prediction = (struct prediction){.mean = memory, .variance = memory + n};
    for (int h = 0; h < count && !failed; h++) {
        failed = lab_design_moments(request, &heads[h], mean, variance);
        for (size_t i = 0; i < n && !failed; i++) {
            prediction->mean[i] += mean[i] / count;
            prediction->variance[i] += variance[i] / (count * count);
        }
    }
    if (failed) {
        free(memory);
        prediction->mean = NULL;
        return attendi_fail(
            err, ATTEND_EINVAL,
            "the noise of the scores is too large to predict, or memory is exhausted");
    }
    for (size_t i = 0; i < n; i++) {
        const double off = prediction->mean[i] - wanted_of(request, (int64_t)i);
        prediction->mse += off * off + prediction->variance[i];
        if (lab_design_item_of(request, (int64_t)i) < 0)
            prediction->leak += prediction->mean[i];
    }
    /* Weights that are met to rounding. */
    if (prediction->mse < 1e-30)
        prediction->mse = 0;
    return ATTEND_OK;
}

/* Nonzero if the scores of two heads are independent, key by key. */
static int are_independent(const struct lab_design_request *r,
                           const struct lab_design_head *heads, int count)
{
    for (int g = 0; g < count; g++)
        for (int h = 0; h < g; h++) {
            const double *const p = heads[g].query, *const q = heads[h].query;
            const double size = lab_norm(p, r->d) * lab_norm(q, r->d);
            if (r->alpha > 0 && fabs(lab_dot(p, q, r->d)) > 1e-9 * size)
                return 0;
            for (int64_t i = 0; i < r->n && r->sigma2 > 0; i++)
                if (fabs(heads[g].score[i] * heads[h].score[i]) >
                    1e-9 * r->tau * r->tau * size)
                    return 0;
        }
    return 1;
}

/* The predicted error for every number of heads that divides the items. */
static attend_status compare(const struct lab_design_request *request,
                             const double *factor, struct lab_design *design,
                             attend_error *err)
{
    struct lab_design_head heads[LAB_DESIGN_ITEMS_MAX];
    struct prediction prediction;
    const int most = request->weights ? 1 : request->m;

    for (int count = 1; count <= most; count++) {
        if (request->m % count)
            continue;
        attend_status status = open_heads(request, factor, count, heads, err);
        if (status != ATTEND_OK)
            return status;
        status = predict(request, heads, count, &prediction, err);
        const double scale = heads[0].beta / request->tau;
        close_heads(heads, count);
        if (status != ATTEND_OK)
            return status;
        free(prediction.mean);
        const int x = design->choices++;
        design->choice[x].heads = count;
        design->choice[x].scale = scale;
        design->choice[x].mse = prediction.mse;
        /* Without noise any number of heads suffices at a large enough scale. */
        if (design->is_noisy && prediction.mse < design->choice[design->best].mse)
            design->best = x;
    }
    return ATTEND_OK;
}

/* ---- rows ----------------------------------------------------------------- */

static void add_row(struct lab_design *design, const char *quantity, int64_t item,
                    double predicted, struct lab_estimate measured, int is_approximate)
{
    struct lab_design_row *const row = &design->row[design->rows++];

    snprintf(row->quantity, sizeof row->quantity, "%s", quantity);
    row->item = item;
    row->predicted = predicted;
    row->measured = measured.value;
    row->se = measured.se;
    row->rare = measured.rare;
    row->low = measured.low;
    row->high = measured.high;
    row->is_approximate = is_approximate;
}

/* Weight of key i without noise, by the prescribed scores, in the mean of the heads. */
static double quiet_weight(const struct lab_design_request *request,
                           const struct lab_design_head *heads, int count, int64_t i)
{
    double weight = 0;

    for (int h = 0; h < count; h++) {
        double sum = 0;
        for (int64_t j = 0; j < request->n; j++)
            sum += exp(heads[h].score[j] - heads[h].score[i]);
        weight += 1 / (sum * count);
    }
    return weight;
}

/* Without noise: weights by the prescribed scores, and by one pass of the engine. */
static attend_status add_quiet_rows(const struct lab_design_request *request,
                                    const struct lab_design_head *heads,
                                    struct lab_design *design, attend_error *err)
{
    double *const measured = calloc((size_t)request->n, sizeof *measured);
    double leak = 0, largest = 0;

    if (!measured)
        return attendi_fail(err, ATTEND_ENOMEM, "out of memory");
    const attend_status status =
        lab_design_measure(request, design, measured, &leak, err);
    for (int h = 0; h < design->heads; h++)
        largest = fmax(largest, heads[h].leak);
    if (status == ATTEND_OK)
        add_row(design, "leak", -1, largest, (struct lab_estimate){.value = leak}, 0);
    for (int x = 0; x < request->m && status == ATTEND_OK; x++) {
        const int64_t i = request->items[x];
        add_row(design, "weight", i, quiet_weight(request, heads, design->heads, i),
                (struct lab_estimate){.value = measured[i]}, 0);
    }
    free(measured);
    return status;
}

static attend_status add_noise_rows(const struct lab_design_request *request,
                                    const struct lab_design_head *heads,
                                    struct lab_design *design, attend_error *err)
{
    const int rough = !are_independent(request, heads, design->heads);
    struct prediction prediction;
    struct lab_design_noise noise;
    double steady = 1, level = 1;

    for (int h = 0; h < design->heads; h++) {
        steady *= 1 - lab_design_flip(request, &heads[h]);
        level *= 1 - lab_design_lopsided(request, &heads[h]);
    }
    attend_status status = predict(request, heads, design->heads, &prediction, err);
    if (status != ATTEND_OK)
        return status;
    status = lab_design_measure_noise(request, design, heads, &noise, err);
    if (status != ATTEND_OK) {
        free(prediction.mean);
        return status;
    }
    add_row(design, "mean_leak", -1, prediction.leak, noise.leak, 0);
    add_row(design, "mse", -1, prediction.mse, noise.mse, rough);
    design->done = noise.done;
    add_row(design, "p_flip", -1, 1 - steady, noise.flip, rough && design->heads > 1);
    if (request->m > design->heads)
        add_row(design, "p_lopsided", -1, 1 - level, noise.lopsided,
                rough && design->heads > 1);
    for (int x = 0; x < request->m; x++) {
        const int64_t i = request->items[x];
        add_row(design, "mean_weight", i, prediction.mean[i], noise.weight[x], 0);
        add_row(design, "var_weight", i, prediction.variance[i], noise.variance[x],
                rough);
    }
    free(prediction.mean);
    return ATTEND_OK;
}

static attend_status add_rows(const struct lab_design_request *request,
                              const struct lab_design_head *heads,
                              struct lab_design *design, attend_error *err)
{
    design->queries = calloc((size_t)(design->heads * request->d), sizeof(double));
    if (!design->queries)
        return attendi_fail(err, ATTEND_ENOMEM, "out of memory");
    design->scale = heads[0].beta / request->tau;
    design->method = heads[0].method;
    for (int h = 0; h < design->heads; h++) {
        memcpy(design->queries + h * request->d, heads[h].query,
               (size_t)request->d * sizeof(double));
        design->norm = fmax(design->norm, lab_norm(heads[h].query, request->d));
        if (strcmp(heads[h].method, design->method))
            design->method = "items only";
    }
    const attend_status status = add_quiet_rows(request, heads, design, err);
    if (status != ATTEND_OK || !design->is_noisy)
        return status;
    return add_noise_rows(request, heads, design, err);
}

attend_status lab_design_make(const struct lab_design_request *request,
                              struct lab_design *design, attend_error *err)
{
    struct lab_design_head heads[LAB_DESIGN_ITEMS_MAX];

    double *const factor = lab_design_factor(request);

    memset(design, 0, sizeof *design);
    design->is_noisy = request->sigma2 > 0 || request->alpha > 0;
    attend_status status = compare(request, factor, design, err);
    if (status == ATTEND_OK) {
        const int best = design->choice[design->best].heads;
        design->heads = request->heads ? request->heads : best;
        status = open_heads(request, factor, design->heads, heads, err);
    }
    free(factor);
    if (status != ATTEND_OK)
        return status;
    status = add_rows(request, heads, design, err);
    close_heads(heads, design->heads);
    return status;
}

/* ---- advice ---------------------------------------------------------------- */

/* Draws for the check by default: some seconds at most. */
enum { TRIALS = 20000, TRIALS_MIN = 500 };
#define ENTRIES_DRAWN 5e8
/* Ratio of errors below which one more head is recommended. */
#define STEADIER 0.99

int64_t lab_design_trials(int64_t n, int64_t d)
{
    return (int64_t)fmax(TRIALS_MIN, fmin(TRIALS, ENTRIES_DRAWN / (double)(n * d)));
}

double lab_design_z(const struct lab_design_row *row)
{
    return row->se > 0 && !row->rare ? (row->measured - row->predicted) / row->se : NAN;
}

/* The choice of the design; NULL: its number of heads is not among the choices. */
static const struct lab_design_choice *designed_choice(const struct lab_design *design)
{
    for (int x = 0; x < design->choices; x++)
        if (design->choice[x].heads == design->heads)
            return &design->choice[x];
    return NULL;
}

/* The scales of two compared choices, in words. */
static void describe_scales(const struct lab_design_choice *best,
                            const struct lab_design_choice *designed, char *text,
                            size_t size)
{
    if (fabs(best->scale - designed->scale) <= 1e-9 * fabs(designed->scale))
        snprintf(text, size, "both at scale %.4g", best->scale);
    else
        snprintf(text, size, "at scales %.4g and %.4g, of equal leak without noise",
                 best->scale, designed->scale);
}

void lab_design_advice(const struct lab_design *design, char *text, size_t size)
{
    const struct lab_design_choice *const best = &design->choice[design->best];
    const struct lab_design_choice *const designed = designed_choice(design);
    char scales[96];

    if (!design->is_noisy) {
        snprintf(text, size,
                 "without noise nothing varies: one head reaches any leak by its scale");
    } else if (designed && best->mse < STEADIER * designed->mse) {
        describe_scales(best, designed, scales, sizeof scales);
        snprintf(
            text, size,
            "%d heads would be steadier: mean squared error %.4g instead of %.4g, %s",
            best->heads, best->mse, designed->mse, scales);
    } else if (design->choices > 1) {
        snprintf(text, size, "no other number of heads is steadier");
    } else {
        snprintf(text, size, "one head is all there is to it");
    }
}
