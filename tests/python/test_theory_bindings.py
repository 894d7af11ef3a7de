# SPDX-License-Identifier: MIT
"""attend.theory: every function of the header is bound; arrays, refusals, and what comes back.

tests/cli/test_theory*.py prove the closed forms, and call each through these bindings.
"""

import glob
import importlib.util
import inspect
import math
import os
import re
import sys
import unittest

from setting import ROOT, np, read, run

from attend import theory as T


def load_script():
    spec = importlib.util.spec_from_file_location(
        "theory_bindings", os.path.join(ROOT, "scripts", "theory_bindings.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = load_script()
HEADER = read(SCRIPT.HEADER)
DECLARED = re.findall(r"\battend_theory_(\w+)\(", re.sub(r"/\*.*?\*/", "", HEADER, flags=re.S))

LAW, FLOORED = T.Law(0.4, 1.3), T.Law(0.4, 1.3, -0.9)
EXERCISE = T.Scene(10, sigma2=(0.5, 0.0, 0.0))
Q1, Q2 = T.Query(2.0, 1.5, -0.25), T.Query(0.5, 3.0, 0.1)
P, V, NOISE = np.full(6, 1 / 6), np.ones((6, 3)), np.full(6, 0.1)


class Bindings(unittest.TestCase):
    def test_every_function_of_the_header_is_bound(self):
        self.assertGreater(len(DECLARED), 90)
        for name in DECLARED:
            self.assertIn(name, T.__all__)
            function = getattr(T, name)
            self.assertTrue(function.__doc__, name)
            self.assertTrue(inspect.signature(function).return_annotation, name)
        extra = (
            set(T.__all__) - set(DECLARED) - {"A", "B", "REST", "Format", "Law", "Output", "Query", "Scene"}
        )
        self.assertEqual(extra, set())

    def test_every_function_has_values(self):
        called = set()
        for path in glob.glob(os.path.join(ROOT, "tests", "cli", "*theory*.py")):
            called.update(re.findall(r"\bLAB\.(\w+)\(", read(path)))
        self.assertEqual(set(DECLARED) - called, {"scene_exercise"})

    def test_the_module_is_what_the_script_writes(self):
        self.assertEqual(read(T.__file__), SCRIPT.module(HEADER))

    def test_signatures_of_array_functions_are_the_header_s(self):
        from attend._theory_arrays import SIGNATURES

        by_hand = {
            f[0]: SCRIPT.signature(f)
            for f in SCRIPT.functions(HEADER)
            if SCRIPT.ARRAYS & set(SCRIPT.signature(f))
        }
        self.assertEqual(SIGNATURES, by_hand)

    def test_numpy_is_imported_on_first_use(self):
        code = (
            "import sys; from attend import theory as t; t.copy_weight(2, 0.0); print('numpy' in sys.modules)"
        )
        self.assertEqual(run(sys.executable, "-c", code, check=True).stdout.strip(), "False")


class Results(unittest.TestCase):
    def test_types(self):
        for found, kind in (
            (T.copy_weight(2, 0.0), float),
            (T.entropy([1.0, 2.0]), float),
            (T.law_pair(2.0, 0.5, 0.1), T.Law),
            (T.head(EXERCISE, Q1), T.Output),
            (T.heads(EXERCISE, [Q1, Q2]), T.Output),
            (T.head(EXERCISE, Q1).mean, tuple),
            (T.weight_modes(LAW), tuple),
            (T.best_scale_one(10, 0.5), tuple),
            (T.sinusoid_nearest(8, 200), tuple),
        ):
            self.assertIs(type(found), kind)
        for array in T.sinusoid(3.0, 4), T.delta_bias(P, V, NOISE), T.permute_rows(V, range(6)):
            self.assertEqual(array.dtype, np.float64)

    def test_scenes_and_queries(self):
        self.assertEqual(T.scene_exercise(7, 0.5, True), T.Scene(7.0, sigma2=(0.5, 0.0, 0.0), positive=True))
        self.assertEqual(T.suppression_query(1.5), T.Query(0.0, 0.0, -1.5))


class Arguments(unittest.TestCase):
    def test_arrays_broadcast(self):
        n, gap = np.array([[2], [10]]), np.linspace(-3, 3, 5)
        got = T.copy_weight(n, gap)
        self.assertEqual((got.shape, got.dtype), ((2, 5), np.float64))
        self.assertLessEqual(np.abs(got - 1 / (1 + (n - 1) * np.exp(-gap))).max(), 1e-14)
        self.assertEqual(
            T.weight_cdf(LAW, [0.2, 0.4]).tolist(), [T.weight_cdf(LAW, 0.2), T.weight_cdf(LAW, 0.4)]
        )
        self.assertEqual(T.mse_one(10, [1.0, 2.0], 0.5, True).shape, (2,))
        self.assertEqual(T.gap_sum_exact([2, 4], "f16").shape, (2,))
        self.assertEqual(T.copy_weight(np.float32(2), np.int64(0)), 0.5)
        self.assertEqual(T.copy_weight(np.zeros((0, 3)), 1.0).shape, (0, 3))

    def test_outside_the_domain_is_nan(self):
        self.assertTrue(math.isnan(T.logit(2.0)))
        self.assertTrue(np.isnan(T.logit([2.0, -1.0])).all())
        self.assertTrue(math.isnan(T.head(T.Scene(1.0), Q1).mse))

    def test_refusals(self):
        refused = {
            "dependent": lambda: T.extract_projector([[1.0, 1.0], [2.0, 2.0]]),
            "3 rows and B 2": lambda: T.extract_oblique(np.eye(3), np.eye(2)),
            "dimensions": lambda: T.extract_projector([1.0, 2.0]),
            "permutation": lambda: T.permute_rows(np.eye(2), [0, 0]),
            "2 numbers for 3": lambda: T.permute_rows(np.eye(3), [0, 1]),
            "d = 3": lambda: T.sinusoid(1.0, 3),
            "d = -2": lambda: T.sinusoid(1.0, -2),
            "T = 1": lambda: T.sinusoid_nearest(8, 1),
            "sum 1": lambda: T.weighted_query([0.5, -0.5], 1.0),
            "no floor": lambda: T.weight_modes(FLOORED),
            "p, v and variance": lambda: T.delta_bias(P, V[:4], NOISE),
            "format = 'f8'": lambda: T.gap_underflow("f8"),
            "three numbers": lambda: T.head(T.Scene(5, sigma2=(1.0,)), Q1),
        }
        for words, attempt in refused.items():
            with self.subTest(words), self.assertRaisesRegex(ValueError, re.escape(words)):
                attempt()
        for attempt in (
            lambda: T.copy_weight("two", 1.0),
            lambda: T.weight_mean(3.0),
            lambda: T.head(EXERCISE, (1, 2)),
            lambda: T.permute_rows(np.eye(2), [0.0, 1.0]),
        ):
            self.assertRaises(TypeError, attempt)


class Huge(unittest.TestCase):
    def test_numbers_beyond_those_of_c(self):
        self.assertTrue(math.isnan(T.copy_weight(10, math.nan)))
        self.assertEqual(T.copy_weight(10, 10**400), T.copy_weight(10, math.inf))
        for n in (2**64 + 10, -(2**63) - 1, 10**400):
            with self.assertRaisesRegex(ValueError, "64 bits"):
                T.sinusoid_nearest(n, 8)
