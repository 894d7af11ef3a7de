# SPDX-License-Identifier: MIT
"""The statements of the five solution sheets, judged by computing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from ._lab_session import choose_threads, core, record

Reading = Literal["charity", "letter"]
Verdict = Literal["holds", "limit", "fails", "slip"]
READINGS = ("charity", "letter")
SHEETS = ("000", "001", "002", "003", "004")


@dataclass(frozen=True)
class Judgement:
    """A statement of a sheet, and whether it is right.

    verdict: "holds" (true), "limit" (true in the limit), "fails" (false), or "slip": wrong
    or ill formed as written, and true once one symbol is repaired.
    holds_when: the exact statement with its condition.
    measured, expected: the number that decides, and what the sheet says it is; NaN where
    none applies.
    """

    id: str
    sheet: str
    line: int
    says: str
    quote: str
    quoted_line: int
    verdict: Verdict
    reading: Reading
    readings_agree: bool
    invariant: bool
    holds_when: str
    measured: float
    expected: float
    evidence: str


@dataclass(frozen=True)
class Dispute:
    """A point on which the sheets contradict each other or themselves."""

    question: str
    sides: str
    right: str


def _choose(sheet: str | None, reading: str) -> int:
    if sheet is not None and sheet not in SHEETS:
        raise ValueError(f"sheet = {sheet!r} must be one of {', '.join(SHEETS)}")
    if reading not in READINGS:
        raise ValueError(f"reading = {reading!r} must be 'charity' or 'letter'")
    return READINGS.index(reading)


def sheets(
    sheet: str | None = None, *, reading: Reading = "charity", threads: int | None = None
) -> list[Judgement]:
    """Judges the statements of the five sheets, or those of one.

    reading: with "charity" what a sheet leaves free may grow; by the "letter" = is
    equality, only what the sheet itself calls large may grow, and a reason is judged with
    its conclusion.
    """
    found = core.sheets(sheet, _choose(sheet, reading), choose_threads(threads))
    return [record(Judgement, each) for each in json.loads(found)]


def disputes(
    sheet: str | None = None, *, reading: Reading = "charity", threads: int | None = None
) -> list[Dispute]:
    """Where the sheets contradict each other, and who is right."""
    found = core.disputes(sheet, _choose(sheet, reading), choose_threads(threads))
    return [record(Dispute, each) for each in json.loads(found)]
