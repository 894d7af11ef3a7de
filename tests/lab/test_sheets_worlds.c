/* SPDX-License-Identifier: MIT */
/*
 * The statements in other worlds.  A verdict that is marked as the same in every world
 * is moved by none of these; every other verdict is moved by at least one.  And without
 * the engine no verdict comes out that needs it.
 */
#include "support/test.h"

#include <math.h>
#include <string.h>

#include "lab/measure/parallel.h"
#include "lab/sheets/judge.h"

enum { STATEMENTS = LAB_STATEMENTS, READINGS = 2 };

static struct lab_judgement sound[READINGS][LAB_STATEMENTS];

/* ---- the worlds -------------------------------------------------------------- */

static void no_scores(struct lab_exercise *w) { w->tau = 0; }
static void half_scale(struct lab_exercise *w) { w->tau = 0.5; }
static void sharp(struct lab_exercise *w) { w->tau = 1e4; }
static void sharp_and_quiet(struct lab_exercise *w)
{
    w->tau = 1e4;
    w->sigma2 = 0;
}
static void root_d(struct lab_exercise *w) { w->root_d = 1; }
static void leaning_means(struct lab_exercise *w) { w->overlap = 0.3; }
static void equal_means(struct lab_exercise *w) { w->overlap = 1; }
static void quiet(struct lab_exercise *w) { w->sigma2 = 0; }
static void less_noise(struct lab_exercise *w) { w->sigma2 = 0.02; }
static void noise_in_b(struct lab_exercise *w) { w->sigma2_b = 0.5; }
static void lasting_noise(struct lab_exercise *w) { w->floor = 0.01; }
static void no_isotropic_noise(struct lab_exercise *w) { w->isotropic = 0; }
static void alpha_is_a_deviation(struct lab_exercise *w) { w->deviation = 1; }
static void long_unit(struct lab_exercise *w) { w->unit = 50; }
static void a_sink(struct lab_exercise *w) { w->sink = 0; }
static void zero_weighs_nothing(struct lab_exercise *w) { w->zero = -INFINITY; }
static void head_2_turns_a(struct lab_exercise *w) { w->mirror_a = 1; }
static void head_2_turns_b(struct lab_exercise *w) { w->mirror_b = 1; }
static void leaning_basis(struct lab_exercise *w) { w->shear = 0.5; }
static void v_a_outside(struct lab_exercise *w) { w->stray = 0.5; }
static void tokens_in_columns(struct lab_exercise *w) { w->columns = 1; }

#define WORLD(name)                                                                      \
    {                                                                                    \
#name, name                                                                      \
    }
static const struct {
    const char *name;
    void (*change)(struct lab_exercise *world);
} worlds[] = {
    WORLD(no_scores),
    WORLD(quiet),
    WORLD(a_sink),
    WORLD(half_scale),
    WORLD(sharp),
    WORLD(sharp_and_quiet),
    WORLD(root_d),
    WORLD(leaning_means),
    WORLD(equal_means),
    WORLD(less_noise),
    WORLD(noise_in_b),
    WORLD(lasting_noise),
    WORLD(long_unit),
    WORLD(leaning_basis),
    WORLD(no_isotropic_noise),
    WORLD(v_a_outside),
    WORLD(head_2_turns_a),
    WORLD(head_2_turns_b),
    WORLD(tokens_in_columns),
    WORLD(zero_weighs_nothing),
    WORLD(alpha_is_a_deviation),
};
enum { WORLDS = sizeof worlds / sizeof worlds[0] };

/* -1: not judged; else whether the verdict differs from that of the exercise. */
static int moves(int world, int index, enum lab_reading reading)
{
    struct lab_exercise exercise;
    struct lab_judgement judgement;
    int status = lab_exercise_open(&exercise);
    worlds[world].change(&exercise);
    if (!status)
        status = lab_sheets_judge_in(&exercise, index, reading, &judgement);
    lab_exercise_close(&exercise);
    return status ? -1 : judgement.verdict != sound[reading][index].verdict;
}

/* The first world that moves a verdict, or WORLDS; -1 - world: not judged there. */
static int mover[READINGS][LAB_STATEMENTS];

static void find_movers(void *arg, int worker)
{
    const int workers = *(const int *)arg;
    for (int i = worker; i < STATEMENTS * READINGS; i += workers) {
        const int index = i / READINGS, reading = i % READINGS;
        int *const found = &mover[reading][index];
        for (*found = 0; *found < WORLDS; ++*found) {
            const int here = moves(*found, index, (enum lab_reading)reading);
            if (here < 0)
                *found = -1 - *found;
            if (here)
                break;
        }
    }
}

TEST(verdicts_move_with_the_world)
{
    int workers = 2, moved = 0;

    CHECK(!lab_sheets_judge_all(NULL, LAB_CHARITY, workers, sound[LAB_CHARITY]) &&
              !lab_sheets_judge_all(NULL, LAB_LETTER, workers, sound[LAB_LETTER]),
          "not judged");
    lab_parallel(workers, find_movers, &workers);
    for (int index = 0; index < STATEMENTS; index++)
        for (int reading = 0; reading < READINGS; reading++) {
            const struct lab_judgement *const j = &sound[reading][index];
            const int found = mover[reading][index];
            const char *const by = found < 0         ? worlds[-1 - found].name
                                   : found == WORLDS ? "nothing"
                                                     : worlds[found].name;
            CHECK(found >= 0, "%s is not judged in %s", j->id, by);
            CHECK((found == WORLDS) == j->invariant,
                  "%s (%s, %s) is marked %s and moved by %s", j->id,
                  lab_reading_name(j->reading), lab_verdict_name(j->verdict),
                  j->invariant ? "as the same in every world" : "movable", by);
            moved += found < WORLDS;
        }
    CHECK(moved > READINGS * STATEMENTS / 2, "%d moved", moved);
}

/* ---- without the engine ---------------------------------------------------------- */

/* Algebra of matrices, covariances and magnitudes, and what is ill formed for good. */
static const char *const without_engine[] = {
    "000-4",  "000-5",  "000-6",  "000-7",  "000-8",  "000-14", "001-5",
    "001-6",  "001-7",  "001-8",  "001-9",  "001-10", "001-13", "001-14",
    "001-21", "002-10", "002-11", "002-18", "003-3",  "003-5",  "003-9",
    "003-10", "004-6",  "004-7",  "004-9",  "004-10",
};

TEST(without_the_engine_no_verdict_that_needs_it)
{
    const struct lab_exercise closed = lab_exercise_sound(NULL);
    for (int index = 0; index < STATEMENTS; index++)
        for (int reading = 0; reading < READINGS; reading++) {
            struct lab_judgement judgement;
            int needs = 1;
            for (size_t i = 0; i < sizeof without_engine / sizeof *without_engine; i++)
                needs &= lab_sheets_index(without_engine[i]) != index;
            const int status = lab_sheets_judge_in(&closed, index,
                                                   (enum lab_reading)reading, &judgement);
            CHECK((status != 0) == needs, "%s %s", sound[0][index].id,
                  needs ? "is judged" : "is not judged");
            CHECK(needs || judgement.verdict == sound[reading][index].verdict, "%s",
                  sound[0][index].id);
        }
}

int main(void)
{
    RUN(verdicts_move_with_the_world);
    RUN(without_the_engine_no_verdict_that_needs_it);
    return test_finish();
}
