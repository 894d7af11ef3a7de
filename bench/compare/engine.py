# SPDX-License-Identifier: MIT
"""What the four engines have in common.

An engine's module defines

    start(threads)            once per process; returns its version
    variants(case, dtype)     names of the ways to compute the case; [] if it cannot
    prepare(variant, inputs)  a Prepared: layouts, sessions and buffers, untimed
"""

import contextlib
import dataclasses
from typing import Any, Callable

NAMES = "attend", "torch", "onnxruntime", "numpy"


@dataclasses.dataclass
class Prepared:
    calls: list  # functions of no argument, one per copy of K and V
    fetch: Callable[[Any], Any]  # what a call returned -> (batch, hq, nq, d), as stored
    context: Callable[[], Any] = contextlib.nullcontext  # entered around a turn's calls
    poison: Callable[[], None] = lambda: None  # fill what a call will write with NaN


def fold(array, case):
    """(b, hq, 1, d) as (b, hkv, group, d): a group's queries as rows of one head."""
    return array.reshape(case.batch, case.hkv, case.group * case.nq, case.d)


def unfold(array, case):
    return array.reshape(case.batch, case.hq, case.nq, case.d)
