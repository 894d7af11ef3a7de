/* SPDX-License-Identifier: MIT */
#include "context_errors.h"

static const int64_t lengths_too_long[] = {5, 6}, lengths_negative[] = {-1, 5};
static const int64_t offsets_too_far[] = {0, INT64_MAX};
static const double slope_nan[] = {0.5, 0, NAN, 0.25};
static const double slope_inf[] = {INFINITY, 0, 0, 0}, slope_low[] = {0, 0, 0, -INFINITY};
static const double sink_nan[] = {-INFINITY, NAN, 0, 0}, sink_inf[] = {0, 0, 0, INFINITY};

/* The valid problem of all cases, with different sizes. */
static problem sound_problem(void)
{
    problem p = problem_make((shape){2, 4, 2, 3, 5, 8, 6}, ATTEND_F32, 99);

    problem_mask(&p, 2, 1, 3, 5);
    problem_bias(&p, ATTEND_F16, 1, 4, 1, 5);
    return p;
}

void expect_no_context(const attend_options *options, attend_status want,
                       const char *field, const char *text)
{
    attend_context *ctx = (attend_context *)(uintptr_t)options;
    attend_error err = {.status = ATTEND_OK};
    const attend_status status = attend_context_create(&ctx, options, &err);

    CHECK(is_refused(status, want, &err, field, text), "options");
    CHECK(ctx == NULL, "*ctx is not NULL after a failure");
    CHECK(attend_context_create(&ctx, options, NULL) == want, "with err NULL");
}

/* Expects that `wrong`, which differs from `sound` in one field, is refused. */
static void expect_refusal(attend_context *ctx, const problem *sound,
                           const problem *wrong, attend_status want, const char *field,
                           const char *text)
{
    attend_error err = {.status = ATTEND_OK};

    problem_poison(sound);
    const attend_status status = attend_forward(ctx, &wrong->rule, &wrong->io, &err);
    CHECK(is_refused(status, want, &err, field, text), "attend_forward");
    CHECK(is_poisoned(&sound->io.out) && is_poisoned(&sound->io.lse) &&
              is_poisoned(&sound->io.weights),
          "%s %s: an output was written", field, text);
    CHECK(attend_forward(ctx, &wrong->rule, &wrong->io, NULL) == want, "with err NULL");
}

/* Expects that the valid problem with `change` is refused with these words. */
#define REFUSES(field, text, change)                                                     \
    do {                                                                                 \
        problem wrong = *sound;                                                          \
        change;                                                                          \
        expect_refusal(ctx, sound, &wrong, ATTEND_EINVAL, field, text);                  \
    } while (0)
/* An invalid value of a member of io or rule; the message contains it. */
#define NAMES_FIELD(of, member, value, text)                                             \
    REFUSES(#member, text, wrong.of.member = (value))

static void check_sizes(attend_context *ctx, const problem *sound)
{
    NAMES_FIELD(io, q.size[2], -3, "-3");
    NAMES_FIELD(io, q.size[0], INT64_MIN, "-9223372036854775808");
    NAMES_FIELD(io, k.size[0], 3, "3");
    NAMES_FIELD(io, v.size[0], 1, "1");
    NAMES_FIELD(io, k.size[3], 7, "7");
    NAMES_FIELD(io, v.size[1], 4, "4");
    NAMES_FIELD(io, v.size[2], 4, "4");
    NAMES_FIELD(io, k.size[2], INT64_MAX, "9223372036854775807");
    REFUSES("hq", "5", wrong.io.q.size[1] = 5);
    NAMES_FIELD(io, q.stride[0], INT64_MAX, "9223372036854775807");
    NAMES_FIELD(io, k.stride[2], INT64_MIN, "-9223372036854775808");
    NAMES_FIELD(io, v.stride[3], (int64_t)1 << 61, "2305843009213693952");
    NAMES_FIELD(io, out.size[0], 1, "1");
    NAMES_FIELD(io, out.size[1], 2, "2");
    NAMES_FIELD(io, out.size[2], 4, "4");
    NAMES_FIELD(io, out.size[3], 8, "8");
    NAMES_FIELD(io, lse.size[2], 5, "5");
    NAMES_FIELD(io, lse.size[3], 6, "6");
    NAMES_FIELD(io, weights.size[1], 1, "1");
    NAMES_FIELD(io, weights.size[3], 6, "6");
    NAMES_FIELD(io, out.stride[2], 0, "0");
    NAMES_FIELD(io, lse.stride[1], 0, "0");
    NAMES_FIELD(io, weights.stride[3], 0, "0");
    NAMES_FIELD(rule, mask.size[3], 4, "4");
    NAMES_FIELD(rule, mask.size[0], 3, "3");
    NAMES_FIELD(rule, mask.size[2], -1, "-1");
    NAMES_FIELD(rule, bias.size[1], 2, "2");
    NAMES_FIELD(rule, bias.size[3], 0, "0");
    NAMES_FIELD(rule, window_left, -2, "-2");
    NAMES_FIELD(rule, window_right, -5, "-5");
}

static void check_dtypes(attend_context *ctx, const problem *sound)
{
    NAMES_FIELD(io, q.dtype, ATTEND_BOOL, "bool");
    NAMES_FIELD(io, q.dtype, (attend_dtype)99, "99");
    NAMES_FIELD(io, k.dtype, ATTEND_F64, "f64");
    NAMES_FIELD(io, v.dtype, ATTEND_F64, "f64");
    NAMES_FIELD(io, v.dtype, (attend_dtype)0, "0");
    NAMES_FIELD(io, out.dtype, ATTEND_F16, "f16");
    NAMES_FIELD(io, out.dtype, ATTEND_F64, "f64");
    NAMES_FIELD(io, out.dtype, ATTEND_BOOL, "bool");
    NAMES_FIELD(io, out.dtype, (attend_dtype)-1, "-1");
    NAMES_FIELD(io, lse.dtype, ATTEND_F64, "f64");
    NAMES_FIELD(io, lse.dtype, ATTEND_BF16, "bf16");
    NAMES_FIELD(io, weights.dtype, ATTEND_F16, "f16");
    NAMES_FIELD(rule, mask.dtype, ATTEND_F32, "f32");
    NAMES_FIELD(rule, mask.dtype, (attend_dtype)6, "6");
    NAMES_FIELD(rule, bias.dtype, ATTEND_BOOL, "bool");
    NAMES_FIELD(rule, bias.dtype, (attend_dtype)77, "77");
    NAMES_FIELD(rule, causal, (attend_causal)4, "4");
    NAMES_FIELD(rule, causal, (attend_causal)-1, "-1");
}

static void check_numbers(attend_context *ctx, const problem *sound)
{
    NAMES_FIELD(rule, softcap, -1.5, "-1.5");
    NAMES_FIELD(rule, softcap, NAN, "nan");
    NAMES_FIELD(rule, softcap, INFINITY, "inf");
    NAMES_FIELD(rule, scale, NAN, "nan");
    NAMES_FIELD(rule, scale, INFINITY, "inf");
    NAMES_FIELD(rule, scale, -INFINITY, "-inf");
}

static void check_pointers(attend_context *ctx, const problem *sound)
{
    NAMES_FIELD(io, q.data, NULL, "NULL");
    NAMES_FIELD(io, k.data, NULL, "NULL");
    NAMES_FIELD(io, v.data, NULL, "NULL");
    NAMES_FIELD(io, out.data, NULL, "NULL");
    REFUSES("key_lengths[1]", "6", wrong.rule.key_lengths = lengths_too_long);
    REFUSES("key_lengths[0]", "-1", wrong.rule.key_lengths = lengths_negative);
    REFUSES("alibi[2]", "nan", wrong.rule.alibi = slope_nan);
    REFUSES("alibi[0]", "(inf)", wrong.rule.alibi = slope_inf);
    REFUSES("alibi[3]", "(-inf)", wrong.rule.alibi = slope_low);
    REFUSES("sinks[1]", "nan", wrong.rule.sinks = sink_nan);
    REFUSES("sinks[3]", "(inf)", wrong.rule.sinks = sink_inf);
}

void check_wrong_fields(attend_context *ctx)
{
    auto_problem sound = sound_problem();

    sound.rule.scale_is_set = 1;
    sound.rule.scale = 1.0;
    check_sizes(ctx, &sound);
    check_dtypes(ctx, &sound);
    check_numbers(ctx, &sound);
    check_pointers(ctx, &sound);
}

void check_wrong_combinations(attend_context *ctx)
{
    auto_problem sound = sound_problem();
    problem wrong = sound;

    wrong.rule.causal = ATTEND_CAUSAL_OFFSET;
    expect_refusal(ctx, &sound, &wrong, ATTEND_EINVAL, "causal_offset", "NULL");
    wrong.rule.causal_offset = offsets_too_far;
    expect_refusal(ctx, &sound, &wrong, ATTEND_EINVAL, "causal_offset[1]",
                   "9223372036854775807");

    wrong = sound;
    wrong.io.k.size[1] = wrong.io.v.size[1] = 0;
    expect_refusal(ctx, &sound, &wrong, ATTEND_EINVAL, "hkv", "0");

    wrong = sound;
    wrong.io.k.size[1] = wrong.io.v.size[1] = 3;
    expect_refusal(ctx, &sound, &wrong, ATTEND_EINVAL, "hkv", "3");

    /* Sizes without queries whose product overflows. */
    wrong = sound;
    wrong.rule = attend_rule_default();
    wrong.io.lse.data = wrong.io.weights.data = NULL;
    wrong.io.q.size[0] = wrong.io.k.size[0] = wrong.io.v.size[0] = (int64_t)1 << 40;
    wrong.io.q.size[1] = wrong.io.out.size[1] = 0;
    wrong.io.out.size[0] = (int64_t)1 << 40;
    wrong.io.k.size[1] = wrong.io.v.size[1] = (int64_t)1 << 40;
    for (int a = 0; a < 2; a++)
        wrong.io.k.stride[a] = wrong.io.v.stride[a] = 0;
    expect_refusal(ctx, &sound, &wrong, ATTEND_EINVAL, "k.size", "1099511627776");

    /* The same with 2^40 keys: the array of classes exceeds memory. */
    attend_stats stats = attend_stats_default();
    wrong.io.stats = &stats;
    wrong.io.k.size[1] = wrong.io.v.size[1] = 1;
    wrong.io.k.size[2] = wrong.io.v.size[2] = (int64_t)1 << 40;
    wrong.io.k.stride[2] = wrong.io.v.stride[2] = 0;
    stats.class_mass =
        attend_tensor_dense(sound.io.out.data, ATTEND_F32, (int64_t)1 << 40, 0, 3, 2);
    stats.classes = (const int32_t[]){0};
    expect_refusal(ctx, &sound, &wrong, ATTEND_EINVAL, "stats.classes", "1099511627776");

    /* Views of one repeated key: only the weights exceed their limit. */
    wrong = sound;
    wrong.rule.mask.data = wrong.rule.bias.data = NULL;
    wrong.io.k.stride[2] = wrong.io.v.stride[2] = 0;
    wrong.io.k.size[2] = wrong.io.v.size[2] = ATTEND_WEIGHTS_MAX / 24 + 1;
    wrong.io.weights = attend_tensor_dense(wrong.io.weights.data, ATTEND_F32, 2, 4, 3,
                                           ATTEND_WEIGHTS_MAX / 24 + 1);
    expect_refusal(ctx, &sound, &wrong, ATTEND_ETOOBIG, "weights", "11184811");
}
