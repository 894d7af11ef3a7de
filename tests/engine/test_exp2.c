/* SPDX-License-Identifier: MIT */
/*
 * 2^x of every kernel set from -150 to 0: at all boundaries, and at every float from
 * TEST_WHOLE on, at scale 1 at one in STEP, the first of them drawn.
 */
#include "support/test.h"

#include "check/check.h"
#include "check/exp2.h"

/* `ref` uses the C library: one float in REF_STEP suffices. */
enum { STEP = 8, REF_STEP = 61 };

static void examine(int model, int64_t step)
{
    attend_context *ctx[CHECK_SETS_MAX];
    const char *names[CHECK_SETS_MAX];
    struct check_exp2_result results[CHECK_SETS_MAX];
    struct check_run run;
    attend_error error = {.message = ""};
    int count = 0, missed = 0;

    CHECK(check_open(&run, NULL, CHECK_PLAIN, 0, &error) == ATTEND_OK, "%s",
          error.message);
    for (int s = 0; s < run.count; s++)
        if (run.sets[s].model == model) {
            names[count] = run.sets[s].name;
            ctx[count++] = run.sets[s].ctx;
        }
    check_exp2(ctx, count, step, test_seed(), run.exp2_threads, results);
    for (int s = 0; s < count; s++) {
        printf("  %-10s %lld floats, at most %.3f ulp, at %.9g\n", names[s],
               (long long)results[s].cases, results[s].worst_ulp,
               (double)results[s].worst_x);
        missed += !(results[s].worst_ulp <= 3.0) || results[s].cases < 1000000;
    }
    check_close(&run);
    CHECK(count > 0, "no kernel set runs");
    CHECK(missed == 0, "%d sets are further off than 3 ulp", missed);
}

TEST(kernels)
{
    const double step = test_scale() < TEST_WHOLE ? STEP / test_scale() : 1;

    examine(CHECK_KERNELS, step > 1 ? (int64_t)step : 1);
}

TEST(reference_at_some_floats) { examine(CHECK_REF, REF_STEP); }
