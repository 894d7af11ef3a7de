# SPDX-License-Identifier: MIT
"""attend.theory: every function of the header is bound, and passes its arguments and its result.

The closed forms themselves are tested in tests/cli and tests/lab.  Here each has a value or two,
from its definition in many digits, at arguments that cannot change places unseen.
"""

import importlib.util
import inspect
import math
import os
import re
import subprocess
import sys
import unittest

from setting import ROOT, np, run_cases

from attend import theory as T

INF = math.inf


def load_script():
    spec = importlib.util.spec_from_file_location("theory_bindings", os.path.join(ROOT, "scripts", "theory_bindings.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = load_script()
with open(SCRIPT.HEADER, encoding="utf-8") as file:
    HEADER = file.read()
DECLARED = re.findall(r"\battend_theory_(\w+)\(", re.sub(r"/\*.*?\*/", "", HEADER, flags=re.S))

def softmax(s):
    e = np.exp(s - np.max(s))
    return e / e.sum()


def oblique(a, b):
    """The projector onto span a that takes span b to 0."""
    q = np.eye(len(a)) - b @ np.linalg.pinv(b)
    return a @ np.linalg.inv(a.T @ q @ a) @ a.T @ q


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

VALUES = [
    ("logistic", (-1.25,), 0.222700138825),
    ("logit", (0.3,), -0.847297860387),
    ("normal_cdf", (-2.5,), 0.00620966532578),
    ("normal_quantile", (0.02,), -2.05374891063),
    ("beta", (2.5, 0.7, 0.3), 0.0298140248453),
    ("copy_weight", (10, 2.0), 0.450853060379),
    ("copy_weight_lower_bound", (10, 2.0), 0.450853060379),
    ("copy_weight_upper_bound", (10, 2.0), 0.880797077978),
    ("copy_gap_needed", (10, 0.01), 6.79234442747),
    ("copy_error_bound", (0.9, 1.5), 0.15),
    ("copy_error", (10, 2.0), 0.578851699771),
    ("extract_error", (10, 2.0), 0.351214355716),
    ("average_weight", (10, 3, 2.0), 0.253334709209),
    ("average_leak", (10, 3, 2.0), 0.239995872372),
    ("average_scale_needed", (10, 3, 0.01, 0.5), 10.884835421),
    ("weighted_leak", (10, 3, 2.0), 0.486480833202),
    ("weighted_scale_needed", (10, 3, 0.01, 0.5), 13.0820599984),
    ("weight_mean", (FLOORED,), 0.648433934223),
    ("weight_variance", (LAW,), 0.0597661324287),
    ("weight_abs_deviation", (LAW,), 0.21952067253),
    ("weight_cdf", (LAW, 0.3), 0.168663557672),
    ("weight_quantile", (LAW, 0.3), 0.430031982318),
    ("weight_density", (LAW, 0.3), 0.922252075377),
    ("weight_outside", (LAW, 0.1), 0.106277761298),
    ("bimodal_scale", (2, 0.5), 2.0),
    ("weight_variance_small", (0.3,), 0.005625),
    ("weight_variance_large", (60.0,), 0.243354000113),
    ("weight_variance_arcsin", (2.0,), 0.104619345428),
    ("weight_abs_deviation_arctan", (2.0,), 0.285634299924),
    ("weight_mean_probit", (LAW,), 0.577044335952),
    ("swap_probability", (0.7, 0.4), 0.10796246947),
    ("window_scale_min", (10, 0.01), 5.98141421125),
    ("window_scale_limit", (0.04,), 2.5),
    ("window_alpha_limit", (10, 0.01), 0.00647310296746),
    ("heads_covariance", (EXERCISE, Q1, Q2), 0.00631989115463),
    ("head_cdf", (EXERCISE, T.Query(2.0, 0.0), 0.5), 0.555456208957),
    ("score_covariance", (NOISY, Q1, Q2, 0), 1.0112),
    ("score_covariance", (NOISY, Q1, Q2, 2), 0.6896),
    ("score_correlation", (NOISY, Q1, Q2, 1), 0.809907765756),
    ("score_gap_variance", (NOISY, Q1, 0, 2), 2.948),
    ("mse_one", (10, 3.0, 0.5), 0.173250560476),
    ("mse_two", (10, 3.0, 0.5, True), 0.0726116034557),
    ("head_loses", (10, 3.0, 0.5), 0.352554863618),
    ("head_loses", (10, 3.0, 0.5, True), 0.297286744697),
    ("suppression_norm", (10, 1.5), 4.24264068712),
    ("groups_mse_positive", (6, 2), 0.333333333333),
    ("groups_mse_flips", (4, 2, 9, 0.5), 0.250438326003),
    ("groups_mse_first_order", (4, 9, 0.5), 0.0221202009914),
    ("best_heads", (4, 9, 0.5), 4.0),
    ("dispersion_bound", (10, 3.0), 0.690567857703),
    ("dispersion_range_needed", (10, 0.8), 3.58351893846),
    ("collision_probability", (8, 4), 0.0852353303935),
    ("collision_size", (8, 4), 11.7322241303),
    ("random_entropy", (2, 1.5), 0.447623690531),
    ("random_sum_squares", (2, 1.5), 0.707882807342),
    ("random_entropy_limit", (1000, 1.5), 5.78275527898),
    ("random_keys_limit", (1000, 1.5), 105.399224562),
    ("random_sum_squares_limit", (1000, 6.0), 0.380512968525),
    ("freezing_spread", (1000,), 3.71692218885),
    ("entropy_floor", (10, 2.5), 1.53151567754),
    ("sinusoid_dot", (8, 3.0), 1.96488952628),
    ("sinusoid_distance", (8, 3.0), 2.01747885923),
    ("copy_weight_gaps", ([1.0, 2.0],), 0.665240955775),
    ("value_noise", (P, 0.3), 0.0807807763338),
    ("entropy", ([0.3, -1.0, 2.0], 1.5), 0.314135669394),
    ("gap_sum_exact", (10, "f64"), 38.934025147),
    ("gap_sum_exact", (10, "f32"), 18.8327569108),
    ("gap_underflow", ("f32", False), 103.972077084),
    ("gap_underflow", ("f32", True), 87.3365447506),
    ("gap_sum_exact", (10, "f16"), 9.8218435635),
    ("gap_weight_exact", (10, "f16"), 10.5147465736),
    ("gap_sum_exact", (10, "bf16"), 7.74240202182),
    ("bimodal_scale", (10, 0.5), 2.50846816691),
    ("mse_one", (9, 3.5, 0.4, True), 0.177932918276),
    ("mse_two", (9, 3.5, 0.4), 0.057647998938),
    ("spread_for_variance", (0.05,), 1.10650352575),
    ("window_scale_max", (0.02, 0.1, 0.05), 2.60805382155),
    ("window_alpha_max", (1.5, 0.1, 0.05), 0.111038894722),
    ("crossover_scale", (10, 0.5), 2.17373685971),
    ("crossover_scale", (5, 2.0, True), 1.0056473594),
    ("entropy_slope", ([0.3, -1.0, 2.0], 1.5), -0.62038187319),
    ("best_scale_one", (10, 0.5), (2.13637614741, 0.146789650671)),
    ("best_scale_two", (3, 2.0), (2.26102017838, 0.077381442858)),
    ("best_scale_two", (10, 0.5, True), (INF, 0.0)),
    ("weight_modes", (T.Law(0.0, 1.0),), (0.5,)),
    ("weight_modes", (T.Law(0.1, 2.0),), (0.0239254448523, 0.981084480372)),
    ("sinusoid_nearest", (8, 200), (63.0, 0.645292363871)),
    ("law_one_head", (10, 2.0, 0.5), T.Law(-0.733656613867, 1.41421356237)),
    ("law_pair", (2.0, 0.5, 0.1), T.Law(0.0, 1.8973665961)),
    ("law_two_heads", (10, 2.0, 0.5), T.Law(-0.197224577336, 1.41421356237)),
    ("law_given_positive", (T.Law(1.0, 0.7), 0.5), T.Law(1.0, 0.7, 0.0100505063388)),
    ("head", (EXERCISE, T.Query(3.0, 3.0)),
        T.Output((0.451160318117, 0.392505926646, 0.0195417194047), (0.10269208145, 0.0525216530215, 0.000130188161749), 0.156255239765, 0.173250560476)),
    ("head", (CAPPED, Q1),
        T.Output((0.379383365953, 0.316365085193, 0.101417182951), (0.0110826685408, 0.00287988149258, 0.000295951542313), 0.0148504046604, 0.0939768939988)),
    ("heads", (GIVEN, [Q1, Q2]),
        T.Output((0.262290058885, 0.438462916419, 0.037405878087), (0.0169320878338, 0.00323350334443, 8.38734665559e-05), 0.0208365789107, 0.0923230053949)),
    ("one_head_limit", (0.5,), T.Output((0.5, 0.5, 0.0), (0.25, 0.25, 0.0), 0.5, 0.5)),
    ("one_head_limit", (0.5, True),
        T.Output((0.542681700592, 0.457318299408, 0.0), (0.248178272435, 0.248178272435, 0.0), 0.496356544869, 0.5)),
    ("two_heads_limit", (10, 0.5),
        T.Output((0.460675198237, 0.504369422418, 0.00436942241806), (0.0181159608476, 0.000223653837625, 0.000223653837625), 0.0201288453862, 0.0218471120903)),
    ("window_limit", (6, 0.1, 0.3),
        T.Output((0.478953823257, 0.461250137161, 0.0149490098956), (0.249557058444, 0.24849844813, 0.0147255369987), 0.556957654569, 0.559796039582)),
    ("unit_keys", (EXERCISE, T.Query(2.0, 2.0)),
        T.Output((0.299565090312, 0.336313858892, 0.0455151313495), (0.00722108373439, 0.00166477805729, 3.04914737272e-05), 0.0091297935815, 0.092670116848)),
    ("unit_keys_limit", (0.5,),
        T.Output((0.460675198237, 0.539324801763, 0.0), (0.0181159608476, 0.0181159608476, 0.0), 0.0362319216952, 0.0393248017626)),
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
    ("extract_oblique", (K[:, :2], V[:, :1]), oblique(K[:, :2], V[:, :1])),
]


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
        named = {entry[0] for table in (VALUES, ARRAY_VALUES) for entry in table}
        self.assertEqual(set(DECLARED) - named - {"scene_exercise", "suppression_query"}, set())

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


def numbers_of(value):
    """A result as a flat list of numbers."""
    if isinstance(value, (T.Law, T.Output)):
        value = list(vars(value).values())
    return [x for part in value for x in numbers_of(part)] if isinstance(value, (list, tuple)) else [value]


class Values(unittest.TestCase):
    def test_numbers(self):
        for name, args, wanted in VALUES:
            with self.subTest(f"{name}{args}"):
                got = getattr(T, name)(*args)
                self.assertIs(type(got), type(wanted))
                np.testing.assert_allclose(numbers_of(got), numbers_of(wanted), rtol=1e-8, atol=1e-13)

    def test_arrays(self):
        for name, args, wanted in ARRAY_VALUES:
            with self.subTest(name):
                got = getattr(T, name)(*args)
                self.assertEqual((got.shape, got.dtype), (wanted.shape, np.float64))
                self.assertLessEqual(np.abs(got - wanted).max(), 1e-12)

    def test_scenes_and_queries(self):
        self.assertEqual(T.scene_exercise(7, 0.5, True), T.Scene(7.0, sigma2=(0.5, 0.0, 0.0), positive=True))
        self.assertEqual(T.suppression_query(1.5), T.Query(0.0, 0.0, -1.5))


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
