/* SPDX-License-Identifier: MIT */
/* The playground: one query over a few keys, and over noisy copies of them. */
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measure/forward.h"
#include "lab/measure/random.h"

/* One context for all calls; NULL: it could not be made. */
static attend_context *context(void)
{
    static attend_context *ctx;
    attend_options options = attend_options_default();
    attend_error err;

    options.threads = 1;
    if (!ctx && attend_context_create(&ctx, &options, &err) != ATTEND_OK)
        ctx = NULL;
    return ctx;
}

int page_weights(int n, int d, int dv, const double *q, const double *k, const double *v,
                 double scale, double *weights, double *out, double *numbers)
{
    struct lab_row_stats stats;
    double lse;
    attend_error err;
    const struct lab_problem problem = {.nk = n,
                                        .d = d,
                                        .dv = dv,
                                        .q = q,
                                        .k = k,
                                        .v = v,
                                        .scale = scale,
                                        .out = out,
                                        .lse = &lse,
                                        .weights = weights,
                                        .stats = &stats};

    if (!context() || lab_forward(context(), &problem, &err) != ATTEND_OK)
        return -1;
    numbers[0] = stats.entropy;
    numbers[1] = stats.n_eff;
    numbers[2] = stats.top_weight;
    numbers[3] = lse;
    return 0;
}

void page_random(int n, int d, double seed, double *to)
{
    enum { AT_ONCE = 256 };
    const double sd = 1 / sqrt(d);
    float drawn[AT_ONCE];

    for (int64_t x = 0; x < (int64_t)n * d; x++) {
        if (x % AT_ONCE == 0)
            lab_random_normals((uint64_t)seed, 0, (uint64_t)x, drawn, AT_ONCE);
        to[x] = sd * (double)drawn[x % AT_ONCE];
    }
}

/* One noisy copy of the keys; `drawn` has n d + 1 standard normals. */
static void disturb(int n, int d, const double *k, double alpha, double sigma2,
                    const float *drawn, double *to)
{
    const double length = 1 + sqrt(sigma2) * (double)drawn[n * d], sd = sqrt(alpha);

    for (int x = 0; x < n * d; x++)
        to[x] = (x < d ? length : 1) * k[x] + sd * (double)drawn[x];
}

int page_cloud(int n, int d, int dv, const double *q, const double *k, const double *v,
               double scale, double alpha, double sigma2, int draws, double seed,
               double *out, double *first)
{
    const int each = n * d + 1;
    double *const keys = malloc(sizeof *keys * (size_t)(n * d));
    double *const weights = malloc(sizeof *weights * (size_t)n);
    float *const drawn = malloc(sizeof *drawn * (size_t)each);
    attend_error err;
    int failed = !keys || !weights || !drawn || !context();

    for (int x = 0; x < draws && !failed; x++) {
        const struct lab_problem problem = {.nk = n,
                                            .d = d,
                                            .dv = dv,
                                            .q = q,
                                            .k = keys,
                                            .v = v,
                                            .scale = scale,
                                            .out = out + (size_t)x * (size_t)dv,
                                            .weights = weights};
        lab_random_normals((uint64_t)seed, 1, (uint64_t)x * (uint64_t)each, drawn, each);
        disturb(n, d, k, alpha, sigma2, drawn, keys);
        failed = lab_forward(context(), &problem, &err) != ATTEND_OK;
        first[x] = weights[0];
    }
    free(keys);
    free(weights);
    free(drawn);
    return failed ? -1 : 0;
}
