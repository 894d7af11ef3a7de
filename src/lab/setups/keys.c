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

    *keys = (struct lab_keys){.n = n, .m = shape->m, .d = d};
    keys->key = calloc((size_t)(n * d), sizeof(double));
    keys->query = calloc((size_t)d, sizeof(double));
    keys->weights = frames ? NULL : calloc((size_t)n, sizeof(double));
    keys->out = frames ? calloc((size_t)d, sizeof(double)) : NULL;
    keys->value = frames ? calloc((size_t)(n * d), sizeof(double)) : NULL;
    if (!keys->key || !keys->query ||
        (frames ? !keys->out || !keys->value : !keys->weights)) {
        lab_keys_close(keys);
        return lab_fail(session, "memory is short for %lld keys", (long long)n);
    }
    if (frames) {
        lab_random_frame(session, KEY_STREAM, keys->key, n, d);
        lab_random_frame(session, VALUE_STREAM, keys->value, n, d);
    }
    fill(keys, shape);
    return 0;
}

void lab_keys_close(struct lab_keys *keys)
{
    free(keys->key);
    free(keys->value);
    free(keys->query);
    free(keys->weights);
    free(keys->out);
    *keys = (struct lab_keys){0};
}

int lab_keys_attend(struct lab_session *session, attend_context *ctx,
                    struct lab_keys *keys, const double *coefficient, double tau)
{
    const int64_t d = keys->d;
    struct lab_spread spread;

    memset(keys->query, 0, sizeof(double) * (size_t)d);
    for (int64_t i = 0; i < keys->m; i++)
        for (int64_t c = 0; c < d; c++)
            keys->query[c] += coefficient[i] * keys->key[i * d + c];
    const int failed = lab_measure(session, ctx,
                                   &(struct lab_problem){.nk = keys->n,
                                                         .d = d,
                                                         .dv = d,
                                                         .q = keys->query,
                                                         .k = keys->key,
                                                         .v = keys->value,
                                                         .scale = tau,
                                                         .out = keys->out,
                                                         .weights = keys->weights,
                                                         .spread = &spread,
                                                         .wanted = keys->m,
                                                         .rest = &keys->leak});
    if (!failed)
        keys->first = spread.first;
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
