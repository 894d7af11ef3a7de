# SPDX-License-Identifier: MIT
"""Weights recomputed from the LSE: columns, maps, zooms and single weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

from . import _core
from ._core import Context


@dataclass(frozen=True)
class Inspection:
    """Results of ``inspect``; None for those not requested.  Leading axes as those of q."""

    column_mass: Any = None
    column_max: Any = None
    column_last: Any = None
    pooled: Any = None
    zoom: Any = None
    probes: Any = None


def inspect(
    q: Any,
    k: Any,
    lse: Any = None,
    *,
    column_mass: bool = True,
    column_max: bool = False,
    last: int = 0,
    pooled: int = 0,
    zoom: tuple[int, int, int, int] | None = None,
    probes: Sequence[tuple[int, int, int, int]] | None = None,
    layout: str = "bhld",
    context: Context | None = None,
    **rule: Any,
) -> Inspection:
    """Sums of the weights over queries, without ever keeping the weights.

    lse: of every row, as ``attention(..., return_lse=True)`` gives it; computed if None.
    column_mass, column_max: sum and largest weight of each key over the queries.
    last: the sum over the last so many queries.
    pooled: sums over blocks of so many queries by as many keys.
    zoom: (query, key, rows, columns): the weights of a rectangle.
    probes: (batch, head, query, key) of single weights.

    >>> q, k = (rng.standard_normal((1, 1, 8, 4)) for _ in range(2))
    >>> round(float(attend.inspect(q, k).column_mass.sum()), 6)
    8.0
    """
    import numpy as np

    from . import _engine
    from ._engine import whole

    if zoom is not None and (not isinstance(zoom, (tuple, list)) or len(zoom) != 4):
        kind = ValueError if isinstance(zoom, (tuple, list)) else TypeError
        raise kind(f"zoom = {zoom!r} must be (query, key, rows, columns)")
    if zoom is not None:
        zoom = (
            whole(zoom[0], "zoom"),
            whole(zoom[1], "zoom"),
            whole(zoom[2], "zoom"),
            whole(zoom[3], "zoom"),
        )
    last, pooled = whole(last, "last"), whole(pooled, "pooled")
    at = _engine.numbers(probes, "int64", "probes")
    if at is not None and (at.ndim != 2 or at.shape[1] != 4) and at.size:
        raise ValueError(f"probes has shape {at.shape}; rows (batch, head, query, key) are needed")
    code = _engine.layout_code(layout)
    device = _engine._device_of(q)
    if device:
        q, k = device.adopt(q), device.adopt(k)
    rows, nk, _, batch = _engine.sizes(q, k, k, layout)
    if zoom is not None and not (
        0 <= zoom[0] <= zoom[0] + zoom[2] <= rows[-1] and 0 <= zoom[1] <= zoom[1] + zoom[3] <= nk
    ):
        raise ValueError(f"zoom = {zoom} must lie within {rows[-1]} queries and {nk} keys")
    made = _engine.make_rule(batch, **rule)
    if context is None and not device:
        context = _engine.default_context()
    if lse is None:
        out = _engine.empty(q, tuple(q.shape[:-1]) + (k.shape[-1],))
        lse = _engine.empty(q, rows, wide=True)
        (device or _core).forward(
            context, q, k, k, out, _engine.column(lse, "lse"), None, False, code, made, None
        )
    lead, nq = rows[:-1], rows[-1]
    wide = _engine.empty(q, (), wide=True).dtype
    kind = np.float64 if "64" in str(wide) else np.float32

    def array(wanted: Any, *shape: int) -> Any:
        return np.empty(lead + shape, kind) if wanted else None

    blocks = [-(-n // pooled) for n in (nq, nk)] if pooled > 0 else [0, 0]
    found = {
        "column_mass": array(column_mass, 1, nk),
        "column_max": array(column_max, 1, nk),
        "column_last": array(last, 1, nk),
        "pooled": array(pooled, *blocks),
        "zoom": array(zoom, zoom[2], zoom[3]) if zoom else None,
    }
    weights = None if at is None else np.empty(len(at))
    (device or _core).inspect(
        context,
        q,
        k,
        _engine.column(lse, "lse"),
        code,
        made,
        found["column_mass"],
        found["column_max"],
        found["column_last"],
        last,
        found["pooled"],
        pooled,
        found["zoom"],
        zoom[0] if zoom else 0,
        zoom[1] if zoom else 0,
        at,
        weights,
    )
    for name in ("column_mass", "column_max", "column_last"):
        if found[name] is not None:
            found[name] = found[name][..., 0, :]
    return Inspection(**found, probes=weights)
