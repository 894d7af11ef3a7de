# SPDX-License-Identifier: MIT
"""Calls on a GPU: arrays by DLPack, small arguments copied in, statistics copied out.

torch allocates what a call needs on the device, so results are its tensors.  Everything is
queued on torch's current stream.
"""

from __future__ import annotations

from typing import Any, Callable

from . import _core
from ._engine import device_context

CUDA = 2  # DLPack's number of the device type


def is_device(array: Any) -> bool:
    """Whether the memory of an array is that of a GPU."""
    place = getattr(array, "__dlpack_device__", None)
    if place is None or isinstance(array, type):
        return False
    try:
        return int(place()[0]) == CUDA
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        return False


def adopt(array: Any) -> Any:
    """The same memory as a tensor of torch."""
    import torch
    from torch.utils.dlpack import from_dlpack

    if array is None or isinstance(array, torch.Tensor):
        return array
    return from_dlpack(array)


def context_for(tensor: Any, context: Any = None) -> Any:
    """The context of the tensor's GPU, on torch's current stream there."""
    import torch

    if context is None:
        context = device_context(f"cuda:{tensor.device.index}")
        if context is None:
            raise ValueError(
                f"q is on {tensor.device}, which the library has no kernels for; the command attend info says why"
            )
    elif context.isa != "cuda":
        raise ValueError(f"q is on {tensor.device}, but the context computes on the CPU")
    context.set_stream(torch.cuda.current_stream(tensor.device).cuda_stream)
    return context


class Call:
    """Arguments of the extension on a device, and the arrays to be copied back."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.back: list[tuple[Any, Any]] = []
        self.kept: list[Any] = []

    def memory(self, array: Any, output: bool = False) -> Any:
        """As a description of device memory; a NumPy array is copied in, or back after the call."""
        import numpy as np
        import torch

        from .torch import DTYPES

        if array is None or isinstance(array, (int, float)):
            return array
        if isinstance(array, np.ndarray):
            host = torch.from_numpy(array if array.flags.writeable else array.copy())
            tensor = torch.empty_like(host, device=self.device) if output else host.to(self.device)
            if output:
                self.back.append((host, tensor))
        else:
            tensor = adopt(array)
        if tensor.device != self.device:
            raise ValueError(f"attend: a tensor is on {tensor.device}, q on {self.device}")
        self.kept.append(tensor)
        codes = {**DTYPES, torch.int64: ord("q"), torch.int32: ord("i")}
        if tensor.dtype not in codes:
            raise TypeError(f"attend: a tensor has dtype {tensor.dtype}")
        return "memory", tensor.data_ptr(), codes[tensor.dtype], tensor.shape, tensor.stride()

    def rule(self, rule: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        return None if rule is None else tuple(self.memory(item) for item in rule)

    def finish(self) -> None:
        for host, tensor in self.back:
            host.copy_(tensor)


def forward(
    context: Any,
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    lse: Any,
    weights: Any,
    force: bool,
    layout: int,
    rule: Any,
    stats: Any,
) -> None:
    """``_core.forward`` for tensors of a GPU; its statistics may be NumPy arrays."""
    q = adopt(q)
    call = Call(q.device)
    arrays = [call.memory(array) for array in (q, k, v, out, lse, weights)]
    request = None
    if stats is not None:
        codes, *outputs, classes, summaries = stats
        request = (
            codes,
            *(call.memory(array, True) for array in outputs),
            call.memory(classes),
            call.memory(summaries, True),
        )
    run: Callable[..., None] = _core.forward
    run(context_for(q, context), *arrays, force, layout, call.rule(rule), request)
    call.finish()


def inspect(
    context: Any,
    q: Any,
    k: Any,
    lse: Any,
    layout: int,
    rule: Any,
    mass: Any,
    most: Any,
    last: Any,
    last_count: int,
    pooled: Any,
    pooled_block: int,
    zoom: Any,
    query: int,
    key: int,
    probes: Any,
    weights: Any,
) -> None:
    """``_core.inspect`` likewise."""
    q = adopt(q)
    call = Call(q.device)
    inputs = [call.memory(array) for array in (q, k, lse)]
    outputs = [call.memory(array, True) for array in (mass, most, last, pooled, zoom, weights)]
    run: Callable[..., None] = _core.inspect
    run(
        context_for(q, context),
        *inputs,
        layout,
        call.rule(rule),
        *outputs[:3],
        last_count,
        outputs[3],
        pooled_block,
        outputs[4],
        query,
        key,
        call.memory(probes),
        outputs[5],
    )
    call.finish()
