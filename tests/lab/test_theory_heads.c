/* SPDX-License-Identifier: MIT */
/* The theory of attend/theory.h: heads on noisy keys, by other ways to the same numbers.
 */
#include <stdint.h>

#include "theory_checks.h"

TEST(best_scales_and_crossovers)
{
    static const double keys[] = {10, 100, 1000, 1e4};
    static const double wide[] = {2.17, 3.82, 5.20, 5.95};
    static const double narrow[] = {3.95, 5.96, 7.99, 10.08};
    double mse;

    PRINTS(attend_theory_best_scale_one(10, 0.5, 0, &mse), 2.14, 2);
    PRINTS(mse, 0.147, 3);
    PRINTS(attend_theory_best_scale_one(1000, 0.5, 0, &mse), 6.86, 2);
    PRINTS(mse, 0.267, 3);
    CHECK(attend_theory_best_scale_two(10, 0.5, 0, &mse) == INFINITY, "C large is best");
    PRINTS(mse, 0.0218, 4);
    /* Three keys: the least is not the limit, 0.0295. */
    PRINTS(attend_theory_best_scale_two(3, 0.5, 0, &mse), 14.41, 2);
    PRINTS(mse, 0.0287, 4);
    for (int k = 0; k < 4; k++) {
        const double C = attend_theory_crossover_scale(keys[k], 0.5, 0);

        PRINTS(C, wide[k], 2);
        PRINTS(attend_theory_crossover_scale(keys[k], 0.005, 0), narrow[k], 2);
        CHECK(attend_theory_mse_two(keys[k], C + 1e-6, 0.5, 0) <
                      attend_theory_mse_one(keys[k], C + 1e-6, 0.5, 0) &&
                  attend_theory_mse_two(keys[k], C - 1e-6, 0.5, 0) >
                      attend_theory_mse_one(keys[k], C - 1e-6, 0.5, 0),
              "n %g: no change of sign at %g", keys[k], C);
    }
    PRINTS(attend_theory_mse_two(1e4, 10, 0.005, 0), 0.0566, 4);
    PRINTS(attend_theory_mse_one(1e4, 10, 0.005, 0), 0.0523, 4);
    PRINTS(attend_theory_head_loses(1000, 10, 0.5, 0), 0.33, 2);
    PRINTS(attend_theory_weight_outside(attend_theory_law_one_head(2, 10, 0.5), 0.1),
           0.756, 3);
}

/* The general function against the special ones, and against itself. */
TEST(heads_agree_with_laws)
{
    for (int positive = 0; positive < 2; positive++)
        for (double n = 2.0; n < 1e5; n *= 6.0)
            for (double C = 0.3; C < 80.0; C *= 3.0) {
                const attend_theory_scene s =
                    attend_theory_scene_exercise(n, 0.5, positive);
                const attend_theory_query both = {C, C, 0.0}, a = {C, 0.0, 0.0};
                attend_theory_law one = attend_theory_law_one_head(n, C, 0.5);
                attend_theory_law two = attend_theory_law_two_heads(n, C, 0.5);
                attend_theory_output out = attend_theory_head(&s, both);

                if (positive) {
                    one = attend_theory_law_given_positive(one, 0.5);
                    two = attend_theory_law_given_positive(two, 0.5);
                }
                NEAR(out.mean[0], attend_theory_weight_mean(one), 1e-11);
                NEAR(out.variance[0], attend_theory_weight_variance(one), 1e-10);
                out = attend_theory_head(&s, a);
                NEAR(out.mean[0], attend_theory_weight_mean(two), 1e-11);
                NEAR(out.variance[0], attend_theory_weight_variance(two), 1e-10);
                /* Cov c = Var(w1) (v_a - mean)(v_a - mean)^T */
                NEAR(out.total_variance, out.variance[0] * (1.0 + 1.0 / (n - 1.0)),
                     1e-10);
                CHECK(fabs(attend_theory_head_cdf(&s, a, 0.5) -
                           attend_theory_weight_cdf(two, 0.5)) < 1e-14 &&
                          fabs(attend_theory_head_cdf(&s, both, 0.3) -
                               attend_theory_weight_cdf(one, 0.3)) < 1e-14,
                      "n %g C %g", n, C);
            }
}

TEST(many_random_scores_agree_with_one)
{
    /* Vanishing noise on all keys goes another way to the same numbers. */
    const attend_theory_query q[2] = {{6.0, 5.0, 0.5}, {2.0, 0.0, -1.0}};
    const attend_theory_query means[2] = {{4.0, 0.0, 0.0}, {0.0, 4.0, 0.0}};

    for (int positive = 0; positive < 2; positive++)
        for (int k = 0; k < 2; k++) {
            attend_theory_scene s = {.n = 30,
                                     .tau = 0.8,
                                     .sigma2 = {0.5, 0.3, 0.0},
                                     .softcap = k ? 3.0 : 0.0,
                                     .positive = positive};
            const attend_theory_output exact = attend_theory_head(&s, q[k]);
            attend_theory_output other;

            s.alpha = 1e-18;
            other = attend_theory_head(&s, q[k]);
            for (int i = 0; i < 3; i++)
                CHECK(fabs(exact.mean[i] - other.mean[i]) < 1e-11 &&
                          fabs(exact.variance[i] - other.variance[i]) < 1e-11,
                      "query %d kind %d: %.15g %.15g", k, i, exact.mean[i],
                      other.mean[i]);
            CHECK(fabs(exact.mse - other.mse) < 1e-10, "%g %g", exact.mse, other.mse);
        }
    {
        attend_theory_scene s = attend_theory_scene_exercise(10, 0.5, 0);
        const attend_theory_output sure = attend_theory_heads(&s, means, 2);
        attend_theory_output noisy;

        s.alpha = 1e-18;
        noisy = attend_theory_heads(&s, means, 2);
        CHECK(fabs(sure.mse - noisy.mse) < 1e-10, "%g %g", sure.mse, noisy.mse);
        CHECK(attend_theory_heads_covariance(&s, means[0], means[1]) == 0.0,
              "independent");
    }
}

TEST(plus_minus_queries)
{
    const attend_theory_query q[2] = {{50, 50, 0}, {50, -50, 0}};
    attend_theory_scene s = attend_theory_scene_exercise(10, 0.0, 0);
    attend_theory_output out = attend_theory_heads(&s, q, 2);

    PRINTS(out.mean[0], 0.75, 9);
    PRINTS(out.mean[1], 0.25, 9);
    s = attend_theory_scene_exercise(10, 0.5, 0);
    s.alpha = 0.1;
    NEAR(attend_theory_score_correlation(&s, q[0], q[1], ATTEND_THEORY_A), 0.5 / 0.7,
         1e-14);
    CHECK(attend_theory_score_covariance(&s, q[0], q[1], ATTEND_THEORY_B) == 0.0, "b");
    NEAR(attend_theory_score_gap_variance(&s, q[0], ATTEND_THEORY_A, ATTEND_THEORY_B),
         2500.0 * 0.9, 1e-14);
    IS_NAN(attend_theory_heads(&s, q, 2).mse);
    s.alpha = 0.0;
    CHECK(attend_theory_heads_covariance(&s, q[0], q[1]) > 0.01, "one noise, two heads");
    out = attend_theory_heads(&s, q, 2);
    NEAR(4.0 * out.total_variance,
         attend_theory_head(&s, q[0]).total_variance +
             attend_theory_head(&s, q[1]).total_variance +
             2.0 * attend_theory_heads_covariance(&s, q[0], q[1]),
         1e-12);
    /* The same query twice is one head. */
    {
        const attend_theory_query twice[2] = {q[0], q[0]};

        NEAR(attend_theory_heads(&s, twice, 2).mse, attend_theory_head(&s, q[0]).mse,
             1e-12);
    }
}

TEST(remedies)
{
    const attend_theory_query both = {50, 50, 0}, heads[2] = {{10, 0, 0}, {0, 10, 0}};
    const attend_theory_query quiet = attend_theory_suppression_query(10);
    attend_theory_scene s = attend_theory_scene_exercise(10, 0.5, 0);
    const attend_theory_output unit = attend_theory_unit_keys(&s, both);
    const attend_theory_output limit = attend_theory_unit_keys_limit(0.5, 0);

    NEAR(unit.variance[0], limit.variance[0], 1e-12);
    NEAR(unit.mse, limit.mse, 1e-12);
    s.positive = 1;
    CHECK(attend_theory_unit_keys(&s, both).total_variance == 0.0, "no sign is left");
    NEAR(attend_theory_unit_keys(&s, both).mean[0], 0.5, 1e-12);
    CHECK(attend_theory_unit_keys_limit(0.5, 1).mse == 0.0, "nor in the limit");
    s.positive = 0;
    PRINTS(attend_theory_heads(&s, heads, 2).variance[0], 0.023, 3);
    PRINTS(attend_theory_head(&s, (attend_theory_query){10, 10, 0}).variance[0], 0.195,
           3);
    CHECK(attend_theory_head(&s, quiet).total_variance == 0.0, "no noise reaches it");
    NEAR(1.0 - 2.0 * attend_theory_head(&s, quiet).mean[0],
         attend_theory_average_leak(10, 2, 10), 1e-10);
    s.alpha = 1e-4;
    PRINTS(attend_theory_head(&s, quiet).variance[0], 0.009, 3);
    s.alpha = 0.0;
    s.sigma2[ATTEND_THEORY_B] = s.sigma2[ATTEND_THEORY_REST] = 0.5;
    PRINTS(attend_theory_head(&s, quiet).mse, 0.50, 2);
    PRINTS(attend_theory_heads(&s, heads, 2).mse, 0.061, 3);
    NEAR(attend_theory_suppression_norm(10, 10), 10.0 * sqrt(8.0), 1e-15);
}

/* All sign patterns of three other keys, one by one. */
TEST(unit_keys_the_long_way)
{
    const attend_theory_scene s = {.n = 5, .tau = 1, .sigma2 = {0.5, 2.0, 1.0}};
    const attend_theory_query q = {2.0, 1.0, -1.5};
    const double coefficient[5] = {2.0, 1.0, -1.5, -1.5, -1.5};
    const double sigma2[5] = {0.5, 2.0, 1.0, 1.0, 1.0};
    const attend_theory_output out = attend_theory_unit_keys(&s, q);
    double mean[3] = {0}, second[3] = {0}, mse = 0.0;

    for (int signs = 0; signs < 32; signs++) {
        double probability = 1.0, e[5], sum = 0.0;

        for (int i = 0; i < 5; i++) {
            const double up = attend_theory_normal_cdf(1.0 / sqrt(sigma2[i]));

            probability *= signs >> i & 1 ? up : 1.0 - up;
            e[i] = exp(signs >> i & 1 ? coefficient[i] : -coefficient[i]);
            sum += e[i];
        }
        for (int i = 0; i < 5; i++) {
            const double p = e[i] / sum, target = i < 2 ? 0.5 : 0.0;

            if (i < 3) {
                mean[i] += probability * p;
                second[i] += probability * p * p;
            }
            mse += probability * (p - target) * (p - target);
        }
    }
    for (int i = 0; i < 3; i++) {
        NEAR(out.mean[i], mean[i], 1e-13);
        NEAR(out.variance[i], second[i] - mean[i] * mean[i], 1e-12);
    }
    NEAR(out.mse, mse, 1e-13);
}

TEST(groups_of_heads)
{
    const double p = attend_theory_normal_cdf(1.0 / sqrt(0.5));

    CHECK(attend_theory_groups_mse_positive(12, 12) == 0.0, "one head each");
    NEAR(attend_theory_groups_mse_positive(12, 3), 1.0 / 3.0 - 1.0 / 12.0, 1e-15);
    IS_NAN(attend_theory_groups_mse_positive(12, 5));
    /* m = h = 2, n = 3, over the four patterns of flips. */
    {
        const double other[2][3] = {{0, 0.5, 0.5}, {0.5, 0, 0.5}};
        double mse = 0.0;

        for (int flips = 0; flips < 4; flips++) {
            double off = 0.0;

            for (int i = 0; i < 3; i++) {
                const double first = flips & 1 ? other[0][i] : i == 0;
                const double second = flips & 2 ? other[1][i] : i == 1;
                const double gap = 0.5 * (first + second) - (i < 2 ? 0.5 : 0.0);

                off += gap * gap;
            }
            mse += (flips & 1 ? 1.0 - p : p) * (flips & 2 ? 1.0 - p : p) * off;
        }
        NEAR(attend_theory_groups_mse_flips(2, 2, 3, 0.5), mse, 1e-13);
    }
    NEAR(attend_theory_groups_mse_first_order(8, 1000, 0.5),
         (1 - p) / 8 * (1 + 1.0 / 999), 1e-13);
    NEAR(attend_theory_groups_mse_flips(8, 8, 1e6, 0.5),
         attend_theory_groups_mse_first_order(8, 1e6, 0.5), 1e-4);
    for (double m = 1; m < 30; m += 1)
        CHECK(attend_theory_best_heads(m, 100, 0.5) == m, "m %g", m);
}

/* Isotropic noise so small that E p^2 and (E p)^2 agree to all digits. */
TEST(small_variances_do_not_cancel)
{
    for (double C = 1e-7; C < 30.0; C *= 4.0) {
        const attend_theory_scene pair = {.n = 2.0, .tau = 1.0, .alpha = 0.01};
        const attend_theory_scene many = {.n = 10.0, .tau = 1.0, .alpha = 0.01};
        const attend_theory_query both = {C, C, 0.0};
        const double p = 0.1, score = 2.0 * 0.01 * C * C;

        NEAR(attend_theory_head(&pair, both).variance[0],
             attend_theory_weight_variance(attend_theory_law_pair(C, 0.0, 0.01)), 1e-10);
        /* sum over the scores of (dp/ds)^2 Var s, where C is small */
        if (C < 1e-5)
            NEAR(attend_theory_head(&many, both).variance[0],
                 score * p * p * ((1.0 - p) * (1.0 - p) + 9.0 * p * p), 1e-4);
    }
    PRINTS(1e15 * attend_theory_head(
                      &(attend_theory_scene){.n = 2.0, .tau = 1.0, .alpha = 0.01},
                      (attend_theory_query){1e-6, 1e-6, 0.0})
                      .variance[0],
           2.5, 9);
}

int main(void)
{
    RUN(best_scales_and_crossovers);
    RUN(heads_agree_with_laws);
    RUN(many_random_scores_agree_with_one);
    RUN(plus_minus_queries);
    RUN(remedies);
    RUN(unit_keys_the_long_way);
    RUN(groups_of_heads);
    RUN(small_variances_do_not_cancel);
    return test_finish();
}
