# SPDX-License-Identifier: MIT
"""attend.theory: every function of the header is bound, and gives the number it defines.

What is compared with starts from definitions, in mpmath and NumPy; nothing comes from
the library itself, but for inverses, which are put back into what they invert.
"""

import importlib.util
import inspect
import math
import os
import re
import subprocess
import sys
import unittest

import mpmath
from mpmath import mp, mpf
from setting import ROOT, np, run_cases

from attend import theory as T

mp.dps = 20
INF = math.inf
FORMATS = {"f64": (53, -1022), "f32": (24, -126), "f16": (11, -14), "bf16": (8, -126)}


def load_script():
    spec = importlib.util.spec_from_file_location("theory_bindings", os.path.join(ROOT, "scripts", "theory_bindings.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = load_script()
with open(SCRIPT.HEADER, encoding="utf-8") as file:
    HEADER = file.read()
DECLARED = re.findall(r"\battend_theory_(\w+)\(", re.sub(r"/\*.*?\*/", "", HEADER, flags=re.S))

# ---- definitions -----------------------------------------------------------------------


def sigmoid(y):
    return 1 / (1 + mpmath.exp(-y))


def phi(x):
    return mpmath.ncdf(x)


def over_normal(f, low=-12):
    """E f(z), z standard normal given z > low."""
    low = max(mpf(low), mpf(-12))
    cuts = sorted({low, mpf(12)} | {mpf(z) / 2 for z in range(-20, 21) if low < mpf(z) / 2 < 12})
    return mpmath.quad(lambda z: f(z) * mpmath.npdf(z), cuts) / mpmath.ncdf(-low)


def over_law(law, f):
    low = -12 if law.floor == -INF else (mpf(law.floor) - law.mean) / law.sd
    return over_normal(lambda z: f(sigmoid(law.mean + law.sd * z)), low)


def law_variance(mean, sd):
    law = T.Law(mean, sd)
    m = over_law(law, lambda w: w)
    return over_law(law, lambda w: (w - m) ** 2)


def weights(scene, query, gamma):
    """Of a, of b and of one other key, where gamma is the length of k_a."""
    scores = [scene.tau * query.a * gamma, scene.tau * query.b, scene.tau * query.rest]
    if scene.softcap:
        scores = [scene.softcap * mpmath.tanh(s / scene.softcap) for s in scores]
    e = [mpmath.exp(s - max(scores)) for s in scores]
    total = e[0] + e[1] + (scene.n - 2) * e[2]
    return [x / total for x in e]


def over_gamma(scene, f):
    sd = mpmath.sqrt(scene.sigma2[0])
    return over_normal(lambda z: f(1 + sd * z), -1 / sd if scene.positive else -12)


def output(scene, queries):
    """Only key a is noisy: one gamma decides."""

    def mean_weights(gamma):
        rows = [weights(scene, query, gamma) for query in queries]
        return [sum(column) / len(rows) for column in zip(*rows)]

    return moments(scene.n, lambda f: over_gamma(scene, lambda gamma: f(mean_weights(gamma))))


def moments(n, expect):
    """expect(f) = E f(coefficients of v_a, v_b and one other)."""
    count = (1, 1, n - 2)
    mean = [expect(lambda p, k=k: p[k]) for k in range(3)]
    square = [expect(lambda p, k=k: p[k] ** 2) for k in range(3)]
    variance = [s - m * m for s, m in zip(square, mean)]
    mse = expect(lambda p: sum(c * (x - (mpf(1) / 2 if k < 2 else 0)) ** 2 for k, (c, x) in enumerate(zip(count, p))))
    return mean, variance, sum(c * v for c, v in zip(count, variance)), mse


def mixture(n, cases):
    """cases: [(probability, coefficients)]"""
    return moments(n, lambda f: sum(p * f(c) for p, c in cases))


def groups_mse(m, h, n, sigma2):
    """Every head's winner, or none, by enumeration over the groups."""
    size, p = m // h, float(phi(1 / mpmath.sqrt(sigma2)))
    none = (1 - p) ** size
    target = np.zeros(n)
    target[:m] = 1 / m

    def outcomes(group):
        own = list(range(group * size, (group + 1) * size))
        for winner in own:
            yield (1 - none) / size, np.eye(n)[winner]
        rest = np.ones(n)
        rest[own] = 0
        yield none, rest / rest.sum()

    def expand(group, probability, total):
        if group == h:
            return probability * float(((total / h - target) ** 2).sum())
        return sum(expand(group + 1, probability * q, total + c) for q, c in outcomes(group))

    return expand(0, 1.0, np.zeros(n))


def softmax(s):
    e = np.exp(s - np.max(s))
    return e / e.sum()


def entropy_of(p):
    return -sum(x * mpmath.log(x) for x in p if x > 0)


RNG = np.random.default_rng(5)
P = softmax(RNG.standard_normal(6))
V, K = RNG.standard_normal((6, 3)), RNG.standard_normal((6, 4))
NOISE = RNG.uniform(0.1, 0.5, 6)
C = P @ V
LAW = T.Law(0.4, 1.3)
FLOORED = T.Law(0.4, 1.3, -0.9)
EXERCISE = T.Scene(10, sigma2=(0.5, 0.0, 0.0))
GIVEN = T.Scene(10, sigma2=(0.5, 0.0, 0.0), positive=True)
CAPPED = T.Scene(5, tau=0.7, sigma2=(0.3, 0.0, 0.0), softcap=2.0)
NOISY = T.Scene(6, tau=0.8, alpha=0.2, sigma2=(0.5, 0.3, 0.1))
Q1, Q2 = T.Query(2.0, 1.5, -0.25), T.Query(0.5, 3.0, 0.1)


def covariance(scene, q1, q2, key):
    pairs = ((q1.a, q2.a), (q1.b, q2.b), (q1.rest, q2.rest))
    dot = sum(c * x * y for c, (x, y) in zip((1, 1, scene.n - 2), pairs))
    return scene.tau**2 * (scene.alpha * dot + scene.sigma2[key] * pairs[key][0] * pairs[key][1])


def two_heads_covariance(scene, q1, q2):
    def mean(query):
        return [over_gamma(scene, lambda g, k=k: weights(scene, query, g)[k]) for k in range(3)]

    m1, m2 = mean(q1), mean(q2)
    count = (1, 1, scene.n - 2)
    return over_gamma(scene, lambda g: sum(
        c * (x - a) * (y - b)
        for c, x, y, a, b in zip(count, weights(scene, q1, g), weights(scene, q2, g), m1, m2)))


def window_winner(n, alpha, sigma2):
    """Probabilities that a, b, one other has the largest score, C -> inf."""
    sd = [mpmath.sqrt(2 * alpha + sigma2), mpmath.sqrt(2 * alpha), mpmath.sqrt(2 * alpha)]
    mean, count = (1, 1, 0), (1, 1, n - 2)

    def wins(k):
        def density(x):
            value = mpmath.npdf(x, mean[k], sd[k])
            for j in range(3):
                value *= phi((x - mean[j]) / sd[j]) ** (count[j] - (j == k))
            return value

        return mpmath.quad(density, [x / mpf(4) for x in range(-24, 33)])

    return [wins(k) for k in range(3)]


def least_entropy(n, r):
    gap = r * mpmath.sqrt(mpf(n - 1) / n) * n / (n - 1)
    top = 1 / (1 + (n - 1) * mpmath.exp(-gap))
    return entropy_of([top] + [(1 - top) / (n - 1)] * (n - 1))


def positive_share(sigma2):
    return phi(1 / mpmath.sqrt(sigma2))


# ---- values: name, arguments, what it is, how near (relative or absolute) -------------------

PLUS = positive_share(0.5)
VALUES = [
    ("logistic", (-1.25,), sigmoid(mpf(-1.25)), 1e-15),
    ("logit", (0.3,), mpmath.log(mpf(0.3) / (1 - mpf(0.3))), 1e-15),
    ("normal_cdf", (-2.5,), phi(-2.5), 1e-14),
    ("normal_quantile", (0.02,), -mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpf(0.02)), 1e-12),
    ("beta", (2.5, 0.7, 0.3), mpmath.betainc(2.5, 0.7, 0, mpf(0.3), regularized=True), 1e-12),
    ("copy_weight", (10, 2.0), 1 / (1 + 9 * mpmath.exp(-2)), 1e-15),
    ("copy_weight_lower_bound", (10, 2.0), 1 / (1 + 9 * mpmath.exp(-2)), 1e-15),
    ("copy_weight_upper_bound", (10, 2.0), sigmoid(2), 1e-15),
    ("copy_gap_needed", (10, 0.01), mpmath.log(9 * mpf(0.99) / mpf(0.01)), 1e-13),
    ("copy_error_bound", (0.9, 1.5), mpf(0.15), 1e-13),
    ("copy_error", (10, 2.0), (1 - 1 / (1 + 9 * mpmath.exp(-2))) * mpmath.sqrt(1 + mpf(1) / 9), 1e-13),
    ("extract_error", (10, 2.0), 8 / (2 * mpmath.exp(2) + 8), 1e-13),
    ("average_weight", (10, 3, 2.0), mpmath.exp(2) / (3 * mpmath.exp(2) + 7), 1e-14),
    ("average_leak", (10, 3, 2.0), 7 / (3 * mpmath.exp(2) + 7), 1e-14),
    ("average_scale_needed", (10, 3, 0.01, 0.5), mpmath.log(7 * mpf(0.99) / (3 * mpf(0.01))) / mpf(0.5), 1e-13),
    ("weighted_leak", (10, 3, 2.0), 7 / (mpmath.exp(2) + 7), 1e-14),
    ("weighted_scale_needed", (10, 3, 0.01, 0.5), mpmath.log(7 * mpf(0.99) / mpf(0.01)) / mpf(0.5), 1e-13),
    ("weight_mean", (FLOORED,), over_law(FLOORED, lambda w: w), 1e-10),
    ("weight_variance", (LAW,), law_variance(0.4, 1.3), 1e-10),
    ("weight_abs_deviation", (LAW,), over_law(LAW, lambda w: abs(w - mpf(1) / 2)), 1e-6),
    ("weight_cdf", (LAW, 0.3), phi((mpmath.log(mpf(0.3) / mpf(0.7)) - 0.4) / 1.3), 1e-12),
    ("weight_quantile", (LAW, 0.3), sigmoid(0.4 - 1.3 * mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpf(0.3))), 1e-12),
    ("weight_density", (LAW, 0.3), mpmath.npdf(mpmath.log(mpf(0.3) / mpf(0.7)), 0.4, 1.3) / (mpf(0.3) * mpf(0.7)), 1e-12),
    ("weight_outside", (LAW, 0.1), phi((-mpmath.log(9) - 0.4) / 1.3) + phi((0.4 - mpmath.log(9)) / 1.3), 1e-12),
    ("bimodal_scale", (2, 0.5), mpf(2), 1e-8),
    ("weight_variance_small", (0.3,), mpf(0.09) / 16, 1e-14),
    ("weight_variance_large", (60.0,), law_variance(0, 60.0), 1e-4),
    ("weight_variance_arcsin", (2.0,), law_variance(0, 2.0), 0.062),
    ("weight_abs_deviation_arctan", (2.0,), over_law(T.Law(0.0, 2.0), lambda w: abs(w - mpf(1) / 2)), 0.028),
    ("weight_mean_probit", (LAW,), phi(mpmath.sqrt(mp.pi / 8) * 0.4 / mpmath.sqrt(1 + mp.pi / 8 * mpf(1.3) ** 2)), 1e-12),
    ("swap_probability", (0.7, 0.4), phi(-0.7 / (mpmath.sqrt(2) * 0.4)), 1e-12),
    ("window_scale_min", (10, 0.01), mpmath.log(8 * mpf(0.99) / (2 * mpf(0.01))), 1e-13),
    ("window_scale_limit", (0.04,), mpf(2.5), 1e-13),
    ("window_alpha_limit", (10, 0.01), 1 / (4 * mpmath.log(mpf(10) / mpf(0.02)) ** 2), 1e-13),
    ("heads_covariance", (EXERCISE, Q1, Q2), two_heads_covariance(EXERCISE, Q1, Q2), 1e-9),
    ("head_cdf", (EXERCISE, T.Query(2.0, 0.0), 0.5), phi((mpmath.log(9) / 2 - 1) / mpmath.sqrt(0.5)), 1e-10),
    ("score_covariance", (NOISY, Q1, Q2, T.A), covariance(NOISY, Q1, Q2, 0), 1e-13),
    ("score_covariance", (NOISY, Q1, Q2, T.REST), covariance(NOISY, Q1, Q2, 2), 1e-13),
    ("score_correlation", (NOISY, Q1, Q2, T.B), covariance(NOISY, Q1, Q2, 1)
     / mpmath.sqrt(covariance(NOISY, Q1, Q1, 1) * covariance(NOISY, Q2, Q2, 1)), 1e-12),
    ("score_gap_variance", (NOISY, Q1, T.A, T.REST), covariance(NOISY, Q1, Q1, 0) + covariance(NOISY, Q1, Q1, 2), 1e-12),
    ("mse_one", (10, 3.0, 0.5), output(EXERCISE, [T.Query(3.0, 3.0)])[3], 1e-9),
    ("mse_two", (10, 3.0, 0.5, True), output(GIVEN, [T.Query(3.0, 0.0), T.Query(0.0, 3.0)])[3], 1e-9),
    ("head_loses", (10, 3.0, 0.5), phi((mpmath.log(9) / 3 - 1) / mpmath.sqrt(0.5)), 1e-12),
    ("head_loses", (10, 3.0, 0.5, True), 1 - phi((1 - mpmath.log(9) / 3) / mpmath.sqrt(0.5)) / PLUS, 1e-12),
    ("suppression_norm", (10, 1.5), 1.5 * mpmath.sqrt(8), 1e-14),
    ("groups_mse_positive", (6, 2), mpf(1) / 2 - mpf(1) / 6, 1e-13),
    ("groups_mse_flips", (4, 2, 9, 0.5), groups_mse(4, 2, 9, 0.5), 1e-10),
    ("groups_mse_first_order", (4, 9, 0.5), (1 - PLUS) / 4 * (1 + mpf(1) / 8), 1e-12),
    ("best_heads", (4, 9, 0.5), mpf(min((1, 2, 4), key=lambda h: groups_mse(4, h, 9, 0.5))), 0),
    ("dispersion_bound", (10, 3.0), 1 / (1 + 9 * mpmath.exp(-3)), 1e-13),
    ("dispersion_range_needed", (10, 0.8), mpmath.log(9 * mpf(0.8) / mpf(0.2)), 1e-12),
    ("collision_probability", (8, 4), mpmath.betainc(3.5, 0.5, 0, mpf(3) / 4, regularized=True) / 2, 1e-11),
    ("collision_size", (8, 4), 2 / mpmath.betainc(3.5, 0.5, 0, mpf(3) / 4, regularized=True), 1e-11),
    ("random_entropy", (2, 1.5), over_normal(
        lambda z: entropy_of([sigmoid(mpmath.sqrt(2) * 1.5 * z), sigmoid(-mpmath.sqrt(2) * 1.5 * z)])), 1e-9),
    ("random_sum_squares", (2, 1.5), over_normal(
        lambda z: sigmoid(mpmath.sqrt(2) * 1.5 * z) ** 2 + sigmoid(-mpmath.sqrt(2) * 1.5 * z) ** 2), 1e-9),
    ("random_entropy_limit", (1000, 1.5), mpmath.log(1000) - mpf(1.5) ** 2 / 2, 1e-13),
    ("random_keys_limit", (1000, 1.5), 1000 * mpmath.exp(-mpf(1.5) ** 2), 1e-12),
    ("random_sum_squares_limit", (1000, 6.0), 1 - mpmath.sqrt(2 * mpmath.log(1000)) / 6, 1e-12),
    ("freezing_spread", (1000,), mpmath.sqrt(2 * mpmath.log(1000)), 1e-13),
    ("entropy_floor", (10, 2.5), least_entropy(10, 2.5), 1e-10),
    ("sinusoid_dot", (8, 3.0), sum(mpmath.cos(3 * mpf(10) ** (-4 * 2 * mpf(i) / 8)) for i in range(4)), 1e-12),
    ("sinusoid_distance", (8, 3.0), mpmath.sqrt(sum(
        2 - 2 * mpmath.cos(3 * mpf(10) ** (-4 * 2 * mpf(i) / 8)) for i in range(4))), 1e-12),
    # arrays in, a number out
    ("copy_weight_gaps", ([1.0, 2.0],), 1 / (1 + mpmath.exp(-1) + mpmath.exp(-2)), 1e-14),
    ("value_noise", (P, 0.3), mpf(float(0.3 * (P**2).sum())), 1e-13),
    ("entropy", ([0.3, -1.0, 2.0], 1.5), entropy_of(list(map(mpf, softmax(1.5 * np.array([0.3, -1.0, 2.0]))))), 1e-12),
]
for _name, (_digits, _least) in FORMATS.items():
    _half = mpf(2) ** -_digits
    VALUES += [
        ("gap_sum_exact", (10, _name), mpmath.log(9 / _half), 1e-13),
        ("gap_weight_exact", (10, _name), mpmath.log(9 * (1 - _half / 2) / (_half / 2)), 1e-13),
        ("gap_underflow", (_name, False), (_digits - _least) * mpmath.log(2), 1e-12),
        ("gap_underflow", (_name, True), -_least * mpmath.log(2), 1e-2),
    ]

ARRAY_VALUES = [
    ("weighted_query", ([0.2, 0.8], 3.0, 0.5), (3 + np.log([0.2, 0.8])) / 0.5),
    ("query_for_scores", (K[:3], [1.0, -2.0, 0.5]), np.linalg.pinv(K[:3]) @ [1.0, -2.0, 0.5]),
    ("extract_orthonormal", (np.linalg.qr(K)[0][:, :2],), np.linalg.qr(K)[0][:, :2] @ np.linalg.qr(K)[0][:, :2].T),
    ("extract_projector", (K[:, :2],), K[:, :2] @ np.linalg.pinv(K[:, :2])),
    ("delta_covariance", (P, V, NOISE), np.einsum("i,ij,ik->jk", P**2 * NOISE, V - C, V - C)),
    ("delta_bias", (P, V, NOISE), 0.5 * (NOISE * P * (1 - 2 * P)) @ (V - C)),
    ("delta_jacobian", (P, V, K, 0.7), 0.7 * np.einsum("i,ij,ik->jk", P, V - C, K - P @ K)),
    ("permute_rows", (V, [5, 0, 1, 4, 2, 3]), V[[5, 0, 1, 4, 2, 3]]),
    ("permute_columns", (V, [2, 0, 1]), V[:, [2, 0, 1]]),
    ("sinusoid", (3.0, 4), np.array([math.sin(3), math.cos(3), math.sin(0.03), math.cos(0.03)])),
]

OUTPUT_VALUES = [
    ("head", (EXERCISE, T.Query(3.0, 3.0)), lambda: output(EXERCISE, [T.Query(3.0, 3.0)])),
    ("head", (CAPPED, Q1), lambda: output(CAPPED, [Q1])),
    ("heads", (GIVEN, [Q1, Q2]), lambda: output(GIVEN, [Q1, Q2])),
    ("one_head_limit", (0.5,), lambda: mixture(10, [(0.5, (1, 0, 0)), (0.5, (0, 1, 0))])),
    ("one_head_limit", (0.5, True), lambda: mixture(10, [(0.5 / PLUS, (1, 0, 0)), (1 - 0.5 / PLUS, (0, 1, 0))])),
    ("two_heads_limit", (10, 0.5), lambda: mixture(10, [
        (PLUS, (0.5, 0.5, 0)), (1 - PLUS, (0, 0.5 + mpf(1) / 18, mpf(1) / 18))])),
    ("window_limit", (6, 0.1, 0.3), lambda: mixture_of_winners(6, window_winner(6, 0.1, 0.3))),
    ("unit_keys", (EXERCISE, T.Query(2.0, 2.0)), lambda: mixture(10, [
        (PLUS, weights(EXERCISE, T.Query(2.0, 2.0), 1)), (1 - PLUS, weights(EXERCISE, T.Query(2.0, 2.0), -1))])),
    ("unit_keys_limit", (0.5,), lambda: mixture(10, [(PLUS, (0.5, 0.5, 0)), (1 - PLUS, (0, 1, 0))])),
]


def mixture_of_winners(n, p):
    """One other key wins with probability p[2]: it, or another of the n - 2."""
    mean = p
    variance = [x * (1 - x) for x in p]
    total = variance[0] + variance[1] + (n - 2) * variance[2]
    mse = (p[0] + p[1]) * mpf(1) / 2 + (n - 2) * p[2] * mpf(3) / 2
    return mean, variance, total, mse


LAWS = [
    ("law_one_head", (10, 2.0, 0.5), T.Law(2 - math.log(math.exp(2) + 8), 2 * math.sqrt(0.5))),
    ("law_pair", (2.0, 0.5, 0.1), T.Law(0.0, 2 * math.sqrt(0.9))),
    ("law_two_heads", (10, 2.0, 0.5), T.Law(2 - math.log(9), 2 * math.sqrt(0.5))),
    ("law_given_positive", (T.Law(1.0, 0.7), 0.5), T.Law(1.0, 0.7, 1.0 - 0.7 / math.sqrt(0.5))),
]

# By what they invert, or what they are the least of: in a test of their own.
BY_PROPERTY = {
    "weight_modes", "spread_for_variance", "window_scale_max", "window_alpha_max", "best_scale_one",
    "best_scale_two", "crossover_scale", "extract_oblique", "entropy_slope", "sinusoid_nearest",
    "scene_exercise", "suppression_query",
}


class Bindings(unittest.TestCase):
    def test_every_function_of_the_header_is_bound(self):
        self.assertGreater(len(DECLARED), 90)
        for name in DECLARED:
            self.assertIn(name, T.__all__)
            function = getattr(T, name)
            self.assertTrue(function.__doc__, name)
            self.assertTrue(inspect.signature(function).return_annotation, name)
        extra = set(T.__all__) - set(DECLARED) - {"A", "B", "REST", "Format", "Law", "Output", "Query", "Scene"}
        self.assertEqual(extra, set())

    def test_every_function_has_a_value_here(self):
        named = {entry[0] for table in (VALUES, ARRAY_VALUES, OUTPUT_VALUES, LAWS) for entry in table}
        self.assertEqual(set(DECLARED) - named - BY_PROPERTY, set())

    def test_the_module_is_what_the_script_writes(self):
        with open(SCRIPT.MODULE, encoding="utf-8") as file:
            self.assertEqual(file.read(), SCRIPT.module(HEADER))

    def test_signatures_of_array_functions_are_the_header_s(self):
        from attend._theory_arrays import SIGNATURES

        by_hand = {f[0]: SCRIPT.signature(f) for f in SCRIPT.functions(HEADER)
                   if SCRIPT.ARRAYS & set(SCRIPT.signature(f))}
        self.assertEqual(SIGNATURES, by_hand)

    def test_numpy_is_imported_on_first_use(self):
        code = "import sys; from attend import theory as t; t.copy_weight(2, 0.0); print('numpy' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), "False")


class Values(unittest.TestCase):
    def test_numbers(self):
        for name, args, wanted, near in VALUES:
            with self.subTest(f"{name}{args}"):
                got = getattr(T, name)(*args)
                self.assertIsInstance(got, float)
                self.assertLessEqual(abs(got - wanted), near * max(1, abs(wanted)) if near < 1e-3 else near * abs(wanted))

    def test_arrays(self):
        for name, args, wanted in ARRAY_VALUES:
            with self.subTest(name):
                got = getattr(T, name)(*args)
                self.assertEqual((got.shape, got.dtype), (wanted.shape, np.float64))
                self.assertLessEqual(np.abs(got - wanted).max(), 1e-12)

    def test_outputs(self):
        for name, args, wanted in OUTPUT_VALUES:
            with self.subTest(f"{name}{args}"):
                got = getattr(T, name)(*args)
                mean, variance, total, mse = wanted()
                for x, y in zip((*got.mean, *got.variance, got.total_variance, got.mse), (*mean, *variance, total, mse)):
                    self.assertLessEqual(abs(x - y), 1e-8)

    def test_laws(self):
        for name, args, wanted in LAWS:
            got = getattr(T, name)(*args)
            for x, y in ((got.mean, wanted.mean), (got.sd, wanted.sd), (got.floor, wanted.floor)):
                self.assertTrue(x == y or abs(x - y) < 1e-13, f"{name}: {got}")
        self.assertEqual(T.scene_exercise(7, 0.5, True), T.Scene(7.0, sigma2=(0.5, 0.0, 0.0), positive=True))
        self.assertEqual(T.suppression_query(1.5), T.Query(0.0, 0.0, -1.5))

    def test_inverses(self):
        t = T.spread_for_variance(0.05)
        self.assertLessEqual(abs(law_variance(0, t) - 0.05), 1e-9)
        c = T.window_scale_max(0.02, 0.1, 0.05)
        self.assertLessEqual(abs(law_variance(0, c * math.sqrt(4 * 0.02 + 0.1)) - 0.05), 1e-9)
        alpha = T.window_alpha_max(1.5, 0.1, 0.05)
        self.assertLessEqual(abs(law_variance(0, 1.5 * math.sqrt(4 * alpha + 0.1)) - 0.05), 1e-9)

    def test_the_least(self):
        c, mse = T.best_scale_one(10, 0.5)
        at = [output(EXERCISE, [T.Query(x, x)])[3] for x in (0.98 * c, c, 1.02 * c)]
        self.assertLessEqual(abs(at[1] - mse), 1e-8)
        self.assertLess(at[1], min(at[0], at[2]))
        scene = T.Scene(3, sigma2=(2.0, 0.0, 0.0))
        c, mse = T.best_scale_two(3, 2.0)
        at = [output(scene, [T.Query(x, 0.0), T.Query(0.0, x)])[3] for x in (0.98 * c, c, 1.02 * c)]
        self.assertLessEqual(abs(at[1] - mse), 1e-8)
        self.assertLess(at[1], min(at[0], at[2]))
        # Given gamma > 0 nothing is lost by scale.
        self.assertEqual(T.best_scale_two(10, 0.5, True), (INF, 0.0))
        c = T.crossover_scale(10, 0.5)
        one = output(EXERCISE, [T.Query(c, c)])[3]
        two = output(EXERCISE, [T.Query(c, 0.0), T.Query(0.0, c)])[3]
        self.assertLessEqual(abs(one - two), 1e-7)

    def test_modes(self):
        """T12: logit w = (2 w - 1) sd^2 + mean, one or two of them maxima."""
        for sd, count in ((1.0, 1), (2.0, 2)):
            modes = T.weight_modes(T.Law(0.0, sd))
            self.assertEqual(len(modes), count)
            for w in modes:
                self.assertLessEqual(abs(math.log(w / (1 - w)) - (2 * w - 1) * sd * sd), 1e-8)
        self.assertAlmostEqual(T.bimodal_scale(10, 0.5), T.bimodal_scale(10.0, 0.5))
        scale = T.bimodal_scale(10, 0.5)
        self.assertEqual([len(T.weight_modes(T.law_one_head(10, c * scale, 0.5))) for c in (0.99, 1.01)], [1, 2])

    def test_oblique(self):
        a, b = K[:, :2], np.vstack([V[:, :1]])
        m = T.extract_oblique(a, b)
        self.assertLessEqual(np.abs(m @ a - a).max() + np.abs(m @ b).max(), 1e-12)

    def test_slope(self):
        s = np.array([0.3, -1.0, 2.0])
        p = softmax(1.5 * s)
        self.assertAlmostEqual(T.entropy_slope(s, 1.5), -float(p @ (1.5 * s) ** 2 - (p @ (1.5 * s)) ** 2), 12)

    def test_nearest(self):
        distance = {t: math.sqrt(sum(2 - 2 * math.cos(t * 10000 ** (-2 * i / 8)) for i in range(4))) for t in range(1, 200)}
        offset, found = T.sinusoid_nearest(8, 200)
        self.assertEqual(offset, min(distance, key=distance.get))
        self.assertAlmostEqual(found, distance[offset], 10)


class Arguments(unittest.TestCase):
    def test_arrays_broadcast(self):
        n, gap = np.array([[2], [10]]), np.linspace(-3, 3, 5)
        got = T.copy_weight(n, gap)
        self.assertEqual((got.shape, got.dtype), ((2, 5), np.float64))
        self.assertLessEqual(np.abs(got - 1 / (1 + (n - 1) * np.exp(-gap))).max(), 1e-14)
        self.assertEqual(T.weight_cdf(LAW, [0.2, 0.4]).tolist(), [T.weight_cdf(LAW, 0.2), T.weight_cdf(LAW, 0.4)])
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
        for attempt in (lambda: T.copy_weight("two", 1.0), lambda: T.weight_mean(3.0),
                        lambda: T.head(EXERCISE, (1, 2)), lambda: T.permute_rows(np.eye(2), [0.0, 1.0])):
            self.assertRaises(TypeError, attempt)


class Huge(unittest.TestCase):
    def test_numbers_beyond_those_of_c(self):
        self.assertTrue(math.isnan(T.copy_weight(10, math.nan)))
        self.assertEqual(T.copy_weight(10, 10**400), T.copy_weight(10, math.inf))
        for n in (2**64 + 10, -(2**63) - 1, 10**400):
            with self.assertRaisesRegex(ValueError, "64 bits"):
                T.sinusoid_nearest(n, 8)


if __name__ == "__main__":
    run_cases()
