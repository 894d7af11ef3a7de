# SPDX-License-Identifier: MIT
"""Attention in double precision, row by row from the definition, as the oracle."""

import numpy as np


def visible(nb, nq, nk, causal="none", offset=None, left=-1, right=-1, lengths=None):
    """Position of every row (nb, nq), and the visible keys (nb, nq, nk)."""
    shift = {"none": [0] * nb, "top-left": [0] * nb, "bottom-right": [nk - nq] * nb, "offset": offset}[causal]
    position = np.arange(nq)[None, :] + np.asarray(shift, dtype=np.int64)[:, None]
    j = np.arange(nk)
    seen = np.ones((nb, nq, nk), dtype=bool)
    if causal != "none":
        seen &= j <= position[:, :, None]
    if left >= 0:
        seen &= j >= position[:, :, None] - left
    if right >= 0:
        seen &= j <= position[:, :, None] + right
    if lengths is not None:
        seen &= j < np.asarray(lengths).reshape(nb, 1, 1)
    return position, seen


def attention(q, k, v, scale=None, softcap=0.0, mask=None, bias=None, alibi=None, sinks=None, **rule):
    """q (nb, hq, nq, d), k (nb, hkv, nk, d), v (nb, hkv, nk, dv) -> out, lse, weights."""
    q, k, v = (np.asarray(x, dtype=np.float64) for x in (q, k, v))
    nb, hq, nq, d = q.shape
    hkv, nk, dv = k.shape[1], k.shape[2], v.shape[3]
    if scale is None:
        scale = 1 / np.sqrt(d) if d else 1.0
    position, seen = visible(nb, nq, nk, **rule)
    full = (nb, hq, nq, nk)
    mask = None if mask is None else np.broadcast_to(mask, full)
    bias = None if bias is None else np.broadcast_to(np.asarray(bias, np.float64), full)
    out = np.zeros((nb, hq, nq, dv))
    lse = np.full((nb, hq, nq), -np.inf)
    weights = np.zeros(full)
    for b, h, i in np.ndindex(nb, hq, nq):
        g = h // (hq // hkv)
        see = seen[b, i] if mask is None else seen[b, i] & mask[b, h, i]
        (j,) = np.nonzero(see)
        score = scale * (k[b, g, j] @ q[b, h, i])
        if softcap > 0:
            score = softcap * np.tanh(score / softcap)
        if bias is not None:
            score = score + bias[b, h, i, j]
        if alibi is not None:
            score = score + alibi[h] * (j - position[b, i])
        terms = score if sinks is None else np.append(score, sinks[h])
        if terms.size == 0 or terms.max() == -np.inf:
            continue
        lse[b, h, i] = terms.max() + np.log(np.exp(terms - terms.max()).sum())
        p = np.exp(score - lse[b, h, i])
        weights[b, h, i, j] = p
        out[b, h, i] = p @ v[b, g, j]
    return out, lse, weights


def alibi_slopes(n):
    """The usual slopes: 2^(-8 (h+1) / n), interleaved when n is not a power of two."""
    whole = 2 ** int(np.floor(np.log2(n)))
    slopes = [2.0 ** (-8 * (h + 1) / whole) for h in range(whole)]
    between = [2.0 ** (-8 * (h + 1) / (2 * whole)) for h in range(2 * whole)]
    return np.array(slopes + between[0::2][: n - whole])
