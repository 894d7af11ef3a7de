/* SPDX-License-Identifier: MIT */
/* The theory of attend/theory.h: copies, averages, matrices, many keys, rows, positions.
 */
#include <stdint.h>

#include "theory_checks.h"

TEST(copy_and_average_numbers)
{
    PRINTS(attend_theory_average_weight(1e6, 2, 10), 0.021, 3);
    PRINTS(attend_theory_average_scale_needed(1024, 2, 0.01, 1), 10.83, 2);
    PRINTS(attend_theory_average_scale_needed(1024, 2, 0.01, 1.0 / 8.0), 86.65, 2);
    PRINTS(attend_theory_gap_sum_exact(2, ATTEND_F32), 16.64, 2);
    PRINTS(attend_theory_gap_underflow(ATTEND_F32, 0), 103.97, 2);
    PRINTS(attend_theory_gap_underflow(ATTEND_F32, 1), 87.34, 2);
    PRINTS(attend_theory_dispersion_bound(10, 10), 0.9996, 4);
    PRINTS(attend_theory_dispersion_bound(1e3, 10), 0.957, 3);
    PRINTS(attend_theory_dispersion_bound(1e5, 10), 0.181, 3);
    for (double beta = -3.0; beta < 30.0; beta += 1.7) {
        const double weight = attend_theory_average_weight(50, 3, beta);

        NEAR(3.0 * weight + attend_theory_average_leak(50, 3, beta), 1.0, 1e-15);
        NEAR(attend_theory_copy_weight(50, beta),
             attend_theory_average_weight(50, 1, beta), 1e-14);
        CHECK(attend_theory_average_weight(2, 2, beta) == 0.5, "two keys, beta %g", beta);
    }
    for (double eps = 1e-6; eps < 0.9; eps *= 3.0) {
        const double m = 4.0, n = 1e4, tau = 0.125;
        const double gap = attend_theory_copy_gap_needed(n, eps);

        NEAR(attend_theory_average_leak(
                 n, m, tau * attend_theory_average_scale_needed(n, m, eps, tau)),
             eps, 1e-12);
        NEAR(attend_theory_weighted_leak(
                 n, m, tau * attend_theory_weighted_scale_needed(n, m, eps, tau)),
             eps, 1e-12);
        NEAR(1.0 - attend_theory_copy_weight(n, gap), eps, 1e-9);
    }
}

/* Of five scores, 3.9 leads by 3.2, 5.1, 1.1 and .8; its weight to 16 digits. */
TEST(copies_within_their_bounds)
{
    const double gaps[4] = {3.2, 5.1, 1.1, 0.8}, weight = 0.5467292202695936;
    const double v[5][2] = {{1, 0}, {-1, 2}, {0.5, 3}, {-4, 1}, {2, 2}};
    double c[2] = {weight * v[1][0], weight * v[1][1]}, far = 0.0, error;

    NEAR(attend_theory_copy_weight_gaps(gaps, 4), weight, 1e-15);
    CHECK(attend_theory_copy_weight_lower_bound(5, 0.8) < weight, "lower bound");
    CHECK(attend_theory_copy_weight_upper_bound(5, 0.8) > weight, "upper bound");
    /* 1/(1 + 4 e^-.8) and 1/(1 + e^-.8) */
    NEAR(attend_theory_copy_weight_lower_bound(5, 0.8), 0.35748555090318695, 1e-14);
    NEAR(attend_theory_copy_weight_upper_bound(5, 0.8), 0.6899744811276125, 1e-14);
    for (int i = 0, other = 0; i < 4; i++, other = i + (i > 0)) {
        const double p = weight * exp(-gaps[i]);

        c[0] += p * v[other][0];
        c[1] += p * v[other][1];
        far = fmax(far, hypot(v[other][0] - v[1][0], v[other][1] - v[1][1]));
    }
    error = hypot(c[0] - v[1][0], c[1] - v[1][1]);
    CHECK(error > 0.1 && error <= attend_theory_copy_error_bound(weight, far),
          "%g against %g", error, attend_theory_copy_error_bound(weight, far));
    CHECK(attend_theory_copy_error_bound(0.75, 2.0) == 0.5, "(1 - p) times distance");
    /* Equal gaps, orthonormal values: (1 - p) (1, -1/6, ..., -1/6). */
    {
        const double rest = 6.0 / (exp(2.3) + 6.0);

        NEAR(attend_theory_copy_error(7, 2.3), rest * sqrt(1.0 + 1.0 / 6.0), 1e-14);
    }
}

/* x rounded to so many significant bits; ties to even, no limits of the exponent. */
static double to_bits(double x, int bits)
{
    int exponent;
    const double fraction = frexp(x, &exponent);

    return ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits);
}

/* The two half formats, whose numbers a double holds with room to spare. */
TEST(half_gaps)
{
    static const struct {
        attend_dtype format;
        int bits, least, normal;
    } halves[] = {{ATTEND_F16, 11, -24, -14}, {ATTEND_BF16, 8, -133, -126}};

    for (int k = 0; k < 2; k++)
        for (double n = 2.0; n < 1e4; n = 3.0 * n + 1.0)
            for (int side = -1; side <= 1; side += 2) {
                const attend_dtype format = halves[k].format;
                const int bits = halves[k].bits;
                const double off = side * 1e-6;
                double gap = attend_theory_gap_sum_exact(n, format) + off;

                CHECK((to_bits(1.0 + (n - 1.0) * exp(-gap), bits) == 1.0) == (side > 0),
                      "sum at gap %g", gap);
                gap = attend_theory_gap_weight_exact(n, format) + off;
                CHECK((to_bits(1.0 / (1.0 + (n - 1.0) * exp(-gap)), bits) == 1.0) ==
                          (side > 0),
                      "weight at gap %g", gap);
                gap = attend_theory_gap_underflow(format, 0) + off;
                CHECK((nearbyint(ldexp(exp(-gap), -halves[k].least)) == 0.0) ==
                          (side > 0),
                      "exponential at gap %g", gap);
                gap = attend_theory_gap_underflow(format, 1) + off;
                CHECK((exp(-gap) < ldexp(1.0, halves[k].normal)) == (side > 0),
                      "flush at gap %g", gap);
            }
    PRINTS(attend_theory_gap_sum_exact(2, ATTEND_F64), 36.7368, 4);
    PRINTS(attend_theory_gap_weight_exact(2, ATTEND_F64), 37.4299, 4);
    PRINTS(attend_theory_gap_underflow(ATTEND_F64, 0), 745.1332, 4);
    PRINTS(attend_theory_gap_underflow(ATTEND_F64, 1), 708.3964, 4);
}

/* The gaps of T2, tried in the arithmetic itself. */
TEST(float_gaps)
{
    static const double keys[] = {2, 3, 100, 5000};

    for (int k = 0; k < 4; k++)
        for (int side = -1; side <= 1; side += 2) {
            const double off = side * 1e-5, n = keys[k];
            double gap = attend_theory_gap_sum_exact(n, ATTEND_F32) + off;
            const float sum = (float)(1.0 + (n - 1.0) * exp(-gap));
            float weight;

            CHECK((sum == 1.0f) == (side > 0), "sum %.9g at gap %g", (double)sum, gap);
            gap = attend_theory_gap_weight_exact(n, ATTEND_F32) + off;
            weight = (float)attend_theory_copy_weight(n, gap);
            CHECK((weight == 1.0f) == (side > 0), "weight %.9g", (double)weight);
            weight = (float)exp(-(attend_theory_gap_underflow(ATTEND_F32, 0) + off));
            CHECK((weight == 0.0f) == (side > 0), "exponential %g", (double)weight);
            weight = (float)exp(-(attend_theory_gap_underflow(ATTEND_F32, 1) + off));
            CHECK((weight < 0x1p-126f) == (side > 0), "exponential %g", (double)weight);
        }
}

TEST(weights_from_gaps_and_queries)
{
    const double gaps[] = {3.0, -700.0, 800.0, 0.5};
    const double w[] = {0.2, 0.5, 0.3};
    double q[3], sum = 0.0;

    NEAR(attend_theory_copy_weight_gaps(gaps, 4), exp(-700.0), 1e-13);
    NEAR(attend_theory_copy_weight_gaps(gaps, 1), attend_theory_logistic(3.0), 1e-15);
    CHECK(attend_theory_copy_weight_gaps(gaps, 0) == 1.0, "no rivals");
    CHECK(attend_theory_weighted_query(w, 3, 4.0, 0.5, q) == 0, "refused");
    for (int i = 0; i < 3; i++)
        sum += exp(0.5 * q[i]);
    for (int i = 0; i < 3; i++)
        NEAR(exp(0.5 * q[i]) / sum, w[i], 1e-14);
    NEAR(7.0 / (sum + 7.0), attend_theory_weighted_leak(10, 3, 4.0), 1e-14);
    CHECK(attend_theory_weighted_query(w, 2, 4.0, 0.5, q) == -1, "sum below 1 accepted");
}

static double largest_difference(const double *x, const double *y, int count)
{
    double worst = 0.0;

    for (int i = 0; i < count; i++)
        worst = fmax(worst, fabs(x[i] - y[i]));
    return worst;
}

static void apply(const double *M, const double *x, double *y, int d)
{
    for (int r = 0; r < d; r++) {
        y[r] = 0.0;
        for (int c = 0; c < d; c++)
            y[r] += M[r * d + c] * x[c];
    }
}

TEST(extraction)
{
    enum { D = 5 };
    const double A[D * 2] = {1, 2, 0, 1, -1, 0.5, 3, 1, 0.25, -2};
    const double B[D * 2] = {1, 0, 2, 1, 0.5, 1, -1, 1, 0, 2};
    const double A1[D] = {0.6, 0.8, 0, 0, 0};
    double M[D * D], va[D], vb[D], sum[D], out[D], dependent[D * 2];

    for (int r = 0; r < D; r++) {
        va[r] = 1.5 * A[2 * r] - 0.7 * A[2 * r + 1];
        vb[r] = 0.3 * B[2 * r] + 2.0 * B[2 * r + 1];
        sum[r] = va[r] + vb[r];
        dependent[2 * r] = A[2 * r];
        dependent[2 * r + 1] = -3.0 * A[2 * r];
    }
    CHECK(attend_theory_extract_oblique(A, 2, B, 2, D, M) == 0, "refused");
    apply(M, sum, out, D);
    CHECK(largest_difference(out, va, D) < 1e-13, "M (v_a + v_b) != v_a");
    CHECK(attend_theory_extract_projector(A, D, 2, M) == 0, "refused");
    apply(M, va, out, D);
    CHECK(largest_difference(out, va, D) < 1e-13, "M v_a != v_a");
    for (int r = 0; r < D; r++)
        for (int c = 0; c < D; c++)
            CHECK(fabs(M[r * D + c] - M[c * D + r]) < 1e-15, "a projector is symmetric");
    apply(M, sum, out, D);
    CHECK(largest_difference(out, va, D) > 0.1, "B is not perpendicular to A");
    CHECK(attend_theory_extract_orthonormal(A1, D, 1, M) == 0, "refused");
    CHECK(fabs(M[1] - 0.48) < 1e-16 && M[2] == 0.0, "A A^T");
    CHECK(attend_theory_extract_projector(dependent, D, 2, M) == -1, "dependent columns");
    CHECK(attend_theory_extract_oblique(A, 2, dependent, 2, D, M) == -1,
          "spans that meet");
    CHECK(attend_theory_extract_oblique(A, 2, A, 2, D, M) == -1, "spans that coincide");
}

/* c at a finite scale, the other values orthogonal to span A: only the leak is lost. */
TEST(extraction_from_the_average)
{
    for (double n = 2.0; n < 200.0; n = 2.0 * n + 1.0)
        for (double beta = -1.0; beta < 9.0; beta += 1.3) {
            const double weight = exp(beta) / (2.0 * exp(beta) + n - 2.0);

            CHECK(fabs(attend_theory_extract_error(n, beta) - (1.0 - 2.0 * weight)) <
                      1e-15,
                  "n %g beta %g", n, beta);
        }
}

TEST(query_for_scores)
{
    enum { N = 3, D = 4 };
    const double K[N * D] = {1, 0.5, 0, 0.2, 0.9, -1, 0.3, 0, 0, 0.1, 2, -0.4};
    const double wanted[N] = {3.0, -1.0, 0.25};
    double q[D];

    CHECK(attend_theory_query_for_scores(K, N, D, wanted, q) == 0, "refused");
    for (int i = 0; i < N; i++) {
        double score = 0.0;

        for (int c = 0; c < D; c++)
            score += K[i * D + c] * q[c];
        CHECK(fabs(score - wanted[i]) < 1e-13, "score %d is %g", i, score);
    }
    CHECK(attend_theory_query_for_scores(K, N, 2, wanted, q) == -1,
          "3 keys in the plane");
}

TEST(many_keys)
{
    static const double size[] = {4e10, 9e4, 518, 45};
    static const double targets[] = {2, 4, 8, 16};

    for (int k = 0; k < 4; k++) {
        const double found = attend_theory_collision_size(64, targets[k]);

        CHECK(fabs(found / size[k] - 1.0) < (k < 2 ? 0.13 : 0.012), "m %g: %g",
              targets[k], found);
    }
    CHECK(attend_theory_collision_probability(64, 1) == 0.0, "m = 1 never");
    /* In the plane and in space the probability is an angle and a cap. */
    NEAR(attend_theory_collision_probability(2, 2), 0.25, 1e-13);
    NEAR(attend_theory_collision_probability(3, 4), 0.25, 1e-13);
    PRINTS(attend_theory_random_entropy(1024, 1), 6.43, 2);
    PRINTS(attend_theory_random_sum_squares_limit(1024, 8), 0.535, 3);
    PRINTS(attend_theory_random_sum_squares_limit(1024, 6), 0.379, 3);
    PRINTS(attend_theory_freezing_spread(1024), 3.7, 1);
    NEAR(attend_theory_random_keys_limit(1024, 1), 1024 * exp(-1.0), 1e-15);
    IS_NAN(attend_theory_random_keys_limit(1024, 2));
    NEAR(attend_theory_random_entropy(50, 0), log(50.0), 1e-13);
    /* ln n - S^2/2: good far below sqrt(2 ln n), where it ends at 0. */
    NEAR(attend_theory_random_entropy_limit(1e12, 3), log(1e12) - 4.5, 1e-15);
    NEAR(attend_theory_random_entropy(1e12, 3),
         attend_theory_random_entropy_limit(1e12, 3), 1e-6);
    CHECK(attend_theory_random_entropy_limit(1024, 3.8) == 0.0, "frozen");
    CHECK(attend_theory_random_entropy(1024, 3.8) > 2.0, "of order 1, not 0");
    /* n = 2: sum p^2 = 1 - 2 w (1 - w), w logistic of N(0, 2 S^2). */
    for (double S = 0.01; S < 500.0; S *= 4.0)
        NEAR(attend_theory_random_sum_squares(2, S),
             0.5 + 2.0 * attend_theory_weight_variance(centred(S * sqrt(2.0))), 1e-11);
    NEAR(attend_theory_dispersion_bound(1e5,
                                        attend_theory_dispersion_range_needed(1e5, 0.75)),
         0.75, 1e-13);
}

/*
 * From integrals on other nodes, the tails in closed form; n = 2 as well from the
 * logistic normal in 30 digits.
 */
TEST(random_scores_of_any_number_and_spread)
{
    static const struct {
        double n, S, squares, entropy;
    } rows[] = {{2, 1, 0.636838153968369, 0.5395000616883964},
                {2, 10, 0.944037255840147, 0.09176106820677304},
                {2, 100, 0.994358568111716, 0.009279478299403494},
                {2, 1000, 0.999435810880479, 0.0009280535975290048},
                {1024, 8, 0.60165694715014, 0.898796746862614},
                {1e6, 100, 0.951375214733356, 0.0828281397899686},
                {1e6, 1000, 0.995137106531651, 0.0080265470360814},
                {1e12, 12, 0.414810607251121, 1.79488432951369},
                {1e15, 8, 0.0794631630662639, 7.18291252542352},
                {1e15, 30, 0.733289898154112, 0.548841124595071},
                {1e15, 1000, 0.991988865917163, 0.0132542955510031}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double n = rows[i].n, S = rows[i].S;

        if (i % 4 > 0 && !test_draws(0.4))
            continue;
        CHECK(fabs(attend_theory_random_sum_squares(n, S) - rows[i].squares) < 1e-10,
              "n %g S %g: %.15g, not %.15g", n, S, attend_theory_random_sum_squares(n, S),
              rows[i].squares);
        CHECK(fabs(attend_theory_random_entropy(n, S) - rows[i].entropy) < 1e-10,
              "n %g S %g: %.15g, not %.15g", n, S, attend_theory_random_entropy(n, S),
              rows[i].entropy);
    }
}

TEST(entropy)
{
    const double s[5] = {0.3, -1.0, 2.0, 0.7, 0.0}, spike[4] = {3.0, -1.0, -1.0, -1.0};
    const double step = 1e-5;

    for (double beta = 0.0; beta < 20.0; beta += 1.3) {
        const double slope = (attend_theory_entropy(s, 5, beta * (1 + step)) -
                              attend_theory_entropy(s, 5, beta * (1 - step))) /
                             (2 * step);

        CHECK(fabs(attend_theory_entropy_slope(s, 5, beta) - slope) < 1e-8, "beta %g: %g",
              beta, slope);
    }
    NEAR(attend_theory_entropy(spike, 4, 1.0), attend_theory_entropy_floor(4, sqrt(12.0)),
         1e-14);
    /* Any other centred logits of that norm have more. */
    {
        double other[4] = {1, 2, -1.5, -1.5}, norm = 0.0;

        for (int i = 0; i < 4; i++)
            norm += other[i] * other[i];
        CHECK(attend_theory_entropy(other, 4, 1.0) >
                  attend_theory_entropy_floor(4, sqrt(norm)),
              "below the floor");
    }
    NEAR(attend_theory_entropy_floor(9, 0.0), log(9.0), 1e-15);
}

/* Scores of three levels, x, y and z of each: the centred ones of norm r are a circle. */
static double entropy_on_circle(const int size[3], double r, double angle)
{
    const double n = size[0] + size[1] + size[2], pair = size[0] + size[1];
    /* Two orthonormal directions that are constant on the levels. */
    const double first[3] = {sqrt(size[1] / (pair * size[0])),
                             -sqrt(size[0] / (pair * size[1])), 0.0};
    const double low = sqrt(size[2] / (n * pair)), high = -sqrt(pair / (n * size[2]));
    const double second[3] = {low, low, high};
    double score[16];
    int count = 0;

    for (int level = 0; level < 3; level++)
        for (int i = 0; i < size[level]; i++)
            score[count++] = r * (cos(angle) * first[level] + sin(angle) * second[level]);
    return attend_theory_entropy(score, count, 1.0);
}

/* No stationary point of the entropy has more than three levels: T23. */
TEST(entropy_floor_is_the_least)
{
    for (int n = 3; n <= 9; n++)
        for (double r = 0.2; r < 15.0; r *= 1.7) {
            const double floor = attend_theory_entropy_floor(n, r);
            double least = INFINITY;

            for (int x = 1; x < n - 1; x++)
                for (int y = 1; x + y < n; y++)
                    for (int turn = 0; turn < 720; turn++) {
                        const int size[3] = {x, y, n - x - y};

                        least = fmin(least, entropy_on_circle(size, r, turn * 0.0087266));
                    }
            CHECK(least >= floor * (1.0 - 1e-12), "n %d r %g: %g below %g", n, r, least,
                  floor);
            CHECK(least - floor < 1e-3 * (1.0 + r) * (1.0 + r), "n %d r %g: %g, not %g",
                  n, r, least, floor);
        }
}

/* Derivatives by differences are the delta method's ingredients. */
TEST(delta_method)
{
    enum { N = 4, DV = 2 };
    const double s[N] = {0.2, -0.5, 1.0, 0.1};
    const double v[N * DV] = {1, 0, -2, 3, 0.5, 1, 4, -1};
    const double e[N] = {0.01, 0.04, 0.0225, 0.09};
    double p[N], c[DV] = {0}, covariance[DV * DV], bias[DV];
    double sum = 0.0, wanted[DV * DV] = {0}, curve[DV] = {0};
    const double h = 1e-4;

    for (int i = 0; i < N; i++)
        sum += exp(s[i]);
    for (int i = 0; i < N; i++) {
        p[i] = exp(s[i]) / sum;
        for (int x = 0; x < DV; x++)
            c[x] += p[i] * v[i * DV + x];
    }
    for (int i = 0; i < N; i++) {
        double out[2][DV] = {{0}};

        for (int side = 0; side < 2; side++) {
            const double moved = exp(s[i] + (side ? h : -h)),
                         all = sum - exp(s[i]) + moved;

            for (int j = 0; j < N; j++)
                for (int x = 0; x < DV; x++)
                    out[side][x] += (j == i ? moved : exp(s[j])) / all * v[j * DV + x];
        }
        for (int x = 0; x < DV; x++) {
            curve[x] += 0.5 * e[i] * (out[1][x] - 2 * c[x] + out[0][x]) / (h * h);
            for (int y = 0; y < DV; y++)
                wanted[x * DV + y] += e[i] * (out[1][x] - out[0][x]) *
                                      (out[1][y] - out[0][y]) / (4 * h * h);
        }
    }
    attend_theory_delta_covariance(p, v, e, N, DV, covariance);
    attend_theory_delta_bias(p, v, e, N, DV, bias);
    CHECK(largest_difference(covariance, wanted, DV * DV) < 1e-9, "covariance");
    CHECK(largest_difference(bias, curve, DV) < 1e-7, "bias");
    sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += p[i] * p[i];
    NEAR(attend_theory_value_noise(p, N, 0.3), 0.3 * sum, 1e-15);
}

/* Two keys: the exact variance is that of a logistic normal.  Halving the noise quarters
 * what the first order leaves out. */
TEST(delta_method_is_first_order)
{
    const double v[2] = {3.0, -1.0}, s = 0.9,
                 p[2] = {attend_theory_logistic(s), attend_theory_logistic(-s)};
    double before = 0.0, lag = 0.0;

    for (double sd = 0.8; sd > 0.09; sd *= 0.5) {
        const double variance[2] = {0.3 * sd * sd, 0.7 * sd * sd};
        const attend_theory_law law = {s, sd, -INFINITY};
        const double exact = 16.0 * attend_theory_weight_variance(law);
        const double shift = 4.0 * (attend_theory_weight_mean(law) - p[0]);
        double covariance, bias, off;

        attend_theory_delta_covariance(p, v, variance, 2, 1, &covariance);
        attend_theory_delta_bias(p, v, variance, 2, 1, &bias);
        off = covariance / exact - 1.0;
        if (sd == 0.8)
            PRINTS(off, 0.124, 3);
        CHECK(before == 0.0 || (before / off > 3.2 && before / off < 4.8), "%g then %g",
              before, off);
        before = off;
        off = bias / shift - 1.0;
        if (sd == 0.8)
            PRINTS(off, 0.224, 3);
        CHECK(lag == 0.0 || (lag / off > 3.2 && lag / off < 4.8), "bias: %g then %g", lag,
              off);
        lag = off;
    }
    PRINTS(before, 0.0015, 4);
    PRINTS(lag, 0.0037, 4);
}

/* p and c = sum p v at the query q: 4 keys in 3 dimensions, values of 2 entries. */
static void row_at(const double *q, const double *K, const double *v, double tau,
                   double *p, double *c)
{
    double sum = 0.0;

    c[0] = c[1] = 0.0;
    for (int i = 0; i < 4; i++) {
        p[i] = exp(tau * (K[3 * i] * q[0] + K[3 * i + 1] * q[1] + K[3 * i + 2] * q[2]));
        sum += p[i];
    }
    for (int i = 0; i < 4; i++) {
        p[i] /= sum;
        c[0] += p[i] * v[2 * i];
        c[1] += p[i] * v[2 * i + 1];
    }
}

TEST(jacobian_by_differences)
{
    const double K[12] = {1, 2, 0, -1, 0.5, 1, 0, 0, 2, 1, 1, 1};
    const double v[8] = {1, 0, -2, 3, 0.5, 1, 4, -1}, q[3] = {0.4, -0.2, 0.3};
    const double tau = 0.7, h = 1e-5;
    double p[4], c[2], up[2], down[2], jacobian[6], other[4];

    row_at(q, K, v, tau, p, c);
    CHECK(attend_theory_delta_jacobian(p, v, K, 4, 2, 3, tau, jacobian) == 0, "refused");
    for (int y = 0; y < 3; y++) {
        double moved[3] = {q[0], q[1], q[2]};

        moved[y] = q[y] + h;
        row_at(moved, K, v, tau, other, up);
        moved[y] = q[y] - h;
        row_at(moved, K, v, tau, other, down);
        for (int x = 0; x < 2; x++)
            CHECK(fabs(jacobian[x * 3 + y] - (up[x] - down[x]) / (2 * h)) < 1e-9,
                  "entry %d %d", x, y);
    }
}

TEST(order_of_tokens)
{
    const double X[6] = {1, 2, 3, 4, 5, 6};
    const int64_t rows[3] = {2, 0, 1}, columns[2] = {1, 0}, bad[3] = {0, 0, 1};
    double out[6], phi[8], other[8], distance, dot = 0.0, square = 0.0;

    CHECK(attend_theory_permute_rows(X, 3, 2, rows, out) == 0, "refused");
    CHECK(out[0] == 5 && out[1] == 6 && out[2] == 1, "rows");
    CHECK(attend_theory_permute_columns(X, 3, 2, columns, out) == 0, "refused");
    CHECK(out[0] == 2 && out[1] == 1 && out[4] == 6, "columns");
    CHECK(attend_theory_permute_rows(X, 3, 2, bad, out) == -1, "no permutation");

    CHECK(attend_theory_sinusoid_nearest(2, 20000, &distance) == 710, "d = 2");
    CHECK(fabs(distance - 6e-5) < 0.5e-5, "%g", distance);
    CHECK(attend_theory_sinusoid_nearest(4, 200000, &distance) == 84823, "d = 4");
    CHECK(fabs(distance - 1.6e-3) < 0.05e-3, "%g", distance);
    attend_theory_sinusoid(17.0, 8, phi);
    attend_theory_sinusoid(40.0, 8, other);
    for (int i = 0; i < 8; i++) {
        dot += phi[i] * other[i];
        square += (phi[i] - other[i]) * (phi[i] - other[i]);
    }
    NEAR(attend_theory_sinusoid_dot(8, 23.0), dot, 1e-13);
    NEAR(attend_theory_sinusoid_distance(8, 23.0), sqrt(square), 1e-13);
    NEAR(phi[2], sin(1.7), 1e-13);
}

int main(void)
{
    RUN(copy_and_average_numbers);
    RUN(copies_within_their_bounds);
    RUN(float_gaps);
    RUN(half_gaps);
    RUN(weights_from_gaps_and_queries);
    RUN(extraction);
    RUN(extraction_from_the_average);
    RUN(query_for_scores);
    RUN(many_keys);
    RUN(random_scores_of_any_number_and_spread);
    RUN(entropy);
    RUN(entropy_floor_is_the_least);
    RUN(delta_method);
    RUN(delta_method_is_first_order);
    RUN(jacobian_by_differences);
    RUN(order_of_tokens);
    return test_finish();
}
