# SPDX-License-Identifier: MIT
"""The laboratory: experiments, design of queries, sheets and solutions judged, answers graded.

Everything runs in this process, on the engine, and gives the numbers that the command
``attend`` gives for the same seed and trials.

>>> rows = attend.lab.perform("copy", n=100, sweep=False)
>>> all(row.holds is not False for row in rows)
True
"""

from __future__ import annotations

from ._lab_design import Choice, Design, DesignRow, design
from ._lab_experiments import Experiment, Flag, Row, Rows, experiment, experiments, perform
from ._lab_grade import Grade, Part, PartGrade, grade, parts, template
from ._lab_sheets import Dispute, Judgement, disputes, sheets
from ._lab_solution import Claim, Conflict, Coverage, Letter, QuestionPoints, Solution, judge

__all__ = [
    "Choice",
    "Claim",
    "Conflict",
    "Coverage",
    "Design",
    "DesignRow",
    "Dispute",
    "Experiment",
    "Flag",
    "Grade",
    "Judgement",
    "Letter",
    "Part",
    "PartGrade",
    "QuestionPoints",
    "Row",
    "Rows",
    "Solution",
    "design",
    "disputes",
    "experiment",
    "experiments",
    "grade",
    "judge",
    "parts",
    "perform",
    "sheets",
    "template",
]
