/* SPDX-License-Identifier: MIT */
#include "lab/experiments/runner.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- a point --------------------------------------------------------------- */

static int sample(struct lab_run *run, const struct lab_model *model,
                  const struct lab_point *at, const struct lab_effort *effort,
                  struct lab_moments *moments)
{
    struct lab_histogram *const histograms[LAB_TRIAL_VALUES_MAX] = {effort->histogram};

    if (model->sample)
        return model->sample(run, at, effort, moments);
    const struct lab_scene scene = model->scene(at);
    return lab_scene_measure(&run->session, &scene, effort->stream, effort->trials,
                             model->observe, (void *)(uintptr_t)at, model->values,
                             moments, effort->histogram ? histograms : NULL);
}

int lab_measure_at(struct lab_run *run, const struct lab_model *model,
                   const struct lab_point *at, const struct lab_effort *effort,
                   struct lab_found *found)
{
    double theory[LAB_QUANTITIES_MAX];
    struct lab_moments own[LAB_TRIAL_VALUES_MAX];
    struct lab_moments *const moments = effort->moments ? effort->moments : own;

    assert(model->count <= LAB_QUANTITIES_MAX && model->values <= LAB_TRIAL_VALUES_MAX);
    model->theory(run, at, theory);
    for (int r = 0; r < model->count; r++)
        found[r] = (struct lab_found){.theory = theory[r], .measured = NAN};
    if (model->measure)
        return model->measure(run, at, found);
    if (sample(run, model, at, effort, moments))
        return -1;
    for (int r = 0; r < model->count; r++)
        found[r] = lab_exact(theory[r], lab_estimate_by(model->rows[r].how,
                                                        &moments[model->rows[r].value],
                                                        model->rows[r].most));
    if (model->finish)
        model->finish(at, moments, found);
    return 0;
}

void lab_emit_all(struct lab_run *run, const struct lab_model *model,
                  const struct lab_point *at, const struct lab_found *found)
{
    for (int r = 0; r < model->count; r++)
        if (!found[r].is_absent)
            lab_emit(run, model->rows[r].quantity, at, found[r]);
}

int lab_rows_at(struct lab_run *run, const struct lab_model *model,
                const struct lab_point *at, const struct lab_effort *effort,
                struct lab_found *found)
{
    struct lab_found own[LAB_QUANTITIES_MAX];

    found = found ? found : own;
    if (lab_measure_at(run, model, at, effort, found))
        return -1;
    if (!lab_stopped(&run->session) || !isnan(found[0].measured))
        lab_emit_all(run, model, at, found);
    return 0;
}

/* ---- sweeps ------------------------------------------------------------------ */

double lab_line_at(const struct lab_line *line, int x)
{
    const double along = (double)x / line->steps;

    if (line->spacing == LAB_EVENLY)
        return line->from + (line->to - line->from) * x / line->steps;
    const double value = line->from * pow(line->to / line->from, along);
    /* A whole number that pow() gives a rounding error less stays one. */
    return line->spacing == LAB_WHOLE ? floor(value * (1 + 1e-12)) : value;
}

static void draw_lines(struct lab_run *run, const struct lab_model *model,
                       const struct lab_sweep *sweep, struct lab_point at,
                       const struct lab_drawn *drawn, int count)
{
    double theory[LAB_QUANTITIES_MAX];
    int is_drawn = 0;

    for (int c = 0; c < count; c++)
        is_drawn |= drawn[c].curve.theory != NULL;
    for (int x = 0; x <= sweep->line.steps && is_drawn && sweep->line.steps > 0; x++) {
        double *const value = &at.at[sweep->flag];
        *value = lab_line_at(&sweep->line, x);
        model->theory(run, &at, theory);
        for (int c = 0; c < count; c++)
            lab_series_point(drawn[c].curve.theory, *value, theory[drawn[c].row], 0);
    }
}

static int is_own(const struct lab_run *run, const struct lab_point *at)
{
    const struct lab_point own = lab_own(run);

    for (int f = 0; f < run->experiment->flag_count; f++)
        if (at->at[f] < own.at[f] || at->at[f] > own.at[f])
            return 0;
    return 1;
}

/* Rows and points at one value of the flag; 1 where the session was cancelled first. */
static int step(struct lab_run *run, const struct lab_model *model,
                const struct lab_sweep *sweep, int x, const struct lab_point *at,
                const struct lab_drawn *drawn, int count)
{
    const struct lab_effort effort = {.stream = sweep->stream + (uint64_t)x,
                                      .trials = sweep->trials};
    struct lab_found new[LAB_QUANTITIES_MAX];
    const int is_known = sweep->own && is_own(run, at);
    const struct lab_found *const found = is_known ? sweep->own : new;

    if (!is_known && lab_measure_at(run, model, at, &effort, new))
        return -1;
    if (lab_stopped(&run->session) && isnan(found[0].measured))
        return 1;
    for (int c = 0; c < count && sweep->only_drawn && !is_known; c++)
        lab_emit(run, model->rows[drawn[c].row].quantity, at, found[drawn[c].row]);
    if (!sweep->only_drawn && !is_known)
        lab_emit_all(run, model, at, found);
    for (int c = 0; c < count; c++)
        lab_series_point(drawn[c].curve.measured, at->at[sweep->flag],
                         found[drawn[c].row].measured, found[drawn[c].row].se);
    return 0;
}

int lab_sweep(struct lab_run *run, const struct lab_model *model,
              const struct lab_sweep *sweep, struct lab_point at,
              const struct lab_drawn *drawn, int count)
{
    int ended = 0;

    draw_lines(run, model, sweep, at, drawn, count);
    for (int x = 0; x < sweep->count && !ended && !lab_stopped(&run->session); x++) {
        at.at[sweep->flag] = sweep->steps[x];
        ended = step(run, model, sweep, x, &at, drawn, count);
    }
    return ended < 0 ? -1 : 0;
}
