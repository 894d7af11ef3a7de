/* SPDX-License-Identifier: MIT */
#include "lab/setups/two_heads.h"

#include <math.h>

/* Heads 0 and 1 are the two, head 2 is the single one. */
enum { HEADS = 2 };

void lab_two_theory(const struct lab_scene *scene, double *theory)
{
    const attend_theory_query query[HEADS] = {lab_scene_query(scene, 0),
                                              lab_scene_query(scene, 1)};

    for (int positive = 0; positive < 2; positive++, theory += LAB_TWO_ROWS) {
        const attend_theory_scene law = lab_scene_law(scene, positive);
        const attend_theory_output first = attend_theory_head(&law, query[0]);
        const attend_theory_output second = attend_theory_head(&law, query[1]);
        const attend_theory_output one =
            attend_theory_head(&law, lab_scene_query(scene, HEADS));
        const attend_theory_output two = lab_scene_theory(scene, positive);
        const double mean = first.mean[ATTEND_THEORY_A];
        theory[LAB_TWO_MEAN_W1] = mean;
        theory[LAB_TWO_VAR_W1] = first.variance[ATTEND_THEORY_A];
        /* P(w1 < 1/2), not <=: they differ where w1 is sure. */
        theory[LAB_TWO_HEAD1_LOSES] = first.variance[ATTEND_THEORY_A] == 0
                                          ? mean < 0.5
                                          : attend_theory_head_cdf(&law, query[0], 0.5);
        theory[LAB_TWO_VAR_C1] = first.total_variance;
        theory[LAB_TWO_VAR_C2] = second.total_variance;
        theory[LAB_TWO_COV_C1_C2] =
            attend_theory_heads_covariance(&law, query[0], query[1]);
        theory[LAB_TWO_COEFF_A] = (mean + second.mean[ATTEND_THEORY_A]) / 2;
        theory[LAB_TWO_COEFF_B] =
            (first.mean[ATTEND_THEORY_B] + second.mean[ATTEND_THEORY_B]) / 2;
        theory[LAB_TWO_COEFF_VAR_ONE] = one.variance[ATTEND_THEORY_A];
        theory[LAB_TWO_COEFF_VAR_TWO] = two.variance[ATTEND_THEORY_A];
        theory[LAB_TWO_MSE_ONE] = one.mse;
        theory[LAB_TWO_MSE_TWO] = two.mse;
    }
}

/* ---- measurement ---------------------------------------------------------------- */

/*
 * E|c|^2 - |E c|^2 = E|c - m|^2 - |E(c - m)|^2 for any m; m near the mean keeps the
 * digits, and makes the standard error that of the first term.
 */
struct centres {
    double n;
    double m[2][HEADS][3]; /* by condition and head: of a, of b, of one other */
};

static struct centres centres_of(const struct lab_scene *scene)
{
    struct centres centres = {.n = (double)scene->n};

    for (int positive = 0; positive < 2; positive++)
        for (int h = 0; h < HEADS; h++) {
            const attend_theory_scene law = lab_scene_law(scene, positive);
            const attend_theory_output head =
                attend_theory_head(&law, lab_scene_query(scene, h));
            for (int c = 0; c < 3; c++)
                centres.m[positive][h][c] = isfinite(head.mean[c]) ? head.mean[c] : 0;
        }
    return centres;
}

static void observe_from(const double m[HEADS][3], double n, const struct lab_outcome *o,
                         double *values)
{
    const double rest = n - 2;
    double from[HEADS][3];

    for (int h = 0; h < HEADS; h++) {
        from[h][0] = o->weight[h][0] - m[h][0];
        from[h][1] = o->weight[h][1] - m[h][1];
        from[h][2] = o->others[h] - rest * m[h][2];
        values[LAB_TWO_SPREAD1 + h] = from[h][0] * from[h][0] + from[h][1] * from[h][1] +
                                      o->squares[h] - 2 * m[h][2] * o->others[h] +
                                      rest * m[h][2] * m[h][2];
        for (int c = 0; c < 3; c++)
            values[LAB_TWO_FROM1 + 3 * h + c] = from[h][c];
    }
    /* Over the other keys, of the products of the two heads' weights. */
    const double crossed = (4 * o->others_squared - o->squares[0] - o->squares[1]) / 2;
    values[LAB_TWO_PRODUCT] = from[0][0] * from[1][0] + from[0][1] * from[1][1] +
                              crossed - m[1][2] * o->others[0] - m[0][2] * o->others[1] +
                              rest * m[0][2] * m[1][2];
    values[LAB_TWO_W1] = o->weight[0][0];
    values[LAB_TWO_LOSES] = o->weight[0][0] < o->weight[0][1] + o->others[0];
    values[LAB_TWO_COEFFICIENT_A] = o->coefficient[0];
    values[LAB_TWO_COEFFICIENT_B] = o->coefficient[1];
    values[LAB_TWO_ERROR_TWO] =
        lab_pair_error(o->coefficient[0], o->coefficient[1], o->others_squared);
    values[LAB_TWO_COEFFICIENT_ONE] = o->weight[2][0];
    values[LAB_TWO_ERROR_ONE] =
        lab_pair_error(o->weight[2][0], o->weight[2][1], o->squares[2]);
}

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    const struct centres *const centres = arg;

    observe_from(centres->m[0], centres->n, outcome, values);
    if (outcome->gamma[0] > 0)
        observe_from(centres->m[1], centres->n, outcome, values + LAB_TWO_VALUES);
    else
        for (int v = 0; v < LAB_TWO_VALUES; v++)
            values[LAB_TWO_VALUES + v] = NAN;
}

int lab_two_measure(struct lab_session *session, const struct lab_scene *scene,
                    uint64_t stream, int64_t trials, struct lab_moments *moments,
                    struct lab_histogram *of_w1)
{
    struct lab_histogram *const histograms[2 * LAB_TWO_VALUES] = {[LAB_TWO_W1] = of_w1};
    struct centres centres = centres_of(scene);

    return lab_scene_measure(session, scene, stream, trials, observe, &centres,
                             2 * LAB_TWO_VALUES, moments, of_w1 ? histograms : NULL);
}

/* |m_g| |m_h| of two heads' centres. */
static double size_of(const double *m, const double *other, double n)
{
    return sqrt(
        (m[0] * m[0] + m[1] * m[1] + (n - 2) * m[2] * m[2]) *
        (other[0] * other[0] + other[1] * other[1] + (n - 2) * other[2] * other[2]));
}

void lab_two_spreads(const struct lab_scene *scene, int positive,
                     const struct lab_moments *moments, struct lab_estimate spreads[3])
{
    const struct centres centres = centres_of(scene);
    const double n = centres.n, (*const m)[3] = centres.m[positive];
    const double size[3] = {size_of(m[0], m[0], n), size_of(m[1], m[1], n),
                            size_of(m[0], m[1], n)};
    double product[3] = {0};

    /* <E(c_g - m_g), E(c_h - m_h)> for (g, h) = (1, 1), (2, 2), (1, 2). */
    moments += positive * LAB_TWO_VALUES;
    for (int c = 0; c < 3; c++) {
        const double share = c < 2 ? 1 : n > 2 ? 1 / (n - 2) : 0;
        const double x = moments[LAB_TWO_FROM1 + c].mean,
                     y = moments[LAB_TWO_FROM2 + c].mean;
        product[0] += share * x * x;
        product[1] += share * y * y;
        product[2] += share * x * y;
    }
    for (int x = 0; x < 3; x++) {
        /* Two outputs are at most sqrt(2) apart, and so from any point between. */
        struct lab_moments squares = moments[LAB_TWO_SPREAD1 + x];
        if (squares.m2 <= 0 && fabs(squares.mean) <= 1e-15 * size[x])
            squares.mean = 0;
        struct lab_estimate spread = lab_estimate_square(&squares, x < 2 ? 0 : -2, 2);
        /* Scatter of the size of rounding is not chance. */
        if (!spread.rare && !(spread.se > 1e-15 * size[x]))
            spread =
                (struct lab_estimate){.value = spread.value, .allowed = spread.allowed};
        spread.value -= product[x];
        spread.low -= product[x];
        spread.high -= product[x];
        if (x < 2) {
            spread.value = fmax(spread.value, 0);
            spread.low = fmax(spread.low, 0);
        }
        spreads[x] = spread;
    }
}

/* ---- crossover --------------------------------------------------------------- */

static void observe_difference(void *arg, const struct lab_outcome *o, double *values)
{
    (void)arg;
    values[0] = lab_pair_error(o->weight[2][0], o->weight[2][1], o->squares[2]) -
                lab_pair_error(o->coefficient[0], o->coefficient[1], o->others_squared);
}

/* mse_one - mse_two at a factor of the queries, with its standard error. */
static int difference(struct lab_session *session, struct lab_scene scene, double factor,
                      int64_t trials, double *mean, double *se)
{
    struct lab_moments moments;

    for (int h = 0; h <= HEADS; h++) {
        scene.query[h][0] *= factor;
        scene.query[h][1] *= factor;
    }
    if (lab_scene_measure(session, &scene, 1, trials, observe_difference, NULL, 1,
                          &moments, NULL))
        return -1;
    *mean = moments.count > 0 ? moments.mean : NAN;
    *se = lab_moments_mean_se(&moments);
    return 0;
}

int lab_two_crossover(struct lab_session *session, const struct lab_scene *scene,
                      int64_t trials, struct lab_estimate *factor)
{
    enum { HALVINGS = 12 };
    const double ratio = 1.25;
    double lo = 0, hi = 64, below = 0, above = 0, mean, se;

    *factor = (struct lab_estimate){.value = NAN, .se = NAN};
    /* Downwards, for the last crossing of several. */
    for (; hi > 0.2 && lo == 0; hi /= ratio) {
        if (difference(session, *scene, hi, trials, &mean, &se))
            return -1;
        factor->se = se;
        if (isnan(mean))
            return 0;
        if (mean < 0) {
            lo = hi;
            hi *= ratio * ratio;
            below = mean;
        } else {
            above = mean;
        }
    }
    if (lo == 0 || above == 0)
        return 0;
    for (int x = 0; x < HALVINGS; x++) {
        const double middle = (lo + hi) / 2;
        if (difference(session, *scene, middle, trials, &mean, &se))
            return -1;
        factor->se = se;
        if (isnan(mean))
            return 0;
        *(mean < 0 ? &lo : &hi) = middle;
        *(mean < 0 ? &below : &above) = mean;
    }
    factor->value = lo - below * (hi - lo) / (above - below);
    factor->se *= (hi - lo) / (above - below);
    return 0;
}
