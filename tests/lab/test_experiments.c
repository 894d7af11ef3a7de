/* SPDX-License-Identifier: MIT */
/*
 * Experiments: measurements agree with the theory, row by row; and the explained
 * quantities are the printed ones.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/performed.h"

/*
 * Rounding error of a deterministic quantity: the engine adds n weights in turn, and
 * equal weights are rounded the same way each time, by up to 2^-53 of the sum.
 */
static double rounding_of(const struct lab_row *row)
{
    double tolerance = 1e-12;

    for (int p = 0; p < row->param_count; p++)
        if (!strcmp(row->params[p].name, "n"))
            tolerance = fmax(tolerance, row->params[p].number * 0x1p-53);
    return tolerance * fmax(1, fabs(row->theory));
}

/*
 * Deterministic, exact, in double: only rounding errors are allowed.  NULL: all
 * quantities.
 */
static const struct lab_row *inexact(void)
{
    for (int r = 0; r < lab.count; r++) {
        const struct lab_row *const row = &lab.row[r];
        if (row->kind == LAB_EXACT && row->se == 0 && row->allowed == 0 &&
            fabs(row->measured - row->theory) > rounding_of(row))
            return row;
    }
    return NULL;
}

struct trial_case {
    const char *name, *flags;
    int64_t trials;
};

static void check_cases(const struct trial_case *cases, size_t count)
{
    for (size_t x = 0; x < count; x++) {
        PERFORM(cases[x].name, cases[x].flags, cases[x].trials);
        CHECK_ROWS();
        CHECK(!inexact(), "%s", describe(inexact()));
    }
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

    check_cases(cases, sizeof cases / sizeof *cases);
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

    check_cases(cases, sizeof cases / sizeof *cases);
}

/* y of a line at x, between its points; NaN beside them. */
static double line_at(const struct lab_series *line, double x)
{
    for (int i = 1; i < line->count; i++)
        if (line->x[i - 1] <= x && x <= line->x[i])
            return line->y[i - 1] + (line->y[i] - line->y[i - 1]) * (x - line->x[i - 1]) /
                                        fmax(line->x[i] - line->x[i - 1], 1e-300);
    return NAN;
}

/*
 * Whether the line "theory, L" passes by a point of "measured, L": beyond 6 standard
 * errors and, for limits and the bends between its points, 5 % of its largest value.
 */
static int curves_miss(const struct lab_figure *figure)
{
    for (int s = 0; s < figure->count; s++)
        for (int t = 0; t < figure->count; t++) {
            const struct lab_series *const line = figure->series[s];
            const struct lab_series *const points = figure->series[t];
            if (strncmp(line->label, "theory, ", 8) || line->mark != LAB_LINE ||
                strncmp(points->label, "measured, ", 10) ||
                strcmp(line->label + 8, points->label + 10) != 0)
                continue;
            double largest = 1e-9; /* of rounding */
            for (int i = 0; i < line->count; i++)
                largest = fmax(largest, fabs(line->y[i]));
            for (int i = 0; i < points->count; i++) {
                const double y = line_at(line, points->x[i]);
                if (fabs(y - points->y[i]) > 6 * points->se[i] + 0.05 * largest) {
                    printf("  %s: %g at %g, not %g +- %g\n", line->label, points->y[i],
                           points->x[i], y, points->se[i]);
                    return 1;
                }
            }
        }
    return 0;
}

static int rises(const double *x, int count, int is_log)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(x[i]) || (is_log && x[i] <= 0) || (i > 0 && x[i] <= x[i - 1]))
            return 0;
    return 1;
}

/* Ascending axes, and values with more than one level. */
static int heat_is_odd(const struct lab_figure *figure)
{
    const struct lab_heat *const heat = &figure->heat;
    const int cells = heat->rows * heat->columns;

    for (int i = 0; i < cells; i++) {
        int same = 0;
        for (int j = 0; j < cells; j++)
            same += heat->value[i] == heat->value[j];
        if (4 * same > 3 * cells)
            return 1;
    }
    return !rises(heat->x, heat->columns, figure->x_log) ||
           !rises(heat->y, heat->rows, figure->y_log);
}

/* An earlier figure has the same id, or the id is empty. */
static int id_is_taken(int f)
{
    const char *const id = lab.figures.figure[f]->id;
    int taken = id == NULL;

    for (int g = 0; g < f && !taken; g++)
        taken = !strcmp(lab.figures.figure[g]->id, id);
    return taken;
}

/* Lines beside points, or a heat map, in every figure; NULL: none is at fault. */
static const char *figure_fault(void)
{
    if (lab.figures.count == 0)
        return "no figure";
    for (int f = 0; f < lab.figures.count; f++) {
        const struct lab_figure *const figure = lab.figures.figure[f];
        int filled = figure->heat.columns > 0;
        for (int x = 0; x < figure->count; x++)
            filled += figure->series[x]->count > 0;
        if (!filled || !*figure->title || !*figure->x_label || curves_miss(figure) ||
            heat_is_odd(figure) || id_is_taken(f))
            return figure->title;
    }
    return NULL;
}

/* ---- explanations --------------------------------------------------------- */

enum { SEEN_MAX = 64 };

/* Names of the quantities that an experiment printed, without repetition. */
static struct {
    const char *name[SEEN_MAX];
    int count;
} seen;

static int was_seen(const char *name)
{
    for (int i = 0; i < seen.count; i++)
        if (!strcmp(seen.name[i], name))
            return 1;
    return 0;
}

/* Quantities of the last experiment; each must be explained. */
static void see_names(void)
{
    for (int r = 0; r < lab.count; r++) {
        const char *const name = lab.row[r].quantity;
        if (was_seen(name))
            continue;
        const struct lab_quantity *known = lab_quantities(lab.run.experiment->name);
        while (known->name && strcmp(known->name, name) != 0)
            known++;
        CHECK(known->name, "%s is not explained", name);
        CHECK(seen.count < SEEN_MAX, "%d quantities", seen.count);
        if (known->name && seen.count < SEEN_MAX)
            seen.name[seen.count++] = known->name;
    }
}

/* Parameters at which an experiment prints additional quantities. */
static const struct {
    const char *experiment, *settings;
} odd[] = {
    {"copy", "norm=2 cosine=0.75 dtype=bf16"},
    {"extract", "angle=30"},
    {"extract", "n=2"},
    {"average", "w=3,2,1"},
    {"average", "n=1000 scale=on"},
    {"window", "alpha=0.01"},
    {"window", "n=2 alpha=0.1 C=50"},
    {"magnitude", "alpha=0.01"},
    {"magnitude", "n=2 alpha=0.01 sigma2=0"},
    {"heads", "queries=plus-minus"},
    {"heads", "noisy=all alpha=0.01"},
    {"one-vs-two", "sigma2=0.005 n=100"},
    {"one-vs-two", "alpha=0.01"},
    {"how-many-heads", "m=4 h=1 n=16"},
    {"how-many-heads", "m=4 h=4 noise=independent groups=copies"},
    {"how-many-heads", "m=2 h=2 n=32 d=16 keys=random"},
    {"remedies", "remedy=two-heads noisy=none"},
    {"permute", "mask=causal"},
    {"permute", "mask=window convention=columns dtype=f32"},
    {"positions", "positions=rope"},
    {"positions", "positions=none"},
    {"dispersion", "scale=on"},
    {"phases", "scale=off"},
    {"phases", "S=0.5 n=64"},
    {"capacity", "m=1"},
    {"variants", "m=4"},
};

/* The number of trials is the same at every scale, so that the draws and results are. */
static int64_t trials_at_most(void)
{
    return test_scale() < 1 ? 500 : test_scale() < TEST_WHOLE ? 2000 : 20000;
}

/* Of the sweep of `window`. */
static void check_ends_of_window(void)
{
    CHECK(fabs(measured("leak_at_lower_end") - 0.01) <= 1e-12, "%.15g",
          measured("leak_at_lower_end"));
    CHECK(fabs(theory("var_share_at_upper_end") - 0.043379) <= 1e-6, "%.9g",
          theory("var_share_at_upper_end"));
    CHECK(lab.count > 100, "%d rows", lab.count);
}

/*
 * Rows, figures and names of every experiment with its sweeps, and at odd parameters.  At
 * scale 0.1 a third of them with sweeps.
 */
TEST(every_experiment_agrees_with_theory_and_is_explained)
{
    for (int e = 0; lab_experiments[e]; e++) {
        const char *const name = lab_experiments[e]->name;
        const int64_t preset = lab_experiments[e]->trials, most = trials_at_most();
        const int sweeps = test_draws(3);
        seen.count = 0;
        PERFORM_AS(name, .trials = preset < most ? preset : most, .sweeps = sweeps,
                   .figures = sweeps);
        const char *const fault = sweeps ? figure_fault() : NULL;
        CHECK(!fault, "%s: %s", name, fault);
        lab_figures_free(&lab.figures);
        CHECK_ROWS();
        for (int r = 0; r < lab.count; r++)
            CHECK(!isnan(lab.row[r].measured), "%s", describe(&lab.row[r]));
        if (sweeps && !strcmp(name, "window"))
            check_ends_of_window();
        see_names();
        for (size_t c = 0; c < sizeof odd / sizeof *odd; c++)
            if (!strcmp(odd[c].experiment, name)) {
                PERFORM(name, odd[c].settings, 100);
                see_names();
            }
        for (const struct lab_quantity *known = lab_quantities(name); known->name;
             known++)
            CHECK(!sweeps || was_seen(known->name),
                  "%s: %s is explained but never printed", name, known->name);
    }
}

TEST(an_explanation_is_one_sentence)
{
    for (int e = 0; lab_experiments[e]; e++)
        for (const struct lab_quantity *known = lab_quantities(lab_experiments[e]->name);
             known->name; known++) {
            const size_t length = strlen(known->meaning);
            CHECK(length > 10 && length < 200 && known->meaning[length - 1] == '.',
                  "%s: '%s'", known->name, known->meaning);
        }
    CHECK(!lab_quantity_meaning("copy", "no_such_quantity"), "a meaning of nothing");
    CHECK(!lab_quantities("no such experiment")->name, "quantities of nothing");
}

/* ---- figures -------------------------------------------------------------- */

static const struct lab_series *series_of(const struct lab_figures *figures,
                                          const char *id, const char *label)
{
    for (int f = 0; f < figures->count; f++) {
        const struct lab_figure *const figure = figures->figure[f];
        if (strcmp(figure->id, id) != 0)
            continue;
        for (int s = 0; s < figure->count; s++)
            if (!strcmp(figure->series[s]->label, label))
                return figure->series[s];
    }
    return NULL;
}

/*
 * By hand, with x = coefficient of v_a.  One head: p_b = (1 - p_a) e^C/(e^C + n - 2). Two
 * heads: head 1 leaves (1 - w1)/(n - 1) to b, head 2 has e^C/(e^C + n - 1) of b and
 * leaves 1/(e^C + n - 1) to a.
 */
TEST(the_cloud_lies_where_arithmetic_puts_it)
{
    const double n = 10, rivals = exp(3);

    PERFORM_AS("heads", .flags = "n=10 C=3", .trials = 100, .figures = 1);
    const struct lab_series *const one = series_of(&lab.figures, "outputs", "one head");
    const struct lab_series *const two = series_of(&lab.figures, "outputs", "two heads");
    CHECK(one && two && one->count == two->count && one->count >= 100, "no cloud");
    double low = 1, high = 0;
    for (int i = 0; i < one->count; i++) {
        const double rest = (1 - one->x[i]) * rivals / (rivals + n - 2);
        CHECK(fabs(one->y[i] - rest) < 1e-12, "(%g, %g)", one->x[i], one->y[i]);
        const double w1 = 2 * two->x[i] - 1 / (rivals + n - 1);
        const double b = (rivals / (rivals + n - 1) + (1 - w1) / (n - 1)) / 2;
        CHECK(fabs(two->y[i] - b) < 1e-12, "(%g, %g)", two->x[i], two->y[i]);
        /* The keys are the same: both quantities rise with the length of k_a. */
        const double odds = one->x[i] / (1 - one->x[i]) * (rivals + n - 2);
        CHECK(fabs(w1 - odds / (odds + n - 1)) < 1e-9, "%g, not %g", w1,
              odds / (odds + n - 1));
        low = fmin(low, one->x[i]);
        high = fmax(high, one->x[i]);
    }
    CHECK(low < 0.05 && high > 0.9, "from %g to %g only", low, high);
    lab_figures_free(&lab.figures);
}

TEST(histograms_are_linear_and_say_what_is_cut_off)
{
    PERFORM_AS("magnitude", .trials = 100, .figures = 1);
    const struct lab_figure *const figure = lab.figures.figure[0];
    double mass = 0, note = 0, drawn = 0;
    for (int s = 0; s < figure->count; s++) {
        const struct lab_series *const series = figure->series[s];
        if (series->mark == LAB_BARS)
            for (int i = 0; i < series->count; i++) {
                mass += series->y[i] / series->count;
                if (series->y[i] <= figure->y_top)
                    drawn += series->y[i] / series->count;
            }
        if (series->mark == LAB_ANNOTATION)
            note += strtod(series->label, NULL) / 100;
    }
    CHECK(!figure->y_log, "a logarithmic density has no areas");
    CHECK(fabs(mass - 1) < 1e-9, "the bars hold %g", mass);
    CHECK(figure->y_top > 0 && fabs(drawn + note - 1) < 0.01, "%g drawn, %g noted", drawn,
          note);
    lab_figures_free(&lab.figures);
}

/* ---- quantities ----------------------------------------------------------- */

TEST(rows_of_the_given_parameters_come_first)
{
    static const struct trial_case cases[] = {
        {"copy", "n=7 dtype=f32", 0},       {"extract", "angle=40 n=6", 0},
        {"average", "n=7 scale=on", 0},     {"average", "n=7 w=2,1", 0},
        {"dispersion", "n=50 scale=on", 4}, {"phases", "n=50 scale=off d=3", 16},
        {"capacity", "n=50 m=3", 16},       {"variants", "n=7 m=2 beta=3", 64},
    };

    for (size_t x = 0; x < sizeof cases / sizeof *cases; x++) {
        PERFORM(cases[x].name, cases[x].flags, cases[x].trials);
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
    static const char many[] = "n=1000 beta=0", plain[] = "n=2 beta=1";

    PERFORM("copy", many, 0);
    CHECK_NEAR(measured("p_top"), 0.001, 1e-12);
    CHECK_NEAR(measured("gap_needed"), log(999 * 99.0), 1e-10);
    /* 24 ln 2; in the reference, which rounds once, 25 ln 2. */
    CHECK(fabs(measured("gap_exact_f32_two_keys") - 24 * log(2)) < 1e-6 ||
              fabs(measured("gap_exact_f32_two_keys") - 25 * log(2)) < 1e-6,
          "%g", measured("gap_exact_f32_two_keys"));
    PERFORM("copy", plain, 0);
    CHECK_NEAR(measured("p_top"), 1 / (1 + exp(-1)), 1e-12);
    CHECK_NEAR(measured("error_norm"), sqrt(2) / (1 + exp(1)), 1e-12);
}

TEST(averages_as_the_theory_says)
{
    static const char scaled[] = "n=1024 tau=0.125", plain[] = "n=1024",
                      huge[] = "n=1000000 beta=10";
    static const char pair[] = "n=2 beta=0", weighted[] = "n=10 w=3,1 beta=20";

    PERFORM("average", scaled, 0);
    CHECK_NEAR(measured("beta_needed"), 86.65, 0.005);
    PERFORM("average", plain, 0);
    CHECK_NEAR(measured("beta_needed"), 10.83, 0.005);
    PERFORM("average", huge, 0);
    CHECK_NEAR(measured("p_first"), 0.021, 0.0005);
    PERFORM("average", pair, 0);
    CHECK(measured("leak") == 0 && fabs(measured("p_first") - 0.5) < 1e-15,
          "leak %g, p %g", measured("leak"), measured("p_first"));
    PERFORM("average", weighted, 0);
    CHECK_NEAR(measured("p_first"), 0.75, 1e-7);
}

TEST(extracts_as_the_theory_says)
{
    static const char right[] = "n=2 beta=0 angle=90",
                      tilted[] = "n=2 beta=0 angle=60 m=1 p=1";

    PERFORM("extract", right, 0);
    CHECK_NEAR(measured("error_product"), 0, 1e-12);
    CHECK(measured("error_transpose") > 0.1, "A^T alone errs by %g only",
          measured("error_transpose"));
    CHECK(measured("error_product_skewed") > 0.1, "a skewed basis errs by %g only",
          measured("error_product_skewed"));
    PERFORM("extract", tilted, 0);
    CHECK_NEAR(measured("error_projector"), 0.5, 1e-12);
    CHECK_NEAR(measured("error_oblique"), 0, 1e-12);
}

TEST(disperses_as_the_theory_says)
{
    static const double sizes[] = {10, 1000, 100000}, largest[] = {0.9996, 0.957, 0.181};

    for (int x = 0; x < 3; x++) {
        char flags[32];
        snprintf(flags, sizeof flags, "n=%.0f", sizes[x]);
        PERFORM("dispersion", flags, 1);
        CHECK_NEAR(measured("max_p"), largest[x], x ? 0.0005 : 0.00005);
    }
}

TEST(freezes_as_the_theory_says)
{
    static const char scaled[] = "n=1024 d=64", unscaled[] = "n=1024 d=64 scale=off";
    static const char frozen[] = "n=1024 d=1 S=6", between[] = "n=1024 d=1 S=2";

    PERFORM("phases", scaled, 400);
    CHECK_NEAR(measured("entropy"), 6.43, 0.015);
    PERFORM("phases", unscaled, 400);
    CHECK_NEAR(theory("sum_p2_limit"), 0.535, 0.0005);
    CHECK_NEAR(measured("sum_p2"), 0.60, 0.06);
    PERFORM("phases", frozen, 400);
    CHECK_NEAR(theory("sum_p2_limit"), 0.379, 0.0005);
    CHECK_NEAR(measured("sum_p2"), 0.478, 0.06);
    PERFORM("phases", between, 400);
    CHECK(!find_row("n_eff_limit"), "n e^-S^2 is claimed beyond S^2 = (ln n)/2: %g",
          theory("n_eff_limit"));
}

TEST(holds_as_many_keys_as_the_theory_says)
{
    static const double targets[] = {8, 16}, sizes[] = {518, 45};

    for (int x = 0; x < 2; x++) {
        char flags[32];
        snprintf(flags, sizeof flags, "d=64 n=256 m=%g", targets[x]);
        PERFORM("capacity", flags, 500);
        CHECK_NEAR(theory("collision_size"), sizes[x], 0.5);
        CHECK(measured("success_random_naive") < measured("success_random_pinv") + 1e-9,
              "pinv holds less: %g", measured("success_random_pinv"));
    }
}

TEST(variants_do_what_they_are_said_to)
{
    static const char flags[] = "n=16 m=4 beta=10";

    PERFORM("variants", flags, 8000);
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
    static const char *const names[] = {"phases", "capacity", "variants",
                                        "how-many-heads"};

    for (int e = 0; e < 4; e++) {
        static struct lab_row before[64];
        int count = 0;
        for (int threads = 1; threads <= 3; threads += 2) {
            PERFORM_AS(names[e], .trials = 100, .threads = threads);
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
        CHECK(perform(cases[x].name, cases[x].flags, 16) && lab.run.session.refused,
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
        PERFORM_AS(lab_experiments[e]->name, .trials = 1000000000, .sweeps = 1,
                   .stop = &stop);
        CHECK(lab.count <= PERFORMED_ROWS, "%s: %d rows", lab_experiments[e]->name,
              lab.count);
    }
}
