# SPDX-License-Identifier: MIT
"""Solutions of the exercise as they were written, judged claim by claim."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Literal

from ._lab_session import core, record

ClaimVerdict = Literal["true", "limit", "slip", "false", "not_read", "not_judged"]
SOLUTION_BYTES = 1 << 20


@dataclass(frozen=True)
class Claim:
    """A claim of a solution, from a formula or else from a sentence.

    quote: the passage as printed.  claim, query, letters: as it was read; "" where it was not.
    repair: of a slip.  exact: the true statement, where it is known.
    computed, expected: the numbers that decide; NaN where there are none.
    """

    line: int
    quote: str
    question: str
    verdict: ClaimVerdict
    evidence: str
    formula: bool
    claim: str
    query: str
    letters: str
    repair: str
    exact: str
    computed: float
    expected: float


@dataclass(frozen=True)
class Letter:
    """A letter of a solution and its meaning from this line on."""

    letter: str
    meaning: str
    line: int


@dataclass(frozen=True)
class Conflict:
    """Two claims of which both cannot be true, by index; -1 is the standard solution."""

    claims: tuple[int, int]
    lines: tuple[int, ...]
    words: str


@dataclass(frozen=True)
class QuestionPoints:
    """Points of a question, and what they are given for."""

    question: str
    points: float
    of: float
    words: str


@dataclass(frozen=True)
class Coverage:
    """How much of a solution was read, and how many claims were judged."""

    formulas: int
    formulas_read: int
    sentences: int
    sentences_read: int
    judged: int


@dataclass(frozen=True)
class Solution:
    """A solution, claim by claim in the order of its lines."""

    claims: list[Claim]
    letters: list[Letter]
    conflicts: list[Conflict]
    questions: list[QuestionPoints]
    points: float
    of: float
    coverage: Coverage


def judge(solution: str | os.PathLike[str]) -> Solution:
    """Reads a solution as it was written, and judges every claim that it finds.

    solution: its text in Markdown, LaTeX or plain letters, or the path of a file
        (``pathlib.Path``).

    >>> solution = attend.lab.judge("(b) i. Take M = A A^T. Then M v_a = v_a.")
    >>> [claim.verdict for claim in solution.claims]
    ['true', 'true']
    """
    place = "solution: "
    if isinstance(solution, str):
        try:
            text = solution.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{place}character {error.start + 1}: this is not UTF-8") from None
    elif isinstance(solution, os.PathLike):
        place = f"{os.fspath(solution)}: "
        with open(solution, "rb") as file:
            text = file.read(SOLUTION_BYTES + 1)
    else:
        raise TypeError(f"solution: {type(solution).__name__} where a text or a path should be")
    _check(text, place)
    found = json.loads(core.judge(text, place))
    return record(
        Solution,
        found,
        claims=[record(Claim, each) for each in found["claims"]],
        letters=[record(Letter, each) for each in found["letters"]],
        conflicts=[
            record(Conflict, each, claims=tuple(each["claims"]), lines=tuple(each["lines"]))
            for each in found["conflicts"]
        ],
        questions=[record(QuestionPoints, each) for each in found["questions"]],
        coverage=record(Coverage, found["coverage"]),
    )


def _check(text: bytes, place: str) -> None:
    if b"\0" in text:
        raise ValueError(f"{place}byte {text.index(0) + 1}: this is not UTF-8")
    if len(text) > SOLUTION_BYTES:
        return  # the extension names the number of bytes
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{place}byte {error.start + 1}: this is not UTF-8") from None
