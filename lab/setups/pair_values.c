/* SPDX-License-Identifier: MIT */
#include "lab/setups/pair_values.h"

#include <math.h>

void lab_pair_observe(const struct lab_outcome *outcome, int count, double *values)
{
    values[LAB_WEIGHT_A] = outcome->weight[0][0];
    values[LAB_LEAK] = outcome->others[0];
    values[LAB_COEFFICIENT_A] = outcome->coefficient[0];
    values[LAB_COEFFICIENT_B] = outcome->coefficient[1];
    values[LAB_ERROR] = lab_pair_error(outcome->coefficient[0], outcome->coefficient[1],
                                       outcome->others_squared);
    for (int x = LAB_PAIR_VALUES; x < count; x++)
        values[x] = outcome->gamma[0] > 0 ? values[x - LAB_PAIR_VALUES] : NAN;
}

double lab_pair_theory(const struct lab_scene *scene, const attend_theory_output *output,
                       int value, int is_variance)
{
    const double *const moment = is_variance ? output->variance : output->mean;

    switch (value % LAB_PAIR_VALUES) {
    case LAB_LEAK:
        return ((double)scene->n - 2) * moment[ATTEND_THEORY_REST];
    case LAB_COEFFICIENT_B:
        return moment[ATTEND_THEORY_B];
    case LAB_ERROR:
        return output->mse;
    default:
        return moment[ATTEND_THEORY_A];
    }
}
