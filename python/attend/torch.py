# SPDX-License-Identifier: MIT
"""PyTorch: a drop-in for ``torch.nn.functional.scaled_dot_product_attention``, on the CPU and on GPUs.

>>> import attend.torch
>>> q = k = v = torch.randn(1, 8, 128, 64)
>>> out = attend.torch.scaled_dot_product_attention(q, k, v, is_causal=True)
>>> with attend.torch.use():
...     out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
"""

from __future__ import annotations

import contextlib
import math
import threading
import warnings
from numbers import Real
from typing import Any, Iterator

import torch
from torch.autograd import forward_ad

from . import _core
from ._engine import default_context, device_context, make_rule
from ._packed import compute

#: torch's own function, whatever ``use()`` has put in its place.
torch_sdpa = torch.nn.functional.scaled_dot_product_attention

DTYPES = {torch.float64: 1, torch.float32: 2, torch.float16: 3, torch.bfloat16: 4, torch.bool: 5}

Described = tuple[str, int, int, Any, Any]

_broadcast: Any = torch.broadcast_shapes  # torch has no type hints for this function
_functional: Any = torch.nn.functional  # and wrong ones for its attention


def describe(tensor: torch.Tensor, device: torch.device | None = None) -> Described:
    """Memory of a tensor of the CPU, or of `device`, for the extension; it must outlive the call."""
    code = DTYPES.get(tensor.dtype)
    if code is None:
        raise TypeError(f"attend: a tensor has dtype {tensor.dtype}")
    if tensor.device.type != "cpu" and tensor.device != device:
        raise ValueError(f"attend: a tensor is on {tensor.device}, not in host memory")
    return "memory", tensor.data_ptr(), code, tensor.shape, tensor.stride()


_said: set[str] = set()


def say_once(reason: str) -> None:
    if reason not in _said:
        _said.add(reason)
        warnings.warn(f"attend: {reason}: torch's own attention is used", stacklevel=5)


def _is_plain(tensor: Any) -> bool:
    """Whether it is memory of the host or of a GPU, as it stands."""
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.device.type in ("cpu", "cuda")
        and tensor.layout is torch.strided
        and not tensor.is_nested
        and not tensor.is_neg()
    )


def _wants_gradients(tensors: tuple[Any, ...]) -> bool:
    return torch.is_grad_enabled() and any(t.requires_grad for t in tensors)


def _is_transformed() -> bool:
    """Whether vmap, grad or another transform of torch.func, or a forward gradient, is at work."""
    functorch: Any = torch._C._functorch
    return functorch.peek_interpreter_stack() is not None or forward_ad._current_level >= 0


def _needs_torch(tensors: tuple[Any, ...], dropout_p: float) -> bool:
    """Whether torch must answer: tensors that are not ours, dropout or gradients."""
    if not all(_is_plain(t) for t in tensors) or _is_transformed() or len({t.device for t in tensors}) > 1:
        return True
    if tensors[0].is_cuda and _context(tensors[0].device) is None:
        return True
    if dropout_p > 0:
        say_once("dropout is not computed here")
    elif _wants_gradients(tensors):
        say_once("gradients are not computed here yet")
    else:
        return dropout_p != 0
    return True


def _context(device: torch.device) -> Any:
    """The engine's module for `device`, on torch's current stream; None for a GPU without kernels."""
    if device.type == "cpu":
        return default_context()
    context = device_context(f"cuda:{device.index}")
    if context is not None:
        context.set_stream(torch.cuda.current_stream(device).cuda_stream)
    return context


def _are_typed(dropout_p: Any, is_causal: Any, scale: Any, gqa: Any) -> bool:
    """Whether torch takes arguments of these types; a number in a tensor is left to it."""
    return (
        type(is_causal) is bool
        and type(gqa) is bool
        and isinstance(dropout_p, Real)
        and (scale is None or isinstance(scale, Real))
    )


def _cast(tensor: Any, device: str) -> Any:
    """As autocast casts the arguments of torch's function."""
    if (
        isinstance(tensor, torch.Tensor)
        and tensor.device.type == device
        and tensor.is_floating_point()
        and tensor.dtype != torch.float64
    ):
        return tensor.to(torch.get_autocast_dtype(device))
    return tensor


def _common_shape(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, gqa: bool) -> tuple[int, ...] | None:
    """Leading axes of the result, heads included; None for shapes that torch refuses."""
    if (
        min(q.dim(), k.dim(), v.dim()) < 2
        or q.dtype != k.dtype
        or q.dtype != v.dtype
        or q.dtype not in DTYPES
    ):
        return None
    if q.dtype == torch.bool or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        return None
    try:
        if not gqa:
            return tuple(_broadcast(q.shape[:-2], k.shape[:-2], v.shape[:-2]))
        if (
            min(q.dim(), k.dim(), v.dim()) < 3
            or k.shape[-3] != v.shape[-3]
            or k.shape[-3] == 0
            or q.shape[-3] % k.shape[-3]
        ):
            return None
        return tuple(_broadcast(q.shape[:-3], k.shape[:-3], v.shape[:-3])) + (q.shape[-3],)
    except RuntimeError:
        return None


def _is_empty(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> bool:
    """Whether torch determines the shape of the result, which is not always the broadcast one."""
    return q.numel() == 0 or k.numel() == 0 or v.numel() == 0


def _output(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None,
    gqa: bool,
    lead: tuple[int, ...],
) -> torch.Tensor:
    """Memory of the result, in torch's order: its flash kernel keeps the query's, all else is contiguous."""
    shape = lead + (q.shape[-2], v.shape[-1])
    flash = (
        q.dim() == k.dim() == v.dim() == 4
        and q.shape == shape
        and q.shape[0] == k.shape[0] == v.shape[0]
        and (gqa or q.shape[1] == k.shape[1] == v.shape[1])
        and (mask is None or mask.dim() in (2, 4))
        and q.stride(3) == k.stride(3) == v.stride(3) == 1
    )
    return torch.empty_like(q) if flash else q.new_empty(shape)


def _four(tensor: torch.Tensor, lead: tuple[int, ...], heads: int | None) -> torch.Tensor:
    """As (b, h, l, d): leading axes expanded to `lead`, but for the heads of GQA."""
    shape = lead if heads is None else lead[:-1] + (heads,)
    if tuple(tensor.shape[:-2]) != shape:
        tensor = tensor.expand(*shape, *tensor.shape[-2:])
    if len(lead) <= 2:
        return tensor[(None,) * (4 - tensor.dim())]
    return tensor.reshape(-1, shape[-1], *tensor.shape[-2:])


def _mask_fits(mask: torch.Tensor | None, q: torch.Tensor, scores: tuple[int, ...]) -> bool:
    if mask is None:
        return True
    if mask.dim() < 2 or mask.dtype not in (torch.bool, torch.float32, q.dtype):
        return False
    try:
        return tuple(_broadcast(mask.shape, scores)) == scores
    except RuntimeError:
        return False


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """As torch's function of this name: the same arguments, results and exceptions.

    On the CPU and on GPUs that the library has kernels for, and without gradients or
    dropout, the engine computes it, on torch's current stream; any other call, one with
    an empty tensor, and any that torch refuses, goes to torch.
    """
    device = query.device.type if isinstance(query, torch.Tensor) else "cpu"
    if device in ("cpu", "cuda") and torch.is_autocast_enabled(device):
        query, key, value, attn_mask = (_cast(t, device) for t in (query, key, value, attn_mask))
    if torch.compiler.is_compiling():
        tensors = (query, key, value) if attn_mask is None else (query, key, value, attn_mask)
        typed = _are_typed(dropout_p, is_causal, scale, enable_gqa)
        if not typed or dropout_p != 0 or query.device.type != "cpu" or _wants_gradients(tensors):
            return torch_sdpa(
                query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
            )
        compiled: torch.Tensor = torch.ops.attend.sdpa(
            query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa
        )
        return compiled
    return _sdpa(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


def _sdpa(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    gqa: bool,
) -> torch.Tensor:
    def torchs() -> torch.Tensor:
        return torch_sdpa(q, k, v, mask, dropout_p, is_causal, scale=scale, enable_gqa=gqa)

    if not _are_typed(dropout_p, is_causal, scale, gqa) or (is_causal and mask is not None):
        return torchs()
    if _needs_torch((q, k, v) if mask is None else (q, k, v, mask), dropout_p) or _is_empty(q, k, v):
        return torchs()
    lead = _common_shape(q, k, v, gqa)
    if lead is None or (scale is not None and not math.isfinite(scale)):
        return torchs()
    scores = lead + (q.shape[-2], k.shape[-2])
    if not _mask_fits(mask, q, scores):
        return torchs()
    out = _output(q, k, v, mask, gqa, lead)
    heads = k.shape[-3] if gqa else None
    q4, k4, v4 = _four(q, lead, None), _four(k, lead, heads), _four(v, lead, heads)
    out4 = out.view(q4.shape[:-1] + (v.shape[-1],))
    if mask is not None:
        mask = mask.expand(scores).reshape(-1, *scores[-3:]) if len(lead) > 2 else mask
    rule = None
    if mask is not None or is_causal or scale is not None:
        described = None if mask is None else describe(mask, q.device)
        boolean = mask is not None and mask.dtype == torch.bool
        rule = (
            scale,
            0.0,
            1 if is_causal else 0,
            None,
            -1,
            -1,
            None,
            described if boolean else None,
            None if boolean else described,
            None,
            None,
        )
    q5, k5, v5, out5 = (describe(t, q.device) for t in (q4, k4, v4, out4))
    _core.forward(_context(q.device), q5, k5, v5, out5, None, None, False, 0, rule, None)
    return out


@torch.library.custom_op("attend::sdpa", mutates_args=())
def _sdpa_op(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> torch.Tensor:
    return _sdpa(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


@_sdpa_op.register_fake
def _(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any,
    dropout_p: float,
    is_causal: bool,
    scale: Any,
    enable_gqa: bool,
) -> Any:
    if _is_empty(query, key, value):
        return torch_sdpa(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )
    lead = _common_shape(query, key, value, enable_gqa)
    if lead is None:
        raise RuntimeError(
            f"attend::sdpa: shapes {tuple(query.shape)}, {tuple(key.shape)}, {tuple(value.shape)} do not fit"
        )
    return _output(query, key, value, attn_mask, enable_gqa, lead)


def varlen_attn(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cu_seq_q: torch.Tensor,
    cu_seq_k: torch.Tensor,
    max_q: int,
    max_k: int,
    *,
    return_aux: Any = None,
    scale: float | None = None,
    window_size: tuple[int, int] = (-1, -1),
    enable_gqa: bool = False,
    seqused_k: torch.Tensor | None = None,
    block_table: torch.Tensor | None = None,
    num_splits: int | None = None,
) -> Any:
    """As ``torch.nn.attention.varlen.varlen_attn``, which has no kernel for the CPU: packed sequences.

    query (rows, heads, d), key and value with rows of their own; sequence x has rows
    ``cu_seq_q[x]`` to ``cu_seq_q[x + 1]``.  A window (left, right) is about the query's place from
    the end of its sequence: (-1, 0) is causal.  max_q, max_k and num_splits have no influence; the bits of
    a sequence depend on no other.  There are no gradients and no block tables.
    """
    if block_table is not None:
        raise NotImplementedError("attend: block_table: keys in pages are not computed")
    if _wants_gradients((query, key, value)):
        raise NotImplementedError("attend: gradients of packed sequences are not computed")
    if not enable_gqa and query.shape[1] != key.shape[1]:
        raise ValueError(f"query has {query.shape[1]} heads, key {key.shape[1]}: set enable_gqa")
    left, right = window_size

    def rule_of(nq: int, nk: int) -> Any:
        if left < 0 and right < 0:
            return make_rule(1, scale=scale)
        # Query i sees keys up to i + nk - nq + right.
        after = nk if right < 0 else right
        before = None if left < 0 else left + after
        return make_rule(1, scale=scale, causal=[nk - nq + after], window=(before, None))

    want_lse = return_aux is not None and return_aux.lse
    found = compute((query, key, value), cu_seq_q, cu_seq_k, seqused_k, rule_of, None, want_lse, None)
    return (found[0], found[1].T) if want_lse else found


_use_lock = threading.Lock()
_uses = 0  # blocks of use() that are open, of all threads
_before: Any = None  # what the first of them replaced


@contextlib.contextmanager
def use() -> Iterator[None]:
    """Within it, ``torch.nn.functional.scaled_dot_product_attention`` is attend's, for all threads."""
    global _uses, _before
    with _use_lock:
        if _uses == 0:
            _before = _functional.scaled_dot_product_attention
        _uses += 1
        _functional.scaled_dot_product_attention = scaled_dot_product_attention
    try:
        yield
    finally:
        with _use_lock:
            _uses -= 1
            if _uses == 0:
                _functional.scaled_dot_product_attention = _before
