/* SPDX-License-Identifier: MIT */
#include "lab/setups/scene_laws.h"

#include <math.h>

#include "lab/measure/frames.h"
#include "theory/quadrature.h"
#include "theory/score_law.h"

/* ---- key a points backwards ---------------------------------------------------- */

/* The class of one kind of key in one head, alpha = 0. */
static struct attendi_theory_score_kind lost_class(const attend_theory_scene *law,
                                                   double coefficient, int kind)
{
    const double count = kind == ATTEND_THEORY_REST ? law->n - 2 : 1;
    struct attendi_theory_score_kind class = attendi_theory_plain_kind(
        count, coefficient, fabs(coefficient) * sqrt(law->sigma2[kind]));

    class.softcap = law->softcap;
    if (kind == ATTEND_THEORY_A && coefficient > 0)
        class.hi = 0;
    if (kind == ATTEND_THEORY_A && coefficient < 0)
        class.lo = 0;
    return class;
}

void lab_scene_lost(const struct lab_scene *scene, double *b, double *others)
{
    const attend_theory_scene law = lab_scene_law(scene, 0);
    const int heads = scene->heads;

    *b = *others = 0;
    for (int h = 0; h < heads; h++) {
        const attend_theory_query query = lab_scene_query(scene, h);
        double mean[3], square[3];
        struct attendi_theory_score_kind classes[3] = {
            lost_class(&law, query.a, ATTEND_THEORY_A),
            lost_class(&law, query.b, ATTEND_THEORY_B),
            lost_class(&law, query.rest, ATTEND_THEORY_REST)};
        if (scene->unit_keys && scene->noisy == LAB_NOISY_A)
            classes[0] = attendi_theory_plain_kind(1, -query.a, 0);
        else if (scene->unit_keys)
            classes[0].keys = NAN;
        if (law.alpha > 0 || attendi_theory_score_moments(classes, 3, mean, square))
            mean[1] = mean[2] = NAN;
        *b += mean[1] / heads;
        *others += (law.n - 2) * mean[2] / heads;
    }
}

/* ---- groups of targets --------------------------------------------------------- */

/*
 * A head's weights depend only on the magnitudes of its own targets, so different queries
 * are independent even on the same keys, and copies of a query are equal on the same keys
 * and independent on keys drawn anew.
 */
double lab_scene_groups_mse(const struct lab_scene *scene, double own, int positive)
{
    const double n = (double)scene->n, m = scene->wanted, queries = m / own;
    const double copies = scene->independent_noise ? scene->heads / queries : 1;
    const double scale = scene->query[0][0];
    struct attendi_theory_score_kind classes[2] = {
        attendi_theory_plain_kind(own, scale, scale * sqrt(scene->sigma2)),
        attendi_theory_plain_kind(fmax(1, n - own), 0, 0)};
    double mean[2] = {0}, variance[2] = {0};

    if (positive && scale > 0)
        classes[0].lo = 0;
    if (attendi_theory_score_variances(classes, n > own ? 2 : 1, mean, variance))
        return NAN;
    const double target = (mean[0] + (queries - 1) * mean[1]) / queries - 1 / m;
    const double var_target =
        (variance[0] + (queries - 1) * variance[1]) / (queries * queries * copies);
    return m * (target * target + var_target) +
           (n - m) * (mean[1] * mean[1] + variance[1] / (queries * copies));
}

/* ---- one head ------------------------------------------------------------------ */

/*
 * p_a > 0.9 when its score leads ln(e^C + n - 2) by ln 9, p_b > 0.9 when e^(score of a) <
 * e^C / 9 - (n - 2), which may be negative.
 */
double lab_one_head_copies(double n, double scale, double sigma2)
{
    const double sd = fabs(scale) * sqrt(sigma2), others = (n - 2) * exp(-scale);
    const double least = scale + log1p(others) + log(9);
    const double margin = 1.0 / 9 - others;

    return 1 - lab_normal_below(least, scale, sd) +
           (margin > 0 ? lab_normal_below(scale + log(margin), scale, sd) : 0);
}

/* |c - (v_a + v_b)/2| where the score of a leads the others' sum by y. */
struct distance {
    double keys, leak; /* leak: (n - 2) e^-C, the others beside b */
};

static void distance_at(void *arg, double y, double *f)
{
    const struct distance *const d = arg;
    const double half = 0.5 * tanh(0.5 * y); /* p_a - 1/2 */
    const double b = -(half + 0.5 * d->leak) / (1 + d->leak);
    const double others = attend_theory_logistic(-y) * d->leak / (1 + d->leak);

    f[0] = sqrt(half * half + b * b + (d->keys > 0 ? others * others / d->keys : 0));
}

double lab_one_head_distance(double n, double scale, attend_theory_law law)
{
    const struct attendi_theory_accuracy accuracy = {1e-13, 0};
    struct distance distance = {n - 2, (n - 2) * exp(-scale)};
    /* Hardly any leak makes a kink at y = 0, rounded on the scale of the leak. */
    const struct attendi_theory_transition turns[] = {{0, 1},
                                                      {0, fmin(1, distance.leak)}};
    double error;

    attendi_theory_normal_mean(distance_at, &distance, 1, law.mean, law.sd, -INFINITY,
                               turns, 2, accuracy, &error);
    return error;
}

/* The density of w rises where -(L - mean) / T^2 + tanh(L / 2) > 0, L = logit w. */
double lab_logit_normal_modes(double mean, double variance)
{
    enum { STEPS = 20000 };
    const double reach = fabs(mean) + variance + 1;
    int count = 0, rising = 1;

    for (int x = 1; x <= STEPS; x++) {
        const double L = reach * (2.0 * x / STEPS - 1);
        const int rises = tanh(L / 2) - (L - mean) / variance > 0;
        count += rising && !rises;
        rising = rises;
    }
    return variance > 0 ? (double)count : NAN;
}
