/* SPDX-License-Identifier: MIT */
#include "lab/place/transfer_rows.h"

#include <math.h>

#include "attend/theory.h"
#include "lab/measure/frames.h"

int lab_transfer_wants(const struct lab_run *run, int format)
{
    const int choice = lab_choice(run, "format");

    return choice == 0 || choice == format + 1;
}

/* ---- figures ------------------------------------------------------------- */

void lab_transfer_figure_open(struct lab_run *run, const char *points,
                              struct lab_transfer_figure *figure)
{
    *figure = (struct lab_transfer_figure){.least = INFINITY};
    figure->figure = lab_plot(
        run, "predicted", "Error of the output: predicted and measured",
        "predicted error / output", "measured error / output", LAB_LOG_X | LAB_LOG_Y,
        "%s Both are root mean squares over rows, by the root mean square of |c|; "
        "predicted to first order (T24). On the line they are equal.",
        points);
    for (int f = 0; f < LAB_KEY_FORMATS; f++)
        if (lab_transfer_wants(run, f))
            figure->series[f] =
                lab_series_add(figure->figure, LAB_POINTS, "%s", lab_key_format_name[f]);
}

void lab_transfer_figure_add(struct lab_transfer_figure *figure, int format,
                             const struct lab_transfer_errors *errors)
{
    if (!(errors->delta > 0) || !(errors->delta_measured.value > 0))
        return;
    lab_series_estimate(figure->series[format], errors->delta, errors->delta_measured);
    figure->least = fmin(figure->least, errors->delta);
    figure->most = fmax(figure->most, errors->delta);
}

void lab_transfer_figure_close(struct lab_transfer_figure *figure)
{
    if (!(figure->most > 0))
        return;
    lab_line_add(figure->figure, "measured = predicted", figure->least / 2,
                 figure->least / 2, figure->most * 2, figure->most * 2);
}

/* ---- rows ---------------------------------------------------------------- */

void lab_transfer_emit(struct lab_run *run, const struct lab_setting *at,
                       const struct lab_transfer_errors *errors)
{
    const enum lab_kind kind = LAB_FIRST_ORDER;

    lab_emit(run, "error_statistic", at,
             lab_near(kind, errors->statistic, errors->measured));
    lab_emit(run, "error_delta", at,
             lab_near(kind, errors->delta, errors->delta_measured));
    lab_emit(run, "score_noise", at,
             lab_near(kind, errors->score_noise, errors->score_measured));
}

/* ---- tensors ------------------------------------------------------------- */

static const struct lab_flag tensor_flags[] = {
    LAB_FLAG_INTEGER("b", NAN, 0, INFINITY, "batch"),
    LAB_FLAG_INTEGER("h", NAN, 0, INFINITY, "query head"),
    LAB_FLAG_CHOICE("format", "all", LAB_4("all", "int8", "fp8", "bf16"),
                    "what keys are rounded to"),
};

enum { BATCH, HEAD, FORMAT };

const struct lab_experiment lab_transfer_tensors = {
    .name = "transfer",
    .title = "Rounded keys, heads of tensors",
    .shows = LAB_TRANSFER_SHOWS,
    .answers = "",
    LAB_FLAGS(tensor_flags),
};

static struct lab_transfer_errors errors_of(const struct lab_transfer_sums *sums)
{
    const double rows = (double)sums->delta_rows;

    return (struct lab_transfer_errors){
        .statistic = sqrt(sums->statistic / sums->output),
        .measured = {.value = sqrt(sums->measured / sums->output)},
        .delta = sqrt(sums->delta / sums->delta_output),
        .delta_measured = {.value = sqrt(sums->delta_measured / sums->delta_output)},
        .score_noise = sqrt(sums->score_variance / rows),
        .score_measured = {.value = sqrt(sums->score_measured / rows)},
    };
}

static int measure_tensor(struct lab_run *run, int64_t b, int64_t h,
                          const struct lab_transfer_head *head, int64_t rows,
                          double *scratch, struct lab_transfer_figure *figure)
{
    attend_error err;

    if (lab_transfer_exact(run->ctx, head, scratch, &err) != ATTEND_OK)
        return lab_fail(&run->session, "%s", err.message);
    for (int f = 0; f < LAB_KEY_FORMATS && !lab_stopped(&run->session); f++) {
        struct lab_transfer_sums sums;
        if (!lab_transfer_wants(run, f))
            continue;
        if (lab_transfer_rounded(run->ctx, head, (enum lab_key_format)f, rows, scratch,
                                 &sums, &err) != ATTEND_OK)
            return lab_fail(&run->session, "%s", err.message);
        const struct lab_transfer_errors errors = errors_of(&sums);
        struct lab_setting at = lab_own(run);
        at.at[BATCH] = (double)b;
        at.at[HEAD] = (double)h;
        at.at[FORMAT] = f + 1; /* after "all" */
        lab_transfer_emit(run, &at, &errors);
        lab_transfer_figure_add(figure, f, &errors);
    }
    return 0;
}

int lab_transfer_tensor(struct lab_run *run, int64_t b, int64_t h,
                        const struct lab_transfer_head *head, int64_t rows,
                        struct lab_transfer_figure *figure)
{
    double *const scratch = lab_scratch(run, lab_transfer_scratch(head));

    return scratch ? measure_tensor(run, b, h, head, rows, scratch, figure) : -1;
}

/* ---- synthetic heads ------------------------------------------------------- */

double lab_synthetic_spread(enum lab_head_kind kind, double n)
{
    switch (kind) {
    case LAB_HEAD_CONDENSED:
        return 2 * attend_theory_freezing_spread(n);
    case LAB_HEAD_COPY:
        return 1.5;
    case LAB_HEAD_AVERAGE:
        return 2;
    case LAB_HEAD_DIFFUSE:
    case LAB_HEAD_KINDS:
        break;
    }
    return 1;
}

int64_t lab_synthetic_size(const struct lab_synthetic *head)
{
    return (head->rows + 2 * head->n) * head->d;
}

void lab_synthetic_draw(const struct lab_synthetic *head, uint64_t number,
                        double *tensors)
{
    const int64_t d = head->d, size = lab_synthetic_size(head);
    double *const k = tensors + head->rows * d;

    lab_normals(head->seed, head->stream, number * (uint64_t)size, tensors, size);
    for (int64_t j = 0; j < head->n; j++) {
        lab_unit(k + j * d, d);
        for (int64_t c = 0; c < d; c++)
            k[j * d + c] *= sqrt((double)d);
    }
    for (int64_t i = 0; i < head->rows; i++) {
        double *const q = tensors + i * d;
        const double *const a = k + 2 * i % head->n * d;
        const double *const b = k + (2 * i + 1) % head->n * d;
        for (int64_t c = 0; c < d; c++)
            q[c] = head->S * (head->kind == LAB_HEAD_COPY      ? a[c]
                              : head->kind == LAB_HEAD_AVERAGE ? (a[c] + b[c]) * sqrt(0.5)
                                                               : q[c]);
    }
}

/* ---- the experiment ---------------------------------------------------------- */

/* Queries of a head. */
enum { ROWS = 16 };

static const struct lab_flag synthetic_flags[] = {
    LAB_FLAG_CHOICE("head", "diffuse", LAB_4("diffuse", "condensed", "copy", "average"),
                    "what the head does"),
    LAB_FLAG_REAL("S", NAN, 0, 100,
                  "spread of the scores of keys that are not wanted; not given, 1, 2 "
                  "sqrt(2 ln n), 1.5 and 2 for the four heads"),
    LAB_FLAG_INTEGER("n", 256, 2, 65536, "keys"),
    LAB_FLAG_INTEGER("d", 64, 1, 1024, "entries of a key, and of a value"),
    LAB_FLAG_CHOICE("format", "all", LAB_4("all", "int8", "fp8", "bf16"),
                    "what keys are rounded to"),
};

enum { KIND, SPREAD, N, D, SYNTHETIC_FORMAT }; /* flags */

/* Values of one trial: |c|^2, and then those of each format. */
enum { MEASURED, STATISTIC, DELTA, SCORE, SCORE_MEASURED, OF_FORMAT };
enum { OUTPUT, VALUES = 1 + OF_FORMAT * LAB_KEY_FORMATS };

struct plan {
    struct lab_synthetic head;
    int is_wanted[LAB_KEY_FORMATS];
};

static struct lab_transfer_head head_of(const struct lab_synthetic *s,
                                        const attend_rule *rule, const double *tensors)
{
    const double *const k = tensors + s->rows * s->d;

    return (struct lab_transfer_head){.nq = s->rows,
                                      .nk = s->n,
                                      .d = s->d,
                                      .dv = s->d,
                                      .q = tensors,
                                      .k = k,
                                      .v = k + s->n * s->d,
                                      .rule = rule};
}

static attend_status trial(const void *arg, struct lab_worker *worker, uint64_t number,
                           double *values)
{
    const struct plan *const plan = arg;
    double *const tensors = worker->scratch;
    double *const scratch = tensors + lab_synthetic_size(&plan->head);
    const attend_rule rule = attend_rule_default();
    const struct lab_transfer_head head = head_of(&plan->head, &rule, tensors);

    lab_synthetic_draw(&plan->head, number, tensors);
    attend_status status = lab_transfer_exact(worker->ctx, &head, scratch, &worker->err);
    for (int f = 0; f < LAB_KEY_FORMATS && status == ATTEND_OK; f++) {
        struct lab_transfer_sums sums = {.rows = 0};
        double *const of = values + 1 + OF_FORMAT * f;
        if (plan->is_wanted[f])
            status = lab_transfer_rounded(worker->ctx, &head, (enum lab_key_format)f,
                                          ROWS, scratch, &sums, &worker->err);
        if (plan->is_wanted[f])
            values[OUTPUT] = sums.output / ROWS;
        of[MEASURED] = sums.measured / ROWS;
        of[STATISTIC] = sums.statistic / ROWS;
        of[DELTA] = sums.delta / ROWS;
        of[SCORE] = sums.score_variance / ROWS;
        of[SCORE_MEASURED] = sums.score_measured / ROWS;
    }
    return status;
}

/* The root of a mean, over `unit`, with its standard error. */
static struct lab_estimate root(const struct lab_moments *squares, double unit)
{
    const double value = sqrt(squares->mean / unit);

    return (struct lab_estimate){
        .value = value,
        .se = value > 0 ? lab_moments_mean_se(squares) / (2 * value * unit) : 0};
}

static struct lab_transfer_errors errors_of_trials(const struct lab_moments *moments,
                                                   int format)
{
    const struct lab_moments *const of = moments + 1 + OF_FORMAT * format;
    const double output = moments[OUTPUT].mean;

    return (struct lab_transfer_errors){.statistic = sqrt(of[STATISTIC].mean / output),
                                        .measured = root(&of[MEASURED], output),
                                        .delta = sqrt(of[DELTA].mean / output),
                                        .delta_measured = root(&of[MEASURED], output),
                                        .score_noise = sqrt(of[SCORE].mean),
                                        .score_measured = root(&of[SCORE_MEASURED], 1)};
}

static int measure(struct lab_run *run, const struct lab_synthetic *head, int64_t trials,
                   struct lab_transfer_errors errors[LAB_KEY_FORMATS])
{
    struct plan plan = {.head = *head};
    struct lab_moments moments[VALUES];
    const struct lab_transfer_head shape = head_of(head, NULL, NULL);

    for (int f = 0; f < LAB_KEY_FORMATS; f++)
        plan.is_wanted[f] = lab_transfer_wants(run, f);
    if (lab_measure_trials(&run->session, trial, &plan, head->stream, trials, VALUES,
                           lab_synthetic_size(head) + lab_transfer_scratch(&shape),
                           moments))
        return -1;
    for (int f = 0; f < LAB_KEY_FORMATS; f++)
        errors[f] = errors_of_trials(moments, f);
    return 0;
}

static void emit_head(struct lab_run *run, const struct lab_synthetic *head, int name,
                      const struct lab_transfer_errors *errors)
{
    struct lab_setting at = lab_own(run);

    at.at[KIND] = name;
    at.at[SPREAD] = head->S;
    for (int f = 0; f < LAB_KEY_FORMATS; f++) {
        at.at[SYNTHETIC_FORMAT] = f + 1; /* after "all" */
        if (lab_transfer_wants(run, f))
            lab_transfer_emit(run, &at, &errors[f]);
    }
}

static struct lab_synthetic own_head(const struct lab_run *run)
{
    return (struct lab_synthetic){.kind = (enum lab_head_kind)lab_choice(run, "head"),
                                  .n = lab_integer(run, "n"),
                                  .d = lab_integer(run, "d"),
                                  .rows = ROWS,
                                  .S = lab_real(run, "S"),
                                  .seed = run->session.seed};
}

static int perform(struct lab_run *run)
{
    struct lab_transfer_errors errors[LAB_KEY_FORMATS];

    if (isnan(lab_real(run, "S")))
        lab_set(run, "S",
                lab_synthetic_spread((enum lab_head_kind)lab_choice(run, "head"),
                                     lab_real(run, "n")));
    const struct lab_synthetic head = own_head(run);
    if (measure(run, &head, run->trials, errors))
        return -1;
    emit_head(run, &head, lab_choice(run, "head"), errors);
    return 0;
}

/* Random heads are named by the side of sqrt(2 ln n) they are on. */
static int name_of(const struct lab_synthetic *head)
{
    const double freezing = attend_theory_freezing_spread((double)head->n);

    if (head->kind == LAB_HEAD_COPY || head->kind == LAB_HEAD_AVERAGE)
        return (int)head->kind;
    return head->S > freezing ? LAB_HEAD_CONDENSED : LAB_HEAD_DIFFUSE;
}

/* The heads of a sweep; a copy of larger S is exact but for rounding. */
struct family {
    enum lab_head_kind kind;
    double spreads[8]; /* 0 at the end */
};
static const struct family families[] = {
    {LAB_HEAD_DIFFUSE, {0.25, 0.5, 1, 2, 4, 8, 16}},
    {LAB_HEAD_COPY, {0.25, 0.5, 1, 1.5, 2}},
    {LAB_HEAD_AVERAGE, {0.25, 0.5, 1, 2, 4, 8, 16}},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

static int sweep_family(struct lab_run *run, const struct family *family,
                        struct lab_transfer_figure *figure,
                        const struct lab_curve by_S[LAB_KEY_FORMATS])
{
    for (int x = 0; family->spreads[x] > 0 && !lab_stopped(&run->session); x++) {
        struct lab_synthetic head = own_head(run);
        struct lab_transfer_errors errors[LAB_KEY_FORMATS];
        head.kind = family->kind;
        head.S = family->spreads[x];
        head.stream = 1 + 8 * (uint64_t)family->kind + (uint64_t)x;
        if (measure(run, &head, run->trials / 4 + 2, errors))
            return -1;
        emit_head(run, &head, name_of(&head), errors);
        for (int f = 0; f < LAB_KEY_FORMATS; f++) {
            lab_transfer_figure_add(figure, f, &errors[f]);
            lab_series_point(by_S[f].theory, head.S, errors[f].delta, 0);
            lab_series_estimate(by_S[f].measured, head.S, errors[f].delta_measured);
        }
    }
    return 0;
}

static int sweep(struct lab_run *run)
{
    const struct lab_curve none[LAB_KEY_FORMATS] = {{NULL, NULL}};
    struct lab_curve by_S[LAB_KEY_FORMATS] = {{NULL, NULL}};
    struct lab_transfer_figure figure;
    int failed = 0;

    lab_transfer_figure_open(run, "Diffuse, condensed, copying and averaging heads.",
                             &figure);
    struct lab_figure *const curves = lab_plot(
        run, "spread", "Error of random heads by spread of their scores",
        "S (spread of the scores)", "error / output", LAB_LOG_X | LAB_LOG_Y,
        "n = %lld random keys, d = %lld; theory of first order. A condensed head turns "
        "errors of its scores into errors of its output; a diffuse one averages them.",
        (long long)lab_integer(run, "n"), (long long)lab_integer(run, "d"));
    for (int f = 0; f < LAB_KEY_FORMATS; f++)
        if (lab_transfer_wants(run, f))
            by_S[f] = lab_curve_add(curves, "%s", lab_key_format_name[f]);
    for (int x = 0; x < FAMILIES && !failed; x++)
        failed = sweep_family(run, &families[x], &figure, x ? none : by_S);
    lab_transfer_figure_close(&figure);
    return failed;
}

const struct lab_experiment lab_transfer_synthetic = {
    .name = "transfer",
    .title = "Rounded keys, synthetic heads",
    .shows = LAB_TRANSFER_SHOWS,
    .answers = "",
    LAB_FLAGS(synthetic_flags),
    .trials = 200,
    .perform = perform,
    .sweep = sweep,
};
