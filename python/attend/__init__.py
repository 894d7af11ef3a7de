# SPDX-License-Identifier: MIT
"""Exact softmax attention, and what each head did.

>>> import numpy as np, attend
>>> rng = np.random.default_rng(0)
>>> q, k, v = (rng.standard_normal((1, 2, 5, 8)).astype("f4") for _ in range(3))
>>> attend.attention(q, k, v, causal="bottom-right").shape
(1, 2, 5, 8)
>>> attend.stats(q, k, v).entropy.shape
(1, 2, 5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import Context
from ._engine import attention, default_context, info, merge, set_threads, version
from ._inspect import Inspection, inspect
from ._packed import attention_packed
from ._stats import Head, Stats, stats

if TYPE_CHECKING:
    from . import lab as lab
    from . import theory as theory

__version__ = version()


def __getattr__(name: str) -> Any:
    """``attend.lab`` and ``attend.theory`` are imported on first use."""
    if name in ("lab", "theory"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def watch(
    model: Any, tokenizer: Any = None, keep: Any = None, partial: bool = False, rows: int | None = 1024
) -> Any:
    """Statistics of every layer and head of a transformers model while it runs.

    with attend.watch(model, tokenizer) as w:
        model(**inputs)
    w.heads()

    tokenizer: also asks for the scores of ``w.detect()`` and names tokens on the page.
    keep: "qkv", or indices of layers, whose tensors are kept for ``w.map(zoom=)`` and
    ``w.noise()``.
    partial: lists modules that bypass transformers' attention interface in ``w.missed``;
    by default they are an error.
    rows: of a longer causal call about so many queries are measured, evenly spread, and the
    last 256; None measures all.
    """
    from ._watch import Watch

    return Watch(model, tokenizer, keep, partial, rows)


__all__ = [
    "Context",
    "Head",
    "Inspection",
    "Stats",
    "attention",
    "attention_packed",
    "default_context",
    "info",
    "inspect",
    "lab",
    "merge",
    "set_threads",
    "stats",
    "theory",
    "watch",
]
