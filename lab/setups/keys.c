/* SPDX-License-Identifier: MIT */
#include "lab/setups/keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measure/frames.h"
#include "lab/measure/forward.h"

/* Streams of random numbers that experiments must leave alone. */
enum { KEY_STREAM = 1 << 20, VALUE_STREAM };

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

int lab_keys_open(struct lab_session *session, const struct lab_keys_shape *shape,
                  struct lab_keys *keys)
{
    const int64_t n = shape->n;
    const int frames = !shape->plain && shape->d <= LAB_FRAME_MAX / n;
    const int64_t d = frames ? shape->d : shape->m + 1;
    const int64_t count = n * d + d + (frames ? d + n * d : n);
    double *const key = calloc((size_t)count, sizeof *key);

    if (!key)
        return lab_fail(session, "out of memory for %lld keys", (long long)n);
    *keys = (struct lab_keys){
        .n = n, .m = shape->m, .d = d, .key = key, .query = key + n * d};
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

int lab_keys_attend(struct lab_session *session, attend_context *ctx, attend_dtype dtype,
                    struct lab_keys *keys, const double *coefficient, double tau)
{
    const int64_t d = keys->d;
    struct lab_row_stats stats;

    memset(keys->query, 0, sizeof(double) * (size_t)d);
    for (int64_t i = 0; i < keys->m; i++)
        for (int64_t c = 0; c < d; c++)
            keys->query[c] += coefficient[i] * keys->key[i * d + c];
    const int failed = lab_measure_as(
        session, ctx, dtype,
        &LAB_PROBLEM(keys->n, d, keys->query, keys->key, tau, .dv = d, .v = keys->value,
                     .out = keys->out, .weights = keys->weights, .stats = &stats,
                     .wanted = keys->m, .rest = &keys->leak));
    if (!failed)
        keys->first = dtype == ATTEND_F64 ? stats.first : keys->weights[0];
    return failed;
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
