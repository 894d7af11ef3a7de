# SPDX-License-Identifier: MIT
"""Statistics of attention from dense weights in double, by their definitions."""

import numpy as np

import dense

EMPTY = {"max": -np.inf, "lse": -np.inf}
NAMES = (
    "max lse entropy keys_eff n_eff top_weight margin sink1 sink4 self previous distance " "log_distance"
).split()


def row(p, lse, position):
    """Every statistic of one row; p is 0 where no key is seen."""
    (j,) = np.nonzero(p)
    if j.size == 0:
        return {name: EMPTY.get(name, 0.0) for name in ["keys", *NAMES]}
    w = p[j]
    score = np.log(w) + lse
    best = np.sort(score)[::-1]
    at = lambda key: p[key] if 0 <= key < p.size else 0.0
    distance = np.abs(position - j)
    entropy = -(w * np.log(w)).sum()
    return {
        "keys": float(j.size),
        "max": best[0],
        "lse": lse,
        "entropy": entropy,
        "keys_eff": np.exp(entropy),
        "n_eff": 1 / (w**2).sum(),
        "top_weight": w.max(),
        "margin": best[0] - best[1] if j.size > 1 else np.inf,
        "sink1": at(0),
        "sink4": p[:4].sum(),
        "self": at(position),
        "previous": at(position - 1),
        "distance": (w * distance).sum(),
        "log_distance": (w * np.log1p(distance)).sum(),
        "second_previous": at(position - 2),
        "raw_mean": score.mean(),
        "raw_variance": score.var(),
        "score_variance": (w * score**2).sum() - (w * score).sum() ** 2,
    }


def rows(q, k, v, sinks=None, **rule):
    """{(b, h, i): statistics} and the weights, which sum to 1 with or without sinks."""
    _, lse, weights = dense.attention(q, k, v, **rule)
    shape = {"causal": "none", "offset": None}
    shape.update({x: rule[x] for x in ("causal", "offset") if x in rule})
    nb, _, nq, nk = weights.shape
    position, _ = dense.visible(nb, nq, nk, **shape)
    return {
        (b, h, i): row(weights[b, h, i], lse[b, h, i], position[b, i])
        for b, h, i in np.ndindex(weights.shape[:3])
    }, weights
