# SPDX-License-Identifier: MIT
"""Grading of answers to the exercise: JSON is read here, formulas are judged in C."""

from __future__ import annotations

import functools
import json
import os
from dataclasses import dataclass
from typing import Any, Literal, Mapping

from ._lab_session import core, real, seed_of

Mark = Literal["right", "limit", "slip", "wrong", "empty"]
ANSWER_BYTES, NAME_BYTES, POINTS_MOST = 1 << 18, 200, 1000
Answers = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """A part of a question.  texts: how many it takes.  choices: none for formulas."""

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

    error: the name of a common error, or "".
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
        Part(question, name, asks, texts, tuple(choices.split("|")) if choices else (), points, hint, solution, letters)
        for question, name, asks, texts, choices, points, hint, solution, letters in core.parts()
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
    form: dict[str, Any] = {"student": ""}
    for part in _parts():
        form.setdefault(part.question, {})[part.name] = "" if part.texts == 1 else [""] * part.texts
    return form


# ---- reading ------------------------------------------------------------------------


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for index, (key, _) in enumerate(pairs) if key in dict(pairs[:index]))
        raise ValueError(f"{twice!r} is there twice")
    return found


def _load(path: str | os.PathLike[str]) -> Answers:
    with open(path, "rb") as file:
        raw = file.read(ANSWER_BYTES + 1)
    if len(raw) > ANSWER_BYTES:
        raise ValueError(f"{os.fspath(path)}: more than {ANSWER_BYTES} bytes")
    try:
        found = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    return _object(os.fspath(path), found)


def _object(place: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{place}: {type(value).__name__} where an object should be")
    return value


def _text(place: str, index: int, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{place}: {type(value).__name__} where a text should be")
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError(f"{place}: a character that no formula has")
    reason = core.check(index, value) if value else None
    if reason:
        raise ValueError(f"{place}: {reason}")
    return value


def _texts(place: str, index: int, value: Any) -> tuple[str, ...]:
    count = _parts()[index].texts
    if count == 1:
        return (_text(place, index, value),)
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise ValueError(f"{place}: {type(value).__name__} where a list of {count} texts should be")
    if len(value) != count:
        raise ValueError(f"{place}: {len(value)} texts in place of {count}")
    found = tuple(_text(f"{place}[{k + 1}]", index, text) for k, text in enumerate(value))
    if any(found) and not all(found):
        raise ValueError(f"{place}: {sum(not text for text in found)} of {count} texts are empty")
    return found


def _student(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"student: {type(value).__name__} where a text should be")
    if len(value.encode("utf-8", "replace")) > NAME_BYTES:
        raise ValueError(f"student: a name of more than {NAME_BYTES} bytes")
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in value):
        raise ValueError("student: a control character in the name")
    return value


def _read(answers: Answers) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """The student, and the texts of every part."""
    student = ""
    texts = [("",) * part.texts for part in _parts()]
    questions = {part.question for part in _parts()}
    for key, value in answers.items():
        if key == "student":
            student = _student(value)
        elif key in questions:
            for name, given in _object(key, value).items():
                if name != "_help":
                    index = _find(key, name)
                    texts[index] = _texts(f"{key}.{name}", index, given)
        elif key != "_help":
            raise ValueError(f"no question {key!r}")
    return student, tuple(texts)


def _share(question: str, value: Any, points: list[float]) -> None:
    """The question's points, shared among its parts as they are by default."""
    of = [index for index, part in enumerate(_parts()) if part.question == question]
    if not of:
        raise ValueError(f"points: no question {question!r}")
    if isinstance(value, Mapping):
        for name, number in value.items():
            if name != "_help":
                points[_find(question, name)] = real(f"points.{question}.{name}", number, 0, POINTS_MOST)
        return
    whole = real(f"points.{question}", value, 0, POINTS_MOST)
    total = 0.0
    for index in of:
        total += _parts()[index].points
    for index in of:
        points[index] = whole * _parts()[index].points / total


def _rubric(rubric: Answers) -> tuple[tuple[float, ...], float | None, float | None]:
    points = [part.points for part in _parts()]
    credit: dict[str, float | None] = {"limit": None, "slip": None}
    for section, given in rubric.items():
        if section == "_help":
            continue
        if section not in ("points", "credit"):
            raise ValueError(f"{section!r} is neither points nor credit")
        for key, value in _object(section, given).items():
            if key == "_help":
                continue
            if section == "points":
                _share(key, value, points)
            elif key in credit:
                credit[key] = real(f"credit.{key}", value, 0, 1)
            else:
                raise ValueError(f"credit: {key!r} is neither limit nor slip")
    return tuple(points), credit["limit"], credit["slip"]


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
    if isinstance(answers, (str, os.PathLike)):
        place = f"{os.fspath(answers)}: "
        form = _load(answers)
        name = os.path.basename(os.fspath(answers)) if name is None else name
    else:
        place, form = "", _object("answers", answers)
        name = name or ""
    try:
        student, texts = _read(form)
    except ValueError as error:
        raise ValueError(f"{place}{error}") from None
    if rubric is None:
        points, limit, slip = _rubric({})
    else:
        points, limit, slip = _rubric(
            _load(rubric) if isinstance(rubric, (str, os.PathLike)) else _object("rubric", rubric)
        )
    found, total, most = core.grade(texts, points, limit, slip, seed_of(seed), name)
    graded = [_part_grade(part, values) for part, values in zip(_parts(), found, strict=True)]
    return Grade(student or name.removesuffix(".json"), total, most, graded)


def _part_grade(part: Part, values: tuple[Any, ...]) -> PartGrade:
    mark, points, most, computed, claimed, error, evidence = values
    return PartGrade(
        part.question, part.name, mark, points, most, computed, claimed, error, evidence, part.hint,
        "; ".join(part.solution),
    )
