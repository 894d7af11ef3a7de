/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "attend/theory.h"
#include "theory/quadrature.h"
#include "theory/score_law.h"

/*
 * Step of the trapezium rule in x.  The integrands are analytic for |Im x| < pi/2, so the
 * error is about exp(-pi^2 / step): 7e-18.
 */
static const double step = 0.25;

enum { BREAKS_MAX = 16 };

/* Ascending scores with weights of sum 1, and running sums for means_at(). */
struct points {
    int count;
    double *score, *weight;
    double *under, *over;   /* sum of the weights before i, and from i on */
    double *first, *second; /* sum_{j <= i} weight e^(k (score_j - score_i)), k = 1, 2 */
    double *falls;          /* the first with a factor score_j - score_i */
};

struct attendi_theory_score_kind attendi_theory_plain_kind(double keys, double mean,
                                                           double sd)
{
    return (struct attendi_theory_score_kind){
        .keys = keys, .mean = mean, .sd = sd, .lo = -INFINITY, .hi = INFINITY};
}

static double capped(double y, double softcap)
{
    return softcap > 0.0 ? softcap * tanh(y / softcap) : y;
}

/*
 * Standardised scores at which the law is divided into pieces; returns their number, 0 if
 * it is empty.
 */
static int piece_ends(const struct attendi_theory_score_kind *kind, double *z)
{
    static const double gate_steps[] = {-9.0, -3.0, -1.0, 0.0, 1.0, 3.0, 9.0};
    /* With more keys, tails further out contribute. */
    const double reach = -attend_theory_normal_quantile(1e-18 / kind->keys);
    const double low = fmax(-reach, (kind->lo - kind->mean) / kind->sd);
    const double high = fmin(reach, (kind->hi - kind->mean) / kind->sd);
    const double bends[2] = {-20.0 * kind->softcap, 20.0 * kind->softcap}; /* tanh is 1 */
    int count = 0;

    if (!(low < high))
        return 0;
    z[count++] = low;
    z[count++] = high;
    for (int i = 0; i < 9; i++) {
        double at;

        if (i < 7 ? kind->gate_slope == 0.0 : kind->softcap == 0.0)
            continue;
        at = i < 7 ? kind->gate_centre + gate_steps[i] / fabs(kind->gate_slope)
                   : bends[i - 7];
        at = (at - kind->mean) / kind->sd;
        if (at > low && at < high)
            z[count++] = at;
    }
    qsort(z, (size_t)count, sizeof *z, attendi_theory_ascending);
    return count;
}

/*
 * Panels for the piece [lo, hi]: e^-u changes on a scale of 1, the density on a scale of
 * sd.
 */
static int panels_of(const struct attendi_theory_score_kind *kind, double lo, double hi)
{
    const double middle = kind->mean + kind->sd * 0.5 * (lo + hi);
    double width = fmin(1.5, 3.0 / kind->sd);

    if (kind->softcap > 0.0)
        width = fabs(middle) > 20.0 * kind->softcap
                    ? 1.5
                    : fmin(width, kind->softcap / kind->sd);
    return (int)ceil((hi - lo) / width);
}

static int allocate(struct points *points, int capacity)
{
    points->count = 0;
    points->score = malloc(7 * (size_t)capacity * sizeof(double));
    if (points->score == NULL)
        return -1;
    points->weight = points->score + capacity;
    points->under = points->weight + capacity;
    points->over = points->under + capacity;
    points->first = points->over + capacity;
    points->second = points->first + capacity;
    points->falls = points->second + capacity;
    return 0;
}

static void accumulate(struct points *points)
{
    double sum = 0.0;

    for (int i = 0; i < points->count; i++)
        sum += points->weight[i];
    for (int i = 0; i < points->count; i++)
        points->weight[i] /= sum;
    points->under[0] = points->falls[0] = 0.0;
    points->first[0] = points->second[0] = points->weight[0];
    for (int i = 1; i < points->count; i++) {
        const double drop = points->score[i - 1] - points->score[i], fall = exp(drop);
        const double w = points->weight[i];

        points->under[i] = points->under[i - 1] + points->weight[i - 1];
        points->first[i] = w + fall * points->first[i - 1];
        points->second[i] = w + fall * fall * points->second[i - 1];
        points->falls[i] = fall * (points->falls[i - 1] + drop * points->first[i - 1]);
    }
    /* Summed from the top: the largest of many keys is far out, where 1 - under is 0. */
    points->over[points->count - 1] = points->weight[points->count - 1];
    for (int i = points->count - 2; i >= 0; i--)
        points->over[i] = points->over[i + 1] + points->weight[i];
}

/* Gauss-Legendre points of the piece [lo, hi], in standardised scores. */
static void add_piece(struct points *points, const struct attendi_theory_score_kind *kind,
                      double lo, double hi)
{
    const int panels = panels_of(kind, lo, hi);
    const double half = 0.5 * (hi - lo) / panels;
    double node[THEORY_PANEL], weight[THEORY_PANEL];

    attendi_theory_panel(node, weight);
    for (int k = 0; k < panels * THEORY_PANEL; k++) {
        const int panel = k / THEORY_PANEL;
        const double z = lo + half * (2 * panel + 1 + node[k % THEORY_PANEL]);
        const double y = kind->mean + kind->sd * z;
        double w = half * weight[k % THEORY_PANEL] * exp(-0.5 * z * z);

        if (kind->gate_slope != 0.0)
            w *= attend_theory_normal_cdf(kind->gate_slope * (y - kind->gate_centre));
        points->score[points->count] = capped(y, kind->softcap);
        points->weight[points->count] = w;
        points->count++;
    }
}

static int make_points(struct points *points,
                       const struct attendi_theory_score_kind *kind)
{
    double z[BREAKS_MAX];
    int ends, panels = 0;

    if (!(kind->keys >= 1.0 && isfinite(kind->mean) && kind->sd >= 0.0 &&
          kind->sd <= 2000.0))
        return -1;
    ends = kind->sd > 0.0 ? piece_ends(kind, z) : 0;
    for (int i = 0; i + 1 < ends; i++)
        panels += panels_of(kind, z[i], z[i + 1]);
    if ((kind->sd > 0.0 && panels == 0) ||
        allocate(points, panels > 0 ? panels * THEORY_PANEL : 1) != 0)
        return -1;
    if (panels == 0) {
        points->score[0] = capped(kind->mean, kind->softcap);
        points->weight[0] = 1.0;
        points->count = 1;
    }
    for (int i = 0; i + 1 < ends; i++)
        add_piece(points, kind, z[i], z[i + 1]);
    accumulate(points);
    return 0;
}

/* Number of scores below `bound`. */
static int scores_below(const struct points *points, double bound)
{
    int lo = 0, hi = points->count;

    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;

        if (points->score[middle] < bound)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Means at t = e^x, with u = t e^s. */
struct means {
    double log_miss; /* ln E e^-u */
    double one, two; /* E[u e^-u], E[u^2 e^-u] */
    double entropy;  /* E[-(ln u + euler) u e^-u] */
};

static const double euler = 0.577215664901532860607;

static struct means means_at(const struct points *points, double x)
{
    /* Beyond, e^-u is 0 (u > e^4), or 1 - u to all digits. */
    const int from = scores_below(points, -40.0 - x), to = scores_below(points, 4.0 - x);
    struct means m = {0};
    double hit = 0.0, miss = 0.0; /* E[1 - e^-u] and E e^-u */

    for (int i = from; i < to; i++) {
        const double u = exp(x + points->score[i]), w = points->weight[i], e = exp(-u);

        hit -= w * expm1(-u);
        miss += w * e;
        m.one += w * u * e;
        m.two += w * u * u * e;
        m.entropy -= w * u * e * (x + points->score[i] + euler);
    }
    if (to < points->count)
        hit += points->over[to];
    if (from > 0) {
        const double log_u = x + points->score[from - 1], u = exp(log_u);

        hit += points->first[from - 1] * u;
        miss += points->under[from - 1] + points->weight[from - 1];
        m.one += points->first[from - 1] * u;
        m.two += points->second[from - 1] * u * u;
        m.entropy -=
            u * ((log_u + euler) * points->first[from - 1] + points->falls[from - 1]);
    }
    m.log_miss = hit < 0.5 ? log1p(-hit) : log(miss);
    return m;
}

/* The range of x that contributes: below it all u are 0; above it some key has u >> 1. */
static void range(const struct attendi_theory_score_kind *kinds,
                  const struct points *points, int count, double *low, double *high)
{
    *low = INFINITY;
    *high = INFINITY;
    for (int k = 0; k < count; k++) {
        const double max = points[k].score[points[k].count - 1];

        *low = fmin(*low, -40.0 - max - log(kinds[k].keys));
        *high = fmin(*high, 4.0 - points[k].score[0]);
    }
}

static void integrate(const struct attendi_theory_score_kind *kinds,
                      const struct points *points, int count, struct means *at,
                      double *mean, double *second)
{
    double low, high;

    range(kinds, points, count, &low, &high);
    for (int k = 0; k < count; k++)
        mean[k] = second[k] = 0.0;
    for (double x = low; x <= high; x += step) {
        double all = 0.0;

        for (int k = 0; k < count; k++) {
            at[k] = means_at(&points[k], x);
            all += kinds[k].keys * at[k].log_miss;
        }
        for (int k = 0; k < count && all > -800.0; k++) {
            const double others = exp(all - at[k].log_miss);

            mean[k] += step * at[k].one * others;
            second[k] += step * at[k].two * others;
        }
    }
}

/*
 * Var p without the difference of E p^2 and (E p)^2, which cancels if scores hardly vary.
 * With E_j = e^(s_j - m_j) - 1 about centres m_j, c_j = e^m_j, Z0 = sum c_j and r = c_i /
 * Z0,
 *
 *     p_i - r = r D / Z,  D = (Z0 - c_i) E_i - sum_{j != i} c_j E_j,
 *
 * and 1/Z^2 is the integral of t e^-tZ.  Under the weights e^-tZ keys stay independent,
 * so that the mean of D^2 is a sum of squares and variances.
 */
enum { SPREAD_KINDS_MAX = 8 };
static const double narrow = 0.5; /* no cancellation for a larger sd */

/* One kind: its centre, and the mean and variance of E under the weights e^-u. */
struct tilted {
    double centre, share; /* share: c_j / Z0 */
    double mean, variance;
};

static double mean_score(const struct points *points)
{
    double sum = 0.0;

    for (int i = 0; i < points->count; i++)
        sum += points->weight[i] * (points->score[i] - points->score[0]);
    return points->score[0] + sum;
}

static void tilt(const struct points *points, double x, struct tilted *kind)
{
    double whole = 0.0, first = 0.0, second = 0.0;

    for (int i = 0; i < points->count; i++) {
        const double w = points->weight[i] * exp(-exp(x + points->score[i]));

        whole += w;
        first += w * expm1(points->score[i] - kind->centre);
    }
    kind->mean = first / whole;
    for (int i = 0; i < points->count; i++) {
        const double w = points->weight[i] * exp(-exp(x + points->score[i]));
        const double off = expm1(points->score[i] - kind->centre) - kind->mean;

        second += w * off * off;
    }
    kind->variance = second / whole;
}

/* Adds the contribution of t = e^x / Z0 to E[p - r] / r and E[(p - r)^2] / r^2. */
static void add_spread(const struct attendi_theory_score_kind *kinds,
                       const struct tilted *at, int count, double x, double log_none,
                       double *bias, double *square)
{
    const double first = step * exp(x + log_none), second = first * exp(x);
    double shift = 0.0, scatter = 0.0;

    for (int k = 0; k < count; k++) {
        shift += kinds[k].keys * at[k].share * at[k].mean;
        scatter += kinds[k].keys * at[k].share * at[k].share * at[k].variance;
    }
    for (int k = 0; k < count; k++) {
        /* D = E_i - sum over all keys of share_j E_j */
        const double mean = at[k].mean - shift;

        bias[k] += first * mean;
        square[k] +=
            second * (mean * mean + scatter + (1.0 - 2.0 * at[k].share) * at[k].variance);
    }
}

static void integrate_spread(const struct attendi_theory_score_kind *kinds,
                             const struct points *points, int count, double *variance)
{
    struct tilted at[SPREAD_KINDS_MAX];
    double bias[SPREAD_KINDS_MAX] = {0.0}, square[SPREAD_KINDS_MAX] = {0.0};
    double low, high, max = -INFINITY, whole = 0.0;

    range(kinds, points, count, &low, &high);
    for (int k = 0; k < count; k++)
        max = fmax(max, at[k].centre = mean_score(&points[k]));
    for (int k = 0; k < count; k++)
        whole += kinds[k].keys * (at[k].share = exp(at[k].centre - max));
    for (int k = 0; k < count; k++)
        at[k].share /= whole;
    for (double x = low; x <= high; x += step) {
        double all = 0.0;

        for (int k = 0; k < count; k++)
            all += kinds[k].keys * means_at(&points[k], x).log_miss;
        for (int k = 0; k < count && all > -800.0; k++)
            tilt(&points[k], x, &at[k]);
        if (all > -800.0)
            add_spread(kinds, at, count, x + max + log(whole), all, bias, square);
    }
    for (int k = 0; k < count; k++)
        variance[k] = at[k].share * at[k].share * (square[k] - bias[k] * bias[k]);
}

static int is_narrow(const struct attendi_theory_score_kind *kinds, int count)
{
    int all = count <= SPREAD_KINDS_MAX;

    for (int k = 0; k < count; k++)
        all = all && kinds[k].sd <= narrow;
    return all;
}

static int score_law(const struct attendi_theory_score_kind *kinds, int count,
                     double *mean, double *second, double *variance)
{
    struct points *points = calloc((size_t)count, sizeof *points);
    struct means *at = calloc((size_t)count, sizeof *at);
    int status = count < 1 || points == NULL || at == NULL ? -1 : 0;

    for (int k = 0; k < count && status == 0; k++)
        status = make_points(&points[k], &kinds[k]);
    if (status == 0)
        integrate(kinds, points, count, at, mean, second);
    for (int k = 0; k < count && status == 0 && variance != NULL; k++)
        variance[k] = fmax(0.0, second[k] - mean[k] * mean[k]);
    if (status == 0 && variance != NULL && is_narrow(kinds, count))
        integrate_spread(kinds, points, count, variance);
    for (int k = 0; k < count && points != NULL; k++)
        free(points[k].score);
    free(points);
    free(at);
    return status;
}

int attendi_theory_score_moments(const struct attendi_theory_score_kind *kinds, int count,
                                 double *mean, double *second)
{
    return score_law(kinds, count, mean, second, NULL);
}

int attendi_theory_score_variances(const struct attendi_theory_score_kind *kinds,
                                   int count, double *mean, double *variance)
{
    double *second = calloc((size_t)(count > 0 ? count : 1), sizeof *second);
    const int status =
        second == NULL ? -1 : score_law(kinds, count, mean, second, variance);

    free(second);
    return status;
}

/*
 * H = sum p (ln Z - s), and ln Z / Z = -integral of (ln t + euler) e^-tZ dt.  E ln Z less
 * E sum p s would be the difference of two numbers of the size of sd^2.
 */
double attendi_theory_score_entropy(const struct attendi_theory_score_kind *kind)
{
    struct points points = {0};
    double low, high, sum = 0.0;

    if (make_points(&points, kind) != 0)
        return NAN;
    range(kind, &points, 1, &low, &high);
    for (double x = low; x <= high; x += step) {
        const struct means at = means_at(&points, x);

        sum += step * at.entropy * exp((kind->keys - 1.0) * at.log_miss);
    }
    free(points.score);
    return kind->keys * sum;
}
