/* SPDX-License-Identifier: MIT */
/*
 * Statistics of rows that can be computed by hand, on every kernel set: equal and one-hot
 * scores, large ones, ties, rows without keys, sinks.
 */
#include "stats_fixture.h"

static attend_context *ctx;

#define FOR_DTYPES(dtype)                                                                \
    for (int d_ = 0; d_ < FLOAT_DTYPES; d_++)                                            \
        for (attend_dtype dtype = float_dtypes[d_]; dtype != 0; dtype = (attend_dtype)0)

/* ---- one-hot and equal scores ------------------------------------------------ */

/* Gaps with a weight of 0, hidden keys and biases of -inf have the same statistics. */
static void one_hot(attend_dtype dtype, int64_t nk, int64_t key, int how)
{
    auto_problem p = problem_of_score(dtype, 3, nk, how == 0 ? -9984.0 : 0.0);

    view_set(&p.io.k, 0, 0, key, 0, 0.0);
    problem_mask(&p, 1, 1, 1, nk);
    problem_bias(&p, ATTEND_F32, 1, 1, 1, nk);
    for (int64_t j = 0; j < nk; j++)
        if (j != key && how > 0)
            view_set(how == 1 ? &p.rule.mask : &p.rule.bias, 0, 0, 0, j,
                     how == 1 ? 0.0 : -INFINITY);
    attend_stats *const stats = own_stats(&p, 2, 0, 0);
    const struct {
        attend_stat stat;
        double want;
    } known[] = {{ATTEND_STAT_ENTROPY, 0.0},
                 {ATTEND_STAT_KEYS_EFF, 1.0},
                 {ATTEND_STAT_N_EFF, 1.0},
                 {ATTEND_STAT_TOP_WEIGHT, 1.0},
                 {ATTEND_STAT_SCORE_VARIANCE, 0.0},
                 {ATTEND_STAT_MARGIN, how == 0 && nk > 1 ? 9984.0 : INFINITY},
                 {ATTEND_STAT_KEYS, how == 0 ? (double)nk : 1.0}};
    CHECK(run_stats(&p, ctx), "runs");
    for (int64_t i = 0; i < 3; i++) {
        for (size_t x = 0; x < sizeof known / sizeof known[0]; x++)
            CHECK(stat_of(&p, known[x].stat, 0, 0, i) == known[x].want,
                  "%s nk %lld key %lld way %d: %s %g", attend_dtype_name(dtype),
                  (long long)nk, (long long)key, how, attend_stat_name(known[x].stat),
                  stat_of(&p, known[x].stat, 0, 0, i));
        CHECK(stats->top_keys[2 * i] == key, "not key %lld", (long long)key);
    }
}

TEST(one_hot_rows_have_no_entropy)
{
    static const int64_t lengths[] = {1, 2, 130, 2100};

    FOR_DTYPES(dtype)
    for (int n = 0; n < 4; n++)
        for (int how = 0; how < 3; how++) {
            one_hot(dtype, lengths[n], 0, how);
            one_hot(dtype, lengths[n], lengths[n] / 2, how);
            one_hot(dtype, lengths[n], lengths[n] - 1, how);
        }
}

static void equal_scores(attend_dtype dtype, int64_t nk, double value)
{
    auto_problem p = problem_of_score(dtype, 2, nk, value);
    attend_stats *const stats = own_stats(&p, 2, 0, 0);
    CHECK(run_stats(&p, ctx), "runs");
    const double *const row = (const double *)stats->rows.data + ATTEND_STAT_COUNT;
    const double n = (double)nk;
    CHECK(floats_apart(row[ATTEND_STAT_ENTROPY], log(n)) <= 2, "n %g of %g: H %.9g", n,
          value, row[ATTEND_STAT_ENTROPY]);
    CHECK(floats_apart(row[ATTEND_STAT_KEYS_EFF], n) <= 2 &&
              floats_apart(row[ATTEND_STAT_N_EFF], n) <= 2,
          "n %g: keys_eff %.9g n_eff %.9g", n, row[ATTEND_STAT_KEYS_EFF],
          row[ATTEND_STAT_N_EFF]);
    CHECK(floats_apart(row[ATTEND_STAT_TOP_WEIGHT], 1.0 / n) <= 1,
          "n %g: top weight %.9g", n, row[ATTEND_STAT_TOP_WEIGHT]);
    CHECK(row[ATTEND_STAT_SCORE_VARIANCE] == 0.0 &&
              row[ATTEND_STAT_RAW_VARIANCE] == 0.0 && row[ATTEND_STAT_RAW_MEAN] == value,
          "n %g: variance %g raw %g mean %.9g", n, row[ATTEND_STAT_SCORE_VARIANCE],
          row[ATTEND_STAT_RAW_VARIANCE], row[ATTEND_STAT_RAW_MEAN]);
    CHECK(row[ATTEND_STAT_MARGIN] == (nk == 1 ? INFINITY : 0.0), "n %g: margin %g", n,
          row[ATTEND_STAT_MARGIN]);
}

TEST(equal_scores_give_ln_n)
{
    static const int64_t lengths[] = {1,   2,   3,   5,    127,  128,  129,
                                      200, 333, 999, 1000, 1024, 1025, 4096};

    FOR_DTYPES(dtype)
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
        equal_scores(dtype, lengths[n], 0.5);
        equal_scores(dtype, lengths[n], -48.0);
    }
}

/* H of n scores, from the definition. */
static double entropy_of(const double *scores, int64_t n)
{
    long double m = -INFINITY, sum = 0.0L, h = 0.0L;

    for (int64_t j = 0; j < n; j++)
        m = fmaxl(m, scores[j]);
    for (int64_t j = 0; j < n; j++)
        sum += expl(scores[j] - m);
    for (int64_t j = 0; j < n; j++)
        h += expl(scores[j] - m) / sum * (logl(sum) - (scores[j] - m));
    return (double)h;
}

static void entropy_case(attend_dtype dtype, const double *scores, int64_t nk,
                         const char *what)
{
    auto_problem p = problem_of_scores(dtype, 2, nk, scores);

    own_stats(&p, 0, 0, 0);
    CHECK(run_stats(&p, ctx), "runs");
    const double h = stat_of(&p, ATTEND_STAT_ENTROPY, 0, 0, 0);
    CHECK(is_near(h, entropy_of(scores, nk), 1e-5), "%s: H %.9g want %.9g", what, h,
          entropy_of(scores, nk));
}

/* The top key is first, in the middle, last, or after smaller running maxima. */
TEST(rows_near_one_hot_keep_their_entropy)
{
    static const int64_t lengths[] = {2, 3, 200, 1500};

    for (int n = 0; n < 4; n++)
        for (int at = 0; at < 4; at++) {
            const int64_t nk = lengths[n];
            const int64_t top = at == 0 ? 0 : at == 1 ? nk / 2 : nk - 1;
            double scores[1500];
            for (int64_t j = 0; j < nk; j++)
                scores[j] = -16.5 - (nk > 3 ? 5.5 : 0.0) -
                            (at == 3 ? (double)((nk - j) % 7) * 0.25 : 0.0);
            scores[top] = 0.0;
            entropy_case(ATTEND_F32, scores, nk, "near one-hot");
            entropy_case(ATTEND_F64, scores, nk, "near one-hot");
        }
}

/* Steps of 2^-10, which are exact in f32 near 1e4. */
TEST(scores_near_ten_thousand)
{
    double scores[700];

    for (int sign = -1; sign <= 1; sign += 2)
        for (int spread = 1; spread <= 4096; spread *= 16) {
            for (int64_t j = 0; j < 700; j++)
                scores[j] = sign * 1e4 + (double)(j * 7919 % 700 * spread) * 0x1p-10;
            entropy_case(ATTEND_F32, scores, 700, "near 1e4");
            entropy_case(ATTEND_F64, scores, 700, "near 1e4");
        }
}

/* ---- a common shift ------------------------------------------------------------ */

static int is_moved_by_shift(int stat)
{
    return stat == ATTEND_STAT_MAX || stat == ATTEND_STAT_LSE ||
           stat == ATTEND_STAT_RAW_MEAN || stat == ATTEND_STAT_MAGNITUDE_NOISE;
}

/*
 * Scores on a grid that f32 keeps at 1e5: differences are the same, and so is the rest.
 * The variance of raw scores is taken about their mean, which lies off the grid and is
 * kept to half a step of f32, 2^-8.
 */
TEST(a_common_shift_changes_nothing)
{
    double scores[600], moved[600];
    attend_stats a, b;

    for (int64_t j = 0; j < 600; j++) {
        scores[j] = (double)((j * 7919 + 13) % 601 - 300) / 64.0;
        moved[j] = scores[j] + 1e5;
    }
    auto_problem p = problem_of_scores(ATTEND_F32, 40, 600, scores);
    auto_problem q = problem_of_scores(ATTEND_F32, 40, 600, moved);
    ask_stats(&p, &a, 8, 6, 3);
    ask_stats(&q, &b, 8, 6, 3);
    CHECK(run_stats(&p, ctx) && run_stats(&q, ctx), "runs");
    for (int64_t i = 0; i < 40; i++)
        for (int x = 0; x < ATTEND_STAT_COUNT; x++) {
            const double was = stat_of(&p, (attend_stat)x, 0, 0, i);
            const double is = stat_of(&q, (attend_stat)x, 0, 0, i);
            CHECK(is_moved_by_shift(x) || was == is ||
                      (x == ATTEND_STAT_RAW_VARIANCE &&
                       fabs(is - was) <= 2.0 * sqrt(was) * 0x1p-8),
                  "%s %.12g and %.12g", attend_stat_name((attend_stat)x), was, is);
        }
    CHECK(memcmp(a.top_keys, b.top_keys, 8 * 40 * sizeof *a.top_keys) == 0, "top keys");
    const double max = stat_of(&q, ATTEND_STAT_MAX, 0, 0, 0);
    CHECK(max == 1e5 + 300.0 / 64.0, "max %.9g", max);
}

/* ---- rows without keys, rows of NaN, sinks -------------------------------------- */

/* Row i has the statistics of a row without keys. */
static void states_no_keys(const problem *p, int64_t i, int how)
{
    const attend_stats *const s = p->io.stats;

    for (int x = 0; x < ATTEND_STAT_COUNT; x++) {
        const double got = stat_of(p, (attend_stat)x, 0, 0, i);
        CHECK(got == (x == ATTEND_STAT_MAX || x == ATTEND_STAT_LSE ? -INFINITY : 0.0),
              "%s way %d: %s is %g", attend_dtype_name(p->dtype), how,
              attend_stat_name((attend_stat)x), got);
    }
    for (int x = 0; x < 3; x++)
        CHECK(tensor_get(&s->top_weights, 0, 0, i, x) == 0.0 &&
                  s->top_keys[i * 3 + x] == -1 &&
                  tensor_get(&s->distances, 0, 0, i, x) == 0.0 &&
                  tensor_get(&s->class_mass, 0, 0, i, x) == 0.0,
              "way %d: top, bin or class %d", how, x);
}

static void empty_rows(attend_dtype dtype, int how)
{
    static const int64_t before[] = {-100}, nothing[] = {0};
    static const double sinks[] = {2.0};
    auto_problem p = problem_make((shape){1, 1, 1, 37, 70, 8, 5}, dtype, 8);

    if (how == 0) {
        problem_mask(&p, 1, 1, 37, 70);
        hide_keys(&p, 0, 0, 20, 0, 70);
    } else if (how == 1) {
        problem_bias(&p, ATTEND_F32, 1, 1, 37, 70);
        for (int64_t j = 0; j < 70; j++)
            view_set(&p.rule.bias, 0, 0, 20, j, -INFINITY);
    } else if (how == 2) {
        p.rule.key_lengths = nothing;
    } else {
        p.rule.causal = ATTEND_CAUSAL_OFFSET;
        p.rule.causal_offset = before;
    }
    p.rule.sinks = sinks;
    own_stats(&p, 3, 3, 3);
    CHECK(run_stats(&p, ctx), "runs");
    states_no_keys(&p, 20, how);
    const double other = stat_of(&p, ATTEND_STAT_KEYS, 0, 0, 21);
    CHECK(other == (how < 2 ? 70.0 : 0.0), "the next row has %g keys", other);
}

TEST(rows_without_keys_have_stated_values)
{
    FOR_DTYPES(dtype)
    for (int how = 0; how < 4; how++)
        empty_rows(dtype, how);
}

TEST(nk_of_0_has_stated_values)
{
    auto_problem p = problem_make((shape){1, 1, 1, 21, 0, 8, 5}, ATTEND_F32, 8);

    own_stats(&p, 3, 3, 3);
    CHECK(run_stats(&p, ctx), "runs");
    states_no_keys(&p, 20, -1);
}

static void not_numbers(attend_dtype dtype, int how)
{
    auto_problem p = problem_make((shape){1, 1, 1, 20, 150, 8, 5}, dtype, 9);

    problem_bias(&p, ATTEND_F32, 1, 1, 20, 150);
    if (how == 0)
        view_set(&p.io.q, 0, 0, 7, 3, NAN);
    else
        view_set(&p.rule.bias, 0, 0, 7, 140, how == 1 ? INFINITY : NAN);
    attend_stats *const stats = own_stats(&p, 3, 3, 3);
    CHECK(run_stats(&p, ctx), "runs");
    for (int x = 0; x < ATTEND_STAT_COUNT; x++) {
        const double bad = stat_of(&p, (attend_stat)x, 0, 0, 7);
        CHECK(x == ATTEND_STAT_KEYS ? bad == 150.0 : isnan(bad), "%s way %d: %s is %g",
              attend_dtype_name(dtype), how, attend_stat_name((attend_stat)x), bad);
        CHECK(!isnan(stat_of(&p, (attend_stat)x, 0, 0, 8)),
              "%s way %d: %s of the next row", attend_dtype_name(dtype), how,
              attend_stat_name((attend_stat)x));
    }
    for (int x = 0; x < 3; x++)
        CHECK(isnan(tensor_get(&stats->top_weights, 0, 0, 7, x)) &&
                  isnan(tensor_get(&stats->distances, 0, 0, 7, x)) &&
                  isnan(tensor_get(&stats->class_mass, 0, 0, 7, x)) &&
                  stats->top_keys[7 * 3 + x] == -1,
              "%s way %d: top, bin or class %d", attend_dtype_name(dtype), how, x);
}

TEST(nan_and_inf_make_all_but_keys_nan)
{
    FOR_DTYPES(dtype)
    for (int how = 0; how < 3; how++)
        not_numbers(dtype, how);
}

/* NaN in V affects only the statistics of values. */
TEST(nan_values_show_in_the_statistics_of_values)
{
    FOR_DTYPES(dtype)
    {
        auto_problem p = problem_make((shape){1, 1, 1, 20, 30, 8, 5}, dtype, 9);
        view_set(&p.io.v, 0, 0, 11, 2, NAN);
        own_stats(&p, 0, 0, 0);
        CHECK(run_stats(&p, ctx), "runs");
        for (int x = 0; x < ATTEND_STAT_COUNT; x++) {
            const double got = stat_of(&p, (attend_stat)x, 0, 0, 4);
            CHECK(isnan(got) == (x >= ATTEND_STAT_VALUE_NORM), "%s: %s is %g",
                  attend_dtype_name(dtype), attend_stat_name((attend_stat)x), got);
        }
    }
}

TEST(sinks_are_left_out_of_p)
{
    static const double sinks[] = {-3.0, 1.0, 90.0};

    FOR_DTYPES(dtype)
    {
        auto_problem p = problem_make((shape){1, 3, 1, 20, 150, 8, 5}, dtype, 10);
        attend_stats a, b;
        ask_stats(&p, &a, 4, 5, 2);
        CHECK(run_stats(&p, ctx), "runs");
        p.rule.sinks = sinks;
        ask_stats(&p, &b, 4, 5, 2);
        CHECK(run_stats(&p, ctx) && same_bits(&b.rows, a.rows.data, "rows") &&
                  same_bits(&b.top_weights, a.top_weights.data, "top weights") &&
                  same_bits(&b.distances, a.distances.data, "distances") &&
                  same_bits(&b.class_mass, a.class_mass.data, "classes"),
              "%s", attend_dtype_name(dtype));
    }
}

/* ---- the largest ------------------------------------------------------------------- */

TEST(of_equal_scores_the_earlier_key_is_first)
{
    static const int64_t threes[] = {5, 140, 141, 260, 1030}, twos[] = {2, 128, 1999};
    double scores[2000];

    for (int64_t j = 0; j < 2000; j++)
        scores[j] = -(double)(j % 5);
    for (int x = 0; x < 5; x++)
        scores[threes[x]] = 3.0;
    for (int x = 0; x < 3; x++)
        scores[twos[x]] = 2.0;
    auto_problem p = problem_of_scores(ATTEND_F32, 25, 2000, scores);
    attend_stats *const stats = own_stats(&p, 8, 0, 0);
    CHECK(run_stats(&p, ctx), "runs");
    for (int64_t i = 0; i < 25; i++)
        for (int x = 0; x < 8; x++) {
            const double weight = tensor_get(&stats->top_weights, 0, 0, i, x);
            const double first = tensor_get(&stats->top_weights, 0, 0, i, 0);
            CHECK(
                stats->top_keys[i * 8 + x] == (x < 5 ? threes[x] : twos[x - 5]) &&
                    (x < 5 ? weight == first : is_near(weight, first * exp(-1.0), 1e-6)),
                "rank %d is key %lld", x, (long long)stats->top_keys[i * 8 + x]);
        }
    const double margin = stat_of(&p, ATTEND_STAT_MARGIN, 0, 0, 0);
    CHECK(margin == 0.0, "margin %g", margin);
}

TEST(past_the_last_key_there_is_none)
{
    static const double scores[] = {1.0, 4.0, 2.5};
    static const int64_t order[] = {1, 2, 0};
    auto_problem p = problem_of_scores(ATTEND_F32, 20, 3, scores);
    attend_stats *const stats = own_stats(&p, 8, 0, 0);
    CHECK(run_stats(&p, ctx), "runs");
    for (int x = 0; x < 8; x++) {
        const double weight = tensor_get(&stats->top_weights, 0, 0, 19, x);
        CHECK(stats->top_keys[19 * 8 + x] == (x < 3 ? order[x] : -1) &&
                  (x < 3 ? weight > 0.0 : weight == 0.0),
              "rank %d is key %lld", x, (long long)stats->top_keys[19 * 8 + x]);
    }
    const double margin = stat_of(&p, ATTEND_STAT_MARGIN, 0, 0, 19);
    CHECK(margin == 1.5, "margin %g", margin);
}

/* ---- types and heads ----------------------------------------------------------------
 */

/*
 * A column has the same bits with any other columns and in both types, except with noise:
 * it is expensive, so sums may be computed differently with it.
 */
static void column_alone(attend_dtype dtype, int x)
{
    const int noise = x >= ATTEND_STAT_KEY_NOISE;
    auto_problem p = problem_make((shape){1, 4, 2, 30, 150, 8, 5}, dtype, 12);
    attend_stats all, one = attend_stats_default();

    ask_stats(&p, &all, 4, 4, 2);
    if (!noise)
        all.rows = own_tensor(&p, ATTEND_F64, 1, 4, 30, ATTEND_STAT_KEY_NOISE);
    CHECK(run_stats(&p, ctx), "runs");
    one.columns = &every_stat[x];
    one.rows = own_tensor(&p, ATTEND_F32, 1, 4, 30, 1);
    p.io.stats = &one;
    CHECK(run_stats(&p, ctx), "runs");
    for (int64_t r = 0; r < 120; r++) {
        const double got = tensor_get(&one.rows, 0, r / 30, r % 30, 0);
        const double want = tensor_get(&all.rows, 0, r / 30, r % 30, x);
        CHECK(noise ? is_near(got, want, 1e-5) : got == (double)(float)want,
              "%s %s: %.9g and %.9g", attend_dtype_name(dtype),
              attend_stat_name((attend_stat)x), got, want);
    }
}

TEST(a_column_alone_is_the_column_among_all)
{
    FOR_DTYPES(dtype)
    for (int x = 0; x < ATTEND_STAT_COUNT; x++)
        column_alone(dtype, x);
}

TEST(query_heads_share_a_key_head)
{
    auto_problem p = problem_make((shape){2, 6, 2, 20, 90, 16, 8}, ATTEND_F32, 13);

    own_stats(&p, 0, 0, 0);
    CHECK(run_stats(&p, ctx), "runs");
    auto_check_problem dense = dense_problem(&p);
    auto_check_row row = check_row_create(90);
    for (int64_t r = 0; r < 2 * 6 * 20; r++) {
        const int64_t b = r / 120, head = r / 20 % 6, i = r % 20;
        check_row_score(&dense, b, head, i, &row);
        const double h = stat_of(&p, ATTEND_STAT_ENTROPY, b, head, i);
        const double want = entropy_of(row.score, row.n);
        CHECK(is_near(h, want, 1e-5), "H %.9g want %.9g", h, want);
    }
}

int main(void) { return run_on_every_set(&ctx, NULL); }
