/* SPDX-License-Identifier: MIT */
/* The playground: one query over a few keys, and over noisy copies of them. */
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measure/forward.h"
#include "lab/measure/random.h"

/* One context for all calls; NULL if its creation failed. */
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

/* Memory for all copies at once: one call of the engine is many times faster. */
struct copies {
    double *q, *k, *v, *weights;
    float *drawn;
};

static int allocate(struct copies *copies, int n, int d, int dv, int draws)
{
    const size_t count = (size_t)draws;

    copies->q = malloc(sizeof(double) * count * (size_t)d);
    copies->k = malloc(sizeof(double) * count * (size_t)(n * d));
    copies->v = malloc(sizeof(double) * count * (size_t)(n * dv));
    copies->weights = malloc(sizeof(double) * count * (size_t)n);
    copies->drawn = malloc(sizeof(float) * (size_t)(n * d + 1));
    return copies->q && copies->k && copies->v && copies->weights && copies->drawn ? 0
                                                                                   : -1;
}

static void release(struct copies *copies)
{
    free(copies->q);
    free(copies->k);
    free(copies->v);
    free(copies->weights);
    free(copies->drawn);
}

int page_cloud(int n, int d, int dv, const double *q, const double *k, const double *v,
               double scale, double alpha, double sigma2, int draws, double seed,
               double *out, double *first)
{
    const int each = n * d + 1;
    struct copies copies;
    attend_error err;
    int failed = allocate(&copies, n, d, dv, draws) || !context();

    for (int x = 0; x < draws && !failed; x++) {
        lab_random_normals((uint64_t)seed, 1, (uint64_t)x * (uint64_t)each, copies.drawn,
                           each);
        disturb(n, d, k, alpha, sigma2, copies.drawn,
                copies.k + (size_t)x * (size_t)(n * d));
        memcpy(copies.q + (size_t)x * (size_t)d, q, sizeof *q * (size_t)d);
        memcpy(copies.v + (size_t)x * (size_t)(n * dv), v, sizeof *v * (size_t)(n * dv));
    }
    const struct lab_problem problem = {.nb = draws,
                                        .nk = n,
                                        .d = d,
                                        .dv = dv,
                                        .q = copies.q,
                                        .k = copies.k,
                                        .v = copies.v,
                                        .scale = scale,
                                        .out = out,
                                        .weights = copies.weights};
    failed = failed || lab_forward(context(), &problem, &err) != ATTEND_OK;
    for (int x = 0; x < draws && !failed; x++)
        first[x] = copies.weights[(size_t)x * (size_t)n];
    release(&copies);
    return failed ? -1 : 0;
}
