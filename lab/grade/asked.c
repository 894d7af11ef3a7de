/* SPDX-License-Identifier: MIT */
/* Letters, and what the texts of an answer are worth in them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/grade/probing.h"

static int check_shape(const struct lab_value *value, int rows, int columns,
                       struct lab_finding *found)
{
    if ((!rows || value->rows == rows) && (!columns || value->columns == columns))
        return 0;
    snprintf(found->why, sizeof found->why, "%d x %d where %d x %d is asked", value->rows,
             value->columns, rows, columns);
    return -1;
}

int lab_asked_value(const struct lab_asked *asked, int k,
                    const struct lab_letters *letters, int rows, int columns,
                    struct lab_value *value, struct lab_finding *found)
{
    struct lab_expression_error error;

    found->error = INFINITY;
    found->computed = found->claimed = NAN;
    if (!lab_expression_evaluate(&asked->formula[k], letters->letter, letters->count,
                                 value, &error))
        return check_shape(value, rows, columns, found);
    snprintf(found->why, sizeof found->why, "column %d: %s", error.column, error.text);
    return -1;
}

/* Text `k`, a column of `rows` in the letters of a topic. */
static int value_at(const struct lab_asked *asked, int k, const struct lab_topic *topic,
                    const struct lab_point *point, int rows, struct lab_value *value,
                    struct lab_finding *found)
{
    struct lab_letters letters;
    found->error = INFINITY;
    return lab_letters_bind(&letters, topic, point) ||
                   lab_asked_value(asked, k, &letters, rows, 1, value, found)
               ? -1
               : 0;
}

int lab_asked_number(const struct lab_asked *asked, int k, const struct lab_point *point,
                     double *number, struct lab_finding *found)
{
    struct lab_value value;
    if (value_at(asked, k, asked->part->probing->letters, point, 1, &value, found))
        return -1;
    *number = value.x[0];
    return 0;
}

int lab_asked_query(const struct lab_asked *asked, int k, const struct lab_point *point,
                    struct lab_pair_query *query, struct lab_finding *found)
{
    struct lab_value value;
    if (value_at(asked, k, asked->part->probing->letters, point, 3, &value, found))
        return -1;
    if (!isfinite(value.x[0] + value.x[1] + value.x[2])) {
        snprintf(found->why, sizeof found->why, "the query is not finite");
        return -1;
    }
    *query = (struct lab_pair_query){value.x[0], value.x[1], value.x[2]};
    return 0;
}

/* ---- probes ----------------------------------------------------------------------- */

int lab_probe_number(struct lab_probe *probe, int k, double *number)
{
    return lab_asked_number(probe->asked, k, probe->point, number, &probe->found);
}

int lab_probe_output(struct lab_probe *probe, int k, double *x, double *y)
{
    struct lab_value value;
    if (value_at(probe->asked, k, &lab_letters_noise, probe->point, 4, &value,
                 &probe->found))
        return -1;
    *x = value.x[0];
    *y = value.x[1];
    return 0;
}

int lab_own_query(struct lab_probe *probe, struct lab_pair_query *query)
{
    return lab_asked_query(probe->asked->own, 0, probe->point, query, &probe->found) != 0;
}

int lab_probe_pair(const struct lab_probe *probe, double gamma,
                   struct lab_pair_query query, struct lab_pair_weights *weights)
{
    return lab_exercise_pair(probe->point->exercise, probe->point->n, gamma, query,
                             weights);
}

static void compare_numbers(struct lab_probe *probe)
{
    probe->found.error = -1;
    for (int k = 0; k < probe->asked->part->texts; k++) {
        struct lab_finding here = {0};
        double claimed;
        if (!lab_asked_number(probe->asked, k, probe->point, &claimed, &here)) {
            lab_found_number(&here, probe->to.number[k], claimed);
            here.error = hypot(here.error, probe->to.spread);
        }
        lab_found_worse(&probe->found, &here);
    }
}

static void compare_outputs(struct lab_probe *probe)
{
    double off = 0, x, y;
    for (int k = 0; k < probe->asked->part->texts; k++) {
        if (lab_probe_output(probe, k, &x, &y))
            return;
        off = fmax(off, lab_pair_distance(&probe->to.weights[k], x, y));
    }
    lab_found_distance(&probe->found, off);
}

static const struct lab_letter *find_letter(const struct lab_letters *letters, int count,
                                            const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(letters->letter[i].name, name))
            return &letters->letter[i];
    return NULL;
}

static int compare_letter(struct lab_probe *probe)
{
    const struct lab_probing *const probing = probe->asked->part->probing;
    struct lab_letters letters;
    struct lab_value claimed;
    if (lab_letters_bind(&letters, probing->letters, probe->point))
        return -1;
    const struct lab_letter *const to =
        find_letter(&letters, probing->letters->all, probing->computed);
    if (!to)
        return -1;
    if (lab_asked_value(probe->asked, 0, &letters, to->rows, to->columns, &claimed,
                        &probe->found))
        return 0;
    if (to->rows * to->columns == 1)
        lab_found_number(&probe->found, to->x[0], claimed.x[0]);
    else
        lab_found_distance(&probe->found,
                           lab_distance(claimed.x, to->x, to->rows * to->columns));
    return 0;
}

int lab_probe_compare(struct lab_probe *probe)
{
    const struct lab_probing *const probing = probe->asked->part->probing;
    if (probing->computed)
        return compare_letter(probe);
    const int status = probing->compute(probe);
    if (status)
        return status < 0 ? -1 : 0;
    if (probing->claims == LAB_CLAIMS_NUMBERS)
        compare_numbers(probe);
    else if (probing->claims == LAB_CLAIMS_OUTPUTS)
        compare_outputs(probe);
    return 0;
}

/* ---- comparisons ------------------------------------------------------------------ */

struct lab_exercise lab_point_exercise(const struct lab_point *point)
{
    struct lab_exercise exercise = *point->exercise;
    exercise.seed += (uint64_t)point->number;
    return exercise;
}

double lab_distance(const double *x, const double *y, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

struct lab_finding lab_found_weight(double weight, double wanted, double distance)
{
    return (struct lab_finding){.computed = weight, .claimed = wanted, .error = distance};
}

struct lab_finding lab_found_choice(const struct lab_probe *probe, int is,
                                    double computed, double claimed)
{
    return (struct lab_finding){
        .computed = computed, .claimed = claimed, .error = is != probe->asked->choice[0]};
}

void lab_found_distance(struct lab_finding *found, double distance)
{
    *found = (struct lab_finding){
        .computed = distance, .claimed = NAN, .error = distance > 1e-9 ? distance : 0};
    if (!(distance >= 0))
        found->error = INFINITY;
}

int lab_same_number(double x, double y)
{
    return x == y ||
           (isfinite(x - y) && fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y)) + 1e-12);
}

void lab_found_number(struct lab_finding *found, double computed, double claimed)
{
    const double off = fabs(computed - claimed);
    /* Both may also be what rounding leaves of 0. */
    const int is_zero = claimed == 0 || fmax(fabs(computed), fabs(claimed)) < 1e-14;
    *found = (struct lab_finding){.computed = computed, .claimed = claimed};
    if (computed != claimed)
        found->error = is_zero ? off : off / fmax(fabs(computed), 1e-300);
    if (!(found->error >= 0))
        found->error = INFINITY;
}

void lab_found_worse(struct lab_finding *found, const struct lab_finding *other)
{
    if (other->error > found->error || *other->why)
        *found = *other;
}
