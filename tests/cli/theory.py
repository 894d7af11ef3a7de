# SPDX-License-Identifier: MIT
"""The functions of attend/theory.h in Python, and means to compare them with.

They come from libattend_theory.so beside the command.  What they are compared with starts
from the definitions: softmax over scores, integrated with mpmath, or summed on fine
grids with NumPy.
"""

import ctypes
import os
import unittest
from ctypes import POINTER, Structure, byref, c_double, c_int, c_int64

import mpmath
import numpy as np
from mpmath import mp, mpf

import harness

mp.dps = 25
INF = float("inf")


class Law(Structure):
    _fields_ = [("mean", c_double), ("sd", c_double), ("floor", c_double)]


class Scene(Structure):
    _fields_ = [
        ("n", c_double),
        ("tau", c_double),
        ("alpha", c_double),
        ("sigma2", c_double * 3),
        ("softcap", c_double),
        ("positive", c_int),
    ]


class Query(Structure):
    _fields_ = [("a", c_double), ("b", c_double), ("rest", c_double)]


class Output(Structure):
    _fields_ = [
        ("mean", c_double * 3),
        ("variance", c_double * 3),
        ("total_variance", c_double),
        ("mse", c_double),
    ]


# name: result and arguments; d double, i int, l int64, L law, S scene, Q query, O output,
# q array of queries, p pointer to double, n to int64.
SIGNATURES = """
beta dddd; normal_cdf dd; normal_quantile dd; logistic dd; logit dd
copy_weight ddd; copy_weight_gaps dpl; copy_weight_lower_bound ddd
copy_weight_upper_bound ddd; copy_error_bound ddd; copy_error ddd; copy_gap_needed ddd
gap_sum_exact ddi; gap_weight_exact ddi; gap_underflow dii; extract_error ddd
extract_orthonormal ipllp; extract_projector ipllp; extract_oblique iplpllp
query_for_scores ipllpp; permute_rows ipllnp; permute_columns ipllnp
average_weight dddd; average_leak dddd; average_scale_needed ddddd
weighted_query iplddp; weighted_leak dddd; weighted_scale_needed ddddd
law_one_head Lddd; law_two_heads Lddd; law_pair Lddd; law_given_positive LLd
weight_mean dL; weight_variance dL; weight_abs_deviation dL; weight_cdf dLd
weight_quantile dLd; weight_density dLd; weight_outside dLd; weight_modes iLp
weight_variance_small dd; weight_variance_large dd; weight_variance_arcsin dd
weight_abs_deviation_arctan dd; weight_mean_probit dL
bimodal_scale ddd; spread_for_variance dd; swap_probability ddd
window_scale_min ddd; window_scale_max dddd; window_alpha_max dddd
window_scale_limit dd; window_alpha_limit ddd; window_limit Oddd
head OSQ; heads OSqi; heads_covariance dSQQ; head_cdf dSQd
score_covariance dSQQi; score_correlation dSQQi; score_gap_variance dSQii
one_head_limit Odi; two_heads_limit Oddi; mse_one ddddi; mse_two ddddi
head_loses ddddi; best_scale_one dddip; best_scale_two dddip; crossover_scale dddi
unit_keys OSQ; unit_keys_limit Odi; suppression_query Qd; suppression_norm ddd
groups_mse_flips ddddd; groups_mse_positive ddd; groups_mse_first_order dddd
best_heads dddd; dispersion_bound ddd; dispersion_range_needed ddd
collision_probability ddd; collision_size ddd; random_entropy ddd
random_sum_squares ddd; random_entropy_limit ddd; random_keys_limit ddd
random_sum_squares_limit ddd; freezing_spread dd; entropy_floor ddd
delta_covariance ipppllp; delta_bias ipppllp; delta_jacobian ipppllldp; value_noise dpld
entropy dpld; entropy_slope dpld; sinusoid idlp; sinusoid_dot dld
sinusoid_distance dld; sinusoid_nearest lllp
"""


def load():
    path = os.path.join(os.path.dirname(harness.BIN), "libattend_theory.so")
    library = ctypes.CDLL(path)
    types = {
        "d": c_double,
        "i": c_int,
        "l": c_int64,
        "L": Law,
        "S": POINTER(Scene),
        "Q": Query,
        "q": POINTER(Query),
        "O": Output,
        "p": POINTER(c_double),
        "n": POINTER(c_int64),
    }
    functions = {}
    for entry in SIGNATURES.replace("\n", ";").split(";"):
        if entry.strip():
            name, letters = entry.split()
            function = getattr(library, "attend_theory_" + name)
            function.restype = types[letters[0]]
            function.argtypes = [types[letter] for letter in letters[1:]]
            functions[name] = function
    return type("Lab", (), {k: staticmethod(v) for k, v in functions.items()})


LAB = load()


def call_heads(scene, queries):
    array = (Query * len(queries))(*[Query(*q) for q in queries])
    return LAB.heads(byref(scene), array, len(queries))


def scene_of(n, sigma2, alpha=0.0, tau=1.0, softcap=0.0, positive=0):
    return Scene(n, tau, alpha, (c_double * 3)(*sigma2), softcap, positive)


def pointer(array):
    """To the entries of an array of doubles, which stays where it is."""
    return array.ctypes.data_as(POINTER(c_double))


def sg(y):
    return 1 / (1 + mpmath.exp(-y))


def mean_under(law, f):
    """E[f(Y)], Y ~ N(mean, sd^2) given Y > floor, cut at the turn of the logistic."""
    mean, sd = mpf(law.mean), mpf(law.sd)
    low = max(mpf(-14), (mpf(law.floor) - mean) / sd) if law.floor > -INF else mpf(-14)
    cuts = {low, mpf(14)}
    for z in [-8, -4, -2, -1, 0, 1, 2, 4, 8]:
        cuts.add(mpf(z))
    for y in [-60, -20, -6, -2, 0, 2, 6, 20, 60]:
        cuts.add((y - mean) / sd)
    cuts = sorted(z for z in cuts if low <= z <= 14)
    total = mpmath.quad(lambda z: f(mean + sd * z) * mpmath.npdf(z), cuts)
    return total / mpmath.ncdf(-low)


class Near(unittest.TestCase):
    def near(self, got, wanted, absolute=1e-10, relative=0.0, what=""):
        error = abs(mpf(got) - mpf(wanted))
        bound = max(absolute, relative * abs(mpf(wanted)))
        self.assertTrue(error <= bound, f"{what}: {got!r}, not {wanted}: off {error}")


def grid(reach=9.0, count=241):
    """Nodes and weights of a standard normal; exponentially accurate when smooth."""
    z = np.linspace(-reach, reach, count)
    w = np.exp(-0.5 * z * z)
    return z, w / w.sum()
