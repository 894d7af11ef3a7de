/* SPDX-License-Identifier: MIT */
/* Experiments performed: what they measure is what the theory says, row by row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/experiments/experiment.h"
#include "support/test.h"

enum { ROWS_MAX = 4096 };

static struct {
    struct lab_row row[ROWS_MAX];
    int count;
    struct lab_run run;
    struct lab_figures figures;
} lab;

static void keep_row(void *user, const struct lab_row *row)
{
    (void)user;
    if (lab.count < ROWS_MAX)
        lab.row[lab.count] = *row;
    lab.count++;
}

static void set_text(struct lab_run *run, const char *name, const char *text)
{
    for (int f = 0; f < run->experiment->flag_count; f++)
        if (!strcmp(run->experiment->flags[f].name, name))
            run->texts[f] = text;
}

/* "n=100 beta=3 dtype=f32", changed in place; names of flags that take text stay text. */
static void set_flags(struct lab_run *run, char *flags)
{
    for (char *item = strtok(flags, " "); item; item = strtok(NULL, " ")) {
        char *const value = strchr(item, '=');
        char *end;
        *value = '\0';
        const double number = strtod(value + 1, &end);
        if (!*end && end != value + 1 && strcmp(item, "w"))
            lab_set(run, item, number);
        else
            set_text(run, item, value + 1);
    }
}

/* Performs an experiment; `flags` may be "".  The rows are in `lab`. */
static int perform(const char *name, char *flags, int64_t trials, int sweeps)
{
    const struct lab_experiment *const experiment = lab_find(name);

    lab.count = 0;
    if (!experiment)
        return -1;
    lab_run_init(&lab.run, experiment);
    lab.run.row = keep_row;
    lab.run.session.threads = 2;
    lab.run.sweeps = sweeps;
    lab.run.figures = sweeps ? &lab.figures : NULL;
    if (trials && experiment->trials)
        lab.run.trials = trials;
    set_flags(&lab.run, flags);
    return lab_perform(&lab.run);
}

/* The first row of a quantity, which is that of the given parameters; NULL: none. */
static const struct lab_row *find_row(const char *quantity)
{
    for (int r = 0; r < lab.count && r < ROWS_MAX; r++)
        if (!strcmp(lab.row[r].quantity, quantity))
            return &lab.row[r];
    return NULL;
}

static double measured(const char *quantity)
{
    const struct lab_row *const row = find_row(quantity);

    return row ? row->measured : NAN;
}

static double theory(const char *quantity)
{
    const struct lab_row *const row = find_row(quantity);

    return row ? row->theory : NAN;
}

/*
 * What rounding may do to a deterministic quantity: the engine adds n weights in turn,
 * and equal ones are rounded the same way each time, by up to 2^-53 of the sum.
 */
static double rounding_of(const struct lab_row *row)
{
    double tolerance = 1e-12;

    for (int p = 0; p < row->param_count; p++)
        if (!strcmp(row->params[p].name, "n"))
            tolerance = fmax(tolerance, row->params[p].number * 0x1p-53);
    return tolerance * fmax(1, fabs(row->theory));
}

/* Index of the first row that is not as it should be; -1: all are. */
static int first_wrong(int exactly)
{
    for (int r = 0; r < lab.count; r++) {
        const struct lab_row *const row = &lab.row[r];
        const double off = fabs(row->measured - row->theory);
        if (isnan(row->measured) || lab_row_differs(row))
            return r;
        /* Deterministic, exact, in double: nothing but rounding is allowed. */
        if (exactly && row->kind == LAB_EXACT && row->se == 0 && row->allowed == 0 &&
            off > rounding_of(row))
            return r;
    }
    return -1;
}

static const char *describe(int r)
{
    static char text[600];
    int length;

    if (r < 0)
        return "";
    const struct lab_row *const row = &lab.row[r];
    length =
        snprintf(text, sizeof text, "%s: theory %.17g measured %.17g se %g allowed %g;",
                 row->quantity, row->theory, row->measured, row->se, row->allowed);
    for (int p = 0; p < row->param_count && length < (int)sizeof text; p++)
        length += snprintf(text + length, sizeof text - (size_t)length, " %s=%g",
                           row->params[p].name, row->params[p].number);
    return text;
}

struct trial_case {
    const char *name, *flags;
    int64_t trials;
};

#define CHECK_CASES(cases, exactly)                                                      \
    for (size_t x = 0; x < sizeof(cases) / sizeof *(cases); x++) {                       \
        char flags[128];                                                                 \
        snprintf(flags, sizeof flags, "%s", (cases)[x].flags);                           \
        CHECK(!perform((cases)[x].name, flags, (cases)[x].trials, 0), "%s %s: %s",       \
              (cases)[x].name, (cases)[x].flags, lab.run.session.error);                 \
        CHECK(lab.count > 0 && lab.count <= ROWS_MAX, "%d rows", lab.count);             \
        const int wrong = first_wrong(exactly);                                          \
        CHECK(wrong < 0, "%s %s: %s", (cases)[x].name, (cases)[x].flags,                 \
              describe(wrong));                                                          \
    }

TEST(exact_experiments_agree_to_rounding)
{
    static const struct trial_case cases[] = {
        {"copy", "", 0},
        {"copy", "n=2 beta=0", 0},
        {"copy", "n=100 beta=30 tau=0.5", 0},
        {"copy", "n=100000 beta=12", 0},
        {"copy", "n=5 d=40 norm=3 cosine=0.5", 0},
        {"copy", "n=64 norm=2 cosine=-0.75 eps=0.3", 0},
        {"copy", "n=1000 beta=7 dtype=f32", 0},
        {"copy", "n=10 beta=7.3 cosine=0.31 dtype=bf16", 0},
        {"extract", "", 0},
        {"extract", "angle=20 d=40 m=7 p=5", 0},
        {"extract", "angle=60 m=2 p=6 beta=1 n=40", 0},
        {"extract", "angle=90 m=1 p=1 d=2 n=2 beta=0", 0},
        {"average", "", 0},
        {"average", "n=2 beta=0", 0},
        {"average", "n=1000 m=5 beta=-2", 0},
        {"average", "n=100000 beta=3", 0},
        {"average", "n=50 scale=on beta=20 eps=1e-6", 0},
        {"average", "n=20 w=1,2,3,4 tau=0.25", 0},
        {"average", "n=4 m=4", 0},
        {"dispersion", "", 4},
        {"dispersion", "n=100000 D=3 scale=on", 2},
        {"dispersion", "n=2 D=0", 4},
    };

    CHECK_CASES(cases, 1);
}

TEST(random_experiments_agree_within_four_standard_errors)
{
    static const struct trial_case cases[] = {
        {"phases", "", 400},
        {"phases", "scale=off", 400},
        {"phases", "n=100 d=3 S=0.3", 2000},
        {"phases", "n=5000 d=1 S=6", 400},
        {"phases", "n=2 d=8 S=2", 4000},
        {"capacity", "", 1000},
        {"capacity", "n=40 d=20 m=5", 4000},
        {"capacity", "n=300 d=64 m=1", 200},
        {"capacity", "n=100 d=128 m=16 beta=3", 1000},
        {"variants", "", 20000},
        {"variants", "n=3 m=3 beta=2", 20000},
        {"variants", "n=100 m=10 beta=4 sigma2=0.05", 8000},
        {"variants", "n=8 m=1 beta=0 sigma2=0", 2000},
    };

    CHECK_CASES(cases, 1);
}

/* Lines beside points, or a heat map, in every figure. */
static const char *figure_fault(void)
{
    if (lab.figures.count == 0)
        return "no figure";
    for (int f = 0; f < lab.figures.count; f++) {
        const struct lab_figure *const figure = lab.figures.figure[f];
        int filled = figure->heat.columns > 0;
        for (int x = 0; x < figure->count; x++)
            filled += figure->series[x]->count > 0;
        if (!filled || !*figure->title || !*figure->x_label)
            return figure->title;
    }
    return NULL;
}

/* ATTEND_TEST_QUICK=1 takes a tenth of the trials. */
TEST(every_experiment_with_its_sweeps_agrees)
{
    const int64_t most = test_is_quick() ? 2000 : 20000;

    for (int e = 0; lab_experiments[e]; e++) {
        const char *const name = lab_experiments[e]->name;
        const int64_t preset = lab_experiments[e]->trials;
        char no_flags[1] = "";
        CHECK(!perform(name, no_flags, preset < most ? preset : most, 1), "%s: %s", name,
              lab.run.session.error);
        CHECK(lab.count > 0 && lab.count <= ROWS_MAX, "%s: %d rows", name, lab.count);
        const int wrong = first_wrong(0);
        const char *const fault = figure_fault();
        lab_figures_free(&lab.figures);
        CHECK(wrong < 0, "%s: %s", name, describe(wrong));
        CHECK(!fault, "%s: %s", name, fault);
    }
}

TEST(rows_of_the_given_parameters_come_first)
{
    static const struct trial_case cases[] = {
        {"copy", "n=7 dtype=f32", 0},       {"extract", "angle=40 n=6", 0},
        {"average", "n=7 scale=on", 0},     {"average", "n=7 w=2,1", 0},
        {"dispersion", "n=50 scale=on", 4}, {"phases", "n=50 scale=off d=3", 16},
        {"capacity", "n=50 m=3", 16},       {"variants", "n=7 m=2 beta=3", 64},
    };

    for (size_t x = 0; x < sizeof cases / sizeof *cases; x++) {
        char flags[64];
        snprintf(flags, sizeof flags, "%s", cases[x].flags);
        CHECK(!perform(cases[x].name, flags, cases[x].trials, 0), "%s",
              lab.run.session.error);
        for (int r = 0; r < lab.count; r++) {
            for (int p = 0; p < lab.row[r].param_count; p++) {
                const struct lab_param *const param = &lab.row[r].params[p];
                CHECK(param->text ? !strcmp(param->text, lab.run.texts[p])
                                  : param->number == lab.run.numbers[p],
                      "%s: %s has %s = %g %s", cases[x].name, lab.row[r].quantity,
                      param->name, param->number, param->text ? param->text : "");
            }
            for (int s = 0; s < r; s++)
                CHECK(strcmp(lab.row[r].quantity, lab.row[s].quantity) != 0,
                      "%s: %s comes twice", cases[x].name, lab.row[r].quantity);
        }
    }
}

#define CHECK_NEAR(what, value, tolerance)                                               \
    CHECK(fabs((what) - (value)) <= (tolerance), "%.9g, not %.9g", (what),               \
          (double)(value))

TEST(copies_as_the_theory_says)
{
    char many[] = "n=1000 beta=0", plain[] = "n=2 beta=1";

    CHECK(!perform("copy", many, 0, 0), "%s", lab.run.session.error);
    CHECK_NEAR(measured("p_top"), 0.001, 1e-12);
    CHECK_NEAR(measured("gap_needed"), log(999 * 99.0), 1e-10);
    /* 24 ln 2; in the reference, which rounds once, 25 ln 2. */
    CHECK(fabs(measured("gap_exact_f32_two_keys") - 24 * log(2)) < 1e-6 ||
              fabs(measured("gap_exact_f32_two_keys") - 25 * log(2)) < 1e-6,
          "%g", measured("gap_exact_f32_two_keys"));
    CHECK(!perform("copy", plain, 0, 0), "%s", lab.run.session.error);
    CHECK_NEAR(measured("p_top"), 1 / (1 + exp(-1)), 1e-12);
    CHECK_NEAR(measured("error_norm"), sqrt(2) / (1 + exp(1)), 1e-12);
}

TEST(averages_as_the_theory_says)
{
    char scaled[] = "n=1024 tau=0.125", plain[] = "n=1024", huge[] = "n=1000000 beta=10";
    char pair[] = "n=2 beta=0", weighted[] = "n=10 w=3,1 beta=20";

    CHECK(!perform("average", scaled, 0, 0), "%s", lab.run.session.error);
    CHECK_NEAR(measured("beta_needed"), 86.65, 0.005);
    CHECK(!perform("average", plain, 0, 0), "%s", lab.run.session.error);
    CHECK_NEAR(measured("beta_needed"), 10.83, 0.005);
    CHECK(!perform("average", huge, 0, 0), "%s", lab.run.session.error);
    CHECK_NEAR(measured("p_first"), 0.021, 0.0005);
    CHECK(!perform("average", pair, 0, 0), "%s", lab.run.session.error);
    CHECK(measured("leak") == 0 && fabs(measured("p_first") - 0.5) < 1e-15,
          "leak %g, p %g", measured("leak"), measured("p_first"));
    CHECK(!perform("average", weighted, 0, 0), "%s", lab.run.session.error);
    CHECK_NEAR(measured("p_first"), 0.75, 1e-7);
}

TEST(extracts_as_the_theory_says)
{
    char right[] = "n=2 beta=0 angle=90", tilted[] = "n=2 beta=0 angle=60 m=1 p=1";

    CHECK(!perform("extract", right, 0, 0), "%s", lab.run.session.error);
    CHECK_NEAR(measured("error_product"), 0, 1e-12);
    CHECK(measured("error_transpose") > 0.1, "A^T alone errs by %g only",
          measured("error_transpose"));
    CHECK(measured("error_product_skewed") > 0.1, "a skewed basis errs by %g only",
          measured("error_product_skewed"));
    CHECK(!perform("extract", tilted, 0, 0), "%s", lab.run.session.error);
    CHECK_NEAR(measured("error_projector"), 0.5, 1e-12);
    CHECK_NEAR(measured("error_oblique"), 0, 1e-12);
}

TEST(disperses_as_the_theory_says)
{
    static const double sizes[] = {10, 1000, 100000}, largest[] = {0.9996, 0.957, 0.181};

    for (int x = 0; x < 3; x++) {
        char flags[32];
        snprintf(flags, sizeof flags, "n=%.0f", sizes[x]);
        CHECK(!perform("dispersion", flags, 1, 0), "%s", lab.run.session.error);
        CHECK_NEAR(measured("max_p"), largest[x], x ? 0.0005 : 0.00005);
    }
}

TEST(freezes_as_the_theory_says)
{
    char scaled[] = "n=1024 d=64", unscaled[] = "n=1024 d=64 scale=off";
    char frozen[] = "n=1024 d=1 S=6", between[] = "n=1024 d=1 S=2";

    CHECK(!perform("phases", scaled, 400, 0), "%s", lab.run.session.error);
    CHECK_NEAR(measured("entropy"), 6.43, 0.015);
    CHECK(!perform("phases", unscaled, 400, 0), "%s", lab.run.session.error);
    CHECK_NEAR(theory("sum_p2_limit"), 0.535, 0.0005);
    CHECK_NEAR(measured("sum_p2"), 0.60, 0.06);
    CHECK(!perform("phases", frozen, 400, 0), "%s", lab.run.session.error);
    CHECK_NEAR(theory("sum_p2_limit"), 0.379, 0.0005);
    CHECK_NEAR(measured("sum_p2"), 0.478, 0.06);
    CHECK(!perform("phases", between, 400, 0), "%s", lab.run.session.error);
    CHECK(!find_row("n_eff_limit"), "n e^-S^2 is claimed beyond S^2 = (ln n)/2: %g",
          theory("n_eff_limit"));
}

TEST(holds_as_many_keys_as_the_theory_says)
{
    static const double targets[] = {8, 16}, sizes[] = {518, 45};

    for (int x = 0; x < 2; x++) {
        char flags[32];
        snprintf(flags, sizeof flags, "d=64 n=256 m=%g", targets[x]);
        CHECK(!perform("capacity", flags, 500, 0), "%s", lab.run.session.error);
        CHECK_NEAR(theory("collision_size"), sizes[x], 0.5);
        CHECK(measured("success_random_naive") < measured("success_random_pinv") + 1e-9,
              "pinv holds less: %g", measured("success_random_pinv"));
    }
}

TEST(variants_do_what_they_are_said_to)
{
    char flags[] = "n=16 m=4 beta=10";

    CHECK(!perform("variants", flags, 8000, 0), "%s", lab.run.session.error);
    CHECK(measured("attention_hit") == 1 && measured("synthesizer_hit") < 0.2,
          "attention %g, Synthesizer %g", measured("attention_hit"),
          measured("synthesizer_hit"));
    CHECK(measured("bottleneck_scores") == 128 && measured("attention_scores") == 256,
          "%g and %g", measured("bottleneck_scores"), measured("attention_scores"));
    CHECK(measured("sigmoid_var_b") == 0 && measured("softmax_var_b") > 0.1, "%g and %g",
          measured("sigmoid_var_b"), measured("softmax_var_b"));
}

TEST(the_number_of_threads_changes_nothing)
{
    static const char *const names[] = {"phases", "capacity", "variants"};

    for (int e = 0; e < 3; e++) {
        static struct lab_row before[64];
        int count = 0;
        for (int threads = 1; threads <= 3; threads += 2) {
            lab_run_init(&lab.run, lab_find(names[e]));
            lab.count = 0;
            lab.run.row = keep_row;
            lab.run.session.threads = threads;
            lab.run.sweeps = 0;
            lab.run.trials = 100;
            CHECK(!lab_perform(&lab.run), "%s", lab.run.session.error);
            CHECK(lab.count <= 64, "%d rows", lab.count);
            for (int r = 0; threads > 1 && r < lab.count; r++)
                CHECK(lab.count == count && !memcmp(&before[r].measured,
                                                    &lab.row[r].measured, sizeof(double)),
                      "%s: %.17g on one thread, %.17g on three", lab.row[r].quantity,
                      before[r].measured, lab.row[r].measured);
            count = lab.count;
            memcpy(before, lab.row, sizeof *before * (size_t)count);
        }
    }
}

TEST(refuses_what_does_not_go_together)
{
    static const struct trial_case cases[] = {
        {"copy", "n=10 d=9", 0},         {"average", "n=10 d=9", 0},
        {"average", "n=10 m=11", 0},     {"average", "n=10 w=1,-2", 0},
        {"average", "n=10 w=1,x", 0},    {"average", "n=2 w=1,1,1", 0},
        {"extract", "d=4 m=3 p=2", 0},   {"capacity", "d=16 m=9", 0},
        {"capacity", "n=4 d=64 m=8", 0}, {"variants", "n=4 m=5", 0},
    };

    for (size_t x = 0; x < sizeof cases / sizeof *cases; x++) {
        char flags[64];
        snprintf(flags, sizeof flags, "%s", cases[x].flags);
        CHECK(perform(cases[x].name, flags, 16, 0) && lab.run.session.refused,
              "%s %s is accepted", cases[x].name, cases[x].flags);
        CHECK(lab.count == 0 && *lab.run.session.error, "%s %s: %d rows", cases[x].name,
              cases[x].flags, lab.count);
        CHECK(strstr(lab.run.session.error, "--"), "no flag is named: %s",
              lab.run.session.error);
    }
}

TEST(stops_when_told_to)
{
    static const volatile sig_atomic_t stop = 1;

    for (int e = 0; lab_experiments[e]; e++) {
        lab_run_init(&lab.run, lab_experiments[e]);
        lab.count = 0;
        lab.run.row = keep_row;
        lab.run.trials = 1000000000;
        lab.run.session.stop = &stop;
        CHECK(!lab_perform(&lab.run), "%s: %s", lab_experiments[e]->name,
              lab.run.session.error);
        CHECK(lab.count <= ROWS_MAX, "%s: %d rows", lab_experiments[e]->name, lab.count);
    }
}

int main(void)
{
    RUN(exact_experiments_agree_to_rounding);
    RUN(random_experiments_agree_within_four_standard_errors);
    RUN(every_experiment_with_its_sweeps_agrees);
    RUN(rows_of_the_given_parameters_come_first);
    RUN(copies_as_the_theory_says);
    RUN(averages_as_the_theory_says);
    RUN(extracts_as_the_theory_says);
    RUN(disperses_as_the_theory_says);
    RUN(freezes_as_the_theory_says);
    RUN(holds_as_many_keys_as_the_theory_says);
    RUN(variants_do_what_they_are_said_to);
    RUN(the_number_of_threads_changes_nothing);
    RUN(refuses_what_does_not_go_together);
    RUN(stops_when_told_to);
    return test_finish();
}
