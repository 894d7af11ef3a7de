/* SPDX-License-Identifier: MIT */
#include "lab/experiments/experiment_parts.h"

#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/measure/frames.h"
#include "lab/measure/forward.h"
#include "lab/measure/trials.h"
#include "lab/setups/scene.h"

/* Scales tried for the best one, by equal factors. */
enum { SCALES = 16 };
/* Entries of the keys of one trial. */
enum { ENTRIES_MAX = 1 << 20 };

/* The flag --keys, after n, m, h, C, sigma2, d, groups and noise. */
enum { KEYS = 8 };

struct setting {
    int64_t n, m, h, d;
    double sigma2;
    int is_copies, is_independent;
    double scale[SCALES];
    int scales;
    uint64_t seed, stream;
};

static double scale_at(int x) { return pow(1.6, x); }

static size_t draws(const struct setting *s)
{
    return (size_t)(s->n * s->d + (s->is_independent ? s->h : 1) * s->n);
}

/*
 * Scratch: the draws, then one head's keys, its queries at every scale, its weights, and
 * the coefficients so far.
 */
static size_t scratch(const struct setting *s)
{
    return draws(s) + (size_t)(s->n * (s->d / s->h) + s->scales * (s->d / s->h) +
                               2 * s->scales * s->n);
}

/* Head h's keys, with the magnitudes of this trial, and its queries. */
static void make_head(const struct setting *s, int64_t h, double *normals, double *k,
                      double *q)
{
    const int64_t dh = s->d / s->h,
                  own = s->is_copies || s->h > s->m ? s->m : s->m / s->h;
    const int64_t first = s->is_copies || s->h > s->m ? 0 : h * own;
    const double *const magnitudes =
        normals + s->n * s->d + (s->is_independent ? h * s->n : 0);

    memset(q, 0, (size_t)(s->scales * dh) * sizeof *q);
    for (int64_t i = 0; i < s->n; i++) {
        double *const mean = normals + (h * s->n + i) * dh;
        const double magnitude = 1 + sqrt(s->sigma2) * magnitudes[i];
        const int is_own = i >= first && i < first + own;
        lab_unit(mean, dh);
        lab_noisy_key(mean, magnitude, 0, NULL, dh, k + i * dh);
        for (int x = 0; is_own && x < s->scales; x++)
            for (int64_t c = 0; c < dh; c++)
                q[x * dh + c] += s->scale[x] * mean[c];
    }
}

static attend_status trial(const void *arg, struct lab_worker *worker, uint64_t number,
                           double *values)
{
    const struct setting *const s = arg;
    const int64_t dh = s->d / s->h;
    double *const normals = worker->scratch, *const k = normals + draws(s);
    double *const q = k + s->n * dh, *const weights = q + s->scales * dh;
    double *const coefficient = weights + s->scales * s->n;

    lab_normals(s->seed, s->stream, number * draws(s), normals, (int64_t)draws(s));
    memset(coefficient, 0, (size_t)(s->scales * s->n) * sizeof *coefficient);
    for (int64_t h = 0; h < s->h; h++) {
        make_head(s, h, normals, k, q);
        const struct lab_problem problem = {.nq = s->scales,
                                            .nk = s->n,
                                            .d = dh,
                                            .q = q,
                                            .k = k,
                                            .scale = 1,
                                            .weights = weights};
        const attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
        if (status != ATTEND_OK)
            return status;
        for (int64_t x = 0; x < s->scales * s->n; x++)
            coefficient[x] += weights[x] / (double)s->h;
    }
    for (int x = 0; x < s->scales; x++) {
        values[x] = 0;
        for (int64_t i = 0; i < s->n; i++) {
            const double off =
                coefficient[x * s->n + i] - (i < s->m ? 1 / (double)s->m : 0);
            values[x] += off * off;
        }
    }
    return ATTEND_OK;
}

static int measure(struct lab_run *run, struct setting *s, int64_t trials,
                   struct lab_moments *moments)
{
    s->seed = run->session.seed;
    return lab_run_trials(run, trial, s, trials, s->scales, (int64_t)scratch(s), moments);
}

static struct setting setting_of(const struct lab_run *run)
{
    return (struct setting){.n = lab_integer(run, "n"),
                            .m = lab_integer(run, "m"),
                            .h = lab_integer(run, "h"),
                            .d = isnan(lab_real(run, "d")) ? lab_integer(run, "n")
                                                           : lab_integer(run, "d"),
                            .sigma2 = lab_real(run, "sigma2"),
                            .is_copies = lab_choice(run, "groups"),
                            .is_independent = lab_choice(run, "noise")};
}

static void emit(struct lab_run *run, const struct setting *s, const char *quantity,
                 double C, const struct lab_moments *moments)
{
    struct lab_setting p = lab_own(run);
    const double values[] = {(double)s->n, (double)s->m, (double)s->h, C,
                             s->sigma2,    (double)s->d};

    memcpy(p.at, values, sizeof values); /* the first flags, in their order */
    p.at[KEYS] = 1;
    lab_emit(run, quantity, &p, lab_exact(NAN, lab_estimate_mean(moments)));
}

int lab_random_heads_rows(struct lab_run *run)
{
    struct setting s = setting_of(run);
    struct lab_moments moments[SCALES];

    if (s.d % s.h)
        return lab_misuse(&run->session, "--d: %lld is not a multiple of --h %lld",
                          (long long)s.d, (long long)s.h);
    if (s.h > s.m && !s.is_copies)
        return lab_misuse(&run->session,
                          "--h: %lld is more than --m %lld with random keys",
                          (long long)s.h, (long long)s.m);
    if (s.n * s.d > ENTRIES_MAX)
        return lab_misuse(&run->session,
                          "--n: %lld keys in --d %lld: n d is at most %d here",
                          (long long)s.n, (long long)s.d, (int)ENTRIES_MAX);
    lab_set(run, "d", (double)s.d);
    s.scale[0] = lab_real(run, "C");
    s.scales = 1;
    s.stream = 900;
    if (measure(run, &s, run->trials, moments))
        return -1;
    emit(run, &s, "mse", s.scale[0], &moments[0]);
    return 0;
}

/* ---- curves --------------------------------------------------------------- */

/* The best of the scales tried, with its row; a point where a series is given. */
static int best_scale(struct lab_run *run, struct setting *s, int64_t trials,
                      struct lab_series *series, double *mse)
{
    struct lab_moments moments[SCALES];
    int best = 0;

    s->scales = SCALES;
    for (int x = 0; x < SCALES; x++)
        s->scale[x] = scale_at(x);
    if (measure(run, s, trials, moments))
        return -1;
    for (int x = 1; x < SCALES; x++)
        if (moments[x].mean < moments[best].mean)
            best = x;
    emit(run, s, "mse_at_best_C", s->scale[best], &moments[best]);
    lab_series_estimate(series, (double)s->h, lab_estimate_mean(&moments[best]));
    *mse = moments[best].mean;
    return 0;
}

static int fixed_d(struct lab_run *run)
{
    static const double noises[] = {0.5, 0.05, 0.005};
    struct lab_figure *const figure =
        lab_plot(run, "shared-dimensions",
                 "Heads that share 64 dimensions: error at the best scale",
                 "h (heads, 64/h dimensions each)", "E|c - mean of 8 values|^2",
                 LAB_LOG_X, "%s", "");
    enum { NOISES = sizeof noises / sizeof noises[0] };
    double first[NOISES], last[NOISES];

    struct lab_series *const none = lab_series_add(figure, LAB_LINE, "q = 0, theory");
    lab_series_point(none, 1, 1.0 / 8 - 1.0 / 256, 0);
    lab_series_point(none, 8, 1.0 / 8 - 1.0 / 256, 0);
    for (size_t x = 0; x < NOISES; x++) {
        struct lab_series *const series =
            lab_series_add(figure, LAB_POINTS, "measured, sigma2 = %g", noises[x]);
        for (int64_t h = 1; h <= 8 && !lab_stopped(&run->session); h *= 2) {
            struct setting s = {.n = 256,
                                .m = 8,
                                .h = h,
                                .d = 64,
                                .sigma2 = noises[x],
                                .stream = 1000 + 10 * x + (uint64_t)h};
            if (best_scale(run, &s, run->trials / 400 + 50, series, &last[x]))
                return -1;
            if (h == 1)
                first[x] = last[x];
        }
    }
    if (!lab_stopped(&run->session))
        lab_figure_describe(figure, LAB_LOG_X,
                            "n = 256 random unit keys, m = 8 targets, each point at the "
                            "best of %d scales, "
                            "measured.  From 1 head to 8 the error goes from %.3g to "
                            "%.3g at sigma2 = %g, "
                            "and from %.3g to %.3g at sigma2 = %g; q = 0, the mean of "
                            "all values, has %.3g.",
                            (int)SCALES, first[0], last[0], noises[0], first[NOISES - 1],
                            last[NOISES - 1], noises[NOISES - 1], 1.0 / 8 - 1.0 / 256);
    return 0;
}

/* Random keys against m orthonormal targets, RIVALS at a time. */
enum { RIVALS = 64 };

struct rivals {
    int64_t m, d;
    uint64_t seed, stream;
};

static attend_status rivals_trial(const void *arg, struct lab_worker *worker,
                                  uint64_t number, double *values)
{
    const struct rivals *const r = arg;
    const int64_t nk = r->m + RIVALS;
    double *const k = worker->scratch, *const q = k + nk * r->d, *const w = q + r->d;

    lab_normals(r->seed, r->stream, number * (uint64_t)(RIVALS * r->d), k + r->m * r->d,
                RIVALS * r->d);
    memset(k, 0, (size_t)(r->m * r->d) * sizeof *k);
    memset(q, 0, (size_t)r->d * sizeof *q);
    for (int64_t i = 0; i < r->m; i++)
        k[i * r->d + i] = q[i] = 1;
    for (int64_t i = r->m; i < nk; i++)
        lab_unit(k + i * r->d, r->d);
    const struct lab_problem problem = {
        .nk = nk, .d = r->d, .q = q, .k = k, .scale = 1, .weights = w};
    const attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
    values[0] = 0;
    for (int64_t i = r->m; i < nk; i++)
        values[0] += (w[i] > w[0]) / (double)RIVALS;
    return status;
}

static int capacity(struct lab_run *run)
{
    struct lab_moments moments;

    for (int64_t h = 1; h <= 8 && !lab_stopped(&run->session); h *= 2) {
        const struct rivals r = {.m = 8 / h,
                                 .d = 64 / h,
                                 .seed = run->session.seed,
                                 .stream = 2000 + (uint64_t)h};
        if (lab_run_trials(run, rivals_trial, &r, run->trials / 50 + 50, 1,
                           (r.m + RIVALS) * (r.d + 1) + r.d, &moments))
            return -1;
        struct lab_setting p = lab_own(run);
        const double values[] = {(double)r.m + 1, 8, (double)h, 1, 0, 64};
        memcpy(p.at, values, sizeof values);
        p.at[KEYS] = 1;
        lab_emit(run, "p_rival_beats_targets", &p,
                 lab_exact(attend_theory_collision_probability((double)r.d, (double)r.m),
                           lab_estimate_mean(&moments)));
    }
    return 0;
}

int lab_random_heads_curves(struct lab_run *run)
{
    return fixed_d(run) || capacity(run) ? -1 : 0;
}
