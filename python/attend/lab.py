# SPDX-License-Identifier: MIT
"""The laboratory: experiments, design of queries, sheets judged, answers graded.

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

__all__ = [
    "Choice",
    "Design",
    "DesignRow",
    "Dispute",
    "Experiment",
    "Flag",
    "Grade",
    "Judgement",
    "Part",
    "PartGrade",
    "Row",
    "Rows",
    "design",
    "disputes",
    "experiment",
    "experiments",
    "grade",
    "parts",
    "perform",
    "sheets",
    "template",
]
