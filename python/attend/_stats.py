# SPDX-License-Identifier: MIT
"""Statistics of the attention distribution, from the pass that computes the output."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Sequence

from . import _core
from ._core import Context

NAMES: tuple[str, ...] = _core.names()
#: Statistics that determine a head's character.
HEAD_STATS = (
    "keys",
    "max",
    "top_weight",
    "entropy",
    "n_eff",
    "raw_variance",
    "margin",
    "sink1",
    "previous",
    "log_distance",
)
DEFAULT = HEAD_STATS + ("lse", "keys_eff", "self", "distance")
SUMMARIES = ("entropy", "n_eff", "top_weight", "margin", "sink1")
GROUPS, BINS = 11, 64
TOP_MAX = 8


@dataclass(frozen=True)
class Head:
    """One head: means over its rows, a character and the reason for it."""

    batch: int
    head: int
    character: str
    reason: str
    rows: int
    keys: float
    max: float
    n_eff: float
    sink1: float
    previous: float
    log_distance: float
    raw_sd: float
    entropy_share: float
    margin: float


@dataclass(frozen=True)
class Summary:
    """Of one quantity over the rows of a head: (b, h, 11), all rows and the ten tenths.

    Entropy is relative to ln keys and n_eff to keys, so that rows of all lengths compare.
    """

    rows: Any
    mean: Any
    sd: Any
    min: Any
    max: Any
    histogram: Any  # (b, h, 11, 64)


@dataclass(frozen=True)
class Stats:
    """Row statistics by name, top keys, summaries; the axes are those of q without d.

    A statistic is also an attribute: ``stats.entropy`` is ``stats["entropy"]``.
    """

    columns: dict[str, Any]
    top_keys: Any
    top_weights: Any
    summaries: dict[str, Summary]
    _rows: Any = field(repr=False)
    _names: tuple[str, ...] = field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["columns"][name]
        except KeyError:
            raise AttributeError(
                f"no statistic {name!r}; there are {', '.join(self.__dict__.get('columns', ()))}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def heads(self, noise: float = 0.1) -> list[Head]:
        """Character and reason of every head; `noise` is the relative sd of key lengths."""
        missing = [name for name in HEAD_STATS if name not in self._names]
        if missing:
            raise ValueError(f"heads() needs the statistics {', '.join(missing)}")
        codes = tuple(NAMES.index(name) for name in self._names)
        top = self._four(self.top_weights, 1) if self.top_weights is not None else None
        found = []
        for b in range(self._rows.shape[0]):
            for h in range(self._rows.shape[1]):
                character, reason, *means = _core.head(codes, self._rows, top, b, h, noise)
                found.append(Head(b, h, character, reason, *means))
        return found

    @staticmethod
    def _four(array: Any, trailing: int) -> Any:
        return array.reshape((1,) * (3 + trailing - array.ndim) + array.shape)

    def to_pandas(self) -> Any:
        """One line a row: batch, head, query and every statistic (needs pandas)."""
        import importlib

        import numpy as np

        pandas: Any = importlib.import_module("pandas")
        b, h, l = self._rows.shape[:3]
        index = np.indices((b, h, l)).reshape(3, -1)
        table = {"batch": index[0], "head": index[1], "query": index[2]}
        for x, name in enumerate(self._names):
            table[name] = self._rows[..., x].reshape(-1)
        return pandas.DataFrame(table)


class Request:
    """Arrays for a request, in the extension's order, and the result made of them."""

    def __init__(self, argument: str, names: Sequence[str], rows: tuple[int, ...], top: int = 4) -> None:
        import numpy as np

        from ._engine import whole

        if not isinstance(names, (list, tuple)):
            raise TypeError(f"{argument} = {names!r} must be names of statistics")
        self.names = tuple(names) or DEFAULT
        for name in self.names:
            if not isinstance(name, str) or name not in NAMES:
                raise ValueError(f"{argument}: {name!r} is not a statistic; there are {', '.join(NAMES)}")
        top = whole(top, "top")
        if not 0 <= top <= TOP_MAX:
            raise ValueError(f"top = {top} must be in 0 .. {TOP_MAX}")
        self.shape = rows
        four = (1,) * (3 - len(rows)) + rows
        self.codes = tuple(NAMES.index(name) for name in self.names)
        self.rows = np.empty(four + (len(self.names),))
        self.top_weights: Any = np.empty(four + (top,)) if top else None
        self.top_keys: Any = np.empty(four + (top,), np.int64) if top else None
        self.summaries = np.zeros((four[0], four[1], len(SUMMARIES), GROUPS, 5 + BINS), np.int64)

    def tuple(self) -> tuple[Any, ...]:
        return (self.codes, self.rows, self.top_weights, self.top_keys, None, None, None, self.summaries)

    def result(self) -> Stats:
        rows = self.rows.reshape(self.shape + (len(self.names),))
        top = None if self.top_keys is None else self.shape + (self.top_keys.shape[-1],)
        real = self.summaries.view("f8")
        summaries = {
            name: Summary(
                self.summaries[:, :, x, :, 0],
                real[:, :, x, :, 1],
                real[:, :, x, :, 2],
                real[:, :, x, :, 3],
                real[:, :, x, :, 4],
                self.summaries[:, :, x, :, 5:],
            )
            for x, name in enumerate(SUMMARIES)
        }
        return Stats(
            {name: rows[..., x] for x, name in enumerate(self.names)},
            None if top is None else self.top_keys.reshape(top),
            None if top is None else self.top_weights.reshape(top),
            summaries,
            self.rows,
            self.names,
        )


def stats(
    q: Any,
    k: Any,
    v: Any = None,
    *,
    columns: Sequence[str] = (),
    top: int = 4,
    layout: str = "bhld",
    context: Context | None = None,
    **rule: Any,
) -> Stats:
    """Statistics of every row: entropy, effective keys, top keys, sinks, distances.

    q, k, v and the keywords of the rule are those of ``attention``; v may be left out
    where no statistic needs values.  columns: names, of ``attend.stats.NAMES``.

    >>> q, k = (rng.standard_normal((1, 2, 64, 16)) for _ in range(2))
    >>> s = attend.stats(q, k, causal="bottom-right")
    >>> bool((s.n_eff <= s.keys + 1e-9).all())
    True
    >>> [head.character for head in s.heads()]  # doctest: +SKIP
    ['diffuse', 'diffuse']
    """
    from . import _engine

    code = _engine.layout_code(layout)
    if v is None:
        v = k
    device = _engine._device_of(q)
    if device:
        q, k, v = device.adopt(q), device.adopt(k), device.adopt(v)
    shape, _, dv, batch = _engine.sizes(q, k, v, layout)
    request = Request("columns", columns, shape, top)
    out = _engine.empty(q, tuple(q.shape[:-1]) + (dv,))
    forward: Callable[..., None] = device.forward if device else _core.forward
    forward(
        _engine.default_context() if context is None and not device else context,
        q,
        k,
        v,
        out,
        None,
        None,
        False,
        code,
        _engine.make_rule(batch, **rule),
        request.tuple(),
    )
    return request.result()
