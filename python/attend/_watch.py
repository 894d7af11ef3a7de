# SPDX-License-Identifier: MIT
"""Statistics of every head of a model while it runs, in memory that grows with its length."""

from __future__ import annotations

import types
from dataclasses import dataclass, field, replace
from typing import Any, Iterable, Iterator

import numpy as np
import torch

from . import _core
from . import transformers as bridge
from ._engine import default_context
from ._stats import NAMES, Head

#: Row statistics that are kept.
COLUMNS = (
    "keys", "max", "lse", "top_weight", "entropy", "n_eff", "raw_variance", "margin", "sink1", "self", "previous",
    "distance", "log_distance",
)
CODES = tuple(NAMES.index(name) for name in COLUMNS)
TOP = 4
#: Blocks of a pooled map along either side, at most, and queries of a block that are read.
MAP_BLOCKS = 64
MAP_ROWS = 16
#: Probes of one call: bounds the memory of detect().
PROBES = 1 << 16


@dataclass
class Layer:
    """One attention module of the model, and what its calls left."""

    name: str
    index: int
    kind: str  # "self" or "cross"
    heads: int = 0
    calls: list["Record"] = field(default_factory=list)


@dataclass
class Record:
    """One call of one layer."""

    step: int  # of the model's forward passes
    first: int  # position of the first query
    keys: int
    rows: np.ndarray  # (b, h, l, len(COLUMNS))
    top_keys: np.ndarray  # (b, h, l, TOP)
    top_weights: np.ndarray
    pooled: np.ndarray | None = None  # (b, h, blocks, blocks): mean weight of a row
    block: int = 0
    detected: np.ndarray | None = None  # (b, h, 3): sums of previous, duplicate, induction
    kept: bridge.Call | None = None

    def column(self, name: str) -> np.ndarray:
        return self.rows[..., COLUMNS.index(name)]


class Watch:
    """Collects what every head does, layer by layer: ``with attend.watch(model) as w: model(**inputs)``.

    Afterwards: ``table()``, ``heads()``, ``plot()``, ``detect()``, ``map()``, ``phases()``,
    ``noise()`` and ``save()``.
    """

    def __init__(self, model: Any, tokenizer: Any = None, keep: str | Iterable[int] | None = None) -> None:
        if not hasattr(model, "set_attn_implementation"):
            raise TypeError(f"{type(model).__name__} is no model of transformers")
        self.model = model
        self.tokenizer = tokenizer
        self.layers: list[Layer] = []
        self.tokens: list[np.ndarray] = []  # (b, l) of each forward pass that had input_ids
        self._keep = keep
        self._by_module: dict[int, Layer] = {}
        self._hooks: list[Any] = []
        self._seen: set[int] = set()
        self._step = -1
        self._ids: np.ndarray | None = None
        self._before: str | None = None
        if keep is not None and keep != "qkv" and isinstance(keep, str):
            raise ValueError(f"keep = {keep!r} must be None, 'qkv' or indices of layers")

    # ---- while the model runs ----------------------------------------------------------

    def __enter__(self) -> "Watch":
        if bridge.observer is not None:
            raise RuntimeError("a model is being watched already")
        bridge.register()
        self._before = self.model.config._attn_implementation
        self.model.set_attn_implementation(bridge.NAME)
        if self.model.config._attn_implementation != bridge.NAME:
            raise TypeError(f"{type(self.model).__name__} does not use the attention interface of transformers")
        self._name_layers()
        self._hooks.append(self.model.register_forward_pre_hook(self._begin, with_kwargs=True))
        self._hooks.append(self.model.register_forward_hook(self._end))
        bridge.observer = self._observe
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None) -> None:
        bridge.observer = None
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        if self._before is not None:
            self.model.set_attn_implementation(self._before)
        self.layers = [layer for layer in self.layers if layer.calls]
        for index, layer in enumerate(self.layers):
            layer.index = index
        if error is None and not self.layers:
            raise RuntimeError("nothing was watched: the model was not called")

    def _name_layers(self) -> None:
        """Modules that look like attention, so that one that bypasses us is noticed."""
        self._attention = {
            id(module): name
            for name, module in self.model.named_modules()
            if "attention" in type(module).__name__.lower()
            and not any("attention" in type(child).__name__.lower() for child in list(module.modules())[1:])
        }
        self._names = {id(module): name for name, module in self.model.named_modules()}
        for name, module in self.model.named_modules():
            if id(module) in self._attention:
                self._hooks.append(module.register_forward_hook(self._ran))
        self._ran_modules: set[int] = set()

    def _begin(self, model: Any, args: Any, kwargs: Any) -> None:
        self._step += 1
        self._seen.clear()
        self._ran_modules.clear()
        ids = kwargs.get("input_ids", args[0] if args else None)
        if isinstance(ids, torch.Tensor) and ids.dim() == 2 and not ids.is_floating_point():
            self.tokens.append(ids.detach().cpu().numpy())
        self._ids = np.concatenate(self.tokens, 1) if self.tokens and len({t.shape[0] for t in self.tokens}) == 1 else None

    def _ran(self, module: Any, args: Any, out: Any) -> None:
        self._ran_modules.add(id(module))

    def _end(self, model: Any, args: Any, out: Any) -> None:
        missed = sorted(self._attention[x] for x in self._ran_modules - self._seen)
        if missed:
            raise RuntimeError(f"not watched, since they bypass transformers' attention interface: {', '.join(missed[:4])}{' ...' if len(missed) > 4 else ''}")

    def _layer_of(self, module: Any) -> Layer:
        layer = self._by_module.get(id(module))
        if layer is None:
            name = self._names.get(id(module), type(module).__name__)
            low = name.lower()
            cross = bool(getattr(module, "is_cross_attention", False)) or "cross" in low or "encoder_attn" in low or "encdec" in low
            layer = Layer(name, len(self.layers), "cross" if cross else "self")
            self.layers.append(layer)
            self._by_module[id(module)] = layer
        return layer

    def _keeps(self, layer: Layer) -> bool:
        return self._keep == "qkv" or (self._keep is not None and not isinstance(self._keep, str) and layer.index in self._keep)

    def _observe(self, module: Any, call: bridge.Call) -> None:
        layer = self._layer_of(module)
        self._seen.add(id(module))
        layer.heads = call.query.shape[1]
        record = _measure(call, self._step)
        if call.query.shape[2] > 1:
            record.pooled, record.block = _pool(call, record)
        if self.tokenizer is not None and layer.kind == "self" and self._ids is not None:
            record.detected = _detect(call, record, self._ids)
        if self._keeps(layer):
            record.kept = _copy(call)
        layer.calls.append(record)

    # ---- afterwards ---------------------------------------------------------------------

    def heads(self, noise: float = 0.1) -> list[dict[str, Any]]:
        """Character, reason and means of every head of every layer."""
        found = []
        for layer in self.layers:
            rows, top = _all_rows(layer)
            for h in range(layer.heads):
                head = _character(rows[:, h : h + 1], top[:, h : h + 1], noise)
                found.append({"layer": layer.index, "name": layer.name, "kind": layer.kind, **{**head.__dict__, "head": h}})
                found[-1].pop("batch")
        return found

    def lines(self) -> list[dict[str, Any]]:
        """Means of every statistic, one dict for each layer and head."""
        lines = []
        for layer in self.layers:
            rows, _ = _all_rows(layer)
            valid = rows[..., COLUMNS.index("keys")] > 0
            for h in range(layer.heads):
                line: dict[str, Any] = {"layer": layer.index, "name": layer.name, "kind": layer.kind, "head": h}
                for x, name in enumerate(COLUMNS):
                    values = rows[:, h, :, x][valid[:, h]]
                    values = values[np.isfinite(values)]
                    line[name] = float(values.mean()) if values.size else float("nan")
                lines.append(line)
        return lines

    def table(self) -> Any:
        """``lines()`` as a pandas table, or as they are where pandas is not installed."""
        try:
            import pandas as pd
        except ImportError:
            return self.lines()
        return pd.DataFrame(self.lines())

    def detect(self) -> list[dict[str, Any]]:
        """Previous-token, duplicate-token and induction scores of every self-attention head.

        A score is the share of a head's attention that lies on the pattern, as
        TransformerLens has it: on the token before; on earlier copies of the token; on the
        tokens that followed earlier copies.  Needs ``tokenizer=`` when the watch begins.
        """
        if self.tokenizer is None:
            raise ValueError("detect() needs attend.watch(model, tokenizer=...)")
        found = []
        for layer in self.layers:
            records = [record for record in layer.calls if record.detected is not None]
            if layer.kind != "self" or not records:
                continue
            sums = np.sum([record.detected.sum(0) for record in records], 0)  # type: ignore[union-attr]
            rows = sum(int((record.column("keys") > 0).sum(axis=(0, 2)).max()) for record in records)
            for h in range(layer.heads):
                previous, duplicate, induction = (sums[h] / max(rows, 1)).tolist()
                found.append({
                    "layer": layer.index, "head": h, "previous_token": previous, "duplicate_token": duplicate,
                    "induction": induction,
                })
        return found

    def _record(self, layer: int, step: int | None = None) -> Record:
        if not 0 <= layer < len(self.layers):
            raise ValueError(f"layer = {layer} must be in 0 .. {len(self.layers) - 1}")
        records = self.layers[layer].calls
        if step is None:
            return max(records, key=lambda record: record.rows.shape[2])
        for record in records:
            if record.step == step:
                return record
        raise ValueError(f"layer {layer} has no call in forward pass {step}")

    def map(self, layer: int, head: int, batch: int = 0, zoom: tuple[int, int, int, int] | None = None) -> np.ndarray:
        """Weights of a head, averaged over blocks of queries by blocks of keys.

        A row is the mean over (some of) the queries of its block and sums to 1.  zoom:
        (query, key, rows, columns), the weights themselves; needs ``keep="qkv"``.
        """
        record = self._record(layer)
        if not 0 <= head < self.layers[layer].heads:
            raise ValueError(f"head = {head} must be in 0 .. {self.layers[layer].heads - 1}")
        if zoom is None:
            if record.pooled is None:
                raise ValueError(f"layer {layer} saw single queries only: there is no map")
            return record.pooled[batch, head]
        call = _need_kept(record, layer)
        out = np.empty((call.query.shape[0], call.query.shape[1], zoom[2], zoom[3]), _wide(call))
        _inspect(call, _lse(record), zoom=out, query=zoom[0], key=zoom[1])
        return out[batch, head]

    def phases(self) -> list[dict[str, Any]]:
        """Every head beside random scores of the same spread: condensed or spread out.

        S is the mean standard deviation of a row's scores, `freezing` the mean of sqrt(2 ln n)
        over the rows' numbers of keys; `random_entropy` is the mean entropy of as many
        independent normal scores of that spread.
        """
        from . import theory

        found = []
        for layer in self.layers:
            rows, _ = _all_rows(layer)
            for h in range(layer.heads):
                keys = rows[:, h, :, COLUMNS.index("keys")].ravel()
                use = keys >= 2
                if not use.any():
                    continue
                spread = np.sqrt(np.maximum(rows[:, h, :, COLUMNS.index("raw_variance")].ravel()[use], 0))
                entropy = rows[:, h, :, COLUMNS.index("entropy")].ravel()[use]
                S, freezing = float(spread.mean()), float(np.sqrt(2 * np.log(keys[use])).mean())
                sample = np.unique(np.quantile(keys[use], np.linspace(0, 1, 9)).round())
                at = [theory.random_entropy(n, float(spread[np.abs(keys[use] - n) <= max(1, 0.1 * n)].mean())) for n in sample]
                law = float(np.interp(keys[use], sample, at).mean())
                found.append({
                    "layer": layer.index, "head": h, "S": S, "freezing": freezing, "condensed": S > freezing,
                    "entropy": float(entropy.mean()), "random_entropy": law,
                })
        return found

    def noise(self, bits: int = 8, layers: Iterable[int] | None = None) -> list[dict[str, Any]]:
        """Output error of each head when its keys are rounded: predicted and measured.

        bits: 8, absmax per key as int8; 4 alike.  Predicted: sqrt of the mean over rows of the
        key-noise statistic times the variance of the rounding.  Measured: the same from keys
        that were rounded.  Both relative to the output.  Needs ``keep="qkv"``.
        """
        if not 2 <= bits <= 8:
            raise ValueError(f"bits = {bits} must be in 2 .. 8")
        found = []
        for layer in self.layers:
            if layers is not None and layer.index not in layers:
                continue
            call = _need_kept(self._record(layer.index), layer.index)
            for h, (predicted, measured) in enumerate(_key_noise(call, bits)):
                found.append({"layer": layer.index, "head": h, "predicted": predicted, "measured": measured})
        return found

    def plot(self, path: str | None = None) -> Any:
        """Grids of layers by heads: entropy, effective keys, sink, previous token, top weight, distance."""
        from ._watch_plot import plot

        return plot(self, path)

    def save(self, path: str, text: str | None = None) -> None:
        """One self-contained page to explore; `text` is shown as its title."""
        from ._watch_page import write

        write(self, path, text)


# ---- measuring -------------------------------------------------------------------------


def _wide(call: bridge.Call) -> Any:
    return np.float64 if call.query.dtype == torch.float64 else np.float32


def _measure(call: bridge.Call, step: int) -> Record:
    """The call, and the statistics of its rows."""
    b, h, l = call.query.shape[:3]
    rows = np.empty((b, h, l, len(COLUMNS)))
    top_weights = np.empty((b, h, l, TOP))
    top_keys = np.empty((b, h, l, TOP), np.int64)
    if not call.mask.chunk:
        call.run((CODES, rows, top_weights, top_keys, None, None, None, None))
    for bs, qs, ks in call.places() if call.mask.chunk else ():
        shape = (1, h, qs.stop - qs.start)
        part = np.empty(shape + (len(COLUMNS),)), np.empty(shape + (TOP,)), np.empty(shape + (TOP,), np.int64)
        call.cut(bs, qs, ks).run((CODES, *part, None, None, None, None))
        rows[bs, :, qs], top_weights[bs, :, qs] = part[:2]
        top_keys[bs, :, qs] = np.where(part[2] >= 0, part[2] + ks.start, -1)
    return Record(step, call.mask.offset, call.key.shape[2], rows, top_keys, top_weights)


def _inspect(
    call: bridge.Call, lse: np.ndarray, pooled: np.ndarray | None = None, block: int = 0,
    zoom: np.ndarray | None = None, query: int = 0, key: int = 0,
    probes: np.ndarray | None = None, weights: np.ndarray | None = None,
) -> None:
    _core.inspect(
        default_context(), bridge.describe(call.query), bridge.describe(call.key), lse, 0, call.rule(),
        None, None, None, 0, pooled, block, zoom, query, key, probes, weights,
    )


def _lse(record: Record) -> np.ndarray:
    return np.ascontiguousarray(record.column("lse"))[..., None]


def _pool(call: bridge.Call, record: Record) -> tuple[np.ndarray | None, int]:
    """Mean weights of blocks of keys, over the last MAP_ROWS queries of each block."""
    b, h, l = call.query.shape[:3]
    if call.mask.chunk:
        return None, 0
    nk = call.key.shape[2]
    block = -(-max(l, nk) // MAP_BLOCKS)
    lse = _lse(record)
    columns = -(-nk // block)
    pooled = np.zeros((b, h, -(-l // block), columns), np.float32)
    for x in range(pooled.shape[2]):
        end = min((x + 1) * block, l)
        rows = slice(max(x * block, end - MAP_ROWS), end)
        part = np.empty((b, h, 1, columns), _wide(call))
        _inspect(call.cut(slice(0, b), rows, slice(0, nk)), lse[:, :, rows], pooled=part, block=block)
        pooled[:, :, x] = part[:, :, 0] / (end - rows.start)
    return pooled, block


def _patterns(ids: np.ndarray, first: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(which, query, key) of earlier copies (1) and of what followed them (2), by token."""
    order = np.argsort(ids, kind="stable")
    bounds = np.flatnonzero(np.diff(ids[order])) + 1
    for places in np.split(order, bounds):
        if places.size < 2 or places[-1] < first:
            continue
        later, earlier = np.tril_indices(places.size, -1)
        query, copy = places[later], places[earlier]
        use = query >= first
        yield 1, query[use], copy[use]
        yield 2, query[use], copy[use] + 1


def _detect(call: bridge.Call, record: Record, ids: np.ndarray) -> np.ndarray | None:
    """Sums of a head's weights over the three patterns; None where tokens are not its keys."""
    b, h, l = call.query.shape[:3]
    nk = call.key.shape[2]
    if ids.shape != (b, nk) or call.mask.chunk:
        return None
    found = np.zeros((b, h, 3))
    found[:, :, 0] = np.nan_to_num(record.column("previous")).sum(2)
    lse, heads = _lse(record), np.arange(h)
    for x in range(b):
        for which, query, key in _patterns(ids[x], nk - l):
            for at in range(0, len(query), max(1, PROBES // h)):
                i, j = query[at : at + PROBES // h] - (nk - l), key[at : at + PROBES // h]
                probes = np.empty((len(i), h, 4), np.int64)
                probes[..., 0], probes[..., 1] = x, heads
                probes[..., 2], probes[..., 3] = i[:, None], j[:, None]
                weights = np.empty(probes.shape[0] * h)
                _inspect(call, lse, probes=probes.reshape(-1, 4), weights=weights)
                found[x, :, which] += weights.reshape(-1, h).sum(0)
    return found


def _copy(call: bridge.Call) -> bridge.Call:
    """The call with tensors of its own."""
    return replace(
        call, query=call.query.clone(), key=call.key.clone(), value=call.value.clone(), out=call.out.clone(),
        bias=None if call.bias is None else call.bias.clone(), weights=None,
    )


def _need_kept(record: Record, layer: int) -> bridge.Call:
    if record.kept is None:
        raise ValueError(f'layer {layer} was not kept: attend.watch(model, keep="qkv") or keep=[{layer}]')
    return record.kept


def _all_rows(layer: Layer) -> tuple[np.ndarray, np.ndarray]:
    """Rows and top weights of all calls of a layer, one after another."""
    return (
        np.concatenate([record.rows for record in layer.calls], 2),
        np.concatenate([record.top_weights for record in layer.calls], 2),
    )


def _character(rows: np.ndarray, top: np.ndarray, noise: float) -> Head:
    """Of one head, (b, 1, l, ...): its batches are taken as more rows."""
    rows = np.ascontiguousarray(rows.reshape(1, 1, -1, rows.shape[-1]))
    top = np.ascontiguousarray(top.reshape(1, 1, -1, top.shape[-1]))
    character, reason, *means = _core.head(CODES, rows, top, 0, 0, noise)
    return Head(0, 0, character, reason, *means)


def _key_noise(call: bridge.Call, bits: int) -> Iterator[tuple[float, float]]:
    """Predicted and measured error of each head's output, relative to it."""
    steps = call.key.float().abs().amax(-1, keepdim=True) / (2 ** (bits - 1) - 1)
    rounded = torch.where(steps > 0, (call.key.float() / steps).round() * steps, call.key.float()).to(call.key.dtype)
    variance = (steps.double() ** 2 / 12).mean(dim=(2, 3))  # (b, hkv)
    stat = np.empty(tuple(call.query.shape[:3]) + (1,))
    exact, noisy = (replace(call, out=torch.empty(call.out.shape, dtype=torch.float32 if call.query.dtype != torch.float64 else torch.float64)) for _ in range(2))
    exact.run(((NAMES.index("key_noise"),), stat, None, None, None, None, None, None))
    replace(noisy, key=rounded).run()
    group = call.query.shape[1] // call.key.shape[1]
    for h in range(call.query.shape[1]):
        size = float((exact.out[:, h].double() ** 2).sum(-1).mean()) or 1.0
        error = float(((noisy.out[:, h] - exact.out[:, h]).double() ** 2).sum(-1).mean())
        predicted = float((np.nan_to_num(stat[:, h, :, 0]).mean(1) * variance[:, h // group].numpy()).mean())
        yield (predicted / size) ** 0.5, (error / size) ** 0.5
