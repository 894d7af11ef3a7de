/* SPDX-License-Identifier: MIT */
/*
 * m wanted values, h heads.  With orthonormal keys a saturated head is a sampler, and h
 * groups of m/h targets are stratified sampling; with random keys the heads also share
 * the dimensions, d_h = d/h each (T17, T21).
 */
#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/measure/forward.h"
#include "lab/measure/frames.h"
#include "theory/score_law.h"

#include <math.h>
#include <string.h>

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 256, 2, 1e6, "keys"),
    LAB_FLAG_INTEGER("m", 2, 1, LAB_WANTED_MAX, "wanted values, all noisy"),
    LAB_FLAG_INTEGER("h", 2, 1, LAB_HEADS_MAX, "heads; a divisor or a multiple of m"),
    LAB_FLAG_REAL("C", 50, 0, 1e6, "scale of the queries"),
    LAB_FLAG_REAL("sigma2", 0.5, 1e-6, 100,
                  "magnitude noise of the wanted keys, or of all random keys"),
    LAB_FLAG_INTEGER("d", NAN, 1, 1e6,
                     "dimensions, shared by the heads if keys are random (default n)"),
    LAB_FLAG_CHOICE("groups", "split", LAB_2("split", "copies"),
                    "each head asks for its own m/h targets, or every head for all m"),
    LAB_FLAG_CHOICE("noise", "shared", LAB_2("shared", "independent"),
                    "heads see the same noisy keys, or keys drawn anew"),
    LAB_FLAG_CHOICE("keys", "orthonormal", LAB_2("orthonormal", "random"),
                    "random: unit vectors in d/h dimensions for each head"),
};

enum { N, TARGETS, HEADS, SCALE, SIGMA2, D, GROUPS, NOISE, KEYS }; /* flags */

enum { MSE, MSE_POSITIVE, ROWS };
/* Mixtures of orthonormal values are at most sqrt(2) apart. */
#define MSE_MAX 2.0
static const struct lab_observable rows[] = {
    {"mse", MSE, LAB_SQUARE, MSE_MAX},
    {"mse_given_positive", MSE_POSITIVE, LAB_SQUARE, MSE_MAX},
};

/* Targets of one head, and different queries among the heads. */
static double targets_of_head(const struct lab_setting *p)
{
    return p->at[GROUPS] ? p->at[TARGETS] : fmax(1, p->at[TARGETS] / p->at[HEADS]);
}

static double queries_of(const struct lab_setting *p)
{
    return p->at[TARGETS] / targets_of_head(p);
}

/*
 * Exact at finite C.  A head's weights depend only on the magnitudes of its own
 * targets, so different queries are independent even on the same keys, and copies of a
 * query are equal on the same keys and independent on keys drawn anew.  With `positive`,
 * given that every wanted magnitude is positive.
 */
static double mse_theory(const struct lab_setting *p, int positive)
{
    const double n = p->at[N], m = p->at[TARGETS], scale = p->at[SCALE];
    const double own = targets_of_head(p), queries = queries_of(p);
    struct attendi_theory_score_kind classes[2] = {
        attendi_theory_plain_kind(own, scale, scale * sqrt(p->at[SIGMA2])),
        attendi_theory_plain_kind(fmax(1, n - own), 0, 0)};
    const int count = n > own ? 2 : 1;
    double mean[2] = {0}, variance[2] = {0};

    if (positive && scale > 0)
        classes[0].lo = 0;
    if (attendi_theory_score_variances(classes, count, mean, variance))
        return NAN;
    const double copies = p->at[NOISE] ? p->at[HEADS] / queries : 1;
    const double target = (mean[0] + (queries - 1) * mean[1]) / queries - 1 / m;
    const double var_target =
        (variance[0] + (queries - 1) * variance[1]) / (queries * queries * copies);
    return m * (target * target + var_target) +
           (n - m) * (mean[1] * mean[1] + variance[1] / (queries * copies));
}

static void theory_of(const struct lab_setting *p, double *theory)
{
    theory[MSE] = mse_theory(p, 0);
    theory[MSE_POSITIVE] = mse_theory(p, 1);
}

static void observe(const struct lab_setting *p, const struct lab_outcome *outcome,
                    double *values)
{
    const int m = (int)p->at[TARGETS];
    int is_positive = 1;

    values[MSE] = outcome->others_squared;
    for (int i = 0; i < m; i++) {
        const double off = outcome->coefficient[i] - 1.0 / m;
        values[MSE] += off * off;
        is_positive &= outcome->gamma[i] > 0;
    }
    values[MSE_POSITIVE] = is_positive ? values[MSE] : NAN;
}

static struct lab_scene scene_of(const struct lab_setting *p)
{
    struct lab_scene scene = {.n = (int64_t)p->at[N],
                              .wanted = (int)p->at[TARGETS],
                              .heads = (int)p->at[HEADS],
                              .sigma2 = p->at[SIGMA2],
                              .tau = 1,
                              .noisy = LAB_NOISY_WANTED,
                              .independent_noise = p->at[NOISE] != 0};
    const int own = (int)targets_of_head(p), queries = (int)queries_of(p);

    for (int h = 0; h < scene.heads; h++)
        for (int i = 0; i < own; i++)
            scene.query[h][h % queries * own + i] = p->at[SCALE];
    return scene;
}

/* An outcome has the magnitudes of one head only. */
static void finish(const struct lab_setting *p, struct lab_sample *sample)
{
    sample->found[MSE_POSITIVE].is_absent = p->at[NOISE] && p->at[HEADS] > 1;
}

static const struct lab_model model = {LAB_ROWS(rows),     .theory = theory_of,
                                       .values = ROWS,     .scene = scene_of,
                                       .observe = observe, .finish = finish};

/* The run's setting with orthonormal keys, n dimensions, and heads of this kind. */
static struct lab_setting setting_of(const struct lab_run *run, int copies,
                                     int independent)
{
    struct lab_setting p = lab_own(run);

    p.at[D] = p.at[N];
    p.at[GROUPS] = copies;
    p.at[NOISE] = independent;
    p.at[KEYS] = 0;
    return p;
}

/* ---- sweeps -------------------------------------------------------------- */

/* A C at which the limits are near. */
#define SCALE_LIMIT 1e4

/* T17 at C -> inf: given positive magnitudes, with flips, to first order. */
static int limits(struct lab_run *run, struct lab_setting p, uint64_t stream)
{
    const double n = p.at[N], m = p.at[TARGETS], h = p.at[HEADS], sigma2 = p.at[SIGMA2];
    struct lab_sample sample = {.histogram = NULL};
    struct lab_found mse, *const positive = &sample.found[MSE_POSITIVE];

    p.at[SCALE] = SCALE_LIMIT;
    if (lab_measure_at(run, &model, &p, stream, run->trials / 10 + 100, &sample))
        return -1;
    mse = sample.found[MSE];
    positive->kind = mse.kind = LAB_ASYMPTOTIC;
    positive->theory = attend_theory_groups_mse_positive(m, h);
    if (h < m)
        lab_emit(run, "mse_given_positive_limit", &p, *positive);
    mse.theory = attend_theory_groups_mse_flips(m, h, n, sigma2);
    lab_emit(run, "mse_limit", &p, mse);
    mse.kind = LAB_FIRST_ORDER;
    mse.theory = attend_theory_groups_mse_first_order(m, n, sigma2);
    if (h >= m)
        lab_emit(run, "mse_first_order", &p, mse);
    return 0;
}

static int split_curves(struct lab_run *run)
{
    static const double targets[] = {2, 4, 8, 16};
    struct lab_figure *const figure = lab_plot(
        run, "split", "Stratified sampling: error by number of heads", "h (heads)",
        "E|c - mean of m values|^2, magnitudes > 0", LAB_LOG_X, "%s", "");
    struct lab_setting p = setting_of(run, 0, 0);
    struct lab_sample sample = {.histogram = NULL};
    const struct lab_found *const mse = &sample.found[MSE_POSITIVE];
    uint64_t stream = 100;
    double most = 0, best = 0;

    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        const double m = p.at[TARGETS] = targets[t];
        if (m > p.at[N])
            break;
        const struct lab_curve curve = lab_curve_add(figure, "m = %g", m);
        for (int h = 1; h <= (int)m; h *= 2)
            lab_series_point(curve.theory, h, attend_theory_groups_mse_positive(m, h), 0);
        double least = INFINITY;
        for (int h = 1; h <= LAB_HEADS_MAX; h *= 2) {
            if (lab_stopped(&run->session))
                return 0;
            p.at[HEADS] = h;
            if (lab_rows_at(run, &model, &p, stream++, run->trials / 20 + 100, &sample) ||
                (h <= (int)m && limits(run, p, stream++)))
                return -1;
            lab_series_point(curve.measured, h, mse->measured, mse->se);
            if (mse->measured < least) {
                least = mse->measured;
                best = h;
            }
        }
        most = m;
    }
    lab_caption(figure,
                "Lines: 1/h - 1/m, the limit C -> inf. Points: C = %g, n = %g. "
                "For m = %g the least error was measured with h = %g heads.  "
                "Heads beyond h = m are copies and change nothing.",
                p.at[SCALE], p.at[N], most, best);
    return 0;
}

static int copies_curves(struct lab_run *run)
{
    static const double heads[] = {1, 2, 4, 8, 16};
    struct lab_figure *const figure =
        lab_plot(run, "copies", "Copies of one head help only with fresh noise",
                 "h (copies of one head)", "E|c - mean of m values|^2", LAB_LOG_X,
                 "Every head asks for all m = %g targets. On the same keys copies are "
                 "equal and change nothing; if each saw keys with noise of its own, the "
                 "variance would fall as 1/h.",
                 lab_real(run, "m"));

    for (int independent = 0; independent <= 1; independent++) {
        const struct lab_plotted drawn = {
            MSE, lab_curve_add(figure, "%s", independent ? "independent" : "shared")};
        for (size_t x = 0; x < sizeof heads / sizeof heads[0]; x++) {
            const struct lab_sweep over_h = {
                .flag = HEADS,
                .line = {1, LAB_HEADS_MAX, x ? 0 : LAB_HEADS_MAX - 1, LAB_EVENLY, 0, 0},
                .steps = &heads[x],
                .count = 1,
                .stream = 200 + (uint64_t)(20 * independent + (int)heads[x]),
                .trials = run->trials / 20 + 100,
                .only_drawn = 1};
            if (lab_sweep(run, &model, &over_h, setting_of(run, 1, independent), &drawn,
                          1))
                return -1;
        }
    }
    return 0;
}

/* ---- random keys --------------------------------------------------------- */

/*
 * Heads that share d dimensions.  Each sees n keys as random unit vectors in d/h of them,
 * drawn for itself; its query is C times the sum of its m/h targets.  The magnitude
 * of every key is noisy.  There is no formula for the error.
 */

/* Scales tried for the best one, by equal factors. */
enum { SCALES = 16 };
/* Entries of the keys of one random_trial. */
enum { ENTRIES_MAX = 1 << 20 };

/* The scales that are measured on the same keys, which a setting has in `with`. */
struct scales {
    int count;
    double at[SCALES];
};

static const struct scales *scales_of(const struct lab_setting *p) { return p->with; }

/* Sizes: keys, targets, heads, and the columns and targets of one head. */
struct sizes {
    int64_t n, m, h, dh, own;
};

static struct sizes sizes_of(const struct lab_setting *p)
{
    const int64_t m = (int64_t)p->at[TARGETS], h = (int64_t)p->at[HEADS];

    return (struct sizes){.n = (int64_t)p->at[N],
                          .m = m,
                          .h = h,
                          .dh = (int64_t)p->at[D] / h,
                          .own = p->at[GROUPS] || h > m ? m : m / h};
}

/* Normals of a random_trial: directions of every head's keys, then magnitudes. */
static int64_t draws_of(const struct lab_setting *p)
{
    return (int64_t)(p->at[N] * p->at[D] + (p->at[NOISE] ? p->at[HEADS] : 1) * p->at[N]);
}

/*
 * The draws, then one head's keys, its queries at every scale, its weights, and the
 * coefficients so far.
 */
static int64_t scratch_of(const struct lab_setting *p)
{
    const struct sizes s = sizes_of(p);
    const int64_t scales = scales_of(p)->count;

    return draws_of(p) + s.n * s.dh + scales * s.dh + 2 * scales * s.n;
}

/* Head h's keys, with the magnitudes of this random_trial, and its queries. */
static void make_head(const struct lab_setting *p, int64_t h, double *normals, double *k,
                      double *q)
{
    const struct sizes s = sizes_of(p);
    const struct scales *const scales = scales_of(p);
    const int64_t first = s.own == s.m ? 0 : h * s.own;
    const double *const magnitudes =
        normals + s.n * s.h * s.dh + (p->at[NOISE] ? h * s.n : 0);

    memset(q, 0, (size_t)(scales->count * s.dh) * sizeof *q);
    for (int64_t i = 0; i < s.n; i++) {
        double *const mean = normals + (h * s.n + i) * s.dh;
        const double magnitude = 1 + sqrt(p->at[SIGMA2]) * magnitudes[i];
        const int is_own = i >= first && i < first + s.own;
        lab_unit(mean, s.dh);
        lab_noisy_key(mean, magnitude, 0, NULL, s.dh, k + i * s.dh);
        for (int x = 0; is_own && x < scales->count; x++)
            for (int64_t c = 0; c < s.dh; c++)
                q[x * s.dh + c] += scales->at[x] * mean[c];
    }
}

static attend_status random_trial(const void *arg, struct lab_worker *worker,
                                  uint64_t number, double *values)
{
    const struct lab_draws *const draws = arg;
    const struct sizes s = sizes_of(draws->at);
    const int64_t count = draws_of(draws->at), scales = scales_of(draws->at)->count;
    double *const normals = worker->scratch, *const k = normals + count;
    double *const q = k + s.n * s.dh, *const weights = q + scales * s.dh;
    double *const coefficient = weights + scales * s.n;

    lab_normals(draws->seed, draws->stream, number * (uint64_t)count, normals, count);
    memset(coefficient, 0, (size_t)(scales * s.n) * sizeof *coefficient);
    for (int64_t h = 0; h < s.h; h++) {
        make_head(draws->at, h, normals, k, q);
        const struct lab_problem problem =
            LAB_PROBLEM(s.n, s.dh, q, k, 1, .nq = scales, .weights = weights);
        const attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
        if (status != ATTEND_OK)
            return status;
        for (int64_t x = 0; x < scales * s.n; x++)
            coefficient[x] += weights[x] / (double)s.h;
    }
    for (int64_t x = 0; x < scales; x++) {
        values[x] = 0;
        for (int64_t i = 0; i < s.n; i++) {
            const double off = coefficient[x * s.n + i] - (i < s.m ? 1 / (double)s.m : 0);
            values[x] += off * off;
        }
    }
    return ATTEND_OK;
}

static int measure_scales(struct lab_run *run, const struct lab_setting *p,
                          uint64_t stream, int64_t trials, struct lab_moments *moments)
{
    const struct lab_draws draws = {p, run->session.seed, stream};

    return lab_run_trials(run, random_trial, &draws, trials, scales_of(p)->count,
                          scratch_of(p), moments);
}

static int random_rows(struct lab_run *run)
{
    if (isnan(lab_real(run, "d")))
        lab_set(run, "d", lab_real(run, "n"));
    struct lab_setting p = lab_own(run);
    const struct scales own = {.count = 1, .at = {p.at[SCALE]}};
    const int64_t h = (int64_t)p.at[HEADS], d = (int64_t)p.at[D];
    struct lab_moments mse;

    if (d % h)
        return lab_misuse(&run->session, "--d: %lld is not a multiple of --h %lld",
                          (long long)d, (long long)h);
    if (p.at[HEADS] > p.at[TARGETS] && !p.at[GROUPS])
        return lab_misuse(&run->session,
                          "--h: %lld is more than --m %.0f with random keys",
                          (long long)h, p.at[TARGETS]);
    if (p.at[N] * p.at[D] > ENTRIES_MAX)
        return lab_misuse(&run->session,
                          "--n: %.0f keys in --d %lld: n d is at most %d here", p.at[N],
                          (long long)d, (int)ENTRIES_MAX);
    p.with = &own;
    if (measure_scales(run, &p, 900, run->trials, &mse))
        return -1;
    lab_emit(run, "mse", &p, lab_exact(NAN, lab_estimate_mean(&mse)));
    return 0;
}

/* ---- curves --------------------------------------------------------------- */

/* The run's setting with random keys, 64 dimensions, and a share of them for each head.
 */
static struct lab_setting shared_dimensions(const struct lab_run *run, int64_t heads)
{
    struct lab_setting p = lab_own(run);

    p.at[HEADS] = (double)heads;
    p.at[D] = 64;
    p.at[GROUPS] = p.at[NOISE] = 0;
    p.at[KEYS] = 1;
    return p;
}

/* The best of the scales tried, with its row; a point where a series is given. */
static int best_scale(struct lab_run *run, struct lab_setting p, uint64_t stream,
                      int64_t trials, struct lab_series *series, double *mse)
{
    struct scales tried = {.count = SCALES};
    struct lab_moments moments[SCALES];
    int best = 0;

    for (int x = 0; x < SCALES; x++)
        tried.at[x] = pow(1.6, x);
    p.with = &tried;
    if (measure_scales(run, &p, stream, trials, moments))
        return -1;
    for (int x = 1; x < SCALES; x++)
        if (moments[x].mean < moments[best].mean)
            best = x;
    const struct lab_estimate least = lab_estimate_mean(&moments[best]);
    p.at[SCALE] = tried.at[best];
    lab_emit(run, "mse_at_best_C", &p, lab_exact(NAN, least));
    lab_series_estimate(series, p.at[HEADS], least);
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

    const double rest = 1.0 / 8 - 1.0 / 256; /* the error of q = 0 */
    lab_line_add(figure, "q = 0, theory", 1, rest, 8, rest);
    for (size_t x = 0; x < NOISES; x++) {
        struct lab_series *const series =
            lab_series_add(figure, LAB_POINTS, "measured, sigma2 = %g", noises[x]);
        for (int64_t h = 1; h <= 8 && !lab_stopped(&run->session); h *= 2) {
            struct lab_setting p = shared_dimensions(run, h);
            p.at[N] = 256;
            p.at[TARGETS] = 8;
            p.at[SIGMA2] = noises[x];
            if (best_scale(run, p, 1000 + 10 * x + (uint64_t)h, run->trials / 400 + 50,
                           series, &last[x]))
                return -1;
            if (h == 1)
                first[x] = last[x];
        }
    }
    if (!lab_stopped(&run->session))
        lab_caption(
            figure,
            "n = 256 random unit keys, m = 8 targets, each point at the best of %d "
            "scales, measured.  From 1 head to 8 the error goes from %.3g to %.3g at "
            "sigma2 = %g, and from %.3g to %.3g at sigma2 = %g; q = 0, the mean of all "
            "values, has %.3g.",
            (int)SCALES, first[0], last[0], noises[0], first[NOISES - 1],
            last[NOISES - 1], noises[NOISES - 1], rest);
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
    const struct lab_problem problem = LAB_PROBLEM(nk, r->d, q, k, 1, .weights = w);
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
        struct lab_setting p = shared_dimensions(run, h);
        p.at[N] = (double)r.m + 1;
        p.at[TARGETS] = 8;
        p.at[SCALE] = 1;
        p.at[SIGMA2] = 0;
        lab_emit(run, "p_rival_beats_targets", &p,
                 lab_exact(attend_theory_collision_probability((double)r.d, (double)r.m),
                           lab_estimate_mean(&moments)));
    }
    return 0;
}

static int random_curves(struct lab_run *run)
{
    return fixed_d(run) || capacity(run) ? -1 : 0;
}

/* ---- the experiment ------------------------------------------------------ */

static int perform(struct lab_run *run)
{
    struct lab_setting p = lab_own(run);
    const double n = p.at[N], m = p.at[TARGETS], h = p.at[HEADS];
    const double ratio = fmax(m, h) / fmin(m, h);

    if (n < m)
        return lab_misuse(&run->session, "--n: %g is less than --m %g", n, m);
    if (ratio > floor(ratio))
        return lab_misuse(&run->session,
                          "--h: %g is neither a divisor nor a multiple of --m %g", h, m);
    if (p.at[KEYS])
        return random_rows(run);
    if (lab_settle_d(run))
        return -1;
    p.at[D] = n;
    return lab_rows_at(run, &model, &p, 1, run->trials, NULL);
}

static int sweep(struct lab_run *run)
{
    return split_curves(run) || copies_curves(run) || random_curves(run);
}

const struct lab_experiment lab_experiment_how_many_heads = {
    .name = "how-many-heads",
    .title = "How many heads",
    .shows = "For m noisy targets and h heads of m/h targets each the error tends to 1/h "
             "- 1/m as C grows, while no key points away: one head per target is then "
             "best.  Copies on the same keys are useless at any C.",
    .answers = "1e",
    LAB_FLAGS(flags),
    .trials = 100000,
    .perform = perform,
    .sweep = sweep,
};
