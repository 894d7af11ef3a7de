# SPDX-License-Identifier: MIT
"""Helpers of the tests of `attend stats`."""

import numpy as np

import dense_stats
from dense_stats import NAMES
from harness import CliTest
from problem import Problem

QK = ["--q", "q.npy", "--k", "k.npy"]

CHARACTERS = (
    "fragile pair",
    "diffuse",
    "previous token",
    "sink",
    "local",
    "copy",
    "average",
    "frozen",
    "mixed",
)


class StatsTest(CliTest):
    def problem(self, **shape):
        p = Problem(self, **shape)
        p.args[0] = "stats"
        return p

    def near(self, got, want, what=""):
        """Non-finite numbers are null; others agree as f32 sums allow."""
        got = np.array([np.nan if x is None else x for x in np.ravel(got)], float)
        want = np.ravel(np.asarray(want, float))
        self.assertEqual(got.shape, want.shape, what)
        finite = np.isfinite(want)
        self.assertEqual(np.isfinite(got).tolist(), finite.tolist(), what)
        np.testing.assert_allclose(got[finite], want[finite], rtol=1e-5, atol=2e-6, err_msg=what)

    def check_rows(self, p, *flags, **rule):
        """The complete output of --rows --json, against the definitions."""
        want, weights = dense_stats.rows(*p.values, **rule)
        got = self.objects(*p.args, *flags, "--rows", "--json")
        self.assertEqual([(r["b"], r["h"], r["i"]) for r in got], list(want))
        for r in got:
            self.assertEqual(list(r), ["b", "h", "i", *NAMES])
        for name in NAMES:
            self.near([r[name] for r in got], [w[name] for w in want.values()], name)
        return want, weights
