# SPDX-License-Identifier: MIT
"""Attention of sequences of different lengths that lie behind each other in one array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from . import _core
from ._engine import LAYOUTS, Rule, column, default_context, empty, make_rule, numbers

if TYPE_CHECKING:
    from ._core import Context


def starts_of(values: Any, rows: int, name: str) -> list[int]:
    """The first row of each sequence, and the end of the last."""
    starts = [int(x) for x in numbers(values, "int64", name).reshape(-1)]
    if not starts or starts[0] < 0 or starts[-1] > rows:
        raise ValueError(f"{name} = {starts} must be rows of 0 .. {rows}, one more than there are sequences")
    for x, (first, end) in enumerate(zip(starts, starts[1:])):
        if first > end:
            raise ValueError(f"{name}[{x + 1}] = {end} is below {name}[{x}] = {first}")
    return starts


def check_shapes(q: Any, k: Any, v: Any) -> None:
    for name, array in (("q", q), ("k", k), ("v", v)):
        if not hasattr(array, "shape") or not hasattr(array, "__getitem__"):
            raise TypeError(f"{name} is not an array: {type(array).__name__}")
        if len(array.shape) != 3:
            raise ValueError(f"{name} has {len(array.shape)} dimensions; it must be (rows, heads, d)")
    if k.shape[0] != v.shape[0]:
        raise ValueError(f"k has {k.shape[0]} rows, v {v.shape[0]}")


def compute(
    arrays: tuple[Any, Any, Any],
    q_starts: Any,
    k_starts: Any,
    key_lengths: Any,
    rule_of: Callable[[int, int], Rule],
    out: Any,
    return_lse: bool,
    context: Context | None,
) -> Any:
    """The sequences in one parallel loop; `rule_of` makes a rule from numbers of queries and keys."""
    q, k, v = arrays
    check_shapes(q, k, v)
    q_at = starts_of(q_starts, q.shape[0], "q_starts")
    k_at = starts_of(q_starts if k_starts is None else k_starts, k.shape[0], "k_starts")
    if len(q_at) != len(k_at):
        raise ValueError(f"q_starts has {len(q_at) - 1} sequences, k_starts {len(k_at) - 1}")
    ends = list(k_at[1:])
    if key_lengths is not None:
        lengths = [int(x) for x in numbers(key_lengths, "int64", "key_lengths").reshape(-1)]
        if len(lengths) != len(ends):
            raise ValueError(f"key_lengths has {len(lengths)} numbers; there are {len(ends)} sequences")
        for x, length in enumerate(lengths):
            if not 0 <= length <= ends[x] - k_at[x]:
                raise ValueError(f"key_lengths[{x}] = {length} is outside 0 .. {ends[x] - k_at[x]}")
            ends[x] = k_at[x] + length
    if out is None:
        out = empty(q, tuple(q.shape[:-1]) + (v.shape[-1],))
    lse = empty(q, (q.shape[1], q.shape[0]), wide=True) if return_lse else None
    problems = []
    for x, end in enumerate(ends):
        rows, keys = slice(q_at[x], q_at[x + 1]), slice(k_at[x], end)
        one = None if lse is None else column(lse[:, rows], "lse")
        rule = rule_of(q_at[x + 1] - q_at[x], end - k_at[x])
        problems.append((q[rows], k[keys], v[keys], out[rows], one, None, True, LAYOUTS["blhd"], rule, None))
    _core.forward_many(default_context() if context is None else context, tuple(problems))
    return (out, lse) if return_lse else out


def attention_packed(
    q: Any,
    k: Any,
    v: Any,
    q_starts: Any,
    k_starts: Any = None,
    *,
    scale: float | None = None,
    causal: str | None = None,
    window: int | tuple[int | None, int | None] | None = None,
    softcap: float | None = None,
    key_lengths: Any = None,
    alibi: Any = None,
    sinks: Any = None,
    out: Any = None,
    return_lse: bool = False,
    context: Context | None = None,
) -> Any:
    """``attention`` of each of several sequences, computed in one parallel loop.

    q, k, v: (rows, heads, d) in host memory; sequence x has rows ``q_starts[x]`` to
        ``q_starts[x + 1]`` of q, and of k and v those of ``k_starts`` (by default the same).
    causal, window: as in ``attention``, for each sequence: with ``"bottom-right"`` its last
        query sees its last key.
    key_lengths: keys of each sequence that count; the last query then sees the last of these.
    scale, softcap, alibi, sinks: as in ``attention``.
    out: (rows, heads, dv), where the result goes.  Rows of no sequence are not written.
    return_lse: also the logarithm of the sum of exp(score), (heads, rows).

    >>> x = rng.standard_normal((7, 2, 4))
    >>> packed = attend.attention_packed(x, x, x, [0, 3, 7], causal="bottom-right")
    >>> one = x[3:7].swapaxes(0, 1)
    >>> np.allclose(packed[3:7].swapaxes(0, 1), attend.attention(one, one, one, causal="bottom-right"))
    True
    """
    rule = make_rule(1, scale=scale, causal=causal, window=window, softcap=softcap, alibi=alibi, sinks=sinks)
    return compute((q, k, v), q_starts, k_starts, key_lengths, lambda nq, nk: rule, out, return_lse, context)
