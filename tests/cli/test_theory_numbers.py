# SPDX-License-Identifier: MIT
"""Numbers printed in docs/THEORY.md equal those of the functions."""

import math
import os
import unittest

import numpy as np

from harness import read
from theory import INF, LAB, Law, Query, call_heads, scene_of

PAGE = os.path.join(os.path.dirname(__file__), "../../docs/THEORY.md")
TEXT = " ".join(read(PAGE).split())


class Numbers(unittest.TestCase):
    def says(self, *phrases):
        for phrase in phrases:
            self.assertIn(phrase, TEXT)

    def test_copies_and_averages(self):
        for name in "f64", "f32", "f16", "bf16":
            gaps = LAB.gap_sum_exact(2, name), LAB.gap_weight_exact(2, name)
            gaps += LAB.gap_underflow(name, False), LAB.gap_underflow(name, True)
            self.says(" | ".join([f"| {name}", *(f"{gap:.2f}" for gap in gaps)]))
        plain = LAB.average_scale_needed(1024, 2, 0.01, 1)
        divided = LAB.average_scale_needed(1024, 2, 0.01, 1 / 8)
        self.says(
            f"$\\beta = 10$, $p_a = {LAB.average_weight(1e6, 2, 10):.3f}$",
            f"this is {divided:.2f} instead of {plain:.2f}.",
        )

    def test_one_head(self):
        pair = LAB.weight_variance(LAB.law_pair(50, 0, 0.01))
        coin = LAB.window_limit(10, 1, 0).variance[0]
        scales = [f"{LAB.bimodal_scale(n, 0.5):.3f}" for n in (3, 10, 100, 1000)]
        outside = LAB.weight_outside(LAB.law_one_head(2, 10, 0.5), 0.1)
        self.says(
            f"$T = 10$ and the variance is {pair:.3f}",
            f"$P_a (1 - P_a)$: {coin:.3f} at $n = 10$, $\\alpha = 1$",
            f"above $C = 2$, {', '.join(scales)} for",
            f"$C \\ge {LAB.average_scale_needed(10, 2, 0.1, 1):.2f}$ at $n = 10$",
            f"$\\delta = 0.1$ it is {outside:.3f}",
        )

    def test_two_heads(self):
        one, two = LAB.one_head_limit(0.5, 0), LAB.two_heads_limit(10, 0.5, 0)
        many = LAB.two_heads_limit(1e9, 0.5, 0).mse
        way = [LAB.law_two_heads(1000, C, 0.5) for C in (3, 10, 50)]
        way = ", ".join(f"{LAB.weight_variance(law):.3f}" for law in way)
        factor = one.variance[0] / two.variance[0]
        self.says(
            f"{100 * LAB.head_loses(1000, 10, 0.5, 0):.0f} % at $n = 1000$",
            f"$p = {2 * two.mean[0]:.5f}$, the variances are {one.variance[0]:.2f}",
            f"and {two.variance[0]:.4f}, a factor of {factor:.1f}, and",
            f"${many:.4f} (1 + \\frac{{1}}{{n-1}})$",
            f"is {way} and {4 * two.variance[0]:.4f} at",
        )

    def test_best_scales_and_crossovers(self):
        for sigma2 in (0.5, 0.005):
            row = [LAB.crossover_scale(10**k, sigma2, 0) for k in (1, 2, 3, 4)]
            row = " | ".join(f"{C:.2f}" for C in row)
            self.says(f"$\\sigma^2 = {sigma2}$ | {row} |")
        ten, thousand = LAB.best_scale_one(10, 0.5), LAB.best_scale_one(1000, 0.5)
        two = [f"{LAB.mse_two(n, 10, 0.5, 0):.3f}" for n in (10, 1000)]
        worse = f"{LAB.mse_two(1e4, 10, 0.005, 0):.4f}"
        worse += f" against {LAB.mse_one(1e4, 10, 0.005, 0):.4f}"
        self.says(
            f"it is least at $C = {LAB.best_scale_two(3, 0.5)[0]:.1f}$",
            "is {:.2f} with error {:.3f} for $n = 10$, and ".format(*ten)
            + "{:.2f} with {:.3f} for $n = 1000$".format(*thousand),
            f"at $C = 10$ have {two[0]} and {two[1]}.",
            f"two heads are worse: {worse}.",
        )
        self.assertEqual(LAB.best_scale_two(4, 0.5)[0], INF)

    def test_suppression(self):
        quiet, heads = Query(0, 0, -10), [(10, 0, 0), (0, 10, 0)]
        alone = scene_of(10, (0.5, 0, 0))
        noisy = LAB.head(scene_of(10, (0.5, 0, 0), 1e-4), quiet).variance[0]
        pair = LAB.head(alone, Query(10, 10, 0)).variance[0]
        two = call_heads(alone, heads).variance[0]
        every = scene_of(10, (0.5, 0.5, 0.5))
        bad = LAB.head(every, quiet).mse, call_heads(every, heads).mse
        self.says(
            f"$v_a$ is {noisy:.3f}, against {pair:.3f} for the pair query",
            f"and {two:.3f} for two heads",
            f"its error is {bad[0]:.2f}, that of two heads {bad[1]:.3f}",
        )

    def test_many_keys(self):
        bounds = [LAB.dispersion_bound(n, 10) for n in (10, 1e3, 1e5)]
        sizes = [LAB.collision_size(64, m) for m in (2, 4, 8, 16)]
        squares = [
            f"{LAB.random_sum_squares(1024, S):.3f}" f" against {LAB.random_sum_squares_limit(1024, S):.3f}"
            for S in (8, 6)
        ]
        keys = 1 / LAB.random_sum_squares(1024, 2), 1024 / math.exp(4)
        frozen = LAB.random_entropy(1024, 3.5), LAB.random_entropy_limit(1024, 3.5)
        self.says(
            "$D = 10$: {:.4f}, {:.3f}, {:.3f} at".format(*bounds),
            f"${sizes[0] / 1e10:.1f} \\cdot 10^{{10}}$,"
            f" ${sizes[1] / 1e4:.1f} \\cdot 10^4$, {sizes[2]:.0f} and {sizes[3]:.0f} at",
            f"$\\sqrt{{2 \\ln n}} = {LAB.freezing_spread(1024):.2f}$",
            f"$E H = {LAB.random_entropy(1024, 1):.2f}$ of at most {math.log(1024):.2f}",
            f"is {squares[0]} at $S = 8$, and {squares[1]} at",
            f"1/{keys[0]:.0f} where $e^{{S^2}}/n$ is 1/{keys[1]:.0f}",
            f"is {frozen[0]:.2f} where $\\ln n - S^2/2 = {frozen[1]:.2f}$",
        )

    def test_rows_and_order(self):
        p, v = np.array([1, math.exp(-0.9)]) / (1 + math.exp(-0.9)), [[3.0], [-1]]
        left = []
        for sd in (0.1, 0.8):
            law, noise = Law(0.9, sd, -INF), np.array([0.3, 0.7]) * sd * sd
            ((covariance,),) = LAB.delta_covariance(p, v, noise)
            (bias,) = LAB.delta_bias(p, v, noise)
            left.append(100 * (covariance / (16 * LAB.weight_variance(law)) - 1))
            left.append(100 * (bias / (4 * (LAB.weight_mean(law) - p[0])) - 1))
        first, near = LAB.sinusoid_nearest(2, 100000)
        second, far = LAB.sinusoid_nearest(4, 200000)
        self.says(
            f"leaves {left[0]:.2f} % out of the covariance and {left[1]:.1f} % out of",
            f"noise of 0.8 leaves {left[2]:.0f} % and {left[3]:.0f} %.",
            f"nearest to $t = 0$ is {first}, at a distance of" f" ${near * 1e5:.1f} \\cdot 10^{{-5}}$",
            f"it is {second}, at ${far * 1e3:.1f} \\cdot 10^{{-3}}$",
        )
