# SPDX-License-Identifier: MIT
"""The forward pass: defaults, shapes of outputs, and the default context."""

from __future__ import annotations

import operator
import sys
import threading
from typing import Any, Callable, Sequence

from . import _core
from ._core import Context

LAYOUTS = {"bhld": 0, "blhd": 1}
CAUSAL = {None: 0, False: 0, "top-left": 1, "bottom-right": 2}
OFFSET = 3

Rule = tuple[Any, ...] | None


# ---- the default context --------------------------------------------------------

_lock = threading.Lock()
_default: Context | None = None
_threads = 0  # set by set_threads(); 0: follow torch, else the library's default


def _wanted_threads() -> int:
    if _threads:
        return _threads
    torch = sys.modules.get("torch")
    return torch.get_num_threads() if torch is not None and hasattr(torch, "get_num_threads") else 0


def default_context() -> Context:
    """The context that calls without one use.

    It has as many threads as ``set_threads()`` said; else as torch uses, where torch is
    loaded; else ``OMP_NUM_THREADS``, or every CPU this process may use.
    """
    global _default
    wanted = _wanted_threads()
    context = _default
    if context is None or (wanted and context.threads != wanted):
        with _lock:
            context = _default = Context(threads=wanted)
    return context


_devices: dict[tuple[int, str], Context | None] = {}


def device_context(name: str) -> Context | None:
    """The calling thread's context on a GPU, "cuda:0"; None where the library has none there."""
    key = threading.get_ident(), name
    if key not in _devices:
        try:
            _devices[key] = Context(threads=1, device=name, fast=True)
        except ValueError:
            _devices[key] = None
    return _devices[key]


def set_threads(threads: int) -> None:
    """Threads of the default context; 0 follows torch, or the machine, again."""
    global _default, _threads
    threads = whole(threads, "threads")
    if threads < 0:
        raise ValueError(f"threads = {threads} must not be negative")
    context = Context(threads=threads) if threads else None
    with _lock:
        _threads = threads
        _default = context


def version() -> str:
    """The version of the library."""
    return _core.isas()[2]


def info() -> dict[str, Any]:
    """Version, kernel sets and what the default context uses.

    >>> sorted(attend.info())
    ['features', 'isa', 'isas', 'threads', 'version']
    """
    isas, features, library = _core.isas()
    context = default_context()
    return {
        "version": library,
        "isa": context.isa,
        "threads": context.threads,
        "features": features.split(),
        "isas": [{"name": name, "needs": needs.split(), "runs": runs} for name, needs, runs in isas],
    }


# ---- arguments ---------------------------------------------------------------------


def numbers(values: Any, dtype: str, name: str) -> Any:
    """A contiguous NumPy array of numbers, or None."""
    if values is None:
        return None
    import numpy as np

    if is_torch(values) and values.is_cuda:
        values = values.cpu()
    if is_torch(values) and str(values.dtype) == "torch.bfloat16":  # bfloat16, which NumPy does not have
        values = values.float()
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{name}: {error}") from None
    if array.size and not np.can_cast(array.dtype, dtype, "same_kind"):
        raise TypeError(f"{name} has dtype {array.dtype}, which cannot be cast to {dtype}")
    if array.dtype == np.uint64 and dtype == "int64" and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} ({array.max()}) is too large")
    return np.ascontiguousarray(array, dtype=dtype)


def whole(value: Any, name: str) -> int:
    """An integer."""
    try:
        return operator.index(value)
    except (TypeError, RuntimeError):  # the latter from tensors
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None


def offsets(causal: Any, batch: int) -> Any:
    """One offset, or one for each batch, as the latter."""
    import numpy as np

    array = numbers(causal, "int64", "causal")
    if array.size == 1:
        return np.full(batch, array.reshape(()))
    return array


def column(lse: Any, name: str) -> Any:
    """An LSE with an axis of size 1 behind it, as the engine has it."""
    if not hasattr(lse, "shape") or not hasattr(lse, "__getitem__"):
        raise TypeError(f"{name} is not an array: {type(lse).__name__}")
    if isinstance(lse, memoryview):
        import numpy as np

        return np.asarray(lse)[..., None]
    return lse[..., None]


def layout_code(layout: str) -> int:
    try:
        return LAYOUTS[layout]
    except (KeyError, TypeError):
        raise ValueError(f"layout = {layout!r} must be 'bhld' or 'blhd'") from None


def make_rule(
    batch: int,
    *,
    scale: float | None = None,
    causal: str | int | Sequence[int] | None = None,
    window: int | tuple[int | None, int | None] | None = None,
    softcap: float | None = None,
    bias: Any = None,
    mask: Any = None,
    key_lengths: Any = None,
    alibi: Any = None,
    sinks: Any = None,
) -> Rule:
    """The rule as the extension takes it; None for plain attention."""
    if (
        scale is None
        and causal is None
        and window is None
        and softcap is None
        and bias is None
        and mask is None
        and key_lengths is None
        and alibi is None
        and sinks is None
    ):
        return None
    offset = None
    if causal is None or isinstance(causal, (str, bool)):
        if causal is True or causal not in CAUSAL:
            raise ValueError(f"causal = {causal!r} must be None, 'top-left', 'bottom-right' or an offset")
        code = CAUSAL[causal]
    else:
        code, offset = OFFSET, offsets(causal, batch)
    pair = window if isinstance(window, (tuple, list)) else (window, window)
    if len(pair) != 2:
        raise ValueError(f"window = {window!r} must be a number or a pair (before, after)")
    left, right = pair
    return (
        scale,
        softcap,
        code,
        offset,
        -1 if left is None else left,
        -1 if right is None else right,
        numbers(key_lengths, "int64", "key_lengths"),
        mask,
        bias,
        numbers(alibi, "float64", "alibi"),
        numbers(sinks, "float64", "sinks"),
    )


def is_torch(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def empty(like: Any, shape: tuple[int, ...], wide: bool = False) -> Any:
    """An output of the kind of `like`: of its dtype, or f32 (f64 for f64) if `wide`."""
    if is_torch(like):
        torch = sys.modules["torch"]
        dtype = (torch.float64 if like.dtype == torch.float64 else torch.float32) if wide else like.dtype
        return torch.empty(shape, dtype=dtype, device=like.device)
    import numpy as np

    dtype = getattr(like, "dtype", None)
    if dtype is None:  # a buffer without a dtype
        dtype = np.asarray(like).dtype
    elif not isinstance(dtype, np.dtype):  # another library's array: results are NumPy's
        dtype = np.dtype(str(dtype).split(".")[-1])
    if wide:
        dtype = np.dtype("f8" if dtype == np.float64 else "f4")
    return np.empty(shape, dtype)


def sizes(q: Any, k: Any, v: Any, layout: str) -> tuple[tuple[int, ...], int, int, int]:
    """Shape of the leading axes and rows of q, after a check of the heads; nk, dv and the batch."""
    shapes = []
    for name, array in (("q", q), ("k", k), ("v", v)):
        shape = getattr(array, "shape", None)
        if shape is None:
            raise TypeError(f"{name} is not an array: {type(array).__name__}")
        if not 2 <= len(shape) <= 4:
            raise ValueError(f"{name} has {len(shape)} dimensions; 2 to 4 are allowed")
        shapes.append(tuple(shape))
    if len({len(shape) for shape in shapes}) > 1:
        raise ValueError(
            f"q, k and v have {len(shapes[0])}, {len(shapes[1])} and {len(shapes[2])} dimensions"
        )
    rows = shapes[0][:-1]
    if layout == "blhd" and len(rows) > 1:
        rows = rows[:-2] + (rows[-1], rows[-2])
        nk = shapes[1][-3]
    else:
        nk = shapes[1][-2]
    return rows, nk, shapes[2][-1], shapes[0][0] if len(shapes[0]) == 4 else 1


def _device_of(q: Any) -> Any:
    """The module that computes on a GPU, if q lies there; else None."""
    if type(q).__module__ == "numpy" or not hasattr(q, "__dlpack_device__"):
        return None
    from . import _device

    return _device if _device.is_device(q) else None


# ---- attention ------------------------------------------------------------------------


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    scale: float | None = None,
    causal: str | int | Sequence[int] | None = None,
    window: int | tuple[int | None, int | None] | None = None,
    softcap: float | None = None,
    bias: Any = None,
    mask: Any = None,
    key_lengths: Any = None,
    alibi: Any = None,
    sinks: Any = None,
    layout: str = "bhld",
    out: Any = None,
    return_lse: bool = False,
    return_weights: bool = False,
    stats: bool | Sequence[str] = False,
    context: Context | None = None,
) -> Any:
    """Softmax attention of q over k and v: ``softmax(scale * q @ k.T + bias) @ v``.

    q, k, v: arrays of 2 to 4 dimensions, (b, h, l, d), (h, l, d) or (l, d), or with
        ``layout="blhd"`` (b, l, h, d), (l, h, d) or (l, d); NumPy, PyTorch, or anything
        with DLPack, of float64, float32, float16 or bfloat16.  Strides may be any; nothing
        is copied.  Arrays of a GPU are computed there, on torch's current stream; the results
        are tensors of torch, statistics NumPy arrays.  k and v may have fewer heads than q, if theirs divide q's.
    scale: factor of the scores; 1 / sqrt(d) by default.
    causal: ``"top-left"`` (query i sees keys up to i), ``"bottom-right"`` (the last query
        sees the last key of the array, whatever key_lengths is), or an offset (query i
        sees keys up to i + offset), one or one per batch.
    window: how many keys before and after its position a query sees: a pair, None or -1 for
        no limit, or one number for both.  The position of query i is i, with
        ``"bottom-right"`` i + lk - lq, with an offset i + offset.
    softcap: scores become ``softcap * tanh(score / softcap)``.
    bias: added to the scores; mask: bool, True where a query sees a key.  Both broadcast
        to (b, h, lq, lk).
    key_lengths: keys of each batch that count.
    alibi: a slope for each query head; slope * (key - position of the query) is added to the
        scores, so that keys after the query gain.
    sinks: a logit for each query head, which takes a share of the weight and has no value.
    out: where the result goes; it must not overlap an input.
    return_lse: also the logarithm of the sum of exp(score), (b, h, l).
    return_weights: also the weights, (b, h, lq, lk).
    stats: True, or names of row statistics: also an ``attend.Stats``.
    context: an ``attend.Context``; by default the module's own.

    Returns the output, or a tuple of the output and the other requested results, in the
    order lse, weights, stats.

    >>> x = np.eye(3, dtype="f4")
    >>> attend.attention(x, x, x, scale=100.0).round(3)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    code = layout_code(layout)
    device = _device_of(q)
    if device:
        q, k, v, mask, bias = (device.adopt(array) for array in (q, k, v, mask, bias))
    rows, nk, dv, batch = sizes(q, k, v, layout)
    rule = make_rule(
        batch,
        scale=scale,
        causal=causal,
        window=window,
        softcap=softcap,
        bias=bias,
        mask=mask,
        key_lengths=key_lengths,
        alibi=alibi,
        sinks=sinks,
    )
    if out is None:
        out = empty(q, tuple(q.shape[:-1]) + (dv,))
    lse = empty(q, rows, wide=True) if return_lse else None
    weights = empty(q, rows + (nk,), wide=True) if return_weights else None
    request = None
    if stats is not False and stats is not None:
        from ._stats import Request

        request = Request("stats", () if stats is True else stats, rows)
    forward: Callable[..., None] = device.forward if device else _core.forward
    forward(
        default_context() if context is None and not device else context,
        q,
        k,
        v,
        out,
        None if lse is None else column(lse, "lse"),
        weights,
        True,
        code,
        rule,
        None if request is None else request.tuple(),
    )
    if not return_lse and not return_weights and request is None:
        return out
    found: tuple[Any, ...] = (out,)
    if return_lse:
        found += (lse,)
    if return_weights:
        found += (weights,)
    if request is not None:
        found += (request.result(),)
    return found


def merge(
    parts: Sequence[tuple[Any, Any]], *, out: Any = None, lse: Any = None, context: Context | None = None
) -> tuple[Any, Any]:
    """Attention over all keys from attention over parts of them.

    parts: pairs (out, lse), as ``attention(..., return_lse=True)`` gave them.
    Returns (out, lse).

    >>> q, k, v = (rng.standard_normal((2, 6, 4)) for _ in range(3))
    >>> whole = attend.attention(q, k, v)
    >>> halves = [attend.attention(q, k[:, s], v[:, s], return_lse=True) for s in (slice(0, 2), slice(2, 6))]
    >>> np.allclose(attend.merge(halves)[0], whole)
    True
    """
    if not isinstance(parts, (list, tuple)) or not all(
        isinstance(part, (list, tuple)) and len(part) == 2 for part in parts
    ):
        raise TypeError("parts must be a list of pairs (out, lse)")
    if not parts:
        raise ValueError("parts is empty")
    pairs = tuple((part, column(part_lse, "lse of a part")) for part, part_lse in parts)
    first = pairs[0][0]
    if not hasattr(first, "shape"):
        raise TypeError(f"out of a part is not an array: {type(first).__name__}")
    if out is None:
        out = empty(first, tuple(first.shape))
    if lse is None:
        lse = empty(first, tuple(first.shape[:-1]), wide=True)
    _core.merge(default_context() if context is None else context, pairs, out, column(lse, "lse"))
    return out, lse
