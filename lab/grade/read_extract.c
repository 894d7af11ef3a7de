/* SPDX-License-Identifier: MIT */
/* Question 1b-i: a matrix that extracts v_a from v_a + v_b. */
#include <math.h>

#include "lab/grade/probing.h"
#include "lab/sheets/world.h"

enum { D = LAB_WORLD_D, M = LAB_WORLD_M, P = LAB_WORLD_P };

static void basis_of(const struct lab_asked *asked, const struct lab_world *world,
                     struct lab_world_basis *basis, double *s)
{
    const struct lab_exercise exercise = lab_world_exercise(asked, world);
    lab_world_basis(&exercise, basis);
    for (int r = 0; r < D; r++)
        s[r] = basis->va[r] + basis->vb[r];
}

static void bind_basis(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_letters *letters)
{
    struct lab_world_basis basis;
    double unit[D * D] = {0}, s[D];
    basis_of(asked, world, &basis, s);
    for (int i = 0; i < D; i++)
        unit[i * D + i] = 1;
    lab_letters_matrix(letters, "A", D, M, &basis.a[0][0]);
    lab_letters_matrix(letters, "B", D, P, &basis.b[0][0]);
    lab_letters_matrix(letters, "I", D, D, unit);
    lab_letters_matrix(letters, "c", M, 1, basis.c);
    lab_letters_matrix(letters, "c_b", P, 1, basis.e);
    lab_letters_matrix(letters, "v_a", D, 1, basis.va);
    lab_letters_matrix(letters, "v_b", D, 1, basis.vb);
    lab_letters_matrix(letters, "s", D, 1, s);
    lab_letters_number(letters, "d", D);
    lab_letters_number(letters, "m", M);
    lab_letters_number(letters, "p", P);
}

/* NaN where one of them is. */
static double larger(double x, double y) { return x > y || isnan(x) ? x : y; }

/* |M x - y| of the column of a basis, y the column itself or 0. */
static double off(const struct lab_value *m, const double *basis, int columns, int column,
                  int keeps)
{
    double image[D], wanted[D];
    for (int r = 0; r < D; r++) {
        image[r] = 0;
        wanted[r] = keeps * basis[r * columns + column];
        for (int c = 0; c < D; c++)
            image[r] += m->x[r * D + c] * basis[c * columns + column];
    }
    return lab_distance(image, wanted, D);
}

/* M A = A and M B = 0: then M (v_a + v_b) = v_a for every v_a and v_b of the spans. */
static int read_extract(const struct lab_asked *asked, const struct lab_world *world,
                        struct lab_found *found)
{
    struct lab_letters letters = {0};
    struct lab_world_basis basis;
    struct lab_value m;
    double s[D], worst = 0;
    bind_basis(asked, world, &letters);
    if (lab_asked_value(asked, 0, &letters, D, D, &m, found))
        return 0;
    basis_of(asked, world, &basis, s);
    for (int c = 0; c < M; c++)
        worst = larger(worst, off(&m, &basis.a[0][0], M, c, 1));
    for (int c = 0; c < P; c++)
        worst = larger(worst, off(&m, &basis.b[0][0], P, c, 0));
    lab_found_distance(found, worst);
    return 0;
}

static int read_coordinates(const struct lab_asked *asked, const struct lab_world *world,
                            struct lab_found *found)
{
    struct lab_letters letters = {0};
    struct lab_world_basis basis;
    struct lab_value claimed;
    double s[D], y[M] = {0};
    bind_basis(asked, world, &letters);
    basis_of(asked, world, &basis, s);
    if (lab_asked_value(asked, 0, &letters, M, 1, &claimed, found))
        return 0;
    for (int i = 0; i < M; i++)
        for (int r = 0; r < D; r++)
            y[i] += basis.a[r][i] * s[r];
    lab_found_distance(found, lab_distance(claimed.x, y, M));
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
