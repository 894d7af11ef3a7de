# SPDX-License-Identifier: MIT
"""Helpers of the Python tests: the test runner and dense evaluations."""

import os
import subprocess
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TQDM_DISABLE"] = "1"
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))

import dense  # noqa: E402
import dense_stats  # noqa: E402
import html_pages  # noqa: E402
import numpy as np  # noqa: E402
from harness import SCALE, SEED, WHOLE, count, read, sample, write  # noqa: E402

# Largest deviation of elements of order 1: a few roundings of the type.
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


def problem(seed=0, b=2, hq=4, hkv=2, nq=5, nk=7, d=8, dv=6, dtype="float32"):
    """q, k, v of standard normal numbers."""
    rng = np.random.default_rng(seed)
    shapes = (b, hq, nq, d), (b, hkv, nk, d), (b, hkv, nk, dv)
    return tuple(rng.standard_normal(shape).astype(dtype) for shape in shapes)


def run(*command, **keywords):
    """A process that has ended; errors are part of its output."""
    return subprocess.run(
        list(map(str, command)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        **keywords,
    )


def deviation(a, b):
    """Largest difference; NaN and infinities count as equal where both have them."""
    a, b = np.asarray(a, dtype="f8"), np.asarray(b, dtype="f8")
    if a.shape != b.shape:
        raise AssertionError(f"shapes {a.shape} and {b.shape}")
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        return float(np.where(same, 0.0, np.abs(a - b)).max(initial=0.0))


__all__ = [
    "HERE",
    "ROOT",
    "SCALE",
    "SEED",
    "TOLERANCE",
    "WHOLE",
    "count",
    "dense",
    "dense_stats",
    "deviation",
    "html_pages",
    "np",
    "problem",
    "read",
    "run",
    "sample",
    "write",
]
