/* SPDX-License-Identifier: MIT */
#include "check/numbers.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float float_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double half_load(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t exponent = (half >> 10) & 31, fraction = half & 1023;

    if (exponent == 0) {
        const double magnitude = (double)fraction * 0x1p-24;
        return sign != 0 ? -magnitude : magnitude;
    }
    if (exponent == 31)
        return float_of_bits(sign | 0x7f800000u | fraction << 13);
    return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

static uint16_t half_store(double value)
{
    const uint32_t bits = bits_of_float((float)value);
    const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffffu;

    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00);
    if (magnitude >= 0x477ff000u) /* 65520 and above round to infinity */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000u) /* below 2^-14: a multiple of 2^-24 */
        return (uint16_t)(sign |
                          (uint32_t)nearbyintf(float_of_bits(magnitude) * 0x1p24f));
    return (uint16_t)(sign |
                      ((magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1)) >> 13));
}

static uint16_t bfloat_store(double value)
{
    const uint32_t bits = bits_of_float((float)value);

    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double check_load(const void *data, attend_dtype dtype, int64_t index)
{
    switch (dtype) {
    case ATTEND_F64:
        return ((const double *)data)[index];
    case ATTEND_F32:
        return (double)((const float *)data)[index];
    case ATTEND_F16:
        return half_load(((const uint16_t *)data)[index]);
    case ATTEND_BF16:
        return (double)float_of_bits((uint32_t)((const uint16_t *)data)[index] << 16);
    case ATTEND_BOOL:
        return ((const unsigned char *)data)[index] != 0;
    }
    return NAN;
}

void check_store(void *data, attend_dtype dtype, int64_t index, double value)
{
    switch (dtype) {
    case ATTEND_F64:
        ((double *)data)[index] = value;
        break;
    case ATTEND_F32:
        ((float *)data)[index] = (float)value;
        break;
    case ATTEND_F16:
        ((uint16_t *)data)[index] = half_store(value);
        break;
    case ATTEND_BF16:
        ((uint16_t *)data)[index] = bfloat_store(value);
        break;
    case ATTEND_BOOL:
        ((unsigned char *)data)[index] = value != 0.0;
        break;
    }
}

double check_round(attend_dtype dtype, double value)
{
    double room;

    check_store(&room, dtype, 0, value);
    return check_load(&room, dtype, 0);
}

/* Half the distance from 1 to the next number, the smallest positive, the largest. */
static const struct format {
    double unit, smallest, largest;
} formats[] = {
    [ATTEND_F64] = {0x1p-53, 0x1p-1074, DBL_MAX},
    [ATTEND_F32] = {0x1p-24, 0x1p-149, (double)FLT_MAX},
    [ATTEND_F16] = {0x1p-11, 0x1p-24, 65504.0},
    [ATTEND_BF16] = {0x1p-8, 0x1p-133, 0x1.fep127},
    [ATTEND_BOOL] = {NAN, NAN, NAN},
};

double check_unit(attend_dtype dtype) { return formats[dtype].unit; }
double check_smallest(attend_dtype dtype) { return formats[dtype].smallest; }
double check_largest(attend_dtype dtype) { return formats[dtype].largest; }

/* The finaliser of splitmix64 over a Weyl sequence. */
uint64_t check_random_bits(struct check_random *random)
{
    uint64_t z =
        random->seed * 0xd1342543de82ef95u + ++random->next * 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int64_t check_random_int(struct check_random *random, int64_t low, int64_t high)
{
    const uint64_t range = (uint64_t)(high - low) + 1;

    return low + (int64_t)(check_random_bits(random) % range);
}

double check_random_unit(struct check_random *random)
{
    return (double)(check_random_bits(random) >> 11) * 0x1p-53;
}

int check_random_chance(struct check_random *random, double probability)
{
    return check_random_unit(random) < probability;
}

enum { NORMALS = 1 << 16 };

/* Half of the numbers by Box and Muller, the other half their negatives. */
static void fill_normals(double *normals)
{
    struct check_random random = {.seed = 1};
    double squares = 0.0;

    for (int at = 0; at < NORMALS / 2; at++) {
        const double radius = sqrt(-2.0 * log(1.0 - check_random_unit(&random)));
        normals[at] = radius * cos(6.283185307179586 * check_random_unit(&random));
        squares += normals[at] * normals[at];
    }
    for (int at = 0; at < NORMALS / 2; at++) {
        normals[at] *= sqrt(NORMALS / 2 / squares);
        normals[NORMALS / 2 + at] = -normals[at];
    }
}

double check_normal(uint64_t bits)
{
    static double normals[NORMALS];

    if (normals[0] == 0.0)
        fill_normals(normals);
    return normals[bits >> 48];
}

double check_random_normal(struct check_random *random)
{
    return check_normal(check_random_bits(random));
}

void *check_memory(size_t count, size_t size)
{
    void *const memory = calloc(count > 0 ? count : 1, size);

    if (memory == NULL) {
        fprintf(stderr, "attend check: out of memory (%zu x %zu bytes)\n", count, size);
        exit(1);
    }
    return memory;
}
