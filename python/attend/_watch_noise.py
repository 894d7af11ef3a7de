# SPDX-License-Identifier: MIT
"""Output error of a head with rounded keys: predicted by the key-noise statistic, and measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

import numpy as np
import torch

from . import transformers as bridge
from ._stats import NAMES
from ._watch_measure import run

#: The largest number of e4m3.
FP8_MAX = 448.0


def check_rounding(bits: int, kind: str) -> None:
    if kind not in ("int", "fp8"):
        raise ValueError(f"kind = {kind!r} must be 'int' or 'fp8'")
    if kind == "fp8" and bits != 8:
        raise ValueError(f"bits = {bits} must be 8 for kind = 'fp8'")
    if not 2 <= bits <= 8:
        raise ValueError(f"bits = {bits} must be in 2 .. 8")


def rounded_keys(key: torch.Tensor, bits: int, kind: str) -> torch.Tensor:
    """Keys as a cache of so few bits would return them, in their own type."""
    wide = key.float()
    if kind == "fp8":
        scale = wide.abs().amax((-2, -1), keepdim=True) / FP8_MAX
        scale = torch.where(scale > 0, scale, 1.0)
        return ((wide / scale).to(torch.float8_e4m3fn).float() * scale).to(key.dtype)
    scale = wide.abs().amax(-1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = torch.where(scale > 0, scale, 1.0)
    return ((wide / scale).round() * scale).to(key.dtype)


def key_noise(
    call: bridge.Call, counts: np.ndarray, bits: int, kind: str, rows: int | None, cross: bool
) -> Iterator[tuple[float, float]]:
    """Predicted and measured error of each head's output, relative to it; over the rows that count."""
    rounded = rounded_keys(call.key, bits, kind)
    error = (rounded.double() - call.key.double()) ** 2
    seen = call.mask.padding
    if seen is not None:
        error = error * seen[:, None, :, None]
    places = error.shape[3] * (error.shape[2] if seen is None else seen.sum(1)[:, None].clamp(min=1))
    variance = (error.sum((2, 3)) / places).cpu().numpy()  # (b, hkv): error of an entry of the keys
    exact, noisy = (
        replace(call, out=torch.zeros(call.out.shape, dtype=_wide(call), device=call.out.device))
        for _ in range(2)
    )
    measured = run(exact, (NAMES.index("key_noise"),), rows=rows, cross=cross)
    replace(noisy, key=rounded).run_all()
    out, other = (one.out[:, :, measured.places].double() for one in (exact, noisy))
    size = (out**2).sum(-1).cpu().numpy()
    moved = ((other - out) ** 2).sum(-1).cpu().numpy()
    group = call.query.shape[1] // call.key.shape[1]
    with np.errstate(invalid="ignore"):  # infinite keys
        predicted = measured.rows[..., 0] * np.repeat(variance, group, 1)[..., None]
    for h in range(call.query.shape[1]):
        use = counts[:, h]
        scale = float(size[:, h][use].sum()) or 1.0
        yield float((predicted[:, h][use].sum() / scale) ** 0.5), float(
            (moved[:, h][use].sum() / scale) ** 0.5
        )


def _wide(call: bridge.Call) -> torch.dtype:
    return torch.float64 if call.query.dtype == torch.float64 else torch.float32
