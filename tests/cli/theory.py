# SPDX-License-Identifier: MIT
"""attend.theory of the Python package on the library beside the command, and means to
compare it with, so that tests of the closed forms are those of the package's bindings.

What they are compared with starts from the definitions: softmax over scores, integrated
with mpmath, or summed on fine grids with NumPy.
"""

import ctypes
import os
import sys
import types
import unittest

import mpmath
import numpy as np
from mpmath import mp, mpf

import harness

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))

import theory_bindings  # noqa: E402

# The package without its __init__.py, which imports a C extension, and with the module
# that a build would write.
sys.modules["attend"] = types.ModuleType("attend")
sys.modules["attend"].__path__ = [os.path.join(ROOT, "python/attend")]
sys.modules["attend.theory"] = types.ModuleType("attend.theory")
sys.modules["attend.theory"].__package__ = "attend"
exec(theory_bindings.module(harness.read(theory_bindings.HEADER)), vars(sys.modules["attend.theory"]))
from attend import _theory_library, theory as LAB  # noqa: E402
from attend.theory import Law, Query, Scene  # noqa: E402, F401

LIBRARY = os.path.join(os.path.dirname(harness.BIN), "libattend_theory.so")
_theory_library._library = lambda: ctypes.CDLL(LIBRARY)

mp.dps = 25
INF = float("inf")


def call_heads(scene, queries):
    return LAB.heads(scene, [Query(*q) for q in queries])


def scene_of(n, sigma2, alpha=0.0, tau=1.0, softcap=0.0, positive=False):
    return Scene(n, tau, alpha, sigma2, softcap, positive)


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
