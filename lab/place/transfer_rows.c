/* SPDX-License-Identifier: MIT */
#include "lab/place/transfer_rows.h"

#include <math.h>

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
    struct lab_series *const line =
        lab_series_add(figure->figure, LAB_LINE, "measured = predicted");
    lab_series_point(line, figure->least / 2, figure->least / 2, 0);
    lab_series_point(line, figure->most * 2, figure->most * 2, 0);
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
                          double *room, struct lab_transfer_figure *figure)
{
    attend_error err;

    if (lab_transfer_exact(run->ctx, head, room, &err) != ATTEND_OK)
        return lab_fail(&run->session, "%s", err.message);
    for (int f = 0; f < LAB_KEY_FORMATS && !lab_stopped(&run->session); f++) {
        struct lab_transfer_sums sums;
        if (!lab_transfer_wants(run, f))
            continue;
        if (lab_transfer_rounded(run->ctx, head, (enum lab_key_format)f, rows, room,
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
    double *const room = lab_room(run, lab_transfer_room(head));

    return room ? measure_tensor(run, b, h, head, rows, room, figure) : -1;
}
