# SPDX-License-Identifier: MIT
"""NumPy over its BLAS, f32: the definition, with buffers prepared and written in place.

`dense` keeps all scores; `blocked` goes through a block of rows of one head at a time
and through the keys those rows see, which saves memory and half of a causal problem.
"""

import functools

import numpy as np

import inputs as inputs_module
from engine import Prepared, fold, unfold

BLOCK_ROWS = 256
DENSE_BYTES = 1 << 30


def start(threads):
    return np.__version__  # the BLAS took its threads from the environment


def variants(case, dtype):
    if dtype != "f32":
        return []
    scores = case.batch * case.hq * case.nq * case.nk * 4
    return ["blocked"] if scores > DENSE_BYTES else ["dense", "blocked"]


def softmax(scores):
    """In place and not yet divided; returns the sums."""
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    return scores.sum(axis=-1, keepdims=True)


def dense(q, k, v, scale, hidden, scores, scaled, out):
    np.multiply(q, scale, out=scaled)
    np.matmul(scaled, k.swapaxes(-1, -2), out=scores)
    if hidden is not None:
        np.copyto(scores, -np.inf, where=hidden)
    total = softmax(scores)
    np.matmul(scores, v, out=out)
    out /= total


def runs(columns):
    """(first, past the last) of each run of true columns."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], columns, [0]))))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def plan_blocks(inputs):
    """For each block of rows: its keys, and the patches of scores to be hidden."""
    plan = []
    for start_row in range(0, inputs.case.nq, BLOCK_ROWS):
        rows = slice(start_row, start_row + BLOCK_ROWS)
        seen = inputs.visible(rows)
        keys = np.flatnonzero(seen.any(axis=0))
        keys = slice(int(keys[0]), int(keys[-1]) + 1)
        hidden = ~seen[:, keys]
        patches = [(slice(a, b), hidden[:, a:b].copy()) for a, b in runs(hidden.any(axis=0).astype(np.int8))]
        plan.append((rows, keys, patches))
    return plan


def blocked(q, k, v, scale, plan, buffer, out):
    group = q.shape[1] // k.shape[1]
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            keys_of_head, values_of_head = k[b, h // group], v[b, h // group]
            for rows, keys, patches in plan:
                block = q[b, h, rows] * scale
                shape = len(block), keys.stop - keys.start
                scores = buffer[: shape[0] * shape[1]].reshape(shape)
                np.matmul(block, keys_of_head[keys].T, out=scores)
                for columns, hidden in patches:
                    np.copyto(scores[:, columns], -np.inf, where=hidden)
                total = softmax(scores)
                np.matmul(scores, values_of_head[keys], out=out[b, h, rows])
                out[b, h, rows] /= total


def prepare(variant, inputs):
    case = inputs.case
    scale = np.float32(1 / np.sqrt(case.d))
    q = fold(inputs.q, case) if case.nq == 1 else inputs.q
    out = inputs_module.empty(q.shape, np.float32)
    if variant == "dense":
        groups = q.reshape(case.batch, case.hkv, -1, *q.shape[2:])
        scores = inputs_module.empty((*groups.shape[:4], case.nk), np.float32)
        hidden = ~inputs.visible()
        hidden = hidden if hidden.any() else None
        rest = scale, hidden, scores, np.empty_like(groups), out.reshape(groups.shape)
        calls = [
            functools.partial(dense, groups, k[:, :, None], v[:, :, None], *rest)
            for k, v in zip(inputs.k, inputs.v)
        ]
    else:
        buffer = inputs_module.empty(min(BLOCK_ROWS, q.shape[2]) * case.nk, np.float32)
        rest = scale, plan_blocks(inputs), buffer, out
        calls = [functools.partial(blocked, q, k, v, *rest) for k, v in zip(inputs.k, inputs.v)]
    return Prepared(calls, lambda _: unfold(out, case), poison=lambda: out.fill(np.nan))
