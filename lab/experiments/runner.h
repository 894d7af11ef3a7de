/* SPDX-License-Identifier: MIT */
/*
 * The runner: an experiment as a table of quantities, the theory of them at a
 * setting, a measurement of them, and sweeps over a flag.
 */
#ifndef LAB_RUNNER_H
#define LAB_RUNNER_H

#include "lab/experiments/experiment.h"
#include "lab/setups/scene.h"

/* A quantity: a row, and in Monte Carlo the value of the trials behind it. */
struct lab_observable {
    const char *quantity;
    int value;
    enum lab_estimator how;
    double most; /* the value lies within [0, most]; of what vanishes: rounding allowed */
};

/* The measurements of a setting. */
struct lab_sample {
    struct lab_found found[LAB_QUANTITIES_MAX];       /* by row */
    struct lab_moments moments[LAB_TRIAL_VALUES_MAX]; /* of the values of the trials */
    struct lab_histogram *histogram;                  /* of value 0; NULL: none */
};

struct lab_model {
    const struct lab_observable *rows;
    int count; /* at most LAB_QUANTITIES_MAX */
    /*
     * theory[row] at a setting, NaN where no exact form is known; that of a row of a pair
     * value is set before.
     */
    void (*theory)(const struct lab_setting *at, double *theory);

    /*
     * Monte Carlo: `scene` with `observe`, or `trials`, which sets the sample's moments.
     * The first values of a scene are those of lab_pair_observe(): 0, LAB_PAIR_VALUES or
     * twice as many.
     */
    int values, pair_values;
    struct lab_scene (*scene)(const struct lab_setting *at);
    void (*observe)(const struct lab_setting *at, const struct lab_outcome *outcome,
                    double *values);
    int (*trials)(struct lab_run *run, const struct lab_setting *at, uint64_t stream,
                  int64_t trials, struct lab_sample *sample);
    /* Sets rows that are not estimates of their observables; NULL: all are. */
    void (*finish)(const struct lab_setting *at, struct lab_sample *sample);
    /* Scatter up to this is rounding, not chance: the row counts as sure. */
    double rounding;

    /*
     * Deterministic: sets found[row], whose theory is set.  A row that is absent before
     * need not be measured.
     */
    int (*measure)(struct lab_run *run, const struct lab_setting *at,
                   struct lab_found *found);
};
/* The fields of a model that name its table of rows. */
#define LAB_ROWS(table) .rows = (table), .count = sizeof(table) / sizeof *(table)

/* Theory of every row at a setting, without measurements. */
void lab_predict(const struct lab_model *model, const struct lab_setting *at,
                 struct lab_sample *sample);
/* Measures a setting into the sample.  0, or -1 after lab_fail(). */
int lab_measure_at(struct lab_run *run, const struct lab_model *model,
                   const struct lab_setting *at, uint64_t stream, int64_t trials,
                   struct lab_sample *sample);
/* Emits every row that is not absent. */
void lab_emit_all(struct lab_run *run, const struct lab_model *model,
                  const struct lab_setting *at, const struct lab_sample *sample);
/* Measures a setting and emits its rows; `sample` may be NULL. */
int lab_rows_at(struct lab_run *run, const struct lab_model *model,
                const struct lab_setting *at, uint64_t stream, int64_t trials,
                struct lab_sample *sample);

/* Values of the flag at which theory is drawn. */
struct lab_line {
    double from, to; /* LAB_BY_POWERS: exponents of the base */
    int steps;
    enum { LAB_EVENLY, LAB_BY_FACTORS, LAB_BY_POWERS } spacing;
    int is_whole; /* 1: rounded down */
    double base;  /* of the powers; 0: 10 */
};

/*
 * A sweep over one flag: theory at the values of `line`, measurements at `steps`, of
 * which step x has the stream `stream + x * stride`; with `by_value`, its value in place
 * of x.
 */
struct lab_sweep {
    int flag;
    struct lab_line line;
    const double *steps;
    int count;
    uint64_t stream, stride; /* a stride of 0 is 1 */
    int by_value;
    int64_t trials;
    int only_drawn; /* 1: rows of the quantities drawn, in that order; 0: all rows */
    const struct lab_sample
        *own; /* of the run's own setting; NULL: it is measured anew */
};
#define LAB_STEPS_OF(table) .steps = (table), .count = sizeof(table) / sizeof *(table)
/* A sweep over a flag, its steps a table, and further fields by name. */
#define LAB_SWEEP(over, table, ...)                                                      \
    ((struct lab_sweep){.flag = (over), LAB_STEPS_OF(table), __VA_ARGS__})

/* A row of the model, and the curve that shows it; NULL: it is not drawn. */
struct lab_plotted {
    int row;
    struct lab_curve curve;
};

/* The other flags as in `at`.  Ends early when the session is cancelled. */
int lab_sweep(struct lab_run *run, const struct lab_model *model,
              const struct lab_sweep *sweep, struct lab_setting at,
              const struct lab_plotted *drawn, int count);

/* A value of a flag, and the name of its curve. */
struct lab_member {
    double value;
    const char *name;
};

/* A curve of a row for each of these values of `flag`; curve c has the stream of the
 * sweep and c * stride. */
struct lab_family {
    int row, flag, also; /* `also`: a flag that follows; 0: none */
    const struct lab_member *members;
    int count;
    uint64_t stride;
};
#define LAB_MEMBERS(table) .members = (table), .count = sizeof(table) / sizeof *(table)

/*
 * A figure over a flag, as data: curves of rows, and a further line between the theory
 * and the measurements.
 */
enum { LAB_CHART_ROWS = 2 };
struct lab_chart {
    const char *id, *title, *x_label, *y_label;
    int log_axes;
    struct {
        int row;
        const char *name; /* NULL: no further curve */
    } curves[LAB_CHART_ROWS];
    const char *label; /* of the line; NULL: none */
    double (*value)(const struct lab_setting *at);
    struct lab_line line; /* 0 steps: that of the sweep */
};
/* One sweep for all charts, whose figures it returns without captions. */
int lab_charts(struct lab_run *run, const struct lab_model *model,
               const struct lab_sweep *sweep, struct lab_setting at,
               const struct lab_chart *charts, int count, struct lab_figure **figures);

int lab_curves(struct lab_run *run, const struct lab_model *model,
               const struct lab_sweep *sweep, struct lab_setting at,
               struct lab_figure *figure, const struct lab_family *family);

#endif
