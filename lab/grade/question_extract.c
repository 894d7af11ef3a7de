/* SPDX-License-Identifier: MIT */
/* Question 1b-i: a matrix that extracts v_a from v_a + v_b. */
#include <math.h>

#include "lab/exercise/world.h"
#include "lab/grade/probing.h"

enum { D = LAB_WORLD_D, M = LAB_WORLD_M, P = LAB_WORLD_P };

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
static int compare_extract(struct lab_probe *probe)
{
    const struct lab_exercise exercise = lab_point_exercise(probe->point);
    struct lab_letters letters;
    struct lab_world_basis basis;
    struct lab_value m;
    double worst = 0;
    if (lab_letters_bind(&letters, &lab_letters_basis, probe->point))
        return -1;
    if (lab_asked_value(probe->asked, 0, &letters, D, D, &m, &probe->found))
        return 1;
    lab_world_basis(&exercise, &basis);
    for (int c = 0; c < M; c++)
        worst = larger(worst, off(&m, &basis.a[0][0], M, c, 1));
    for (int c = 0; c < P; c++)
        worst = larger(worst, off(&m, &basis.b[0][0], P, c, 0));
    lab_found_distance(&probe->found, worst);
    return 0;
}

const struct lab_part lab_parts_extract[LAB_PARTS_EXTRACT] = {
    {LAB_ASKS(
         "1b-i", "M",
         "matrix with M (v_a + v_b) = v_a for all v_a in span(A), v_b in span(B); it "
         "must "
         "not depend on v_a and v_b"),
     .hint = "A^T s has m entries, v_a has d. What takes coordinates to a vector?",
     .points = 4, .texts = 1, .solution = {"A A^T"},
     LAB_JUDGED(.letters = &lab_letters_basis, .compute = compare_extract, .alone = 1)},
    {LAB_ASKS("1b-i", "coordinates", "what A^T (v_a + v_b) is; v_a = A c"),
     .hint = "A^T A = I and A^T B = 0.", .points = 1, .texts = 1, .solution = {"c"},
     LAB_JUDGED(.letters = &lab_letters_basis, .computed = "A^T s", .alone = 1)},
};
