/* SPDX-License-Identifier: MIT */
#include "lab/setups/two_heads.h"

#include <math.h>

/* What a trial gives, twice: over all trials, and over those of positive length. */
enum {
    W1,
    LOSES,
    SPREAD1, /* |c1 - m1|^2, m1 a fixed point near its mean */
    SPREAD2,
    PRODUCT, /* <c1 - m1, c2 - m2> */
    FROM1,   /* c1 - m1 by coordinates: a, b, all others together */
    FROM2 = FROM1 + 3,
    COEFFICIENT_A = FROM2 + 3,
    COEFFICIENT_B,
    MSE_TWO,
    COEFFICIENT_ONE,
    MSE_ONE,
    VALUES
};

/*
 * E|c|^2 - |E c|^2 = E|c - m|^2 - |E(c - m)|^2 for any m; m near the mean keeps the
 * digits, and makes the standard error that of the first term.
 */
struct centres {
    double n;
    double m[2][LAB_QUERIES][3]; /* by condition and head: of a, of b, of one other */
};

attend_theory_scene lab_two_heads_scene(const struct lab_two_heads *setup, int positive)
{
    attend_theory_scene scene =
        attend_theory_scene_exercise(setup->n, setup->sigma2, positive);

    scene.tau = setup->tau;
    scene.alpha = setup->alpha;
    if (setup->noisy == LAB_NOISY_WANTED || setup->noisy == LAB_NOISY_ALL)
        scene.sigma2[ATTEND_THEORY_B] = setup->sigma2;
    if (setup->noisy == LAB_NOISY_ALL)
        scene.sigma2[ATTEND_THEORY_REST] = setup->sigma2;
    return scene;
}

struct lab_two_heads_numbers lab_two_heads_theory(const struct lab_two_heads *setup,
                                                  int positive)
{
    const attend_theory_scene scene = lab_two_heads_scene(setup, positive);
    const attend_theory_query query[LAB_QUERIES] = {
        lab_query_at(&setup->queries, 0, setup->C),
        lab_query_at(&setup->queries, 1, setup->C)};
    const attend_theory_output first = attend_theory_head(&scene, query[0]);
    const attend_theory_output second = attend_theory_head(&scene, query[1]);
    const attend_theory_output one =
        attend_theory_head(&scene, (attend_theory_query){.a = setup->C, .b = setup->C});
    const attend_theory_output two = attend_theory_heads(&scene, query, LAB_QUERIES);
    const double mean = first.mean[ATTEND_THEORY_A];
    struct lab_two_heads_numbers theory = {.of = {{.value = 0}}};

    theory.of[LAB_MEAN_W1].value = mean;
    theory.of[LAB_VAR_W1].value = first.variance[ATTEND_THEORY_A];
    /* P(w1 < 1/2), not <=: they differ where w1 is sure. */
    theory.of[LAB_HEAD1_LOSES].value =
        first.variance[ATTEND_THEORY_A] == 0
            ? mean < 0.5
            : attend_theory_head_cdf(&scene, query[0], 0.5);
    theory.of[LAB_VAR_C1].value = first.total_variance;
    theory.of[LAB_VAR_C2].value = second.total_variance;
    theory.of[LAB_COV_C1_C2].value =
        attend_theory_heads_covariance(&scene, query[0], query[1]);
    theory.of[LAB_COEFF_A].value = (mean + second.mean[ATTEND_THEORY_A]) / 2;
    theory.of[LAB_COEFF_B].value =
        (first.mean[ATTEND_THEORY_B] + second.mean[ATTEND_THEORY_B]) / 2;
    theory.of[LAB_COEFF_VAR_ONE].value = one.variance[ATTEND_THEORY_A];
    theory.of[LAB_COEFF_VAR_TWO].value = two.variance[ATTEND_THEORY_A];
    theory.of[LAB_MSE_ONE].value = one.mse;
    theory.of[LAB_MSE_TWO].value = two.mse;
    return theory;
}

static void observe_from(const double m[LAB_QUERIES][3], double n,
                         const struct lab_outcome *o, double *values)
{
    const double rest = n - 2;
    double from[LAB_QUERIES][3];

    for (int h = 0; h < LAB_QUERIES; h++) {
        from[h][0] = o->weight[h][0] - m[h][0];
        from[h][1] = o->weight[h][1] - m[h][1];
        from[h][2] = o->others[h] - rest * m[h][2];
        values[SPREAD1 + h] = from[h][0] * from[h][0] + from[h][1] * from[h][1] +
                              o->squares[h] - 2 * m[h][2] * o->others[h] +
                              rest * m[h][2] * m[h][2];
        for (int c = 0; c < 3; c++)
            values[FROM1 + 3 * h + c] = from[h][c];
    }
    /* Over the other keys, of the products of the two heads' weights. */
    const double crossed = (4 * o->others_squared - o->squares[0] - o->squares[1]) / 2;
    values[PRODUCT] = from[0][0] * from[1][0] + from[0][1] * from[1][1] + crossed -
                      m[1][2] * o->others[0] - m[0][2] * o->others[1] +
                      rest * m[0][2] * m[1][2];
    values[W1] = o->weight[0][0];
    values[LOSES] = o->weight[0][0] < o->weight[0][1] + o->others[0];
    values[COEFFICIENT_A] = o->coefficient[0];
    values[COEFFICIENT_B] = o->coefficient[1];
    values[MSE_TWO] =
        lab_pair_error(o->coefficient[0], o->coefficient[1], o->others_squared);
    values[COEFFICIENT_ONE] = o->weight[2][0];
    values[MSE_ONE] = lab_pair_error(o->weight[2][0], o->weight[2][1], o->squares[2]);
}

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    const struct centres *const centres = arg;

    observe_from(centres->m[0], centres->n, outcome, values);
    if (outcome->gamma[0] > 0)
        observe_from(centres->m[1], centres->n, outcome, values + VALUES);
    else
        for (int v = 0; v < VALUES; v++)
            values[VALUES + v] = NAN;
}

struct lab_scene lab_two_heads_drawn(const struct lab_two_heads *setup)
{
    struct lab_scene scene = {.n = (int64_t)setup->n,
                              .d = setup->d,
                              .wanted = 2,
                              .heads = LAB_QUERIES + 1,
                              .sigma2 = setup->sigma2,
                              .alpha = setup->alpha,
                              .tau = setup->tau,
                              .noisy = setup->noisy,
                              .query = {[LAB_QUERIES] = {setup->C, setup->C}},
                              .averaged = LAB_QUERIES};

    for (int h = 0; h < LAB_QUERIES; h++) {
        const attend_theory_query query = lab_query_at(&setup->queries, h, setup->C);
        scene.query[h][0] = query.a;
        scene.query[h][1] = query.b;
    }
    return scene;
}

/* |m_g| |m_h| of two heads' centres. */
static double size_of(const double *m, const double *other, double n)
{
    return sqrt(
        (m[0] * m[0] + m[1] * m[1] + (n - 2) * m[2] * m[2]) *
        (other[0] * other[0] + other[1] * other[1] + (n - 2) * other[2] * other[2]));
}

static struct lab_two_heads_numbers summarise(const struct lab_moments *moments, double n,
                                              double m[LAB_QUERIES][3])
{
    const double size[3] = {size_of(m[0], m[0], n), size_of(m[1], m[1], n),
                            size_of(m[0], m[1], n)};
    struct lab_two_heads_numbers numbers;
    double product[3] = {0};

    for (int q = 0; q < LAB_TWO_HEADS_QUANTITIES; q++)
        numbers.of[q] = (struct lab_estimate){.value = NAN, .se = NAN};
    if (moments[W1].count == 0)
        return numbers;
    /* <E(c_g - m_g), E(c_h - m_h)> for (g, h) = (1, 1), (2, 2), (1, 2). */
    for (int c = 0; c < 3; c++) {
        const double share = c < 2 ? 1 : n > 2 ? 1 / (n - 2) : 0;
        const double x = moments[FROM1 + c].mean, y = moments[FROM2 + c].mean;
        product[0] += share * x * x;
        product[1] += share * y * y;
        product[2] += share * x * y;
    }
    for (int x = 0; x < 3; x++) {
        /* Two outputs are at most sqrt(2) apart, and so from any point between. */
        struct lab_moments squares = moments[SPREAD1 + x];
        if (squares.m2 <= 0 && fabs(squares.mean) <= 1e-15 * size[x])
            squares.mean = 0;
        struct lab_estimate spread = lab_estimate_square(&squares, x < 2 ? 0 : -2, 2);
        /* What rounding scatters is not chance. */
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
        numbers.of[LAB_VAR_C1 + x] = spread;
    }
    static const struct {
        int quantity, value;
        struct lab_estimate (*estimate)(const struct lab_moments *, double, double);
        double most;
    } simple[] = {{LAB_MEAN_W1, W1, lab_estimate_mean_within, 1},
                  {LAB_VAR_W1, W1, lab_estimate_variance_within, 1},
                  {LAB_COEFF_A, COEFFICIENT_A, lab_estimate_mean_within, 1},
                  {LAB_COEFF_B, COEFFICIENT_B, lab_estimate_mean_within, 1},
                  {LAB_COEFF_VAR_ONE, COEFFICIENT_ONE, lab_estimate_variance_within, 1},
                  {LAB_COEFF_VAR_TWO, COEFFICIENT_A, lab_estimate_variance_within, 1},
                  {LAB_MSE_ONE, MSE_ONE, lab_estimate_square, LAB_PAIR_ERROR_MAX},
                  {LAB_MSE_TWO, MSE_TWO, lab_estimate_square, LAB_PAIR_ERROR_MAX}};
    for (size_t x = 0; x < sizeof simple / sizeof simple[0]; x++)
        numbers.of[simple[x].quantity] =
            simple[x].estimate(&moments[simple[x].value], 0, simple[x].most);
    numbers.of[LAB_HEAD1_LOSES] = lab_estimate_probability(&moments[LOSES]);
    return numbers;
}

int lab_two_heads_measure(struct lab_session *session, const struct lab_two_heads *setup,
                          uint64_t stream, int64_t trials,
                          struct lab_two_heads_numbers measured[2],
                          struct lab_histogram *w1)
{
    const struct lab_scene scene = lab_two_heads_drawn(setup);
    struct lab_histogram *const histograms[2 * VALUES] = {[W1] = w1};
    struct centres centres = {.n = setup->n};
    struct lab_moments moments[2 * VALUES];

    for (int positive = 0; positive < 2; positive++)
        for (int h = 0; h < LAB_QUERIES; h++) {
            const attend_theory_scene theory = lab_two_heads_scene(setup, positive);
            const attend_theory_output head =
                attend_theory_head(&theory, lab_query_at(&setup->queries, h, setup->C));
            for (int c = 0; c < 3; c++)
                centres.m[positive][h][c] = isfinite(head.mean[c]) ? head.mean[c] : 0;
        }
    if (lab_scene_measure(session, &scene, stream, trials, observe, &centres, 2 * VALUES,
                          moments, w1 ? histograms : NULL))
        return -1;
    for (int positive = 0; positive < 2; positive++)
        measured[positive] =
            summarise(moments + positive * VALUES, setup->n, centres.m[positive]);
    return 0;
}

/* ---- crossover ---------------------------------------------------------- */

static void observe_difference(void *arg, const struct lab_outcome *o, double *values)
{
    (void)arg;
    values[0] = lab_pair_error(o->weight[2][0], o->weight[2][1], o->squares[2]) -
                lab_pair_error(o->coefficient[0], o->coefficient[1], o->others_squared);
}

/* Of mse_one - mse_two at C: mean and standard error. */
static int difference(struct lab_session *session, const struct lab_two_heads *setup,
                      double C, uint64_t stream, int64_t trials, double *mean, double *se)
{
    struct lab_two_heads at = *setup;
    struct lab_moments moments;

    at.C = C;
    const struct lab_scene scene = lab_two_heads_drawn(&at);
    if (lab_scene_measure(session, &scene, stream, trials, observe_difference, NULL, 1,
                          &moments, NULL))
        return -1;
    *mean = moments.count > 0 ? moments.mean : NAN;
    *se = lab_moments_mean_se(&moments);
    return 0;
}

int lab_two_heads_crossover(struct lab_session *session,
                            const struct lab_two_heads *setup, uint64_t stream,
                            int64_t trials, double *C, double *se)
{
    enum { HALVINGS = 12 };
    const double ratio = 1.25;
    double lo = 0, hi = 64, below = 0, above = 0, mean;

    *C = *se = NAN;
    /* Downwards, for the last crossing of several. */
    for (; hi > 0.2 && lo == 0; hi /= ratio) {
        if (difference(session, setup, hi, stream, trials, &mean, se))
            return -1;
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
        if (difference(session, setup, middle, stream, trials, &mean, se))
            return -1;
        if (isnan(mean))
            return 0;
        if (mean < 0) {
            lo = middle;
            below = mean;
        } else {
            hi = middle;
            above = mean;
        }
    }
    *C = lo - below * (hi - lo) / (above - below);
    *se *= (hi - lo) / (above - below);
    return 0;
}
