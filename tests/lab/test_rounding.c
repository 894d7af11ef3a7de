/* SPDX-License-Identifier: MIT */
/* Rounding to int8, E4M3 and bf16, value by value. */
#include "support/test.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "lab/measure/frames.h"
#include "lab/place/rounding.h"

/* The number of a code. */
static double e4m3_value(uint8_t code)
{
    const int exponent = code >> 3 & 15, fraction = code & 7;
    const double magnitude =
        exponent ? ldexp(8 + fraction, exponent - 10) : ldexp(fraction, -9);

    if ((code & 0x7f) == 0x7f)
        return NAN;
    return code & 0x80 ? -magnitude : magnitude;
}

/* Of the specification: S.1111.111 is NaN, S.1111.110 is 448, S.0000.001 is 2^-9. */
TEST(e4m3_codes_have_the_values_of_the_specification)
{
    const struct {
        int code;
        double value;
    } known[] = {{0x00, 0},      {0x01, 0x1p-9}, {0x07, 7 * 0x1p-9}, {0x08, 0x1p-6},
                 {0x38, 1},      {0x39, 1.125},  {0x40, 2},          {0x77, 240},
                 {0x78, 256},    {0x7e, 448},    {0xb8, -1},         {0xfe, -448},
                 {0x81, -0x1p-9}};

    for (unsigned x = 0; x < sizeof known / sizeof known[0]; x++)
        CHECK(e4m3_value((uint8_t)known[x].code) == known[x].value, "%02x: %g",
              (unsigned)known[x].code, e4m3_value((uint8_t)known[x].code));
    CHECK(isnan(e4m3_value(0x7f)) && isnan(e4m3_value(0xff)), "NaN");
    CHECK(e4m3_value(0x80) == 0 && signbit(e4m3_value(0x80)), "-0");
    /* Codes without their sign are in the order of their values. */
    for (int code = 0; code < 0x7e; code++)
        CHECK(e4m3_value((uint8_t)code) < e4m3_value((uint8_t)(code + 1)), "%02x",
              (unsigned)code);
}

/*
 * The nearest of all 254 numbers by search; of two equally near, the one with the even
 * code.
 */
static double nearest_e4m3(double x)
{
    double best = 0;
    int best_code = 0;

    for (int code = 0; code < 0x7f; code++) {
        const double value = e4m3_value((uint8_t)code);
        const double off = fabs(value - fabs(x)), least = fabs(best - fabs(x));
        if (off < least || (off == least && code % 2 == 0 && best_code % 2)) {
            best = value;
            best_code = code;
        }
    }
    return copysign(best, x);
}

TEST(e4m3_rounds_to_the_nearest_number)
{
    for (int code = 0; code < 256; code++) {
        const double value = e4m3_value((uint8_t)code);
        CHECK(isnan(value) ? isnan(lab_round_e4m3(value))
                           : lab_round_e4m3(value) == value,
              "%02x", (unsigned)code);
    }
    for (int code = 0; code < 0x7e; code++) {
        const double low = e4m3_value((uint8_t)code);
        const double high = e4m3_value((uint8_t)(code + 1)), middle = (low + high) / 2;
        for (int sign = -1; sign <= 1; sign += 2) {
            CHECK(lab_round_e4m3(sign * middle) == sign * (code % 2 ? high : low),
                  "tie above %02x", (unsigned)code);
            CHECK(lab_round_e4m3(sign * nextafter(middle, 0)) == sign * low,
                  "below the tie above %02x", (unsigned)code);
            CHECK(lab_round_e4m3(sign * nextafter(middle, 1e9)) == sign * high,
                  "over the tie above %02x", (unsigned)code);
        }
    }
    double x[4096];
    lab_normals(5, 0, 0, x, 4096);
    for (int c = 0; c < 4096; c++) {
        const double wide = x[c] * exp2(c % 24 - 14);
        CHECK(lab_round_e4m3(wide) == nearest_e4m3(wide), "%.17g: %g", wide,
              lab_round_e4m3(wide));
    }
    CHECK(lab_round_e4m3(449) == 448 && lab_round_e4m3(-1e300) == -448 &&
              lab_round_e4m3(INFINITY) == 448,
          "saturation");
}

TEST(whole_numbers_round_ties_to_even_and_saturate)
{
    for (int whole = -127; whole <= 127; whole++) {
        CHECK(lab_round_int(whole, 127) == whole, "%d", whole);
        if (whole < 127) {
            const double even = whole % 2 ? whole + 1 : whole;
            CHECK(lab_round_int(whole + 0.5, 127) == even, "%d + 1/2", whole);
            CHECK(lab_round_int(nextafter(whole + 0.5, -1e9), 127) == whole, "%d", whole);
            CHECK(lab_round_int(nextafter(whole + 0.5, 1e9), 127) == whole + 1, "%d",
                  whole);
        }
    }
    CHECK(lab_round_int(127.6, 127) == 127 && lab_round_int(-1e9, 127) == -127, "most");
}

static double bf16_of_bits(uint32_t upper)
{
    const uint32_t bits = upper << 16;
    float value;

    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Every finite positive bf16, and the tie above it. */
TEST(bf16_rounds_to_the_nearest_number)
{
    for (uint32_t upper = 0; upper < 0x7f80; upper++) {
        const double low = bf16_of_bits(upper), high = bf16_of_bits(upper + 1);
        CHECK(lab_round_bf16(low) == low && lab_round_bf16(-low) == -low, "%04x",
              (unsigned)upper);
        if (isinf(high))
            continue;
        const double middle = low + (high - low) / 2;
        CHECK(lab_round_bf16(middle) == (upper % 2 ? high : low), "tie %04x",
              (unsigned)upper);
        CHECK(lab_round_bf16(nextafter(middle, 0)) == low, "below %04x", (unsigned)upper);
        CHECK(lab_round_bf16(nextafter(middle, 1e300)) == high, "over %04x",
              (unsigned)upper);
    }
    /* Rounding to float first would give 1 + 2^-7: it is not a tie. */
    CHECK(lab_round_bf16(1 + 0x1p-8 - 0x1p-40) == 1, "one rounding, not two");
    CHECK(lab_round_bf16(1e39) == INFINITY && lab_round_bf16(-INFINITY) == -INFINITY,
          "overflow");
}

/* ---- keys ---------------------------------------------------------------- */

TEST(keys_have_the_scales_of_their_format)
{
    const double k[] = {127, 1.4, -2.5, 0, /**/ 0, 0, 0, 0, /**/ 448, 1, -0.3, 17};
    double rounded[12], variance[12];

    lab_round_keys(LAB_KEYS_INT8, k, 3, 4, rounded, variance);
    CHECK(rounded[0] == 127 && rounded[1] == 1 && rounded[2] == -2 && rounded[3] == 0,
          "a scale of 1");
    CHECK(variance[0] == 0 && variance[1] == 1.0 / 12 && variance[2] == 1.0 / 12 &&
              variance[3] == 0,
          "a step of 1, and what is held exactly");
    for (int c = 4; c < 8; c++)
        CHECK(rounded[c] == 0 && variance[c] == 0, "a key of zeros");
    CHECK(fabs(rounded[8] - 448) < 1e-12 && variance[8] == 0, "the largest entry");
    CHECK(fabs(rounded[9]) < 1e-12, "1 is below half of 448 / 127");

    lab_round_keys(LAB_KEYS_FP8, k, 3, 4, rounded, variance);
    CHECK(rounded[0] == 128 && rounded[1] == 1.375 && rounded[2] == -2.5, "a scale of 1");
    CHECK(variance[0] == 64.0 / 12 && variance[1] == 0x1p-6 / 12 && variance[2] == 0,
          "steps by size");
    CHECK(rounded[11] == 16 && variance[11] == 4.0 / 12, "17 is between 16 and 18");

    lab_round_keys(LAB_KEYS_BF16, k, 3, 4, rounded, variance);
    CHECK(rounded[0] == 127 && variance[0] == 0 && rounded[8] == 448, "held exactly");
    CHECK(rounded[1] == 1.3984375 && variance[1] == 0x1p-14 / 12, "steps of 2^-7");
}

TEST(what_is_not_finite_stays_and_sets_no_scale)
{
    const double k[] = {127, 1.4, INFINITY, NAN};
    double rounded[4], variance[4];

    for (int format = 0; format < LAB_KEY_FORMATS; format++) {
        lab_round_keys((enum lab_key_format)format, k, 1, 4, rounded, variance);
        CHECK(isinf(rounded[2]) && isnan(rounded[3]) && variance[2] == 0 &&
                  variance[3] == 0,
              "%s", lab_key_format_name[format]);
        CHECK(fabs(rounded[0] - 127) < 1e-12 && fabs(rounded[1] - 1.4) < 0.5, "%s: %g",
              lab_key_format_name[format], rounded[1]);
    }
}

/* The model of the error: over many entries its variance is the mean square of it. */
TEST(the_expected_variance_is_that_of_the_error)
{
    enum { N = 500, D = 64 };
    static double k[N * D], rounded[N * D], variance[N * D];

    lab_normals(7, 1, 0, k, N * D);
    for (int format = 0; format < LAB_KEY_FORMATS; format++) {
        double expected = 0, squares = 0, fourth = 0;
        lab_round_keys((enum lab_key_format)format, k, N, D, rounded, variance);
        for (int c = 0; c < N * D; c++) {
            const double square = (rounded[c] - k[c]) * (rounded[c] - k[c]);
            expected += variance[c];
            squares += square;
            fourth += (square - variance[c]) * (square - variance[c]);
        }
        CHECK(fabs(squares - expected) <= 4 * sqrt(fourth), "%s: %g, expected %g",
              lab_key_format_name[format], squares, expected);
    }
}
