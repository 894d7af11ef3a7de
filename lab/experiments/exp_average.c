/* SPDX-License-Identifier: MIT */
/* Averages of m values: leak, query scale needed, weights, 1/sqrt(d) (T4, T5, T6). */
#include <math.h>

#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/measure/frames.h"
#include "lab/setups/keys.h"
#include "lab/setups/queries.h"

enum { WANTED_MAX = 256, PINV_MAX = 64 };

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

/* The weights wanted, scaled to sum 1, and ln w_i / tau; NULL: weights are equal. */
struct wanted {
    double w[WANTED_MAX], of_scores[WANTED_MAX];
    const double *offset;
};

static const struct wanted *wanted_of(const struct lab_setting *p) { return p->with; }

/* The factor of the scores, with 1/sqrt(d) if requested. */
static double tau_of(const struct lab_setting *p)
{
    return p->at[SCALED] ? p->at[TAU] / sqrt(p->at[D]) : p->at[TAU];
}

/* The run's setting, with its weights. */
static int read_setting(struct lab_run *run, struct wanted *wanted, struct lab_setting *p)
{
    if (lab_settle_d(run))
        return -1;
    const int given = lab_weights_parse(lab_text(run, "w"), WANTED_MAX, wanted->w);
    if (given < 0)
        return lab_misuse(
            &run->session,
            "--w %s: up to %d positive numbers separated by commas are allowed",
            lab_text(run, "w"), (int)WANTED_MAX);
    if (given > 0)
        lab_set(run, "m", given);
    *p = lab_own(run);
    p->with = wanted;
    wanted->offset = given ? wanted->of_scores : NULL;
    for (int i = 0; i < (int)p->at[TARGETS]; i++) {
        wanted->w[i] = given ? wanted->w[i] : 1.0 / p->at[TARGETS];
        wanted->of_scores[i] = log(wanted->w[i]) / tau_of(p);
    }
    if (p->at[TARGETS] > p->at[N])
        return lab_misuse(&run->session, "--m %.0f: at most n = %.0f keys can be wanted",
                          p->at[TARGETS], p->at[N]);
    return 0;
}

/* ---- rows -------------------------------------------------------------- */

static const struct lab_observable rows[] = {{.quantity = "leak"},
                                             {.quantity = "beta_needed"},
                                             {.quantity = "p_first"},
                                             {.quantity = "error_norm"},
                                             {.quantity = "leak_pinv"}};
enum { LEAK, BETA_NEEDED, P_FIRST, ERROR_NORM, LEAK_PINV, ROWS };

static void theory_of(const struct lab_setting *p, double *theory)
{
    const double n = p->at[N], m = p->at[TARGETS], eps = p->at[EPS], tau = tau_of(p);
    const double score = tau * p->at[BETA], *const w = wanted_of(p)->w;
    const int is_weighted = wanted_of(p)->offset != NULL;
    const double leak = is_weighted ? attend_theory_weighted_leak(n, m, score)
                                    : attend_theory_average_leak(n, m, score);

    theory[LEAK] = theory[LEAK_PINV] = leak;
    theory[BETA_NEEDED] = is_weighted
                              ? attend_theory_weighted_scale_needed(n, m, eps, tau)
                              : attend_theory_average_scale_needed(n, m, eps, tau);
    theory[P_FIRST] = (1 - leak) * w[0];
    /* c = (1 - L) target + L mean(rest): |c - target| = L sqrt(|w|^2 + 1/(n-m)). */
    theory[ERROR_NORM] = n > m ? leak * sqrt(lab_dot(w, w, (int)m) + 1 / (n - m)) : 0;
}

static int measure_keys(struct lab_run *run, const struct lab_setting *p,
                        struct lab_found *found)
{
    const struct wanted *const wanted = wanted_of(p);
    /* Sweeps keep d while n grows: keys then repeat. */
    const struct lab_keys_shape shape = {.n = (int64_t)p->at[N],
                                         .m = (int64_t)p->at[TARGETS],
                                         .d = (int64_t)p->at[D],
                                         .rival_norm = 1,
                                         .plain = p->at[D] < p->at[N]};
    const double tau = tau_of(p);
    struct lab_keys keys;
    int failed = 0;

    if (lab_keys_open(&run->session, run->ctx, &shape, &keys))
        return -1;
    if (!found[LEAK].is_absent) {
        failed = lab_keys_attend(&keys, ATTEND_F64, p->at[BETA], wanted->offset, tau);
        found[LEAK].measured = keys.leak;
        found[P_FIRST].measured = keys.first;
        found[ERROR_NORM].measured = lab_keys_error(&keys, wanted->w);
        found[ERROR_NORM].allowed = 1e-13; /* a difference of vectors of norm 1 */
    }
    /* If every key is wanted nothing leaks at any scale. */
    found[BETA_NEEDED].measured = -INFINITY;
    if (!failed && !found[BETA_NEEDED].is_absent && shape.n > shape.m)
        failed = lab_keys_find_beta(&keys, wanted->offset, tau, p->at[EPS],
                                    &found[BETA_NEEDED].measured);
    lab_keys_close(&keys);
    return failed;
}

static int measure(struct lab_run *run, const struct lab_setting *p,
                   struct lab_found *found)
{
    const int64_t n = (int64_t)p->at[N], m = (int64_t)p->at[TARGETS];

    found[LEAK_PINV].is_absent |= n > PINV_MAX;
    if (measure_keys(run, p, found))
        return -1;
    if (found[LEAK_PINV].is_absent)
        return 0;
    double *const scratch = lab_scratch(run, 2 * n * n + 3 * n);
    return scratch ? lab_keys_pinv_leak(&run->session, run->ctx, n, m, p->at[BETA],
                                        wanted_of(p)->offset, tau_of(p), scratch,
                                        &found[LEAK_PINV].measured)
                   : -1;
}

static const struct lab_model model = {LAB_ROWS(rows), .theory = theory_of,
                                       .measure = measure};

/* ---- sweeps and figures ------------------------------------------------ */

static int sweep_beta(struct lab_run *run, struct lab_setting p)
{
    static const struct lab_member sizes[] = {
        {10, "n = 10"}, {1000, "n = 1000"}, {100000, "n = 100000"}};
    const double top = ceil(16 / tau_of(&p));
    struct lab_figure *const figure =
        lab_plot(run, "leak", "Averaging: the weight that leaks to other keys",
                 "β (query scale)", "leak L", LAB_LOG_Y,
                 "q = β times the sum of the wanted keys, m = %.0f, τ = %.4g.  τβ must "
                 "exceed ln(n/m) by a margin: being large is not enough.",
                 p.at[TARGETS], tau_of(&p));
    double steps[9];
    struct lab_family family = {LEAK, N, 0, LAB_MEMBERS(sizes), 0};
    const struct lab_sweep over_beta =
        LAB_SWEEP(BETA, steps, .line = {0, top, 64, LAB_EVENLY, 0, 0}, .only_drawn = 1);

    for (int x = 0; x < 9; x++)
        steps[x] = top * x / 8;
    /* Sizes at which every key would be wanted are left out. */
    for (; family.members->value <= p.at[TARGETS]; family.count--)
        family.members++;
    return lab_curves(run, &model, &over_beta, p, figure, &family);
}

static int sweep_size(struct lab_run *run, struct lab_setting p)
{
    static const double sizes[] = {4, 10, 100, 1000, 10000, 100000};
    static const struct lab_member factors[] = {{1, "τ = 1"}, {0.125, "τ = 1/√64"}};
    struct lab_figure *const figure =
        lab_plot(run, "scale-needed", "Averaging: the query scale that is needed",
                 "n (keys)", "β needed", LAB_LOG_X,
                 "Leak at most %g, m = %.0f.  The factor 1/√d of the scores multiplies "
                 "the query scale that is needed by √d.",
                 p.at[EPS], p.at[TARGETS]);
    struct lab_sweep over_n =
        LAB_SWEEP(N, sizes, .line = {0.5, 5, 72, LAB_BY_POWERS, 0, 0}, .only_drawn = 1);

    for (; over_n.count > 0 && *over_n.steps <= p.at[TARGETS]; over_n.count--)
        over_n.steps++;
    return lab_curves(run, &model, &over_n, p, figure,
                      &(struct lab_family){BETA_NEEDED, TAU, 0, LAB_MEMBERS(factors), 0});
}

/* The leak at the run's parameters, and the scale that is needed. */
static void conclude(struct lab_run *run, const struct lab_setting *p,
                     const struct lab_found *found)
{
    const double rest = p->at[N] - p->at[TARGETS];
    const char *const how = wanted_of(p)->offset ? "by the weights asked for" : "equally";

    if (rest == 0)
        lab_conclude(run,
                     "Every key is wanted: one query attends to all %.0f %s, and nothing "
                     "leaks at any scale.",
                     p->at[TARGETS], how);
    else
        lab_conclude(run,
                     "One query attends to %.0f keys %s, but for what leaks to the %.0f "
                     "others: at beta = %.4g the leak is %.3g, and a leak of at most %g "
                     "takes a beta of %.4g where scores are %.4g times <q, k>.",
                     p->at[TARGETS], how, rest, p->at[BETA], found[LEAK].theory,
                     p->at[EPS], found[BETA_NEEDED].theory, tau_of(p));
}

static int perform(struct lab_run *run)
{
    struct lab_sample sample = {.histogram = NULL};
    struct wanted wanted;
    struct lab_setting p;

    if (read_setting(run, &wanted, &p) || lab_rows_at(run, &model, &p, 0, 0, &sample))
        return -1;
    conclude(run, &p, sample.found);
    return 0;
}

static int sweep(struct lab_run *run)
{
    struct wanted wanted;
    struct lab_setting p;

    if (read_setting(run, &wanted, &p) || sweep_beta(run, p))
        return -1;
    return wanted.offset || p.at[SCALED] ? 0 : sweep_size(run, p);
}

const struct lab_experiment lab_experiment_average = {
    .name = "average",
    .title = "Averaging several values",
    .shows =
        "One query attends to m keys equally, but for the weight that leaks to "
        "the n - m others; a small leak takes a scale of ln((n-m)(1-eps)/(m eps)), times "
        "sqrt(d) where scores are divided by it.",
    .answers = "1b-ii",
    .headline = "beta_needed",
    LAB_FLAGS(flags),
    .perform = perform,
    .sweep = sweep,
};
