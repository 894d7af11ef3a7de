/* SPDX-License-Identifier: MIT */
/* What is explained is what is printed, and the cloud of outputs lies where it should. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/experiments/experiment.h"
#include "support/test.h"

enum { SEEN_MAX = 64, NAME_MAX_LENGTH = 64 };

/* Names of the quantities that an experiment printed, each once. */
static struct {
    char name[SEEN_MAX][NAME_MAX_LENGTH];
    int count;
} seen;

static void keep_name(void *user, const struct lab_row *row)
{
    (void)user;
    for (int i = 0; i < seen.count; i++)
        if (!strcmp(seen.name[i], row->quantity))
            return;
    if (seen.count < SEEN_MAX)
        snprintf(seen.name[seen.count++], NAME_MAX_LENGTH, "%s", row->quantity);
}

/* "n=100 dtype=f32": numbers for flags that take numbers, text for the others. */
static void set_flags(struct lab_run *run, char *settings)
{
    for (char *item = strtok(settings, " "); item; item = strtok(NULL, " ")) {
        char *const value = strchr(item, '=');
        *value = '\0';
        for (int f = 0; f < run->experiment->flag_count; f++) {
            const struct lab_flag *const flag = &run->experiment->flags[f];
            if (strcmp(flag->name, item) != 0)
                continue;
            if (flag->type == LAB_REAL || flag->type == LAB_INTEGER)
                run->numbers[f] = strtod(value + 1, NULL);
            else
                run->texts[f] = value + 1;
        }
    }
}

static int perform(struct lab_run *run, const struct lab_experiment *experiment,
                   const char *settings, struct lab_figures *figures)
{
    char changed[128];

    snprintf(changed, sizeof changed, "%s", settings);
    lab_run_init(run, experiment);
    run->row = keep_name;
    run->session.threads = 2;
    run->figures = figures;
    if (experiment->trials)
        run->trials = 100;
    set_flags(run, changed);
    return lab_perform(run);
}

/* Parameters at which an experiment prints what it does not print by default. */
static const struct {
    const char *experiment, *settings;
} cases[] = {
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

static const char *unknown_in(const char *experiment)
{
    for (int i = 0; i < seen.count; i++)
        if (!lab_quantity_meaning(experiment, seen.name[i]))
            return seen.name[i];
    return NULL;
}

static const char *never_seen(const char *experiment)
{
    for (const struct lab_quantity *known = lab_quantities(experiment); known->name;
         known++) {
        int found = 0;
        for (int i = 0; i < seen.count; i++)
            found |= !strcmp(seen.name[i], known->name);
        if (!found)
            return known->name;
    }
    return NULL;
}

/* ATTEND_TEST_QUICK=1 performs every experiment once: then not every quantity is seen. */
TEST(every_quantity_is_explained_and_every_explanation_is_of_one)
{
    const int quick = test_is_quick();

    for (int e = 0; lab_experiments[e]; e++) {
        const struct lab_experiment *const experiment = lab_experiments[e];
        static struct lab_run run;
        seen.count = 0;
        CHECK(!perform(&run, experiment, "", NULL), "%s: %s", experiment->name,
              run.session.error);
        for (size_t c = 0; !quick && c < sizeof cases / sizeof *cases; c++)
            if (!strcmp(cases[c].experiment, experiment->name))
                CHECK(!perform(&run, experiment, cases[c].settings, NULL), "%s %s: %s",
                      experiment->name, cases[c].settings, run.session.error);
        CHECK(seen.count > 0 && seen.count < SEEN_MAX, "%s: %d quantities",
              experiment->name, seen.count);
        const char *const unknown = unknown_in(experiment->name);
        CHECK(!unknown, "%s: %s is not explained", experiment->name, unknown);
        const char *const idle = never_seen(experiment->name);
        CHECK(quick || !idle, "%s: %s is explained but never printed", experiment->name,
              idle);
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

static const struct lab_series *series_of(const struct lab_figures *figures,
                                          const char *title, const char *label)
{
    for (int f = 0; f < figures->count; f++) {
        const struct lab_figure *const figure = figures->figure[f];
        if (strcmp(figure->title, title) != 0)
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
    static const char title[] = "Outputs in the plane of v_a and v_b";
    const double n = 10, rivals = exp(3);
    struct lab_figures figures = {0};
    static struct lab_run run;

    CHECK(!perform(&run, lab_find("heads"), "n=10 C=3", &figures), "%s",
          run.session.error);
    const struct lab_series *const one = series_of(&figures, title, "one head");
    const struct lab_series *const two = series_of(&figures, title, "two heads");
    CHECK(one && two && one->count == two->count && one->count >= 100, "no cloud");
    double low = 1, high = 0;
    for (int i = 0; i < one->count; i++) {
        const double rest = (1 - one->x[i]) * rivals / (rivals + n - 2);
        CHECK(fabs(one->y[i] - rest) < 1e-12, "(%g, %g)", one->x[i], one->y[i]);
        const double w1 = 2 * two->x[i] - 1 / (rivals + n - 1);
        const double b = (rivals / (rivals + n - 1) + (1 - w1) / (n - 1)) / 2;
        CHECK(fabs(two->y[i] - b) < 1e-12, "(%g, %g)", two->x[i], two->y[i]);
        /* The same keys: both rise with the length of k_a. */
        const double odds = one->x[i] / (1 - one->x[i]) * (rivals + n - 2);
        CHECK(fabs(w1 - odds / (odds + n - 1)) < 1e-9, "%g, not %g", w1,
              odds / (odds + n - 1));
        low = fmin(low, one->x[i]);
        high = fmax(high, one->x[i]);
    }
    CHECK(low < 0.05 && high > 0.9, "from %g to %g only", low, high);
    lab_figures_free(&figures);
}

TEST(histograms_are_linear_and_say_what_is_cut_off)
{
    struct lab_figures figures = {0};
    static struct lab_run run;

    CHECK(!perform(&run, lab_find("magnitude"), "", &figures), "%s", run.session.error);
    const struct lab_figure *const figure = figures.figure[0];
    double mass = 0, note = 0, drawn = 0;
    for (int s = 0; s < figure->count; s++) {
        const struct lab_series *const series = figure->series[s];
        if (series->mark == LAB_BARS)
            for (int i = 0; i < series->count; i++) {
                mass += series->y[i] / series->count;
                if (series->y[i] <= figure->y_top)
                    drawn += series->y[i] / series->count;
            }
        if (series->mark == LAB_NOTE)
            note += strtod(series->label, NULL) / 100;
    }
    CHECK(!figure->y_log, "a logarithmic density has no areas");
    CHECK(fabs(mass - 1) < 1e-9, "the bars hold %g", mass);
    CHECK(figure->y_top > 0 && fabs(drawn + note - 1) < 0.01, "%g drawn, %g noted", drawn,
          note);
    lab_figures_free(&figures);
}

int main(void)
{
    RUN(every_quantity_is_explained_and_every_explanation_is_of_one);
    RUN(an_explanation_is_one_sentence);
    RUN(the_cloud_lies_where_arithmetic_puts_it);
    RUN(histograms_are_linear_and_say_what_is_cut_off);
    return test_finish();
}
