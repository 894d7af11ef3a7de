/* SPDX-License-Identifier: MIT */
/* Letters, and what the texts of an answer are worth in them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/grade/probing.h"

void lab_letters_number(struct lab_letters *letters, const char *name, double value)
{
    double *const x = &letters->number[letters->numbers++];
    *x = value;
    letters->letter[letters->count++] = (struct lab_letter){name, 1, 1, x};
}

void lab_letters_matrix(struct lab_letters *letters, const char *name, int rows,
                        int columns, const double *x)
{
    struct lab_value *const value = &letters->matrix[letters->matrices++];
    value->rows = rows;
    value->columns = columns;
    memcpy(value->x, x, sizeof *x * (size_t)(rows * columns));
    letters->letter[letters->count++] =
        (struct lab_letter){name, rows, columns, value->x};
}

static int find(const struct lab_letters *letters, const char *name)
{
    for (int i = 0; i < letters->count; i++)
        if (!strcmp(letters->letter[i].name, name))
            return i;
    return -1;
}

static void transpose(const double *from, int rows, int columns, double *to)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            to[c * rows + r] = from[r * columns + c];
}

/* (X Y)^T = Y^T X^T: transposed letters and a transposed result turn products round. */
static void reverse(struct lab_letters *letters)
{
    for (int i = 0; i < letters->count; i++) {
        struct lab_letter *const letter = &letters->letter[i];
        for (int m = 0; m < letters->matrices; m++)
            if (letter->x == letters->matrix[m].x) {
                const struct lab_value from = letters->matrix[m];
                transpose(from.x, from.rows, from.columns, letters->matrix[m].x);
                letter->rows = from.columns;
                letter->columns = from.rows;
            }
    }
}

static void apply_repair(const struct lab_repair *repair, struct lab_letters *letters)
{
    const struct lab_letters before = *letters;
    for (int r = 0; r < 2 && repair->from[r]; r++) {
        const int from = find(letters, repair->from[r]);
        const int to = find(&before, repair->to[r]);
        if (from >= 0 && to >= 0) {
            letters->letter[from].rows = before.letter[to].rows;
            letters->letter[from].columns = before.letter[to].columns;
            letters->letter[from].x = letters->letter[to].x;
        } else if (from >= 0 && !strcmp(repair->to[r], "norm")) {
            double sum = 0;
            const struct lab_letter *const old = &before.letter[from];
            for (int i = 0; i < old->rows * old->columns; i++)
                sum += old->x[i] * old->x[i];
            letters->number[letters->numbers] = sqrt(sum);
            letters->letter[from] = (struct lab_letter){
                repair->from[r], 1, 1, &letters->number[letters->numbers++]};
        }
    }
    if (repair->reversed)
        reverse(letters);
}

static void apply_near(const struct lab_near *near, struct lab_letters *letters)
{
    const int at = find(letters, near->letter);
    if (at < 0)
        return;
    double *const x = &letters->number[letters->numbers++];
    *x = near->turn(letters->letter[at].x[0]);
    letters->letter[at].x = x;
}

/* A copy whose letters point into itself, with what the part is read as. */
static void read_as(const struct lab_asked *asked, const struct lab_letters *letters,
                    struct lab_letters *own)
{
    memset(own, 0, sizeof *own);
    for (int i = 0; i < letters->count; i++) {
        const struct lab_letter *const letter = &letters->letter[i];
        if (letter->rows == 1 && letter->columns == 1)
            lab_letters_number(own, letter->name, letter->x[0]);
        else
            lab_letters_matrix(own, letter->name, letter->rows, letter->columns,
                               letter->x);
    }
    if (asked->near)
        apply_near(asked->near, own);
    if (asked->repair)
        apply_repair(asked->repair, own);
}

static int check_shape(const struct lab_value *value, int rows, int columns,
                       struct lab_found *found)
{
    if ((!rows || value->rows == rows) && (!columns || value->columns == columns))
        return 0;
    snprintf(found->why, sizeof found->why, "%d x %d where %d x %d is asked", value->rows,
             value->columns, rows, columns);
    return -1;
}

int lab_asked_value(const struct lab_asked *asked, int k,
                    const struct lab_letters *letters, int rows, int columns,
                    struct lab_value *value, struct lab_found *found)
{
    const struct lab_repair *const repair = asked->repair;
    struct lab_letters own;
    struct lab_expression_error error;

    if (repair || asked->near) {
        read_as(asked, letters, &own);
        letters = &own;
    }
    found->error = INFINITY;
    found->computed = found->claimed = NAN;
    if (lab_expression_evaluate(&asked->formula[k], letters->letter, letters->count,
                                value, &error)) {
        snprintf(found->why, sizeof found->why, "column %d: %s", error.column,
                 error.text);
        return -1;
    }
    if (repair && repair->reversed) {
        const struct lab_value from = *value;
        transpose(from.x, from.rows, from.columns, value->x);
        value->rows = from.columns;
        value->columns = from.rows;
    }
    return check_shape(value, rows, columns, found);
}

int lab_asked_number(const struct lab_asked *asked, int k, const struct lab_world *world,
                     double *number, struct lab_found *found)
{
    struct lab_letters letters = {0};
    struct lab_value value;
    asked->part->probing->bind(asked, world, &letters);
    if (lab_asked_value(asked, k, &letters, 1, 1, &value, found))
        return -1;
    *number = value.x[0];
    return 0;
}

int lab_asked_query(const struct lab_asked *asked, int k, const struct lab_world *world,
                    struct lab_pair_query *query, struct lab_found *found)
{
    struct lab_letters letters = {0};
    struct lab_value value;
    asked->part->probing->bind(asked, world, &letters);
    if (lab_asked_value(asked, k, &letters, 3, 1, &value, found))
        return -1;
    if (!isfinite(value.x[0] + value.x[1] + value.x[2])) {
        snprintf(found->why, sizeof found->why, "the query is not finite");
        return -1;
    }
    *query = (struct lab_pair_query){value.x[0], value.x[1], value.x[2]};
    return 0;
}

int lab_same_number(double x, double y)
{
    return x == y ||
           (isfinite(x - y) && fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y)) + 1e-12);
}

void lab_found_number(struct lab_found *found, double computed, double claimed)
{
    const double off = fabs(computed - claimed);
    /* Both may also be what rounding leaves of 0. */
    const int is_zero = claimed == 0 || fmax(fabs(computed), fabs(claimed)) < 1e-14;
    *found = (struct lab_found){.computed = computed, .claimed = claimed};
    if (computed != claimed)
        found->error = is_zero ? off : off / fmax(fabs(computed), 1e-300);
    if (!(found->error >= 0))
        found->error = INFINITY;
}

void lab_found_worse(struct lab_found *found, const struct lab_found *other)
{
    if (other->error > found->error || *other->why)
        *found = *other;
}
