/* SPDX-License-Identifier: MIT */
/*
 * Trials per second of the laboratory's Monte Carlo: n = 64 keys of d = 64 columns, all
 * drawn (alpha > 0), one query C (mu_a + mu_b), noise in the length of k_a.
 *
 *     monte_carlo [TRIALS [THREADS]]     (200000, 2)
 *
 * Prints one line: seconds, trials per second, variance of the weight of v_a and its
 * standard error.  monte_carlo.py sets NumPy beside it.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lab/setups/scene.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    (void)arg;
    values[0] = outcome->weight[0][0];
}

int main(int argc, char **argv)
{
    const struct lab_scene scene = {.n = 64,
                                    .d = 64,
                                    .wanted = 2,
                                    .heads = 1,
                                    .sigma2 = 0.5,
                                    .alpha = 1e-4,
                                    .tau = 1,
                                    .noisy = LAB_NOISY_A,
                                    .query = {{10, 10}},
                                    .plain = 1};
    const int64_t trials = argc > 1 ? atoll(argv[1]) : 200000;
    struct lab_session session = {.seed = 1, .threads = argc > 2 ? atoi(argv[2]) : 2};
    struct lab_moments moments;

    if (trials < 1) {
        fprintf(stderr, "monte_carlo: trials must be 1 or more\n");
        return 2;
    }
    const double started = now();
    if (session.threads < 1 || lab_scene_measure(&session, &scene, 0, trials, observe,
                                                 NULL, 1, &moments, NULL)) {
        fprintf(stderr, "monte_carlo: %s\n", session.error);
        return 1;
    }
    const double seconds = now() - started;
    printf("%.6f %.6g %.9g %.3g\n", seconds, (double)trials / seconds,
           lab_moments_variance(&moments), lab_moments_variance_se(&moments));
    return 0;
}
