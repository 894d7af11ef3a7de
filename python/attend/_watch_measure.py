# SPDX-License-Identifier: MIT
"""What one attention call of a model leaves: statistics of its rows, and a pooled map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np
import torch

from . import _core
from . import transformers as bridge
from ._engine import default_context
from ._stats import NAMES
from .torch import describe

if TYPE_CHECKING:
    from ._watch_tokens import Tokens

#: Row statistics that are kept, as float32; the LSE is kept apart, as float64.
COLUMNS = (
    "keys", "max", "top_weight", "entropy", "n_eff", "raw_variance", "margin", "sink1", "self", "previous",
    "distance", "log_distance",
)
CODES = tuple(NAMES.index(name) for name in COLUMNS)
#: These have no meaning where queries and keys are not one sequence.
PLACES = ("self", "previous", "distance", "log_distance")
TOP = 4
#: Blocks of a pooled map along either side, at most, and queries of a block that are read.
MAP_BLOCKS = 64
MAP_ROWS = 8

Slices = tuple[slice, slice, slice]


@dataclass
class Record:
    """One call of one layer; rows of padding have no keys."""

    step: int  # of the model's forward passes
    first: int  # position of the first query in its sequence
    rows: np.ndarray  # (b, h, l, len(COLUMNS)), float32
    lse: np.ndarray  # (b, h, l), float64
    top_keys: np.ndarray  # (b, h, l, TOP), int32
    top_weights: np.ndarray  # float32
    tokens: Tokens | None = None  # of the queries
    key_tokens: Tokens | None = None
    key_first: int = 0  # position of key 0 in key_tokens
    pooled: np.ndarray | None = None  # (b, h, blocks, blocks): mean weight of a row
    block: int = 0
    detected: np.ndarray | None = None  # (b, h, 3): sums of previous, duplicate, induction
    kept: bridge.Call | None = None

    def column(self, name: str) -> np.ndarray:
        """One statistic, (b, h, l)."""
        found: np.ndarray = self.rows[..., COLUMNS.index(name)]
        return found

    def counts(self) -> np.ndarray:
        """(b, h, l): whether a row has a key."""
        found: np.ndarray = self.column("keys") > 0
        return found


def wide(call: bridge.Call) -> Any:
    """The type of sums over this call's weights."""
    return np.float64 if call.query.dtype == torch.float64 else np.float32


def _parts(call: bridge.Call) -> Iterator[Slices]:
    """Batches, queries and keys to measure apart, so that key 0 is the first that is seen."""
    b, _, l = call.query.shape[:3]
    nk = call.key.shape[2]
    padding = call.mask.padding
    if call.mask.chunk:
        yield from call.places()
    elif padding is None or bool(padding[:, 0].all()):
        yield slice(0, b), slice(0, l), slice(0, nk)
    else:
        for x in range(b):
            seen = torch.nonzero(padding[x])
            start = int(seen[0]) if len(seen) else nk
            yield slice(x, x + 1), slice(min(max(0, start - call.mask.offset), l), l), slice(start, nk)


def run(call: bridge.Call, codes: tuple[int, ...], top: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The call with statistics: rows (b, h, l, codes), top weights and top keys."""
    b, h, l = call.query.shape[:3]
    nk = call.key.shape[2]
    rows = np.zeros((b, h, l, len(codes)))
    weights = np.zeros((b, h, l, top))
    keys = np.full((b, h, l, top), -1, np.int64)
    parts = list(_parts(call))
    if parts == [(slice(0, b), slice(0, l), slice(0, nk))]:
        call.run((codes, rows, weights if top else None, keys if top else None, None, None, None, None))
        return rows, weights, keys
    if not call.mask.chunk:
        call.run()  # queries of padding have an output too
    for bs, qs, ks in parts:
        shape = (bs.stop - bs.start, h, qs.stop - qs.start)
        part = np.empty(shape + (len(codes),)), np.empty(shape + (top,)), np.empty(shape + (top,), np.int64)
        call.cut(bs, qs, ks).run((codes, part[0], *(part[1:] if top else (None, None)), None, None, None, None))
        rows[bs, :, qs], weights[bs, :, qs] = part[:2]
        keys[bs, :, qs] = np.where(part[2] >= 0, part[2] + ks.start, -1)
    return rows, weights, keys


def measure(call: bridge.Call, step: int, real: np.ndarray | None, cross: bool) -> Record:
    """Runs the call; `real` is (b, l), False for queries of padding."""
    rows, weights, keys = run(call, CODES + (NAMES.index("lse"),), TOP)
    lse = np.ascontiguousarray(rows[..., -1])
    kept = rows[..., :-1].astype(np.float32)
    if cross:
        kept[..., [COLUMNS.index(name) for name in PLACES]] = np.nan
    lse[kept[..., 0] == 0] = -np.inf
    if real is not None and not real.all():
        hidden = ~np.broadcast_to(real[:, None, :], lse.shape)
        kept[hidden], lse[hidden], keys[hidden], weights[hidden] = 0, -np.inf, -1, 0
    return Record(step, call.mask.offset, kept, lse, keys.astype(np.int32), weights.astype(np.float32))


def inspect(
    call: bridge.Call, lse: np.ndarray, *, column_mass: np.ndarray | None = None, pooled: np.ndarray | None = None,
    block: int = 0, zoom: np.ndarray | None = None, query: int = 0, key: int = 0,
    probes: np.ndarray | None = None, weights: np.ndarray | None = None,
) -> None:
    """The inspection pass over a call; lse is (b, h, l)."""
    _core.inspect(
        default_context(), describe(call.query), describe(call.key), lse[..., None], 0, call.rule(),
        column_mass, None, None, 0, pooled, block, zoom, query, key, probes, weights,
    )


def some_rows(call: bridge.Call, rows: slice) -> bridge.Call:
    """Some queries and all keys; chunks become a mask of these queries."""
    part = call.cut(slice(0, call.query.shape[0]), rows, slice(0, call.key.shape[2]))
    if not call.mask.chunk:
        return part
    mask = replace(part.mask, chunk=call.mask.chunk, starts=call.mask.starts)
    return replace(part, mask=bridge.Mask(mask.q_length, mask.kv_length, dense=mask.to_dense()))


def pool(call: bridge.Call, record: Record) -> tuple[np.ndarray, int]:
    """Mean weight of blocks of keys over the last MAP_ROWS queries of each block of queries."""
    b, h, l = call.query.shape[:3]
    nk = call.key.shape[2]
    block = -(-max(l, nk) // MAP_BLOCKS)
    columns = -(-nk // block)
    pooled = np.zeros((b, h, -(-l // block), columns), np.float32)
    counts = record.counts()
    for x in range(pooled.shape[2]):
        end = min((x + 1) * block, l)
        rows = slice(max(x * block, end - MAP_ROWS), end)
        part = np.empty((b, h, 1, columns), wide(call))
        inspect(some_rows(call, rows), record.lse[:, :, rows], pooled=part, block=block)
        pooled[:, :, x] = part[:, :, 0] / np.maximum(counts[:, :, rows].sum(2), 1)[..., None]
    return pooled, block


def zoom(call: bridge.Call, record: Record, query: int, key: int, rows: int, columns: int) -> np.ndarray:
    """The weights of a rectangle, (b, h, rows, columns)."""
    l, nk = call.query.shape[2], call.key.shape[2]
    if not (0 <= query < query + rows <= l and 0 <= key < key + columns <= nk):
        raise ValueError(f"zoom = {(query, key, rows, columns)} must lie within {l} queries and {nk} keys")
    cut = slice(query, query + rows)
    out = np.empty((*call.query.shape[:2], rows, columns), wide(call))
    inspect(some_rows(call, cut), record.lse[:, :, cut], zoom=out, query=0, key=key)
    return out


def own_copy(call: bridge.Call) -> bridge.Call:
    """The call with tensors of its own."""
    return replace(
        call, query=call.query.clone(), key=call.key.clone(), value=call.value.clone(),
        out=torch.empty_like(call.out), bias=None if call.bias is None else call.bias.clone(), weights=None,
    )
