# SPDX-License-Identifier: MIT
"""Weights on earlier copies of a token and on what followed them, summed for every head."""

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
LIKE = 0.7


@dataclass(frozen=True)
class Group:
    """Tokens of one batch that repeat about equally often."""

    places: np.ndarray  # (tokens, most), in order; filled up with the last
    filled: np.ndarray  # (tokens, most), bool: not a place


def _places(ids: np.ndarray, real: np.ndarray) -> list[np.ndarray]:
    """Where each token that repeats stands, the most frequent first."""
    order = np.argsort(ids, kind="stable")
    order = order[real[order]]
    every = np.split(order, np.flatnonzero(np.diff(ids[order])) + 1)
    return sorted((places for places in every if places.size > 1), key=len, reverse=True)


def _group(every: list[np.ndarray]) -> Iterator[Group]:
    start = 0
    while start < len(every):
        most = len(every[start])
        end = start + 1
        while end < len(every) and len(every[end]) >= LIKE * most:
            end += 1
        places = np.stack([np.pad(one, (0, most - len(one)), mode="edge") for one in every[start:end]])
        lengths = np.array([len(one) for one in every[start:end]])
        yield Group(places, np.arange(most) >= lengths[:, None])
        start = end


def _pairs(every: list[np.ndarray], first: int) -> tuple[np.ndarray, np.ndarray]:
    """(query, earlier copy) of all queries from `first` on."""
    found = [(places[a], places[b]) for places in every for a, b in (np.tril_indices(len(places), -1),) if places[-1] >= first]
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    query, copy = (np.concatenate(part) for part in zip(*found))
    return query[query >= first], copy[query >= first]


def _needs_probes(call: bridge.Call) -> bool:
    """Whether a pair's weight depends on more than its scores and whether it is causal."""
    m = call.mask
    windowed = m.left >= 0 and m.left + 1 < call.key.shape[2] or m.right >= 0
    return bool(call.bias is not None or m.dense is not None or m.chunk or windowed)


def detect(call: bridge.Call, record: Record, tokens: Tokens, first: int, key_first: int, real: np.ndarray | None) -> np.ndarray:
    """(b, h, 3): sums over rows of the weights on the token before, copies, and what followed.

    first, key_first: positions of the first query and of key 0.  Weights that need only
    scores are summed by the engine over gathered tokens, n^2 / (tokens of the language)
    of them; others are probed one by one.
    """
    b, h, l = call.query.shape[:3]
    found = np.zeros((b, h, 3))
    found[:, :, 0] = np.nan_to_num(record.column("previous")).sum(2, dtype=np.float64)
    start = first - key_first
    probed = start > 0 or _needs_probes(call)
    for x in range(b):
        if (x, key_first, probed) not in tokens.pairs:
            ids = tokens.ids[x, key_first : first + l]
            seen = np.ones(len(ids), bool)
            if real is not None:
                seen[start:] = real[x]
            every = _places(ids, seen)
            tokens.pairs[x, key_first, probed] = _pairs(every, start) if probed else list(_group(every))
        pairs = tokens.pairs[x, key_first, probed]
        found[x, :, 1:] = _probe(call, record.lse, x, start, *pairs) if probed else _sum_groups(call, record.lse, x, pairs)
    return found


def _sum_groups(call: bridge.Call, lse: np.ndarray, x: int, groups: list[Group]) -> np.ndarray:
    """(h, 2): every token of a group is a batch of the engine; its copies are causal to each other."""
    found = np.zeros((lse.shape[1], 2))
    for group in groups:
        tokens, most = group.places.shape
        at = torch.from_numpy(group.places.reshape(-1))
        query = call.query[x].index_select(1, at).reshape(-1, tokens, most, call.query.shape[3]).transpose(0, 1)
        rows = np.where(group.filled, -np.inf, lse[x][:, group.places])  # (h, tokens, most)
        rows = np.ascontiguousarray(rows.transpose(1, 0, 2))
        for which in (0, 1):
            keys = torch.clamp(at + which, max=call.key.shape[2] - 1)
            key = call.key[x].index_select(1, keys).reshape(-1, tokens, most, call.query.shape[3]).transpose(0, 1)
            mask = bridge.Mask(most, most, offset=-1, causal=True)
            part = bridge.Call(query, key, key, query, call.scale, call.softcap, mask, None, None)
            mass = np.empty((tokens, lse.shape[1], 1, most), wide(call))
            inspect(part, rows, column_mass=mass)
            found[:, which] += mass.sum((0, 2, 3), dtype=np.float64)
    return found


def _probe(call: bridge.Call, lse: np.ndarray, x: int, first: int, query: np.ndarray, copy: np.ndarray) -> np.ndarray:
    """(h, 2): one probe for each pair and head, PROBES at a time."""
    h = lse.shape[1]
    found = np.zeros((h, 2))
    step = max(1, PROBES // h)
    for at in range(0, len(query), step):
        for which in (0, 1):
            i, j = query[at : at + step] - first, copy[at : at + step] + which
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
    """Which pairs a chunk holds: the rule of a call does not say."""
    m = call.mask
    if not m.chunk:
        return np.ones(len(query), bool)
    same: np.ndarray = (query + m.offset - m.starts[x]) // m.chunk == (key - m.starts[x]) // m.chunk
    return same
