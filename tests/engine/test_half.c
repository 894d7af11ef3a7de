/* SPDX-License-Identifier: MIT */
/*
 * src/base/half.h and the conversions of the checks, against the arithmetic definition in
 * float_bits.h.
 */
#include "base/half.h"

#include <math.h>
#include <string.h>

#include "check/numbers.h"
#include "float_bits.h"
#include "support/test.h"

typedef struct half_type {
    const char *name;
    const bits_format *format;
    float (*widen)(uint16_t bits);
    uint16_t (*narrow)(float x);
} half_type;

static float load_f16(uint16_t bits) { return (float)check_load(&bits, ATTEND_F16, 0); }
static float load_bf16(uint16_t bits) { return (float)check_load(&bits, ATTEND_BF16, 0); }

static uint16_t store(attend_dtype dtype, float x)
{
    uint16_t bits;

    check_store(&bits, dtype, 0, (double)x);
    return bits;
}

static uint16_t store_f16(float x) { return store(ATTEND_F16, x); }
static uint16_t store_bf16(float x) { return store(ATTEND_BF16, x); }

static const half_type types[] = {
    {"f16", &bits_f16, attendi_f16_to_f32, attendi_f32_to_f16},
    {"bf16", &bits_bf16, attendi_bf16_to_f32, attendi_f32_to_bf16},
    {"f16 of the checks", &bits_f16, load_f16, store_f16},
    {"bf16 of the checks", &bits_bf16, load_bf16, store_bf16},
};
enum { TYPES = sizeof types / sizeof types[0] };

static uint32_t word_of(float x)
{
    uint32_t word;

    memcpy(&word, &x, sizeof word);
    return word;
}

static float float_of(uint32_t word)
{
    float x;

    memcpy(&x, &word, sizeof x);
    return x;
}

static int is_nan_bits(const half_type *type, uint16_t bits)
{
    return isnan(bits_value(*type->format, bits));
}

/*
 * The same number, including the sign of zero; any two NaNs of the same sign are equal.
 */
static int same_half(const half_type *type, uint16_t got, uint16_t want)
{
    if (is_nan_bits(type, want))
        return is_nan_bits(type, got) && (got & 0x8000) == (want & 0x8000);
    return got == want;
}

TEST(widening_every_half)
{
    for (int t = 0; t < TYPES; t++)
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            const float got = types[t].widen((uint16_t)bits);
            const float want = bits_value(*types[t].format, (uint16_t)bits);
            if (isnan(want))
                CHECK(isnan(got) && !signbit(got) == !(bits & 0x8000), "%s 0x%04x: %g",
                      types[t].name, bits, (double)got);
            else
                CHECK(word_of(got) == word_of(want), "%s 0x%04x: got %a, want %a",
                      types[t].name, bits, (double)got, (double)want);
        }
}

TEST(round_trip_of_every_half)
{
    for (int t = 0; t < TYPES; t++)
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            const uint16_t back = types[t].narrow(types[t].widen((uint16_t)bits));
            CHECK(same_half(&types[t], back, (uint16_t)bits),
                  "%s 0x%04x came back as 0x%04x", types[t].name, bits, back);
        }
}

static int narrows(const half_type *type, uint32_t word)
{
    const float x = float_of(word);
    const uint16_t got = type->narrow(x), want = bits_nearest(*type->format, x);

    if (same_half(type, got, want))
        return 1;
    test_fail(__FILE__, __LINE__, "the nearest", "%s of %a: got 0x%04x, want 0x%04x",
              type->name, (double)x, got, want);
    return 0;
}

/* Values between a half and the next: the midpoint and its neighbours. */
TEST(narrowing_around_every_tie)
{
    for (int t = 0; t < TYPES; t++)
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            const float low = bits_value(*types[t].format, (uint16_t)bits),
                        high = bits_value(*types[t].format, (uint16_t)(bits + 1));
            /* For rounding, infinity is twice the largest power of two. */
            const float end = ldexpf(1.0f, types[t].format->emax),
                        next = isinf(high) ? copysignf(end, low) : high / 2.0f;
            if (isinf(low) || isnan(low) || bits == 0x7fff)
                continue;
            const uint32_t tie = word_of(low / 2.0f + next);
            for (uint32_t word = tie - 1; word <= tie + 1; word++)
                if (!narrows(&types[t], word))
                    return;
        }
}

/* One float of every 211, which visits every exponent, and the ends of the range. */
TEST(narrowing_floats_of_every_exponent)
{
    for (int t = 0; t < TYPES; t++)
        for (uint64_t word = 0; word <= UINT32_MAX; word += 211)
            if (!narrows(&types[t], (uint32_t)word))
                return;
}

TEST(special_values)
{
    CHECK(attendi_f32_to_f16(65504.0f) == 0x7bff, "largest f16");
    CHECK(attendi_f32_to_f16(65519.996f) == 0x7bff, "below the overflow tie");
    CHECK(attendi_f32_to_f16(65520.0f) == 0x7c00, "the overflow tie");
    CHECK(attendi_f32_to_f16(0x1p-24f) == 0x0001, "smallest f16");
    CHECK(attendi_f32_to_f16(0x1p-25f) == 0x0000, "half of the smallest: tie to even");
    CHECK(attendi_f32_to_f16(-0x1.000002p-25f) == 0x8001, "a little more than half");
    CHECK(attendi_f32_to_f16(-0.0f) == 0x8000, "-0");
    CHECK(attendi_f32_to_bf16(0x1.fffffep127f) == 0x7f80, "FLT_MAX rounds to infinity");
    CHECK(attendi_f32_to_bf16(-0.0f) == 0x8000, "-0");
    /* A NaN payload in the low bits only must not round to infinity. */
    CHECK(is_nan_bits(&types[0], attendi_f32_to_f16(float_of(0x7f800001u))),
          "low NaN, f16");
    CHECK(is_nan_bits(&types[1], attendi_f32_to_bf16(float_of(0x7f800001u))),
          "low NaN, bf16");
    CHECK(is_nan_bits(&types[1], attendi_f32_to_bf16(float_of(0x7fffffffu))),
          "full NaN, bf16");
}
