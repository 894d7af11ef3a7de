/* SPDX-License-Identifier: MIT */
#include "lab/setups/tokens.h"

#include <math.h>
#include <stdlib.h>

#include "lab/measure/forward.h"
#include "lab/measure/random.h"

/* Streams of random numbers, apart from every other experiment's. */
enum { STREAM_TOKENS = 2500, STREAM_ORDER = 2600 };

int lab_tokens_open(struct lab_session *session, struct lab_tokens *tokens)
{
    const int64_t t = tokens->t, d = tokens->d, f = 2 * d;
    const double thin = 1.0 / sqrt((double)d);
    const struct {
        double **at;
        int64_t count;
        double size;
    } part[] = {{&tokens->x, t * d, 1.0},   {&tokens->wq, d * d, thin},
                {&tokens->wk, d * d, thin}, {&tokens->wv, d * d, thin},
                {&tokens->w1, d * f, thin}, {&tokens->b1, f, thin},
                {&tokens->w2, f * d, thin}, {&tokens->b2, d, thin}};
    const int64_t count = t * d + 3 * d * d + 2 * d * f + f + d;
    float *const normals = malloc((size_t)count * sizeof *normals);
    double *next = malloc((size_t)count * sizeof *next);

    tokens->f = f;
    tokens->memory = next;
    if (normals == NULL || next == NULL) {
        free(normals);
        free(next);
        return lab_fail(session, "out of memory for %lld tokens of %lld", (long long)t,
                        (long long)d);
    }
    for (size_t p = 0; p < sizeof part / sizeof part[0]; p++) {
        lab_random_normals(session->seed, STREAM_TOKENS + p, 0, normals, part[p].count);
        for (int64_t i = 0; i < part[p].count; i++)
            next[i] = (double)(float)(part[p].size * (double)normals[i]);
        *part[p].at = next;
        next += part[p].count;
    }
    free(normals);
    return 0;
}

void lab_tokens_close(struct lab_tokens *tokens)
{
    free(tokens->memory);
    tokens->memory = NULL;
}

/* Arrays in the layer's type; those without a source in double are zeroed. */
struct copies {
    attend_dtype dtype;
    void *memory[12];
    int count, failed;
};

static void *copy(struct copies *copies, const double *from, int64_t count)
{
    void *const to = calloc((size_t)count, attend_dtype_size(copies->dtype));

    copies->memory[copies->count++] = to;
    if (to == NULL)
        copies->failed = 1;
    if (from != NULL && to != NULL)
        lab_narrow(copies->dtype, from, to, count);
    return to;
}

/* Smaller weights have lost digits to the range of float. */
static double score_of(double weight, double lse)
{
    return weight < 0x1p-100 ? NAN : log(weight) + lse;
}

int lab_tokens_layer(struct lab_session *session, attend_context *ctx,
                     const struct lab_tokens *tokens, const attend_rule *rule,
                     attend_layer_rotary rotary, const int64_t *positions,
                     const double *x, const struct lab_layer_out *out)
{
    const int64_t t = tokens->t, d = tokens->d, f = tokens->f, heads = tokens->heads;
    const int64_t size = (int64_t)attend_dtype_size(tokens->dtype);
    const int with_weights = out->scores != NULL || out->weights != NULL;
    struct copies copies = {.dtype = tokens->dtype};
    attend_layer_self self = attend_layer_self_default();
    attend_layer_feed feed = attend_layer_feed_default();
    attend_error err = {.status = ATTEND_ENOMEM, .message = "out of memory"};
    attend_status status = ATTEND_ENOMEM;

    self.dtype = feed.dtype = tokens->dtype;
    self.t = feed.rows = t;
    self.e = feed.e = d;
    self.hq = self.hkv = heads;
    self.d = d / heads;
    feed.f = f;
    self.x = copy(&copies, x, t * d);
    self.wq = copy(&copies, tokens->wq, d * d);
    self.wk = copy(&copies, tokens->wk, d * d);
    self.wv = copy(&copies, tokens->wv, d * d);
    feed.w1 = copy(&copies, tokens->w1, d * f);
    feed.b1 = copy(&copies, tokens->b1, f);
    feed.w2 = copy(&copies, tokens->w2, f * d);
    feed.b2 = copy(&copies, tokens->b2, d);
    feed.x = self.out = copy(&copies, NULL, t * d);
    feed.out = copy(&copies, NULL, t * d);
    if (with_weights) {
        self.lse = copy(&copies, NULL, heads * t);
        self.weights = copy(&copies, NULL, heads * t * t);
    }
    self.rotary = rotary;
    self.positions = positions;
    if (!copies.failed)
        status = attend_layer_forward(ctx, rule, &self, &feed, &err);
    if (status == ATTEND_OK) {
        lab_widen(tokens->dtype, self.out, out->h, t * d);
        lab_widen(tokens->dtype, feed.out, out->z, t * d);
        lab_widen(tokens->dtype, self.weights, out->weights, heads * t * t);
        lab_widen(tokens->dtype, self.weights, out->scores, heads * t * t);
        for (int64_t row = 0; out->scores != NULL && row < heads * t; row++) {
            double lse;
            lab_widen(tokens->dtype, (const char *)self.lse + row * size, &lse, 1);
            for (int64_t i = row * t; i < (row + 1) * t; i++)
                out->scores[i] = score_of(out->scores[i], lse);
        }
    }
    for (int c = 0; c < copies.count; c++)
        free(copies.memory[c]);
    return status == ATTEND_OK ? 0 : lab_fail(session, "%s", err.message);
}

/* Shuffles t tokens with the random words from `drawn` on, which it moves. */
static void shuffle(uint64_t seed, int64_t t, uint64_t *drawn, int64_t *order)
{
    for (int64_t i = 0; i < t; i++)
        order[i] = i;
    for (int64_t i = t - 1; i > 0; i--) {
        const uint32_t choices = (uint32_t)i + 1;
        const uint32_t even = UINT32_MAX - UINT32_MAX % choices;
        uint32_t word;
        do
            lab_random_words(seed, STREAM_ORDER, (*drawn)++, &word, 1);
        while (word >= even);
        const int64_t j = word % choices, keep = order[i];
        order[i] = order[j];
        order[j] = keep;
    }
}

void lab_tokens_order(uint64_t seed, int64_t t, int64_t *order)
{
    uint64_t drawn = 0;
    int64_t kept;

    do {
        shuffle(seed, t, &drawn, order);
        for (kept = 0; kept < t && order[kept] == kept; kept++)
            continue;
    } while (kept == t && t > 1);
}

double lab_most_apart(const double *a, const double *b, int64_t count)
{
    double most = 0.0;

    for (int64_t i = 0; i < count; i++) {
        const double apart = fabs(a[i] - b[i]);
        if (isnan(apart))
            return apart;
        most = fmax(most, apart);
    }
    return most;
}
