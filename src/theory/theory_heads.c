/* SPDX-License-Identifier: MIT */
/* One head against several: limits, best scales, remedies, groups (T8, T13 - T19). */
#include <math.h>
#include <stddef.h>

#include "attend/theory.h"
#include "theory/quadrature.h"

static const attend_theory_output no_output = {
    {NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN, NAN};

static const double scale_max = 1000.0;

/*
 * Law of the output with coefficient w of v_a with probability p, else 0, and 1 - that of
 * v_b.
 */
static attend_theory_output two_points(double p, double w, double mean_b)
{
    const double variance = w * w * p * (1.0 - p);
    attend_theory_output out = {.mean = {w * p, mean_b, 0.0},
                                .variance = {variance, variance, 0.0}};

    out.total_variance = 2.0 * variance;
    out.mse =
        2.0 * variance + (w * p - 0.5) * (w * p - 0.5) + (mean_b - 0.5) * (mean_b - 0.5);
    return out;
}

/* P(gamma > 0). */
static double upright(double sigma2)
{
    return attend_theory_normal_cdf(1.0 / sqrt(sigma2));
}

attend_theory_output attend_theory_one_head_limit(double sigma2, int positive)
{
    double p;

    if (!(sigma2 >= 0.0))
        return no_output;
    if (sigma2 == 0.0) /* a tie */
        return two_points(1.0, 0.5, 0.5);
    p = positive ? 0.5 / upright(sigma2) : 0.5; /* gamma > 1 */
    return two_points(p, 1.0, 1.0 - p);
}

attend_theory_output attend_theory_unit_keys_limit(double sigma2, int positive)
{
    double p;

    if (!(sigma2 >= 0.0))
        return no_output;
    p = positive ? 1.0 : upright(sigma2);
    return two_points(p, 0.5, 1.0 - 0.5 * p);
}

/* Head 2 gives v_b; head 1 gives v_a, or the mean of the others when gamma < 0. */
attend_theory_output attend_theory_two_heads_limit(double n, double sigma2, int positive)
{
    const double others = n - 1.0;
    attend_theory_output out;
    double p, spread;

    if (!(n >= 2.0 && isfinite(n) && sigma2 >= 0.0))
        return no_output;
    p = positive ? 1.0 : upright(sigma2);
    spread = p * (1.0 - p) / 4.0;
    out.mean[0] = 0.5 * p;
    out.mean[1] = 0.5 + 0.5 * (1.0 - p) / others;
    out.mean[2] = n > 2.0 ? 0.5 * (1.0 - p) / others : 0.0;
    out.variance[0] = spread;
    out.variance[1] = spread / (others * others);
    out.variance[2] = n > 2.0 ? spread / (others * others) : 0.0;
    out.total_variance = spread * (1.0 + 1.0 / others);
    out.mse = 0.25 * (1.0 - p) * (1.0 + 1.0 / others);
    return out;
}

/* Scores divided by C: those of a and b are near 1, the others near 0. */
struct race {
    double others, spread[2], rest; /* number of others; standard deviations */
};

/* P(a wins) and P(b wins) at noise z of the winner: f[0] and f[1]. */
static void wins(void *arg, double z, double *f)
{
    const struct race *race = arg;

    for (int k = 0; k < 2; k++) {
        const double gap = race->spread[k] * z;
        const double lost = attend_theory_normal_cdf(-(1.0 + gap) / race->rest);

        f[k] = attend_theory_normal_cdf(gap / race->spread[1 - k]);
        if (race->others > 0.0)
            f[k] *= exp(race->others * log1p(-lost));
    }
}

/*
 * Law of c = v_i, where `win` has the probabilities of a, of b, and of each of the
 * others.
 */
static attend_theory_output winner_takes_all(const double win[3], double others)
{
    attend_theory_output out = {.total_variance = 0.0};

    for (int k = 0; k < 3; k++) {
        out.mean[k] = win[k];
        out.variance[k] = win[k] * (1.0 - win[k]);
        out.total_variance += (k < 2 ? 1.0 : others) * out.variance[k];
    }
    out.mse = 1.5 - win[0] - win[1];
    return out;
}

attend_theory_output attend_theory_window_limit(double n, double alpha, double sigma2)
{
    struct race race = {.others = n - 2.0};
    const struct attendi_theory_accuracy accuracy = {1e-13, 0.0};
    struct attendi_theory_transition turn[2];
    double win[3];

    if (!(n >= 2.0 && isfinite(n) && alpha >= 0.0 && sigma2 >= 0.0 &&
          isfinite(alpha + sigma2)))
        return no_output;
    if (alpha == 0.0)
        return attend_theory_one_head_limit(sigma2, 0);
    race.rest = race.spread[1] = sqrt(2.0 * alpha);
    race.spread[0] = sqrt(2.0 * alpha + sigma2);
    for (int k = 0; k < 2; k++) {
        /* The largest of the others lies near sqrt(2 ln(n - 2)), to 1 over that. */
        const double reach = sqrt(2.0 * log(fmax(2.0, race.others)));

        turn[k] =
            (struct attendi_theory_transition){(reach * race.rest - 1.0) / race.spread[k],
                                               race.rest / (reach * race.spread[k])};
    }
    attendi_theory_normal_mean(wins, &race, 2, 0.0, 1.0, -INFINITY, turn, 2, accuracy,
                               win);
    win[2] = race.others > 0.0 ? (1.0 - win[0] - win[1]) / race.others : 0.0;
    return winner_takes_all(win, race.others);
}

double attend_theory_mse_one(double n, double C, double sigma2, int positive)
{
    const attend_theory_scene scene = attend_theory_scene_exercise(n, sigma2, positive);

    if (C == INFINITY && n >= 2.0 && isfinite(n))
        return attend_theory_one_head_limit(sigma2, positive).mse;
    return C >= 0.0 ? attend_theory_head(&scene, (attend_theory_query){C, C, 0.0}).mse
                    : NAN;
}

double attend_theory_mse_two(double n, double C, double sigma2, int positive)
{
    const attend_theory_scene scene = attend_theory_scene_exercise(n, sigma2, positive);
    const attend_theory_query heads[2] = {{C, 0.0, 0.0}, {0.0, C, 0.0}};

    if (C == INFINITY)
        return attend_theory_two_heads_limit(n, sigma2, positive).mse;
    return C >= 0.0 ? attend_theory_heads(&scene, heads, 2).mse : NAN;
}

double attend_theory_head_loses(double n, double C, double sigma2, int positive)
{
    attend_theory_law law = attend_theory_law_two_heads(n, C, sigma2);

    if (!(C > 0.0))
        return NAN;
    if (C == INFINITY) /* no weight for v_a if gamma < 0 */
        return 1.0 - 2.0 * attend_theory_two_heads_limit(n, sigma2, positive).mean[0];
    if (positive)
        law = attend_theory_law_given_positive(law, sigma2);
    return attend_theory_weight_cdf(law, 0.5);
}

typedef double (*mse_function)(double n, double C, double sigma2, int positive);

/* The minimum of a unimodal function on [lo, hi], by golden section. */
static double valley(mse_function mse, double n, double sigma2, int positive, double lo,
                     double hi)
{
    const double golden = 0.5 * (sqrt(5.0) - 1.0);
    double x = hi - golden * (hi - lo), y = lo + golden * (hi - lo);
    double fx = mse(n, x, sigma2, positive), fy = mse(n, y, sigma2, positive);

    while (hi - lo > 1e-7 * hi) {
        if (fx <= fy) {
            hi = y;
            y = x;
            fy = fx;
            x = hi - golden * (hi - lo);
            fx = mse(n, x, sigma2, positive);
        } else {
            lo = x;
            x = y;
            fx = fy;
            y = lo + golden * (hi - lo);
            fy = mse(n, y, sigma2, positive);
        }
    }
    return 0.5 * (lo + hi);
}

static double grid_scale(int i, int count)
{
    return 0.01 * pow(scale_max / 0.01, (double)i / (count - 1));
}

/* The lowest of the local minima on a grid, C = 0 and the limit. */
static double best_scale(mse_function mse, double n, double sigma2, int positive,
                         double limit, double *least)
{
    enum { GRID = 120 };
    double f[GRID], best = 0.0, lowest = mse(n, 0.0, sigma2, positive);

    for (int i = 0; i < GRID; i++)
        f[i] = mse(n, grid_scale(i, GRID), sigma2, positive);
    for (int i = 1; i + 1 < GRID; i++)
        if (f[i] <= f[i - 1] && f[i] <= f[i + 1]) {
            const double C = valley(mse, n, sigma2, positive, grid_scale(i - 1, GRID),
                                    grid_scale(i + 1, GRID));
            const double here = mse(n, C, sigma2, positive);

            if (here < lowest) {
                lowest = here;
                best = C;
            }
        }
    if (f[GRID - 1] < lowest) {
        lowest = f[GRID - 1];
        best = scale_max;
    }
    /* They are equal only if both underflow. */
    if (limit < lowest || (limit == lowest && best > 0.0)) {
        lowest = limit;
        best = INFINITY;
    }
    if (least != NULL)
        *least = lowest;
    return best;
}

static int is_asked(double n, double sigma2)
{
    return n >= 2.0 && isfinite(n) && sigma2 >= 0.0 && isfinite(sigma2);
}

double attend_theory_best_scale_one(double n, double sigma2, int positive, double *mse)
{
    if (!is_asked(n, sigma2))
        return NAN;
    return best_scale(attend_theory_mse_one, n, sigma2, positive,
                      attend_theory_one_head_limit(sigma2, positive).mse, mse);
}

double attend_theory_best_scale_two(double n, double sigma2, int positive, double *mse)
{
    if (!is_asked(n, sigma2))
        return NAN;
    return best_scale(attend_theory_mse_two, n, sigma2, positive,
                      attend_theory_two_heads_limit(n, sigma2, positive).mse, mse);
}

static int two_win(double n, double C, double sigma2, int positive)
{
    return attend_theory_mse_two(n, C, sigma2, positive) <
           attend_theory_mse_one(n, C, sigma2, positive);
}

double attend_theory_crossover_scale(double n, double sigma2, int positive)
{
    enum { GRID = 200 };
    int i = GRID - 1;
    double lo, hi;

    if (!is_asked(n, sigma2) || n < 3.0 || !two_win(n, scale_max, sigma2, positive))
        return NAN;
    while (i >= 0 && two_win(n, grid_scale(i, GRID), sigma2, positive))
        i--;
    if (i < 0)
        return 0.0;
    lo = grid_scale(i, GRID);
    hi = grid_scale(i + 1, GRID);
    while (hi - lo > 1e-12 * hi) {
        const double C = 0.5 * (lo + hi);

        if (two_win(n, C, sigma2, positive))
            hi = C;
        else
            lo = C;
    }
    return 0.5 * (lo + hi);
}

/* ---- remedies ----------------------------------------------------------- */

static double unit_score(const attend_theory_scene *scene, double coefficient, int sign)
{
    const double score = scene->tau * coefficient * sign;

    return scene->softcap > 0.0 ? scene->softcap * tanh(score / scene->softcap) : score;
}

struct unit_sums {
    double first[3], second[3];
};

/* Adds the outcome for these signs; `up` of the n - 2 others have a positive gamma. */
static void add_signs(struct unit_sums *sums, const attend_theory_scene *scene,
                      attend_theory_query q, int a, int b, double up, double probability)
{
    const double others = scene->n - 2.0, down = others - up;
    const double s[4] = {unit_score(scene, q.a, a), unit_score(scene, q.b, b),
                         unit_score(scene, q.rest, 1), unit_score(scene, q.rest, -1)};
    const double keys[4] = {1.0, 1.0, up, down};
    double max = -INFINITY, sum = 0.0, p[4];

    for (int i = 0; i < 4; i++)
        max = keys[i] > 0.0 ? fmax(max, s[i]) : max;
    for (int i = 0; i < 4; i++) {
        p[i] = keys[i] > 0.0 ? exp(s[i] - max) : 0.0;
        sum += keys[i] * p[i];
    }
    for (int i = 0; i < 4; i++)
        p[i] /= sum;
    for (int i = 0; i < 2; i++) {
        sums->first[i] += probability * p[i];
        sums->second[i] += probability * p[i] * p[i];
    }
    if (others > 0.0) {
        sums->first[2] += probability * (up * p[2] + down * p[3]) / others;
        sums->second[2] += probability * (up * p[2] * p[2] + down * p[3] * p[3]) / others;
    }
}

/* Sums over the signs of gamma_a and gamma_b. */
static void add_pairs(struct unit_sums *sums, const attend_theory_scene *scene,
                      attend_theory_query q, const double *p, double up,
                      double probability)
{
    add_signs(sums, scene, q, 1, 1, up, probability * p[0] * p[1]);
    add_signs(sums, scene, q, 1, -1, up, probability * p[0] * (1.0 - p[1]));
    add_signs(sums, scene, q, -1, 1, up, probability * (1.0 - p[0]) * p[1]);
    add_signs(sums, scene, q, -1, -1, up, probability * (1.0 - p[0]) * (1.0 - p[1]));
}

/*
 * Sums over the number of others with a positive gamma: binomial, from its mode outwards
 * by ratios of neighbouring terms, normalised at the end.
 */
static void add_binomial(struct unit_sums *sums, const attend_theory_scene *scene,
                         attend_theory_query q, const double *p)
{
    const double others = scene->n - 2.0, odds = p[2] / (1.0 - p[2]);
    const double mode = fmin(others, floor((others + 1.0) * p[2]));
    double total = 1.0, term = 1.0;

    add_pairs(sums, scene, q, p, mode, 1.0);
    for (double up = mode; up < others && term > 1e-20; up += 1.0) {
        term *= (others - up) / (up + 1.0) * odds;
        total += term;
        add_pairs(sums, scene, q, p, up + 1.0, term);
    }
    term = 1.0;
    for (double up = mode; up > 0.0 && term > 1e-20; up -= 1.0) {
        term *= up / (others - up + 1.0) / odds;
        total += term;
        add_pairs(sums, scene, q, p, up - 1.0, term);
    }
    for (int k = 0; k < 3; k++) {
        sums->first[k] /= total;
        sums->second[k] /= total;
    }
}

attend_theory_output attend_theory_unit_keys(const attend_theory_scene *scene,
                                             attend_theory_query query)
{
    const double others = scene->n - 2.0;
    struct unit_sums sums = {{0.0}, {0.0}};
    attend_theory_output out;
    double p[3];

    if (isnan(attend_theory_score_covariance(scene, query, query, ATTEND_THEORY_A)) ||
        scene->alpha > 0.0)
        return no_output;
    for (int k = 0; k < 3; k++)
        p[k] = scene->sigma2[k] > 0.0 && !(k == ATTEND_THEORY_A && scene->positive)
                   ? upright(scene->sigma2[k])
                   : 1.0;
    if (query.rest == 0.0 || p[ATTEND_THEORY_REST] == 1.0)
        add_pairs(&sums, scene, query, p, others, 1.0);
    else
        add_binomial(&sums, scene, query, p);
    out.total_variance = out.mse = 0.0;
    for (int k = 0; k < 3; k++) {
        const double off = sums.first[k] - (k == ATTEND_THEORY_REST ? 0.0 : 0.5);
        const double keys = k == ATTEND_THEORY_REST ? others : 1.0;

        out.mean[k] = sums.first[k];
        out.variance[k] = fmax(0.0, sums.second[k] - sums.first[k] * sums.first[k]);
        out.total_variance += keys * out.variance[k];
        out.mse += keys * (out.variance[k] + off * off);
    }
    return out;
}

attend_theory_query attend_theory_suppression_query(double B)
{
    return (attend_theory_query){0.0, 0.0, -B};
}

double attend_theory_suppression_norm(double n, double B)
{
    return n >= 2.0 ? fabs(B) * sqrt(n - 2.0) : NAN;
}

/* ---- m targets, h heads ------------------------------------------------- */

static int is_split(double m, double h)
{
    return h >= 1.0 && m >= h && isfinite(m) && fmod(m, h) == 0.0;
}

double attend_theory_groups_mse_positive(double m, double h)
{
    return is_split(m, h) ? 1.0 / h - 1.0 / m : NAN;
}

/*
 * A head outputs the value of the longest key of its group of g or, if all g point
 * backwards, the mean of the n - g other values.  The mean of the first is the group's
 * mean, so heads are correlated only through the second.
 */
double attend_theory_groups_mse_flips(double m, double h, double n, double sigma2)
{
    const double g = m / h, others = n - g;
    double fail, own, cross;

    if (!(is_split(m, h) && n >= m && isfinite(n) && sigma2 > 0.0))
        return NAN;
    if (others == 0.0) /* one head for all keys: the longest always wins */
        return 1.0 - 1.0 / m;
    fail = pow(attend_theory_normal_cdf(-1.0 / sqrt(sigma2)), g);
    own = (1.0 - fail) * (1.0 - 1.0 / g) + fail * (1.0 / others + 1.0 / g);
    cross = -fail * fail * n / (others * others);
    return own / h + (h - 1.0) / h * cross;
}

double attend_theory_groups_mse_first_order(double m, double n, double sigma2)
{
    if (!(m >= 1.0 && n >= m && n >= 2.0 && isfinite(n) && sigma2 > 0.0))
        return NAN;
    return attend_theory_normal_cdf(-1.0 / sqrt(sigma2)) / m * (1.0 + 1.0 / (n - 1.0));
}

double attend_theory_best_heads(double m, double n, double sigma2)
{
    double best = NAN, least = INFINITY;

    if (!(m <= 1e6))
        return NAN;
    for (double h = 1.0; h <= m; h += 1.0) {
        const double mse = attend_theory_groups_mse_flips(m, h, n, sigma2);

        if (mse < least) {
            least = mse;
            best = h;
        }
    }
    return best;
}
