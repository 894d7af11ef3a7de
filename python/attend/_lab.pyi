# SPDX-License-Identifier: MIT
# What is found is JSON, with NaN and Infinity.
from typing import Any, Callable

Progress = Callable[[int, int], object] | None

def experiments() -> str: ...
def perform(
    name: str,
    values: tuple[float | str | None, ...],
    seed: int,
    trials: int,
    sweeps: bool,
    threads: int,
    progress: Progress,
    /,
) -> str: ...
def random_keys(seed: int, n: int, d: int, /) -> bytes: ...
def design_trials(n: int, d: int, /) -> int: ...
def design(
    keys: Any,
    n: int,
    d: int,
    items: tuple[int, ...],
    weights: tuple[float, ...],
    heads: int,
    eps: float,
    tau: float,
    sigma2: float,
    alpha: float,
    noisy: int,
    scale: float,
    trials: int,
    seed: int,
    threads: int,
    progress: Progress,
    /,
) -> tuple[str, bytes]: ...
def sheets(sheet: str | None, reading: int, threads: int, /) -> str: ...
def disputes(sheet: str | None, reading: int, threads: int, /) -> str: ...
def judge(solution: bytes, place: str, /) -> str: ...
def parts() -> str: ...
def grade(
    answers: bytes, place: str, rubric: bytes | None, rubric_place: str, seed: int, name: str, /
) -> str: ...
