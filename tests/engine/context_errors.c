/* SPDX-License-Identifier: MIT */
#include "context_errors.h"

static const int64_t lengths_too_long[] = {5, 6}, lengths_negative[] = {-1, 5};
static const int64_t offsets_too_far[] = {0, INT64_MAX};
static const double slope_nan[] = {0.5, 0, NAN, 0.25};
static const double slope_inf[] = {INFINITY, 0, 0, 0}, slope_low[] = {0, 0, 0, -INFINITY};
static const double sink_nan[] = {-INFINITY, NAN, 0, 0}, sink_inf[] = {0, 0, 0, INFINITY};

problem sound_problem(void)
{
    problem p = problem_make((shape){2, 4, 2, 3, 5, 8, 6}, ATTEND_F32, 99);

    problem_mask(&p, 2, 1, 3, 5);
    problem_bias(&p, ATTEND_F16, 1, 4, 1, 5);
    return p;
}

typedef struct wrong_integer {
    size_t offset; /* of an int64_t in struct problem */
    int64_t value;
    const char *field, *text;
} wrong_integer;

#define IO(member) offsetof(problem, io.member)
#define RULE(member) offsetof(problem, rule.member)

static const wrong_integer wrong_integers[] = {
    {IO(q.size[2]), -3, "q.size[2]", "-3"},
    {IO(q.size[0]), INT64_MIN, "q.size[0]", "-9223372036854775808"},
    {IO(k.size[0]), 3, "k.size[0]", "3"},
    {IO(v.size[0]), 1, "v.size[0]", "1"},
    {IO(k.size[3]), 7, "k.size[3]", "7"},
    {IO(v.size[1]), 4, "v.size[1]", "4"},
    {IO(v.size[2]), 4, "v.size[2]", "4"},
    {IO(k.size[2]), INT64_MAX, "k.size[2]", "9223372036854775807"},
    {IO(q.size[1]), 5, "hq", "5"},
    {IO(q.stride[0]), INT64_MAX, "q.stride[0]", "9223372036854775807"},
    {IO(k.stride[2]), INT64_MIN, "k.stride[2]", "-9223372036854775808"},
    {IO(v.stride[3]), (int64_t)1 << 61, "v.stride[3]", "2305843009213693952"},
    {IO(out.size[0]), 1, "out.size[0]", "1"},
    {IO(out.size[1]), 2, "out.size[1]", "2"},
    {IO(out.size[2]), 4, "out.size[2]", "4"},
    {IO(out.size[3]), 8, "out.size[3]", "8"},
    {IO(lse.size[2]), 5, "lse.size[2]", "5"},
    {IO(lse.size[3]), 6, "lse.size[3]", "6"},
    {IO(weights.size[1]), 1, "weights.size[1]", "1"},
    {IO(weights.size[3]), 6, "weights.size[3]", "6"},
    {IO(out.stride[2]), 0, "out.stride[2]", "0"},
    {IO(lse.stride[1]), 0, "lse.stride[1]", "0"},
    {IO(weights.stride[3]), 0, "weights.stride[3]", "0"},
    {RULE(mask.size[3]), 4, "mask.size[3]", "4"},
    {RULE(mask.size[0]), 3, "mask.size[0]", "3"},
    {RULE(mask.size[2]), -1, "mask.size[2]", "-1"},
    {RULE(bias.size[1]), 2, "bias.size[1]", "2"},
    {RULE(bias.size[3]), 0, "bias.size[3]", "0"},
    {RULE(window_left), -2, "window_left", "-2"},
    {RULE(window_right), -5, "window_right", "-5"},
};

typedef struct wrong_enum {
    size_t offset; /* of an enum in struct problem */
    int value;
    const char *field, *text;
} wrong_enum;

static const wrong_enum wrong_enums[] = {
    {IO(q.dtype), ATTEND_BOOL, "q.dtype", "bool"},
    {IO(q.dtype), 99, "q.dtype", "99"},
    {IO(k.dtype), ATTEND_F16, "k.dtype", "f16"},
    {IO(v.dtype), ATTEND_BF16, "v.dtype", "bf16"},
    {IO(v.dtype), 0, "v.dtype", "0"},
    {IO(out.dtype), ATTEND_F16, "out.dtype", "f16"},
    {IO(out.dtype), ATTEND_F64, "out.dtype", "f64"},
    {IO(out.dtype), ATTEND_BOOL, "out.dtype", "bool"},
    {IO(out.dtype), -1, "out.dtype", "-1"},
    {IO(lse.dtype), ATTEND_F64, "lse.dtype", "f64"},
    {IO(lse.dtype), ATTEND_BF16, "lse.dtype", "bf16"},
    {IO(weights.dtype), ATTEND_F16, "weights.dtype", "f16"},
    {RULE(mask.dtype), ATTEND_F32, "mask.dtype", "f32"},
    {RULE(mask.dtype), 6, "mask.dtype", "6"},
    {RULE(bias.dtype), ATTEND_BOOL, "bias.dtype", "bool"},
    {RULE(bias.dtype), 77, "bias.dtype", "77"},
    {RULE(causal), 4, "causal", "4"},
    {RULE(causal), -1, "causal", "-1"},
};

typedef struct wrong_double {
    size_t offset;
    double value;
    const char *field, *text;
} wrong_double;

static const wrong_double wrong_doubles[] = {
    {RULE(softcap), -1.5, "softcap", "-1.5"},
    {RULE(softcap), NAN, "softcap", "nan"},
    {RULE(softcap), INFINITY, "softcap", "inf"},
    {RULE(scale), NAN, "scale", "nan"},
    {RULE(scale), INFINITY, "scale", "inf"},
    {RULE(scale), -INFINITY, "scale", "-inf"},
};

typedef struct wrong_pointer {
    size_t offset;
    const void *value;
    const char *field, *text;
} wrong_pointer;

static const wrong_pointer wrong_pointers[] = {
    {IO(q.data), NULL, "q.data", "NULL"},
    {IO(k.data), NULL, "k.data", "NULL"},
    {IO(v.data), NULL, "v.data", "NULL"},
    {IO(out.data), NULL, "out.data", "NULL"},
    {RULE(key_lengths), lengths_too_long, "key_lengths[1]", "6"},
    {RULE(key_lengths), lengths_negative, "key_lengths[0]", "-1"},
    {RULE(alibi), slope_nan, "alibi[2]", "nan"},
    {RULE(alibi), slope_inf, "alibi[0]", "(inf)"},
    {RULE(alibi), slope_low, "alibi[3]", "(-inf)"},
    {RULE(sinks), sink_nan, "sinks[1]", "nan"},
    {RULE(sinks), sink_inf, "sinks[3]", "(inf)"},
};

#define LENGTH(table) ((int)(sizeof(table) / sizeof(table)[0]))

void expect_refusal(attend_context *ctx, const problem *sound, const problem *wrong,
                    attend_status want, const char *field, const char *text)
{
    attend_error err = {.status = ATTEND_OK};

    poison(&sound->io.out);
    poison(&sound->io.lse);
    poison(&sound->io.weights);
    result before = result_copy(sound);
    const attend_status status = attend_forward(ctx, &wrong->rule, &wrong->io, &err);
    CHECK(status == want && err.status == want, "%s %s: %s", field, text,
          attend_status_name(status));
    CHECK(strstr(err.message, field) != NULL && strstr(err.message, text) != NULL,
          "\"%s\" does not name %s and %s", err.message, field, text);
    CHECK(strchr(err.message, '\n') == NULL, "\"%s\" is more than a line", err.message);
    CHECK(result_is_same(sound, &before), "%s %s: an output was written", field, text);
    CHECK(attend_forward(ctx, &wrong->rule, &wrong->io, NULL) == want, "with err NULL");
    result_free(&before);
}

/* Every row of a table: its value in its field of a sound problem. */
#define REFUSE_EACH(ctx, sound, table)                                                   \
    for (int at = 0; at < LENGTH(table); at++) {                                         \
        problem wrong = *(sound);                                                        \
        memcpy((char *)&wrong + (table)[at].offset, &(table)[at].value,                  \
               sizeof(table)[at].value);                                                 \
        expect_refusal(ctx, sound, &wrong, ATTEND_EINVAL, (table)[at].field,             \
                       (table)[at].text);                                                \
    }

void check_wrong_fields(attend_context *ctx)
{
    problem sound = sound_problem();

    sound.rule.scale_is_set = 1;
    sound.rule.scale = 1.0;
    REFUSE_EACH(ctx, &sound, wrong_integers)
    REFUSE_EACH(ctx, &sound, wrong_enums)
    REFUSE_EACH(ctx, &sound, wrong_doubles)
    REFUSE_EACH(ctx, &sound, wrong_pointers)
    problem_free(&sound);
}

void check_wrong_combinations(attend_context *ctx)
{
    problem sound = sound_problem();
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

    /* Heads without queries, more than can be counted. */
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

    /* The same of keys, whose classes no memory holds. */
    attend_stats stats = attend_stats_default();
    wrong.io.stats = &stats;
    wrong.io.k.size[1] = wrong.io.v.size[1] = 1;
    wrong.io.k.size[2] = wrong.io.v.size[2] = (int64_t)1 << 40;
    wrong.io.k.stride[2] = wrong.io.v.stride[2] = 0;
    stats.class_mass =
        attend_tensor_dense(sound.io.out.data, ATTEND_F32, (int64_t)1 << 40, 0, 3, 2);
    stats.classes = (const int32_t[]){0};
    expect_refusal(ctx, &sound, &wrong, ATTEND_EINVAL, "stats.classes", "1099511627776");

    /* Views of one key repeated: only the weights are too many. */
    wrong = sound;
    wrong.rule.mask.data = wrong.rule.bias.data = NULL;
    wrong.io.k.stride[2] = wrong.io.v.stride[2] = 0;
    wrong.io.k.size[2] = wrong.io.v.size[2] = ATTEND_WEIGHTS_MAX / 24 + 1;
    wrong.io.weights = attend_tensor_dense(wrong.io.weights.data, ATTEND_F32, 2, 4, 3,
                                           ATTEND_WEIGHTS_MAX / 24 + 1);
    expect_refusal(ctx, &sound, &wrong, ATTEND_ETOOBIG, "weights", "11184811");
    problem_free(&sound);
}
