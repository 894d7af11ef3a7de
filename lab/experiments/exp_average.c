/* SPDX-License-Identifier: MIT */
/* Averages of m values: leak, query scale needed, weights, 1/sqrt(d) (T4, T5, T6). */
#include <math.h>
#include <stdlib.h>

#include "attend/theory.h"
#include "lab/experiments/experiment.h"
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

/* What is asked of a query: m weights, equal ones by q = beta sum k_i. */
struct wish {
    int64_t n, d;
    int m, weighted;
    double beta, tau; /* tau with the factor 1/sqrt(d) in it */
    double w[WANTED_MAX];
};

/* Reads --w into the wish, scaled to sum 1. */
static int read_weights(struct lab_run *run, struct wish *wish)
{
    const char *text = lab_text(run, "w");
    double sum = 0;

    for (wish->m = 0; *text; text += *text == ',') {
        char *end;
        const double weight = strtod(text, &end);
        if (end == text || (*end && *end != ',') || !(weight > 0) || !isfinite(weight) ||
            wish->m == WANTED_MAX)
            return lab_misuse(
                &run->session,
                "--w %s: up to %d positive numbers separated by commas are allowed",
                lab_text(run, "w"), (int)WANTED_MAX);
        wish->w[wish->m++] = weight;
        sum += weight;
        text = end;
    }
    for (int i = 0; i < wish->m; i++)
        wish->w[i] /= sum;
    wish->weighted = 1;
    lab_set(run, "m", wish->m);
    return 0;
}

static void equal_weights(struct wish *wish)
{
    for (int i = 0; i < wish->m; i++)
        wish->w[i] = 1.0 / wish->m;
    wish->weighted = 0;
}

static int read_wish(struct lab_run *run, struct wish *wish)
{
    if (lab_settle_d(run))
        return -1;
    wish->n = lab_integer(run, "n");
    wish->d = lab_integer(run, "d");
    wish->m = (int)lab_integer(run, "m");
    wish->beta = lab_real(run, "beta");
    wish->tau = lab_real(run, "tau");
    if (lab_choice(run, "scale"))
        wish->tau /= sqrt((double)wish->d);
    if (*lab_text(run, "w")) {
        if (read_weights(run, wish))
            return -1;
    } else {
        equal_weights(wish);
    }
    if (wish->m > wish->n)
        return lab_misuse(&run->session, "--m %d: at most n = %lld keys can be wanted",
                          wish->m, (long long)wish->n);
    return 0;
}

static void coefficients(const struct wish *wish, double *coefficient)
{
    for (int i = 0; i < wish->m; i++)
        coefficient[i] = wish->beta + (wish->weighted ? log(wish->w[i]) / wish->tau : 0);
}

/* ---- theory ------------------------------------------------------------ */

static double leak_of(const struct wish *wish)
{
    const double n = (double)wish->n, score = wish->tau * wish->beta;

    return wish->weighted ? attend_theory_weighted_leak(n, wish->m, score)
                          : attend_theory_average_leak(n, wish->m, score);
}

static double beta_needed_of(const struct wish *wish, double eps)
{
    const double n = (double)wish->n;

    return wish->weighted
               ? attend_theory_weighted_scale_needed(n, wish->m, eps, wish->tau)
               : attend_theory_average_scale_needed(n, wish->m, eps, wish->tau);
}

/* c = (1 - L) target + L mean(rest), so |c - target| = L sqrt(|w|^2 + 1/(n-m)). */
static double error_of(const struct wish *wish)
{
    const double rest = (double)(wish->n - wish->m);

    return rest > 0 ? leak_of(wish) * sqrt(lab_dot(wish->w, wish->w, wish->m) + 1 / rest)
                    : 0;
}

/* ---- measurement ------------------------------------------------------- */

struct average {
    double leak, first, error; /* first: weight of the first wanted key */
};

static int attend_keys(struct lab_run *run, struct lab_keys *keys,
                       const struct wish *wish, struct average *average)
{
    double coefficient[WANTED_MAX];

    coefficients(wish, coefficient);
    if (lab_keys_attend(&run->session, run->ctx, keys, coefficient, wish->tau))
        return -1;
    *average = (struct average){
        .leak = keys->leak, .first = keys->first, .error = lab_keys_error(keys, wish->w)};
    return 0;
}

static int open_keys(struct lab_run *run, const struct wish *wish, struct lab_keys *keys)
{
    /* Sweeps keep d while n grows: keys then repeat. */
    const struct lab_keys_shape shape = {.n = wish->n,
                                         .m = wish->m,
                                         .d = wish->d,
                                         .rival_norm = 1,
                                         .plain = wish->d < wish->n};

    return lab_keys_open(&run->session, &shape, keys);
}

static int measure(struct lab_run *run, const struct wish *wish, struct average *average)
{
    struct lab_keys keys;

    if (open_keys(run, wish, &keys))
        return -1;
    const int failed = attend_keys(run, &keys, wish, average);
    lab_keys_close(&keys);
    return failed;
}

struct beta_search {
    struct lab_run *run;
    struct lab_keys keys;
    struct wish wish;
};

/* The logit of the leak, which falls as the scale grows. */
static int leak_at(void *arg, double beta, double *logit)
{
    struct beta_search *const search = arg;
    struct average average;

    search->wish.beta = beta;
    if (attend_keys(search->run, &search->keys, &search->wish, &average))
        return -1;
    *logit = log(average.leak / (1 - average.leak));
    return 0;
}

/* The query scale of this leak, found on the engine. */
static int find_beta(struct lab_run *run, const struct wish *wish, double eps,
                     double *beta)
{
    struct beta_search search = {.run = run, .wish = *wish};

    if (open_keys(run, wish, &search.keys))
        return -1;
    const int failed =
        lab_reach(leak_at, &search, 1 / wish->tau, attend_theory_logit(eps), beta);
    lab_keys_close(&search.keys);
    return failed;
}

/*
 * Random keys, independent but far from orthogonal, in 2 n dimensions: q = pinv(K) s
 * gives them the scores of orthonormal ones, and so the same leak.
 */
static int leak_by_pinv(struct lab_run *run, const struct wish *wish, double *leak)
{
    const int64_t n = wish->n, d = 2 * n;
    double *const key = lab_room(run, n * d + d + n);
    double coefficient[WANTED_MAX];

    if (!key)
        return -1;
    double *const query = key + n * d, *const score = query + d;
    lab_normals(run->session.seed, PINV_STREAM, 0, key, n * d);
    coefficients(wish, coefficient);
    for (int64_t i = 0; i < n; i++) {
        lab_unit(key + i * d, d);
        score[i] = i < wish->m ? coefficient[i] : 0;
    }
    if (attend_theory_query_for_scores(key, n, d, score, query))
        return lab_fail(&run->session, "the random keys are dependent");
    const struct lab_problem problem = {.nk = n,
                                        .d = d,
                                        .q = query,
                                        .k = key,
                                        .scale = wish->tau,
                                        .wanted = wish->m,
                                        .rest = leak};
    return lab_measure(&run->session, run->ctx, &problem);
}

/* ---- rows, sweeps, figures --------------------------------------------- */

static void emit(struct lab_run *run, const struct wish *wish, const char *quantity,
                 double theory, double measured, double allowed)
{
    lab_emit_at(
        run, quantity,
        LAB_CHANGES(LAB_IS("n", wish->n), LAB_IS("m", wish->m),
                    LAB_IS("beta", wish->beta)),
        (struct lab_found){.theory = theory, .measured = measured, .allowed = allowed});
}

static int own_rows(struct lab_run *run, const struct wish *wish)
{
    const double eps = lab_real(run, "eps");
    struct average average;
    double beta = -INFINITY, leak = 0;

    if (measure(run, wish, &average))
        return -1;
    emit(run, wish, "leak", leak_of(wish), average.leak, 0);
    /* Where every key is wanted nothing leaks at any scale. */
    if (wish->n > wish->m && find_beta(run, wish, eps, &beta))
        return -1;
    emit(run, wish, "beta_needed", beta_needed_of(wish, eps), beta, 0);
    emit(run, wish, "p_first", (1 - leak_of(wish)) * wish->w[0], average.first, 0);
    /* A difference of vectors of norm 1. */
    emit(run, wish, "error_norm", error_of(wish), average.error, 1e-13);
    if (wish->n <= PINV_MAX) {
        if (leak_by_pinv(run, wish, &leak))
            return -1;
        emit(run, wish, "leak_pinv", leak_of(wish), leak, 0);
    }
    return 0;
}

static int sweep_beta(struct lab_run *run, struct wish wish)
{
    static const int64_t sizes[] = {10, 1000, 100000};
    struct lab_figure *const figure =
        lab_plot(run, "Averaging: the weight that leaks to other keys", "β (query scale)",
                 "leak L", LAB_LOG_Y,
                 "q = β times the sum of the wanted keys, m = %d, τ = %.4g.  τβ must "
                 "exceed ln(n/m) by a margin: being large is not enough.",
                 wish.m, wish.tau);
    const double top = ceil(16 / wish.tau);

    for (size_t x = 0; x < sizeof sizes / sizeof *sizes; x++) {
        if (sizes[x] <= wish.m)
            continue;
        wish.n = sizes[x];
        const struct lab_curve curve =
            lab_curve_add(figure, "n = %lld", (long long)wish.n);
        for (int step = 0; step <= 64; step++) {
            wish.beta = top * step / 64;
            lab_series_point(curve.theory, wish.beta, leak_of(&wish), 0);
        }
        for (int step = 0; step <= 8 && !lab_stopped(&run->session); step++) {
            struct average average;
            wish.beta = top * step / 8;
            if (measure(run, &wish, &average))
                return -1;
            emit(run, &wish, "leak", leak_of(&wish), average.leak, 0);
            lab_series_point(curve.measured, wish.beta, average.leak, 0);
        }
    }
    return 0;
}

static int sweep_size(struct lab_run *run, struct wish wish)
{
    static const int64_t sizes[] = {4, 10, 100, 1000, 10000, 100000};
    const double eps = lab_real(run, "eps"), factors[] = {1, 0.125};
    struct lab_figure *const figure =
        lab_plot(run, "Averaging: the query scale that is needed", "n (keys)", "β needed",
                 LAB_LOG_X,
                 "Leak at most %g, m = %d.  The factor 1/√d of the scores multiplies the "
                 "query scale that is needed by √d.",
                 eps, wish.m);

    for (int x = 0; x < 2; x++) {
        wish.tau = factors[x];
        const struct lab_curve curve = lab_curve_add(figure, "τ = %s", x ? "1/√64" : "1");
        for (double power = 0.5; power <= 5; power += 0.0625) {
            const double n = pow(10, power);
            if (n > wish.m)
                lab_series_point(
                    curve.theory, n,
                    attend_theory_average_scale_needed(n, wish.m, eps, wish.tau), 0);
        }
        for (size_t y = 0;
             y < sizeof sizes / sizeof *sizes && !lab_stopped(&run->session); y++) {
            double beta;
            wish.n = sizes[y];
            if (wish.n <= wish.m)
                continue;
            if (find_beta(run, &wish, eps, &beta))
                return -1;
            lab_emit_at(run, "beta_needed",
                        LAB_CHANGES(LAB_IS("n", wish.n), LAB_IS("tau", wish.tau)),
                        lab_sure(beta_needed_of(&wish, eps), beta));
            lab_series_point(curve.measured, (double)wish.n, beta, 0);
        }
    }
    return 0;
}

/* What leaks at the run's parameters, and what scale that should not takes. */
static void conclude(struct lab_run *run, const struct wish *wish)
{
    const long long rest = (long long)(wish->n - wish->m);
    const char *const how = wish->weighted ? "by the weights asked for" : "equally";

    if (rest == 0)
        lab_conclude(run,
                     "Every key is wanted: one query attends to all %d %s, and nothing "
                     "leaks at any scale.",
                     wish->m, how);
    else
        lab_conclude(
            run,
            "One query attends to %d keys %s, exactly so far as nothing leaks to "
            "the %lld others: at beta = %.4g the leak is %.3g, and a leak of at "
            "most %g takes a beta of %.4g where scores are %.4g <q, k>.",
            wish->m, how, rest, wish->beta, leak_of(wish), lab_real(run, "eps"),
            beta_needed_of(wish, lab_real(run, "eps")), wish->tau);
}

static int perform(struct lab_run *run)
{
    struct wish wish;

    if (read_wish(run, &wish) || own_rows(run, &wish))
        return -1;
    conclude(run, &wish);
    return 0;
}

static int sweep(struct lab_run *run)
{
    struct wish wish;

    if (read_wish(run, &wish) || sweep_beta(run, wish))
        return -1;
    return wish.weighted || lab_choice(run, "scale") ? 0 : sweep_size(run, wish);
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
