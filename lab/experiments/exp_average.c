/* SPDX-License-Identifier: MIT */
/* Averages of m values: leak, query scale needed, weights, 1/sqrt(d) (T4, T5, T6). */
#include <math.h>
#include <stdlib.h>

#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/measure/frames.h"
#include "lab/setups/keys.h"
#include "lab/measure/forward.h"

enum { WANTED_MAX = 256, PINV_MAX = 64, PINV_STREAM = 1 };

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 10, 2, 1e6,
                     "keys; where n d > 16384 the others share one direction"),
    LAB_FLAG_INTEGER("m", 2, 1, WANTED_MAX, "wanted keys, at most n; --w sets it"),
    LAB_FLAG_INTEGER("d", NAN, 1, 1e6,
                     "dimension of keys and values, at least n (default: n)"),
    LAB_FLAG_REAL("beta", 10, -1000, 1000, "query scale: q = beta (k_a + k_b + ...)"),
    LAB_FLAG_REAL("eps", 0.01, 1e-12, 0.999999, "leak allowed, for beta_needed"),
    LAB_FLAG_REAL("tau", 1, 1e-6, 1000, "factor of the scores"),
    LAB_FLAG_CHOICE("scale", "off", LAB_2("off", "on"),
                    "on: scores are divided by sqrt(d) as well"),
    LAB_FLAG_TEXT("w", "",
                  "weights wanted, such as 3,2,1; their number sets m: q = sum (beta + "
                  "ln w_i) k_i"),
};

enum { N, TARGETS, D, BETA, EPS, TAU, SCALED, WEIGHTS }; /* flags */

/* The weights wanted, scaled to sum 1; given: by --w, equal otherwise. */
struct wanted {
    int given;
    double w[WANTED_MAX];
};

/* Reads --w; returns the number of weights, 0 where none are given, -1 after
 * lab_misuse().
 */
static int read_weights(struct lab_run *run, struct wanted *wanted)
{
    const char *text = lab_text(run, "w");
    double sum = 0;
    int m = 0;

    for (; *text; text += *text == ',') {
        char *end;
        const double weight = strtod(text, &end);
        if (end == text || (*end && *end != ',') || !(weight > 0) || !isfinite(weight) ||
            m == WANTED_MAX)
            return lab_misuse(
                &run->session,
                "--w %s: up to %d positive numbers separated by commas are allowed",
                lab_text(run, "w"), (int)WANTED_MAX);
        wanted->w[m++] = weight;
        sum += weight;
        text = end;
    }
    for (int i = 0; i < m; i++)
        wanted->w[i] /= sum;
    wanted->given = m > 0;
    return m;
}

/* The run's setting, with its weights. */
static int read_setting(struct lab_run *run, struct wanted *wanted, struct lab_setting *p)
{
    if (lab_settle_d(run))
        return -1;
    const int m = read_weights(run, wanted);
    if (m < 0)
        return -1;
    if (m > 0)
        lab_set(run, "m", m);
    *p = lab_own(run);
    p->with = wanted;
    for (int i = 0; i < (int)p->at[TARGETS] && !wanted->given; i++)
        wanted->w[i] = 1.0 / p->at[TARGETS];
    if (p->at[TARGETS] > p->at[N])
        return lab_misuse(&run->session, "--m %.0f: at most n = %.0f keys can be wanted",
                          p->at[TARGETS], p->at[N]);
    return 0;
}

static const double *weights_of(const struct lab_setting *p)
{
    return ((const struct wanted *)p->with)->w;
}

static int is_weighted(const struct lab_setting *p)
{
    return ((const struct wanted *)p->with)->given;
}

/* The factor of the scores, with 1/sqrt(d) if requested. */
static double tau_of(const struct lab_setting *p)
{
    return p->at[SCALED] ? p->at[TAU] / sqrt(p->at[D]) : p->at[TAU];
}

static void coefficients(const struct lab_setting *p, double *coefficient)
{
    for (int i = 0; i < (int)p->at[TARGETS]; i++)
        coefficient[i] =
            p->at[BETA] + (is_weighted(p) ? log(weights_of(p)[i]) / tau_of(p) : 0);
}

/* ---- theory ------------------------------------------------------------ */

static const struct lab_observable rows[] = {{.quantity = "leak"},
                                             {.quantity = "beta_needed"},
                                             {.quantity = "p_first"},
                                             {.quantity = "error_norm"},
                                             {.quantity = "leak_pinv"}};
enum { LEAK, BETA_NEEDED, P_FIRST, ERROR_NORM, LEAK_PINV, ROWS };

static void theory_of(const struct lab_setting *p, double *theory)
{
    const double n = p->at[N], m = p->at[TARGETS], eps = p->at[EPS], tau = tau_of(p);
    const double score = tau * p->at[BETA], *const w = weights_of(p);
    const double leak = is_weighted(p) ? attend_theory_weighted_leak(n, m, score)
                                       : attend_theory_average_leak(n, m, score);

    theory[LEAK] = theory[LEAK_PINV] = leak;
    theory[BETA_NEEDED] = is_weighted(p)
                              ? attend_theory_weighted_scale_needed(n, m, eps, tau)
                              : attend_theory_average_scale_needed(n, m, eps, tau);
    theory[P_FIRST] = (1 - leak) * w[0];
    /* c = (1 - L) target + L mean(rest): |c - target| = L sqrt(|w|^2 + 1/(n-m)). */
    theory[ERROR_NORM] = n > m ? leak * sqrt(lab_dot(w, w, (int)m) + 1 / (n - m)) : 0;
}

/* ---- measurement ------------------------------------------------------- */

static int attend_keys(struct lab_run *run, struct lab_keys *keys,
                       const struct lab_setting *p)
{
    double coefficient[WANTED_MAX];

    coefficients(p, coefficient);
    return lab_keys_attend(&run->session, run->ctx, ATTEND_F64, keys, coefficient,
                           tau_of(p));
}

static int open_keys(struct lab_run *run, const struct lab_setting *p,
                     struct lab_keys *keys)
{
    /* Sweeps keep d while n grows: keys then repeat. */
    const struct lab_keys_shape shape = {.n = (int64_t)p->at[N],
                                         .m = (int64_t)p->at[TARGETS],
                                         .d = (int64_t)p->at[D],
                                         .rival_norm = 1,
                                         .plain = p->at[D] < p->at[N]};

    return lab_keys_open(&run->session, &shape, keys);
}

struct beta_search {
    struct lab_run *run;
    struct lab_keys keys;
    struct lab_setting at;
};

/* The logit of the leak, which falls as the scale grows. */
static int leak_at(void *arg, double beta, double *logit)
{
    struct beta_search *const search = arg;

    search->at.at[BETA] = beta;
    if (attend_keys(search->run, &search->keys, &search->at))
        return -1;
    *logit = log(search->keys.leak / (1 - search->keys.leak));
    return 0;
}

/* The query scale of this leak, found on the engine. */
static int find_beta(struct lab_run *run, const struct lab_setting *p, double *beta)
{
    struct beta_search search = {.run = run, .at = *p};

    if (open_keys(run, p, &search.keys))
        return -1;
    const int failed =
        lab_reach(leak_at, &search, 1 / tau_of(p), attend_theory_logit(p->at[EPS]), beta);
    lab_keys_close(&search.keys);
    return failed;
}

/*
 * Random keys, independent but far from orthogonal, in 2 n dimensions: q = pinv(K) s
 * gives them the scores of orthonormal ones, and so the same leak.
 */
static int leak_by_pinv(struct lab_run *run, const struct lab_setting *p, double *leak)
{
    const int64_t n = (int64_t)p->at[N], d = 2 * n, m = (int64_t)p->at[TARGETS];
    double *const key = lab_scratch(run, n * d + d + n);
    double coefficient[WANTED_MAX];

    if (!key)
        return -1;
    double *const query = key + n * d, *const score = query + d;
    lab_normals(run->session.seed, PINV_STREAM, 0, key, n * d);
    coefficients(p, coefficient);
    for (int64_t i = 0; i < n; i++) {
        lab_unit(key + i * d, d);
        score[i] = i < m ? coefficient[i] : 0;
    }
    if (attend_theory_query_for_scores(key, n, d, score, query))
        return lab_fail(&run->session, "the random keys are dependent");
    const struct lab_problem problem =
        LAB_PROBLEM(n, d, query, key, tau_of(p), .wanted = m, .rest = leak);
    return lab_measure(&run->session, run->ctx, &problem);
}

/* ---- rows, sweeps, figures --------------------------------------------- */

static int measure_keys(struct lab_run *run, const struct lab_setting *p,
                        struct lab_found *found)
{
    struct lab_keys keys;

    if (open_keys(run, p, &keys))
        return -1;
    const int failed = attend_keys(run, &keys, p);
    found[LEAK].measured = keys.leak;
    found[P_FIRST].measured = keys.first;
    found[ERROR_NORM].measured = lab_keys_error(&keys, weights_of(p));
    found[ERROR_NORM].allowed = 1e-13; /* a difference of vectors of norm 1 */
    lab_keys_close(&keys);
    return failed;
}

static int measure_beta(struct lab_run *run, const struct lab_setting *p,
                        struct lab_found *found)
{
    /* If every key is wanted nothing leaks at any scale. */
    found[BETA_NEEDED].measured = -INFINITY;
    return p->at[N] > p->at[TARGETS] && find_beta(run, p, &found[BETA_NEEDED].measured);
}

static int measure_all(struct lab_run *run, const struct lab_setting *p,
                       struct lab_found *found)
{
    found[LEAK_PINV].is_absent = p->at[N] > PINV_MAX;
    return measure_keys(run, p, found) || measure_beta(run, p, found) ||
           (p->at[N] <= PINV_MAX && leak_by_pinv(run, p, &found[LEAK_PINV].measured));
}

static const struct lab_model all = {LAB_ROWS(rows), .theory = theory_of,
                                     .measure = measure_all};
static const struct lab_model of_keys = {LAB_ROWS(rows), .theory = theory_of,
                                         .measure = measure_keys};
static const struct lab_model of_beta = {LAB_ROWS(rows), .theory = theory_of,
                                         .measure = measure_beta};

static int sweep_beta(struct lab_run *run, struct lab_setting p)
{
    static const double sizes[] = {10, 1000, 100000};
    const double top = ceil(16 / tau_of(&p));
    struct lab_figure *const figure =
        lab_plot(run, "leak", "Averaging: the weight that leaks to other keys",
                 "β (query scale)", "leak L", LAB_LOG_Y,
                 "q = β times the sum of the wanted keys, m = %.0f, τ = %.4g.  τβ must "
                 "exceed ln(n/m) by a margin: being large is not enough.",
                 p.at[TARGETS], tau_of(&p));
    double steps[9];

    for (int x = 0; x < 9; x++)
        steps[x] = top * x / 8;
    for (size_t x = 0; x < sizeof sizes / sizeof *sizes; x++) {
        const struct lab_sweep over_beta = LAB_SWEEP(
            BETA, steps, .line = {0, top, 64, LAB_EVENLY, 0, 0}, .only_drawn = 1);
        if (sizes[x] <= p.at[TARGETS])
            continue;
        p.at[N] = sizes[x];
        const struct lab_plotted drawn = {LEAK,
                                          lab_curve_add(figure, "n = %.0f", sizes[x])};
        if (lab_sweep(run, &of_keys, &over_beta, p, &drawn, 1))
            return -1;
    }
    return 0;
}

static int sweep_size(struct lab_run *run, struct lab_setting p)
{
    static const double sizes[] = {4, 10, 100, 1000, 10000, 100000};
    const double m = p.at[TARGETS], factors[] = {1, 0.125};
    struct lab_figure *const figure =
        lab_plot(run, "scale-needed", "Averaging: the query scale that is needed",
                 "n (keys)", "β needed", LAB_LOG_X,
                 "Leak at most %g, m = %.0f.  The factor 1/√d of the scores multiplies "
                 "the query scale that is needed by √d.",
                 p.at[EPS], m);
    struct lab_sweep over_n =
        LAB_SWEEP(N, sizes, .line = {0.5, 5, 72, LAB_BY_POWERS, 0, 0}, .only_drawn = 1);

    /* Sizes at which every key would be wanted are left out. */
    for (; over_n.count > 0 && *over_n.steps <= m; over_n.count--)
        over_n.steps++;
    for (int x = 0; x < 2; x++) {
        const struct lab_plotted drawn = {
            BETA_NEEDED, lab_curve_add(figure, "τ = %s", x ? "1/√64" : "1")};
        p.at[TAU] = factors[x];
        if (lab_sweep(run, &of_beta, &over_n, p, &drawn, 1))
            return -1;
    }
    return 0;
}

/* The leak at the run's parameters, and the scale that is needed. */
static void conclude(struct lab_run *run, const struct lab_setting *p)
{
    const double rest = p->at[N] - p->at[TARGETS];
    const char *const how = is_weighted(p) ? "by the weights asked for" : "equally";
    double theory[ROWS];

    theory_of(p, theory);
    if (rest == 0)
        lab_conclude(run,
                     "Every key is wanted: one query attends to all %.0f %s, and nothing "
                     "leaks at any scale.",
                     p->at[TARGETS], how);
    else
        lab_conclude(run,
                     "One query attends to %.0f keys %s, exactly so far as nothing leaks "
                     "to the %.0f others: at beta = %.4g the leak is %.3g, and a leak of "
                     "at most %g takes a beta of %.4g where scores are %.4g <q, k>.",
                     p->at[TARGETS], how, rest, p->at[BETA], theory[LEAK], p->at[EPS],
                     theory[BETA_NEEDED], tau_of(p));
}

static int perform(struct lab_run *run)
{
    struct wanted wanted;
    struct lab_setting p;

    if (read_setting(run, &wanted, &p) || lab_rows_at(run, &all, &p, 0, 0, NULL))
        return -1;
    conclude(run, &p);
    return 0;
}

static int sweep(struct lab_run *run)
{
    struct wanted wanted;
    struct lab_setting p;

    if (read_setting(run, &wanted, &p) || sweep_beta(run, p))
        return -1;
    return wanted.given || p.at[SCALED] ? 0 : sweep_size(run, p);
}

const struct lab_experiment lab_experiment_average = {
    .name = "average",
    .title = "Averaging several values",
    .shows = "One query attends to m keys equally, exactly so far as nothing leaks to "
             "the n - m others; that takes a scale of ln((n-m)(1-eps)/(m eps)), times "
             "sqrt(d) where scores are divided by it.",
    .answers = "1b-ii",
    .headline = "beta_needed",
    LAB_FLAGS(flags),
    .perform = perform,
    .sweep = sweep,
};
