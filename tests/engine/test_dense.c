/* SPDX-License-Identifier: MIT */
/*
 * Random problems of all options against a dense evaluation in double,
 * at the accuracy that the library states for unit normal inputs:
 *     O    f32 2e-6 max|V|, f16 2^-9 max|V|, bf16 2^-7 max|V|, f64 1e-12 max|V|,
 *          by the type of the inputs, whatever that of the output
 *     LSE  2e-6 (1 + |LSE|), for f64 1e-12 (1 + |LSE|)
 * and, like every other problem, under the derived bound.
 * Sets but `ref` run twice, the second time with splits of few keys.
 * ATTEND_TEST_QUICK=1 takes a tenth, ATTEND_TEST_SEED other problems.
 */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "check/check.h"
#include "check/sample.h"

static struct check_run run;

static int64_t problems(int64_t all) { return test_is_quick() ? all / 10 : all; }

static uint64_t first_seed(void)
{
    const char *const seed = getenv("ATTEND_TEST_SEED");

    return (seed != NULL ? strtoull(seed, NULL, 10) : 7) * 1000000;
}

static double largest_value(const struct check_problem *p)
{
    double largest = 0.0;

    for (int64_t at = 0; at < p->nb * p->hkv * p->nk * p->dv; at++)
        largest = fmax(largest, fabs(p->v[at]));
    return largest;
}

/*
 * The stated accuracy in the place of the bounds.  A row whose LSE is beyond 1000
 * sees only keys whose bias is the lowest number of its type: these scores are no
 * unit normal ones, and the bound stays.
 */
static void state_accuracy(const struct check_problem *p, struct check_expect *expect)
{
    const double share = p->dtype == ATTEND_F64   ? 1e-12
                         : p->dtype == ATTEND_F32 ? 2e-6
                         : p->dtype == ATTEND_F16 ? 0x1p-9
                                                  : 0x1p-7;
    const double tolerance = share * largest_value(p);
    const double lse_share = p->dtype == ATTEND_F64 ? 1e-12 : 2e-6;

    for (int64_t r = 0; r < p->nb * p->hq * p->nq; r++) {
        const double lse = expect->lse.value[r];
        if (!(fabs(lse) <= 1000.0))
            continue;
        for (int t = 0; t < CHECK_MODELS; t++) {
            expect->lse.bound[t][r] = lse_share * (1.0 + fabs(lse));
            for (int64_t c = 0; c < p->dv; c++)
                if (expect->out.bound[t][r * p->dv + c] > 0.0)
                    expect->out.bound[t][r * p->dv + c] = tolerance;
        }
    }
}

static void examine(const struct check_problem *p, int stated)
{
    struct check_expect expect = check_dense(p), accuracy = {0};

    if (stated) {
        accuracy = check_dense(p);
        state_accuracy(p, &accuracy);
    }
    for (int s = 0; s < run.count; s++) {
        struct check_set *const set = &run.sets[s];
        struct check_outputs got;
        struct check_worst worst = {0};
        if (!check_try(&run, set, set->ctx, p, &got))
            continue;
        check_compare(p, &expect, set->model, &got, &worst);
        if (stated && worst.ratio < 1.0) {
            worst = (struct check_worst){0};
            check_compare(p, &accuracy, set->model, &got, &worst);
        }
        check_note(set, worst.ratio, p, worst.where);
        check_outputs_free(&got);
    }
    check_expect_free(&accuracy);
    check_expect_free(&expect);
}

static void examine_many(int64_t count, uint64_t seed,
                         const struct check_sample_options *options)
{
    for (int s = 0; s < run.count; s++)
        run.sets[s].tally = (struct check_tally){.ok = 1};
    for (int64_t n = 0; n < count; n++) {
        struct check_problem p = check_sample(seed + (uint64_t)n, options);
        examine(&p, options->tame);
        check_problem_free(&p);
    }
    const struct check_set *broken = NULL;
    for (int s = 0; s < run.count; s++) {
        const struct check_set *const set = &run.sets[s];
        printf("  %-16s %lld problems, %lld with splits, worst %.3f of what is allowed\n",
               set->label, (long long)set->tally.cases, (long long)set->tally.split,
               set->tally.worst);
        if (!set->tally.ok && broken == NULL)
            broken = set;
        CHECK(!set->split || set->tally.split > 0, "%s: no problem had splits",
              set->label);
    }
    CHECK(broken == NULL, "%s: %s", broken->label, broken->tally.detail);
    CHECK(run.sets[0].tally.cases == count, "only %lld problems ran",
          (long long)run.sets[0].tally.cases);
}

TEST(thousand_problems_at_the_stated_accuracy)
{
    examine_many(problems(1000), first_seed(),
                 &(struct check_sample_options){
                     .max_length = 300, .max_width = 300, .max_heads = 2, .tame = 1});
}

TEST(other_scales_and_sizes_of_values_under_the_bound)
{
    examine_many(problems(200), first_seed() + 500000,
                 &(struct check_sample_options){
                     .max_length = 300, .max_width = 128, .max_heads = 3});
}

TEST(several_splits_at_the_stated_accuracy)
{
    examine_many(problems(200), first_seed() + 700000,
                 &(struct check_sample_options){.min_keys = CHECK_SPLIT_KEYS + 1,
                                                .max_length = 700,
                                                .max_rows = 24,
                                                .max_width = 128,
                                                .max_heads = 2,
                                                .tame = 1});
}

int main(void)
{
    attend_error error = {.message = ""};

    if (check_open(&run, NULL, CHECK_BOTH, 0, &error) != ATTEND_OK) {
        fprintf(stderr, "test_dense: %s\n", error.message);
        return 1;
    }
    RUN(thousand_problems_at_the_stated_accuracy);
    RUN(other_scales_and_sizes_of_values_under_the_bound);
    RUN(several_splits_at_the_stated_accuracy);
    check_close(&run);
    return test_finish();
}
