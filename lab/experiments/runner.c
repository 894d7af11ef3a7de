/* SPDX-License-Identifier: MIT */
#include "lab/experiments/runner.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- a setting --------------------------------------------------------------- */

/* The arg of the trials of a scene. */
struct watched {
    const struct lab_model *model;
    const struct lab_setting *at;
};

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    const struct watched *const watched = arg;
    const struct lab_model *const model = watched->model;

    if (model->pair_values)
        lab_pair_observe(outcome, model->pair_values, values);
    if (model->observe)
        model->observe(watched->at, outcome, values);
}

static int perform_trials(struct lab_run *run, const struct lab_model *model,
                          const struct lab_setting *at, uint64_t stream, int64_t trials,
                          struct lab_sample *sample)
{
    struct lab_histogram *const histograms[LAB_TRIAL_VALUES_MAX] = {sample->histogram};

    if (model->trials)
        return model->trials(run, at, stream, trials, sample);
    const struct lab_scene scene = model->scene(at);
    struct watched watched = {model, at};
    return lab_scene_measure(&run->session, &scene, stream, trials, observe, &watched,
                             model->values, sample->moments,
                             sample->histogram ? histograms : NULL);
}

/* The theory of the rows of pair values. */
static void pair_theory(const struct lab_model *model, const struct lab_setting *at,
                        double *theory)
{
    const struct lab_scene scene = model->scene(at);
    attend_theory_output output[2];
    int is_known[2] = {0, 0};

    for (int r = 0; r < model->count; r++) {
        const struct lab_observable *const row = &model->rows[r];
        const int positive = row->value >= LAB_PAIR_VALUES;
        if (row->value >= model->pair_values)
            continue;
        if (!is_known[positive])
            output[positive] = lab_scene_theory(&scene, positive);
        is_known[positive] = 1;
        theory[r] = lab_pair_theory(&scene, &output[positive], row->value,
                                    row->how == LAB_VARIANCE_WITHIN);
    }
}

static void theory_at(const struct lab_model *model, const struct lab_setting *at,
                      double *theory)
{
    assert(model->count <= LAB_QUANTITIES_MAX && model->values <= LAB_TRIAL_VALUES_MAX);
    if (model->pair_values)
        pair_theory(model, at, theory);
    if (model->theory)
        model->theory(at, theory);
}

void lab_predict(const struct lab_model *model, const struct lab_setting *at,
                 struct lab_sample *sample)
{
    double theory[LAB_QUANTITIES_MAX];

    theory_at(model, at, theory);
    for (int r = 0; r < model->count; r++)
        sample->found[r] = lab_sure(theory[r], NAN);
}

/* The rows that are drawn, or all where `drawn` is NULL. */
static int measure_rows(struct lab_run *run, const struct lab_model *model,
                        const struct lab_setting *at, uint64_t stream, int64_t trials,
                        const struct lab_plotted *drawn, int count,
                        struct lab_sample *sample)
{
    struct lab_found *const found = sample->found;

    lab_predict(model, at, sample);
    for (int r = 0; r < model->count; r++)
        found[r].is_absent = drawn != NULL;
    for (int c = 0; c < count && drawn; c++)
        found[drawn[c].row].is_absent = 0;
    if (model->measure)
        return model->measure(run, at, found);
    if (perform_trials(run, model, at, stream, trials, sample))
        return -1;
    for (int r = 0; r < model->count; r++) {
        const struct lab_observable *const row = &model->rows[r];
        const struct lab_estimate estimate =
            lab_estimate_by(row->how, &sample->moments[row->value], row->most);
        found[r] = row->how >= LAB_VANISHING_MEAN ? lab_zero(estimate.value, row->most)
                                                  : lab_exact(found[r].theory, estimate);
    }
    if (model->finish)
        model->finish(at, sample);
    return 0;
}

int lab_measure_at(struct lab_run *run, const struct lab_model *model,
                   const struct lab_setting *at, uint64_t stream, int64_t trials,
                   struct lab_sample *sample)
{
    return measure_rows(run, model, at, stream, trials, NULL, 0, sample);
}

void lab_emit_all(struct lab_run *run, const struct lab_model *model,
                  const struct lab_setting *at, const struct lab_sample *sample)
{
    for (int r = 0; r < model->count; r++) {
        struct lab_found found = sample->found[r];
        if (model->rounding > 0 && !(found.se > model->rounding) && !found.rare)
            found.se = 0;
        if (!found.is_absent)
            lab_emit(run, model->rows[r].quantity, at, found);
    }
}

/* The session was cancelled before the first trial. */
static int is_empty(const struct lab_run *run, const struct lab_sample *sample)
{
    return lab_stopped(&run->session) && isnan(sample->found[0].measured);
}

int lab_rows_at(struct lab_run *run, const struct lab_model *model,
                const struct lab_setting *at, uint64_t stream, int64_t trials,
                struct lab_sample *sample)
{
    struct lab_sample own = {.histogram = NULL};

    if (!sample)
        sample = &own;
    if (lab_measure_at(run, model, at, stream, trials, sample))
        return -1;
    if (!is_empty(run, sample))
        lab_emit_all(run, model, at, sample);
    return 0;
}

/* ---- sweeps ------------------------------------------------------------------ */

static double line_at(const struct lab_line *line, int x)
{
    const double even = line->from + (line->to - line->from) * x / line->steps;
    double value = even;

    if (line->spacing == LAB_BY_FACTORS)
        value = line->from * pow(line->to / line->from, (double)x / line->steps);
    else if (line->spacing == LAB_BY_POWERS)
        value = pow(line->base > 0 ? line->base : 10, even);
    return line->is_whole ? floor(value) : value;
}

static void draw_lines(const struct lab_model *model, const struct lab_sweep *sweep,
                       struct lab_setting at, const struct lab_plotted *drawn, int count)
{
    double theory[LAB_QUANTITIES_MAX];
    int is_drawn = 0;

    for (int c = 0; c < count; c++)
        is_drawn |= drawn[c].curve.theory != NULL;
    for (int x = 0; x <= sweep->line.steps && is_drawn && sweep->line.steps > 0; x++) {
        double *const value = &at.at[sweep->flag];
        *value = line_at(&sweep->line, x);
        theory_at(model, &at, theory);
        for (int c = 0; c < count; c++)
            lab_series_point(drawn[c].curve.theory, *value, theory[drawn[c].row], 0);
    }
}

static int is_own(const struct lab_run *run, const struct lab_setting *at)
{
    const struct lab_setting own = lab_own(run);

    for (int f = 0; f < run->experiment->flag_count; f++)
        if (at->at[f] < own.at[f] || at->at[f] > own.at[f])
            return 0;
    return 1;
}

/* Rows and points at one value of the flag; 1 where the session was cancelled first. */
static int step(struct lab_run *run, const struct lab_model *model,
                const struct lab_sweep *sweep, int x, const struct lab_setting *at,
                const struct lab_plotted *drawn, int count)
{
    const uint64_t stride = sweep->stride ? sweep->stride : 1;
    struct lab_sample new = {.histogram = NULL};
    const int is_known = sweep->own && is_own(run, at);
    const struct lab_sample *const sample = is_known ? sweep->own : &new;
    const uint64_t place = (uint64_t)(sweep->by_value ? at->at[sweep->flag] : x);

    if (!is_known &&
        measure_rows(run, model, at, sweep->stream + place * stride, sweep->trials,
                     sweep->only_drawn ? drawn : NULL, count, &new))
        return -1;
    if (is_empty(run, sample))
        return 1;
    if (!sweep->only_drawn && !is_known)
        lab_emit_all(run, model, at, sample);
    for (int c = 0; c < count; c++) {
        const struct lab_found *const found = &sample->found[drawn[c].row];
        if (sweep->only_drawn && !is_known)
            lab_emit(run, model->rows[drawn[c].row].quantity, at, *found);
        lab_series_point(drawn[c].curve.measured, at->at[sweep->flag], found->measured,
                         found->se);
    }
    return 0;
}

int lab_sweep(struct lab_run *run, const struct lab_model *model,
              const struct lab_sweep *sweep, struct lab_setting at,
              const struct lab_plotted *drawn, int count)
{
    int ended = 0;

    draw_lines(model, sweep, at, drawn, count);
    for (int x = 0; x < sweep->count && !ended && !lab_stopped(&run->session); x++) {
        at.at[sweep->flag] = sweep->steps[x];
        ended = step(run, model, sweep, x, &at, drawn, count);
    }
    return ended < 0 ? -1 : 0;
}

int lab_curves(struct lab_run *run, const struct lab_model *model,
               const struct lab_sweep *sweep, struct lab_setting at,
               struct lab_figure *figure, const struct lab_family *family)
{
    struct lab_sweep one = *sweep;

    for (int c = 0; c < family->count; c++, one.stream += family->stride) {
        const struct lab_plotted drawn = {
            family->row, lab_curve_add(figure, "%s", family->members[c].name)};
        at.at[family->flag] = family->members[c].value;
        if (family->also)
            at.at[family->also] = family->members[c].value;
        if (lab_sweep(run, model, &one, at, &drawn, 1))
            return -1;
    }
    return 0;
}

/* Its theory, the further line, and its measurements to come; returns their number. */
static int draw_chart(struct lab_figure *figure, const struct lab_sweep *sweep,
                      struct lab_setting at, const struct lab_chart *chart,
                      struct lab_plotted *drawn)
{
    const struct lab_line *const line = chart->line.steps ? &chart->line : &sweep->line;
    int count = 0;

    for (; count < LAB_CHART_ROWS && chart->curves[count].name; count++) {
        drawn[count].row = chart->curves[count].row;
        drawn[count].curve.theory = lab_theory_add(figure, chart->curves[count].name);
    }
    struct lab_series *const further =
        chart->label ? lab_series_add(figure, LAB_LINE, "%s", chart->label) : NULL;
    for (int x = 0; x <= line->steps && further; x++) {
        at.at[sweep->flag] = line_at(line, x);
        lab_series_point(further, at.at[sweep->flag], chart->value(&at), 0);
    }
    for (int c = 0; c < count; c++)
        drawn[c].curve.measured = lab_measured_add(figure, chart->curves[c].name);
    return count;
}

int lab_charts(struct lab_run *run, const struct lab_model *model,
               const struct lab_sweep *sweep, struct lab_setting at,
               const struct lab_chart *charts, int count, struct lab_figure **figures)
{
    struct lab_plotted drawn[LAB_QUANTITIES_MAX];
    int rows = 0;

    for (int c = 0; c < count; c++) {
        figures[c] = lab_plot(run, charts[c].id, charts[c].title, charts[c].x_label,
                              charts[c].y_label, charts[c].log_axes, "%s", "");
        rows += draw_chart(figures[c], sweep, at, &charts[c], drawn + rows);
    }
    return lab_sweep(run, model, sweep, at, drawn, rows);
}
