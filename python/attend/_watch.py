# SPDX-License-Identifier: MIT
"""Statistics of every head of a model while it runs, in memory that grows with its length."""

from __future__ import annotations

import operator
import threading
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Callable, Iterable, NoReturn

import numpy as np
import torch

from . import _core
from ._engine import device_context
from . import transformers as bridge
from ._stats import Head
from ._watch_detect import detect
from ._watch_measure import CODES, COLUMNS, Record, measure, own_copy, zoom as zoom_into
from ._watch_tokens import Stack, Tokens

#: Groups of rows, by their number of keys, at which the law for random scores is evaluated.
LAW_GROUPS = 8


@dataclass
class Layer:
    """One attention module of the model, and the records of its calls."""

    name: str
    index: int
    kind: str  # "self" or "cross"
    heads: int = 0
    label: str = ""  # "3", "encoder 3", "decoder 3 cross"
    calls: list[Record] = field(default_factory=list)

    def rows(self, name: str, head: int) -> np.ndarray:
        """A statistic of a head, over all its rows that have keys."""
        return np.concatenate(
            [record.column(name)[:, head][record.counts()[:, head]] for record in self.calls]
        )


# ---- who is watched ---------------------------------------------------------------------

_lock = threading.Lock()
_active: list["Watch"] = []
_torch_sdpa = torch.nn.functional.scaled_dot_product_attention


def _observe(module: Any, call: bridge.Call) -> None:
    """Every attention call on the engine while a watch is open."""
    for watch in _active:
        if id(module) in watch._names:
            watch._observe(module, call)
            return
    call.run_all()


def _spied_sdpa(*args: Any, **kwargs: Any) -> torch.Tensor:
    """torch's function, in whose use a watched model bypasses the interface."""
    for watch in _active:
        if watch._depth:
            watch._miss("a call of torch's scaled_dot_product_attention")
    return _torch_sdpa(*args, **kwargs)


def _open(watch: "Watch") -> None:
    global _torch_sdpa
    with _lock:
        if any(other.model is watch.model for other in _active):
            raise RuntimeError(f"this {type(watch.model).__name__} is being watched already")
        if not _active:
            if torch.nn.functional.scaled_dot_product_attention is not _spied_sdpa:
                _torch_sdpa = torch.nn.functional.scaled_dot_product_attention
            torch.nn.functional.scaled_dot_product_attention = _spied_sdpa
            bridge.observer = _observe
        _active.append(watch)


def _close(watch: "Watch") -> None:
    with _lock:
        _active.remove(watch)
        if not _active:
            bridge.observer = None
            # A block of attend.torch.use() that began or ended meanwhile takes precedence.
            if torch.nn.functional.scaled_dot_product_attention is _spied_sdpa:
                torch.nn.functional.scaled_dot_product_attention = _torch_sdpa


def _configs(model: Any) -> list[Any]:
    """The configurations of a model and its parts: each names an implementation."""
    found: dict[int, Any] = {}
    wanted = [module.config for module in model.modules() if hasattr(module, "set_attn_implementation")]
    while wanted:
        config = wanted.pop()
        if config is not None and id(config) not in found:
            found[id(config)] = config
            wanted += [getattr(config, name, None) for name in config.sub_configs]
    return list(found.values())


def _is_attention(module: Any) -> bool:
    """Whether a module looks like attention and none of its submodules does."""
    looks = ["attention" in type(part).__name__.lower() for part in module.modules()]
    return looks[0] and not any(looks[1:])


def _integer(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {value!r} must be an integer") from None


def _checked_keep(keep: Any) -> str | frozenset[int] | None:
    """None, "qkv" or indices; how many layers there are is known when the model has run."""
    if keep is None or isinstance(keep, str) and keep == "qkv":
        return keep
    wrong = f"keep = {keep!r} must be None, 'qkv' or indices of layers"
    if isinstance(keep, str):
        raise ValueError(wrong)
    try:
        found = frozenset(operator.index(layer) for layer in keep)
    except TypeError:
        raise TypeError(wrong) from None
    if min(found, default=0) < 0:
        raise ValueError(wrong)
    return found


def _checked_zoom(zoom: Any) -> tuple[int, int, int, int]:
    wrong = f"zoom = {zoom!r} must be (query, key, rows, columns)"
    try:
        found = tuple(operator.index(x) for x in zoom)
    except TypeError:
        raise TypeError(wrong) from None
    if len(found) != 4:
        raise ValueError(wrong)
    return found


def _computes_on(device: torch.device) -> bool:
    """Whether the engine runs there."""
    return device.type == "cpu" or (
        device.type == "cuda" and device_context(f"cuda:{device.index}") is not None
    )


class Watch:
    """Collects statistics of every head, layer by layer: ``with attend.watch(model) as w: model(**inputs)``.

    Afterwards: ``heads()``, ``table()``, ``rows()``, ``plot()``, ``detect()``, ``map()``,
    ``phases()``, ``noise()`` and ``save()``.  Gradients are off inside the block.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any = None,
        keep: str | Iterable[int] | None = None,
        partial: bool = False,
        rows: int | None = 1024,
    ) -> None:
        if not hasattr(model, "set_attn_implementation"):
            raise TypeError(f"{type(model).__name__} is not a model of transformers")
        if rows is not None and _integer("rows", rows) < 1:
            raise ValueError(f"rows = {rows} must be positive")
        self.model = model
        self.tokenizer = tokenizer
        self.partial = partial
        self._rows = rows
        self.layers: list[Layer] = []
        self.missed: list[str] = []  # modules that bypassed the interface, where partial allows it
        self.expected = 0  # attention modules of the model
        self.on_call: Callable[[Layer], None] | None = None  # called after each attention call
        self._keep = _checked_keep(keep)
        self._by_module: dict[tuple[int, int], Layer] = {}
        self._turns: dict[int, int] = {}  # calls of a module in this forward pass
        self._names: dict[int, str] = {}
        self._stacks: dict[str, Stack] = {}
        self._hooks: list[Any] = []
        self._before: list[tuple[Any, Any]] = []
        self._observed = 0
        self._depth = 0
        self._step = -1
        self._no_grad = torch.no_grad()

    # ---- while the model runs ----------------------------------------------------------

    def __enter__(self) -> "Watch":
        device = next((p.device for p in self.model.parameters() if not _computes_on(p.device)), None)
        if device is not None:
            raise ValueError(f"{type(self.model).__name__} is on {device}, which attend has no kernels for")
        _open(self)
        try:
            self._prepare()
        except BaseException:
            self._restore()
            raise
        self._no_grad.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._no_grad.__exit__(kind, error, trace)
        self._restore()
        self._label_layers()
        if error is None and not self.layers and self.missed:
            raise RuntimeError(
                f"nothing was watched: {', '.join(self.missed)} bypasses the attention interface of transformers"
            )
        if error is None and not self.layers:
            raise RuntimeError("nothing was watched: the model was not called")
        last = max(self._keep, default=0) if isinstance(self._keep, frozenset) else 0
        if error is None and last >= len(self.layers):
            raise ValueError(f"keep = {sorted(self._keep or ())}: the layers are 0 .. {len(self.layers) - 1}")

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a watch holds its model: it is not pickled or copied; heads(), lines() and rows() return what can be"
        )

    def _prepare(self) -> None:
        """Puts the model on the engine and hooks into it."""
        bridge.register()
        self._before = [(config, config._attn_implementation) for config in _configs(self.model)]
        self.model.set_attn_implementation(bridge.NAME)
        if self.model.config._attn_implementation != bridge.NAME:
            raise TypeError(
                f"{type(self.model).__name__} does not use the attention interface of transformers"
            )
        for name, module in self.model.named_modules():
            self._names[id(module)] = name
            if hasattr(module, "set_attn_implementation"):
                self._hook_stack(name, module)
            elif _is_attention(module):
                self._hook_attention(name, module)
                self.expected += 1

    def _restore(self) -> None:
        _close(self)
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        for config, implementation in self._before:
            config._attn_implementation_internal = implementation

    def _hook_stack(self, name: str, module: Any) -> None:
        """A model or a part of it that takes tokens; a forward pass begins at the outermost."""
        stack = self._stacks[name] = Stack(name)
        observed = 0

        def begin(module: Any, args: Any, kwargs: Any) -> None:
            nonlocal observed
            if not self._depth:
                self._step += 1
                self._turns.clear()
                observed = self._observed
            self._depth += 1
            stack.begin(args, kwargs)

        def leave(module: Any, args: Any, out: Any) -> None:
            self._depth -= 1

        def check(module: Any, args: Any, out: Any) -> None:
            if not self._depth and observed == self._observed and any(True for _ in module.parameters()):
                self._miss(f"all of {type(module).__name__}")

        self._hooks.append(module.register_forward_pre_hook(begin, with_kwargs=True))
        self._hooks.append(module.register_forward_hook(leave, always_call=True))
        self._hooks.append(module.register_forward_hook(check))

    def _hook_attention(self, name: str, module: Any) -> None:
        """An attention module must make a call that is observed."""
        observed = 0

        def begin(module: Any, args: Any) -> None:
            nonlocal observed
            observed = self._observed

        def check(module: Any, args: Any, out: Any) -> None:
            if observed == self._observed:
                self._miss(f"{name} ({type(module).__name__})")

        self._hooks.append(module.register_forward_pre_hook(begin))
        self._hooks.append(module.register_forward_hook(check))

    def _miss(self, what: str) -> None:
        if not self.partial:
            raise RuntimeError(
                f"{what} bypasses the attention interface of transformers and cannot be watched;"
                " attend.watch(..., partial=True) watches the rest"
            )
        if what not in self.missed:
            self.missed.append(what)

    def _layer_of(self, module: Any) -> Layer:
        """The layer of a module; one that is called several times in a pass is several layers."""
        turn = self._turns.get(id(module), 0)
        self._turns[id(module)] = turn + 1
        layer = self._by_module.get((id(module), turn))
        if layer is None:
            name = self._names[id(module)] + (f"#{turn}" if turn else "")
            low = name.lower()
            cross = getattr(module, "is_cross_attention", False) or any(
                word in low for word in ("cross", "encoder_attn", "encdec")
            )
            layer = Layer(name, len(self.layers), "cross" if cross else "self")
            self.layers.append(layer)
            self._by_module[id(module), turn] = layer
        return layer

    def _stack_of(self, module: Any) -> Stack:
        """The part of the model whose tokens a module reads."""
        name = self._names[id(module)]
        while True:
            name = name.rpartition(".")[0]
            stack = self._stacks.get(name)
            if stack is not None and not (stack.embedded and stack.tokens is None and name):
                return stack

    def _key_tokens(self, stack: Stack, keys: int) -> Tokens | None:
        """The keys' tokens of a cross-attention layer: those of another part."""
        for other in self._stacks.values():
            if (
                other is not stack
                and other.tokens is not None
                and other.tokens.ids.shape[1] == keys
                and other.tokens is not stack.tokens
            ):
                return other.tokens
        return None

    def _keeps(self, layer: Layer) -> bool:
        return self._keep == "qkv" or (isinstance(self._keep, frozenset) and layer.index in self._keep)

    def _observe(self, module: Any, call: bridge.Call) -> None:
        self._observed += 1
        layer = self._layer_of(module)
        stack = self._stack_of(module)
        b, layer.heads, l = call.query.shape[:3]
        real = stack.real if stack.real is not None and stack.real.shape == (b, l) else None
        record = measure(call, self._step, real, layer.kind == "cross", self._rows)
        if l > 1 and self._keeps(layer):
            record.kept = own_copy(call)
        if stack.queries == l and stack.tokens is not None and stack.tokens.ids.shape[0] == b:
            self._add_tokens(record, layer, call, stack, real)
        layer.calls.append(record)
        if self.on_call is not None:
            self.on_call(layer)

    def _add_tokens(
        self, record: Record, layer: Layer, call: bridge.Call, stack: Stack, real: np.ndarray | None
    ) -> None:
        """The tokens of a call, and its heads' weights on repeated tokens."""
        assert stack.tokens is not None
        record.tokens = stack.tokens
        offset, record.first = record.first, stack.tokens.ids.shape[1] - stack.queries
        if layer.kind == "cross":
            record.key_tokens = self._key_tokens(stack, call.key.shape[2])
            return
        record.key_tokens, record.key_first = stack.tokens, record.first - offset
        if self.tokenizer is not None:
            record.detected = detect(call, record, stack.tokens, real)

    def _label_layers(self) -> None:
        """ "3" for a model with one stack of layers; "encoder 3", "decoder 3 cross" for others."""
        found = []
        for layer in self.layers:
            words = layer.name.split(".")
            at = next((x for x, word in enumerate(words) if word.isdigit()), len(words))
            found.append((words[:at], words[at] if at < len(words) else str(layer.index)))
        common = set.intersection(*(set(prefix) for prefix, _ in found)) if found else set()
        for layer, (prefix, number) in zip(self.layers, found):
            turn = layer.name.partition("#")[2]
            parts = [word for word in prefix if word not in common] + [turn or number]
            layer.label = " ".join(parts + (["cross"] if layer.kind == "cross" else []))

    # ---- afterwards ---------------------------------------------------------------------

    def _line(self, layer: Layer, head: int) -> dict[str, Any]:
        return {"layer": layer.index, "name": layer.name, "kind": layer.kind, "head": head}

    def heads(self, noise: float = 0.1) -> list[dict[str, Any]]:
        """Character, reason and means of every head of every layer.

        noise: the relative sd of the keys' lengths that a pair must withstand.
        """
        found = []
        for layer in self.layers:
            for h in range(layer.heads):
                head = _character(layer, h, noise).__dict__.copy()
                del head["batch"]
                found.append({**self._line(layer, h), **head, "head": h})
        return found

    def lines(self) -> list[dict[str, Any]]:
        """Means of every statistic over the rows, one dict for each layer and head."""
        found = []
        for layer in self.layers:
            for h in range(layer.heads):
                line = self._line(layer, h)
                for name in COLUMNS:
                    values = layer.rows(name, h)
                    values = values[np.isfinite(values)]
                    line[name] = float(values.mean(dtype=np.float64)) if values.size else float("nan")
                found.append(line)
        return found

    def table(self) -> Any:
        """``lines()`` as a pandas table, or as they are where pandas is not installed."""
        try:
            import pandas as pd
        except ImportError:
            return self.lines()
        return pd.DataFrame(self.lines())

    def rows(self, layer: int, head: int, batch: int = 0) -> list[dict[str, Any]]:
        """Every statistic of every measured query of a head, generated tokens included, in order.

        step: the forward pass; position, token: of the query; top_keys, top_weights: the
        keys of largest weight.  Padding is left out.
        """
        self._check(layer, head)
        found = []
        for record in self.layers[layer].calls:
            _check_batch(record, batch)
            for i in np.flatnonzero(record.counts()[batch, head]):
                position = record.first + int(record.places[i])
                line: dict[str, Any] = {"step": record.step, "position": position}
                if record.tokens is not None:
                    line["token"] = int(record.tokens.ids[batch, position])
                line.update(zip(COLUMNS, record.rows[batch, head, i].tolist()))
                line["lse"] = float(record.lse[batch, head, i])
                use = record.top_keys[batch, head, i] >= 0
                line["top_keys"] = record.top_keys[batch, head, i][use].tolist()
                line["top_weights"] = record.top_weights[batch, head, i][use].tolist()
                found.append(line)
        return found

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
            records = [(record, record.detected) for record in layer.calls if record.detected is not None]
            for h in range(layer.heads if records else 0):
                rows = sum(int(record.counts()[:, h].sum()) for record, _ in records)
                sums = sum(detected[:, h].sum(0) for _, detected in records)
                previous, duplicate, induction = (sums / max(rows, 1)).tolist()
                found.append(
                    {
                        "layer": layer.index,
                        "head": h,
                        "previous_token": previous,
                        "duplicate_token": duplicate,
                        "induction": induction,
                    }
                )
        if not found:
            raise ValueError("detect() needs input_ids: the model was given no tokens")
        return found

    def map(
        self,
        layer: int,
        head: int,
        batch: int = 0,
        zoom: tuple[int, int, int, int] | None = None,
        step: int | None = None,
    ) -> np.ndarray:
        """Weights of a head, averaged over blocks of queries by blocks of keys.

        A row is the mean over the measured queries of its block and sums to 1.  zoom: (query,
        key, rows, columns), the weights themselves; needs ``keep="qkv"``.  step: a forward
        pass; by default the one with most queries.
        """
        record = self._record(layer, head, step)
        _check_batch(record, batch)
        if zoom is not None:
            found: np.ndarray = zoom_into(_need_kept(record, layer), *_checked_zoom(zoom))[batch, head]
            return found
        if record.pooled is None:
            raise ValueError(f"layer {layer} saw single queries only: there is no map")
        pooled: np.ndarray = record.pooled[batch, head]
        return pooled

    def _check(self, layer: int, head: int) -> None:
        if not 0 <= _integer("layer", layer) < len(self.layers):
            raise ValueError(f"layer = {layer} must be in 0 .. {len(self.layers) - 1}")
        if not 0 <= _integer("head", head) < self.layers[layer].heads:
            raise ValueError(f"head = {head} must be in 0 .. {self.layers[layer].heads - 1}")

    def _record(self, layer: int, head: int = 0, step: int | None = None) -> Record:
        self._check(layer, head)
        records = self.layers[layer].calls
        if step is None:
            return max(records, key=lambda record: record.queries)
        for record in records:
            if record.step == step:
                return record
        raise ValueError(f"layer {layer} has no call in forward pass {step}")

    def phases(self) -> list[dict[str, Any]]:
        """Every head beside random scores of the same spread: condensed or spread out.

        S is the mean standard deviation of a row's scores, `freezing` the mean of sqrt(2 ln n)
        over the rows' numbers of keys; `random_entropy` is the mean entropy of as many
        independent normal scores of that spread.  All means, `entropy` too, are over the
        rows with at least two keys, those of ``lines()`` over all rows.  A row of NaN counts
        in neither; a head that has no other is NaN.
        """
        from . import theory

        found = []
        for layer in self.layers:
            for h in range(layer.heads):
                keys, entropy, variance = (
                    layer.rows(name, h).astype(np.float64) for name in ("keys", "entropy", "raw_variance")
                )
                use = keys >= 2
                if not use.any():
                    continue
                finite = use & np.isfinite(entropy) & np.isfinite(variance)
                use = finite if finite.any() else use
                spread = np.sqrt(np.maximum(variance[use], 0))
                order = np.argsort(keys[use], kind="stable")
                groups = [part for part in np.array_split(order, LAW_GROUPS) if part.size]
                law = [
                    theory.random_entropy(float(keys[use][part].mean()), float(spread[part].mean()))
                    for part in groups
                ]
                S, freezing = float(spread.mean()), float(np.sqrt(2 * np.log(keys[use])).mean())
                found.append(
                    {
                        "layer": layer.index,
                        "head": h,
                        "S": S,
                        "freezing": freezing,
                        "condensed": S > freezing,
                        "entropy": float(entropy[use].mean()),
                        "random_entropy": float(np.average(law, weights=[part.size for part in groups])),
                    }
                )
        return found

    def noise(
        self, bits: int = 8, kind: str = "int", layers: Iterable[int] | None = None
    ) -> list[dict[str, Any]]:
        """Output error of each head when its keys are rounded: predicted and measured.

        kind: "int", integers of so many bits scaled by the largest entry of each key, or
        "fp8", e4m3 scaled by the largest entry of each head's keys.  Predicted: by the
        key-noise statistic times the variance of the rounding.  Measured: from rounded
        keys.  Both are root mean squares relative to the output.  Of the layers that ``keep=`` names, or
        of some of these.
        """
        from ._watch_noise import check_rounding, key_noise

        check_rounding(_integer("bits", bits), kind)
        kept = [layer.index for layer in self.layers if self._record(layer.index).kept is not None]
        found = []
        for x in sorted(set(layers)) if layers is not None else kept or range(len(self.layers)):
            record, cross = self._record(x), self.layers[x].kind == "cross"
            call = _need_kept(record, x)
            for h, (predicted, measured) in enumerate(
                key_noise(call, record.counts(), bits, kind, self._rows, cross)
            ):
                found.append({"layer": x, "head": h, "predicted": predicted, "measured": measured})
        return found

    def plot(self, path: str | None = None) -> Any:
        """Grids of layers by heads: entropy, effective keys, sink, previous token, top weight, distance."""
        from ._watch_plot import plot

        return plot(self, path)

    def save(self, path: str, title: str | None = None) -> None:
        """One self-contained page to explore."""
        from ._watch_page import write

        write(self, path, title)


def _check_batch(record: Record, batch: int) -> None:
    if not 0 <= _integer("batch", batch) < record.rows.shape[0]:
        raise ValueError(f"batch = {batch} must be in 0 .. {record.rows.shape[0] - 1}")


def _need_kept(record: Record, layer: int) -> bridge.Call:
    if record.queries == 1:
        raise ValueError(
            f"layer {layer} saw a single query in forward pass {record.step}: q, k and v are kept of longer calls only"
        )
    if record.kept is None:
        raise ValueError(f'layer {layer} was not kept: attend.watch(model, keep="qkv") or keep=[{layer}]')
    return record.kept


def _character(layer: Layer, head: int, noise: float) -> Head:
    """Of all rows of a head, those of every batch and call."""
    rows = np.concatenate([record.rows[:, head][record.counts()[:, head]] for record in layer.calls])
    top = np.concatenate([record.top_weights[:, head][record.counts()[:, head]] for record in layer.calls])
    character, reason, *means = _core.head(CODES, rows[None, None], top[None, None], 0, 0, noise)
    if rows.size and not np.isfinite(rows[:, COLUMNS.index("entropy")]).any():
        reason = "every row has scores that are NaN or infinite"
    return Head(0, head, character, reason, *means)
