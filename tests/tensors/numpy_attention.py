# SPDX-License-Identifier: MIT
"""Attention as a student writes it in NumPy, in the dtype of its arguments."""

import numpy as np


def softmax(scores, axis=-1):
    with np.errstate(all="ignore"):
        weights = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return weights / weights.sum(axis=axis, keepdims=True)


def scores_of(q, k, scale=None):
    scale = 1 / np.sqrt(q.shape[-1]) if scale is None else scale
    return (q @ np.swapaxes(k, -1, -2)) * q.dtype.type(scale)


def attention(q, k, v, scale=None, seen=None, axis=-1):
    """Any leading axes; keys that are not seen have a score of -inf."""
    scores = scores_of(q, k, scale)
    if seen is not None:
        scores = np.where(seen, scores, -np.inf)
    return softmax(scores, axis) @ v


def triangle(nq, nk, shift=0):
    return np.arange(nk) <= np.arange(nq)[:, None] + shift


def split(x, heads):
    """(b, l, h d) to (b, h, l, d)."""
    b, l, width = x.shape
    return x.reshape(b, l, heads, width // heads).transpose(0, 2, 1, 3)


def merge(x):
    b, h, l, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(b, l, h * d)


def rotate(x, positions, halves=True, base=10000.0, power=1.0):
    """Rotary positions of (..., l, d), by complex numbers."""
    d = x.shape[-1]
    frequency = base ** (-2.0 * power * np.arange(d // 2) / d)
    turn = np.exp(1j * np.asarray(positions)[:, None] * frequency)
    y = x.astype(np.float64)
    if halves:
        z = (y[..., : d // 2] + 1j * y[..., d // 2 :]) * turn
        return np.concatenate([z.real, z.imag], -1).astype(x.dtype)
    z = (y[..., 0::2] + 1j * y[..., 1::2]) * turn
    return np.stack([z.real, z.imag], -1).reshape(x.shape).astype(x.dtype)
