# SPDX-License-Identifier: MIT
"""Closed forms of arrays, which C takes by pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from ._theory_library import (
    CONVERT,
    Law,
    Output,
    Query,
    Scene,
    bound,
    c_scene,
    numbers,
    pointer,
    queries,
    result,
)

if TYPE_CHECKING:
    from ._theory_library import Array, Numbers

# Result and arguments in C, in the letters of _theory_library.
SIGNATURES = {
    "copy_weight_gaps": "dpl",
    "extract_orthonormal": "ipllp",
    "extract_projector": "ipllp",
    "extract_oblique": "iplpllp",
    "weighted_query": "iplddp",
    "query_for_scores": "ipllpp",
    "weight_modes": "iLp",
    "heads": "OSqi",
    "best_scale_one": "dddbp",
    "best_scale_two": "dddbp",
    "delta_covariance": "ipppllp",
    "delta_bias": "ipppllp",
    "delta_jacobian": "ipppllldp",
    "value_noise": "dpld",
    "entropy": "dpld",
    "entropy_slope": "dpld",
    "permute_rows": "ipllkp",
    "permute_columns": "ipllkp",
    "sinusoid": "idlp",
    "sinusoid_nearest": "lllp",
}


def _empty(*shape: int) -> Any:
    import numpy as np

    return np.empty(shape)


def _run(name: str, *args: Any) -> Any:
    letters = SIGNATURES[name]
    return bound(name, letters)(*(CONVERT[x](arg) if x in "il" else arg for x, arg in zip(letters[1:], args)))


def _check(name: str, status: int, why: str) -> None:
    if status < 0:
        raise ValueError(f"{name}: {why}")


def copy_weight_gaps(gaps: Numbers) -> float:
    """Weight of a key that leads the others by these gaps: 1 / (1 + sum e^-gap)."""
    array = numbers("gaps", gaps, 1)
    return float(_run("copy_weight_gaps", pointer(array), len(array)))


# ---- extraction ------------------------------------------------------------------


def _extract(name: str, A: Numbers) -> Any:
    a = numbers("A", A, 2)
    d, m = a.shape
    out = _empty(d, d)
    _check(name, _run(name, pointer(a), d, m, pointer(out)), "A is empty, or its columns are dependent")
    return out


def extract_orthonormal(A: Numbers) -> Array:
    """M = A A^T, which keeps span A, for A (d, m) with A^T A = I."""
    found: Array = _extract("extract_orthonormal", A)
    return found


def extract_projector(A: Numbers) -> Array:
    """M = A (A^T A)^-1 A^T, which keeps span A and removes what is perpendicular to it.

    ValueError where the columns of A (d, m) are linearly dependent.
    """
    found: Array = _extract("extract_projector", A)
    return found


def extract_oblique(A: Numbers, B: Numbers) -> Array:
    """M that keeps span A and removes span B, for A (d, m) and B (d, p).

    M = A (A^T Q A)^-1 A^T Q, Q = I - B (B^T B)^-1 B^T.  ValueError where the columns of
    both together are linearly dependent.
    """
    a, b = numbers("A", A, 2), numbers("B", B, 2)
    if len(a) != len(b):
        raise ValueError(f"A has {len(a)} rows and B {len(b)}")
    out: Array = _empty(len(a), len(a))
    status = _run("extract_oblique", pointer(a), a.shape[1], pointer(b), b.shape[1], len(a), pointer(out))
    _check("extract_oblique", status, "a matrix is empty, or columns are dependent")
    return out


# ---- queries ------------------------------------------------------------------------


def weighted_query(w: Numbers, beta: float, tau: float = 1.0) -> Array:
    """Coefficients (beta + ln w_i) / tau of keys whose weights are to be w > 0, sum 1."""
    array = numbers("w", w, 1)
    out: Array = _empty(len(array))
    status = _run("weighted_query", pointer(array), len(array), beta, tau, pointer(out))
    _check("weighted_query", status, "w must be positive with sum 1, tau positive")
    return out


def query_for_scores(K: Numbers, score: Numbers) -> Array:
    """The shortest q with <q, k_i> = score[i] for keys that are the rows of K (n, d).

    ValueError where keys are linearly dependent.
    """
    keys, scores = numbers("K", K, 2), numbers("score", score, 1)
    n, d = keys.shape
    if len(scores) != n:
        raise ValueError(f"score has {len(scores)} numbers for {n} keys")
    out: Array = _empty(d)
    status = _run("query_for_scores", pointer(keys), n, d, pointer(scores), pointer(out))
    _check("query_for_scores", status, "K is empty, or its rows are dependent")
    return out


def weight_modes(law: Law) -> tuple[float, ...]:
    """Modes of the density inside (0, 1), smallest first: one or two.

    At the switch itself, one.  ValueError unless sd > 0 and there is no floor.
    """
    out = _empty(2)
    count = int(_run("weight_modes", CONVERT["L"](law), pointer(out)))
    _check("weight_modes", count, f"{law!r} needs sd > 0 and no floor")
    return tuple(map(float, out[:count]))


def heads(scene: Scene, query: Sequence[Query]) -> Output:
    """The mean of the outputs of heads that see the same keys, one for each query.

    Exact when alpha = 0 and no query of nonzero `rest` meets sigma2[REST] > 0, or when
    the heads' scores are independent (score_covariance 0 for every pair and key); all
    fields NaN otherwise.
    """
    found: Output = result("O", _run("heads", c_scene(scene), queries(query), len(query)))
    return found


def _best(name: str, n: float, sigma2: float, positive: bool) -> tuple[float, float]:
    mse = _empty(1)
    return float(_run(name, n, sigma2, positive, pointer(mse))), float(mse[0])


def best_scale_one(n: float, sigma2: float, positive: bool = False) -> tuple[float, float]:
    """C of the least mse of one head in the exercise, 0 <= C <= 1000, and that mse.

    +inf with the limit's mse where that is the least.  n >= 2, sigma2 >= 0.
    """
    return _best("best_scale_one", n, sigma2, positive)


def best_scale_two(n: float, sigma2: float, positive: bool = False) -> tuple[float, float]:
    """The same of two heads."""
    return _best("best_scale_two", n, sigma2, positive)


# ---- any row: the delta method ---------------------------------------------------------


def _row(p: Numbers, v: Numbers, third: str, values: Numbers, dims: int) -> tuple[Any, Any, Any]:
    weights, vectors, other = numbers("p", p, 1), numbers("v", v, 2), numbers(third, values, dims)
    if not len(weights) == len(vectors) == len(other):
        raise ValueError(f"p, v and {third} have {len(weights)}, {len(vectors)} and {len(other)} rows")
    return weights, vectors, other


def delta_covariance(p: Numbers, v: Numbers, variance: Numbers) -> Array:
    """Covariance (dv, dv) of the output, first order in the variances of the scores.

    p: n weights; v: values (n, dv); variance: of each score's independent noise.
    """
    a, b, c = _row(p, v, "variance", variance, 1)
    n, dv = b.shape
    out: Array = _empty(dv, dv)
    status = _run("delta_covariance", pointer(a), pointer(b), pointer(c), n, dv, pointer(out))
    _check("delta_covariance", status, "there must be a key and a value entry, and no negative variance")
    return out


def delta_bias(p: Numbers, v: Numbers, variance: Numbers) -> Array:
    """E c - c, dv numbers, first order in the variances of the scores."""
    a, b, c = _row(p, v, "variance", variance, 1)
    n, dv = b.shape
    out: Array = _empty(dv)
    status = _run("delta_bias", pointer(a), pointer(b), pointer(c), n, dv, pointer(out))
    _check("delta_bias", status, "there must be a key and a value entry, and no negative variance")
    return out


def delta_jacobian(p: Numbers, v: Numbers, K: Numbers, tau: float = 1.0) -> Array:
    """Jacobian dc/dq (dv, d): tau Cov_p(v, k).  Query noise Sigma gives J Sigma J^T."""
    a, b, c = _row(p, v, "K", K, 2)
    n, dv = b.shape
    d = c.shape[1]
    out: Array = _empty(dv, d)
    status = _run("delta_jacobian", pointer(a), pointer(b), pointer(c), n, dv, d, tau, pointer(out))
    _check("delta_jacobian", status, "there must be a key, a value entry and a key entry")
    return out


def value_noise(p: Numbers, variance: float) -> float:
    """Exact: variance of each entry of c from value noise of this variance."""
    weights = numbers("p", p, 1)
    return float(_run("value_noise", pointer(weights), len(weights), variance))


def entropy(score: Numbers, beta: float = 1.0) -> float:
    """Exact: entropy of softmax(beta s).

    >>> round(entropy([0.0, 0.0, 0.0, 0.0]), 6)
    1.386294
    """
    scores = numbers("score", score, 1)
    return float(_run("entropy", pointer(scores), len(scores), beta))


def entropy_slope(score: Numbers, beta: float = 1.0) -> float:
    """Exact: dH / d ln beta = -Var_p(beta s)."""
    scores = numbers("score", score, 1)
    return float(_run("entropy_slope", pointer(scores), len(scores), beta))


# ---- order of tokens -----------------------------------------------------------------------


def _permute(name: str, X: Numbers, order: Numbers, axis: int) -> Any:
    x, places = numbers("X", X, 2), numbers("order", order, 1, "i8")
    if len(places) != x.shape[axis]:
        raise ValueError(f"order has {len(places)} numbers for {x.shape[axis]}")
    out = _empty(*x.shape)
    status = _run(name, pointer(x), *x.shape, pointer(places), pointer(out))
    _check(name, status, "order is not a permutation, or X is empty")
    return out


def permute_rows(X: Numbers, order: Numbers) -> Array:
    """P X: row i is row order[i] of X."""
    found: Array = _permute("permute_rows", X, order, 0)
    return found


def permute_columns(X: Numbers, order: Numbers) -> Array:
    """X Pi: column i is column order[i] of X."""
    found: Array = _permute("permute_columns", X, order, 1)
    return found


def sinusoid(t: float, d: int) -> Array:
    """Sinusoidal encoding of position t: d numbers, sin(w_i t) and cos(w_i t) in turn.

    w_i = 1e4^(-2i/d), i < d/2.  ValueError unless d is even and positive.
    """
    if d < 2:
        raise ValueError(f"sinusoid: d = {d} must be even and positive")
    out: Array = _empty(d)
    _check("sinusoid", _run("sinusoid", t, d, pointer(out)), f"d = {d} must be even and positive")
    return out


def sinusoid_nearest(d: int, T: int) -> tuple[int, float]:
    """The offset in 1 .. T-1 whose encoding is nearest to that of 0, and how near.

    The smallest such offset.  ValueError unless T >= 2 and d is even and positive.
    """
    distance = _empty(1)
    offset = int(_run("sinusoid_nearest", d, T, pointer(distance)))
    _check("sinusoid_nearest", offset, f"T = {T} must be at least 2, d = {d} even and positive")
    return offset, float(distance[0])
