/* SPDX-License-Identifier: MIT */
/* Question 1b-i: a matrix that extracts v_a from v_a + v_b. */
#include <math.h>

#include "lab/grade/probing.h"

enum { D = LAB_EXERCISE_D, P = LAB_EXERCISE_P };

static void basis_of(const struct lab_asked *asked, const struct lab_world *world,
                     struct lab_basis *basis)
{
    const struct lab_exercise exercise = lab_world_exercise(asked, world);
    lab_exercise_basis(&exercise, 2 + world->number % (D - P - 1), basis);
}

static void bind_columns(struct lab_letters *letters, const char *name, int count,
                         double column[][D])
{
    double x[D * D];
    for (int r = 0; r < D; r++)
        for (int c = 0; c < count; c++)
            x[r * count + c] = column[c][r];
    lab_letters_matrix(letters, name, D, count, x);
}

static void bind_basis(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_letters *letters)
{
    struct lab_basis basis;
    double unit[D * D] = {0};
    basis_of(asked, world, &basis);
    for (int i = 0; i < D; i++)
        unit[i * D + i] = 1;
    bind_columns(letters, "A", basis.m, basis.a);
    bind_columns(letters, "B", basis.p, basis.b);
    lab_letters_matrix(letters, "I", D, D, unit);
    lab_letters_matrix(letters, "c", basis.m, 1, basis.c);
    lab_letters_matrix(letters, "c_b", basis.p, 1, basis.e);
    lab_letters_matrix(letters, "v_a", D, 1, basis.va);
    lab_letters_matrix(letters, "v_b", D, 1, basis.vb);
    lab_letters_matrix(letters, "s", D, 1, basis.s);
    lab_letters_number(letters, "d", D);
    lab_letters_number(letters, "m", basis.m);
    lab_letters_number(letters, "p", basis.p);
}

/* |M x - y| */
static double off(const struct lab_value *m, const double *x, const double *y)
{
    double image[D];
    for (int r = 0; r < D; r++) {
        image[r] = 0;
        for (int c = 0; c < D; c++)
            image[r] += m->x[r * D + c] * x[c];
    }
    return lab_distance(image, y, D);
}

static int read_extract(const struct lab_asked *asked, const struct lab_world *world,
                        struct lab_found *found)
{
    const double zero[D] = {0};
    struct lab_letters letters = {0};
    struct lab_basis basis;
    struct lab_value m;
    bind_basis(asked, world, &letters);
    if (lab_asked_value(asked, 0, &letters, D, D, &m, found))
        return 0;
    basis_of(asked, world, &basis);
    lab_found_distance(found,
                       fmax(off(&m, basis.s, basis.va),
                            fmax(off(&m, basis.va, basis.va), off(&m, basis.vb, zero))));
    return 0;
}

static int read_coordinates(const struct lab_asked *asked, const struct lab_world *world,
                            struct lab_found *found)
{
    struct lab_letters letters = {0};
    struct lab_basis basis;
    struct lab_value claimed;
    double y[D];
    bind_basis(asked, world, &letters);
    basis_of(asked, world, &basis);
    if (lab_asked_value(asked, 0, &letters, basis.m, 1, &claimed, found))
        return 0;
    lab_basis_coordinates(&basis, basis.s, y);
    lab_found_distance(found, lab_distance(claimed.x, y, basis.m));
    return 0;
}

const struct lab_probing lab_probe_extract = {
    .bind = bind_basis,
    .read = read_extract,
    .alone = 1,
};
const struct lab_probing lab_probe_coordinates = {
    .bind = bind_basis,
    .read = read_coordinates,
    .alone = 1,
};
