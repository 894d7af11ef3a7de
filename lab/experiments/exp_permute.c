/* SPDX-License-Identifier: MIT */
/* Permuted tokens: who moves with them, who does not (T25). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attend/layer.h"
#include "attend/theory.h"
#include "lab/experiments/experiment.h"
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

enum { MAPS = 5, PAIRS_MAX = 1 << 23 };

/* The layer's results on X, and on X with tokens or features moved. */
struct workspace {
    struct lab_tokens tokens;
    int64_t *order, *feature_order; /* of T tokens, of d features */
    double *x, *expect, *got;       /* (T, d) */
    double *h, *z;                  /* (T, d), of X */
    double *map[MAPS];              /* (h, T, T) */
    unsigned char *moved_mask;      /* (T, T) */
};

static int open_workspace(struct lab_run *run, const struct lab_setting *setting,
                          struct workspace *work)
{
    const int64_t T = tokens_of(setting), d = columns_of(setting);
    const int64_t pairs = heads_of(setting) * T * T;
    double **const matrices[] = {&work->x, &work->expect, &work->got, &work->h, &work->z};
    enum { MATRICES = sizeof matrices / sizeof *matrices };
    double *next = lab_room(run, MATRICES * T * d + MAPS * pairs);

    *work = (struct workspace){
        .tokens = {
            .t = T, .d = d, .heads = heads_of(setting), .dtype = dtype_of(setting)}};
    if (next == NULL || lab_tokens_open(&run->session, &work->tokens))
        return -1;
    for (int m = 0; m < MATRICES; m++, next += T * d)
        *matrices[m] = next;
    for (int m = 0; m < MAPS; m++, next += pairs)
        work->map[m] = next;
    work->order = malloc((size_t)(T + d) * sizeof *work->order);
    work->moved_mask = malloc((size_t)(T * T));
    if (!work->order || !work->moved_mask)
        return lab_fail(&run->session, "no memory for %lld tokens", (long long)T);
    work->feature_order = work->order + T;
    lab_tokens_order(run->session.seed, T, work->order);
    lab_tokens_order(run->session.seed + 1, d, work->feature_order);
    return 0;
}

static void close_workspace(struct workspace *work)
{
    lab_tokens_close(&work->tokens);
    free(work->order);
    free(work->moved_mask);
}

struct defects {
    double tokens;     /* max|Att(PX) - P Att(X)|, tokens moved */
    double features;   /* max|Att(X Pi) - Att(X) Pi|, features moved */
    double z;          /* max|Z(PX) - P Z(X)| */
    double scores;     /* max|S(PX) - P S P^T|, before the mask */
    double weights;    /* max|softmax(S(PX)) - P softmax(S) P^T| */
    double mask_moved; /* tokens and mask moved alike; NaN without a mask */
    double same_bits;  /* share of rows of Att(PX) that equal P Att(X) bit for bit */
    double score;      /* max|S| */
    double stretch;    /* how much the feed-forward may enlarge a difference */
};

/* expect[i][j] = from[order[i]][order[j]] for every head. */
static void move_map(const struct workspace *work, const double *from, double *to)
{
    const int64_t T = work->tokens.t;

    for (int64_t h = 0; h < work->tokens.heads; h++)
        for (int64_t i = 0; i < T; i++)
            for (int64_t j = 0; j < T; j++)
                to[(h * T + i) * T + j] =
                    from[(h * T + work->order[i]) * T + work->order[j]];
}

/* Where both are known. */
static void compare_scores(const double *a, const double *b, int64_t count,
                           struct defects *defects)
{
    defects->scores = defects->score = 0.0;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(a[i]) && !isnan(b[i])) {
            defects->scores = fmax(defects->scores, fabs(a[i] - b[i]));
            defects->score = fmax(defects->score, fabs(a[i]));
        }
}

static double equal_rows(const double *a, const double *b, int64_t rows, int64_t columns)
{
    int64_t equal = 0;

    for (int64_t r = 0; r < rows; r++)
        equal +=
            memcmp(a + r * columns, b + r * columns, (size_t)columns * sizeof *a) == 0;
    return (double)equal / (double)rows;
}

/* The largest sum of |w| over a column: max|x W| <= this * max|x|. */
static double column_norm(const double *w, int64_t rows, int64_t columns)
{
    double largest = 0.0;

    for (int64_t c = 0; c < columns; c++) {
        double sum = 0.0;
        for (int64_t r = 0; r < rows; r++)
            sum += fabs(w[r * columns + c]);
        largest = fmax(largest, sum);
    }
    return largest;
}

static int layer(struct lab_run *run, const struct workspace *work,
                 const attend_rule *rule, const double *x,
                 const struct lab_layer_out *out)
{
    return lab_tokens_layer(&run->session, run->ctx, &work->tokens, rule,
                            ATTEND_LAYER_ROTARY_NONE, NULL, x, out);
}

/* Tokens are moved: work->x becomes PX. */
static int move_tokens(struct lab_run *run, const struct lab_setting *setting,
                       struct workspace *work, struct defects *defects)
{
    const int64_t T = tokens_of(setting), d = columns_of(setting), count = T * d;
    const int64_t pairs = heads_of(setting) * T * T;
    const attend_rule rule = rule_of(setting, mask_of(setting));
    const attend_rule open = rule_of(setting, NONE);
    double *const *const map = work->map;

    attend_theory_permute_rows(work->tokens.x, T, d, work->order, work->x);
    if (layer(run, work, &rule, work->tokens.x,
              &(struct lab_layer_out){.h = work->h, .z = work->z, .weights = map[0]}) ||
        layer(run, work, &rule, work->x,
              &(struct lab_layer_out){.h = work->got, .weights = map[1]}))
        return -1;
    attend_theory_permute_rows(work->h, T, d, work->order, work->expect);
    defects->tokens = lab_most_apart(work->got, work->expect, count);
    defects->same_bits = equal_rows(work->got, work->expect, T, d);
    move_map(work, map[0], map[2]);
    defects->weights = lab_most_apart(map[1], map[2], pairs);
    if (layer(run, work, &rule, work->x, &(struct lab_layer_out){.z = work->got}))
        return -1;
    attend_theory_permute_rows(work->z, T, d, work->order, work->expect);
    defects->z = lab_most_apart(work->got, work->expect, count);
    if (layer(run, work, &open, work->tokens.x,
              &(struct lab_layer_out){.scores = map[2]}) ||
        layer(run, work, &open, work->x, &(struct lab_layer_out){.scores = map[3]}))
        return -1;
    /* map[0] and map[1] hold the weights that the figure shows. */
    move_map(work, map[2], map[4]);
    compare_scores(map[3], map[4], pairs, defects);
    defects->stretch = column_norm(work->tokens.w1, d, work->tokens.f) *
                       column_norm(work->tokens.w2, work->tokens.f, d);
    return 0;
}

/* The mask moves with the tokens: M -> P M P^T, given as an explicit mask. */
static int move_mask_too(struct lab_run *run, const struct lab_setting *setting,
                         struct workspace *work, struct defects *defects)
{
    const int64_t T = tokens_of(setting), d = columns_of(setting);
    attend_rule rule = rule_of(setting, NONE);

    defects->mask_moved = NAN;
    if (mask_of(setting) == NONE)
        return 0;
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++) {
            const int64_t from = work->order[i], to = work->order[j];
            work->moved_mask[i * T + j] =
                mask_of(setting) == CAUSAL
                    ? to <= from
                    : llabs(to - from) <= (int64_t)setting->at[WIDTH];
        }
    rule.mask = (attend_view){work->moved_mask, ATTEND_BOOL, {1, 1, T, T}, {0, 0, T, 1}};
    if (layer(run, work, &rule, work->x, &(struct lab_layer_out){.h = work->got}))
        return -1;
    attend_theory_permute_rows(work->h, T, d, work->order, work->expect);
    defects->mask_moved = lab_most_apart(work->got, work->expect, T * d);
    return 0;
}

/* What sheet 002 claims: columns of X are moved, weights are not. */
static int move_features(struct lab_run *run, const struct lab_setting *setting,
                         struct workspace *work, struct defects *defects)
{
    const int64_t T = tokens_of(setting), d = columns_of(setting);
    const attend_rule rule = rule_of(setting, mask_of(setting));

    attend_theory_permute_columns(work->tokens.x, T, d, work->feature_order,
                                  work->expect);
    if (layer(run, work, &rule, work->expect, &(struct lab_layer_out){.h = work->got}))
        return -1;
    attend_theory_permute_columns(work->h, T, d, work->feature_order, work->expect);
    defects->features = lab_most_apart(work->got, work->expect, T * d);
    return 0;
}

static int measure(struct lab_run *run, const struct lab_setting *setting,
                   struct workspace *work, struct defects *defects)
{
    return open_workspace(run, setting, work) ||
           move_tokens(run, setting, work, defects) ||
           move_mask_too(run, setting, work, defects) ||
           move_features(run, setting, work, defects);
}

/* ---- rows ---------------------------------------------------------------- */

/* A theory of 0: what vanishes but for rounding; NaN: there is none. */
static void emit(struct lab_run *run, const struct lab_setting *setting,
                 const char *quantity, double theory, double measured, double allowed)
{
    lab_emit(run, quantity, setting,
             isnan(theory) ? lab_sure(theory, measured) : lab_zero(measured, allowed));
}

/*
 * The same sums in two orders: each is within the accuracy that the engine states for
 * scores and values of size 1, here of values below 8 and scores up to max|S|.
 */
static double rounding_of(const struct lab_setting *setting,
                          const struct defects *defects)
{
    const double stated = dtype_of(setting) == ATTEND_F64 ? 1e-12 : 2e-6;

    return 2.0 * stated * 8.0 * fmax(1.0, defects->score);
}

static void emit_all(struct lab_run *run, const struct lab_setting *setting,
                     const struct defects *defects)
{
    const double allowed = rounding_of(setting, defects);
    /* A mask, a window: no formula says how far the rows are then from equal. */
    const double theory = mask_of(setting) == NONE ? 0.0 : NAN;
    const int by_columns = setting->at[BY_COLUMNS] != 0;
    const double rows = by_columns ? defects->features : defects->tokens;
    const double columns = by_columns ? defects->tokens : defects->features;

    emit(run, setting, "defect_rows", by_columns ? NAN : theory, rows, allowed);
    emit(run, setting, "defect_columns", by_columns ? theory : NAN, columns, allowed);
    emit(run, setting, "defect_scores", 0.0, defects->scores, allowed);
    emit(run, setting, "defect_weights", theory, defects->weights, allowed);
    emit(run, setting, "defect_z", theory, defects->z, defects->stretch * allowed);
    if (mask_of(setting) != NONE)
        emit(run, setting, "defect_mask_moved", 0.0, defects->mask_moved, allowed);
    emit(run, setting, "rows_same_bits", NAN, defects->same_bits, 0.0);
}

/* A setting of a sweep; rows that the run's own do not hold already. */
static int measure_swept(struct lab_run *run, const struct lab_setting *own,
                         const struct lab_setting *setting, struct defects *defects)
{
    struct workspace work;
    const int failed = measure(run, setting, &work, defects);

    close_workspace(&work);
    if (!failed &&
        (tokens_of(setting) != tokens_of(own) || dtype_of(setting) != dtype_of(own) ||
         mask_of(setting) != mask_of(own)))
        emit_all(run, setting, defects);
    return failed;
}

/* ---- sweeps and figures -------------------------------------------------- */

enum { SERIES = 6 };

static int sweep_tokens(struct lab_run *run, const struct lab_setting *at)
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

    for (int s = 0; s < SERIES; s++)
        series[s] =
            lab_series_add(figure, s < 4 ? LAB_POINTS : LAB_LINE, "%s", labels[s]);
    for (int64_t T = 8;
         heads_of(at) * T * T <= PAIRS_MAX && T <= 512 && !lab_stopped(&run->session);
         T *= 2)
        for (int f32 = 0; f32 < 2; f32++) {
            struct lab_setting setting = *at;
            struct defects defects;
            setting.at[TOKENS] = (double)T;
            setting.at[DTYPE] = f32;
            if (measure_swept(run, at, &setting, &defects))
                return -1;
            most[0] = fmax(most[0], defects.tokens);
            most[1] = fmax(most[1], defects.features);
            is_rounding &= defects.tokens <= rounding_of(&setting, &defects);
            lab_series_point(series[f32], (double)T, defects.tokens, 0.0);
            lab_series_point(series[2 + f32], (double)T, defects.features, 0.0);
            lab_series_point(series[4 + f32], (double)T, rounding_of(&setting, &defects),
                             0.0);
        }
    lab_figure_describe(
        figure, LAB_LOG_X | LAB_LOG_Y,
        "Mask: %s.  Tokens moved: Att(PX) and P Att(X) %s (at most %.2g apart).  "
        "Features "
        "moved, as sheet 002 writes it: Att(X Pi) and Att(X) Pi are up to %.2g apart.",
        lab_text(run, "mask"),
        is_rounding ? "agree to rounding, below what the engine's stated accuracy allows "
                      "(lines)"
                    : "do not agree: the mask stays where it is",
        most[0], most[1]);
    return 0;
}

static int sweep_masks(struct lab_run *run, const struct lab_setting *at)
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
        struct lab_setting setting = *at;
        struct defects defects;
        setting.at[MASK] = m;
        if (measure_swept(run, at, &setting, &defects))
            return -1;
        apart[m] = defects.tokens;
        together = fmax(together, m == NONE ? 0 : defects.mask_moved);
        lab_series_point(left, m, defects.tokens, 0.0);
        lab_series_point(moved, m, m == NONE ? defects.tokens : defects.mask_moved, 0.0);
    }
    lab_figure_describe(
        figure, LAB_LOG_Y,
        "Att(PX) and P Att(X) are %.2g apart without a mask, %.2g with a "
        "causal one, %.2g with a window of %lld.  If the mask is permuted "
        "as well, M to P M P^T, the law holds again: at most %.2g.",
        apart[NONE], apart[CAUSAL], apart[WINDOW], (long long)at->at[WIDTH], together);
    return 0;
}

static void show_weights(struct lab_run *run, const struct workspace *work,
                         enum mask mask, int which, const char *title)
{
    const int T = work->tokens.t < 64 ? (int)work->tokens.t : 64;
    struct lab_figure *const figure =
        lab_plot(run, which ? "weights-moved" : "weights", title, "key j", "query i", 0,
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
            heat->value[i * T + j] = work->map[which][i * work->tokens.t + j];
    }
}

static int perform(struct lab_run *run)
{
    const struct lab_setting setting = lab_own(run);
    struct workspace work;
    struct defects defects;

    if (columns_of(&setting) % heads_of(&setting) != 0)
        return lab_misuse(&run->session, "--h %lld does not divide --d %lld",
                          (long long)heads_of(&setting), (long long)columns_of(&setting));
    if (setting.at[HEADS] * setting.at[TOKENS] * setting.at[TOKENS] > PAIRS_MAX)
        return lab_misuse(
            &run->session, "--h %lld and --T %lld: h T T must not exceed %d",
            (long long)heads_of(&setting), (long long)tokens_of(&setting), PAIRS_MAX);
    const int failed = measure(run, &setting, &work, &defects);
    if (!failed) {
        emit_all(run, &setting, &defects);
        show_weights(run, &work, mask_of(&setting), 0, "Weights of X");
        show_weights(run, &work, mask_of(&setting), 1, "Weights of PX");
    }
    close_workspace(&work);
    return failed;
}

static int sweep(struct lab_run *run)
{
    const struct lab_setting setting = lab_own(run);

    return sweep_tokens(run, &setting) || sweep_masks(run, &setting);
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
