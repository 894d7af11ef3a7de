# SPDX-License-Identifier: MIT
"""Design of queries: predictions of the theory, and results on the engine."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Literal, Sequence

from ._lab_session import arguments_named, choose_threads, core, real, record, seed_of, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Noisy = Literal["all", "items", "a"]
TASKS = ("copy", "average", "weights", "heads")
NOISY = ("all", "items", "a")
ITEMS_MOST, KEYS_MOST, ENTRIES_MOST, TRIALS_MOST = 16, 65536, 1 << 25, 10**8


@dataclass(frozen=True)
class DesignRow:
    """A number by theory and on the engine.  item: None for the whole.

    approximate: the prediction neglects the correlation of the heads.
    rare: few events; the prediction is to lie in [low, high], which are NaN otherwise.
    """

    quantity: str
    item: int | None
    predicted: float
    measured: float
    se: float
    z: float
    approximate: bool
    rare: bool
    low: float
    high: float


@dataclass(frozen=True)
class Choice:
    """Predicted mean squared error of a number of heads."""

    heads: int
    scale: float
    mse: float


@dataclass(frozen=True)
class Design:
    """Queries (heads, d), their checks, and whether other numbers of heads have a smaller error."""

    task: str
    queries: NDArray[np.float64]
    heads: int
    scale: float
    norm: float
    prescribed: str  # keys with prescribed scores: "every key" or "items only"
    rows: list[DesignRow]
    by_heads: list[Choice]
    best_heads: int
    advice: str


def _keys(keys: Any, n: int | None, d: int | None, seed: int) -> Any:
    import numpy as np

    if not isinstance(keys, str):
        if n is not None or d is not None:
            raise ValueError(f"{'n' if n is not None else 'd'}: keys say it; give one of them")
        made = np.ascontiguousarray(keys, dtype=np.float64)
        if made.ndim != 2 or not made.size:
            raise ValueError(f"keys have shape {made.shape}: a matrix (n, d) is needed")
        if made.size > ENTRIES_MOST:
            raise ValueError(f"keys have {made.size} numbers, and {ENTRIES_MOST} are the most")
        if not np.isfinite(made).all():
            raise ValueError("keys are not all finite")
        return made
    if keys not in ("orthonormal", "random"):
        raise ValueError(f"keys = {keys!r} must be 'orthonormal', 'random' or a matrix")
    rows = 10 if n is None else whole("n", n, 1, KEYS_MOST)
    columns = rows if d is None else whole("d", d, 1, KEYS_MOST)
    if keys == "orthonormal" and columns < rows:
        raise ValueError(f"d = {columns} dimensions do not hold {rows} orthonormal keys; see keys='random'")
    if rows * columns > ENTRIES_MOST:
        raise ValueError(f"n = {rows} keys of {columns} entries are more than {ENTRIES_MOST} numbers")
    if keys == "orthonormal":
        return np.eye(rows, columns)
    return np.frombuffer(core.random_keys(seed, rows, columns)).reshape(rows, columns)


def _items(task: str, items: Sequence[int] | int | None, n: int) -> tuple[int, ...]:
    if items is None:
        items = (0,) if task == "copy" else (0, 1)
    elif isinstance(items, int):
        items = (items,)
    found = tuple(whole("items", item, 0, n - 1) for item in items)
    if not 1 <= len(found) <= ITEMS_MOST:
        raise ValueError(f"items: {len(found)} of them; 1 to {ITEMS_MOST} are allowed")
    if len(set(found)) < len(found):
        raise ValueError(f"items = {found} has one twice")
    if task == "copy" and len(found) > 1:
        raise ValueError(f"items = {found}: one item can be copied; see 'average'")
    return found


def _weights(task: str, weights: Sequence[float] | None, count: int) -> tuple[float, ...]:
    if (task == "weights") != (weights is not None):
        raise ValueError(
            "weights are needed: positive numbers of sum 1"
            if weights is None
            else "weights go with task 'weights'"
        )
    if weights is None:
        return ()
    found = [real("weights", weight, 0, 1, inside=True) for weight in weights]
    if len(found) != count:
        raise ValueError(f"weights: {len(found)} of them for {count} items")
    total = 0.0
    for weight in found:
        total += weight
    if not abs(total - 1) <= 1e-6:
        raise ValueError(f"weights: the sum is {total:.9g}, not 1")
    return tuple(weight / total for weight in found)


def _heads(task: str, heads: int | None, count: int) -> int:
    if heads is None:
        return 0 if task == "heads" else 1
    if task != "heads":
        raise ValueError("heads goes with task 'heads'")
    found = whole("heads", heads, 1, count)
    if count % found:
        raise ValueError(f"heads = {found} does not divide the {count} items")
    return found


def design(
    task: str,
    *,
    keys: Any = "orthonormal",
    n: int | None = None,
    d: int | None = None,
    items: Sequence[int] | int | None = None,
    weights: Sequence[float] | None = None,
    heads: int | None = None,
    eps: float = 0.01,
    tau: float | Literal["sqrt"] = 1.0,
    C: float | None = None,
    sigma2: float = 0.0,
    alpha: float = 0.0,
    noisy: Noisy = "all",
    trials: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Design:
    """Designs the query of a head, or the queries of several, and checks them.

    task: "copy" (c = v_i), "average" (of the items, one head), "weights" (their weighted
        mean, one head) or "heads" (the mean by several heads).
    keys: "orthonormal", "random" unit vectors, or a matrix (n, d) of means.
    items: which keys are wanted, from 0.
    heads: for task "heads": a divisor of the number of items; None: the steadiest.
    eps: weight that may leak to other keys.  tau: scores are tau <q, k>; "sqrt":
        1/sqrt(d).  C: scale of the query in place of the smallest for eps.
    sigma2, noisy, alpha: key i is drawn as k_i (1 + sqrt(sigma2) z) + sqrt(alpha) N(0, I);
        magnitudes of "all" keys, the "items", or "a", the first item, are noisy.
    trials: draws for the check; by default some seconds' worth.

    A KeyboardInterrupt, or an exception of `progress`, ends it.

    >>> made = attend.lab.design("average", n=10, items=(3, 7))
    >>> made.queries.shape, round(made.scale, 3)
    ((1, 10), 5.981)
    """
    import numpy as np

    if task not in TASKS:
        raise ValueError(f"task = {task!r} must be one of {', '.join(TASKS)}")
    if noisy not in NOISY:
        raise ValueError(f"noisy = {noisy!r} must be one of {', '.join(NOISY)}")
    made = _keys(keys, n, d, seed_of(seed))
    rows, columns = made.shape
    wanted = _items(task, items, rows)
    shares = _weights(task, weights, len(wanted))
    factor = 1 / math.sqrt(columns) if tau == "sqrt" else real("tau", tau, 1e-6, 1e6)
    count = core.design_trials(rows, columns) if trials is None else whole("trials", trials, 100, TRIALS_MOST)
    with arguments_named():
        found = core.design(
            made,
            rows,
            columns,
            wanted,
            shares,
            _heads(task, heads, len(wanted)),
            real("eps", eps, 0, 1, inside=True),
            factor,
            real("sigma2", sigma2, 0, 100),
            real("alpha", alpha, 0, 100),
            NOISY.index(noisy),
            math.nan if C is None else real("C", C, 0, 1e6),
            count,
            seed_of(seed),
            choose_threads(threads),
            progress,
        )
    text, queries = found
    made_of = json.loads(text)
    return record(
        Design,
        made_of,
        task=task,
        queries=np.frombuffer(queries).reshape(made_of["heads"], columns).copy(),
        rows=[record(DesignRow, row, approximate=row["kind"] == "approximate") for row in made_of["rows"]],
        by_heads=[record(Choice, choice) for choice in made_of["by_heads"]],
    )
