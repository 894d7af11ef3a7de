# SPDX-License-Identifier: MIT
"""Hugging Face transformers: ``attn_implementation="attend"``.

>>> import attend.transformers
>>> attend.transformers.register()
>>> model = transformers.AutoModel.from_pretrained(path, attn_implementation="attend")  # doctest: +SKIP

Causal, sliding-window, chunked and padding masks are passed on by their rule: no mask
of queries by keys is built.  Any other mask function is evaluated densely, with one
warning.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Callable, Iterator

import numpy as np
import torch
from transformers import AttentionInterface, AttentionMaskInterface, masking_utils

from . import _core, _device
from ._engine import OFFSET, default_context
from .torch import describe, say_once, torch_sdpa

NAME = "attend"


# ---- masks --------------------------------------------------------------------------


@dataclass(frozen=True)
class Mask:
    """What queries see, by rule: the causal diagonal, a window, chunks, padding."""

    q_length: int
    kv_length: int
    offset: int = 0  # query i stands at key i + offset
    causal: bool = False
    left: int = -1  # keys before the position that are seen; -1: all
    right: int = -1
    chunk: int = 0  # keys of a chunk; 0: none
    starts: tuple[int, ...] = ()  # where each batch's first chunk begins, as a key
    padding: torch.Tensor | None = None  # (b, kv), True: seen
    dense: torch.Tensor | None = None  # (b, 1, q, kv), True: seen

    # generate() makes the mask itself where a cache is static, and hands it to the model.

    @property
    def ndim(self) -> int:
        return 4

    def contiguous(self) -> "Mask":
        return self

    def to_dense(self, device: Any = "cpu") -> torch.Tensor:
        """The mask as (b or 1, 1, q, kv)."""
        position = torch.arange(self.q_length, device=device)[:, None] + self.offset
        key = torch.arange(self.kv_length, device=device)[None, :]
        seen = torch.ones(self.q_length, self.kv_length, dtype=torch.bool, device=device)
        if self.causal:
            seen &= key <= position
        if self.left >= 0:
            seen &= key >= position - self.left
        if self.right >= 0:
            seen &= key <= position + self.right
        seen = seen[None, None]
        if self.chunk:
            starts = torch.tensor(self.starts, device=device)[:, None, None]
            seen = seen & ((key - starts) // self.chunk == (position - starts) // self.chunk)[:, None]
        if self.padding is not None:
            seen = seen & self.padding[:, None, None, :]
        return seen if self.dense is None else seen & self.dense


def _closure(function: Callable[..., Any]) -> dict[str, Any]:
    cells = function.__closure__ or ()
    return dict(zip(function.__code__.co_freevars, (cell.cell_contents for cell in cells)))


def _factory(function: Callable[..., Any]) -> str:
    """The function of masking_utils that made `function`; "" for one of somebody else."""
    if getattr(function, "__module__", "") != masking_utils.__name__:
        return ""
    return getattr(function, "__qualname__", "").split(".<locals>")[0]


def _narrow(mask: Mask, function: Callable[..., Any], kv_offset: int) -> Mask | None:
    """`mask` restricted further by `function`; None if the function is unknown."""
    name = _factory(function)
    have = _closure(function) if name else {}
    if name == "causal_mask_function":
        return replace(mask, causal=True)
    if name == "bidirectional_mask_function":
        return mask
    if name == "and_masks":
        narrowed: Mask | None = mask
        for part in have["mask_functions"]:
            narrowed = _narrow(narrowed, part, kv_offset) if narrowed is not None else None
        return narrowed
    if name == "sliding_window_overlay":
        return replace(mask, left=_least(mask.left, int(have["sliding_window"]) - 1))
    if name == "sliding_window_bidirectional_overlay":
        width = int(have["sliding_window"])
        return replace(mask, left=_least(mask.left, width), right=_least(mask.right, width))
    if name == "chunked_overlay" and not mask.chunk:
        starts = tuple(int(start) - kv_offset for start in have["left_padding"])
        return replace(mask, chunk=int(have["chunk_size"]), starts=starts)
    return None


def _least(a: int, b: int) -> int:
    return b if a < 0 else min(a, b)


def attend_mask(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int = 0,
    kv_offset: int = 0,
    mask_function: Callable[..., Any] = masking_utils.causal_mask_function,
    attention_mask: torch.Tensor | Mask | None = None,
    **kwargs: Any,
) -> Mask:
    """The mask of a model as a rule: a mask interface of transformers."""
    if isinstance(attention_mask, Mask):
        return attention_mask
    q_offset, kv_offset = int(q_offset), int(kv_offset)
    mask = _narrow(Mask(q_length, kv_length, q_offset - kv_offset), mask_function, kv_offset)
    padding = masking_utils.prepare_padding_mask(attention_mask, kv_length, kv_offset)
    if padding is not None:
        padding = padding[:, kv_offset : kv_offset + kv_length].bool()
        if bool(padding.all()):
            padding = None
    if mask is not None:
        return replace(mask, padding=padding)
    _warn_dense(mask_function)
    dense = masking_utils.sdpa_mask(
        batch_size,
        q_length,
        kv_length,
        q_offset,
        kv_offset,
        mask_function,
        attention_mask,
        **{**kwargs, "allow_is_causal_skip": False, "allow_is_bidirectional_skip": False},
    )
    return Mask(q_length, kv_length, q_offset - kv_offset, dense=dense)


_warned: set[str] = set()


def _warn_dense(function: Callable[..., Any]) -> None:
    name = getattr(function, "__qualname__", repr(function))
    if name not in _warned:
        _warned.add(name)
        warnings.warn(
            f"attend: the mask function {name} is not known and is evaluated for every query and key",
            stacklevel=3,
        )


# ---- attention -------------------------------------------------------------------------


#: Called with every attention call while a model is watched: attend.watch sets it.
observer: Callable[..., Any] | None = None


@dataclass
class Call:
    """One call of the engine for a model: tensors (b, h, l, d) and the rule."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    out: torch.Tensor  # (b, h, l, d), of memory (b, l, h, d)
    scale: float | None
    softcap: float
    mask: Mask
    bias: torch.Tensor | None
    sinks: Any
    weights: torch.Tensor | None = None
    offsets: np.ndarray | None = None  # of each batch, in place of the mask's

    def rule(self) -> tuple[Any, ...]:
        m = self.mask
        if not m.causal and m.offset and (m.left >= 0 or m.right >= 0):
            # Without the causal rule the engine counts positions from the first key.
            m = Mask(m.q_length, m.kv_length, dense=m.to_dense(self.query.device))
        seen = m.dense
        if m.padding is not None:
            padding = m.padding[:, None, None, :]
            seen = padding if seen is None else seen & padding
        offset = np.full(self.query.shape[0], m.offset, np.int64) if m.causal else None
        offset = offset if self.offsets is None else self.offsets
        self.seen = seen  # lives as long as the call
        return (
            self.scale,
            self.softcap,
            OFFSET if m.causal else 0,
            offset,
            m.left,
            m.right,
            None,
            seen if seen is None or seen.is_cuda else describe(seen),
            self.bias if self.bias is None or self.bias.is_cuda else describe(self.bias),
            None,
            self.sinks,
        )

    def run(self, stats: tuple[Any, ...] | None = None) -> None:
        if self.query.is_cuda:
            _device.forward(
                None,
                self.query,
                self.key,
                self.value,
                self.out,
                None,
                self.weights,
                True,
                0,
                self.rule(),
                stats,
            )
            return
        _core.forward(
            default_context(),
            describe(self.query),
            describe(self.key),
            describe(self.value),
            describe(self.out),
            None,
            None if self.weights is None else describe(self.weights),
            True,
            0,
            self.rule(),
            stats,
        )

    def places(self) -> Iterator[tuple[slice, slice, slice]]:
        """Batches, queries and keys of each chunk, where the mask has chunks."""
        m = self.mask
        for b, start in enumerate(m.starts):
            first = (m.offset - start) // m.chunk
            last = (m.offset + m.q_length - 1 - start) // m.chunk
            for chunk in range(first, last + 1):
                q0, q1 = _cut(chunk, m.chunk, start - m.offset, m.q_length)
                k0, k1 = _cut(chunk, m.chunk, start, m.kv_length)
                yield slice(b, b + 1), slice(q0, q1), slice(k0, k1)

    def run_all(self) -> None:
        """The call; with chunks, one call of the engine for each of them."""
        if not self.mask.chunk:
            self.run()
        for place in self.places() if self.mask.chunk else ():
            self.cut(*place).run()

    def cut(self, b: slice, q: slice, k: slice) -> "Call":
        """The part of some batches, queries and keys, without the rule of chunks."""
        m = self.mask
        shape = self.query.shape[0], -1, self.query.shape[2], self.key.shape[2]
        mask = replace(
            m,
            chunk=0,
            starts=(),
            q_length=q.stop - q.start,
            kv_length=k.stop - k.start,
            offset=m.offset + q.start - k.start,
            padding=None if m.padding is None else m.padding[b, k],
            dense=None if m.dense is None else m.dense.expand(shape)[b, :, q, k],
        )
        bias = None if self.bias is None else self.bias.expand(shape)[b, :, q, k]
        return replace(
            self,
            query=self.query[b, :, q],
            key=self.key[b, :, k],
            value=self.value[b, :, k],
            out=self.out[b, :, q],
            mask=mask,
            bias=bias,
            weights=None if self.weights is None else self.weights[b, :, q, k],
        )

    def cut_evenly(self, first: int, step: int, size: int, count: int) -> "Call":
        """`count` ranges of `size` queries, `step` apart, of a call of one batch: each is a batch of all keys."""

        def ranges(x: torch.Tensor) -> torch.Tensor:
            h, l, d = x.stride()[1:]
            return x.as_strided(
                (count, x.shape[1], size, x.shape[3]), (step * l, h, l, d), x.storage_offset() + first * l
            )

        keys = self.key.shape[2]
        return replace(
            self,
            query=ranges(self.query),
            out=ranges(self.out),
            key=self.key.expand(count, -1, -1, -1),
            value=self.value.expand(count, -1, -1, -1),
            mask=replace(self.mask, q_length=size, kv_length=keys),
            offsets=self.mask.offset + first + step * np.arange(count, dtype=np.int64),
        )


def _cut(chunk: int, size: int, start: int, length: int) -> tuple[int, int]:
    """Where a chunk begins and ends among `length` places, the first chunk at `start`."""
    lo, hi = start + chunk * size, start + (chunk + 1) * size
    return min(max(lo, 0), length), min(max(hi, 0), length)


def _mask_of(
    attention_mask: Any, query: torch.Tensor, key: torch.Tensor, causal: bool, window: int | None
) -> tuple[Mask, torch.Tensor | None]:
    """The mask of a call, or its bias if the mask has numbers."""
    plain = Mask(query.shape[2], key.shape[2])
    if isinstance(attention_mask, Mask):
        return attention_mask, None
    if attention_mask is None:
        if not causal:
            return plain, None
        # As torch's: one query sees every key, several see the first of them.
        offset = key.shape[2] - 1 if query.shape[2] == 1 else 0
        return replace(plain, causal=True, offset=offset, left=window - 1 if window else -1), None
    attention_mask = attention_mask[..., : key.shape[2]]
    if attention_mask.dtype == torch.bool:
        return replace(plain, dense=attention_mask), None
    return plain, attention_mask


def attend_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Any,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    position_bias: torch.Tensor | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    sliding_window: int | None = None,
    output_attentions: bool = False,
    **kwargs: Any,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Attention for transformers' models: (b, l, h, d) and, if asked for, the weights."""
    if dropout and module.training:
        raise ValueError(
            f"attend: attention dropout ({dropout}) is not computed; call model.eval() or set it to 0"
        )
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    mask, bias = _mask_of(attention_mask, query, key, bool(causal), sliding_window)
    if position_bias is not None:
        bias = position_bias if bias is None else bias + position_bias
    out = torch.empty(
        query.shape[0], query.shape[2], query.shape[1], value.shape[3], dtype=query.dtype, device=query.device
    )
    weights = None
    if output_attentions:
        wide = torch.float64 if query.dtype == torch.float64 else torch.float32
        weights = torch.zeros(*query.shape[:3], key.shape[2], dtype=wide, device=query.device)
    sinks = None if s_aux is None else s_aux.detach().double().cpu().numpy()
    call = Call(query, key, value, out.transpose(1, 2), scaling, softcap or 0.0, mask, bias, sinks, weights)
    if torch.is_grad_enabled() and any(t.requires_grad for t in (query, key, value)):
        return _with_gradients(call), None
    if observer is not None:
        observer(module, call)
    else:
        call.run_all()
    return out, None if weights is None else weights.to(query.dtype)


def _with_gradients(call: Call) -> torch.Tensor:
    """torch's own attention, which has a backward pass."""
    if call.softcap or call.sinks is not None:
        raise ValueError(
            "attend: gradients with softcap or sinks are not computed; use torch.no_grad() or attn_implementation='eager'"
        )
    say_once("gradients are not computed here yet")
    mask = call.mask.to_dense(call.query.device)
    if call.bias is not None:
        mask = (
            torch.zeros(mask.shape, dtype=call.query.dtype, device=mask.device).masked_fill(
                ~mask, float("-inf")
            )
            + call.bias
        )
    out = torch_sdpa(
        call.query,
        call.key,
        call.value,
        mask,
        scale=call.scale,
        enable_gqa=call.key.shape[1] != call.query.shape[1],
    )
    return out.transpose(1, 2)


def register() -> None:
    """Makes ``attn_implementation="attend"`` known to transformers."""
    AttentionInterface.register(NAME, attend_attention)
    AttentionMaskInterface.register(NAME, attend_mask)
