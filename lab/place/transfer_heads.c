/* SPDX-License-Identifier: MIT */
#include "lab/place/transfer_heads.h"

#include <math.h>

#include "attend/theory.h"
#include "lab/measure/frames.h"

double lab_synthetic_spread(enum lab_head_kind kind, double n)
{
    switch (kind) {
    case LAB_HEAD_CONDENSED:
        return 2 * attend_theory_freezing_spread(n);
    case LAB_HEAD_COPY:
        return 1.5;
    case LAB_HEAD_AVERAGE:
        return 2;
    case LAB_HEAD_DIFFUSE:
    case LAB_HEAD_KINDS:
        break;
    }
    return 1;
}

int64_t lab_synthetic_size(const struct lab_synthetic *head)
{
    return (head->rows + 2 * head->n) * head->d;
}

void lab_synthetic_draw(const struct lab_synthetic *head, uint64_t number,
                        double *tensors)
{
    const int64_t d = head->d, size = lab_synthetic_size(head);
    double *const k = tensors + head->rows * d;

    lab_normals(head->seed, head->stream, number * (uint64_t)size, tensors, size);
    for (int64_t j = 0; j < head->n; j++) {
        lab_unit(k + j * d, d);
        for (int64_t c = 0; c < d; c++)
            k[j * d + c] *= sqrt((double)d);
    }
    for (int64_t i = 0; i < head->rows; i++) {
        double *const q = tensors + i * d;
        const double *const a = k + 2 * i % head->n * d;
        const double *const b = k + (2 * i + 1) % head->n * d;
        for (int64_t c = 0; c < d; c++)
            q[c] = head->S * (head->kind == LAB_HEAD_COPY      ? a[c]
                              : head->kind == LAB_HEAD_AVERAGE ? (a[c] + b[c]) * sqrt(0.5)
                                                               : q[c]);
    }
}
