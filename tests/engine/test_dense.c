/* SPDX-License-Identifier: MIT */
/*
 * Random problems of all options against a dense evaluation in double,
 * at an accuracy that unit normal inputs have:
 *     O    f32 2e-6 max|V|, f16 2^-9 max|V|, bf16 2^-7 max|V|, f64 1e-12 max|V|,
 *          by the type of the inputs, whatever that of the output
 *     LSE  2e-6 (1 + |LSE|), for f64 1e-12 (1 + |LSE|)
 * and, like every other problem, under the derived bound.  That accuracy is no bound: it
 * is tested on problems that are the same in every run, drawn problems have the bound
 * alone. Sets but `ref` run twice, the second time with splits of few keys. The first
 * CORE problems of a test run at every scale.
 */
#include "support/oracle.h"

#include "check/check.h"
#include "check/sample.h"

static struct check_run run;

enum { CORE = 16, FIXED = 100 };

static double largest_value(const struct check_problem *p)
{
    double largest = 0.0;

    for (int64_t at = 0; at < p->nb * p->hkv * p->nk * p->dv; at++)
        largest = fmax(largest, fabs(p->v[at]));
    return largest;
}

static double least(double bound, double stated)
{
    return bound >= 0.0 && bound < stated ? bound : stated;
}

/*
 * The stated accuracy, where the bounds allow more.  A row whose LSE is beyond 1000 sees
 * only keys whose bias is the lowest number of its type: its scores are not unit normal,
 * and only the bound applies.
 */
static void state_accuracy(const struct check_problem *p, struct check_expect *expect)
{
    const double tolerance = type_error(p->dtype) * largest_value(p);
    const double lse_share = p->dtype == ATTEND_F64 ? 1e-12 : 2e-6;

    for (int64_t r = 0; r < p->nb * p->hq * p->nq; r++) {
        const double lse = expect->lse.value[r];
        if (!(fabs(lse) <= 1000.0))
            continue;
        for (int t = 0; t < CHECK_MODELS; t++) {
            double *const out = expect->out.bound[t] + r * p->dv;
            expect->lse.bound[t][r] =
                least(expect->lse.bound[t][r], lse_share * (1.0 + fabs(lse)));
            for (int64_t c = 0; c < p->dv; c++)
                out[c] = out[c] > 0.0 ? least(out[c], tolerance) : out[c];
        }
    }
}

static void examine(const struct check_problem *p, int stated)
{
    auto_check_expect expect = check_dense(p);

    if (stated)
        state_accuracy(p, &expect);
    check_against(&run, p, &expect);
}

/*
 * The core, and `drawn` problems at scale 1, the fixed ones first; `salt` is unique to
 * the test.
 */
static void examine_many(int64_t drawn, uint64_t salt,
                         const struct check_sample_options *options)
{
    const int64_t count = CORE + test_count(drawn);

    for (int s = 0; s < run.count; s++)
        run.sets[s].tally = (struct check_tally){.ok = 1};
    for (int64_t n = 0; n < count; n++) {
        const uint64_t seed = n < FIXED ? 7 : test_seed();
        struct check_sample_options own = *options;
        if (n < CORE && n % 2 == 0 && own.min_keys == 0) /* some have splits */
            own.min_keys = 2 * CHECK_SPLIT_KEYS + 1;
        auto_check_problem p = check_sample(seed * 100000000 + salt + (uint64_t)n, &own);
        examine(&p, options->tame && n < FIXED);
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

TEST(problems_at_the_stated_accuracy)
{
    examine_many(284, 0,
                 &(struct check_sample_options){
                     .max_length = 300, .max_width = 300, .max_heads = 2, .tame = 1});
}

TEST(other_scales_and_sizes_of_values_under_the_bound)
{
    examine_many(64, 50000000,
                 &(struct check_sample_options){
                     .max_length = 300, .max_width = 128, .max_heads = 3});
}

TEST(several_splits_at_the_stated_accuracy)
{
    examine_many(116, 70000000,
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

    if (check_open(&run, getenv("ATTEND_TEST_SET"), CHECK_BOTH, 0, &error) != ATTEND_OK) {
        fprintf(stderr, "test_dense: %s\n", error.message);
        return 1;
    }
    test_run_all();
    check_close(&run);
    return test_finish();
}
