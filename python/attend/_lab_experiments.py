# SPDX-License-Identifier: MIT
"""Experiments: theory beside what the engine measures."""

from __future__ import annotations

import functools
import importlib
import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Callable, Literal

from ._lab_session import arguments_named, choices_of, choose_threads, core, real, record, seed_of, whole

Kind = Literal["exact", "bound", "first-order", "asymptotic", "model"]
Value = float | int | str
TRIALS_MOST = 10**12
TYPES = ("real", "integer", "choice", "text")


@dataclass(frozen=True)
class Flag:
    """A parameter of an experiment.  A default of None follows from the others."""

    name: str
    type: str  # "real", "integer", "choice" or "text"
    default: Value | None
    min: float
    max: float
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True)
class Experiment:
    """One experiment of the laboratory; ``perform(name)`` makes it."""

    name: str
    title: str
    shows: str
    answers: tuple[str, ...]  # questions of the exercise
    headline: str | None  # the main quantity; None: the first
    trials: int  # default number; 0: deterministic
    flags: tuple[Flag, ...]
    quantities: dict[str, str]  # meaning of each row's quantity


@dataclass(frozen=True)
class Row:
    """A number of theory and the same number measured.

    se: standard error of what was measured, 0 where nothing is random.
    z: (measured - theory) / se; distance: |measured - theory| / |theory| of a limit, a
    first-order form or a model; NaN where they do not apply.
    holds: whether theory holds; None where nothing is claimed.
    rare: the sample holds few events, and theory is to lie in [low, high]; else both NaN.
    own: the parameters are exactly the given ones, not those of a sweep.
    """

    quantity: str
    kind: Kind
    theory: float
    measured: float
    se: float
    z: float
    distance: float
    holds: bool | None
    rare: bool
    low: float
    high: float
    own: bool
    params: dict[str, Value]


class Rows(list[Row]):
    """Rows of one performance, and a conclusion in words."""

    experiment: str
    conclusion: str

    def to_pandas(self) -> Any:
        """A table with a column for each parameter (needs pandas)."""
        pandas: Any = importlib.import_module("pandas")
        return pandas.DataFrame(
            [{**row.params, **{k: v for k, v in asdict(row).items() if k != "params"}} for row in self]
        )


def _flag(found: dict[str, Any]) -> Flag:
    default: Value | None = found["text"]
    if found["type"] in ("real", "integer"):
        preset = found["preset"]
        default = None if math.isnan(preset) else int(preset) if found["type"] == "integer" else preset
    return record(Flag, found, default=default, choices=choices_of(found["choices"]))


@functools.cache
def _experiments() -> dict[str, Experiment]:
    made = {}
    for found in json.loads(core.experiments()):
        answers = tuple(question.strip() for question in found["answers"].split(",") if question.strip())
        flags = tuple(map(_flag, found["flags"]))
        made[found["name"]] = record(Experiment, found, answers=answers, flags=flags)
    return made


def experiments() -> list[Experiment]:
    """Every experiment, in the order of ``attend lab``.

    >>> [e.name for e in attend.lab.experiments()][:4]
    ['copy', 'extract', 'average', 'window']
    """
    return list(_experiments().values())


def experiment(name: str) -> Experiment:
    """The experiment of this name; one_vs_two is one-vs-two."""
    try:
        return _experiments()[str(name).replace("_", "-")]
    except KeyError:
        raise ValueError(f"no experiment {name!r}: it is one of {', '.join(_experiments())}") from None


def _value(flag: Flag, value: Any) -> Value | None:
    if value is None:
        return None
    if flag.type == "real":
        return real(flag.name, value, flag.min, flag.max)
    if flag.type == "integer":
        if not math.isfinite(flag.max):
            return whole(flag.name, value, int(flag.min), 2**53)
        return whole(flag.name, value, int(flag.min), int(flag.max))
    if not isinstance(value, str) or "\0" in value or (flag.choices and value not in flag.choices):
        allowed = ", ".join(flag.choices) or "a text"
        raise ValueError(f"{flag.name} = {value!r} is not allowed, only {allowed}")
    return value


def perform(
    name: str,
    *,
    seed: int = 1,
    trials: int | None = None,
    threads: int | None = None,
    sweep: bool = False,
    progress: Callable[[int, int], object] | None = None,
    **params: Value | None,
) -> Rows:
    """Performs an experiment: rows of theory beside what the engine measured.

    params: the experiment's own, by the names of ``experiment(name).flags``; a dash is
        written as an underscore.
    sweep: also the rows of its sweeps.
    trials, seed: numbers are the same for any number of threads.
    progress: called with (trials done, of how many) now and then.

    A KeyboardInterrupt, or an exception of `progress`, ends it.

    >>> rows = attend.lab.perform("magnitude", n=10, C=10.0, trials=2000)
    >>> rows[0].quantity, rows[0].holds
    ('mean_w', True)
    """
    made = experiment(name)
    values: list[Value | None] = []
    given = {key.replace("_", "-"): value for key, value in params.items()}
    for flag in made.flags:
        values.append(_value(flag, given.pop(flag.name, None)))
    for unknown in given:
        known = ", ".join(flag.name for flag in made.flags)
        raise TypeError(f"{made.name} has no parameter {unknown!r}: it has {known}")
    count = made.trials if trials is None else whole("trials", trials, 1, TRIALS_MOST)
    with arguments_named():
        found = core.perform(
            made.name, tuple(values), seed_of(seed), count, bool(sweep), choose_threads(threads), progress
        )
    performed = json.loads(found)
    rows = Rows(record(Row, row) for row in performed["rows"])
    rows.experiment = made.name
    rows.conclusion = performed["conclusion"]
    return rows
