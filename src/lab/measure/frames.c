/* SPDX-License-Identifier: MIT */
#include "lab/measure/frames.h"

#include <math.h>

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

void lab_orthonormalise(double *frame, int64_t rows, int64_t d)
{
    for (int64_t r = 0; r < rows; r++) {
        double *const row = frame + r * d;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t s = 0; s < r; s++) {
                const double along = lab_dot(row, frame + s * d, d);
                for (int64_t c = 0; c < d; c++)
                    row[c] -= along * frame[s * d + c];
            }
        lab_unit(row, d);
    }
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
    lab_orthonormalise(frame, rows, d);
}

int lab_false_position(double x[2], double y[2], double wanted)
{
    const double next = x[1] + (wanted - y[1]) * (x[1] - x[0]) / (y[1] - y[0]);

    if (!(fabs(next - x[1]) > 1e-14 * fmax(1, fabs(next))))
        return 0;
    x[0] = x[1];
    y[0] = y[1];
    x[1] = next;
    return 1;
}
