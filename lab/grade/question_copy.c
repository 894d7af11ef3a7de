/* SPDX-License-Identifier: MIT */
/* Question 1a: weights, and when attention copies. */
#include <math.h>
#include <stdlib.h>

#include "lab/grade/probing.h"
#include "lab/measure/random.h"

enum { SCORE_STREAM = 942 };

int lab_random_row(const struct lab_point *point, struct lab_random_row *row)
{
    double *const scores = malloc(2 * (size_t)point->n * sizeof *scores);
    double *const weights = scores + point->n;
    if (!scores)
        return -1;
    *row = (struct lab_random_row){
        .n = (double)point->n, .least = INFINITY, .most = -INFINITY};
    for (int64_t i = 0; i < point->n; i++) {
        float normal;
        lab_random_normals(point->exercise->seed, SCORE_STREAM,
                           4096 * (uint64_t)point->number + (uint64_t)i, &normal, 1);
        scores[i] = point->scale * (double)normal;
        row->exp_sum += exp(scores[i]);
    }
    const int status =
        lab_exercise_softmax_scores(point->exercise, point->n, scores, weights);
    for (int64_t i = 0; i < point->n && !status; i++) {
        row->sum += weights[i];
        row->least = fmin(row->least, weights[i]);
        row->most = fmax(row->most, weights[i]);
    }
    row->score = scores[0];
    row->weight = weights[0];
    free(scores);
    return status;
}

/* No weight is outside of the bounds, and a score that leads by 1000 comes to both. */
static int compare_bounds(struct lab_probe *probe)
{
    const double leading[2] = {1000, 0};
    double low, high, reached[2];
    struct lab_random_row row;
    if (lab_random_row(probe->point, &row) ||
        lab_exercise_softmax_scores(probe->point->exercise, 2, leading, reached))
        return -1;
    if (lab_probe_number(probe, 0, &low) || lab_probe_number(probe, 1, &high))
        return 1;
    if (row.least < low - 1e-12)
        lab_found_number(&probe->found, row.least, low);
    else if (row.most > high + 1e-12)
        lab_found_number(&probe->found, row.most, high);
    else if (fabs(reached[1] - low) > 1e-9)
        lab_found_number(&probe->found, reached[1], low);
    else
        lab_found_number(&probe->found, reached[0], high);
    return 0;
}

/* ---- copies -------------------------------------------------------------------- */

static int compare_copy(struct lab_probe *probe, double a, double b)
{
    const struct lab_pair_query query = {a, b, 0};
    struct lab_pair_weights p;
    if (lab_exercise_pair(probe->point->exercise, probe->point->n, 1, query, &p))
        return -1;
    probe->found = lab_found_weight(p.a, 1, lab_pair_distance(&p, 1, 0));
    return 0;
}

/*
 * Choices: gap; key-length, where |k_j| is the scale and the query, of length 1, stands
 * at 100 degrees to it; angle.
 */
static int compare_condition(struct lab_probe *probe)
{
    const double angle = 100 * 3.14159265358979323846 / 180;
    const struct lab_point *const point = probe->point;
    const int choice = probe->asked->choice[0];
    if (choice == 1)
        return compare_copy(probe, point->scale * cos(angle), sin(angle));
    return compare_copy(probe, choice == 0 ? point->scale : point->exercise->unit, 0);
}

/* Choices: aligned, aligned-and-long; within 0.1 rad of k_j. */
static int compare_needs(struct lab_probe *probe)
{
    const double angle = 0.1;
    const struct lab_point *const point = probe->point;
    const double length = probe->asked->choice[0] ? point->scale : point->exercise->unit;
    return compare_copy(probe, length * cos(angle), length * sin(angle));
}

const struct lab_part lab_parts_copy[LAB_PARTS_COPY] = {
    {LAB_ASKS("1a-i", "weight",
              "weight of key i; Z is the sum of exp(s_j) over all n keys"),
     .hint = "Softmax exponentiates each score and divides by the sum.", .points = 1,
     .texts = 1, .solution = {"exp(s_i)/Z"},
     LAB_JUDGED(.letters = &lab_letters_softmax, .computed = "p_i", .number = 1)},
    {LAB_ASKS("1a-i", "sum", "what all weights add up to"),
     .hint = "Add the numerators: what is the denominator?", .points = 1, .texts = 1,
     .solution = {"1"},
     LAB_JUDGED(.letters = &lab_letters_softmax, .computed = "sum_p", .number = 1)},
    {LAB_ASKS("1a-i", "bounds", "greatest lower and least upper bound of a weight"),
     .hint = "Exponentials are positive. What if one score is far above the others?",
     .points = 1, .texts = 2, .solution = {"0", "1"},
     LAB_JUDGED(.letters = &lab_letters_softmax, .compute = compare_bounds)},
    {LAB_ASKS("1a-ii", "condition", "what puts almost all weight on key j"),
     .hint = "Only differences of scores enter the softmax. Can a long key have a small "
             "score?",
     .points = 2, .texts = 1, .approximate = 1, .choices = "gap|key-length|angle",
     .solution = {"gap"},
     LAB_JUDGED(.letters = &lab_letters_gap, .compute = compare_condition,
                .free = LAB_FREE_SCALE, .far = 1e9, .grows = "the scale",
                .measures = "weight of v_j", .against = "wanted")},
    {LAB_ASKS("1a-ii", "weight", "weight of key j whose score leads each other one by D"),
     .hint = "Divide numerator and denominator by exp(s_j).", .points = 2, .texts = 1,
     .solution = {"1/(1+(n-1)*exp(-D))"},
     LAB_JUDGED(.letters = &lab_letters_gap, .computed = "p_j", .free = LAB_FREE_SCALE,
                .far = 250, .grows = "D", .number = 1)},
    {LAB_ASKS("1a-iii", "output",
              "the output c then; v_o is the mean of the other values"),
     .hint = "c = sum of p_i v_i, and p_j is nearly 1.", .points = 2, .texts = 1,
     .approximate = 1, .solution = {"v_j"},
     LAB_JUDGED(.letters = &lab_letters_copy, .computed = "c", .free = LAB_FREE_SCALE,
                .far = 250, .grows = "D")},
    {LAB_ASKS("1a-iv", "needs", "what a query must be to copy v_j (orthonormal keys)"),
     .hint =
         "At |q| = 1 the scores are at most 1, and exp(1) is not much more than exp(0).",
     .points = 1, .texts = 1, .approximate = 1, .choices = "aligned|aligned-and-long",
     .solution = {"aligned-and-long"},
     LAB_JUDGED(.letters = &lab_letters_gap, .compute = compare_needs,
                .free = LAB_FREE_SCALE, .far = 1e9, .grows = "|q|",
                .measures = "weight of v_j", .against = "wanted")},
};
