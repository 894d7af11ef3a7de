/* SPDX-License-Identifier: MIT */
#include "lab/place/rounding.h"

#include <math.h>

const char *const lab_key_format_name[LAB_KEY_FORMATS] = {"int8", "fp8", "bf16"};

double lab_round_int(double x, double levels)
{
    const double whole = rint(x);

    return whole > levels ? levels : whole < -levels ? -levels : whole;
}

/* A binary format: significant bits, and the exponent of the smallest normal number. */
struct binary {
    int bits, smallest;
};
static const struct binary e4m3 = {4, -6}, bf16 = {8, -126};

/* The distance of neighbours at x, of its side of larger magnitude. */
static double step_at(struct binary format, double x)
{
    int exponent;

    frexp(x, &exponent); /* x = f 2^exponent, 1/2 <= f < 1 */
    exponent--;
    if (x == 0 || exponent < format.smallest)
        exponent = format.smallest;
    return ldexp(1, exponent - format.bits + 1);
}

static double round_binary(struct binary format, double x)
{
    const double step = step_at(format, x);

    return isfinite(x) ? step * rint(x / step) : x;
}

double lab_round_e4m3(double x)
{
    if (isnan(x))
        return x;
    return copysign(fmin(fabs(round_binary(e4m3, x)), LAB_E4M3_MAX), x);
}

double lab_round_bf16(double x)
{
    const double rounded = round_binary(bf16, x);

    return fabs(rounded) > 0x1.fep127 ? copysign(INFINITY, x) : rounded;
}

/* ---- keys ---------------------------------------------------------------- */

/* Entry x in units of `scale`. */
static double round_entry(enum lab_key_format format, double x, double scale,
                          double *variance)
{
    double rounded = 0, step = 0;

    *variance = 0;
    if (!isfinite(x))
        return x;
    switch (format) {
    case LAB_KEYS_INT8:
        rounded = scale * lab_round_int(x / scale, 127);
        step = scale;
        break;
    case LAB_KEYS_FP8:
        rounded = scale * lab_round_e4m3(x / scale);
        step = scale * step_at(e4m3, x / scale);
        break;
    case LAB_KEYS_BF16:
        rounded = lab_round_bf16(x);
        step = step_at(bf16, x);
        break;
    case LAB_KEY_FORMATS:
        break;
    }
    /* The scale's own rounding, some 1e-16, is not an error of the format. */
    if (fabs(rounded - x) > 1e-9 * step)
        *variance = step * step / 12;
    return rounded;
}

static double largest(const double *x, int64_t count)
{
    double most = 0;

    for (int64_t c = 0; c < count; c++)
        if (isfinite(x[c]))
            most = fmax(most, fabs(x[c]));
    return most;
}

void lab_round_keys(enum lab_key_format format, const double *k, int64_t n, int64_t d,
                    double *rounded, double *variance)
{
    const double head = format == LAB_KEYS_FP8 ? largest(k, n * d) / LAB_E4M3_MAX : 1;

    for (int64_t j = 0; j < n; j++) {
        const double own = format == LAB_KEYS_INT8 ? largest(k + j * d, d) / 127 : head;
        const double scale = own > 0 ? own : 1; /* all entries are 0 */
        for (int64_t c = j * d; c < (j + 1) * d; c++)
            rounded[c] = round_entry(format, k[c], scale, &variance[c]);
    }
}
