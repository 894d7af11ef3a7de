/* SPDX-License-Identifier: MIT */
/* Extraction: a matrix M with M (v_a + v_b) = v_a, read from the average c (T3). */
#include "attend/theory.h"
#include "lab/experiments/experiment.h"
#include "lab/setups/extracted.h"

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

static const char *const quantities[LAB_EXTRACTION_METHODS] = {
    "error_transpose", "error_product", "error_product_skewed", "error_projector",
    "error_oblique"};

static struct lab_extraction setup_of(const struct lab_setting *p)
{
    return (struct lab_extraction){.d = (int64_t)p->at[D],
                                   .m = (int64_t)p->at[A_COLUMNS],
                                   .p = (int64_t)p->at[B_COLUMNS],
                                   .n = (int64_t)p->at[N],
                                   .angle = p->at[ANGLE],
                                   .beta = p->at[BETA]};
}

static int open_setup(struct lab_run *run, struct lab_extraction *setup)
{
    double *const scratch = lab_scratch(run, lab_extraction_scratch(setup));

    return scratch ? lab_extraction_open(&run->session, run->ctx, scratch, setup) : -1;
}

/* A difference of vectors of norm 1, through a matrix that may lengthen it. */
static const double rounding = 1e-12;

/*
 * Two keys, so that c is exactly the average and only the geometry is left: A A^T keeps
 * the part of v_b that lies along A, the oblique projector none.
 */
static int sweep_angle(struct lab_run *run, enum lab_extraction_method method,
                       const char *label, struct lab_figure *figure)
{
    const struct lab_curve curve = lab_curve_add(figure, "%s", label);
    const int errs = method == LAB_PROJECTOR;
    struct lab_setting p = lab_own(run);
    double ideal, error;

    for (int angle = 1; angle <= 90; angle++)
        lab_series_point(curve.theory, angle, errs ? lab_cosine(angle) : 0, 0);
    p.at[N] = 2;
    for (p.at[ANGLE] = 5; p.at[ANGLE] <= 90; p.at[ANGLE] += 5) {
        struct lab_extraction setup = setup_of(&p);
        const double cosine = errs ? lab_cosine(p.at[ANGLE]) : 0;
        if (open_setup(run, &setup) ||
            lab_extraction_measure(&run->session, &setup, method, &ideal, &error))
            return -1;
        lab_emit(run, quantities[method], &p,
                 cosine > 0 ? lab_sure(cosine * setup.shared, error)
                            : lab_zero(error, rounding));
        lab_series_point(curve.measured, setup.angle, error / setup.shared, 0);
    }
    return 0;
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
    double ideal, error;

    for (double beta = 0; beta <= 15; beta += 0.25)
        lab_series_point(curve.theory, beta, attend_theory_extract_error(n, beta), 0);
    p.at[ANGLE] = 90;
    for (p.at[BETA] = 0; p.at[BETA] <= 15; p.at[BETA] += 2.5) {
        struct lab_extraction setup = setup_of(&p);
        setup.clear = 1;
        if (open_setup(run, &setup) ||
            lab_extraction_measure(&run->session, &setup, LAB_PROJECTOR, &ideal, &error))
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

    return sweep_angle(run, LAB_PROJECTOR, "A A⁺", figure) ||
           sweep_angle(run, LAB_OBLIQUE, "oblique", figure) || sweep_beta(run);
}

static int perform(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    struct lab_extraction setup = setup_of(&p);
    double theory, measured;

    if (setup.d < setup.m + setup.p)
        return lab_misuse(&run->session, "--d %lld: at least m + p = %lld is allowed",
                          (long long)setup.d, (long long)(setup.m + setup.p));
    if (open_setup(run, &setup))
        return -1;
    for (int method = 0; method < LAB_EXTRACTION_METHODS; method++) {
        if (lab_extraction_measure(&run->session, &setup,
                                   (enum lab_extraction_method)method, &theory,
                                   &measured))
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
