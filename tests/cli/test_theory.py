# SPDX-License-Identifier: MIT
"""The theory of attend/theory.h against quadrature in many digits: weights, copies, rows.

Here and in test_theory_heads.py each function has its values.  What lies at the ends of
its domain, and outside, is tested in C: tests/lab/test_theory_edges.c.
"""

import itertools
import math
import unittest

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

    def test_logistic(self):
        for y in [-700, -3, 0, 1e-9, 5, 30]:
            self.near(LAB.logistic(y), sg(mpf(y)), 0, 1e-15, y)
            p = float(sg(mpf(y)))
            logit = mpmath.log(p) - mpmath.log1p(-mpf(p))
            self.near(LAB.logit(p), logit, 1e-16, 1e-15, y)

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
            for delta in [1e-6, 0.1, 0.5]:
                l = mpmath.log((1 - mpf(delta)) / delta)
                above, below = (mpmath.ncdf((mean - max(y, mpf(law.floor))) / sd) / kept for y in (l, -l))
                outside = 1 - below + above
                self.near(LAB.weight_outside(law, delta), outside, 1e-14, 0, delta)

    def test_modes(self):
        cases = [(0, 1), (0, 1.4), (0, 3), (0, 10), (-0.5, 2), (-3, 2), (-3, 4), (2, 1.5)]
        cases += [(-8, 3), (8, 3)]
        for n, side in itertools.product([3, 1000], [-0.01, 0.01]):
            law = LAB.law_one_head(n, LAB.bimodal_scale(n, 0.5) + side, 0.5)
            cases.append((law.mean, law.sd))
        for mean, sd in cases:

            def slope(y, tanh=mpmath.tanh):
                return -(y - mean) / sd**2 + tanh(y / 2)

            # Except at the zeros of symmetric laws.
            near = np.arange(mean - sd**2 - 2.00037, mean + sd**2 + 2, 1e-3)
            rising = slope(near, np.tanh) > 0
            starts = near[:-1][rising[:-1] & ~rising[1:]]
            roots = [mpmath.findroot(slope, y) for y in starts]
            found = LAB.weight_modes(Law(mean, sd))
            self.assertEqual(len(found), len(roots), (mean, sd))
            for got, wanted in zip(found, roots):
                self.near(got, sg(wanted), 0, 1e-11, (mean, sd))

    def test_approximations_keep_their_word(self):
        arcsin = arctan = 0
        for T in 0.01 * 1.05 ** np.arange(236):
            law = Law(0, T, -INF)
            v, e = LAB.weight_variance(law), LAB.weight_abs_deviation(law)
            arcsin = max(arcsin, abs(LAB.weight_variance_arcsin(T) / v - 1))
            arctan = max(arctan, abs(LAB.weight_abs_deviation_arctan(T) / e - 1))
            if T < 0.05:
                self.near(LAB.weight_variance_small(T), v, 0, T * T, T)
            if T > 30:
                self.near(LAB.weight_variance_large(T), v, 8 / T**5, 0, T)
        self.assertTrue(0.061 < arcsin <= 0.062, arcsin)
        self.assertTrue(0.025 < arctan <= 0.028, arctan)

    def test_probit_form_keeps_its_word(self):
        """At most Phi(l y) for g(y), 0.0177, for any law."""

        def off(law):
            return abs(LAB.weight_mean_probit(law) - LAB.weight_mean(law))

        means, sds = np.arange(-12, 12.1, 0.25), [0, *0.1 * 1.6 ** np.arange(13)]
        worst = max(off(Law(*x, -INF)) for x in itertools.product(means, sds))
        self.assertTrue(0.017 < worst < 0.01768, worst)
        sizes = np.ceil(2 * 1.3 ** np.arange(42))
        at_one = max(off(LAB.law_two_heads(n, 1, 0.5)) for n in sizes)
        self.assertTrue(0.015 < at_one < 0.01536, at_one)
        for n, C in itertools.product(sizes, [10, 15, 30, 100, 200]):
            self.assertLess(off(LAB.law_two_heads(n, C, 0.5)), 0.0017, (n, C))

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
                return [y - mu - T2 * mpmath.tanh(y / 2), 1 - T2 / 2 / mpmath.cosh(y / 2) ** 2]

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
            alpha = LAB.window_alpha_max(0.9 * C, 0.01, v)
            self.near(0.9 * C * math.sqrt(4 * alpha + 0.01), T, 0, 1e-13)
        for law in LAWS:
            for p in [0.001, 0.3, 0.8]:
                w = LAB.weight_quantile(law, p)
                if 1e-12 < w < 1 - 1e-3:
                    # w is rounded, and the slope of the cdf is the density.
                    bound = 1e-12 + 4e-16 * LAB.weight_density(law, w)
                    self.near(LAB.weight_cdf(law, w), p, bound, 0, (law.sd, p))

    def test_windows(self):
        self.near(LAB.law_pair(7, 0.5, 0.01).sd, 7 * mpmath.sqrt(0.54), 0, 1e-15)
        least = LAB.window_scale_min(77, 0.03)
        self.near(75 / (2 * mpmath.exp(least) + 75), 0.03, 0, 1e-13)
        self.near(LAB.window_scale_limit(0.01), 5, 0, 1e-15)
        limit = 1 / (4 * mpmath.log(10 / (2 * mpf(0.1))) ** 2)
        self.near(LAB.window_alpha_limit(10, 0.1), limit, 0, 1e-14)

    def test_swap(self):
        gap = mpmath.quad(
            lambda x: mpmath.npdf(x, 1.2, 0.7) * mpmath.ncdf(-x / mpf(0.7)), [-8, -2, 0, 1.2, 3, 8]
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
            if m == 2:
                self.near(LAB.extract_error(n, beta), 1 - 2 * p, 0, 1e-13)
            if m == 1:
                rest = (1 - p) / (n - 1)
                error = mpmath.sqrt((1 - p) ** 2 + (n - 1) * rest**2)
                self.near(LAB.copy_weight(n, beta), p, 0, 1e-14)
                self.near(LAB.copy_error(n, beta), error, 0, 1e-13)

    def test_gaps(self):
        """Scores below that of the first key, and above."""
        v = np.array([[-1, 2], [1, 0], [0.5, 3], [-4, 1], [2, 2]])
        for gaps in [(3.2, 5.1, 1.1, 0.8), (800, 0.5, 3, 20), (3, -700, 800, 0.5)]:
            e = [mpmath.exp(-mpf(D)) for D in (0, *gaps)]
            p = [x / sum(e) for x in e]
            self.near(LAB.copy_weight_gaps(gaps), p[0], 0, 1e-13)
            least = mpmath.exp(-mpf(min(gaps)))
            lower, upper = 1 / (1 + 4 * least), 1 / (1 + least)
            self.near(LAB.copy_weight_lower_bound(5, min(gaps)), lower, 0, 1e-13)
            self.near(LAB.copy_weight_upper_bound(5, min(gaps)), upper, 0, 1e-13)
            self.assertTrue(lower <= p[0] <= upper)
            far = float(np.linalg.norm(v - v[0], axis=1).max())
            bound = LAB.copy_error_bound(float(p[0]), far)
            self.near(bound, (1 - p[0]) * far, 1e-15)
            error = np.linalg.norm(np.array(p, float) @ v - v[0])
            self.assertLessEqual(error, bound + 1e-15)

    def test_gaps_of_formats(self):
        """On both sides of each gap, in the arithmetic of the format."""
        formats = [("f64", 53, -1074, -1022), ("f32", 24, -149, -126)]
        formats += [("f16", 11, -24, -14), ("bf16", 8, -133, -126)]
        for (f, bits, least, normal), n, off in itertools.product(formats, [2, 7, 5000], [-1e-6, 1e-6]):

            def rounded(x):
                with mpmath.workprec(bits):
                    return +x

            def e(gap):
                return mpmath.exp(-mpf(gap) - off)

            exact = [
                rounded(1 + (n - 1) * e(LAB.gap_sum_exact(n, f))) == 1,
                rounded(1 / (1 + (n - 1) * e(LAB.gap_weight_exact(n, f)))) == 1,
                mpmath.nint(mpmath.ldexp(e(LAB.gap_underflow(f, False)), -least)) == 0,
                e(LAB.gap_underflow(f, True)) < mpmath.ldexp(1, normal),
            ]
            self.assertEqual(exact, [off > 0] * 4, (f, n))

    def test_weighted_query(self):
        w = [0.2, 0.5, 0.3]
        e = np.exp(0.5 * LAB.weighted_query(w, 4, 0.5))
        for got, wanted in zip(e / e.sum(), w):
            self.near(got, wanted, 0, 1e-14)
        self.near(LAB.weighted_leak(10, 3, 4), 7 / (e.sum() + 7), 0, 1e-14)

    def test_needed(self):
        for n, m, eps, tau in itertools.product([7, 1e6], [1, 2, 5], [1e-9, 0.01, 0.6], [1, 0.125]):
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
            self.near(LAB.collision_size(d, m), whole / cap, 0, 1e-9, (d, m))

    def test_random_logits_of_two(self):
        """One weight is logistic of N(0, 2 S^2)."""
        for S in [1, *harness.sample([0.01, 0.3, 4, 10, 100, 1000], 1)]:
            law = Law(0, S * math.sqrt(2), -INF)
            squares = mean_under(law, lambda y: 1 - 2 * sg(y) * sg(-y))
            entropy = mean_under(law, lambda y: mpmath.log1p(mpmath.exp(-abs(y))) + abs(y) * sg(-abs(y)))
            self.near(LAB.random_sum_squares(2, S), squares, 1e-10, 0, S)
            self.near(LAB.random_entropy(2, S), entropy, 1e-10, 0, S)

    def test_random_logits_of_three(self):
        for S in harness.sample([1, 3], 1):
            z, w = grid(count=181)
            s = np.stack(np.meshgrid(S * z, S * z, S * z, indexing="ij"))
            weights = w[:, None, None] * w[None, :, None] * w[None, None, :]
            s -= s.max(0)
            p = np.exp(s)
            total = p.sum(0)
            p /= total
            squares = (weights * (p * p).sum(0)).sum()
            entropy = (weights * (np.log(total) - (p * s).sum(0))).sum()
            self.near(LAB.random_sum_squares(3, S), squares, 1e-9, 0, S)
            self.near(LAB.random_entropy(3, S), entropy, 1e-9, 0, S)

    def test_random_logits_of_any_number(self):
        """From the integrals of T22 on other nodes, the tails in closed form."""
        cases = [
            (1024, 8, 0.60165694715014, 0.898796746862614),
            (1e6, 100, 0.951375214733356, 0.0828281397899686),
            (1e6, 1000, 0.995137106531651, 0.0080265470360814),
            (1e12, 12, 0.414810607251121, 1.79488432951369),
            (1e15, 8, 0.0794631630662639, 7.18291252542352),
            (1e15, 30, 0.733289898154112, 0.548841124595071),
            (1e15, 1000, 0.991988865917163, 0.0132542955510031),
        ]
        for n, S, squares, entropy in [*cases[3:6], *harness.sample(cases, 2)]:
            self.near(LAB.random_sum_squares(n, S), squares, 1e-10, 0, (n, S))
            self.near(LAB.random_entropy(n, S), entropy, 1e-10, 0, (n, S))

    def test_phases(self):
        for n in [1024, 1e12]:
            freezing = mpmath.sqrt(2 * mpmath.log(n))
            self.near(LAB.freezing_spread(n), freezing, 0, 1e-15)
            entropy = mpmath.log(n) - 4.5
            self.near(LAB.random_entropy_limit(n, 3), entropy, 0, 1e-14)
            self.near(LAB.random_keys_limit(n, 1.5), n * mpmath.exp(-2.25), 0, 1e-14)
            self.near(LAB.random_sum_squares_limit(n, 8), 1 - freezing / 8, 0, 1e-14)
        # Far below freezing, with many keys.
        self.near(LAB.random_entropy(1e12, 3), LAB.random_entropy_limit(1e12, 3), 0, 1e-6)

    @mpmath.workdps(60)
    def test_entropy(self):
        for n, r in [(9, 0), (2, 0.5), (5, 3), (1000, 20), (10, 60)]:
            top = r * mpmath.sqrt(mpf(n - 1) / n)
            low = -top / (n - 1)
            total = mpmath.exp(top) + (n - 1) * mpmath.exp(low)
            p, q = mpmath.exp(top) / total, mpmath.exp(low) / total
            floor = -p * mpmath.log(p) - (n - 1) * q * mpmath.log(q)
            self.near(LAB.entropy_floor(n, r), floor, 0, 1e-12, (n, r))
        scores = np.array([0.3, -2, 5, 1.1, 1.1])
        for beta in [0, 0.5, 3, 40]:

            def entropy(b):
                e = [mpmath.exp(b * mpf(s)) for s in scores]
                p = [x / sum(e) for x in e]
                return -sum(x * mpmath.log(x) for x in p)

            slope = beta * mpmath.diff(entropy, beta)
            self.near(LAB.entropy(scores, beta), entropy(beta), 1e-14)
            self.near(LAB.entropy_slope(scores, beta), slope, 1e-12)

    def test_entropy_floor_is_the_least(self):
        """No stationary point has more than three levels (T23): all of them, on circles."""
        angle = np.arange(720)[:, None] * 2 * np.pi / 720
        r = 0.2 * 1.7 ** np.arange(9)[:, None, None]
        for n in range(3, 10):
            least = np.full(9, INF)
            for x, y in itertools.product(range(1, n - 1), repeat=2):
                if x + y >= n:
                    continue
                size = np.array([x, y, n - x - y])
                first = np.array([y, -x, 0]) / math.sqrt(x * y * (x + y))
                second = np.array([1, 1, 1 - n / size[2]])
                second /= math.sqrt((size * second**2).sum())
                s = r * (np.cos(angle) * first + np.sin(angle) * second)
                e = np.exp(s) * size
                p = e / e.sum(2, keepdims=True)
                entropy = np.log(e.sum(2)) - (p * s).sum(2)
                least = np.minimum(least, entropy.min(1))
            for radius, found in zip(r.flat, least):
                floor = LAB.entropy_floor(n, radius)
                self.assertGreaterEqual(found, floor - 1e-13, (n, radius))
                self.near(found, floor, 1e-3 * (1 + radius) ** 2, 0, (n, radius))

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
            where, found = LAB.sinusoid_nearest(d, T)
            self.assertEqual(where, 1 + int(np.argmin(distance[1:])))
            self.near(found, distance[where], 1e-12)
            there = LAB.sinusoid(7, d)
            there = np.concatenate([there[0::2], there[1::2]])
            np.testing.assert_allclose(there, phi[7], 0, 1e-14)
            for offset in [1, 7, 250]:
                self.near(LAB.sinusoid_distance(d, offset), distance[offset], 1e-12)
                self.near(LAB.sinusoid_dot(d, offset), phi[0] @ phi[offset], 1e-12)


def output(scores, v):
    e = np.exp(scores)
    return e / e.sum() @ v


def slopes(scores, v, along):
    """Derivatives of the output along rows, to all digits: the step is imaginary."""
    return np.array([output(scores + 1e-30j * x, v).imag / 1e-30 for x in along])


class Rows(Near):
    def test_delta_method(self):
        n, dv, d, tau, h = 4, 2, 3, 0.7, 1e-4
        random = np.random.default_rng(3)
        v, K = random.standard_normal((n, dv)), random.standard_normal((n, d))
        s, e = tau * K @ random.standard_normal(d), random.uniform(0.01, 0.1, n)
        p = np.exp(s) / np.exp(s).sum()
        each = np.eye(n)
        first = slopes(s, v, each)
        bias = sum(
            e[j] * (slopes(s + h * x, v, [x]) - slopes(s - h * x, v, [x]))[0] / (4 * h)
            for j, x in enumerate(each)
        )
        same = np.testing.assert_allclose
        same(LAB.delta_covariance(p, v, e), first.T * e @ first, 1e-13)
        same(LAB.delta_bias(p, v, e), bias, 1e-6)
        same(LAB.delta_jacobian(p, v, K, tau), slopes(s, v, tau * K.T).T, 1e-12)
        self.near(LAB.value_noise(p, 0.3), 0.3 * (p * p).sum(), 0, 1e-14)


class Matrices(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(8)

    def test_extraction(self):
        for d, m, p in [(6, 2, 3), (2, 1, 1), (9, 4, 2), (5, 3, 2)]:
            A, B = (self.random.standard_normal((d, k)) for k in (m, p))
            Q = np.eye(d) - B @ np.linalg.pinv(B)
            basis = np.linalg.qr(A)[0]
            wanted = A @ np.linalg.inv(A.T @ Q @ A) @ A.T @ Q
            same = np.testing.assert_allclose
            same(LAB.extract_oblique(A, B), wanted, 0, 1e-11)
            same(LAB.extract_projector(A), A @ np.linalg.pinv(A), 0, 1e-13)
            same(LAB.extract_orthonormal(basis), basis @ basis.T, 0, 1e-15)

    def test_query_for_scores(self):
        for n, d in [(3, 4), (1, 5), (5, 5), (6, 20)]:
            K, score = self.random.standard_normal((n, d)), self.random.standard_normal(n)
            q = LAB.query_for_scores(K, score)
            np.testing.assert_allclose(q, np.linalg.pinv(K) @ score, 1e-9)

    def test_permutations(self):
        X = self.random.standard_normal((3, 2))
        self.assertTrue((LAB.permute_rows(X, [2, 0, 1]) == X[[2, 0, 1]]).all())
        self.assertTrue((LAB.permute_columns(X, [1, 0]) == X[:, [1, 0]]).all())
