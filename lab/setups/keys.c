/* SPDX-License-Identifier: MIT */
#include "lab/setups/keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/measure/forward.h"
#include "lab/measure/frames.h"

/* Streams of random numbers that experiments must leave alone. */
enum { PINV_STREAM = 1, KEY_STREAM = 1 << 20, VALUE_STREAM };

static void fill(struct lab_keys *keys, const struct lab_keys_shape *shape)
{
    const int64_t n = keys->n, m = keys->m, d = keys->d;
    const double along = shape->rival_norm * shape->rival_cosine;
    const double across =
        shape->rival_norm * sqrt(1 - shape->rival_cosine * shape->rival_cosine);

    if (!keys->value)
        for (int64_t i = 0; i < n; i++)
            keys->key[i * d + (i < m ? i : m)] = 1;
    for (int64_t i = m; i < n; i++)
        for (int64_t c = 0; c < d; c++)
            keys->key[i * d + c] = along * keys->key[c] + across * keys->key[i * d + c];
}

int lab_keys_open(struct lab_session *session, attend_context *ctx,
                  const struct lab_keys_shape *shape, struct lab_keys *keys)
{
    const int64_t n = shape->n;
    const int frames = !shape->plain && shape->d <= LAB_FRAME_MAX / n;
    const int64_t d = frames ? shape->d : shape->m + 1;
    const int64_t count = n * d + d + (frames ? d + n * d : n);
    double *const key = calloc((size_t)count, sizeof *key);

    if (!key)
        return lab_fail(session, "out of memory for %lld keys", (long long)n);
    *keys = (struct lab_keys){.session = session,
                              .ctx = ctx,
                              .n = n,
                              .m = shape->m,
                              .d = d,
                              .key = key,
                              .query = key + n * d};
    if (!frames) {
        keys->weights = keys->query + d;
    } else {
        keys->out = keys->query + d;
        keys->value = keys->out + d;
        lab_random_frame(session->seed, KEY_STREAM, keys->key, n, d);
        lab_random_frame(session->seed, VALUE_STREAM, keys->value, n, d);
    }
    fill(keys, shape);
    return 0;
}

void lab_keys_close(struct lab_keys *keys)
{
    free(keys->key);
    *keys = (struct lab_keys){0};
}

static double coefficient(double beta, const double *offset, int64_t i)
{
    return offset ? beta + offset[i] : beta;
}

int lab_keys_attend(struct lab_keys *keys, attend_dtype dtype, double beta,
                    const double *offset, double tau)
{
    const int64_t d = keys->d;
    struct lab_row_stats stats;

    memset(keys->query, 0, sizeof(double) * (size_t)d);
    for (int64_t i = 0; i < keys->m; i++)
        for (int64_t c = 0; c < d; c++)
            keys->query[c] += coefficient(beta, offset, i) * keys->key[i * d + c];
    const int failed = lab_measure_as(
        keys->session, keys->ctx, dtype,
        &LAB_PROBLEM(keys->n, d, keys->query, keys->key, tau, .dv = d, .v = keys->value,
                     .out = keys->out, .weights = keys->weights, .stats = &stats,
                     .wanted = keys->m, .rest = &keys->leak));
    if (!failed)
        keys->first = dtype == ATTEND_F64 ? stats.first : keys->weights[0];
    return failed;
}

struct search {
    struct lab_keys *keys;
    const double *offset;
    double tau;
};

/* The logit of the leak, which falls as the scale grows. */
static int leak_at(void *arg, double beta, double *logit)
{
    const struct search *const s = arg;

    if (lab_keys_attend(s->keys, ATTEND_F64, beta, s->offset, s->tau))
        return -1;
    *logit = log(s->keys->leak / (1 - s->keys->leak));
    return 0;
}

int lab_keys_find_beta(struct lab_keys *keys, const double *offset, double tau,
                       double leak, double *beta)
{
    struct search search = {keys, offset, tau};

    return lab_reach(leak_at, &search, 1 / tau, attend_theory_logit(leak), beta);
}

int lab_keys_pinv_leak(struct lab_session *session, attend_context *ctx, int64_t n,
                       int64_t m, double beta, const double *offset, double tau,
                       double *scratch, double *leak)
{
    const int64_t d = 2 * n;
    double *const key = scratch, *const query = key + n * d, *const score = query + d;

    lab_normals(session->seed, PINV_STREAM, 0, key, n * d);
    for (int64_t i = 0; i < n; i++) {
        lab_unit(key + i * d, d);
        score[i] = i < m ? coefficient(beta, offset, i) : 0;
    }
    if (attend_theory_query_for_scores(key, n, d, score, query))
        return lab_fail(session, "the random keys are dependent");
    return lab_measure(session, ctx,
                       &LAB_PROBLEM(n, d, query, key, tau, .wanted = m, .rest = leak));
}

double lab_keys_error(const struct lab_keys *keys, const double *target)
{
    const int64_t width = keys->value ? keys->d : keys->n;
    double sum = 0;

    for (int64_t c = 0; c < width; c++) {
        double off = keys->value ? keys->out[c] : keys->weights[c];
        for (int64_t i = 0; i < keys->m; i++)
            off -= target[i] * (keys->value ? keys->value[i * keys->d + c] : i == c);
        sum += off * off;
    }
    return sqrt(sum);
}

/* ---- a row in a narrow type --------------------------------------------------- */

int lab_narrow_attend(struct lab_narrow_row *row, double gap)
{
    const double one = 1;

    memset(row->key, 0, sizeof(double) * (size_t)row->n);
    row->key[row->wanted] = 1;
    return lab_measure_as(row->session, row->ctx, row->dtype,
                          &LAB_PROBLEM(row->n, 1, &one, row->key, gap, .dv = 1,
                                       .v = row->key, .out = &row->out,
                                       .weights = row->weights));
}

static int is_taken(const struct lab_narrow_row *row, enum lab_narrow_step step)
{
    if (step == LAB_WEIGHT_IS_ONE)
        return row->weights[row->wanted] == 1;
    if (step == LAB_OUTPUT_IS_ONE)
        return row->out == 1;
    for (int64_t j = 0; j < row->n; j++)
        if (j != row->wanted && row->weights[j] != 0)
            return 0;
    return 1;
}

int lab_narrow_find(struct lab_narrow_row *row, enum lab_narrow_step step, double *gap)
{
    double low = 0, high = 128;

    while (high - low > 1e-7) {
        const double middle = (low + high) / 2;
        if (lab_narrow_attend(row, middle))
            return -1;
        *(is_taken(row, step) ? &high : &low) = middle;
    }
    *gap = low;
    return 0;
}
