# SPDX-License-Identifier: MIT
"""Shared by all parts of the laboratory: the extension, threads, and its errors."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from typing import Any, Iterator, Mapping, TypeVar

try:
    from . import _lab as core
except ImportError as error:
    raise ImportError(
        "attend.lab is not in this build of attend: Random123 (Debian: librandom123-dev) was not found "
        "when it was made"
    ) from error

__all__ = ["arguments_named", "choices_of", "choose_threads", "core", "real", "record", "seed_of", "whole"]

THREADS_MOST = 1024
Record = TypeVar("Record")


def record(kind: type[Record], found: Mapping[str, Any], **more: Any) -> Record:
    """The dataclass `kind` from the members of an object of JSON, and `more` in place of some."""
    names = (field.name for field in dataclasses.fields(kind))  # type: ignore[arg-type]
    return kind(**{name: more[name] if name in more else found[name] for name in names})


def choose_threads(threads: int | None) -> int:
    """The given number of threads, or that of the default context."""
    from ._engine import default_context

    if threads is None:
        found: int = default_context().threads
        return found
    return whole("threads", threads, 1, THREADS_MOST)


def whole(name: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value % 1 != 0:
        raise ValueError(f"{name} = {value!r} is not allowed, only a whole number from {low} to {high}")
    if not low <= value <= high:
        raise ValueError(f"{name} = {value!r} is not allowed, only a whole number from {low} to {high}")
    return int(value)


def real(name: str, value: object, low: float, high: float, inside: bool = False) -> float:
    """inside: the ends of the range are excluded."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{name} = {value!r} is not a number")
    if not (low < value < high if inside else low <= value <= high):
        ends = f"between {low:.15g} and {high:.15g}" if inside else f"from {low:.15g} to {high:.15g}"
        raise ValueError(f"{name} = {value!r} is not allowed, only a number {ends}")
    return float(value)


def seed_of(seed: object) -> int:
    return whole("seed", seed, 0, 2**64 - 1)


def choices_of(choices: str | None) -> tuple[str, ...]:
    """Of "one|two"."""
    return tuple(choices.split("|")) if choices else ()


@contextlib.contextmanager
def arguments_named() -> Iterator[None]:
    """The laboratory names flags of a command; here they are arguments."""
    try:
        yield
    except ValueError as error:
        raise ValueError(re.sub(r"--(?=[A-Za-z])", "", str(error))) from None
