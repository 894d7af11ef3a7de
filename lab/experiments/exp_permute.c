/* SPDX-License-Identifier: MIT */
/* Permuted tokens: quantities that are permuted with them, and invariants (T25). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attend/layer.h"
#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/setups/tokens.h"

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("T", 64, 2, 2048, "tokens"),
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

enum mask { NONE, CAUSAL, WINDOW };

enum { TOKENS, COLUMNS, HEADS, MASK, WIDTH, UNSCALED, DTYPE, BY_COLUMNS }; /* flags */

static int64_t tokens_of(const struct lab_setting *p) { return (int64_t)p->at[TOKENS]; }
static int64_t columns_of(const struct lab_setting *p) { return (int64_t)p->at[COLUMNS]; }
static int64_t heads_of(const struct lab_setting *p) { return (int64_t)p->at[HEADS]; }
static enum mask mask_of(const struct lab_setting *p) { return (enum mask)p->at[MASK]; }

static attend_dtype dtype_of(const struct lab_setting *p)
{
    return p->at[DTYPE] ? ATTEND_F32 : ATTEND_F64;
}

static attend_rule rule_of(const struct lab_setting *setting, enum mask mask)
{
    attend_rule rule = attend_rule_default();

    rule.causal = mask == CAUSAL ? ATTEND_CAUSAL_TOP_LEFT : ATTEND_CAUSAL_NONE;
    rule.window_left = rule.window_right =
        mask == WINDOW ? (int64_t)setting->at[WIDTH] : -1;
    rule.scale_is_set = setting->at[UNSCALED] != 0;
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
    const double kept = mask_of(p) == NONE ? 0.0 : NAN;

    theory[tokens_row(p)] = theory[DEFECT_WEIGHTS] = theory[DEFECT_Z] = kept;
    theory[DEFECT_SCORES] = theory[DEFECT_MASK_MOVED] = 0;
    theory[features_row(p)] = theory[SAME_BITS] = NAN;
}

/* ---- measurement ----------------------------------------------------------- */

enum { PAIRS_MAX = 1 << 23 };

struct workspace {
    struct lab_tokens tokens;
    int64_t *order, *feature_order; /* of T tokens, of d features */
    double *moved, *expect;         /* (T, d) */
    struct lab_layer_out out[2];    /* of X, of X with tokens moved */
    unsigned char *moved_mask;      /* (T, T) */
};

static int open_workspace(struct lab_run *run, const struct lab_setting *p,
                          struct workspace *work)
{
    const int64_t T = tokens_of(p), d = columns_of(p), pairs = heads_of(p) * T * T;
    double **const matrices[] = {&work->moved,    &work->expect,   &work->out[0].h,
                                 &work->out[0].z, &work->out[1].h, &work->out[1].z};
    double **const maps[] = {&work->out[0].scores, &work->out[0].weights,
                             &work->out[1].scores, &work->out[1].weights};
    enum { MATRICES = sizeof matrices / sizeof *matrices };
    enum { MAPS = sizeof maps / sizeof *maps };
    double *next = lab_scratch(run, MATRICES * T * d + MAPS * pairs);

    *work = (struct workspace){
        .tokens = {.t = T, .d = d, .heads = heads_of(p), .dtype = dtype_of(p)}};
    if (next == NULL || lab_tokens_open(&run->session, &work->tokens))
        return -1;
    for (int m = 0; m < MATRICES; m++, next += T * d)
        *matrices[m] = next;
    for (int m = 0; m < MAPS; m++, next += pairs)
        *maps[m] = next;
    work->order = malloc((size_t)(T + d) * sizeof *work->order);
    work->moved_mask = malloc((size_t)(T * T));
    if (!work->order || !work->moved_mask)
        return lab_fail(&run->session, "out of memory for %lld tokens", (long long)T);
    work->feature_order = work->order + T;
    lab_tokens_order(run->session.seed, T, work->order);
    lab_tokens_order(run->session.seed + 1, d, work->feature_order);
    attend_theory_permute_rows(work->tokens.x, T, d, work->order, work->moved);
    return 0;
}

static void close_workspace(struct workspace *work)
{
    lab_tokens_close(&work->tokens);
    free(work->order);
    free(work->moved_mask);
}

static int layer(struct lab_run *run, const struct workspace *work,
                 const attend_rule *rule, const double *x, struct lab_layer_out out)
{
    return lab_tokens_layer(&run->session, run->ctx, &work->tokens, rule,
                            ATTEND_LAYER_ROTARY_NONE, NULL, x, &out);
}

/* max|to - P from|, (T, d). */
static double rows_apart(const struct workspace *work, const double *from,
                         const double *to)
{
    const int64_t T = work->tokens.t, d = work->tokens.d;

    attend_theory_permute_rows(from, T, d, work->order, work->expect);
    return lab_most_apart(to, work->expect, T * d);
}

/*
 * max|to - P from P^T|, (h, T, T); with `largest` also max|to|, for scores, of which NaN
 * are skipped.
 */
static double maps_apart(const struct workspace *work, const double *from,
                         const double *to, double *largest)
{
    const int64_t T = work->tokens.t;
    double apart = 0;

    for (int64_t h = 0; h < work->tokens.heads; h++, from += T * T, to += T * T)
        for (int64_t i = 0; i < T; i++)
            for (int64_t j = 0; j < T; j++) {
                const double x = from[work->order[i] * T + work->order[j]];
                const double off = fabs(to[i * T + j] - x);
                if (isnan(off) && !largest)
                    return off;
                if (isnan(off))
                    continue;
                apart = fmax(apart, off);
                if (largest)
                    *largest = fmax(*largest, fabs(to[i * T + j]));
            }
    return apart;
}

static double equal_rows(const double *a, const double *b, int64_t count, int64_t columns)
{
    int64_t equal = 0;

    for (int64_t r = 0; r < count; r++)
        equal +=
            memcmp(a + r * columns, b + r * columns, (size_t)columns * sizeof *a) == 0;
    return (double)equal / (double)count;
}

/* The largest sum of |w| over a column: max|x W| <= this * max|x|. */
static double column_norm(const double *w, int64_t count, int64_t columns)
{
    double largest = 0.0;

    for (int64_t c = 0; c < columns; c++) {
        double sum = 0.0;
        for (int64_t r = 0; r < count; r++)
            sum += fabs(w[r * columns + c]);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* Tokens are moved. */
static int move_tokens(struct lab_run *run, const struct lab_setting *p,
                       struct workspace *work, struct lab_found *found)
{
    const struct lab_tokens *const tokens = &work->tokens;
    const attend_rule rule = rule_of(p, mask_of(p)), open = rule_of(p, NONE);
    struct lab_layer_out *const out = work->out;
    double score = 1;

    for (int moved = 0; moved < 2; moved++) {
        const double *const x = moved ? work->moved : tokens->x;
        if (layer(run, work, &rule, x,
                  (struct lab_layer_out){.h = out[moved].h,
                                         .z = out[moved].z,
                                         .weights = out[moved].weights}) ||
            layer(run, work, &open, x,
                  (struct lab_layer_out){.scores = out[moved].scores}))
            return -1;
    }
    const double z = rows_apart(work, out[0].z, out[1].z);
    const double h = rows_apart(work, out[0].h, out[1].h);
    const double scores = maps_apart(work, out[0].scores, out[1].scores, &score);
    const double weights = maps_apart(work, out[0].weights, out[1].weights, NULL);
    /*
     * The same sums in two orders: each is within the accuracy that the engine states for
     * scores and values of size 1, here of values below 8 and scores up to max|S|.
     */
    const double stated = tokens->dtype == ATTEND_F64 ? 1e-12 : 2e-6;
    const double allowed = 2.0 * stated * 8.0 * score;
    /* A bound on the factor by which the feed-forward enlarges a difference. */
    const double stretch = column_norm(tokens->w1, tokens->d, tokens->f) *
                           column_norm(tokens->w2, tokens->f, tokens->d);
    found[tokens_row(p)] = lab_defect(found[tokens_row(p)].theory, h, allowed);
    found[DEFECT_SCORES] = lab_defect(0, scores, allowed);
    found[DEFECT_WEIGHTS] = lab_defect(found[DEFECT_WEIGHTS].theory, weights, allowed);
    found[DEFECT_Z] = lab_defect(found[DEFECT_Z].theory, z, stretch * allowed);
    found[SAME_BITS].measured = equal_rows(out[1].h, work->expect, tokens->t, tokens->d);
    return 0;
}

/* The mask moves with the tokens: M -> P M P^T, given as an explicit mask. */
static int move_mask_too(struct lab_run *run, const struct lab_setting *p,
                         struct workspace *work, struct lab_found *found)
{
    const int64_t T = tokens_of(p);
    attend_rule rule = rule_of(p, NONE);

    found[DEFECT_MASK_MOVED].is_absent = mask_of(p) == NONE;
    if (mask_of(p) == NONE)
        return 0;
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++) {
            const int64_t from = work->order[i], to = work->order[j];
            work->moved_mask[i * T + j] = mask_of(p) == CAUSAL
                                              ? to <= from
                                              : llabs(to - from) <= (int64_t)p->at[WIDTH];
        }
    rule.mask = (attend_view){work->moved_mask, ATTEND_BOOL, {1, 1, T, T}, {0, 0, T, 1}};
    if (layer(run, work, &rule, work->moved, (struct lab_layer_out){.h = work->out[1].h}))
        return -1;
    found[DEFECT_MASK_MOVED] =
        lab_defect(0, rows_apart(work, work->out[0].h, work->out[1].h),
                   found[DEFECT_SCORES].allowed);
    return 0;
}

/* The claim of sheet 002: columns of X are moved, weights are not. */
static int move_features(struct lab_run *run, const struct lab_setting *p,
                         struct workspace *work, struct lab_found *found)
{
    const int64_t T = tokens_of(p), d = columns_of(p);
    const attend_rule rule = rule_of(p, mask_of(p));
    double *const got = work->out[1].h;

    attend_theory_permute_columns(work->tokens.x, T, d, work->feature_order,
                                  work->expect);
    if (layer(run, work, &rule, work->expect, (struct lab_layer_out){.h = got}))
        return -1;
    attend_theory_permute_columns(work->out[0].h, T, d, work->feature_order,
                                  work->expect);
    found[features_row(p)].measured = lab_most_apart(got, work->expect, T * d);
    return 0;
}

static int measure_in(struct lab_run *run, const struct lab_setting *p,
                      struct workspace *work, struct lab_found *found)
{
    return open_workspace(run, p, work) || move_tokens(run, p, work, found) ||
           move_mask_too(run, p, work, found) || move_features(run, p, work, found);
}

static int measure(struct lab_run *run, const struct lab_setting *p,
                   struct lab_found *found)
{
    struct workspace work;
    const int failed = measure_in(run, p, &work, found);

    close_workspace(&work);
    return failed;
}

static const struct lab_model model = {LAB_ROWS(rows), .theory = theory_of,
                                       .measure = measure};

/* ---- sweeps and figures -------------------------------------------------- */

enum { SERIES = 6 };

static int sweep_tokens(struct lab_run *run, struct lab_setting p)
{
    struct lab_figure *const figure =
        lab_plot(run, "tokens", "Permuting the input", "T (tokens)", "defect",
                 LAB_LOG_X | LAB_LOG_Y, "%s", "");
    double most[2] = {0, 0};
    int is_rounding = 1;
    static const char *const labels[SERIES] = {
        "tokens moved, f64",   "tokens moved, f32", "features moved, f64",
        "features moved, f32", "rounding, f64",     "rounding, f32"};
    struct lab_series *series[SERIES];
    double *const T = &p.at[TOKENS];

    for (int s = 0; s < SERIES; s++)
        series[s] =
            lab_series_add(figure, s < 4 ? LAB_POINTS : LAB_LINE, "%s", labels[s]);
    for (*T = 8;
         p.at[HEADS] * *T * *T <= PAIRS_MAX && *T <= 512 && !lab_stopped(&run->session);
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
        "Mask: %s.  Tokens moved: Att(PX) and P Att(X) %s (at most %.2g apart).  "
        "Features moved, as sheet 002 writes it: Att(X Pi) and Att(X) Pi are up to %.2g "
        "apart.",
        lab_text(run, "mask"),
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
static void show_weights(struct lab_run *run, const struct workspace *work,
                         enum mask mask, int moved)
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
    struct lab_sample sample = {.histogram = NULL};
    struct workspace work;

    if (columns_of(&p) % heads_of(&p) != 0)
        return lab_misuse(&run->session, "--h %lld does not divide --d %lld",
                          (long long)heads_of(&p), (long long)columns_of(&p));
    if (p.at[HEADS] * p.at[TOKENS] * p.at[TOKENS] > PAIRS_MAX)
        return lab_misuse(&run->session,
                          "--h %lld and --T %lld: h T T must not exceed %d",
                          (long long)heads_of(&p), (long long)tokens_of(&p), PAIRS_MAX);
    lab_predict(&model, &p, &sample);
    const int failed = measure_in(run, &p, &work, sample.found);
    if (!failed) {
        lab_emit_all(run, &model, &p, &sample);
        show_weights(run, &work, mask_of(&p), 0);
        show_weights(run, &work, mask_of(&p), 1);
    }
    close_workspace(&work);
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
