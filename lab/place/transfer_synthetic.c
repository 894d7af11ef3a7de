/* SPDX-License-Identifier: MIT */
/* `attend lab transfer` of synthetic heads. */
#include <math.h>

#include "attend/theory.h"
#include "lab/place/transfer_heads.h"
#include "lab/place/transfer_rows.h"

/* Queries of a head. */
enum { ROWS = 16 };

static const struct lab_flag synthetic_flags[] = {
    LAB_FLAG_CHOICE("head", "diffuse", LAB_4("diffuse", "condensed", "copy", "average"),
                    "what the head does"),
    LAB_FLAG_REAL("S", NAN, 0, 100,
                  "spread of the scores of keys that are not wanted; not given, 1, "
                  "2 sqrt(2 ln n), 1.5 and 2 for the four heads"),
    LAB_FLAG_INTEGER("n", 256, 2, 65536, "keys"),
    LAB_FLAG_INTEGER("d", 64, 1, 1024, "entries of a key, and of a value"),
    LAB_FLAG_CHOICE("format", "all", LAB_4("all", "int8", "fp8", "bf16"),
                    "what keys are rounded to"),
};

enum { HEAD, SPREAD, N, D, FORMAT }; /* flags */

/* Of one trial: |c|^2, and then of each format. */
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
    double *const room = tensors + lab_synthetic_size(&plan->head);
    const attend_rule rule = attend_rule_default();
    const struct lab_transfer_head head = head_of(&plan->head, &rule, tensors);

    lab_synthetic_draw(&plan->head, number, tensors);
    attend_status status = lab_transfer_exact(worker->ctx, &head, room, &worker->err);
    for (int f = 0; f < LAB_KEY_FORMATS && status == ATTEND_OK; f++) {
        struct lab_transfer_sums sums = {.rows = 0};
        double *const of = values + 1 + OF_FORMAT * f;
        if (plan->is_wanted[f])
            status = lab_transfer_rounded(worker->ctx, &head, (enum lab_key_format)f,
                                          ROWS, room, &sums, &worker->err);
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
    if (lab_run_trials(run, trial, &plan, trials, VALUES,
                       lab_synthetic_size(head) + lab_transfer_room(&shape), moments))
        return -1;
    for (int f = 0; f < LAB_KEY_FORMATS; f++)
        errors[f] = errors_of_trials(moments, f);
    return 0;
}

static void emit_head(struct lab_run *run, const struct lab_synthetic *head, int name,
                      const struct lab_transfer_errors *errors)
{
    struct lab_setting at = lab_own(run);

    at.at[HEAD] = name;
    at.at[SPREAD] = head->S;
    for (int f = 0; f < LAB_KEY_FORMATS; f++) {
        at.at[FORMAT] = f + 1; /* after "all" */
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

/* What a sweep goes through; a copy of larger S is exact but for rounding. */
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
        "n = %lld random keys, d = %lld; theory of first order. A condensed head "
        "turns errors of its scores into errors of its output; a diffuse one "
        "averages them.",
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
