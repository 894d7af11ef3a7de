/* SPDX-License-Identifier: MIT */
/* Heads that share the dimensions of random keys, d_h = d/h each (T21). */
#include "lab/experiments/exp_how_many_heads.h"

#include <math.h>

#include "attend/theory.h"
#include "lab/setups/random_keys.h"

static struct lab_random_heads heads_of(const struct lab_setting *p)
{
    return (struct lab_random_heads){.n = (int64_t)p->at[N],
                                     .m = (int64_t)p->at[TARGETS],
                                     .h = (int64_t)p->at[HEADS],
                                     .d = (int64_t)p->at[D],
                                     .copies = p->at[GROUPS] != 0,
                                     .independent = p->at[NOISE] != 0,
                                     .sigma2 = p->at[SIGMA2],
                                     .scales = 1,
                                     .scale = {p->at[SCALE]}};
}

int lab_shared_dimensions_rows(struct lab_run *run)
{
    if (isnan(lab_real(run, "d")))
        lab_set(run, "d", lab_real(run, "n"));
    const struct lab_setting p = lab_own(run);
    const struct lab_random_heads heads = heads_of(&p);
    struct lab_moments mse;

    if (heads.d % heads.h)
        return lab_misuse(&run->session, "--d: %lld is not a multiple of --h %lld",
                          (long long)heads.d, (long long)heads.h);
    if (heads.h > heads.m && !heads.copies)
        return lab_misuse(&run->session,
                          "--h: %lld is more than --m %.0f with random keys",
                          (long long)heads.h, p.at[TARGETS]);
    if (p.at[N] * p.at[D] > LAB_RANDOM_ENTRIES_MAX)
        return lab_misuse(&run->session,
                          "--n: %.0f keys in --d %lld: n d is at most %d here", p.at[N],
                          (long long)heads.d, (int)LAB_RANDOM_ENTRIES_MAX);
    if (lab_random_heads_measure(&run->session, &heads, 900, run->trials, &mse))
        return -1;
    lab_emit(run, "mse", &p, lab_exact(NAN, lab_estimate_mean(&mse)));
    return 0;
}

/* The run's setting with random keys, 64 dimensions, and a share of them for each head.
 */
static struct lab_setting shared_dimensions(const struct lab_run *run, int64_t heads)
{
    struct lab_setting p = lab_own(run);

    p.at[TARGETS] = 8;
    p.at[HEADS] = (double)heads;
    p.at[D] = 64;
    p.at[GROUPS] = p.at[NOISE] = 0;
    p.at[KEYS] = 1;
    return p;
}

/* The best of the scales tried, with its row and its point. */
static int best_scale(struct lab_run *run, struct lab_setting p, uint64_t stream,
                      struct lab_series *series, double *mse)
{
    struct lab_random_heads heads = heads_of(&p);
    struct lab_moments moments[LAB_SCALES_MAX];
    int best = 0;

    heads.scales = LAB_SCALES_MAX;
    for (int x = 0; x < LAB_SCALES_MAX; x++)
        heads.scale[x] = pow(1.6, x);
    if (lab_random_heads_measure(&run->session, &heads, stream, run->trials / 400 + 50,
                                 moments))
        return -1;
    for (int x = 1; x < LAB_SCALES_MAX; x++)
        if (moments[x].mean < moments[best].mean)
            best = x;
    const struct lab_estimate least = lab_estimate_mean(&moments[best]);
    p.at[SCALE] = heads.scale[best];
    lab_emit(run, "mse_at_best_C", &p, lab_exact(NAN, least));
    lab_series_estimate(series, p.at[HEADS], least);
    *mse = moments[best].mean;
    return 0;
}

static int fixed_d(struct lab_run *run)
{
    enum { NOISES = 3 };
    static const double noises[NOISES] = {0.5, 0.05, 0.005};
    struct lab_figure *const figure =
        lab_plot(run, "shared-dimensions",
                 "Heads that share 64 dimensions: error at the best scale",
                 "h (heads, 64/h dimensions each)", "E|c - mean of 8 values|^2",
                 LAB_LOG_X, "%s", "");
    const double rest = 1.0 / 8 - 1.0 / 256; /* the error of q = 0 */
    double first[NOISES], last[NOISES];

    lab_line_add(figure, "q = 0, theory", 1, rest, 8, rest);
    for (int x = 0; x < NOISES; x++) {
        struct lab_series *const series =
            lab_series_add(figure, LAB_POINTS, "measured, sigma2 = %g", noises[x]);
        for (int64_t h = 1; h <= 8 && !lab_stopped(&run->session); h *= 2) {
            struct lab_setting p = shared_dimensions(run, h);
            p.at[N] = 256;
            p.at[SIGMA2] = noises[x];
            if (best_scale(run, p, 1000 + 10 * (uint64_t)x + (uint64_t)h, series,
                           &last[x]))
                return -1;
            if (h == 1)
                first[x] = last[x];
        }
    }
    if (!lab_stopped(&run->session))
        lab_caption(figure,
                    "n = 256 random unit keys, m = 8 targets, each point at the best of "
                    "%d scales, measured.  From 1 head to 8 the error goes from %.3g to "
                    "%.3g at sigma2 = %g, and from %.3g to %.3g at sigma2 = %g; q = 0, "
                    "the mean of all values, has %.3g.",
                    (int)LAB_SCALES_MAX, first[0], last[0], noises[0], first[NOISES - 1],
                    last[NOISES - 1], noises[NOISES - 1], rest);
    return 0;
}

static int rivals(struct lab_run *run)
{
    struct lab_moments share;

    for (int64_t h = 1; h <= 8 && !lab_stopped(&run->session); h *= 2) {
        const int64_t m = 8 / h, d = 64 / h;
        struct lab_setting p = shared_dimensions(run, h);
        p.at[N] = (double)m + 1;
        p.at[SCALE] = 1;
        p.at[SIGMA2] = 0;
        if (lab_rivals_measure(&run->session, m, d, 2000 + (uint64_t)h,
                               run->trials / 50 + 50, &share))
            return -1;
        lab_emit(run, "p_rival_beats_targets", &p,
                 lab_exact(attend_theory_collision_probability((double)d, (double)m),
                           lab_estimate_mean(&share)));
    }
    return 0;
}

int lab_shared_dimensions_sweep(struct lab_run *run)
{
    return fixed_d(run) || rivals(run);
}
