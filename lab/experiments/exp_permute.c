/* SPDX-License-Identifier: MIT */
/* Permuted tokens: quantities that are permuted with them, and invariants (T25). */
#include <math.h>

#include "lab/experiments/runner.h"
#include "lab/setups/permuted.h"

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("T", 64, 2, 2048, "tokens; h T T is at most 8388608"),
    LAB_FLAG_INTEGER("d", 32, 2, 512, "columns of X, Q, K, V and the output"),
    LAB_FLAG_INTEGER("h", 1, 1, 64, "heads; they divide d"),
    LAB_FLAG_CHOICE("mask", "none", LAB_3("none", "causal", "window"), "who sees whom"),
    LAB_FLAG_INTEGER("w", 4, 0, 2048,
                     "--mask window: a token sees w tokens on either side"),
    LAB_FLAG_CHOICE("scale", "on", LAB_2("on", "off"),
                    "scores divided by the root of a head's columns, or not"),
    LAB_FLAG_CHOICE("dtype", "f64", LAB_2("f64", "f32"), "type of the whole layer"),
    LAB_FLAG_CHOICE("convention", "rows", LAB_2("rows", "columns"),
                    "tokens are the rows of X (X W), or its columns (W X)"),
};

enum { NONE, CAUSAL, WINDOW }; /* masks */

enum { TOKENS, COLUMNS, HEADS, MASK, WIDTH, UNSCALED, DTYPE, BY_COLUMNS }; /* flags */

/* Most entries of the maps of all heads. */
enum { PAIRS_MAX = 1 << 23 };

static double pairs_of(const struct lab_setting *p)
{
    return p->at[HEADS] * p->at[TOKENS] * p->at[TOKENS];
}

static attend_rule rule_of(const struct lab_setting *p, int mask)
{
    attend_rule rule = attend_rule_default();

    rule.causal = mask == CAUSAL ? ATTEND_CAUSAL_TOP_LEFT : ATTEND_CAUSAL_NONE;
    rule.window_left = rule.window_right = mask == WINDOW ? (int64_t)p->at[WIDTH] : -1;
    rule.scale_is_set = p->at[UNSCALED] != 0;
    rule.scale = 1.0;
    return rule;
}

static const struct lab_observable rows[] = {
    {.quantity = "defect_rows"},   {.quantity = "defect_columns"},
    {.quantity = "defect_scores"}, {.quantity = "defect_weights"},
    {.quantity = "defect_z"},      {.quantity = "defect_mask_moved"},
    {.quantity = "rows_same_bits"}};
enum {
    DEFECT_ROWS,
    DEFECT_COLUMNS,
    DEFECT_SCORES,  /* max|S(PX) - P S P^T|, before the mask */
    DEFECT_WEIGHTS, /* max|softmax(S(PX)) - P softmax(S) P^T| */
    DEFECT_Z,       /* max|Z(PX) - P Z(X)| */
    DEFECT_MASK_MOVED,
    SAME_BITS /* share of rows of Att(PX) that equal P Att(X) bit for bit */
};

/* The row of max|Att(PX) - P Att(X)|, and that of max|Att(X Pi) - Att(X) Pi|. */
static int tokens_row(const struct lab_setting *p)
{
    return p->at[BY_COLUMNS] ? DEFECT_COLUMNS : DEFECT_ROWS;
}

static int features_row(const struct lab_setting *p)
{
    return p->at[BY_COLUMNS] ? DEFECT_ROWS : DEFECT_COLUMNS;
}

/* With a mask or a window there is no formula for the distance of the rows. */
static void theory_of(const struct lab_setting *p, double *theory)
{
    const double kept = p->at[MASK] == NONE ? 0.0 : NAN;

    theory[tokens_row(p)] = theory[DEFECT_WEIGHTS] = theory[DEFECT_Z] = kept;
    theory[DEFECT_SCORES] = theory[DEFECT_MASK_MOVED] = 0;
    theory[features_row(p)] = theory[SAME_BITS] = NAN;
}

/* ---- measurement ----------------------------------------------------------- */

static int measure_in(struct lab_run *run, const struct lab_setting *p,
                      struct lab_permuted *work, struct lab_found *found)
{
    const int mask = (int)p->at[MASK];
    const attend_rule rule = rule_of(p, mask), open = rule_of(p, NONE);
    const struct lab_tokens tokens = {.t = (int64_t)p->at[TOKENS],
                                      .d = (int64_t)p->at[COLUMNS],
                                      .heads = (int64_t)p->at[HEADS],
                                      .dtype = p->at[DTYPE] ? ATTEND_F32 : ATTEND_F64};
    const int64_t width = mask == CAUSAL ? -1 : (int64_t)p->at[WIDTH];
    struct lab_found *const kept = &found[tokens_row(p)];
    struct lab_moved by;
    double h = 0;

    if (lab_permuted_open(&run->session, run->ctx, tokens, work) ||
        lab_permuted_tokens(work, &rule, &open, &by) ||
        (mask != NONE && lab_permuted_mask(work, open, width, &h)))
        return -1;
    *kept = lab_defect(kept->theory, by.h, by.allowed);
    found[DEFECT_SCORES] = lab_defect(0, by.scores, by.allowed);
    found[DEFECT_WEIGHTS] =
        lab_defect(found[DEFECT_WEIGHTS].theory, by.weights, by.allowed);
    found[DEFECT_Z] = lab_defect(found[DEFECT_Z].theory, by.z, by.allowed_z);
    found[DEFECT_MASK_MOVED] = lab_defect(0, h, by.allowed);
    found[DEFECT_MASK_MOVED].is_absent = mask == NONE;
    found[SAME_BITS].measured = by.same_bits;
    /* The claim of sheet 002. */
    return lab_permuted_features(work, &rule, &found[features_row(p)].measured);
}

static int measure(struct lab_run *run, const struct lab_setting *p,
                   struct lab_found *found)
{
    struct lab_permuted work;
    const int failed = measure_in(run, p, &work, found);

    lab_permuted_close(&work);
    return failed;
}

static const struct lab_model model = {LAB_ROWS(rows), .theory = theory_of,
                                       .measure = measure};

/* ---- sweeps and figures -------------------------------------------------- */

static int sweep_tokens(struct lab_run *run, struct lab_setting p)
{
    enum { SERIES = 6 };
    static const char *const labels[SERIES] = {
        "tokens moved, f64",   "tokens moved, f32", "features moved, f64",
        "features moved, f32", "rounding, f64",     "rounding, f32"};
    struct lab_figure *const figure =
        lab_plot(run, "tokens", "Permuting the input", "T (tokens)", "defect",
                 LAB_LOG_X | LAB_LOG_Y, "Mask: %s.  ", lab_text(run, "mask"));
    struct lab_series *series[SERIES];
    double most[2] = {0, 0}, *const T = &p.at[TOKENS];
    int is_rounding = 1;

    for (int s = 0; s < SERIES; s++)
        series[s] =
            lab_series_add(figure, s < 4 ? LAB_POINTS : LAB_LINE, "%s", labels[s]);
    for (*T = 8; pairs_of(&p) <= PAIRS_MAX && *T <= 512 && !lab_stopped(&run->session);
         *T *= 2)
        for (int f32 = 0; f32 < 2; f32++) {
            struct lab_sample sample;
            p.at[DTYPE] = f32;
            if (lab_rows_at(run, &model, &p, 0, 0, &sample))
                return -1;
            const double tokens = sample.found[tokens_row(&p)].measured;
            const double features = sample.found[features_row(&p)].measured;
            const double allowed = sample.found[DEFECT_SCORES].allowed;
            most[0] = fmax(most[0], tokens);
            most[1] = fmax(most[1], features);
            is_rounding &= tokens <= allowed;
            lab_series_point(series[f32], *T, tokens, 0.0);
            lab_series_point(series[2 + f32], *T, features, 0.0);
            lab_series_point(series[4 + f32], *T, allowed, 0.0);
        }
    lab_caption(
        figure,
        "Tokens moved: Att(PX) and P Att(X) %s (at most %.2g apart).  Features moved, as "
        "sheet 002 writes it: Att(X Pi) and Att(X) Pi are up to %.2g apart.",
        is_rounding
            ? "agree to rounding, below what the engine's stated accuracy allows (lines)"
            : "do not agree: the mask stays where it is",
        most[0], most[1]);
    return 0;
}

static int sweep_masks(struct lab_run *run, struct lab_setting p)
{
    struct lab_figure *const figure =
        lab_plot(run, "masks", "What a mask does to the symmetry", "mask",
                 "max |Att(PX) - P Att(X)|", LAB_LOG_Y, "%s", "");
    double apart[3] = {NAN, NAN, NAN}, together = 0;
    struct lab_series *const left = lab_series_add(figure, LAB_POINTS, "mask stays");
    struct lab_series *const moved =
        lab_series_add(figure, LAB_POINTS, "mask moves with the tokens");

    lab_figure_names(figure, "none|causal|window");
    for (int m = NONE; m <= WINDOW && !lab_stopped(&run->session); m++) {
        struct lab_sample sample;
        p.at[MASK] = m;
        if (lab_rows_at(run, &model, &p, 0, 0, &sample))
            return -1;
        const double with_mask = sample.found[DEFECT_MASK_MOVED].measured;
        apart[m] = sample.found[tokens_row(&p)].measured;
        together = fmax(together, m == NONE ? 0 : with_mask);
        lab_series_point(left, m, apart[m], 0.0);
        lab_series_point(moved, m, m == NONE ? apart[m] : with_mask, 0.0);
    }
    lab_caption(
        figure,
        "Att(PX) and P Att(X) are %.2g apart without a mask, %.2g with a causal one, "
        "%.2g with a window of %.0f.  If the mask is permuted as well, M to P M P^T, the "
        "law holds again: at most %.2g.",
        apart[NONE], apart[CAUSAL], apart[WINDOW], p.at[WIDTH], together);
    return 0;
}

/* Head 0 of X, or of X with tokens moved. */
static void show_weights(struct lab_run *run, const struct lab_permuted *work, int mask,
                         int moved)
{
    const int T = work->tokens.t < 64 ? (int)work->tokens.t : 64;
    struct lab_figure *const figure =
        lab_plot(run, moved ? "weights-moved" : "weights",
                 moved ? "Weights of PX" : "Weights of X", "key j", "query i", 0,
                 "Head 0%s.  %s", work->tokens.t > T ? ", the first 64 tokens" : "",
                 mask == NONE ? "Permuting the tokens permutes rows and columns of the "
                                "weights alike: softmax(P S P^T) = P softmax(S) P^T."
                              : "The mask stays in its place while the tokens move.");
    struct lab_heat *const heat = lab_heat_set(figure, T, T, "weight");

    if (heat == NULL)
        return;
    for (int i = 0; i < T; i++) {
        heat->x[i] = heat->y[i] = i;
        for (int j = 0; j < T; j++)
            heat->value[i * T + j] = work->out[moved].weights[i * work->tokens.t + j];
    }
}

static int perform(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    const long long d = (long long)p.at[COLUMNS], h = (long long)p.at[HEADS];
    struct lab_sample sample = {.histogram = NULL};
    struct lab_permuted work;

    if (d % h != 0)
        return lab_misuse(&run->session, "--h %lld does not divide --d %lld", h, d);
    if (pairs_of(&p) > PAIRS_MAX)
        return lab_misuse(&run->session,
                          "--h %lld and --T %.0f: h T T must not exceed %d", h,
                          p.at[TOKENS], PAIRS_MAX);
    lab_predict(&model, &p, &sample);
    const int failed = measure_in(run, &p, &work, sample.found);
    if (!failed) {
        lab_emit_all(run, &model, &p, &sample);
        show_weights(run, &work, (int)p.at[MASK], 0);
        show_weights(run, &work, (int)p.at[MASK], 1);
    }
    lab_permuted_close(&work);
    return failed;
}

static int sweep(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);

    return sweep_tokens(run, p) || sweep_masks(run, p);
}

const struct lab_experiment lab_experiment_permute = {
    .name = "permute",
    .title = "Permuted tokens",
    .shows = "Self-attention moves with its tokens, Att(PX) = P Att(X) and Z(PX) = P Z, "
             "to rounding; not with its features (X Pi), and no longer once a mask tells "
             "positions apart.",
    .answers = "2a-i 2a-ii",
    LAB_FLAGS(flags),
    .perform = perform,
    .sweep = sweep,
};
