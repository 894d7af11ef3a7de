/* SPDX-License-Identifier: MIT */
#include "lab/measure/frames.h"

#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/measure/random.h"

double lab_dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;

    for (int64_t c = 0; c < n; c++)
        sum += x[c] * y[c];
    return sum;
}

double lab_norm(const double *x, int64_t n) { return sqrt(lab_dot(x, x, n)); }

void lab_unit(double *x, int64_t n)
{
    const double norm = lab_norm(x, n);

    for (int64_t c = 0; c < n; c++)
        x[c] /= norm;
}

int64_t lab_orthonormalise(double *frame, int64_t rows, int64_t d, double least)
{
    int64_t kept = 0;

    for (int64_t r = 0; r < rows; r++) {
        double *const row = frame + r * d;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t s = 0; s < kept; s++) {
                const double along = lab_dot(row, frame + s * d, d);
                for (int64_t c = 0; c < d; c++)
                    row[c] -= along * frame[s * d + c];
            }
        if (!(lab_norm(row, d) > least))
            continue;
        lab_unit(row, d);
        memmove(frame + kept++ * d, row, (size_t)d * sizeof *row);
    }
    return kept;
}

void lab_normals(uint64_t seed, uint64_t stream, uint64_t first, double *out,
                 int64_t count)
{
    float piece[256];

    for (int64_t done = 0; done < count; done += 256) {
        const int64_t some = count - done < 256 ? count - done : 256;
        lab_random_normals(seed, stream, first + (uint64_t)done, piece, some);
        for (int64_t x = 0; x < some; x++)
            out[done + x] = (double)piece[x];
    }
}

void lab_random_frame(uint64_t seed, uint64_t stream, double *frame, int64_t rows,
                      int64_t d)
{
    lab_normals(seed, stream, 0, frame, rows * d);
    lab_orthonormalise(frame, rows, d, 0);
}

void lab_noisy_key(const double *mean, double length, double sd, const double *noise,
                   int64_t d, double *key)
{
    for (int64_t c = 0; c < d; c++)
        key[c] = noise ? length * mean[c] + sd * noise[c] : length * mean[c];
}

int lab_reach(lab_function f, void *arg, double first, double wanted, double *x)
{
    double before = 0, y_before, y;

    *x = first;
    if (f(arg, before, &y_before) || f(arg, *x, &y))
        return -1;
    for (int step = 2; step < 40; step++) {
        const double next = *x + (wanted - y) * (*x - before) / (y - y_before);
        if (!(fabs(next - *x) > 1e-14 * fmax(1, fabs(next))))
            break;
        before = *x;
        y_before = y;
        *x = next;
        if (f(arg, *x, &y))
            return -1;
    }
    return 0;
}

double lab_normal_below(double t, double mean, double sd)
{
    return sd > 0 ? attend_theory_normal_cdf((t - mean) / sd) : t > mean;
}
