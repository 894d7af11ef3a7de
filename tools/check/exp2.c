/* SPDX-License-Identifier: MIT */
#include "check/exp2.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/numbers.h"
#include "lab/measure/parallel.h"
#include "testing/exp2_probe.h"

/* Bits of -0, of -2^-26, and the first float below -150. */
enum { CHUNK = 4096, AROUND = 32 };
static const int64_t first_bits = 0x80000000, plain_bits = 0xb2800000,
                     end_bits = 0xc3160001;

struct worker {
    attend_context *const *ctx;
    int count, workers;
    int64_t step, phase;
    struct check_exp2_result results[CHECK_EXP2_SETS];
};

static float float_of_bits(int64_t bits)
{
    const uint32_t word = (uint32_t)bits;
    float value;

    memcpy(&value, &word, sizeof value);
    return value;
}

static void miss(struct check_exp2_result *result, double ulp, float x)
{
    if (ulp > result->worst_ulp) {
        result->worst_ulp = ulp;
        result->worst_x = x;
    }
}

/*
 * Errors in units of the last place of the exact value, as fractions of it: for a
 * value v in [2^e, 2^(e+1)) a unit is 2^(e-23).  `inverse` holds 2^(23-e).
 */
static void judge(const float *x, const float *y, const double *want,
                  const double *inverse, int64_t n, struct check_exp2_result *result)
{
    double worst = 0.0;
    int broken = 0;

    for (int64_t at = 0; at < n; at++) {
        const double ulp = fabs((double)y[at] - want[at]) * inverse[at];
        worst = ulp > worst ? ulp : worst;
        broken |= !(ulp <= 1e30);
    }
    result->cases += n;
    if (worst <= result->worst_ulp && !broken)
        return;
    for (int64_t at = 0; at < n; at++) {
        const double ulp = fabs((double)y[at] - want[at]) * inverse[at];
        miss(result, ulp <= 1e30 ? ulp : INFINITY, x[at]);
    }
}

static void reference(const float *x, double *want, double *inverse, int64_t n)
{
    for (int64_t at = 0; at < n; at++) {
        if (x[at] < -126.0f) { /* exactly 0: the smallest float is already broken */
            want[at] = 0.0;
            inverse[at] = 1e80;
            continue;
        }
        /* 2^x lies in [2^e, 2^(e+1)) with e = floor x. */
        want[at] = exp2((double)x[at]);
        inverse[at] = ldexp(1.0, 23 - (int)floorf(x[at]));
    }
}

static void work(void *workers, int index)
{
    struct worker *const w = (struct worker *)workers + index;
    float x[CHUNK], y[CHUNK];
    double want[CHUNK], inverse[CHUNK];
    int plain = 0;

    for (int64_t at = first_bits + w->phase + index * CHUNK * w->step; at < end_bits;
         at += w->workers * CHUNK * w->step) {
        int64_t n = 0;
        for (; n < CHUNK && at + n * w->step < end_bits; n++)
            x[n] = float_of_bits(at + n * w->step);
        if (at + CHUNK * w->step > plain_bits) {
            reference(x, want, inverse, n);
        } else if (!plain) {
            /* |x| < 2^-26: 2^x is 1 to within 2^-26; the unit below 1 is 2^-24. */
            for (int64_t c = 0; c < CHUNK; c++) {
                want[c] = 1.0;
                inverse[c] = 0x1p24;
            }
            plain = 1;
        }
        for (int s = 0; s < w->count; s++) {
            attendi_exp2(w->ctx[s], x, y, n);
            judge(x, y, want, inverse, n, &w->results[s]);
        }
    }
}

static void examine_around(struct worker *w, float middle)
{
    float x[2 * AROUND + 1], y[2 * AROUND + 1];
    double want[2 * AROUND + 1], inverse[2 * AROUND + 1];
    uint32_t bits;
    int64_t n = 0;

    memcpy(&bits, &middle, sizeof bits);
    for (int64_t at = (int64_t)bits - AROUND; at <= (int64_t)bits + AROUND; at++)
        if (at >= first_bits && at < end_bits)
            x[n++] = float_of_bits(at);
    reference(x, want, inverse, n);
    for (int s = 0; s < w->count; s++) {
        attendi_exp2(w->ctx[s], x, y, n);
        judge(x, y, want, inverse, n, &w->results[s]);
    }
}

/* Where the exponent of x changes, or its nearest whole number, or that of 2^x. */
static void boundaries(struct worker *w)
{
    for (int half = 0; half <= 300; half++)
        examine_around(w, -0.5f * (float)half);
    for (int exponent = 2; exponent <= 149; exponent++)
        examine_around(w, -ldexpf(1.0f, -exponent));
}

/* Values that must come out exactly, in any lane of a vector and in its tail. */
static void exact_cases(const attend_context *ctx, struct check_exp2_result *result)
{
    static const float cases[][2] = {
        {0.0f, 1.0f},    {-0.0f, 1.0f},  {-1.0f, 0.5f},     {-126.0f, 0x1p-126f},
        {-127.0f, 0.0f}, {-1e30f, 0.0f}, {-INFINITY, 0.0f}, {NAN, NAN}};
    float x[37], y[37];

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int at = 0; at < 37; at++) {
            for (int other = 0; other < 37; other++)
                x[other] = -0.25f;
            x[at] = cases[c][0];
            attendi_exp2(ctx, x, y, 37);
            result->cases++;
            if (isnan(cases[c][1]) ? !isnan(y[at]) : y[at] != cases[c][1])
                miss(result, INFINITY, x[at]);
            if (!(fabsf(y[(at + 1) % 37] - 0.840896415f) < 1e-6f))
                miss(result, INFINITY, x[at]);
        }
}

void check_exp2(attend_context *const *ctx, int count, int64_t step, uint64_t seed,
                int threads, struct check_exp2_result *results)
{
    const int workers = threads < 1 ? 1 : threads;
    struct worker *const worker = check_memory((size_t)workers, sizeof *worker);

    for (int w = 0; w < workers; w++)
        worker[w] = (struct worker){.ctx = ctx,
                                    .count = count,
                                    .workers = workers,
                                    .step = step,
                                    .phase = (int64_t)(seed % (uint64_t)step)};
    boundaries(&worker[0]);
    lab_parallel(workers, work, worker);
    for (int s = 0; s < count; s++) {
        results[s] = (struct check_exp2_result){0};
        for (int w = 0; w < workers; w++) {
            results[s].cases += worker[w].results[s].cases;
            miss(&results[s], worker[w].results[s].worst_ulp,
                 worker[w].results[s].worst_x);
        }
        exact_cases(ctx[s], &results[s]);
    }
    free(worker);
}

void check_test_exp2(struct check_run *run)
{
    attend_context *ctx[CHECK_SETS_MAX];
    struct check_exp2_result results[CHECK_SETS_MAX];
    char where[128];

    for (int s = 0; s < run->count; s++)
        ctx[s] = run->sets[s].ctx;
    check_exp2(ctx, run->count, run->exp2_step, run->seed, run->exp2_threads, results);
    for (int s = 0; s < run->count; s++) {
        snprintf(where, sizeof where, "2^%.9g is %.3g ulp off",
                 (double)results[s].worst_x, results[s].worst_ulp);
        check_note(&run->sets[s], results[s].worst_ulp / 3.0, NULL, where);
        run->sets[s].tally.cases = results[s].cases;
    }
}
