/* SPDX-License-Identifier: MIT */
/*
 * The theory of attend/theory.h, the law of one weight: reference values to their printed
 * digits, identities, and what lies outside the domains.  tests/cli/test_theory.py
 * compares with quadrature in many digits.
 */
#include <stdint.h>

#include "theory_checks.h"

TEST(logit_normal_table)
{
    static const struct {
        double T, C, variance, arcsin, deviation, arctan, outside;
    } rows[] = {
        {0.5, 0.7071, 0.013956, 0.014247, 0.095943, 0.096651, 0.0000},
        {1, 1.414, 0.043379, 0.045494, 0.174857, 0.178187, 0.0280},
        {1.414213562373095, 2, 0.068419, 0.072493, 0.225213, 0.230823, 0.1203},
        {2, 2.828, 0.098574, 0.104619, 0.277990, 0.285634, 0.2719},
        {3, 4.243, 0.135162, 0.142253, 0.335914, 0.344391, 0.4639},
        {5, 7.071, 0.174855, 0.181028, 0.394520, 0.401663, 0.6603},
        {7.071067811865475, 10, 0.195321, 0.200249, 0.423701, 0.429349, 0.7560},
        {10, 14.14, 0.210740, 0.214458, 0.445392, 0.449630, 0.8261},
        {20, 28.28, 0.230134, 0.232089, 0.472437, 0.474656, 0.9125},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double T = rows[i].T;
        const attend_theory_law one = attend_theory_law_one_head(2.0, T * sqrt(2.0), 0.5);

        NEAR(one.sd, T, 1e-15);
        PRINTS(attend_theory_weight_variance(one), rows[i].variance, 6);
        PRINTS(attend_theory_weight_variance_arcsin(T), rows[i].arcsin, 6);
        PRINTS(attend_theory_weight_abs_deviation(one), rows[i].deviation, 6);
        PRINTS(attend_theory_weight_abs_deviation_arctan(T), rows[i].arctan, 6);
        PRINTS(attend_theory_weight_outside(one, 0.1), rows[i].outside, 4);
    }
}

TEST(one_and_two_heads_table)
{
    static const double scale[] = {1, 2, 3, 5, 7, 10, 20, 50};
    static const double keys[] = {10, 1000};
    /* E p_a, Var p_a, MSE of one; E w1, Var w1 / 4, P(loses), MSE of two. */
    static const double rows[2][8][7] = {
        {{0.2237, 0.0136, 0.2255, 0.2529, 0.0039, 0.9548, 0.2878},
         {0.3694, 0.0619, 0.1477, 0.4642, 0.0170, 0.5555, 0.1642},
         {0.4512, 0.1027, 0.1733, 0.6155, 0.0242, 0.3526, 0.0873},
         {0.4947, 0.1490, 0.2838, 0.7608, 0.0259, 0.2140, 0.0448},
         {0.4994, 0.1742, 0.3459, 0.8192, 0.0245, 0.1659, 0.0363},
         {0.5000, 0.1953, 0.3905, 0.8575, 0.0228, 0.1349, 0.0310},
         {0.5000, 0.2220, 0.4440, 0.8941, 0.0205, 0.1040, 0.0259},
         {0.5000, 0.2387, 0.4775, 0.9115, 0.0190, 0.0882, 0.0233}},
        {{0.0035, 0.0000, 0.4948, 0.0035, 0.0000, 1.0000, 0.4969},
         {0.0180, 0.0011, 0.4772, 0.0181, 0.0003, 0.9997, 0.4876},
         {0.0780, 0.0206, 0.4317, 0.0790, 0.0052, 0.9672, 0.4576},
         {0.3025, 0.1228, 0.3322, 0.3148, 0.0315, 0.7052, 0.3384},
         {0.4511, 0.1724, 0.2673, 0.5071, 0.0435, 0.4925, 0.1611},
         {0.4976, 0.1953, 0.3744, 0.6642, 0.0433, 0.3309, 0.0720},
         {0.5000, 0.2220, 0.4440, 0.8208, 0.0322, 0.1773, 0.0403},
         {0.5000, 0.2387, 0.4775, 0.8882, 0.0235, 0.1114, 0.0266}}};

    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 8; i++) {
            const double n = keys[k], C = scale[i], *row = rows[k][i];
            const attend_theory_law p = attend_theory_law_one_head(n, C, 0.5);
            const attend_theory_law w = attend_theory_law_two_heads(n, C, 0.5);

            PRINTS(attend_theory_weight_mean(p), row[0], 4);
            PRINTS(attend_theory_weight_variance(p), row[1], 4);
            PRINTS(attend_theory_mse_one(n, C, 0.5, 0), row[2], 4);
            PRINTS(attend_theory_weight_mean(w), row[3], 4);
            PRINTS(attend_theory_weight_variance(w) / 4.0, row[4], 4);
            PRINTS(attend_theory_head_loses(n, C, 0.5, 0), row[5], 4);
            PRINTS(attend_theory_mse_two(n, C, 0.5, 0), row[6], 4);
        }
}

TEST(limits_of_large_scale)
{
    const attend_theory_output one = attend_theory_one_head_limit(0.5, 0);
    const attend_theory_output ten = attend_theory_two_heads_limit(10.0, 0.5, 0);
    const attend_theory_output many = attend_theory_two_heads_limit(1000.0, 0.5, 0);

    PRINTS(one.mean[0], 0.5, 4);
    PRINTS(one.variance[0], 0.25, 4);
    PRINTS(one.mse, 0.5, 4);
    PRINTS(2.0 * ten.mean[0], 0.92135, 5);
    PRINTS(ten.variance[0], 0.0181, 4);
    PRINTS(4.0 * ten.variance[0], 0.0725, 4);
    PRINTS(ten.mse, 0.0218, 4);
    PRINTS(many.mse, 0.0197, 4);
    PRINTS(one.variance[0] / ten.variance[0], 13.8, 1);
    PRINTS(attend_theory_unit_keys_limit(0.5, 0).variance[0], 0.0181, 4);
    CHECK(attend_theory_two_heads_limit(10.0, 0.5, 1).mse == 0.0,
          "two heads given gamma > 0");
    /* n = 1000: Var w1 rises, then falls. */
    PRINTS(attend_theory_weight_variance(attend_theory_law_two_heads(1000, 3, 0.5)),
           0.021, 3);
    PRINTS(attend_theory_weight_variance(attend_theory_law_two_heads(1000, 10, 0.5)),
           0.173, 3);
    PRINTS(attend_theory_weight_variance(attend_theory_law_two_heads(1000, 50, 0.5)),
           0.094, 3);
    /* The way there. */
    PRINTS(attend_theory_weight_variance(attend_theory_law_one_head(10, 50, 0.5)) /
               (attend_theory_weight_variance(attend_theory_law_two_heads(10, 50, 0.5)) /
                4.0),
           12.5, 1);
    for (int positive = 0; positive < 2; positive++) {
        NEAR(attend_theory_mse_one(10, 1e5, 0.5, positive),
             attend_theory_one_head_limit(0.5, positive).mse, 1e-4);
        CHECK(fabs(attend_theory_mse_two(10, 1e5, 0.5, positive) -
                   attend_theory_two_heads_limit(10, 0.5, positive).mse) < 1e-4,
              "positive %d", positive);
    }
}

TEST(windows)
{
    /* Fixed alpha = .01, C = 50: T = 10. */
    PRINTS(attend_theory_weight_variance(attend_theory_law_pair(50, 0.0, 0.01)), 0.211,
           3);
    for (double v = 1e-8; v < 0.25; v = v < 0.02 ? v * 5.0 : v + 0.02) {
        const double T = attend_theory_spread_for_variance(v);
        const double C = attend_theory_window_scale_max(1e-3, 0.02, v);
        const double alpha = attend_theory_window_alpha_max(0.9 * C, 0.02, v);

        NEAR(attend_theory_weight_variance(centred(T)), v, 1e-11);
        NEAR(attend_theory_weight_variance(attend_theory_law_pair(C, 0.02, 1e-3)), v,
             1e-11);
        NEAR(attend_theory_weight_variance(attend_theory_law_pair(0.9 * C, 0.02, alpha)),
             v, 1e-11);
    }
    CHECK(attend_theory_window_scale_max(0, 0, 0.1) == INFINITY, "no noise");
    CHECK(attend_theory_window_alpha_max(100, 0.5, 0.01) == 0.0, "sigma2 alone");
    CHECK(attend_theory_window_scale_limit(0.01) == 5.0, "1 / (2 sqrt alpha)");
    NEAR(attend_theory_window_alpha_limit(10, 0.1), 0.25 / pow(log(50.0), 2), 1e-15);
    NEAR(attend_theory_average_leak(77, 2, attend_theory_window_scale_min(77, 0.03)),
         0.03, 1e-13);
}

/* Integrals over the winner's noise, in 30 digits. */
TEST(fixed_noise_at_large_scale)
{
    static const struct {
        double n, alpha, sigma2, a, b;
    } rows[] = {{10, 1, 0, 0.220477426536841109, 0.220477426536841109},
                {7, 0.37, 0.21, 0.363159225672924567, 0.344542583805273255},
                {1000, 0.3, 0, 0.0313751216523306403, 0.0313751216523306403},
                {2, 0.2, 0.9, 0.5, 0.5},
                {1e5, 2, 0.5, 0.000179384837640518956, 0.0000797768631260657737},
                {5, 50, 0, 0.217621617852445269, 0.217621617852445269}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double a = rows[i].a, b = rows[i].b, n = rows[i].n;
        const double rest = n > 2.0 ? (1.0 - a - b) / (n - 2.0) : 0.0;
        const attend_theory_output out =
            attend_theory_window_limit(n, rows[i].alpha, rows[i].sigma2);

        NEAR(out.mean[0], a, 1e-11);
        NEAR(out.mean[1], b, 1e-11);
        CHECK(fabs(out.mean[2] - rest) < 1e-12, "others %g, not %g", out.mean[2], rest);
        NEAR(out.variance[0], a * (1.0 - a), 1e-11);
        CHECK(fabs(out.total_variance - (1.0 - a * a - b * b - (n - 2.0) * rest * rest)) <
                  1e-10,
              "total %g", out.total_variance);
        NEAR(out.mse, 1.5 - a - b, 1e-11);
    }
    PRINTS(attend_theory_window_limit(10, 1, 0).variance[0], 0.172, 3);
    /* No isotropic noise: the coin of one noisy key, or no coin at all. */
    PRINTS(attend_theory_window_limit(10, 0, 0.5).variance[0], 0.25, 9);
    CHECK(attend_theory_window_limit(10, 0, 0).mse == 0.0, "an average without noise");
    NEAR(attend_theory_window_limit(10, 1e-6, 0).mean[0], 0.5, 1e-12);
    /* The way there, a second long. */
    if (test_draws(0.1)) {
        attend_theory_scene s = attend_theory_scene_exercise(7, 0.21, 0);

        s.alpha = 0.37;
        NEAR(attend_theory_head(&s, (attend_theory_query){1e3, 1e3, 0}).mean[0],
             rows[1].a, 2e-3);
    }
    IS_NAN(attend_theory_window_limit(1, 1, 0).mse);
    IS_NAN(attend_theory_window_limit(10, -1, 0).mse);
    IS_NAN(attend_theory_window_limit(10, 1, NAN).mse);
}

TEST(approximations_keep_their_word)
{
    double arcsin = 0.0, arctan = 0.0;

    for (double T = 0.01; T < 1000.0; T *= 1.05) {
        const double v = attend_theory_weight_variance(centred(T));
        const double e = attend_theory_weight_abs_deviation(centred(T));

        arcsin = fmax(arcsin, fabs(attend_theory_weight_variance_arcsin(T) / v - 1.0));
        arctan =
            fmax(arctan, fabs(attend_theory_weight_abs_deviation_arctan(T) / e - 1.0));
        if (T < 0.05)
            NEAR(attend_theory_weight_variance_small(T), v, T * T);
        if (T > 30.0)
            CHECK(fabs(attend_theory_weight_variance_large(T) - v) < 8.0 / pow(T, 5.0),
                  "T %g: %g", T, attend_theory_weight_variance_large(T) - v);
    }
    CHECK(arcsin <= 0.062 && arcsin > 0.061, "arcsin form off by %g", arcsin);
    CHECK(arctan <= 0.028 && arctan > 0.025, "arctan form off by %g", arctan);
    for (double C = 10.0; C < 200.0; C *= 1.5)
        for (double n = 2.0; n < 1e5; n *= 7.0) {
            const attend_theory_law law = attend_theory_law_two_heads(n, C, 0.5);
            const double off =
                attend_theory_weight_mean_probit(law) - attend_theory_weight_mean(law);

            CHECK(fabs(off) < 0.0017, "C %g n %g: %g", C, n, off);
        }
}

/* E g(Y) by E Phi(l Y): no worse than g by Phi(l y), 0.0177, whatever the law. */
TEST(probit_form_keeps_its_word)
{
    double worst = 0.0, at_one = 0.0;

    for (double mean = -12.0; mean <= 12.0; mean += 0.25)
        for (double sd = 0.0; sd < 30.0; sd = 1.6 * sd + 0.1) {
            const attend_theory_law law = {mean, sd, -INFINITY};

            worst = fmax(worst, fabs(attend_theory_weight_mean_probit(law) -
                                     attend_theory_weight_mean(law)));
        }
    CHECK(worst < 0.01768 && worst > 0.017, "off by %g", worst);
    for (double n = 2.0; n < 1e5; n = ceil(1.3 * n)) {
        const attend_theory_law law = attend_theory_law_two_heads(n, 1.0, 0.5);

        at_one = fmax(at_one, fabs(attend_theory_weight_mean_probit(law) -
                                   attend_theory_weight_mean(law)));
    }
    CHECK(at_one < 0.01536 && at_one > 0.015, "off by %g at C = 1", at_one);
}

TEST(modes)
{
    static const double keys[] = {3, 10, 100, 1000};
    double mode[2];

    for (int k = 0; k < 4; k++)
        for (int side = -1; side <= 1; side += 2) {
            const double C = attend_theory_bimodal_scale(keys[k], 0.5) + side * 1e-2;
            const attend_theory_law law = attend_theory_law_one_head(keys[k], C, 0.5);
            int turns = 0;
            double before = 0.0;

            CHECK(attend_theory_weight_modes(law, mode) == (side > 0 ? 2 : 1),
                  "n %g C %g", keys[k], C);
            /* Counted on the density itself, in the logit so that no mode is squeezed. */
            for (double y = -40.0; y < 40.0; y += 1e-3) {
                const double w = attend_theory_logistic(y);
                const double slope =
                    attend_theory_weight_density(law, attend_theory_logistic(y + 1e-3)) -
                    attend_theory_weight_density(law, w);

                turns += before > 0.0 && slope < 0.0;
                before = slope != 0.0 ? slope : before;
            }
            CHECK(turns == (side > 0 ? 2 : 1), "n %g C %g: %d on a grid", keys[k], C,
                  turns);
        }
    PRINTS(attend_theory_bimodal_scale(3, 0.5), 2.184014, 6);
    PRINTS(attend_theory_bimodal_scale(10, 0.5), 2.508468, 6);
    PRINTS(attend_theory_bimodal_scale(100, 0.5), 3.109290, 6);
    PRINTS(attend_theory_bimodal_scale(1000, 0.5), 3.684747, 6);
    CHECK(attend_theory_bimodal_scale(2, 0.5) == 2.0, "n = 2");
    CHECK(attend_theory_weight_modes(centred(10), mode) == 2, "T = 10");
    NEAR(attend_theory_logit(mode[0]), -100.0, 1e-12);
    CHECK(attend_theory_weight_modes(centred(1.4), mode) == 1 && mode[0] == 0.5,
          "T < sqrt2");
}

TEST(law_is_a_law)
{
    const attend_theory_law laws[] = {
        {0.0, 2.0, -INFINITY}, {-3.0, 5.0, -INFINITY}, {1.0, 3.0, -2.5}, {4.0, 0.3, 4.1}};

    for (int k = 0; k < 4; k++) {
        const attend_theory_law law = laws[k];
        const double low = fmax(-40.0, law.floor), step = (40.0 - low) / 400000.0;
        double mass = 0.0, mean = 0.0;

        /* Midpoints in the logit: dw = w (1 - w) dy. */
        for (int i = 0; i < 400000; i++) {
            const double w = attend_theory_logistic(low + step * (i + 0.5));
            const double density = w < 1.0 ? attend_theory_weight_density(law, w) : 0.0;

            mass += density * w * (1.0 - w) * step;
            mean += w * density * w * (1.0 - w) * step;
        }
        CHECK(fabs(mass - 1.0) < 1e-7, "mass %.9g of law %d", mass, k);
        CHECK(fabs(mean - attend_theory_weight_mean(law)) < 1e-7, "mean %.9g", mean);
        for (double x = 0.05; x < 1.0; x += 0.1)
            if (attend_theory_weight_cdf(law, x) > 1e-9)
                NEAR(attend_theory_weight_quantile(law, attend_theory_weight_cdf(law, x)),
                     x, 1e-9);
        NEAR(attend_theory_weight_outside(law, 0.2),
             attend_theory_weight_cdf(law, 0.2) + 1.0 -
                 attend_theory_weight_cdf(law, 0.8),
             1e-12);
    }
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
    IS_NAN(attend_theory_mse_one(10, -1, 0.5, 0));
    IS_NAN(attend_theory_best_scale_one(10, -1, 0, NULL));
    IS_NAN(attend_theory_crossover_scale(2, 0.5, 0));
    IS_NAN(attend_theory_two_heads_limit(1, 0.5, 0).mse);
    IS_NAN(attend_theory_groups_mse_flips(4, 2, 3, 0.5));
    IS_NAN(attend_theory_collision_probability(1, 2));
    IS_NAN(attend_theory_random_entropy(0, 1));
    IS_NAN(attend_theory_random_sum_squares(10, 2000));
    IS_NAN(attend_theory_entropy_floor(1, 1));
    IS_NAN(attend_theory_sinusoid_dot(3, 1));
    CHECK(attend_theory_sinusoid_nearest(4, 1, NULL) == -1, "T = 1");
    IS_NAN(attend_theory_swap_probability(-1, 1));
    IS_NAN(attend_theory_gap_underflow(ATTEND_BOOL, 0));
}

int main(void)
{
    RUN(logit_normal_table);
    RUN(one_and_two_heads_table);
    RUN(limits_of_large_scale);
    RUN(windows);
    RUN(fixed_noise_at_large_scale);
    RUN(approximations_keep_their_word);
    RUN(probit_form_keeps_its_word);
    RUN(modes);
    RUN(law_is_a_law);
    RUN(outside_their_domains);
    return test_finish();
}
