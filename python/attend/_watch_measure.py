# SPDX-License-Identifier: MIT
"""Measurements of one attention call of a model: statistics of its rows, and a pooled map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Iterable, Iterator

import numpy as np
import torch

from . import _core, _device
from . import transformers as bridge
from ._engine import default_context
from ._stats import NAMES
from .torch import describe

if TYPE_CHECKING:
    from ._watch_tokens import Tokens

#: Row statistics that are kept, as float32; the LSE is kept apart, as float64.
COLUMNS = (
    "keys",
    "max",
    "top_weight",
    "entropy",
    "n_eff",
    "raw_variance",
    "margin",
    "sink1",
    "self",
    "previous",
    "distance",
    "log_distance",
)
CODES = tuple(NAMES.index(name) for name in COLUMNS)
#: These have no meaning where queries and keys are not one sequence.
PLACES = ("self", "previous", "distance", "log_distance")
TOP = 4
#: Blocks of a pooled map along either side, at most: classes of keys that a row can have.
MAP_BLOCKS = 64
#: The last queries of a call are measured, however many there are.
LAST = 256

Slices = tuple[slice, slice, slice]


@dataclass
class Record:
    """One call of one layer; rows of padding have no keys."""

    step: int  # of the model's forward passes
    first: int  # position of the first query in its sequence
    queries: int
    places: np.ndarray  # (m,): the queries that were measured
    rows: np.ndarray  # (b, h, m, len(COLUMNS)), float32
    lse: np.ndarray  # (b, h, m), float64
    top_keys: np.ndarray  # (b, h, m, TOP), int32
    top_weights: np.ndarray  # float32
    tokens: Tokens | None = None  # of the queries
    key_tokens: Tokens | None = None
    key_first: int = 0  # position of key 0 in key_tokens
    pooled: np.ndarray | None = None  # (b, h, blocks, blocks): mean weight of a row
    block: int = 0
    detected: np.ndarray | None = None  # (b, h, 3): sums of previous, duplicate, induction
    kept: bridge.Call | None = None

    def column(self, name: str) -> np.ndarray:
        """One statistic, (b, h, m)."""
        found: np.ndarray = self.rows[..., COLUMNS.index(name)]
        return found

    def counts(self) -> np.ndarray:
        """(b, h, m): whether a row has a key."""
        found: np.ndarray = self.column("keys") > 0
        return found


def wide(call: bridge.Call) -> Any:
    """The type of sums over this call's weights."""
    return np.float64 if call.query.dtype == torch.float64 else np.float32


def _parts(call: bridge.Call, cross: bool) -> Iterator[Slices]:
    """Batches, queries and keys to measure apart, so that key 0 is the first that is seen.

    Where queries and keys are one sequence, its padding is left out of both.
    """
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
            start = int(seen[0]) if len(seen) else 0 if cross else nk
            first = 0 if cross else min(max(0, start - call.mask.offset), l)
            yield slice(x, x + 1), slice(first, l), slice(start, nk)


def _wanted(call: bridge.Call, rows: int | None) -> list[slice]:
    """Queries to measure: all, or of a long causal call about `rows`, around every other border of map blocks, and the last."""
    l = call.query.shape[2]
    if rows is None or l <= rows or not call.mask.causal:
        return [slice(0, l)]
    block = -(-l // MAP_BLOCKS)
    half = max(1, min(rows // MAP_BLOCKS, block))
    found = [slice(border - half, border + half) for border in range(block, l - LAST - half, 2 * block)]
    return found + [slice(max(l - LAST, found[-1].stop if found else 0), l)]


def _pieces(queries: slice, wanted: list[slice]) -> Iterator[tuple[slice, bool]]:
    """A range of queries cut where measuring begins and ends."""
    at = queries.start
    for one in wanted:
        start, stop = max(one.start, at), min(one.stop, queries.stop)
        if start < stop:
            if at < start:
                yield slice(at, start), False
            yield slice(start, stop), True
            at = stop
    if at < queries.stop:
        yield slice(at, queries.stop), False


def _is_plain(call: bridge.Call) -> bool:
    """One batch whose rule is the causal one alone, but for a window."""
    m = call.mask
    return bool(
        m.causal and call.query.shape[0] == 1 and m.padding is m.dense is call.bias is None and not m.chunk
    )


def _rounds(pieces: Iterable[tuple[slice, bool]], together: bool) -> list[tuple[list[slice], bool]]:
    """Pieces that one call of the engine takes: alike and evenly spaced, so that threads share many at a time."""
    rounds: list[tuple[list[slice], bool]] = []
    for piece, measured in pieces:
        size = piece.stop - piece.start
        for others, kind in rounds if together else ():
            step = piece.start - others[-1].start
            if (
                kind == measured
                and others[0].stop - others[0].start == size
                and (len(others) == 1 or others[1].start - others[0].start == step)
            ):
                others.append(piece)
                break
        else:
            rounds.append(([piece], measured))
    return rounds


@dataclass
class Measured:
    """Statistics of the queries `places`, (b, h, m, ...)."""

    places: np.ndarray
    rows: np.ndarray
    top_weights: np.ndarray
    top_keys: np.ndarray
    masses: np.ndarray  # weight on each block of keys


def run(
    call: bridge.Call,
    codes: tuple[int, ...],
    top: int = 0,
    block: int = 0,
    rows: int | None = None,
    cross: bool = False,
) -> Measured:
    """The call, with statistics of all its queries or of about `rows`; block: keys of a block whose weight is summed."""
    b, h, l = call.query.shape[:3]
    nk = call.key.shape[2]
    wanted = _wanted(call, rows)
    places = np.concatenate([np.arange(one.start, one.stop) for one in wanted])
    shape = (b, h, len(places))
    blocks = -(-nk // block) if block else 0
    found = Measured(
        places,
        np.zeros(shape + (len(codes),)),
        np.zeros(shape + (top,)),
        np.full(shape + (top,), -1, np.int64),
        np.zeros(shape + (blocks,), np.float32),
    )
    classes = np.ascontiguousarray(np.broadcast_to(np.arange(nk, dtype=np.int32) // max(block, 1), (b, nk)))
    covered = np.zeros(b, np.int64)  # queries of each batch that a part begins with
    for bs, qs, ks in _parts(call, cross):
        if covered[bs.start] < qs.start:  # queries of padding have an output too
            call.cut(bs, slice(int(covered[bs.start]), qs.start), slice(0, nk)).run()
        covered[bs] = qs.stop
        for pieces, measured in _rounds(_pieces(qs, wanted), _is_plain(call)):
            part = _part(call, bs, pieces, ks)
            if measured:
                start = int(np.searchsorted(places, pieces[0].start))
                _run_part(part, codes, classes[bs, ks], ks.start, found, bs, start)
            else:
                part.run()
    return found


def _part(call: bridge.Call, bs: slice, pieces: list[slice], ks: slice) -> bridge.Call:
    """Some queries of the call; several ranges become batches."""
    one, b, l, nk = pieces[0], call.query.shape[0], call.query.shape[2], call.key.shape[2]
    if len(pieces) > 1:
        return call.cut_evenly(one.start, pieces[1].start - one.start, one.stop - one.start, len(pieces))
    return call if (bs, one, ks) == (slice(0, b), slice(0, l), slice(0, nk)) else call.cut(bs, one, ks)


def _run_part(
    part: bridge.Call,
    codes: tuple[int, ...],
    classes: np.ndarray,
    first_key: int,
    found: Measured,
    bs: slice,
    start: int,
) -> None:
    """One call of the engine with statistics, which go to rows of batches `bs`, from `start` on."""
    shape = part.query.shape[:3]
    classes = np.broadcast_to(classes, (shape[0], classes.shape[1]))
    top, blocks = found.top_keys.shape[-1], found.masses.shape[-1]
    rows, weights = np.empty(shape + (len(codes),)), np.empty(shape + (top,))
    keys, masses = np.empty(shape + (top,), np.int64), np.empty(shape + (blocks,), np.float32)
    part.run(
        (
            codes,
            rows,
            *((weights, keys) if top else (None, None)),
            None,
            *((masses, np.ascontiguousarray(classes)) if blocks else (None, None)),
            None,
        )
    )
    keys = np.where(keys >= 0, keys + first_key, -1)
    for all_rows, some in (
        (found.rows, rows),
        (found.top_weights, weights),
        (found.masses, masses),
        (found.top_keys, keys),
    ):
        if part.offsets is not None:  # ranges of one batch
            some = some.transpose(1, 0, 2, 3).reshape(1, shape[1], -1, some.shape[3])
        all_rows[bs, :, start : start + some.shape[2]] = some


def measure(call: bridge.Call, step: int, real: np.ndarray | None, cross: bool, rows: int | None) -> Record:
    """Runs the call; `real` is (b, l), False for queries of padding."""
    l, nk = call.query.shape[2], call.key.shape[2]
    block = -(-max(l, nk) // MAP_BLOCKS) if l > 1 else 0
    found = run(call, CODES + (NAMES.index("lse"),), TOP, block, rows, cross)
    lse = np.ascontiguousarray(found.rows[..., -1])
    with np.errstate(over="ignore"):
        kept = found.rows[..., :-1].astype(np.float32)
    if cross:
        kept[..., [COLUMNS.index(name) for name in PLACES]] = np.nan
    hidden = kept[..., 0] == 0
    if real is not None and not real.all():
        hidden |= ~real[:, None, found.places]
    kept[hidden], lse[hidden], found.top_keys[hidden], found.top_weights[hidden], found.masses[hidden] = (
        0,
        -np.inf,
        -1,
        0,
        0,
    )
    record = Record(
        step,
        call.mask.offset,
        l,
        found.places,
        kept,
        lse,
        found.top_keys.astype(np.int32),
        found.top_weights.astype(np.float32),
        block=block,
    )
    if block:
        record.pooled = _pool(found.masses, ~hidden, found.places // block, -(-l // block))
    return record


def _pool(masses: np.ndarray, counts: np.ndarray, blocks: np.ndarray, rows: int) -> np.ndarray:
    """Mean weights over the rows of each block of queries that count."""
    starts = np.flatnonzero(np.diff(blocks, prepend=-1))
    pooled = np.zeros((*masses.shape[:2], rows, masses.shape[3]), np.float32)
    total = np.add.reduceat(counts, starts, 2, dtype=np.int64)[..., None]
    pooled[:, :, blocks[starts]] = np.add.reduceat(masses, starts, 2) / np.maximum(total, 1)
    return pooled


def inspect(
    call: bridge.Call,
    lse: np.ndarray,
    *,
    column_mass: np.ndarray | None = None,
    zoom: np.ndarray | None = None,
    query: int = 0,
    key: int = 0,
    probes: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> None:
    """The inspection pass over a call; lse is (b, h, l)."""
    if call.query.is_cuda:
        _device.inspect(
            None,
            call.query,
            call.key,
            lse[..., None],
            0,
            call.rule(),
            column_mass,
            None,
            None,
            0,
            None,
            0,
            zoom,
            query,
            key,
            probes,
            weights,
        )
        return
    _core.inspect(
        default_context(),
        describe(call.query),
        describe(call.key),
        lse[..., None],
        0,
        call.rule(),
        column_mass,
        None,
        None,
        0,
        None,
        0,
        zoom,
        query,
        key,
        probes,
        weights,
    )


def some_rows(call: bridge.Call, rows: slice) -> bridge.Call:
    """Some queries and all keys; chunks become a mask of these queries."""
    part = call.cut(slice(0, call.query.shape[0]), rows, slice(0, call.key.shape[2]))
    if not call.mask.chunk:
        return part
    mask = replace(part.mask, chunk=call.mask.chunk, starts=call.mask.starts)
    return replace(
        part, mask=bridge.Mask(mask.q_length, mask.kv_length, dense=mask.to_dense(call.query.device))
    )


def zoom(call: bridge.Call, query: int, key: int, rows: int, columns: int) -> np.ndarray:
    """The weights of a rectangle, (b, h, rows, columns)."""
    l, nk = call.query.shape[2], call.key.shape[2]
    if not (0 <= query < query + rows <= l and 0 <= key < key + columns <= nk):
        raise ValueError(f"zoom = {(query, key, rows, columns)} must lie within {l} queries and {nk} keys")
    part = some_rows(call, slice(query, query + rows))
    lse = np.empty((*part.query.shape[:3], 1))
    part.run(((NAMES.index("lse"),), lse, None, None, None, None, None, None))
    out = np.empty((*part.query.shape[:2], rows, columns), wide(call))
    inspect(part, lse[..., 0], zoom=out, query=0, key=key)
    return out


def own_copy(call: bridge.Call) -> bridge.Call:
    """The call with tensors of its own."""
    return replace(
        call,
        query=call.query.clone(),
        key=call.key.clone(),
        value=call.value.clone(),
        out=torch.empty_like(call.out),
        bias=None if call.bias is None else call.bias.clone(),
        weights=None,
    )
