# SPDX-License-Identifier: MIT
"""Weights on earlier copies of a token and on the tokens after them, summed for every head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

import numpy as np
import torch

from . import transformers as bridge
from ._watch_measure import Record, inspect, wide
from ._watch_tokens import Tokens

#: Probes of one call: bounds the memory.
PROBES = 1 << 16
#: Of a group of tokens that repeat about equally often: the rarest against the most frequent.
LIKE = 0.5


@dataclass(frozen=True)
class Group:
    """Tokens of one batch that repeat about equally often."""

    keys: np.ndarray  # (tokens, most): places of each, in order; filled up with the last
    rows: np.ndarray  # (tokens, queries): rows of the record that are queries; filled up with the last
    filled: np.ndarray  # (tokens, queries), bool: no row
    seen: torch.Tensor | None  # (tokens, 1, queries, most): earlier copies; None: the causal rule selects them


def _places(ids: np.ndarray, real: np.ndarray) -> list[np.ndarray]:
    """Positions of each repeated token, the most frequent first."""
    order = np.argsort(ids, kind="stable")
    order = order[real[order]]
    every = np.split(order, np.flatnonzero(np.diff(ids[order])) + 1)
    return sorted((places for places in every if places.size > 1), key=len, reverse=True)


def _even(lists: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Lists of different lengths as one padded array, and a mask of the padding."""
    lengths = np.array([len(one) for one in lists])
    most = int(lengths.max())
    return (
        np.stack([np.pad(one, (0, most - len(one)), mode="edge") for one in lists]),
        np.arange(most) >= lengths[:, None],
    )


def _groups(every: list[np.ndarray], measured: np.ndarray, whole: bool) -> Iterator[Group]:
    """measured: places of the record's rows; whole: these are all places."""
    if not whole:
        every = [places for places in every if np.isin(places[1:], measured).any()]
    start = 0
    while start < len(every):
        end = start + 1
        while end < len(every) and len(every[end]) >= LIKE * len(every[start]):
            end += 1
        keys, _ = _even(every[start:end])
        queries, filled = _even([places[np.isin(places, measured)] for places in every[start:end]])
        seen = None if whole else torch.from_numpy(keys[:, None, None, :] < queries[:, None, :, None])
        yield Group(keys, np.searchsorted(measured, queries), filled, seen)
        start = end


def _pairs(every: list[np.ndarray], measured: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(row of the record, earlier copy) of all its queries."""
    rows, copies = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for places in every:
        for x in np.flatnonzero(np.isin(places, measured)):
            rows.append(np.full(x, np.searchsorted(measured, places[x])))
            copies.append(places[:x])
    return np.concatenate(rows), np.concatenate(copies)


def _needs_probes(call: bridge.Call) -> bool:
    """Whether a pair's weight depends on more than its scores and whether it is causal."""
    m = call.mask
    windowed = m.left >= 0 and m.left + 1 < call.key.shape[2] or m.right >= 0
    return bool(call.bias is not None or m.dense is not None or m.chunk or windowed)


def detect(call: bridge.Call, record: Record, tokens: Tokens, real: np.ndarray | None) -> np.ndarray:
    """(b, h, 3): sums over rows of the weights on the token before, copies, and the tokens after copies.

    Weights that depend on scores alone are summed by the engine over gathered tokens;
    others are probed one by one.
    """
    b, h, l = call.query.shape[:3]
    found = np.zeros((b, h, 3))
    previous = np.where(np.isnan(record.lse), np.nan, np.nan_to_num(record.column("previous")))
    found[:, :, 0] = previous.sum(2, dtype=np.float64)
    start = record.first - record.key_first
    probed = start > 0 or _needs_probes(call)
    for x in range(b):
        key = x, record.key_first, probed
        if key not in tokens.pairs:
            ids = tokens.ids[x, record.key_first : record.first + l]
            seen = np.ones(len(ids), bool)
            if real is not None:
                seen[start:] = real[x]
            every, measured = _places(ids, seen), start + record.places
            tokens.pairs[key] = (
                _pairs(every, measured) if probed else list(_groups(every, measured, len(measured) == l))
            )
        pairs = tokens.pairs[key]
        found[x, :, 1:] = (
            _probe(call, record, x, *pairs)
            if probed
            else _sum_groups(call, record.lse, record.places, x, pairs)
        )
    return found


def _sum_groups(
    call: bridge.Call, lse: np.ndarray, places: np.ndarray, x: int, groups: list[Group]
) -> np.ndarray:
    """(h, 2): every token of a group is a batch of the engine; its copies are causal to each other."""
    h = lse.shape[1]
    found = np.zeros((h, 2))
    for group in groups:
        (tokens, most), queries = group.keys.shape, group.rows.shape[1]
        query = _gather(call.query[x], torch.from_numpy(places[group.rows]))
        rows = np.where(group.filled, -np.inf, lse[x][:, group.rows])  # (h, tokens, queries)
        rows = np.ascontiguousarray(rows.transpose(1, 0, 2))
        mask = bridge.Mask(queries, most, offset=-1, causal=group.seen is None, dense=group.seen)
        at = torch.from_numpy(group.keys)
        for which in (0, 1):
            key = _gather(call.key[x], torch.clamp(at + which, max=call.key.shape[2] - 1))
            part = bridge.Call(query, key, key, query, call.scale, call.softcap, mask, None, None)
            mass = np.empty((tokens, h, 1, most), wide(call))
            inspect(part, rows, column_mass=mass)
            found[:, which] += mass.sum((0, 2, 3), dtype=np.float64)
    return found


def _gather(heads: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    """(tokens, h, places, d) of (h, l, d), whose memory may have either order."""
    if heads.stride(0) < heads.stride(1):
        return (
            heads.transpose(0, 1)
            .index_select(0, at.reshape(-1))
            .reshape(*at.shape, *heads.shape[::2])
            .transpose(1, 2)
        )
    return (
        heads.index_select(1, at.reshape(-1))
        .reshape(heads.shape[0], *at.shape, heads.shape[2])
        .transpose(0, 1)
    )


def _probe(call: bridge.Call, record: Record, x: int, rows: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """(h, 2): one probe for each pair and head, PROBES at a time."""
    h = record.lse.shape[1]
    lse = np.full((record.lse.shape[0], h, record.queries), -np.inf)
    lse[:, :, record.places] = record.lse
    found = np.zeros((h, 2))
    step = max(1, PROBES // h)
    for at in range(0, len(rows), step):
        for which in (0, 1):
            i, j = record.places[rows[at : at + step]], copies[at : at + step] + which
            inside = _same_chunk(call, x, i, j)
            i, j = i[inside], j[inside]
            probes = np.empty((len(i), h, 4), np.int64)
            probes[..., 0], probes[..., 1] = x, np.arange(h)
            probes[..., 2], probes[..., 3] = i[:, None], j[:, None]
            weights = np.empty(len(i) * h)
            inspect(call, lse, probes=probes.reshape(-1, 4), weights=weights)
            found[:, which] += weights.reshape(-1, h).sum(0)
    return found


def _same_chunk(call: bridge.Call, x: int, query: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Pairs within the same chunk, which the rule of a call does not describe."""
    m = call.mask
    if not m.chunk:
        return np.ones(len(query), bool)
    same: np.ndarray = (query + m.offset - m.starts[x]) // m.chunk == (key - m.starts[x]) // m.chunk
    return same
