/* SPDX-License-Identifier: MIT */
/*
 * An experiment.  It reads its parameters, measures through
 * attend_forward(), takes the theory from attend/theory.h, and emits rows and
 * figures; it does not depend on terminals, files or JSON.  T1 .. T26 in comments are the
 * results of docs/THEORY.md.
 */
#ifndef LAB_EXPERIMENT_H
#define LAB_EXPERIMENT_H

#include <stdint.h>

#include "lab/figures/figure.h"
#include "lab/measure/moments.h"
#include "lab/measure/session.h"
#include "lab/measure/trials.h"

/* The kind of a row's theory, which decides how the row is judged. */
enum lab_kind {
    LAB_EXACT,       /* equal, but for chance (se) and rounding */
    LAB_BOUND,       /* measured does not exceed theory */
    LAB_FIRST_ORDER, /* near where something is small: the distance is shown */
    LAB_ASYMPTOTIC,  /* near where something is large: the distance is shown */
    LAB_MODEL        /* of a model that need not hold here: the distance is shown */
};

/* A flag of an experiment: `--name`.  `type` decides which default is meant. */
struct lab_flag {
    const char *name;
    enum { LAB_REAL, LAB_INTEGER, LAB_CHOICE, LAB_TEXT } type;
    /* LAB_REAL, LAB_INTEGER; bounds included; a preset of NaN: it follows from others. */
    double preset, min, max;
    const char *text;         /* LAB_CHOICE, LAB_TEXT: the default */
    const char *choices;      /* LAB_CHOICE: "a|both|all" */
    const char *const *names; /* the same one by one */
    const char *help;         /* one line */
};

/* One line a flag. */
#define LAB_FLAG_REAL(name, preset, min, max, help)                                      \
    {                                                                                    \
        name, LAB_REAL, preset, min, max, NULL, NULL, NULL, help                         \
    }
#define LAB_FLAG_INTEGER(name, preset, min, max, help)                                   \
    {                                                                                    \
        name, LAB_INTEGER, preset, min, max, NULL, NULL, NULL, help                      \
    }
#define LAB_FLAG_CHOICE(name, preset, choices, help)                                     \
    {                                                                                    \
        name, LAB_CHOICE, 0, 0, 0, preset, choices, help                                 \
    }
#define LAB_FLAG_TEXT(name, preset, help)                                                \
    {                                                                                    \
        name, LAB_TEXT, 0, 0, 0, preset, NULL, NULL, help                                \
    }
/* The choices of a LAB_FLAG_CHOICE, in both forms. */
#define LAB_2(a, b)                                                                      \
    a "|" b, (const char *const[]) { a, b }
#define LAB_3(a, b, c)                                                                   \
    a "|" b "|" c, (const char *const[]) { a, b, c }
#define LAB_4(a, b, c, d)                                                                \
    a "|" b "|" c "|" d, (const char *const[]) { a, b, c, d }
#define LAB_5(a, b, c, d, e)                                                             \
    a "|" b "|" c "|" d "|" e, (const char *const[]) { a, b, c, d, e }
/* The fields of an experiment that name a table of them. */
#define LAB_FLAGS(table) .flags = (table), .flag_count = sizeof(table) / sizeof *(table)

/*
 * A flag's value as a row shows it; `text` is NULL for numbers.  `differs` from the run's
 * value is set by lab_emit().
 */
struct lab_param {
    const char *name;
    double number;
    const char *text;
    int differs;
};

enum { LAB_PARAMS_MAX = 16, LAB_EMITTED_MAX = 64, LAB_QUANTITIES_MAX = 32 };

/*
 * A setting: values of an experiment's flags, in the order of its table; those of the
 * run, or of a step of a sweep.  A choice is its index; a text, 0 here, is the run's in
 * every setting.  Places after those of the flags are the experiment's own: they are 0 in
 * lab_own() and in no row.
 */
struct lab_setting {
    double at[LAB_PARAMS_MAX];
    const void *with; /* further data of the experiment for every setting; NULL: none */
};

struct lab_row {
    struct lab_param params[LAB_PARAMS_MAX];
    int param_count;
    const char *quantity;
    enum lab_kind kind;
    double theory;   /* NaN: there is none */
    double measured; /* NaN: nothing was measured, as after an early stop */
    double se;       /* 0 for deterministic quantities */
    /* Rounding allowed, absolute; 0: 1e-10 of theory.  It decides where se is not
     * many times larger. */
    double allowed;
    int rare; /* the sample holds few events: judged by [low, high], NaN: not at all */
    double low, high;
    int is_own; /* no parameter differs from the run's; set by lab_emit() */
};

struct lab_run;

struct lab_experiment {
    const char *name;     /* "magnitude" */
    const char *title;    /* "Magnitude noise, one head" */
    const char *shows;    /* the result, in one sentence */
    const char *answers;  /* questions of the exercise, "1c-ii"; "" for none */
    const char *headline; /* the main quantity; NULL: the first */
    const struct lab_flag *flags;
    int flag_count;
    int64_t trials; /* default of --trials; 0: deterministic */
    /* Both give 0, or -1 after lab_fail(); lab_perform() calls them in this order. */
    int (*perform)(struct lab_run *run); /* rows of exactly the run's parameters */
    int (*sweep)(struct lab_run *run);   /* for sweeps; NULL: perform() does them */
};

/* Every experiment, in the order of the listing; NULL at the end. */
extern const struct lab_experiment *const lab_experiments[];
const struct lab_experiment *lab_find(const char *name); /* NULL: unknown */

/* The explanation of a row's quantity: one sentence with its formula. */
struct lab_quantity {
    const char *name, *meaning;
};

/* The quantities that an experiment of this name prints; a name of NULL ends them. */
const struct lab_quantity *lab_quantities(const char *experiment);
/* NULL: it prints no such quantity. */
const char *lab_quantity_meaning(const char *experiment, const char *quantity);

/* One run of an experiment.  The caller fills it and owns what it points to. */
struct lab_run {
    const struct lab_experiment *experiment;
    /* By flag; lab_perform() sets that of a choice to the index of its text. */
    double numbers[LAB_PARAMS_MAX];
    const char *texts[LAB_PARAMS_MAX]; /* by flag */
    struct lab_session session;
    int64_t trials;
    int sweeps; /* 0: only the rows of exactly these parameters */
    void (*row)(void *user, const struct lab_row *row); /* user: the session's */
    struct lab_figures *figures;                        /* NULL: no plots */
    attend_context *ctx; /* with the session's threads; lab_perform() opens it */
    double *scratch;     /* of lab_scratch() */
    size_t scratch_count;
    char conclusion[400]; /* set by lab_conclude(); "": the experiment's `shows` */
    /* Quantities emitted for exactly these parameters: a sweep does not repeat them. */
    char emitted[LAB_EMITTED_MAX][48];
    int emitted_count;
};

/* Sets numbers, texts, trials and the rest to the defaults of `experiment`. */
void lab_run_init(struct lab_run *run, const struct lab_experiment *experiment);

/* Performs the experiment: 0, or -1 after lab_fail(). */
int lab_perform(struct lab_run *run);
/* About how many seconds of measurements that takes: a little of each is made. */
double lab_seconds(const struct lab_run *run);

/*
 * `count` numbers, all 0, that are the caller's until the next call and are freed with
 * the run; NULL after lab_fail().
 */
double *lab_scratch(struct lab_run *run, int64_t count);

/* Values by flag name; a name that is no flag is a bug and aborts in debug builds. */
double lab_real(const struct lab_run *run, const char *name);
int64_t lab_integer(const struct lab_run *run, const char *name);
const char *lab_text(const struct lab_run *run, const char *name);
/* The index of the value of a LAB_CHOICE among its choices. */
int lab_choice(const struct lab_run *run, const char *name);
/* Settles a flag whose preset is NaN, before the first row. */
void lab_set(struct lab_run *run, const char *name, double number);

/* The run's own setting. */
struct lab_setting lab_own(const struct lab_run *run);

/* Theory and measurement of a row. */
struct lab_found {
    int is_absent; /* not measured at this setting: no row */
    double theory, measured, se, allowed;
    enum lab_kind kind;
    int rare;
    double low, high;
};

/* Exact theory; a measurement with its standard error, or a deterministic one. */
struct lab_found lab_exact(double theory, struct lab_estimate measured);
struct lab_found lab_sure(double theory, double measured);
/* The same with so much rounding, absolute. */
struct lab_found lab_about(double theory, double measured, double allowed);
/* A bound, with so much rounding; the second: a number that is 0 but for rounding. */
struct lab_found lab_below(double bound, double measured, double allowed);
struct lab_found lab_zero(double measured, double allowed);
/* A bound where theory has 0; lab_about() elsewhere. */
struct lab_found lab_defect(double theory, double measured, double allowed);
/* Theory that holds in a limit, to first order, or of a model. */
struct lab_found lab_near(enum lab_kind kind, double theory,
                          struct lab_estimate measured);

/*
 * A row at a setting.  A row that repeats a quantity of the run's own parameters is left
 * out.
 */
void lab_emit(struct lab_run *run, const char *quantity, const struct lab_setting *at,
              struct lab_found found);

/* At the run's own parameters. */
void lab_emit_own(struct lab_run *run, const char *quantity, struct lab_found found);

/* A point of a figure, from an estimate. */
void lab_series_estimate(struct lab_series *series, double x,
                         struct lab_estimate estimate);

/*
 * Appends to the conclusion at the run's parameters, which replaces the words of the
 * experiment.
 */
__attribute__((format(printf, 2, 3))) void lab_conclude(struct lab_run *run,
                                                        const char *format, ...);

/*
 * A figure of the run with its caption, to which lab_caption() appends.  No two figures
 * of an experiment have the same id.
 */
__attribute__((format(printf, 7, 8))) struct lab_figure *
lab_plot(struct lab_run *run, const char *id, const char *title, const char *x_label,
         const char *y_label, int log_axes, const char *caption, ...);
/*
 * A histogram over [0, 1] as bars, and theory's distribution function averaged over each
 * bin as steps; a subject of NULL: no theory.  High bars at the ends are cut off, and
 * their mass is written in.
 */
void lab_plot_histogram(struct lab_figure *figure, const struct lab_histogram *histogram,
                        const char *subject, double (*cdf)(const void *arg, double w),
                        const void *arg);

/* ---- the standing of a row ------------------------------------------------ */

const char *lab_kind_name(enum lab_kind kind); /* "exact", "bound", "first-order" ... */

/* z of a row: (measured - theory) / se; NaN where it does not test the theory. */
double lab_row_z(const struct lab_row *row);
/* |measured - theory| / |theory| of a limit, first-order form or model; NaN otherwise. */
double lab_row_distance(const struct lab_row *row);

enum lab_standing {
    LAB_UNJUDGED, /* no theory, no measurement, too few events, or lost in rounding */
    LAB_WITHIN,   /* exact: |z| <= 4, or theory within [low, high], or to rounding */
    LAB_OUTSIDE,  /* exact, and violated */
    LAB_HELD,     /* a bound is held, to 4 se and rounding */
    LAB_BROKEN,
    LAB_SHOWN /* a limit, a first-order form or a model: nothing is claimed */
};

enum lab_standing lab_row_standing(const struct lab_row *row);
/* Nonzero for LAB_OUTSIDE and LAB_BROKEN. */
int lab_row_differs(const struct lab_row *row);
/* 1 where theory holds, 0 where it does not, -1 where nothing is claimed. */
int lab_row_holds(const struct lab_row *row);

/* Numbers of rows by their standing. */
struct lab_count {
    int exact, within, bounds, held, shown;
};

void lab_count_row(struct lab_count *count, const struct lab_row *row);
/* "within 4 se of theory: 7 of 7 rows; bounds held: 1 of 1; limits and ..." */
void lab_count_text(const struct lab_count *count, char *text, unsigned long size);

/* ---- the rest -------------------------------------------------------------- */

/*
 * For experiments with flags --n and --d (preset NaN) and orthonormal keys: a --d that
 * is not given becomes n; a d below n is refused.  0, or -1.
 */
int lab_settle_d(struct lab_run *run);

#endif
