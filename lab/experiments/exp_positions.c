/* SPDX-License-Identifier: MIT */
/* Positions: symmetry under permutations and under shifts; distances of encodings (T26).
 */
#include <math.h>

#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/setups/encodings.h"

static const struct lab_flag flags[] = {
    LAB_FLAG_CHOICE("positions", "sinusoid", LAB_3("sinusoid", "rope", "none"),
                    "added to X, turning Q and K, or absent"),
    LAB_FLAG_INTEGER("d", 16, 2, 512, "columns of X and of an encoding; even"),
    LAB_FLAG_INTEGER(
        "T", 64, 2, 1e6,
        "positions 0 .. T-1; attention is measured on the first 256 at most"),
    LAB_FLAG_INTEGER("offset", 7, 1, 1e6,
                     "distance between two positions, and how far everything is shifted"),
};

enum { POSITIONS, D, T, OFFSET }; /* flags */

static enum lab_positions kind_of(const struct lab_setting *p)
{
    return (enum lab_positions)p->at[POSITIONS];
}

/* Angles up to this position are known to within this many radians. */
static double angle_error(double position) { return 0x1p-52 * (position + 1.0); }

/* ---- attention ----------------------------------------------------------- */

static const struct lab_observable rows[] = {{.quantity = "equivariance_defect"},
                                             {.quantity = "shift_defect"}};
enum {
    PERMUTED, /* max|Att(PX) - P Att(X)|, positions stay */
    SHIFTED   /* max|Att at positions + offset - Att| */
};

static void theory_of(const struct lab_setting *p, double *theory)
{
    theory[PERMUTED] = kind_of(p) == LAB_NO_POSITIONS ? 0 : NAN;
    theory[SHIFTED] = kind_of(p) == LAB_SINUSOID ? NAN : 0;
}

/*
 * A score is a sum over d products of entries that an angle moves, then averaged over
 * values below 8.
 */
static double shift_rounding(const struct lab_setting *p)
{
    return 64.0 * p->at[D] * angle_error(p->at[T] + p->at[OFFSET]);
}

/* The same sums in another order, of values below 8 and scores of some units. */
static const double permutation_rounding = 1e-10;

static int measure(struct lab_run *run, const struct lab_setting *p,
                   struct lab_found *found)
{
    double permuted, shifted;

    if (lab_positions_defects(&run->session, run->ctx, kind_of(p),
                              (int64_t)fmin(p->at[T], LAB_POSITIONS_MAX),
                              (int64_t)p->at[D], (int64_t)p->at[OFFSET], &permuted,
                              &shifted))
        return -1;
    found[PERMUTED] = lab_defect(found[PERMUTED].theory, permuted, permutation_rounding);
    found[SHIFTED] = lab_defect(found[SHIFTED].theory, shifted, shift_rounding(p));
    return 0;
}

static const struct lab_model model = {LAB_ROWS(rows), .theory = theory_of,
                                       .measure = measure};

/* ---- encodings ----------------------------------------------------------- */

/* The nearest two of T positions; their distance by theory and by measurement. */
static int emit_nearest(struct lab_run *run, struct lab_encodings *e,
                        const struct lab_setting *p, double *theory, double *measured)
{
    const int64_t positions = (int64_t)p->at[T];
    const int64_t found = lab_encodings_nearest(e, positions, measured);

    if (found < 0)
        return -1;
    if (lab_stopped(&run->session))
        return 0;
    const int64_t expected = attend_theory_sinusoid_nearest(e->d, positions, theory);
    lab_emit(run, "near_offset", p, lab_about((double)expected, (double)found, 0));
    lab_emit(run, "near_distance", p,
             lab_defect(*theory, *measured, p->at[D] * angle_error(p->at[T])));
    return 0;
}

/* phi_t.phi_(t + offset), t < min(T, LAB_ENCODINGS_MAX): at 0, and how far from the same
 * it is. */
static int emit_dot(struct lab_run *run, struct lab_encodings *e,
                    const struct lab_setting *p)
{
    const int64_t count = (int64_t)fmin(p->at[T], LAB_ENCODINGS_MAX);
    const double theory = attend_theory_sinusoid_dot(e->d, p->at[OFFSET]);
    const double rounding = p->at[D] * angle_error((double)count + p->at[OFFSET]);
    double spread = 0.0;

    lab_encode(e, 0, count, e->a);
    lab_encode(e, (int64_t)p->at[OFFSET], count, e->b);
    if (lab_encodings_dot(e, count, e->a, e->b, e->dot))
        return -1;
    for (int64_t i = 0; i < count; i++)
        spread = fmax(spread, fabs(e->dot[i] - theory));
    lab_emit(run, "dot", p, lab_defect(theory, e->dot[0], rounding));
    lab_emit(run, "dot_spread", p, lab_zero(spread, rounding));
    return 0;
}

/* ---- sweeps and figures -------------------------------------------------- */

static int sweep_kinds(struct lab_run *run, const struct lab_setting *p)
{
    static const double kinds[] = {LAB_SINUSOID, LAB_ROPE, LAB_NO_POSITIONS};
    const struct lab_sweep over_kinds = {.flag = POSITIONS, LAB_STEPS_OF(kinds)};
    struct lab_figure *const figure = lab_plot(
        run, "symmetries", "What positions do to the symmetries", "positions", "defect",
        LAB_LOG_Y,
        "Without positions attention cannot tell one order of the tokens from another.  "
        "Sinusoids and rotary positions both can; rotary ones keep one symmetry, that of "
        "shifting every position by %.0f.",
        p->at[OFFSET]);
    struct lab_plotted drawn[] = {{.row = PERMUTED}, {.row = SHIFTED}};

    drawn[0].curve.measured = lab_series_add(figure, LAB_POINTS, "tokens permuted");
    drawn[1].curve.measured = lab_series_add(figure, LAB_POINTS, "positions shifted");
    lab_figure_names(figure, "sinusoid|rope|none");
    return lab_sweep(run, &model, &over_kinds, *p, drawn, 2);
}

static int sweep_shifts(struct lab_run *run, struct lab_setting p)
{
    struct lab_figure *const figure =
        lab_plot(run, "shifts", "Shifting every position", "shift (positions)",
                 "largest change of the output", LAB_LOG_X | LAB_LOG_Y,
                 "Rotary scores depend on differences of positions: a shift changes the "
                 "output by the rounding of its angles alone, which the line bounds.");
    struct lab_series *const allowed =
        lab_series_add(figure, LAB_LINE, "rope, rounding allowed");
    struct lab_series *const rope = lab_series_add(figure, LAB_POINTS, "rope");
    struct lab_series *const sinusoid = lab_series_add(figure, LAB_POINTS, "sinusoid");
    double *const offset = &p.at[OFFSET];

    for (*offset = 1; *offset <= 1000000 && !lab_stopped(&run->session); *offset *= 10)
        for (int kind = LAB_SINUSOID; kind <= LAB_ROPE; kind++) {
            struct lab_sample sample;
            p.at[POSITIONS] = kind;
            if (lab_measure_at(run, &model, &p, 0, 0, &sample))
                return -1;
            const struct lab_found *const shift = &sample.found[SHIFTED];
            lab_emit(run, "shift_defect", &p, *shift);
            lab_series_point(kind == LAB_ROPE ? rope : sinusoid, *offset, shift->measured,
                             0);
            if (kind == LAB_ROPE)
                lab_series_point(allowed, *offset, shift_rounding(&p), 0);
        }
    return 0;
}

/* Near-collisions: T26 for d = 2 and d = 4, and one more pair of columns. */
static int sweep_nearest(struct lab_run *run, struct lab_setting p)
{
    struct lab_figure *const figure =
        lab_plot(run, "nearest", "The nearest two of T positions", "T (positions)",
                 "smallest distance between encodings", LAB_LOG_X | LAB_LOG_Y,
                 "No two positions share an encoding, for any T: the first pair turns by "
                 "1 radian a step and 2 pi is irrational.  But they come near: d = 2 at "
                 "710 (355/113), d = 4 at 84823.");

    p.at[POSITIONS] = LAB_SINUSOID;
    for (int64_t d = 2; d <= 8; d *= 2) {
        const struct lab_curve curve = lab_curve_add(figure, "d = %d", (int)d);
        struct lab_encodings e;
        int failed = lab_encodings_open(&run->session, LAB_SINUSOID, d, &e);
        double theory, measured;
        for (int64_t t = 20; figure != NULL && t <= 200000; t += t / 10) {
            attend_theory_sinusoid_nearest(d, t, &theory);
            lab_series_point(curve.theory, (double)t, theory, 0.0);
        }
        p.at[D] = (double)d;
        for (p.at[T] = 20; p.at[T] <= 200000 && !failed && !lab_stopped(&run->session);
             p.at[T] *= 10) {
            measured = NAN;
            failed = emit_nearest(run, &e, &p, &theory, &measured);
            lab_series_point(curve.measured, p.at[T], measured, 0.0);
        }
        lab_encodings_close(&e);
        if (failed)
            return -1;
    }
    return 0;
}

static int show_dots(struct lab_run *run, struct lab_encodings *e,
                     const struct lab_setting *p)
{
    const int64_t count = 64;
    struct lab_figure *const figure =
        lab_plot(run, "products", "Encodings against offset", "offset t' - t (positions)",
                 "<phi_t, phi_t'>", 0,
                 "The product of two encodings (%s, d = %.0f) is a sum of cosines of the "
                 "offset and of nothing else: near positions are alike.",
                 lab_text(run, "positions"), p->at[D]);

    if (figure == NULL)
        return 0;
    const struct lab_curve curve = lab_curve_add(figure, "%s", "");
    for (int64_t x = 0; x <= 8 * count; x++)
        lab_series_point(curve.theory, (double)x / 8.0,
                         attend_theory_sinusoid_dot(e->d, (double)x / 8.0), 0.0);
    if (lab_encodings_dot_first(e, 0, count + 1))
        return -1;
    for (int64_t i = 0; i <= count; i++)
        lab_series_point(curve.measured, (double)i, e->dot[i], 0.0);
    return 0;
}

static int show_distances(struct lab_run *run, struct lab_encodings *e,
                          const struct lab_setting *p)
{
    const int count = (int)fmin(p->at[T], 64);
    struct lab_figure *const figure = lab_plot(
        run, "distances", "Distances between encodings", "position t'", "position t", 0,
        "%s, d = %.0f.  Only t' - t counts, so every diagonal has one colour, and only "
        "the main one is 0.",
        lab_text(run, "positions"), p->at[D]);
    struct lab_heat *const heat = lab_heat_set(figure, count, count, "|phi_t - phi_t'|");

    if (heat == NULL)
        return 0;
    for (int i = 0; i < count; i++) {
        lab_encode(e, 0, count, e->a);
        lab_encode(e, i, 1, e->b);
        for (int64_t at = 0; at < count * e->d; at++)
            e->a[at] -= e->b[at % e->d];
        if (lab_encodings_dot(e, count, e->a, e->a, e->dot))
            return -1;
        heat->x[i] = heat->y[i] = i;
        for (int j = 0; j < count; j++)
            heat->value[i * count + j] = sqrt(e->dot[j]);
    }
    return 0;
}

static int perform(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    struct lab_encodings e;
    double theory, measured;

    if ((int64_t)p.at[D] % 2 != 0)
        return lab_misuse(&run->session,
                          "--d %.0f is odd: positions take pairs of columns", p.at[D]);
    if (lab_rows_at(run, &model, &p, 0, 0, NULL))
        return -1;
    if (kind_of(&p) == LAB_NO_POSITIONS)
        return 0;
    const int failed =
        lab_encodings_open(&run->session, kind_of(&p), (int64_t)p.at[D], &e) ||
        emit_dot(run, &e, &p) || emit_nearest(run, &e, &p, &theory, &measured) ||
        show_dots(run, &e, &p) || show_distances(run, &e, &p);
    lab_encodings_close(&e);
    return failed;
}

static int sweep(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);

    return sweep_kinds(run, &p) || sweep_shifts(run, p) || sweep_nearest(run, p);
}

const struct lab_experiment lab_experiment_positions = {
    .name = "positions",
    .title = "Positions: sinusoids, rotation, none",
    .shows =
        "Positions break the symmetry under permutations; rotary positions keep the "
        "symmetry under shifts; no two sinusoidal positions are equal, but some come "
        "near.",
    .answers = "2b-i 2b-ii 3g",
    .headline = "near_distance",
    LAB_FLAGS(flags),
    .perform = perform,
    .sweep = sweep,
};
