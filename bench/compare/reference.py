# SPDX-License-Identifier: MIT
"""Dense attention in float64 for a few rows, the reference for every engine."""

import numpy as np

import inputs as inputs_module

ROWS = 48

# Relative to the largest |element| of the row. f32: rounding of a sum of 8k terms in any
# order. f16 and bf16: two units in the last place of the output, since engines may also
# round the weights to that dtype.
TOLERANCE = {"f32": 2e-5, "f16": 2**-9, "bf16": 2**-6}


def pick_rows(case):
    """(b, h, i) of the rows to compare: the first, the last and others at random."""
    rng = np.random.default_rng(inputs_module.seed_of(case) + 1)
    sizes = case.batch, case.hq, case.nq
    rows = {(0, 0, 0), tuple(n - 1 for n in sizes)}
    rows |= {tuple(int(rng.integers(n)) for n in sizes) for _ in range(ROWS - 2)}
    return sorted(rows)


def dense_rows(inputs, rows):
    """The rows, (len(rows), d) in float64, of the inputs as rounded to their dtype."""
    case, out, head = inputs.case, [], None
    for b, h, i in rows:
        if head != (b, h // case.group):
            head = b, h // case.group
            k, v = (
                inputs_module.widen(x[0][head], inputs.dtype).astype(np.float64) for x in (inputs.k, inputs.v)
            )
        q = inputs_module.widen(inputs.q[b, h, i], inputs.dtype).astype(np.float64)
        score = k @ q / np.sqrt(case.d)
        first, last = case.seen(i)
        hidden = np.ones(case.nk, bool)
        hidden[first:last] = False
        if inputs.mask is not None:
            hidden |= ~inputs.mask[0, 0, i]
        score[hidden] = -np.inf
        weight = np.exp(score - score.max())
        out.append(weight @ v / weight.sum())
    return np.array(out)


def error(got, expected):
    """The largest difference, as a share of its row's largest |element|; NaN counts."""
    scale = np.abs(expected).max(axis=1, keepdims=True)
    difference = np.abs(np.asarray(got, np.float64) - expected) / scale
    return float(np.where(np.isnan(difference), np.inf, difference).max())
