/* SPDX-License-Identifier: MIT */
/* Extraction: a matrix M with M (v_a + v_b) = v_a, read from the average c (T3). */
#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/experiments/experiment.h"
#include "lab/measure/frames.h"
#include "lab/measure/forward.h"

enum { FRAME_STREAM = 1, COORDINATE_STREAM, MIX_STREAM, OTHER_STREAM, KEY_STREAM };

static const double pi = 3.14159265358979323846;

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("d", 16, 2, 256, "dimension of the values, at least m + p"),
    LAB_FLAG_INTEGER("m", 2, 1, 128, "dimension of A, where v_a lies"),
    LAB_FLAG_INTEGER("p", 2, 1, 128, "dimension of B, where v_b lies"),
    LAB_FLAG_REAL("angle", 90, 0.1, 90,
                  "degrees between A and B; 90: orthogonal, as the exercise has it"),
    LAB_FLAG_INTEGER("n", 10, 2, 256, "keys; 2: c is exactly the average"),
    LAB_FLAG_REAL("beta", 10, 0, 1000, "query scale: q = beta (k_a + k_b)"),
};

enum { D, A_COLUMNS, B_COLUMNS, ANGLE, N, BETA }; /* flags */

/* Ways to build M from a basis of A. */
enum method { TRANSPOSE, PRODUCT, SKEWED, PROJECTOR, OBLIQUE, METHODS };

static const char *const quantities[METHODS] = {"error_transpose", "error_product",
                                                "error_product_skewed", "error_projector",
                                                "error_oblique"};

/*
 * Values in R^d: value[0] = v_a = A x, value[1] = v_b = B y, all unit vectors, the
 * others of random direction.  `a` and `b` have orthonormal columns, `skewed` spans what
 * `a` spans with columns that are neither orthogonal nor of norm 1.
 */
struct setup {
    int64_t d, m, p, n;
    double angle, beta;
    double *a, *b, *skewed; /* [d][m], [d][p], [d][m] */
    double *value;          /* [n][d] */
    double *matrix;         /* [d][d] */
    double *ideal, *found;  /* [d] */
    double shared;          /* norm of the part of y that B has in common with A */
    double *key;            /* [n + 1][n]: the keys and the query */
};

/* Columns of A are the frame's first m, those of B leave them by the angle. */
static void fill_bases(const struct lab_run *run, struct setup *setup)
{
    const int64_t d = setup->d, m = setup->m, p = setup->p;
    const double radians = setup->angle * pi / 180;
    /* Exactly orthogonal at 90 degrees, where cos(pi/2) is not exactly 0. */
    const double along = setup->angle == 90 ? 0 : cos(radians), across = sin(radians);
    double *const frame = setup->value; /* [m + p][d], before the values are there */
    double mix[128];

    lab_random_frame(run->session.seed, FRAME_STREAM, frame, m + p, d);
    for (int64_t c = 0; c < d; c++) {
        for (int64_t i = 0; i < m; i++)
            setup->a[c * m + i] = frame[i * d + c];
        for (int64_t i = 0; i < p; i++)
            setup->b[c * p + i] =
                i < m ? along * frame[i * d + c] + across * frame[(m + i) * d + c]
                      : frame[(m + i) * d + c];
    }
    for (int64_t i = 0; i < m; i++) {
        lab_normals(run->session.seed, MIX_STREAM, (uint64_t)(i * m), mix, m);
        mix[i] += 3; /* well-conditioned */
        for (int64_t c = 0; c < d; c++)
            setup->skewed[c * m + i] = lab_dot(setup->a + c * m, mix, m);
    }
}

static void fill_values(const struct lab_run *run, struct setup *setup)
{
    const int64_t d = setup->d, m = setup->m, p = setup->p;
    double x[128], y[128];

    lab_normals(run->session.seed, COORDINATE_STREAM, 0, x, m);
    lab_normals(run->session.seed, COORDINATE_STREAM, 128, y, p);
    lab_unit(x, m);
    lab_unit(y, p);
    setup->shared = lab_norm(y, m < p ? m : p);
    for (int64_t c = 0; c < d; c++) {
        setup->value[c] = lab_dot(setup->a + c * m, x, m);
        setup->value[d + c] = lab_dot(setup->b + c * p, y, p);
    }
    lab_normals(run->session.seed, OTHER_STREAM, 0, setup->value + 2 * d,
                (setup->n - 2) * d);
    for (int64_t i = 2; i < setup->n; i++)
        lab_unit(setup->value + i * d, d);
}

static int open_setup(struct lab_run *run, struct setup *setup)
{
    const int64_t d = setup->d, m = setup->m, p = setup->p, n = setup->n;
    const int64_t rows = n > m + p ? n : m + p;

    setup->a = lab_scratch(run, d * (2 * m + p + rows + d + 2) + (n + 1) * n);
    if (!setup->a)
        return -1;
    setup->b = setup->a + d * m;
    setup->skewed = setup->b + d * p;
    setup->value = setup->skewed + d * m;
    setup->matrix = setup->value + d * rows;
    setup->ideal = setup->matrix + d * d;
    setup->found = setup->ideal + d;
    setup->key = setup->found + d;
    fill_bases(run, setup);
    fill_values(run, setup);
    return 0;
}

/* A^T has m rows, not d: its result is in the first m of d entries. */
static void fill_transpose(struct setup *setup)
{
    const int64_t d = setup->d, m = setup->m;

    memset(setup->matrix, 0, sizeof(double) * (size_t)(d * d));
    for (int64_t i = 0; i < m; i++)
        for (int64_t c = 0; c < d; c++)
            setup->matrix[i * d + c] = setup->a[c * m + i];
}

static int fill_matrix(struct setup *setup, enum method method)
{
    const int64_t d = setup->d, m = setup->m;

    switch (method) {
    case TRANSPOSE:
        fill_transpose(setup);
        return 0;
    case PRODUCT:
        return attend_theory_extract_orthonormal(setup->a, d, m, setup->matrix);
    case SKEWED:
        return attend_theory_extract_orthonormal(setup->skewed, d, m, setup->matrix);
    case PROJECTOR:
        return attend_theory_extract_projector(setup->skewed, d, m, setup->matrix);
    case OBLIQUE:
    case METHODS:
        break;
    }
    return attend_theory_extract_oblique(setup->skewed, m, setup->b, setup->p, d,
                                         setup->matrix);
}

/* |2 M c - v_a|. */
static double error_at(const struct setup *setup, const double *c)
{
    double sum = 0;

    for (int64_t r = 0; r < setup->d; r++) {
        const double off =
            2 * lab_dot(setup->matrix + r * setup->d, c, setup->d) - setup->value[r];
        sum += off * off;
    }
    return sqrt(sum);
}

/* c as the theory of averages has it, and as the engine gives it. */
static int average(struct lab_run *run, struct setup *setup)
{
    const int64_t n = setup->n, d = setup->d;
    const double wanted = attend_theory_average_weight((double)n, 2, setup->beta);
    const double leak = attend_theory_average_leak((double)n, 2, setup->beta);
    double *const key = setup->key, *const query = key + n * n;
    const struct lab_problem problem =
        LAB_PROBLEM(n, n, query, key, 1, .dv = d, .v = setup->value, .out = setup->found);

    for (int64_t c = 0; c < d; c++) {
        setup->ideal[c] = 0;
        for (int64_t i = 0; i < n; i++)
            setup->ideal[c] +=
                (i < 2 ? wanted : leak / (double)(n - 2)) * setup->value[i * d + c];
    }
    lab_random_frame(run->session.seed, KEY_STREAM, key, n, n);
    for (int64_t c = 0; c < n; c++)
        query[c] = setup->beta * (key[c] + key[n + c]);
    return lab_measure(&run->session, run->ctx, &problem);
}

/* |2 M c - v_a| of a setup opened before, of c by theory and by the engine. */
static int measure(struct lab_run *run, struct setup *setup, enum method method,
                   double *theory, double *measured)
{
    if (fill_matrix(setup, method))
        return lab_fail(&run->session, "A and B are dependent");
    *theory = error_at(setup, setup->ideal);
    *measured = error_at(setup, setup->found);
    return 0;
}

/* ---- rows, sweep, figure ----------------------------------------------- */

static struct setup setup_of(const struct lab_setting *p)
{
    return (struct setup){.d = (int64_t)p->at[D],
                          .m = (int64_t)p->at[A_COLUMNS],
                          .p = (int64_t)p->at[B_COLUMNS],
                          .n = (int64_t)p->at[N],
                          .angle = p->at[ANGLE],
                          .beta = p->at[BETA]};
}

/* A difference of vectors of norm 1, through a matrix that may lengthen it. */
static const double rounding = 1e-12;

/*
 * Two keys, so that c is exactly the average and only the geometry is left: A A^T keeps
 * the part of v_b that lies along A, the oblique projector none.
 */
static int sweep_angle(struct lab_run *run, enum method method, const char *label,
                       struct lab_figure *figure)
{
    const struct lab_curve curve = lab_curve_add(figure, "%s", label);
    const int errs = method == PROJECTOR;
    struct lab_setting p = lab_own(run);

    for (int angle = 1; angle <= 90; angle++)
        lab_series_point(curve.theory, angle, errs ? cos(angle * pi / 180) : 0, 0);
    p.at[N] = 2;
    for (p.at[ANGLE] = 5; p.at[ANGLE] <= 90; p.at[ANGLE] += 5) {
        struct setup setup = setup_of(&p);
        double ideal = 0, error = 0;
        if (open_setup(run, &setup) || average(run, &setup) ||
            measure(run, &setup, method, &ideal, &error))
            return -1;
        const double cosine = setup.angle == 90 ? 0 : cos(setup.angle * pi / 180);
        const struct lab_found found = errs && cosine > 0
                                           ? lab_sure(cosine * setup.shared, error)
                                           : lab_zero(error, rounding);
        lab_emit(run, quantities[method], &p, found);
        lab_series_point(curve.measured, setup.angle, error / setup.shared, 0);
    }
    return 0;
}

/* Removes from every unwanted value its part in A. */
static void clear_others(struct setup *setup)
{
    const int64_t d = setup->d, m = setup->m;

    for (int64_t i = 2; i < setup->n; i++) {
        double *const v = setup->value + i * d;
        for (int64_t k = 0; k < m; k++) {
            double along = 0;
            for (int64_t c = 0; c < d; c++)
                along += setup->a[c * m + k] * v[c];
            for (int64_t c = 0; c < d; c++)
                v[c] -= along * setup->a[c * m + k];
        }
    }
}

/* Without the other values' parts in A, the remaining error is the leak. */
static int sweep_beta(struct lab_run *run)
{
    struct lab_setting p = lab_own(run);
    const double n = p.at[N];
    struct lab_figure *const figure =
        lab_plot(run, "leak", "Extraction from the average at finite scale",
                 "β (query scale)", "|2 M c - v_a|", LAB_LOG_Y,
                 "n = %.0f, A orthogonal to all other values: the error is the leak of "
                 "the average.",
                 n);
    const struct lab_curve curve = lab_curve_add(figure, "%s", "");

    for (double beta = 0; beta <= 15; beta += 0.25)
        lab_series_point(curve.theory, beta, attend_theory_extract_error(n, beta), 0);
    p.at[ANGLE] = 90;
    for (p.at[BETA] = 0; p.at[BETA] <= 15; p.at[BETA] += 2.5) {
        struct setup setup = setup_of(&p);
        double ideal = 0, error = 0;
        if (open_setup(run, &setup))
            return -1;
        clear_others(&setup);
        if (average(run, &setup) || measure(run, &setup, PROJECTOR, &ideal, &error))
            return -1;
        lab_emit(run, "error_leak", &p,
                 lab_about(attend_theory_extract_error(n, setup.beta), error, rounding));
        lab_series_point(curve.measured, setup.beta, error, 0);
    }
    return 0;
}

static int sweep(struct lab_run *run)
{
    struct lab_figure *const figure = lab_plot(
        run, "angle", "Extraction: what M leaves of v_b",
        "angle between A and B (degrees)", "|2 M c - v_a| / |part of v_b near A|", 0,
        "c = (v_a + v_b)/2.  The orthogonal projector errs by the cosine of the angle; "
        "the oblique one is right at any angle above 0.");

    return sweep_angle(run, PROJECTOR, "A A⁺", figure) ||
           sweep_angle(run, OBLIQUE, "oblique", figure) || sweep_beta(run);
}

static int perform(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    struct setup setup = setup_of(&p);

    if (setup.d < setup.m + setup.p)
        return lab_misuse(&run->session, "--d %lld: at least m + p = %lld is allowed",
                          (long long)setup.d, (long long)(setup.m + setup.p));
    if (open_setup(run, &setup) || average(run, &setup))
        return -1;
    for (int method = 0; method < METHODS; method++) {
        double theory = 0, measured = 0;
        if (measure(run, &setup, (enum method)method, &theory, &measured))
            return -1;
        lab_emit(run, quantities[method], &p, lab_about(theory, measured, rounding));
    }
    return 0;
}

const struct lab_experiment lab_experiment_extract = {
    .name = "extract",
    .title = "Extracting one value from an average",
    .shows = "M = A A^T takes v_a out of the average when A is orthonormal and "
             "orthogonal to B; A^T alone gives coordinates in R^m, a skewed basis needs "
             "its pseudo-inverse, and spaces at an angle the oblique projector.",
    .answers = "1b-i",
    LAB_FLAGS(flags),
    .perform = perform,
    .sweep = sweep,
};
