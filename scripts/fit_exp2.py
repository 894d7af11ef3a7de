#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Coefficients of src/cpu/simd/exp2_tmpl.h: p(f) = 1 + c1 f + ... + c5 f^5, minimax of 2^f.

The constant is fixed at 1 so that 2^0 is exact: the largest weight of a row is then
exactly 1, and a one-hot row copies its value bit for bit.  The powers f .. f^5 vanish
together at f = 0, so Remez does not apply; Lawson's iteration (least squares, weights
multiplied by the error) finds the same optimum of the relative error on [-1/2, 1/2].
Each coefficient is rounded to float in turn and the remaining ones are fitted again.
"""
import numpy as np

DEGREE = 5
F = 0.5 * np.cos(np.pi * (np.arange(4000) + 0.5) / 4000)


def lawson(fixed):
    free = [k for k in range(1, DEGREE + 1) if k not in fixed]
    target = (2.0**F - 1.0 - sum(c * F**k for k, c in fixed.items())) / 2.0**F
    basis = np.stack([F**k / 2.0**F for k in free], axis=1)
    weight = np.full(len(F), 1.0 / len(F))
    for _ in range(3000):
        root = np.sqrt(weight)[:, None]
        solution = np.linalg.lstsq(basis * root, target * root[:, 0], rcond=None)[0]
        error = np.abs(target - basis @ solution)
        weight *= error
        weight /= weight.sum()
    return dict(zip(free, solution))


fixed = {}
for power in range(1, DEGREE + 1):
    fixed[power] = float(np.float32(lawson(fixed)[power]))
error = (1.0 + sum(c * F**k for k, c in fixed.items())) / 2.0**F - 1.0
for power, value in fixed.items():
    print(f"f^{power}: {float.hex(value)}  {value:.9g}")
print(f"largest relative error before rounding in evaluation: {np.max(np.abs(error)):.3g}")
