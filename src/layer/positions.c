/* SPDX-License-Identifier: MIT */
/* Sinusoidal and rotary positions: one set of frequencies, two uses of them. */
#include "attend/layer.h"

#include <math.h>

#include "layer/projection.h"
#include "base/error.h"

static attend_status check(attend_dtype dtype, int64_t t, int64_t d, double base,
                           attend_error *err)
{
    TRY(attendi_layer_check_dtype(dtype, err));
    if (t < 0)
        return attendi_fail(err, ATTEND_EINVAL, "t (%lld) is negative", (long long)t);
    if (d < 0 || d % 2 != 0)
        return attendi_fail(err, ATTEND_EINVAL,
                            "d (%lld) must be even: positions rotate pairs of columns",
                            (long long)d);
    if (!(base > 1.0) || isinf(base))
        return attendi_fail(err, ATTEND_EINVAL, "base (%g) must be finite and above 1",
                            base);
    return ATTEND_OK;
}

/* The frequency of pair i: base^(-2 i / d). */
static double frequency(double base, int64_t i, int64_t d)
{
    return pow(base, -2.0 * (double)i / (double)d);
}

static double position(const int64_t *positions, int64_t l)
{
    return (double)(positions != NULL ? positions[l] : l);
}

attend_status attend_layer_sinusoids(attend_dtype dtype, int64_t t, int64_t d,
                                     double base, const int64_t *positions, void *phi,
                                     attend_error *err)
{
    TRY(check(dtype, t, d, base, err));
    if (phi == NULL && t > 0 && d > 0)
        return attendi_fail(err, ATTEND_EINVAL, "phi is NULL");
    for (int64_t i = 0; i < d / 2; i++) {
        const double w = frequency(base, i, d);
        for (int64_t l = 0; l < t; l++) {
            const double angle = w * position(positions, l);
            const int64_t at = l * d + 2 * i;
            if (dtype == ATTEND_F64) {
                ((double *)phi)[at] = sin(angle);
                ((double *)phi)[at + 1] = cos(angle);
            } else {
                ((float *)phi)[at] = (float)sin(angle);
                ((float *)phi)[at + 1] = (float)cos(angle);
            }
        }
    }
    return ATTEND_OK;
}

/* Rotates the pair at elements y and z of `data`. */
static void rotate(void *data, attend_dtype dtype, int64_t y, int64_t z, double cosine,
                   double sine)
{
    if (dtype == ATTEND_F64) {
        double *const x = data;
        const double a = x[y], b = x[z];
        x[y] = a * cosine - b * sine;
        x[z] = a * sine + b * cosine;
    } else {
        float *const x = data;
        const double a = (double)x[y], b = (double)x[z];
        x[y] = (float)(a * cosine - b * sine);
        x[z] = (float)(a * sine + b * cosine);
    }
}

attend_status attend_layer_rotate(attend_layer_rotary rotary, double base,
                                  const int64_t *positions, const attend_tensor *x,
                                  attend_error *err)
{
    const int64_t nb = x->size[0], heads = x->size[1], t = x->size[2], d = x->size[3];
    const int64_t *const stride = x->stride;

    if (rotary == ATTEND_LAYER_ROTARY_NONE)
        return ATTEND_OK;
    if (rotary != ATTEND_LAYER_ROTARY_PAIRS && rotary != ATTEND_LAYER_ROTARY_HALVES)
        return attendi_fail(err, ATTEND_EINVAL,
                            "rotary (%d) is not an attend_layer_rotary", (int)rotary);
    TRY(check(x->dtype, t, d, base, err));
    if (nb < 0 || heads < 0)
        return attendi_fail(err, ATTEND_EINVAL, "x.size (%lld, %lld, ...) is negative",
                            (long long)nb, (long long)heads);
    if (x->data == NULL && nb > 0 && heads > 0 && t > 0 && d > 0)
        return attendi_fail(err, ATTEND_EINVAL, "x.data is NULL");
    const int halves = rotary == ATTEND_LAYER_ROTARY_HALVES;
    for (int64_t i = 0; i < d / 2; i++) {
        const int64_t y = (halves ? i : 2 * i) * stride[3];
        const int64_t z = (halves ? i + d / 2 : 2 * i + 1) * stride[3];
        const double w = frequency(base, i, d);
        for (int64_t l = 0; l < t; l++) {
            const double angle = w * position(positions, l);
            const double cosine = cos(angle), sine = sin(angle);
            for (int64_t b = 0; b < nb; b++)
                for (int64_t h = 0; h < heads; h++) {
                    const int64_t row = b * stride[0] + h * stride[1] + l * stride[2];
                    rotate(x->data, x->dtype, row + y, row + z, cosine, sine);
                }
        }
    }
    return ATTEND_OK;
}
