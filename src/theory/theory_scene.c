/* SPDX-License-Identifier: MIT */
/*
 * Heads on noisy keys (T7, T13, T16, T19), exactly.
 *
 * If only gamma_a and gamma_b are random (no isotropic noise, and no noise in the scores
 * of the other keys), outputs are functions of these two, and means are integrals over
 * them.  Otherwise the scores within a head are independent, and score_law.h has the
 * moments of one head; moments of heads with independent scores add up.
 */
#include <math.h>

#include "attend/theory.h"
#include "theory/quadrature.h"
#include "theory/score_law.h"

enum { KINDS = 3, HEADS_MAX = 64 };

/* Errors of the inner integrals are rounding noise of the outer ones. */
static const struct attendi_theory_accuracy inner = {1e-13, 1e-16},
                                            outer = {1e-12, 1e-15};

static const attend_theory_output no_output = {
    {NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN, NAN};

static double coefficient(attend_theory_query q, int kind)
{
    return kind == ATTEND_THEORY_A ? q.a : kind == ATTEND_THEORY_B ? q.b : q.rest;
}

static int is_query(attend_theory_query q)
{
    return isfinite(q.a) && isfinite(q.b) && isfinite(q.rest);
}

static int is_scene(const attend_theory_scene *s)
{
    int good = s->n >= 2.0 && isfinite(s->n) && s->tau > 0.0 && isfinite(s->tau) &&
               s->alpha >= 0.0 && isfinite(s->alpha) && s->softcap >= 0.0 &&
               isfinite(s->softcap);

    for (int kind = 0; kind < KINDS; kind++)
        good = good && s->sigma2[kind] >= 0.0 && isfinite(s->sigma2[kind]);
    return good;
}

attend_theory_scene attend_theory_scene_exercise(double n, double sigma2, int positive)
{
    return (attend_theory_scene){.n = n,
                                 .tau = 1.0,
                                 .alpha = 0.0,
                                 .sigma2 = {sigma2, 0.0, 0.0},
                                 .softcap = 0.0,
                                 .positive = positive};
}

double attend_theory_score_covariance(const attend_theory_scene *scene,
                                      attend_theory_query q1, attend_theory_query q2,
                                      int key)
{
    double dot;

    if (!is_scene(scene) || !is_query(q1) || !is_query(q2) || key < 0 || key >= KINDS)
        return NAN;
    dot = q1.a * q2.a + q1.b * q2.b + (scene->n - 2.0) * q1.rest * q2.rest;
    return scene->tau * scene->tau *
           (scene->alpha * dot +
            scene->sigma2[key] * coefficient(q1, key) * coefficient(q2, key));
}

double attend_theory_score_correlation(const attend_theory_scene *scene,
                                       attend_theory_query q1, attend_theory_query q2,
                                       int key)
{
    const double v1 = attend_theory_score_covariance(scene, q1, q1, key);
    const double v2 = attend_theory_score_covariance(scene, q2, q2, key);

    if (!(v1 > 0.0 && v2 > 0.0))
        return NAN;
    return attend_theory_score_covariance(scene, q1, q2, key) / (sqrt(v1) * sqrt(v2));
}

double attend_theory_score_gap_variance(const attend_theory_scene *scene,
                                        attend_theory_query query, int x, int y)
{
    return attend_theory_score_covariance(scene, query, query, x) +
           attend_theory_score_covariance(scene, query, query, y);
}

static double capped(const attend_theory_scene *scene, double score)
{
    return scene->softcap > 0.0 ? scene->softcap * tanh(score / scene->softcap) : score;
}

/* The inverse of the cap; +-inf outside its range. */
static double uncapped(const attend_theory_scene *scene, double score)
{
    if (scene->softcap == 0.0)
        return score;
    if (fabs(score) >= scene->softcap)
        return score > 0.0 ? INFINITY : -INFINITY;
    return scene->softcap * atanh(score / scene->softcap);
}

/* ln(e^x + m e^y), m >= 0. */
static double log_add(double x, double m, double y)
{
    const double z = y + log(m), max = fmax(x, z);

    return max == -INFINITY ? max : max + log(exp(x - max) + exp(z - max));
}

/* ---- functions of gamma_a and gamma_b ----------------------------------- */

struct integrand {
    const attend_theory_scene *scene;
    const attend_theory_query *query;
    int heads;
    double gamma_b;
    double reference[KINDS]; /* the coefficients at gamma_a = gamma_b = 1 */
};

/* Whether only gamma_a and gamma_b are random in these heads' scores. */
static int is_sure_but_two(const attend_theory_scene *scene,
                           const attend_theory_query *query, int heads)
{
    for (int h = 0; h < heads; h++)
        if (scene->alpha > 0.0 || (query[h].rest != 0.0 && scene->n > 2.0 &&
                                   scene->sigma2[ATTEND_THEORY_REST] > 0.0))
            return 0;
    return 1;
}

/* Coefficients of v_a, v_b and one other value in the mean of the heads. */
static void coefficients(const struct integrand *w, double gamma_a, double gamma_b,
                         double *mean)
{
    mean[0] = mean[1] = mean[2] = 0.0;
    for (int h = 0; h < w->heads; h++) {
        const attend_theory_query q = w->query[h];
        const double tau = w->scene->tau, others = w->scene->n - 2.0;
        const double a = capped(w->scene, tau * q.a * gamma_a);
        const double b = capped(w->scene, tau * q.b * gamma_b);
        const double r = capped(w->scene, tau * q.rest);
        const double max = fmax(fmax(a, b), others > 0.0 ? r : a);
        const double ea = exp(a - max), eb = exp(b - max), er = exp(r - max);
        const double sum = w->heads * (ea + eb + (others > 0.0 ? others * er : 0.0));

        mean[0] += ea / sum;
        mean[1] += eb / sum;
        mean[2] += others > 0.0 ? er / sum : 0.0;
    }
}

static void at_gamma_a(void *arg, double gamma_a, double *f)
{
    const struct integrand *w = arg;

    coefficients(w, gamma_a, w->gamma_b, f);
    for (int k = 0; k < KINDS; k++) {
        f[k] -= w->reference[k];
        f[KINDS + k] = f[k] * f[k];
    }
}

/*
 * Transitions in gamma: where the capped score slope * gamma equals `score`, and where
 * the cap bends.
 */
static int transitions_at(const attend_theory_scene *scene, double slope, double score,
                          struct attendi_theory_transition *t)
{
    const double centre = uncapped(scene, score) / slope;
    int count = 0;

    if (slope == 0.0)
        return 0;
    if (isfinite(centre))
        t[count++] = (struct attendi_theory_transition){centre, 1.0 / fabs(slope)};
    if (scene->softcap > 0.0)
        t[count++] =
            (struct attendi_theory_transition){0.0, scene->softcap / fabs(slope)};
    return count;
}

static double rest_score(const struct integrand *w, int h)
{
    return capped(w->scene, w->scene->tau * w->query[h].rest);
}

static void at_gamma_b(void *arg, double gamma_b, double *f)
{
    struct integrand w = *(const struct integrand *)arg;
    const attend_theory_scene *s = w.scene;
    struct attendi_theory_transition t[2 * HEADS_MAX];
    int count = 0, matters = 0;

    w.gamma_b = gamma_b;
    for (int h = 0; h < w.heads; h++) {
        const double b = capped(s, s->tau * w.query[h].b * gamma_b);

        matters = matters || w.query[h].a != 0.0;
        count += transitions_at(s, s->tau * w.query[h].a,
                                log_add(b, s->n - 2.0, rest_score(&w, h)), t + count);
    }
    attendi_theory_normal_mean(at_gamma_a, &w, 2 * KINDS, 1.0,
                               matters ? sqrt(s->sigma2[ATTEND_THEORY_A]) : 0.0,
                               s->positive ? 0.0 : -INFINITY, t, count, inner, f);
}

/*
 * Transitions in gamma_b: b equals the others, with gamma_a = 1, with gamma_a = 0, and
 * without a.
 */
static int outer_transitions(const struct integrand *w,
                             struct attendi_theory_transition *t)
{
    const attend_theory_scene *s = w->scene;
    int count = 0;

    for (int h = 0; h < w->heads; h++) {
        const double slope = s->tau * w->query[h].b, rest = rest_score(w, h);
        const double a = capped(s, s->tau * w->query[h].a);

        count += transitions_at(s, slope, log_add(a, s->n - 2.0, rest), t + count);
        count += transitions_at(s, slope, log_add(0.0, s->n - 2.0, rest), t + count);
        count +=
            transitions_at(s, slope, log_add(-INFINITY, s->n - 2.0, rest), t + count);
    }
    return count;
}

static void complete(const attend_theory_scene *scene, attend_theory_output *out)
{
    const double others = scene->n - 2.0;
    const double *m = out->mean, *v = out->variance;

    out->total_variance = v[0] + v[1] + others * v[2];
    out->mse = out->total_variance + (m[0] - 0.5) * (m[0] - 0.5) +
               (m[1] - 0.5) * (m[1] - 0.5) + others * m[2] * m[2];
}

static attend_theory_output integrate_gammas(const attend_theory_scene *scene,
                                             const attend_theory_query *query, int heads)
{
    struct integrand w = {.scene = scene, .query = query, .heads = heads};
    struct attendi_theory_transition t[6 * HEADS_MAX];
    double f[2 * KINDS];
    attend_theory_output out;
    int matters = 0;

    for (int h = 0; h < heads; h++)
        matters = matters || query[h].b != 0.0;
    coefficients(&w, 1.0, 1.0, w.reference);
    attendi_theory_normal_mean(at_gamma_b, &w, 2 * KINDS, 1.0,
                               matters ? sqrt(scene->sigma2[ATTEND_THEORY_B]) : 0.0,
                               -INFINITY, t, outer_transitions(&w, t), outer, f);
    for (int k = 0; k < KINDS; k++) {
        out.mean[k] = w.reference[k] + f[k];
        out.variance[k] = fmax(0.0, f[KINDS + k] - f[k] * f[k]);
    }
    complete(scene, &out);
    return out;
}

/* ---- one head, every score random --------------------------------------- */

/* Applies the condition gamma_a > 0 to the score of key a. */
static void keep_positive(struct attendi_theory_score_kind *kind,
                          const attend_theory_scene *scene, attend_theory_query q)
{
    const double spread2 = scene->alpha + scene->sigma2[ATTEND_THEORY_A];
    const double covariance = scene->tau * q.a * spread2, variance = kind->sd * kind->sd;
    const double left = spread2 - covariance * covariance / variance;
    const double edge = kind->mean - variance / covariance;

    if (!scene->positive || kind->sd == 0.0 || covariance == 0.0)
        return;
    /* E[gamma | s] = 1 + (s - mean) covariance / variance, `left` its variance given s.
     */
    if (left > 1e-14 * spread2) {
        kind->gate_centre = edge;
        kind->gate_slope = covariance / (variance * sqrt(left));
    } else if (covariance > 0.0) {
        kind->lo = edge;
    } else {
        kind->hi = edge;
    }
}

static attend_theory_output one_head(const attend_theory_scene *scene,
                                     attend_theory_query q)
{
    const int kinds = scene->n > 2.0 ? 3 : 2;
    struct attendi_theory_score_kind kind[KINDS];
    attend_theory_output out = {{0.0}, {0.0}, 0.0, 0.0};

    for (int k = 0; k < kinds; k++) {
        kind[k] = attendi_theory_plain_kind(
            k == ATTEND_THEORY_REST ? scene->n - 2.0 : 1.0,
            scene->tau * coefficient(q, k),
            sqrt(attend_theory_score_covariance(scene, q, q, k)));
        kind[k].softcap = scene->softcap;
    }
    keep_positive(&kind[ATTEND_THEORY_A], scene, q);
    if (attendi_theory_score_variances(kind, kinds, out.mean, out.variance) != 0)
        return no_output;
    complete(scene, &out);
    return out;
}

/* ---- heads -------------------------------------------------------------- */

static int are_independent(const attend_theory_scene *scene, attend_theory_query q1,
                           attend_theory_query q2)
{
    for (int k = 0; k < (scene->n > 2.0 ? KINDS : 2); k++)
        if (attend_theory_score_covariance(scene, q1, q2, k) != 0.0)
            return 0;
    /* Two scores that depend on gamma_a are not independent given its sign. */
    return !(scene->positive && q1.a != 0.0 && q2.a != 0.0 &&
             scene->alpha + scene->sigma2[ATTEND_THEORY_A] > 0.0);
}

attend_theory_output attend_theory_head(const attend_theory_scene *scene,
                                        attend_theory_query query)
{
    return attend_theory_heads(scene, &query, 1);
}

attend_theory_output attend_theory_heads(const attend_theory_scene *scene,
                                         const attend_theory_query *query, int heads)
{
    attend_theory_output out = {{0.0}, {0.0}, 0.0, 0.0};

    if (heads < 1 || heads > HEADS_MAX || !is_scene(scene))
        return no_output;
    for (int h = 0; h < heads; h++)
        if (!is_query(query[h]))
            return no_output;
    if (is_sure_but_two(scene, query, heads))
        return integrate_gammas(scene, query, heads);
    if (heads == 1)
        return one_head(scene, query[0]);
    for (int h = 0; h < heads; h++) {
        const attend_theory_output one = attend_theory_head(scene, query[h]);

        for (int g = 0; g < h; g++)
            if (!are_independent(scene, query[g], query[h]))
                return no_output;
        for (int k = 0; k < KINDS; k++) {
            out.mean[k] += one.mean[k] / heads;
            out.variance[k] += one.variance[k] / heads / heads;
        }
    }
    complete(scene, &out);
    return out;
}

double attend_theory_heads_covariance(const attend_theory_scene *scene,
                                      attend_theory_query q1, attend_theory_query q2)
{
    const attend_theory_query both[2] = {q1, q2};

    if (!is_scene(scene) || !is_query(q1) || !is_query(q2))
        return NAN;
    if (are_independent(scene, q1, q2))
        return 0.0;
    /* Var((c1 + c2) / 2) = (Var c1 + Var c2 + 2 Cov) / 4 */
    return 2.0 * attend_theory_heads(scene, both, 2).total_variance -
           0.5 * (attend_theory_head(scene, q1).total_variance +
                  attend_theory_head(scene, q2).total_variance);
}

/* ---- P(p_a <= x) -------------------------------------------------------- */

struct threshold {
    const attend_theory_scene *scene;
    attend_theory_query query;
    double logit;
};

/* P(slope gamma, capped, <= score), gamma ~ N(1, sigma2), > 0 if `positive`. */
static double score_cdf(const attend_theory_scene *scene, double slope, double sigma2,
                        int positive, double score)
{
    const double raw = uncapped(scene, score), sigma = sqrt(sigma2);
    double z, below, kept;

    if (slope == 0.0 || sigma == 0.0)
        return capped(scene, slope) <= score ? 1.0 : 0.0;
    z = (raw / slope - 1.0) / sigma;
    kept = positive ? attend_theory_normal_cdf(1.0 / sigma) : 1.0;
    if (positive)
        z = fmax(z, -1.0 / sigma);
    below = kept - attend_theory_normal_cdf(-z); /* P(gamma below the threshold) */
    return slope > 0.0 ? (positive ? below / kept : attend_theory_normal_cdf(z))
                       : attend_theory_normal_cdf(-z) / kept;
}

static void cdf_at_gamma_b(void *arg, double gamma_b, double *f)
{
    const struct threshold *t = arg;
    const attend_theory_scene *s = t->scene;
    const double b = capped(s, s->tau * t->query.b * gamma_b);
    const double rest = capped(s, s->tau * t->query.rest);

    f[0] = score_cdf(s, s->tau * t->query.a, s->sigma2[ATTEND_THEORY_A], s->positive,
                     t->logit + log_add(b, s->n - 2.0, rest));
}

/* With s_a fixed: e^b must be at least e^(s_a - logit) - (n - 2) e^rest. */
static double cdf_of_b(const struct threshold *t)
{
    const attend_theory_scene *s = t->scene;
    const double a = capped(s, s->tau * t->query.a) - t->logit;
    const double rest = capped(s, s->tau * t->query.rest) + log(s->n - 2.0);

    if (rest >= a)
        return 1.0;
    return 1.0 - score_cdf(s, s->tau * t->query.b, s->sigma2[ATTEND_THEORY_B], 0,
                           a + log1p(-exp(rest - a)));
}

double attend_theory_head_cdf(const attend_theory_scene *scene, attend_theory_query query,
                              double x)
{
    struct threshold t = {scene, query, attend_theory_logit(x)};
    struct attendi_theory_transition transitions[6];
    struct integrand w = {.scene = scene, .query = &query, .heads = 1};
    const int a_sure = query.a == 0.0 || scene->sigma2[ATTEND_THEORY_A] == 0.0;
    const int b_sure = query.b == 0.0 || scene->sigma2[ATTEND_THEORY_B] == 0.0;
    double result;

    if (!is_scene(scene) || !is_query(query) || isnan(t.logit) ||
        !is_sure_but_two(scene, &query, 1))
        return NAN;
    if (isinf(t.logit))
        return x == 1.0 ? 1.0 : 0.0;
    if (a_sure && !b_sure)
        return cdf_of_b(&t);
    attendi_theory_normal_mean(
        cdf_at_gamma_b, &t, 1, 1.0, b_sure ? 0.0 : sqrt(scene->sigma2[ATTEND_THEORY_B]),
        -INFINITY, transitions, outer_transitions(&w, transitions), inner, &result);
    return result;
}
