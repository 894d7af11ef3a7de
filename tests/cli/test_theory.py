# SPDX-License-Identifier: MIT
"""The theory of attend/theory.h against quadrature in many digits: weights, copies, rows."""

import itertools
import math
from ctypes import POINTER, byref, c_double

import mpmath
import numpy as np
from mpmath import mpf

import harness
from theory import INF, LAB, Law, Near, grid, mean_under, sg

LAWS = [
    Law(m, s, f)
    for m, s, f in [
        (0, 1e-6, -INF),
        (0, 0.5, -INF),
        (0, 3, -INF),
        (0, 7.0710678118654755, -INF),
        (0, 1e3, -INF),
        (-2, 1, -INF),
        (-6.9, 0.7, -INF),
        (-30, 20, -INF),
        (4, 1e3, -INF),
        (12, 1e-3, -INF),
        (-1.5, 5, -3),
        (3, 2, 4),
        (-40, 30, -60),
        (0.3, 1e3, -1400),
    ]
]


class Special(Near):
    def test_normal(self):
        for x in [-37, -12, -3, -0.1, 0, 1e-9, 0.7, 5, 9]:
            self.near(LAB.normal_cdf(x), mpmath.ncdf(x), 0, 1e-13, x)
        for p in [1e-300, 1e-30, 1e-5, 0.2, 0.5, 0.77, 1 - 1e-6]:
            found = LAB.normal_quantile(p)
            self.near(mpmath.ncdf(found), p, 0, 1e-12, p)

    def test_beta(self):
        for a, b, x in [
            (31.5, 0.5, 0.5),
            (0.5, 0.5, 0.1),
            (2, 3, 0.9),
            (5e4, 0.5, 0.9999),
            (300, 500, 0.37),
            (0.01, 7, 1e-4),
            (1e6, 0.5, 1 - 1e-6),
        ]:
            wanted = mpmath.betainc(a, b, 0, x, regularized=True)
            self.near(LAB.beta(a, b, x), wanted, 0, 1e-11, (a, b, x))


class Weights(Near):
    def test_moments(self):
        for law in [*LAWS[2:4], *harness.sample(LAWS, 4)]:
            what = (law.mean, law.sd, law.floor)
            mean = mean_under(law, sg)
            second = mean_under(law, lambda y: (sg(y) - mean) ** 2)
            half = mean_under(law, lambda y: abs(mpmath.tanh(y / 2)) / 2)
            self.near(LAB.weight_mean(law), mean, 0, 1e-11, what)
            self.near(LAB.weight_variance(law), second, 0, 1e-10, what)
            self.near(LAB.weight_abs_deviation(law), half, 0, 1e-11, what)

    def test_distribution(self):
        for law in LAWS:
            mean, sd = mpf(law.mean), mpf(law.sd)
            kept = mpmath.ncdf((mean - law.floor) / sd) if law.floor > -INF else mpf(1)
            for x in [1e-9, 0.01, 0.3, 0.5, 0.9, 1 - 1e-6]:
                y = mpmath.log(mpf(x) / (1 - mpf(x)))
                above = mpmath.ncdf((mean - max(y, mpf(law.floor))) / sd) / kept
                density = mpmath.npdf(y, mean, sd) / (x * (1 - mpf(x))) / kept
                if y <= law.floor:
                    density = mpf(0)
                self.near(LAB.weight_cdf(law, x), 1 - above, 1e-14, 0, x)
                self.near(LAB.weight_density(law, x), density, 1e-280, 1e-6, x)

    def test_modes(self):
        for mean, sd in [(0, 1), (0, 3), (-0.5, 2), (-3, 2), (-3, 4), (2, 1.5), (-8, 3)]:

            def slope(y):
                return -(y - mean) / sd**2 + math.tanh(y / 2)

            grid = np.arange(mean - sd**2 - 2, mean + sd**2 + 2, 1e-3)
            values = [slope(y) for y in grid]
            roots = [
                mpmath.findroot(slope, y)
                for y, u, v in zip(grid, values, values[1:])
                if u > 0 >= v
            ]
            found = (c_double * 2)()
            count = LAB.weight_modes(Law(mean, sd, -INF), found)
            self.assertEqual(count, len(roots), (mean, sd))
            for got, wanted in zip(found, roots):
                self.near(got, sg(wanted), 1e-12, 0, (mean, sd))

    def test_bimodal_scale(self):
        # A double root: y - mu = T2 tanh(y/2) and 1 = (T2/2) / cosh^2(y/2).
        for n, sigma2, start in [
            (3, 0.5, (2.2, -1)),
            (10, 0.5, (2.5, -1)),
            (100, 0.5, (3.1, -2)),
            (1000, 0.5, (3.7, -2)),
            (10, 0.005, (20, -1)),
        ]:

            def equations(C, y):
                mu = -mpmath.log(1 + (n - 2) * mpmath.exp(-C))
                T2 = C * C * mpf(sigma2)
                return [
                    y - mu - T2 * mpmath.tanh(y / 2),
                    1 - T2 / 2 / mpmath.cosh(y / 2) ** 2,
                ]

            found = LAB.bimodal_scale(n, sigma2)
            T2 = found**2 * sigma2
            start = (found * (1 + 1e-5), 2 * mpmath.acosh(mpmath.sqrt(T2 / 2)))
            C, _ = mpmath.findroot(equations, start)
            self.near(found, C, 1e-9, 0, (n, sigma2))

    def test_inverses(self):
        for v in [1e-6, 0.05, 0.1953, 0.249]:
            T = LAB.spread_for_variance(v)
            got = mean_under(Law(0, T, -INF), lambda y: (sg(y) - 0.5) ** 2)
            self.near(got, v, 0, 1e-10, v)
            C = LAB.window_scale_max(0.003, 0.01, v)
            self.near(C * math.sqrt(0.022), T, 0, 1e-13)
        for law in LAWS:
            for p in [0.001, 0.3, 0.8]:
                w = LAB.weight_quantile(law, p)
                if 1e-12 < w < 1 - 1e-3:
                    # w is rounded, and the cdf is as steep as the density.
                    bound = 1e-12 + 4e-16 * LAB.weight_density(law, w)
                    self.near(LAB.weight_cdf(law, w), p, bound, 0, (law.sd, p))

    def test_swap(self):
        gap = mpmath.quad(
            lambda x: mpmath.npdf(x, 1.2, 0.7) * mpmath.ncdf(-x / mpf(0.7)),
            [-8, -2, 0, 1.2, 3, 8],
        )
        self.near(LAB.swap_probability(1.2, 0.7), gap, 1e-12)


class Copies(Near):
    @mpmath.workdps(60)  # 1 - p cancels
    def test_softmax(self):
        for n, m, beta in itertools.product([4, 100], [1, 2, 3], [-2, 0.5, 10, 50]):
            scores = [mpf(beta)] * m + [mpf(0)] * (n - m)
            e = [mpmath.exp(s) for s in scores]
            p = e[0] / sum(e)
            self.near(LAB.average_weight(n, m, beta), p, 0, 1e-14)
            self.near(LAB.average_leak(n, m, beta), sum(e[m:]) / sum(e), 0, 1e-13)
            if m == 1:
                rest = (1 - p) / (n - 1)
                error = mpmath.sqrt((1 - p) ** 2 + (n - 1) * rest**2)
                self.near(LAB.copy_weight(n, beta), p, 0, 1e-14)
                self.near(LAB.copy_error(n, beta), error, 0, 1e-13)

    def test_needed(self):
        for n, m, eps, tau in itertools.product(
            [7, 1e6], [1, 2, 5], [1e-9, 0.01, 0.6], [1, 0.125]
        ):
            s = LAB.average_scale_needed(n, m, eps, tau) * mpf(tau)
            self.near((n - m) / (m * mpmath.exp(s) + n - m), eps, 0, 1e-12)
            s = LAB.weighted_scale_needed(n, m, eps, tau) * mpf(tau)
            self.near((n - m) / (mpmath.exp(s) + n - m), eps, 0, 1e-12)
            gap = mpf(LAB.copy_gap_needed(n, eps))
            self.near((n - 1) / (mpmath.exp(gap) + n - 1), eps, 0, 1e-12)


class ManyKeys(Near):
    def test_collisions(self):
        for d, m in [(2, 3), (3, 2), (8, 2), (64, 8), (64, 2), (200, 5)]:

            def density(x):
                return (1 - x * x) ** (mpf(d - 3) / 2)

            edge = 1 / mpmath.sqrt(m)
            cap = mpmath.quad(density, [edge, (1 + edge) / 2, 1])
            whole = 2 * mpmath.quad(density, [0, 0.1, 0.3, 0.6, 1])
            self.near(LAB.collision_probability(d, m), cap / whole, 0, 1e-9, (d, m))

    def test_random_logits(self):
        for n, S in [(2, 0.3), (2, 4), *harness.sample([(3, 1), (3, 3)], 1)]:
            z, w = grid(count=181 if n == 3 else 2001)
            s = [S * z.reshape([-1 if i == k else 1 for i in range(n)]) for k in range(n)]
            weights = 1
            for k in range(n):
                weights = weights * w.reshape([-1 if i == k else 1 for i in range(n)])
            top = np.maximum.reduce(np.broadcast_arrays(*s))
            e = [np.exp(x - top) for x in s]
            total = sum(e)
            p = [x / total for x in e]
            squares = (weights * sum(x * x for x in p)).sum()
            log_sum = np.log(total) + top
            entropy = (weights * (log_sum - sum(x * y for x, y in zip(p, s)))).sum()
            self.near(LAB.random_sum_squares(n, S), squares, 1e-9, 0, (n, S))
            self.near(LAB.random_entropy(n, S), entropy, 1e-9, 0, (n, S))

    def test_random_logits_many(self):
        """Large n against a simulation, within 4 standard errors."""
        generator = np.random.default_rng(5)
        for n, S in [(1024, 2), (1024, 8)]:
            x = S * generator.standard_normal((3000, n))
            x -= x.max(1, keepdims=True)
            p = np.exp(x)
            total = p.sum(1, keepdims=True)
            p /= total
            squares = (p * p).sum(1)
            entropy = np.log(total[:, 0]) - (p * x).sum(1)
            for sample, got in [
                (squares, LAB.random_sum_squares(n, S)),
                (entropy, LAB.random_entropy(n, S)),
            ]:
                se = sample.std() / math.sqrt(len(sample))
                self.near(got, sample.mean(), 4 * se, 0, (n, S))

    @mpmath.workdps(60)
    def test_entropy(self):
        for n, r in [(2, 0.5), (5, 3), (1000, 20), (10, 60)]:
            top = r * mpmath.sqrt(mpf(n - 1) / n)
            low = -top / (n - 1)
            total = mpmath.exp(top) + (n - 1) * mpmath.exp(low)
            p, q = mpmath.exp(top) / total, mpmath.exp(low) / total
            floor = -p * mpmath.log(p) - (n - 1) * q * mpmath.log(q)
            self.near(LAB.entropy_floor(n, r), floor, 0, 1e-12, (n, r))
        scores = np.array([0.3, -2, 5, 1.1, 1.1])
        pointer = scores.ctypes.data_as(POINTER(c_double))
        for beta in [0, 0.5, 3, 40]:

            def entropy(b):
                e = [mpmath.exp(b * mpf(s)) for s in scores]
                p = [x / sum(e) for x in e]
                return -sum(x * mpmath.log(x) for x in p)

            slope = beta * mpmath.diff(entropy, beta)
            self.near(LAB.entropy(pointer, 5, beta), entropy(beta), 1e-14)
            self.near(LAB.entropy_slope(pointer, 5, beta), slope, 1e-12)

    def test_dispersion(self):
        for n, D in [(10, 10), (1e5, 10), (1e12, 3)]:
            wanted = 1 / (1 + (mpf(n) - 1) * mpmath.exp(-D))
            self.near(LAB.dispersion_bound(n, D), wanted, 0, 1e-14)
            self.near(LAB.dispersion_range_needed(n, float(wanted)), D, 1e-9)

    def test_sinusoids(self):
        for d, T in [(2, 800), (4, 5000), (16, 300)]:
            t = np.arange(T)
            w = 1e4 ** (-2 * np.arange(d // 2) / d)
            phi = np.concatenate([np.sin(np.outer(t, w)), np.cos(np.outer(t, w))], axis=1)
            distance = np.linalg.norm(phi - phi[0], axis=1)
            found = c_double()
            where = LAB.sinusoid_nearest(d, T, byref(found))
            self.assertEqual(where, 1 + int(np.argmin(distance[1:])))
            self.near(found.value, distance[where], 1e-12)
            for offset in [1, 7, 250]:
                self.near(LAB.sinusoid_distance(d, offset), distance[offset], 1e-12)
                self.near(LAB.sinusoid_dot(d, offset), phi[0] @ phi[offset], 1e-12)


if __name__ == "__main__":
    harness.main()
