/* SPDX-License-Identifier: MIT */
/*
 * Time of attend_forward() on a few shapes for every kernel set that runs here.
 *
 *     bench [SECONDS]     spend about SECONDS (1) on each line of the table
 *
 * GFLOP/s count useful work alone: 2 (d + dv) operations for every pair of query
 * and key that the rule lets see each other, by the median time.
 */
#define _POSIX_C_SOURCE 200809L

#include <attend/attend.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct shape {
    const char *name;
    int64_t hq, hkv, nq, nk, d;
    attend_causal causal;
};

static const struct shape shapes[] = {
    {"prefill-d64-2k", 16, 16, 2048, 2048, 64, ATTEND_CAUSAL_NONE},
    {"prefill-d128-2k", 8, 8, 2048, 2048, 128, ATTEND_CAUSAL_NONE},
    {"causal-d128-2k", 8, 8, 2048, 2048, 128, ATTEND_CAUSAL_TOP_LEFT},
    {"decode-gqa-d128-8k", 32, 8, 1, 8192, 128, ATTEND_CAUSAL_NONE},
};

enum { REPEATS_MAX = 1000, REPEATS_MIN = 3 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Uniform in [-sqrt 3, sqrt 3): variance 1, so scores are spread as in a model. */
static float *random_values(int64_t count, uint64_t seed)
{
    float *x = malloc((size_t)count * sizeof *x);

    for (int64_t n = 0; x && n < count; n++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[n] = (float)(((double)(seed >> 11) * 0x1p-52 - 1) * sqrt(3.0));
    }
    return x;
}

static double useful_flops(const struct shape *s)
{
    const double pairs = s->causal == ATTEND_CAUSAL_NONE
                             ? (double)s->nq * (double)s->nk
                             : (double)s->nq * (double)(s->nq + 1) / 2;

    return 4 * (double)s->d * pairs * (double)s->hq;
}

static attend_view view(const float *data, int64_t heads, int64_t length, int64_t d)
{
    return (attend_view){data, ATTEND_F32, {1, heads, length, d}, {0, length * d, d, 1}};
}

/* Repeats until `seconds` have passed; the first call, which allocates, is not timed. */
static int measure(attend_context *ctx, const struct shape *s, double seconds,
                   attend_error *err)
{
    static double times[REPEATS_MAX];
    float *q = random_values(s->hq * s->nq * s->d, 1);
    float *k = random_values(s->hkv * s->nk * s->d, 2);
    float *v = random_values(s->hkv * s->nk * s->d, 3);
    float *out = malloc((size_t)(s->hq * s->nq * s->d) * sizeof *out);
    attend_rule rule = attend_rule_default();
    attend_io io = attend_io_default();
    int repeats = 0, ok = q && k && v && out;

    if (!ok)
        snprintf(err->message, sizeof err->message, "out of memory");
    rule.causal = s->causal;
    io.q = view(q, s->hq, s->nq, s->d);
    io.k = view(k, s->hkv, s->nk, s->d);
    io.v = view(v, s->hkv, s->nk, s->d);
    io.out = (attend_tensor){
        out, ATTEND_F32, {1, s->hq, s->nq, s->d}, {0, s->nq * s->d, s->d, 1}};
    ok = ok && attend_forward(ctx, &rule, &io, err) == ATTEND_OK;
    for (const double end = now() + seconds;
         ok && repeats < REPEATS_MAX && (repeats < REPEATS_MIN || now() < end);
         repeats++) {
        const double start = now();
        ok = attend_forward(ctx, &rule, &io, err) == ATTEND_OK;
        times[repeats] = now() - start;
    }
    if (ok) {
        qsort(times, (size_t)repeats, sizeof times[0], compare);
        const double median = times[repeats / 2];
        printf("%-12s %-20s %7d %10.3f %10.3f %7d %10.1f\n", attend_context_isa(ctx),
               s->name, attend_context_threads(ctx), median * 1e3, times[0] * 1e3,
               repeats, useful_flops(s) / median * 1e-9);
        fflush(stdout);
    }
    free(q);
    free(k);
    free(v);
    free(out);
    return ok;
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 1.0;

    printf("attend %s, f32\n", attend_version());
    printf("%-12s %-20s %7s %10s %10s %7s %10s\n", "set", "case", "threads", "median ms",
           "min ms", "repeats", "GFLOP/s");
    for (int index = 0; index < attend_isa_count(); index++) {
        attend_isa isa;
        attend_isa_get(index, &isa);
        /* The definition in double is there to be right, not to be timed. */
        if (!isa.runs || strcmp(isa.name, "ref") == 0)
            continue;
        attend_options options = attend_options_default();
        attend_error err = {ATTEND_OK, ""};
        attend_context *ctx;
        options.isa = isa.name;
        int ok = attend_context_create(&ctx, &options, &err) == ATTEND_OK;
        for (size_t n = 0; ok && n < sizeof shapes / sizeof shapes[0]; n++)
            ok = measure(ctx, &shapes[n], seconds, &err);
        attend_context_destroy(ctx);
        if (!ok) {
            fprintf(stderr, "bench: %s: %s\n", isa.name, err.message);
            return 1;
        }
    }
    return 0;
}
