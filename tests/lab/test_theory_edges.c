/* SPDX-License-Identifier: MIT */
/*
 * The theory of attend/theory.h at the ends of its domains: one key or two, no noise, no
 * scale, huge scales and sizes.  An existing limit is returned; NaN is returned where
 * there is none, and outside of the domain.
 */
#include <math.h>
#include <stdint.h>

#include "attend/theory.h"
#include "support/test.h"

#define IS_NAN(x) CHECK(isnan(x), "got %g", (double)(x))
#define IS(x, value)                                                                     \
    CHECK((x) == (value), "%.17g instead of %g", (double)(x), (double)(value))
/* Within 1e-12 of a number that is not small. */
#define ABOUT(x, value)                                                                  \
    CHECK(fabs((x) - (value)) <= 1e-12, "%.17g instead of %.17g", (double)(x),           \
          (double)(value))

#define NEAR(x, y, relative)                                                             \
    CHECK(fabs((x) - (y)) <= (relative)*fmax(fabs(x), fabs(y)),                          \
          "%.17g and %.17g differ by %.3g", (double)(x), (double)(y),                    \
          fabs((double)(x) - (double)(y)))

static const double inf = INFINITY;

/* The law of logistic(Y), Y ~ N(0, T^2). */
static attend_theory_law centred(double T) { return (attend_theory_law){0.0, T, -inf}; }

TEST(special_functions_at_their_ends)
{
    IS(attend_theory_logistic(inf), 1.0);
    IS(attend_theory_logistic(-inf), 0.0);
    IS(attend_theory_logistic(-800.0), 0.0);
    IS(attend_theory_logit(0.0), -inf);
    IS(attend_theory_logit(1.0), inf);
    IS(attend_theory_normal_cdf(-inf), 0.0);
    IS(attend_theory_normal_cdf(inf), 1.0);
    IS(attend_theory_normal_quantile(0.0), -inf);
    IS(attend_theory_normal_quantile(1.0), inf);
    ABOUT(attend_theory_normal_quantile(0.5), 0.0);
    IS(attend_theory_beta(2.0, 3.0, 0.0), 0.0);
    IS(attend_theory_beta(2.0, 3.0, 1.0), 1.0);
    IS_NAN(attend_theory_logistic(NAN));
    IS_NAN(attend_theory_normal_cdf(NAN));
    IS_NAN(attend_theory_normal_quantile(NAN));
    IS_NAN(attend_theory_beta(1.0, 1.0, NAN));
}

TEST(copies_at_their_ends)
{
    const double none[2] = {inf, inf}, beaten[3] = {1.0, -inf, 2.0};

    /* One key has all the weight, whatever its gap. */
    IS(attend_theory_copy_weight(1, 3.0), 1.0);
    IS(attend_theory_copy_weight(1, inf), 1.0);
    IS(attend_theory_copy_weight(1, -inf), 1.0);
    IS(attend_theory_copy_weight(5, inf), 1.0);
    IS(attend_theory_copy_weight(5, -inf), 0.0);
    IS(attend_theory_copy_weight(inf, 7.0), 0.0);
    IS(attend_theory_copy_weight_gaps(NULL, 0), 1.0);
    IS(attend_theory_copy_weight_gaps(none, 2), 1.0);
    IS(attend_theory_copy_weight_gaps(beaten, 3), 0.0);
    IS(attend_theory_copy_weight_lower_bound(2, 1.5),
       attend_theory_copy_weight_upper_bound(2, 1.5));
    IS(attend_theory_copy_gap_needed(1, 0.1), -inf);
    IS(attend_theory_copy_error(2, inf), 0.0);
    IS(attend_theory_copy_error_bound(1.0, 5.0), 0.0);
    IS_NAN(attend_theory_copy_weight_gaps((const double[]){1.0, NAN}, 2));
    IS_NAN(attend_theory_copy_weight(NAN, 1.0));
    IS_NAN(attend_theory_copy_weight(2, NAN));
}

TEST(averages_at_their_ends)
{
    const double uniform[3] = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
    double q[3];

    IS(attend_theory_average_weight(1, 1, 0.0), 1.0);
    IS(attend_theory_average_weight(4, 4, -inf), 0.25);
    IS(attend_theory_average_leak(4, 4, -inf), 0.0);
    IS(attend_theory_average_leak(4, 4, 2.0), 0.0);
    IS(attend_theory_average_weight(4, 2, inf), 0.5);
    IS(attend_theory_average_leak(4, 2, inf), 0.0);
    IS(attend_theory_average_weight(4, 2, -inf), 0.0);
    IS(attend_theory_average_leak(4, 2, -inf), 1.0);
    ABOUT(attend_theory_average_leak(1e12, 2, 0.0), 1.0 - 2e-12);
    IS(attend_theory_average_scale_needed(2, 2, 0.1, 1.0), -inf);
    IS(attend_theory_weighted_scale_needed(3, 3, 0.1, 0.5), -inf);
    IS(attend_theory_weighted_leak(3, 3, -inf), 0.0);
    IS(attend_theory_extract_error(2, -5.0), 0.0);
    CHECK(attend_theory_weighted_query(uniform, 3, 0.0, 1.0, q) == 0 && q[0] == q[2],
          "equal weights");
    CHECK(attend_theory_weighted_query(uniform, 0, 0.0, 1.0, q) == -1, "no keys");
    CHECK(attend_theory_weighted_query((const double[]){1.0, 0.0}, 2, 1.0, 1.0, q) == -1,
          "a weight of 0 has no score");
    CHECK(attend_theory_weighted_query(uniform, 2, 0.0, 1.0, q) == -1, "sum below 1");
    IS_NAN(attend_theory_average_scale_needed(2, 2, 0.1, inf));
}

/* No noise, no scale, and values beyond the range of double. */
TEST(laws_at_their_ends)
{
    const attend_theory_law sure = attend_theory_law_one_head(10, 3.0, 0.0);
    const attend_theory_law still = attend_theory_law_one_head(10, 0.0, 0.5);
    const double weight = exp(3.0) / (2.0 * exp(3.0) + 8.0);
    double mode[2];

    ABOUT(attend_theory_weight_mean(sure), weight);
    IS(attend_theory_weight_variance(sure), 0.0);
    ABOUT(attend_theory_weight_abs_deviation(sure), 0.5 - weight);
    IS(attend_theory_weight_cdf(sure, 0.5), 1.0);
    IS(attend_theory_weight_cdf(sure, 0.1), 0.0);
    ABOUT(attend_theory_weight_quantile(sure, 0.3), weight);
    IS(attend_theory_weight_outside(sure, 0.1), 0.0);
    ABOUT(attend_theory_weight_mean(still), 0.1);
    IS(attend_theory_weight_variance(still), 0.0);
    IS(attend_theory_law_given_positive(sure, 0.0).floor, -inf);
    IS(attend_theory_law_given_positive(still, 0.5).floor, -inf);
    for (double T = 1e6; T < 1e301; T *= 1e49) {
        ABOUT(attend_theory_weight_mean(centred(T)), 0.5);
        CHECK(fabs(attend_theory_weight_variance(centred(T)) - 0.25) < 1.0 / T + 1e-12,
              "variance at T %g: %.17g", T, attend_theory_weight_variance(centred(T)));
        CHECK(fabs(attend_theory_weight_abs_deviation(centred(T)) - 0.5) <
                  1.0 / T + 1e-12,
              "deviation at T %g", T);
        CHECK(fabs(attend_theory_weight_outside(centred(T), 0.1) - 1.0) < 5.0 / T + 1e-12,
              "outside at T %g", T);
        CHECK(attend_theory_weight_modes(centred(T), mode) == 2 && mode[0] == 0.0 &&
                  mode[1] == 1.0,
              "modes %g %g at T %g", mode[0], mode[1], T);
    }
    for (double T = 1e-6; T > 1e-301; T *= 1e-49) {
        NEAR(attend_theory_weight_variance(centred(T)), T * T / 16.0, 1e-10);
        CHECK(attend_theory_weight_modes(centred(T), mode) == 1 && mode[0] == 0.5,
              "mode %g at T %g", mode[0], T);
    }
    IS(attend_theory_weight_mean((attend_theory_law){1e300, 1.0, -inf}), 1.0);
    IS(attend_theory_weight_mean((attend_theory_law){-1e300, 1.0, -inf}), 0.0);
    /* Far in a tail, the variance is small and not negative; the last in 25 digits. */
    CHECK(attend_theory_weight_variance((attend_theory_law){
              0.6345694087009943, 66.25950268548854, 21.02101240984158}) >= 0.0,
          "a negative variance");
    NEAR(attend_theory_weight_variance((attend_theory_law){
             -0.4440699597126718, 4.30674660444845, 11.471914668045926}),
         9.388932536877135e-12, 1e-10);
    /* The two modes coincide at the switch. */
    CHECK(attend_theory_weight_modes(centred(sqrt(2.0)), mode) == 1, "T^2 = 2");
    IS(attend_theory_law_one_head(5, -2.0, 0.25).sd, 1.0);
    IS(attend_theory_law_two_heads(5, -2.0, 0.25).sd, 1.0);
    IS(attend_theory_law_pair(-2.0, 0.25, 0.0).sd, 1.0);
    IS(attend_theory_weight_cdf(centred(2), 0.0), 0.0);
    IS(attend_theory_weight_cdf(centred(2), 1.0), 1.0);
    IS(attend_theory_weight_quantile(centred(2), 0.0), 0.0);
    IS(attend_theory_weight_quantile(centred(2), 1.0), 1.0);
    IS(attend_theory_weight_density(centred(2), 0.0), 0.0);
    IS(attend_theory_weight_density(centred(2), 1.0), 0.0);
    ABOUT(attend_theory_weight_outside(centred(2), 0.5), 1.0);
    /* C = inf is not in the domain; the limits are separate functions. */
    IS_NAN(attend_theory_law_one_head(10, inf, 0.5).sd);
    IS_NAN(attend_theory_law_two_heads(inf, 1.0, 0.5).mean);
    IS_NAN(attend_theory_law_pair(1.0, 0.5, inf).sd);
}

TEST(approximations_at_their_ends)
{
    IS(attend_theory_weight_variance_small(0.0), 0.0);
    IS(attend_theory_weight_variance_arcsin(0.0), 0.0);
    IS(attend_theory_weight_abs_deviation_arctan(0.0), 0.0);
    ABOUT(attend_theory_weight_variance_arcsin(inf), 0.25);
    ABOUT(attend_theory_weight_variance_arcsin(1e200), 0.25);
    ABOUT(attend_theory_weight_abs_deviation_arctan(inf), 0.5);
    IS(attend_theory_weight_variance_large(inf), 0.25);
    ABOUT(attend_theory_weight_mean_probit((attend_theory_law){0.0, 0.0, -inf}), 0.5);
    /* Phi(1): mean and spread of one size, however large. */
    ABOUT(attend_theory_weight_mean_probit((attend_theory_law){1e200, 1e200, -inf}),
          0.841344746068542949);
    IS(attend_theory_spread_for_variance(0.0), 0.0);
    NEAR(attend_theory_spread_for_variance(1e-200), 4e-100, 1e-10);
    IS(attend_theory_swap_probability(0.0, 1.0), 0.5);
    IS(attend_theory_swap_probability(inf, 1.0), 0.0);
    IS(attend_theory_swap_probability(1.0, inf), 0.5);
    IS(attend_theory_swap_probability(1.0, 0.0), 0.0);
    IS_NAN(attend_theory_swap_probability(0.0, 0.0));
    IS(attend_theory_bimodal_scale(2, 8.0), 0.5);
    IS_NAN(attend_theory_bimodal_scale(1.5, 0.5));
    IS_NAN(attend_theory_bimodal_scale(inf, 0.5));
    IS_NAN(attend_theory_bimodal_scale(10, -0.5));
    NEAR(attend_theory_bimodal_scale(10, 1e-300), sqrt(2e300), 1e-10);
}

TEST(windows_at_their_ends)
{
    IS(attend_theory_window_scale_min(2, 0.1), -inf);
    IS(attend_theory_window_scale_max(0, 0, 0.1), inf);
    IS(attend_theory_window_scale_limit(0.0), inf);
    IS(attend_theory_window_alpha_max(inf, 0.0, 0.1), 0.0);
    IS(attend_theory_window_alpha_max(1e-200, 0.0, 0.1), inf);
    IS(attend_theory_window_alpha_max(100, 0.5, 0.01), 0.0);
    IS(attend_theory_window_alpha_limit(inf, 0.1), 0.0);
    ABOUT(attend_theory_window_limit(2, 1.0, 3.0).mean[0], 0.5);
    IS(attend_theory_window_limit(2, 1.0, 3.0).mean[2], 0.0);
    /* All noise: any of the n keys. */
    CHECK(fabs(attend_theory_window_limit(8, 1e12, 0.0).mean[0] - 0.125) < 1e-6, "1/n");
    /* No isotropic noise: the distribution of one noisy key, or none. */
    IS(attend_theory_window_limit(10, 0, 0.5).variance[0], 0.25);
    IS(attend_theory_window_limit(10, 0, 0).mse, 0.0);
    ABOUT(attend_theory_window_limit(10, 1e-6, 0).mean[0], 0.5);
    IS_NAN(attend_theory_window_limit(1, 1, 0).mse);
    IS_NAN(attend_theory_window_limit(10, -1, 0).mse);
    IS_NAN(attend_theory_window_limit(10, 1, NAN).mse);
    IS_NAN(attend_theory_window_limit(8, inf, 0.0).mse);
    CHECK(attend_theory_window_limit(1e15, 0.5, 0.5).mean[0] < 1e-6 &&
              attend_theory_window_limit(1e15, 0.5, 0.5).mean[0] > 0.0,
          "many keys");
}

/* Far out, a head equals its limit; without noise, the softmax of constant scores. */
TEST(heads_at_their_ends)
{
    for (int positive = 0; positive < 2; positive++) {
        const double one = attend_theory_one_head_limit(0.5, positive).mse;
        const double two = attend_theory_two_heads_limit(10, 0.5, positive).mse;

        for (double C = 1e15; C < 1e301; C *= 1e47) {
            ABOUT(attend_theory_mse_one(10, C, 0.5, positive), one);
            CHECK(fabs(attend_theory_mse_two(10, C, 0.5, positive) - two) < 1e-11,
                  "C %g: %g, not %g", C, attend_theory_mse_two(10, C, 0.5, positive),
                  two);
        }
        IS(attend_theory_mse_one(10, inf, 0.5, positive), one);
        IS(attend_theory_mse_one(2, inf, 0.5, positive), one);
        IS(attend_theory_mse_two(10, inf, 0.5, positive), two);
        ABOUT(attend_theory_head_loses(10, inf, 0.5, positive),
              positive ? 0.0 : attend_theory_normal_cdf(-sqrt(2.0)));
        ABOUT(attend_theory_head_loses(10, 1e300, 0.5, positive),
              positive ? 0.0 : attend_theory_normal_cdf(-sqrt(2.0)));
        /* No scale: the mean of all values, 1/2 - 1/10 from the target. */
        ABOUT(attend_theory_mse_one(10, 0.0, 0.5, positive), 0.4);
        ABOUT(attend_theory_mse_two(10, 0.0, 0.5, positive), 0.4);
        /* Two keys, no noise: the average itself. */
        IS(attend_theory_mse_one(2, 7.0, 0.0, positive), 0.0);
    }
    IS(attend_theory_head_loses(10, 1e-300, 0.5, 0), 1.0);
    /* Constant scores: head 1 fails while e^C < n - 1. */
    IS(attend_theory_head_loses(10, 2.0, 0.0, 0), 1.0);
    IS(attend_theory_head_loses(10, 2.5, 0.0, 0), 0.0);
    IS_NAN(attend_theory_mse_one(10, -1.0, 0.5, 0));
    IS_NAN(attend_theory_mse_one(1, inf, 0.5, 0));
    IS_NAN(attend_theory_mse_two(1, inf, 0.5, 0));
    /* On the way to the limit at fixed noise; a second long. */
    if (test_draws(0.1)) {
        attend_theory_scene s = attend_theory_scene_exercise(7, 0.21, 0);

        s.alpha = 0.37;
        NEAR(attend_theory_head(&s, (attend_theory_query){1e3, 1e3, 0}).mean[0],
             attend_theory_window_limit(7, 0.37, 0.21).mean[0], 2e-3);
    }
}

/* Weights sum to 1 among any number of noisy keys: 10, and others drawn. */
TEST(weights_of_many_noisy_keys)
{
    for (double n = 10.0; n < 1e16; n *= 1e3)
        for (double C = 0.5; C < 1500.0; C *= 5.0) {
            attend_theory_scene s = attend_theory_scene_exercise(n, 0.5, 0);
            attend_theory_output out;

            if (n > 10.0 && !test_draws(0.3))
                continue;
            s.alpha = 0.3;
            out = attend_theory_head(&s, (attend_theory_query){C, C, 0.0});
            ABOUT(out.mean[0] + out.mean[1] + (n - 2.0) * out.mean[2], 1.0);
            s.alpha = 0.0;
            s.sigma2[ATTEND_THEORY_REST] = 0.2;
            out = attend_theory_head(&s, (attend_theory_query){C, 0.0, C / 3.0});
            ABOUT(out.mean[0] + out.mean[1] + (n - 2.0) * out.mean[2], 1.0);
        }
}

/* Without noise every limit is the average. */
TEST(limits_without_noise)
{
    double mse = NAN;

    for (int positive = 0; positive < 2; positive++) {
        const attend_theory_output limits[3] = {
            attend_theory_one_head_limit(0.0, positive),
            attend_theory_two_heads_limit(10, 0.0, positive),
            attend_theory_unit_keys_limit(0.0, positive)};

        for (int k = 0; k < 3; k++) {
            IS(limits[k].mean[0], 0.5);
            IS(limits[k].mean[1], 0.5);
            IS(limits[k].mean[2], 0.0);
            IS(limits[k].total_variance, 0.0);
            IS(limits[k].mse, 0.0);
        }
        IS(attend_theory_best_scale_one(10, 0.0, positive, &mse), inf);
        IS(mse, 0.0);
        IS(attend_theory_best_scale_two(10, 0.0, positive, &mse), inf);
        IS(mse, 0.0);
        IS(attend_theory_best_scale_one(2, 0.0, positive, &mse), 0.0);
        IS(mse, 0.0);
        /* No sign changes and little noise: the error falls below the smallest number. */
        IS(attend_theory_best_scale_two(1000, 0.001, 1, &mse), inf);
        IS(mse, 0.0);
        /* Each head leaks more than the pair: two heads are never better. */
        IS_NAN(attend_theory_crossover_scale(10, 0.0, positive));
    }
    ABOUT(attend_theory_one_head_limit(inf, 1).mean[0], 1.0);
    ABOUT(attend_theory_two_heads_limit(10, inf, 0).mean[0], 0.25);
    IS(attend_theory_two_heads_limit(2, 0.5, 0).mean[2], 0.0);
    ABOUT(attend_theory_best_scale_one(2, 0.5, 0, &mse), 0.0);
    ABOUT(mse, 0.0);
}

TEST(scenes_at_their_ends)
{
    attend_theory_scene s = attend_theory_scene_exercise(2, 0.5, 0);
    const attend_theory_query nothing = {0, 0, 0}, both = {3, 3, 0}, quiet = {0, 0, -4};
    attend_theory_output out = attend_theory_head(&s, nothing);

    /* q = 0: uniform weights, whatever the noise. */
    for (double alpha = 0.0; alpha <= 1.0; alpha += 0.5)
        for (double n = 2.0; n < 1e13; n *= 1e6) {
            s = attend_theory_scene_exercise(n, 0.5, 1);
            s.alpha = alpha;
            out = attend_theory_head(&s, nothing);
            NEAR(out.mean[0], 1.0 / n, 1e-11);
            CHECK(fabs(out.total_variance) < 1e-12, "%g", out.total_variance);
            IS(attend_theory_score_covariance(&s, nothing, both, ATTEND_THEORY_A) >= 0.0,
               1);
            IS_NAN(attend_theory_score_correlation(&s, nothing, both, ATTEND_THEORY_A));
        }
    /* n = 2: no others to suppress. */
    s = attend_theory_scene_exercise(2, 0.5, 0);
    out = attend_theory_head(&s, quiet);
    IS(out.mean[0], 0.5);
    IS(out.mean[2], 0.0);
    IS(attend_theory_suppression_norm(2, 10), 0.0);
    out = attend_theory_unit_keys(&s, both);
    IS(out.mean[2], 0.0);
    IS(attend_theory_head_cdf(&s, both, 0.0), 0.0);
    IS(attend_theory_head_cdf(&s, both, 1.0), 1.0);
    ABOUT(attend_theory_head_cdf(&s, both, 0.5), 0.5);
    /* No noise at all. */
    s = attend_theory_scene_exercise(5, 0.0, 0);
    out = attend_theory_head(&s, both);
    ABOUT(out.mean[0], attend_theory_average_weight(5, 2, 3));
    IS(out.total_variance, 0.0);
    IS(attend_theory_heads_covariance(&s, both, both), 0.0);
    /* Independent heads; and heads that share noise in all keys. */
    s.alpha = 0.1;
    IS(attend_theory_heads_covariance(&s, (attend_theory_query){4, 0, 0},
                                      (attend_theory_query){0, 4, 0}),
       0.0);
    IS_NAN(attend_theory_heads(&s, (attend_theory_query[2]){both, both}, 2).mse);
    s.alpha = 0.0;
    IS(attend_theory_head_cdf(&s, both, 0.4), 0.0);
    IS(attend_theory_head_cdf(&s, both, 0.5), 1.0);
    /* A cap near 0 makes scores equal. */
    s.softcap = 1e-12;
    out = attend_theory_head(&s, both);
    CHECK(fabs(out.mean[0] - 0.2) < 1e-11, "%g", out.mean[0]);
}

TEST(groups_at_their_ends)
{
    IS(attend_theory_groups_mse_positive(1, 1), 0.0);
    IS(attend_theory_groups_mse_positive(12, 12), 0.0);
    IS_NAN(attend_theory_groups_mse_positive(12, 5));
    ABOUT(attend_theory_groups_mse_flips(3, 1, 3, 0.5), 1.0 - 1.0 / 3.0);
    /* One target of two keys: v_b in its place with probability 1 - p. */
    ABOUT(attend_theory_groups_mse_flips(1, 1, 2, 0.5),
          2.0 * attend_theory_normal_cdf(-sqrt(2.0)));
    IS(attend_theory_groups_mse_flips(1, 1, 1, 0.5), 0.0);
    IS(attend_theory_best_heads(1, 2, 0.5), 1.0);
    IS_NAN(attend_theory_best_heads(0, 2, 0.5));
    IS_NAN(attend_theory_best_heads(2.5, 9, 0.5));
    IS_NAN(attend_theory_groups_mse_flips(4, 2, 9, 0.0));
    IS_NAN(attend_theory_groups_mse_first_order(0, 9, 0.5));
    IS_NAN(attend_theory_groups_mse_first_order(4, 3, 0.5));
}

TEST(many_keys_at_their_ends)
{
    IS(attend_theory_dispersion_bound(1, 0.0), 1.0);
    IS(attend_theory_dispersion_bound(4, 0.0), 0.25);
    IS(attend_theory_dispersion_bound(4, inf), 1.0);
    ABOUT(attend_theory_dispersion_range_needed(4, 0.25), 0.0);
    IS(attend_theory_dispersion_range_needed(4, 1.0), inf);
    IS(attend_theory_collision_probability(64, 1), 0.0);
    IS(attend_theory_collision_size(64, 1), inf);
    IS(attend_theory_collision_probability(64, inf), 0.5);
    IS(attend_theory_collision_probability(1e6, 2), 0.0);
    IS(attend_theory_random_entropy(1, 3.0), 0.0);
    ABOUT(attend_theory_random_sum_squares(1, 3.0), 1.0);
    ABOUT(attend_theory_random_sum_squares(7, 0.0), 1.0 / 7.0);
    IS(attend_theory_random_entropy_limit(1, 0.0), 0.0);
    IS(attend_theory_random_entropy_limit(1024, 3.8), 0.0);
    IS(attend_theory_random_keys_limit(1, 0.0), 1.0);
    IS_NAN(attend_theory_random_keys_limit(1024, 2));
    IS(attend_theory_random_sum_squares_limit(1, 2.0), 1.0);
    IS(attend_theory_random_sum_squares_limit(9, inf), 1.0);
    IS(attend_theory_freezing_spread(1), 0.0);
    IS(attend_theory_entropy_floor(2, inf), 0.0);
    IS(attend_theory_entropy_floor(1e10, 1e300), 0.0);
    IS(attend_theory_entropy_floor(1, 0.0), 0.0);
    IS_NAN(attend_theory_entropy_floor(1, 1.0));
    NEAR(attend_theory_entropy_floor(1e300, 1.0), 300.0 * log(10.0), 1e-12);
}

TEST(rows_at_their_ends)
{
    const double one[1] = {1.0}, v[2] = {3.0, -1.0}, score[2] = {5.0, 5.0};
    const double variance[1] = {0.3}, far[2] = {0.0, 1e308};
    double covariance[4], bias[2], jacobian[2];

    /* One key: c is constant. */
    CHECK(attend_theory_delta_covariance(one, v, variance, 1, 2, covariance) == 0,
          "refused");
    CHECK(attend_theory_delta_bias(one, v, variance, 1, 2, bias) == 0, "refused");
    CHECK(attend_theory_delta_jacobian(one, v, v, 1, 2, 1, 1.0, jacobian) == 0,
          "refused");
    for (int i = 0; i < 2; i++)
        CHECK(covariance[i] == 0.0 && bias[i] == 0.0 && jacobian[i] == 0.0, "one key");
    IS(attend_theory_value_noise(one, 1, 0.3), 0.3);
    IS(attend_theory_value_noise(one, 1, 0.0), 0.0);
    IS(attend_theory_entropy(score, 1, 2.0), 0.0);
    IS(attend_theory_entropy(score, 2, 0.0), log(2.0));
    IS(attend_theory_entropy(score, 2, 1e300), log(2.0));
    IS(attend_theory_entropy(far, 2, 1.0), 0.0);
    IS(attend_theory_entropy_slope(score, 2, 3.0), 0.0);
    IS(attend_theory_entropy_slope(far, 2, 1.0), 0.0);
    IS_NAN(attend_theory_entropy(far, 2, 10.0));
    IS_NAN(attend_theory_entropy(score, 0, 1.0));
    for (int n = 0, dv = 1; n < 2; n++, dv--) {
        CHECK(attend_theory_delta_covariance(one, v, variance, n, dv, covariance) == -1,
              "%d keys, %d entries", n, dv);
        CHECK(attend_theory_delta_bias(one, v, variance, n, dv, bias) == -1,
              "%d keys, %d entries", n, dv);
        CHECK(attend_theory_delta_jacobian(one, v, v, n, dv, 1, 1.0, jacobian) == -1,
              "%d keys, %d entries", n, dv);
    }
    CHECK(attend_theory_delta_jacobian(one, v, v, 1, 1, 0, 1.0, jacobian) == -1,
          "no dimension");
}

TEST(matrices_and_orders_at_their_ends)
{
    const double A[1] = {-2.0}, zero[2] = {0.0, 0.0}, score[3] = {3.0, -1.0, 0.25};
    const double plane[6] = {1, 2, 0, 1, -1, 0.5}, line[6] = {1, -3, 0, 0, -1, 3};
    const double within[3] = {3, 1, -0.5}; /* the sum of the two columns of plane */
    const int64_t same[1] = {0}, twice[3] = {0, 0, 1}, beyond[3] = {0, 1, 3};
    double M[9], q[2], out[6], phi[2];

    CHECK(attend_theory_extract_projector(A, 1, 1, M) == 0 && M[0] == 1.0, "d = m = 1");
    CHECK(attend_theory_extract_projector(zero, 2, 1, M) == -1, "no direction");
    CHECK(attend_theory_extract_projector(A, 0, 1, M) == -1, "no rows");
    CHECK(attend_theory_extract_oblique(A, 1, A, 1, 1, M) == -1, "no room for both");
    CHECK(attend_theory_extract_oblique(within, 1, plane, 0, 3, M) == -1, "no B");
    CHECK(attend_theory_extract_projector(line, 3, 2, M) == -1, "dependent columns");
    CHECK(attend_theory_extract_oblique(within, 1, line, 2, 3, M) == -1, "of B too");
    CHECK(attend_theory_extract_oblique(within, 1, plane, 2, 3, M) == -1,
          "spans that meet");
    CHECK(attend_theory_query_for_scores(plane, 3, 2, score, q) == -1,
          "3 keys in the plane");
    CHECK(attend_theory_query_for_scores(A, 1, 1, score, q) == 0 && q[0] == -1.5,
          "1 x 1");
    CHECK(attend_theory_permute_rows(A, 1, 1, same, out) == 0 && out[0] == -2.0, "one");
    CHECK(attend_theory_permute_rows(A, 0, 1, same, out) == -1, "none");
    CHECK(attend_theory_permute_rows(plane, 3, 2, twice, out) == -1, "no permutation");
    CHECK(attend_theory_permute_rows(plane, 3, 2, beyond, out) == -1, "no row");
    CHECK(attend_theory_sinusoid(0.0, 2, phi) == 0 && phi[0] == 0.0 && phi[1] == 1.0,
          "0");
    CHECK(attend_theory_sinusoid(inf, 2, phi) == -1, "nowhere");
    IS(attend_theory_sinusoid_dot(8, 0.0), 4.0);
    IS(attend_theory_sinusoid_distance(8, 0.0), 0.0);
    CHECK(attend_theory_sinusoid_nearest(2, 2, NULL) == 1, "the only other one");
    IS_NAN(attend_theory_sinusoid_dot(0, 1.0));
}

TEST(outside_their_domains)
{
    const attend_theory_law bad = {0.0, -1.0, -INFINITY};
    attend_theory_scene s = attend_theory_scene_exercise(1, 0.5, 0);
    const attend_theory_query q = {1, 1, 0};
    double mode[2];

    IS_NAN(attend_theory_logit(1.5));
    IS_NAN(attend_theory_normal_quantile(-0.1));
    IS_NAN(attend_theory_beta(0, 1, 0.5));
    IS_NAN(attend_theory_copy_weight(0, 1));
    IS_NAN(attend_theory_copy_gap_needed(10, 1));
    IS_NAN(attend_theory_average_leak(10, 11, 1));
    IS_NAN(attend_theory_average_scale_needed(10, 2, 0.1, 0));
    IS_NAN(attend_theory_weighted_scale_needed(10, 2, 0.1, 0));
    IS_NAN(attend_theory_weighted_scale_needed(10, 2, 1.0, 1));
    IS_NAN(attend_theory_law_one_head(1, 1, 0.5).mean);
    IS_NAN(attend_theory_law_one_head(2, 1, -0.5).mean);
    IS_NAN(attend_theory_weight_mean(bad));
    IS_NAN(attend_theory_weight_variance(attend_theory_law_one_head(NAN, 1, 1)));
    IS_NAN(attend_theory_weight_density(centred(0), 0.5));
    CHECK(attend_theory_weight_modes(centred(0), mode) == -1, "sd 0");
    IS_NAN(attend_theory_weight_outside(centred(1), 0.6));
    IS_NAN(attend_theory_spread_for_variance(0.25));
    IS_NAN(attend_theory_head(&s, q).mse);
    s.n = 10;
    IS_NAN(attend_theory_head(&s, (attend_theory_query){NAN, 0, 0}).mse);
    IS_NAN(attend_theory_heads(&s, &q, 0).mse);
    s.tau = 0;
    IS_NAN(attend_theory_head_cdf(&s, q, 0.5));
    IS_NAN(attend_theory_best_scale_one(10, -1, 0, NULL));
    IS_NAN(attend_theory_crossover_scale(2, 0.5, 0));
    IS_NAN(attend_theory_two_heads_limit(1, 0.5, 0).mse);
    IS_NAN(attend_theory_groups_mse_flips(4, 2, 3, 0.5));
    IS_NAN(attend_theory_collision_probability(1, 2));
    IS_NAN(attend_theory_random_entropy(0, 1));
    IS_NAN(attend_theory_random_sum_squares(10, 2000));
    IS_NAN(attend_theory_sinusoid_dot(3, 1));
    CHECK(attend_theory_sinusoid_nearest(4, 1, NULL) == -1, "T = 1");
    IS_NAN(attend_theory_swap_probability(-1, 1));
    IS_NAN(attend_theory_gap_underflow(ATTEND_BOOL, 0));
}
