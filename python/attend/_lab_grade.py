# SPDX-License-Identifier: MIT
"""Grading of answers to the exercise."""

from __future__ import annotations

import functools
import json
import os
from dataclasses import dataclass
from typing import Any, Literal, Mapping

from ._lab_session import choices_of, core, record, seed_of

Mark = Literal["right", "limit", "slip", "wrong", "empty", "partly", "unread"]
FORM_BYTES = 1 << 18
Answers = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """A part of a question.  texts: their number.  choices: empty for formulas."""

    question: str
    name: str
    asks: str
    texts: int
    choices: tuple[str, ...]
    points: float
    hint: str
    solution: tuple[str, ...]
    letters: str


@dataclass(frozen=True)
class PartGrade:
    """computed, claimed: the numbers that decide; NaN where there are none.

    error: the name of a common error, or "".  hint: "" with full marks, and where the part's is
    about other queries than the student's.
    """

    question: str
    part: str
    verdict: Mark
    points: float
    of: float
    computed: float
    claimed: float
    error: str
    evidence: str
    hint: str
    solution: str


@dataclass(frozen=True)
class Grade:
    """Points of an answer, and every part of it."""

    student: str
    points: float
    of: float
    parts: list[PartGrade]

    def part(self, question: str, name: str) -> PartGrade:
        """That part of that question."""
        return self.parts[_find(question, name)]


@functools.cache
def _parts() -> tuple[Part, ...]:
    return tuple(
        record(Part, found, solution=tuple(found["solution"]), choices=choices_of(found["choices"]))
        for found in json.loads(core.parts())
    )


def parts() -> list[Part]:
    """Every part of the exercise, in the order of the questions."""
    return list(_parts())


def _find(question: str, name: str) -> int:
    for index, part in enumerate(_parts()):
        if (part.question, part.name) == (question, name):
            return index
    raise ValueError(f"{question}: no part {name!r} in this question")


def template() -> dict[str, Any]:
    """An empty form: a text, or a list of texts, for every part of every question."""
    form: dict[str, Any] = {"student": "", "id": ""}
    for part in _parts():
        form.setdefault(part.question, {})[part.name] = "" if part.texts == 1 else [""] * part.texts
    return form


# ---- forms --------------------------------------------------------------------------


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise ValueError(f"{type(value).__name__} is not a type of JSON")


def _form(name: str, given: Answers | str | os.PathLike[str]) -> tuple[bytes, str]:
    """The text of a form, and its name in error messages."""
    if not isinstance(given, (str, os.PathLike)):
        if not isinstance(given, Mapping):
            raise ValueError(f"{name}: {type(given).__name__} where an object should be")
        return json.dumps(given, default=_plain).encode(), ""
    with open(given, "rb") as file:
        return file.read(FORM_BYTES + 1), f"{os.fspath(given)}: "


# ---- grading ----------------------------------------------------------------------------


def grade(
    answers: Answers | str | os.PathLike[str],
    *,
    rubric: Answers | str | os.PathLike[str] | None = None,
    seed: int = 1,
    name: str | None = None,
) -> Grade:
    """Grades answers to the exercise: each formula is evaluated beside the engine.

    answers: {question: {part: text}}, as ``template()`` has it, or the path of such a form.
    rubric: {"points": {question: points or {part: points}}, "credit": {"limit": share,
        "slip": share}}, or the path of one.
    seed, name: the worlds derive from both; a file's name by default, "" for a mapping.

    >>> attend.lab.grade({"1b-i": {"M": "A A^T"}}).part("1b-i", "M").verdict
    'right'
    """
    if name is None:
        name = os.path.basename(os.fspath(answers)) if isinstance(answers, (str, os.PathLike)) else ""
    text, place = _form("answers", answers)
    rubric_text, rubric_place = (None, "") if rubric is None else _form("rubric", rubric)
    found = json.loads(core.grade(text, place, rubric_text, rubric_place, seed_of(seed), name))
    graded = [
        record(
            PartGrade,
            each,
            solution=each["solution"] if each["points"] < each["of"] else "; ".join(part.solution),
        )
        for part, each in zip(_parts(), found["parts"], strict=True)
    ]
    return record(Grade, found, student=found["student"] or name.removesuffix(".json"), parts=graded)
