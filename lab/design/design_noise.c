/* SPDX-License-Identifier: MIT */
/*
 * The effect of noise on one head.  The scores of different keys are independent
 * Gaussians, so every number here is one integral.
 */
#include <math.h>
#include <stdlib.h>

#include "attend/theory.h"
#include "lab/design/design_head.h"
#include "lab/measure/frames.h"
#include "theory/score_law.h"

/* Above so many keys, scores that differ by less than SCORE_GRAIN count as equal. */
enum { EXACT_KEYS_MAX = 256 };
#define SCORE_GRAIN 1e-3
/* Steps of the integrals over a score, and how far they reach. */
enum { STEPS = 1 << 14 };
#define Z_MAX 8.5

int lab_design_is_noisy(const struct lab_design_request *request, int64_t i)
{
    const int item = lab_design_item_of(request, i);

    return request->noisy == LAB_DESIGN_A       ? item == 0
           : request->noisy == LAB_DESIGN_ITEMS ? item >= 0
                                                : 1;
}

double lab_design_score_sd(const struct lab_design_request *request,
                           const struct lab_design_head *head, int64_t i)
{
    const double length = request->tau * lab_norm(head->query, request->d);
    const double magnitude = lab_design_is_noisy(request, i)
                                 ? request->sigma2 * head->score[i] * head->score[i]
                                 : 0;

    return sqrt(request->alpha * length * length + magnitude);
}

/* ---- moments of the weights ---------------------------------------------- */

struct law {
    double mean, sd;
    int64_t key;
};

static int by_law(const void *x, const void *y)
{
    const struct law *const a = x, *const b = y;

    if (a->mean < b->mean || a->mean > b->mean)
        return a->mean < b->mean ? -1 : 1;
    if (a->sd < b->sd || a->sd > b->sd)
        return a->sd < b->sd ? -1 : 1;
    return 0;
}

static double grain(double x, int64_t n)
{
    return n > EXACT_KEYS_MAX ? SCORE_GRAIN * round(x / SCORE_GRAIN) : x;
}

int lab_design_moments(const struct lab_design_request *request,
                       const struct lab_design_head *head, double *mean, double *variance)
{
    const size_t n = (size_t)request->n;
    struct law *const laws = calloc(n, sizeof *laws);
    struct attendi_theory_score_kind *const classes = calloc(n, sizeof *classes);
    double *const moments = calloc(2 * n, sizeof *moments);
    int failed = !laws || !classes || !moments, count = 0;

    for (size_t i = 0; i < n && !failed; i++) {
        const int64_t key = (int64_t)i;
        laws[i] =
            (struct law){grain(head->score[i], request->n),
                         grain(lab_design_score_sd(request, head, key), request->n), key};
    }
    if (!failed)
        qsort(laws, n, sizeof *laws, by_law);
    for (size_t i = 0; i < n && !failed; i++) {
        if (i && !by_law(&laws[i - 1], &laws[i]))
            classes[count - 1].keys += 1;
        else
            classes[count++] = attendi_theory_plain_kind(1, laws[i].mean, laws[i].sd);
    }
    failed =
        failed || attendi_theory_score_variances(classes, count, moments, moments + n);
    for (size_t i = 0, c = 0; i < n && !failed; i++) {
        if (i && by_law(&laws[i - 1], &laws[i]))
            c++;
        mean[laws[i].key] = moments[c];
        variance[laws[i].key] = moments[n + c];
    }
    free(laws);
    free(classes);
    free(moments);
    return failed ? -1 : 0;
}

/* ---- flips ---------------------------------------------------------------- */

/* sd[i] of every key's score, to be freed; NULL when out of memory. */
static double *deviations(const struct lab_design_request *r,
                          const struct lab_design_head *head)
{
    double *const sd = calloc((size_t)r->n, sizeof *sd);

    for (int64_t i = 0; sd && i < r->n; i++)
        sd[i] = lab_design_score_sd(r, head, i);
    return sd;
}

/* P(every own score > t) and P(every other score < t). */
static void both_sides(const struct lab_design_request *r,
                       const struct lab_design_head *head, const double *sd, double t,
                       double *own, double *others)
{
    *own = *others = 1;
    for (int64_t i = 0; i < r->n && (*own > 0 || *others > 0); i++) {
        const double p = lab_normal_below(t, head->score[i], sd[i]);
        if (lab_design_is_own(r, head, i))
            *own *= 1 - p;
        else
            *others *= p;
    }
}

/*
 * 1 - integral of P(every own score > t) dP(every other score < t), the middle of each
 * step against the rise over it.
 */
double lab_design_flip(const struct lab_design_request *r,
                       const struct lab_design_head *head)
{
    double *const sd = deviations(r, head);
    double lo = INFINITY, hi = -INFINITY, own, others, before, kept = 0;

    for (int64_t i = 0; sd && i < r->n; i++)
        if (!lab_design_is_own(r, head, i)) {
            lo = fmin(lo, head->score[i] - Z_MAX * sd[i]);
            hi = fmax(hi, head->score[i] + Z_MAX * sd[i]);
        }
    if (!sd || !(lo <= hi)) {
        free(sd);
        return sd ? 0 : NAN;
    }
    const int64_t steps = STEPS / (1 + r->n / 64) + 64;
    const double step = (hi - lo) / (double)steps;
    both_sides(r, head, sd, lo, &own, &before);
    if (!(hi - lo > 1e-12 * fmax(1, fabs(hi)))) {
        both_sides(r, head, sd, hi, &kept, &others);
        free(sd);
        return 1 - kept;
    }
    kept = before * own;
    for (int64_t x = 1; x <= steps; x++) {
        double middle, unused;
        both_sides(r, head, sd, lo + ((double)x - 0.5) * step, &middle, &unused);
        both_sides(r, head, sd, lo + (double)x * step, &own, &others);
        kept += middle * (others - before);
        before = others;
    }
    free(sd);
    return 1 - kept;
}

/*
 * With deviations x_i of zero mean, P(range <= r) is the sum over i of the integral of
 * P(x_i = t is the least, and the others lie within r above it).
 */
double lab_design_lopsided(const struct lab_design_request *r,
                           const struct lab_design_head *head)
{
    const double range = log(LAB_DESIGN_DRIFT);
    double sd[LAB_DESIGN_ITEMS_MAX], widest = 0, kept = 0;

    for (int x = 0; x < head->count; x++) {
        sd[x] = lab_design_score_sd(r, head, r->items[head->first + x]);
        widest = fmax(widest, sd[x]);
    }
    if (head->count < 2 || !(widest > 0))
        return 0;
    const double lo = -Z_MAX * widest, step = 2 * Z_MAX * widest / STEPS;
    for (int x = 0; x < head->count; x++)
        for (int64_t t = 0; t < STEPS; t++) {
            const double from = lo + (double)t * step, middle = from + step / 2;
            double p = lab_normal_below(from + step, 0, sd[x]) -
                       lab_normal_below(from, 0, sd[x]);
            for (int y = 0; y < head->count && p > 0; y++)
                if (y != x)
                    p *= lab_normal_below(middle + range, 0, sd[y]) -
                         lab_normal_below(middle, 0, sd[y]);
            kept += p;
        }
    return 1 - kept;
}
