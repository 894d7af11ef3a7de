/* SPDX-License-Identifier: MIT */
/* Summaries against their rows, and refused requests. */
#include "stats_fixture.h"

static attend_context *ctx;
static const char *isa;

enum {
    GROUPS = ATTEND_SUMMARY_GROUPS,
    BINS = ATTEND_SUMMARY_BINS,
    PER_HEAD = ATTEND_SUMMARY_COUNT * GROUPS,
    SUMMARIES_SIZE = 2 * 4 * PER_HEAD * sizeof(attend_summary) /* of the problems here */
};

/* ---- summaries ------------------------------------------------------------------- */

/* The term of summary `what` from a row's statistics; NaN: not counted. */
static double summarised(const problem *p, int what, int64_t b, int64_t h, int64_t i)
{
    static const attend_stat stats[] = {ATTEND_STAT_ENTROPY, ATTEND_STAT_N_EFF,
                                        ATTEND_STAT_TOP_WEIGHT, ATTEND_STAT_MARGIN,
                                        ATTEND_STAT_SINK1};
    const double keys = stat_of(p, ATTEND_STAT_KEYS, b, h, i);
    const double value = stat_of(p, stats[what], b, h, i);

    if (what == ATTEND_SUMMARY_ENTROPY)
        return keys < 2.0 ? NAN : value / log(keys);
    if (what == ATTEND_SUMMARY_MARGIN)
        return keys < 2.0 ? NAN : value;
    return keys < 1.0 ? NAN : what == ATTEND_SUMMARY_N_EFF ? value / keys : value;
}

/* x in units of bins: the integer part is the bin. */
static double bins_below(int what, double x)
{
    return what == ATTEND_SUMMARY_MARGIN ? x / ATTEND_SUMMARY_MARGIN_BIN : x * BINS;
}

static int64_t bin_of(int what, double x)
{
    const double bin = floor(bins_below(what, x));

    return bin < 0.0 ? 0 : bin < BINS ? (int64_t)bin : BINS - 1;
}

struct direct {
    int64_t rows, histogram[BINS], doubtful; /* too near a bin edge */
    double mean, sd, min, max;
};

static struct direct summarise_rows(const problem *p, int what, int64_t b, int64_t h,
                                    int64_t first, int64_t end)
{
    struct direct d = {.min = INFINITY, .max = -INFINITY};
    double sum = 0.0, squares = 0.0;

    for (int64_t i = first; i < end; i++) {
        const double x = summarised(p, what, b, h, i);
        if (isnan(x))
            continue;
        d.rows++;
        d.histogram[bin_of(what, x)]++;
        d.doubtful += fabs(bins_below(what, x) - rint(bins_below(what, x))) < 1e-4;
        d.min = fmin(d.min, x);
        d.max = fmax(d.max, x);
        sum += x;
    }
    d.mean = sum / (double)d.rows;
    for (int64_t i = first; i < end; i++) {
        const double x = summarised(p, what, b, h, i);
        squares += isnan(x) ? 0.0 : (x - d.mean) * (x - d.mean);
    }
    d.sd = sqrt(squares / (double)d.rows);
    return d;
}

static int is_close(double got, double want) { return fabs(got - want) <= 1e-6; }

static int summary_is_right(const attend_summary *got, const struct direct *want)
{
    int64_t moved = 0, rows = 0;

    for (int x = 0; x < BINS; x++) {
        moved += llabs((long long)(got->histogram[x] - want->histogram[x]));
        rows += got->histogram[x];
    }
    if (got->rows != want->rows || rows != want->rows || moved > 2 * want->doubtful)
        return 0;
    if (got->rows == 0)
        return isnan(got->mean) && isnan(got->sd) && isnan(got->min) && isnan(got->max);
    return is_close(got->mean, want->mean) && is_close(got->sd, want->sd) &&
           is_close(got->min, want->min) && is_close(got->max, want->max);
}

/* Queries x with x / nq in tenth t, as a direct reading of the header has it. */
static int64_t tenth_start(int64_t nq, int64_t t)
{
    int64_t i = 0;

    while (i < nq && 10 * i < nq * t)
        i++;
    return i;
}

static int summaries_are_right(const problem *p, const attend_summary *all, char *wrong,
                               size_t size)
{
    for (int64_t head = 0; head < p->n.nb * p->n.hq; head++)
        for (int x = 0; x < PER_HEAD; x++) {
            const int what = x / GROUPS, group = x % GROUPS;
            const int64_t first = group == 0 ? 0 : tenth_start(p->n.nq, group - 1);
            const int64_t end = group == 0 ? p->n.nq : tenth_start(p->n.nq, group);
            const struct direct want =
                summarise_rows(p, what, head / p->n.hq, head % p->n.hq, first, end);
            const attend_summary *const got = &all[head * PER_HEAD + x];
            if (summary_is_right(got, &want))
                continue;
            snprintf(wrong, size,
                     "head %lld summary %d group %d: rows %lld mean %.9g sd %.9g, want "
                     "%lld %.9g %.9g",
                     (long long)head, what, group, (long long)got->rows, got->mean,
                     got->sd, (long long)want.rows, want.mean, want.sd);
            return 0;
        }
    return 1;
}

/* Causal rows of 1, 2, 3 .. keys; some rows have no visible key, one has NaN. */
static problem summary_problem(int64_t nq, attend_dtype dtype)
{
    problem p = problem_make((shape){2, 4, 2, nq, nq, 16, 8}, dtype, 21);

    p.rule.causal = ATTEND_CAUSAL_TOP_LEFT;
    p.rule.scale_is_set = 1;
    p.rule.scale = 1.0;
    problem_mask(&p, 2, 1, nq, 1);
    for (int64_t i = 5; i < nq; i += 7)
        view_set(&p.rule.mask, 1, 0, i, 0, 0.0);
    if (nq > 20)
        view_set(&p.io.q, 0, 1, 17, 3, NAN);
    return p;
}

static void summary_case(int64_t nq, attend_dtype dtype)
{
    auto_problem p = summary_problem(nq, dtype);
    char wrong[256] = "";

    attend_stats *const stats = own_stats(&p, 0, 0, 0);
    stats->summaries = problem_own(&p, SUMMARIES_SIZE);
    memset(stats->summaries, 0xff, SUMMARIES_SIZE);
    CHECK(run_stats(&p, ctx) &&
              summaries_are_right(&p, stats->summaries, wrong, sizeof wrong),
          "%s nq %lld: %s", attend_dtype_name(dtype), (long long)nq, wrong);
}

TEST(summaries_are_those_of_the_rows)
{
    static const int64_t lengths[] = {1, 3, 9, 10, 11, 37, 100, 261};

    for (int n = 0; n < 8; n++)
        summary_case(lengths[n], ATTEND_F32);
    for (int d = 0; d < FLOAT_DTYPES; d++)
        summary_case(64, float_dtypes[d]);
}

TEST(no_queries_give_summaries_without_rows) { summary_case(0, ATTEND_F32); }

/* Summaries alone have the bits of those with rows, on any number of threads. */
TEST(summaries_alone_on_other_threads)
{
    auto_problem p = summary_problem(261, ATTEND_F32);
    auto_context const other = open_set(isa, 3);
    attend_stats with, alone = attend_stats_default();

    ask_stats(&p, &with, 0, 0, 0);
    with.summaries = problem_own(&p, SUMMARIES_SIZE);
    alone.summaries = problem_own(&p, SUMMARIES_SIZE);
    memset(with.summaries, 0, SUMMARIES_SIZE);
    memset(alone.summaries, 0xff, SUMMARIES_SIZE);
    /* With noise statistics, other sums may be computed in another order. */
    with.rows = own_tensor(&p, ATTEND_F64, 2, 4, 261, ATTEND_STAT_KEY_NOISE);
    CHECK(run_stats(&p, ctx), "with the rows");
    p.io.stats = &alone;
    CHECK(problem_run(&p, other), "alone");
    CHECK(memcmp(with.summaries, alone.summaries, SUMMARIES_SIZE) == 0, "they differ");
}

/* Only `amx` in bf16, and `avx512bf16` with noise, use a fallback set. */
TEST(statistics_change_no_bit_of_o)
{
    auto_problem p = summary_problem(261, ATTEND_F32);

    p.io.weights.data = NULL;
    auto_result plain = result_of(&p, ctx);
    attend_stats *const stats = own_stats(&p, 8, 8, 8);
    stats->summaries = problem_own(&p, SUMMARIES_SIZE);
    CHECK(run_stats(&p, ctx) && same_bits(&p.io.out, plain.out, "out") &&
              same_bits(&p.io.lse, plain.lse, "lse"),
          "with statistics");
}

/* ---- refusals ---------------------------------------------------------------------- */

static const attend_stat repeated[] = {4, 6, 4}, unknown[] = {4, 6, 22},
                         negative[] = {4, (attend_stat)-1, 6};

/* A request that is valid in every field. */
static problem sound_request(attend_stats *stats)
{
    problem p = problem_make((shape){2, 4, 2, 3, 5, 8, 6}, ATTEND_F32, 30);

    ask_stats(&p, stats, 3, 4, 2);
    stats->rows = own_tensor(&p, ATTEND_F64, 2, 4, 3, 3);
    stats->summaries = problem_own(&p, SUMMARIES_SIZE);
    return p;
}

/* Expects a refusal with this text, and unchanged outputs. */
static void expect_refusal(const problem *p, const attend_stats *wrong,
                           const attend_stats *sound, const char *says)
{
    attend_io io = p->io;
    attend_error error = {.message = ""};
    const attend_tensor summaries =
        attend_tensor_dense(sound->summaries, ATTEND_BOOL, 1, 1, 1, SUMMARIES_SIZE);

    problem_poison(p);
    poison(&sound->rows);
    poison(&sound->top_weights);
    poison(&summaries);
    io.stats = wrong;
    const attend_status status = attend_forward(ctx, &p->rule, &io, &error);
    CHECK(is_refused(status, ATTEND_EINVAL, &error, says, ""), "taken");
    CHECK(is_poisoned(&p->io.out) && is_poisoned(&p->io.lse) &&
              is_poisoned(&sound->rows) && is_poisoned(&sound->top_weights) &&
              is_poisoned(&summaries),
          "%s: something is written", says);
}

/* A valid request after the invalid case `wrong`. */
#define REFUSES(says, wrong)                                                             \
    do {                                                                                 \
        attend_stats stats = sound;                                                      \
        wrong;                                                                           \
        expect_refusal(&p, &stats, &sound, says);                                        \
    } while (0)

TEST(wrong_requests_name_the_field_and_write_nothing)
{
    attend_stats sound;
    auto_problem p = sound_request(&sound);

    REFUSES("stats.struct_size (8)", stats.struct_size = 8);
    REFUSES("stats.rows.size[2] (4)", stats.rows.size[2] = 4);
    REFUSES("stats.rows.size[3] (0)", stats.rows.size[3] = 0);
    REFUSES("stats.rows.size[3] (23)", stats.rows.size[3] = 23);
    REFUSES("stats.rows.dtype (bf16)", stats.rows.dtype = ATTEND_BF16);
    REFUSES("stats.rows.stride[2] (0)", stats.rows.stride[2] = 0);
    REFUSES("stats.columns is NULL", stats.columns = NULL);
    REFUSES("stats.columns[2] (entropy) is repeated", stats.columns = repeated);
    REFUSES("stats.columns[2] (22)", stats.columns = unknown);
    REFUSES("stats.columns[1] (-1)", stats.columns = negative);
    REFUSES("stats.top_weights.size[3] (9)", stats.top_weights.size[3] = 9);
    REFUSES("stats.top_weights.size[3] (0)", stats.top_weights.size[3] = 0);
    REFUSES("stats.top_weights.size[0] (1)", stats.top_weights.size[0] = 1);
    REFUSES("stats.top_weights.dtype (f16)", stats.top_weights.dtype = ATTEND_F16);
    REFUSES("stats.top_keys is set but stats.top_weights is not",
            stats.top_weights.data = NULL);
    REFUSES("stats.distances.size[3] (65)", stats.distances.size[3] = 65);
    REFUSES("stats.distances.size[1] (2)", stats.distances.size[1] = 2);
    REFUSES("stats.distances.dtype (bool)", stats.distances.dtype = ATTEND_BOOL);
    REFUSES("stats.class_mass.size[3] (65)", stats.class_mass.size[3] = 65);
    REFUSES("stats.class_mass.size[2] (1)", stats.class_mass.size[2] = 1);
    REFUSES("stats.classes is NULL", stats.classes = NULL);
    REFUSES("stats.classes[7] (2)", stats.classes = (const int32_t[10]){[7] = 2});
    REFUSES("stats.classes[9] (-2)", stats.classes = (const int32_t[10]){[9] = -2});
    REFUSES("stats.distances.size[3] (0)", stats.distances.size[3] = 0);
}

TEST(the_sound_request_is_taken)
{
    attend_stats stats;
    auto_problem p = sound_request(&stats);

    CHECK(run_stats(&p, ctx), "refused");
}

/* An empty request has no statistics. */
TEST(an_empty_request_is_taken)
{
    auto_problem p = problem_make((shape){1, 1, 1, 3, 5, 8, 6}, ATTEND_F32, 31);
    const attend_stats stats = attend_stats_default();

    p.io.stats = &stats;
    CHECK(problem_check(&p, ctx), "refused");
}

TEST(statistics_have_names)
{
    CHECK(strcmp(attend_stat_name(ATTEND_STAT_KEYS), "keys") == 0 &&
              strcmp(attend_stat_name(ATTEND_STAT_SECOND_PREVIOUS), "second_previous") ==
                  0 &&
              strcmp(attend_stat_name(ATTEND_STAT_MAGNITUDE_NOISE), "magnitude_noise") ==
                  0,
          "%s", attend_stat_name(ATTEND_STAT_KEYS));
    CHECK(strcmp(attend_stat_name(ATTEND_STAT_COUNT), "unknown") == 0 &&
              strcmp(attend_stat_name((attend_stat)-1), "unknown") == 0,
          "%s", attend_stat_name(ATTEND_STAT_COUNT));
}

int main(void) { return run_on_every_set(&ctx, &isa); }
