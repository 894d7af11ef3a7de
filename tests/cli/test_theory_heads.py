# SPDX-License-Identifier: MIT
"""The theory of attend/theory.h against quadrature and brute force: heads on noisy keys."""

import itertools
import math
from ctypes import byref, c_double

import mpmath
import numpy as np
from mpmath import mpf

import harness
from theory import INF, LAB, Law, Near, Query, Scene, grid, mean_under


def positive_grid(sigma, count=400):
    """gamma ~ N(1, sigma^2) given gamma > 0, by Gauss-Legendre."""
    x, w = np.polynomial.legendre.leggauss(count)
    top = 1 + 9 * sigma
    gamma = top * (x + 1) / 2
    w = w * np.exp(-0.5 * ((gamma - 1) / sigma) ** 2)
    return gamma, w / w.sum()


def softmax_output(scores, weights):
    """Means, variances and mse from arrays: scores[head][key], all broadcast."""
    total = 0
    for head in scores:
        top = np.maximum.reduce(np.broadcast_arrays(*head))
        e = [np.exp(s - top) for s in head]
        total = total + np.array([x / sum(e) for x in np.broadcast_arrays(*e)])
    c = total / len(scores)
    w = np.broadcast_to(weights, c[0].shape)
    mean = [(w * x).sum() for x in c]
    variance = [(w * (x - m) ** 2).sum() for x, m in zip(c, mean)]
    target = [0.5, 0.5] + [0] * (len(c) - 2)
    mse = sum(v + (m - t) ** 2 for m, v, t in zip(mean, variance, target))
    return mean, variance, mse


def call_heads(scene, queries):
    array = (Query * len(queries))(*[Query(*q) for q in queries])
    return LAB.heads(byref(scene), array, len(queries))


def scene_of(n, sigma2, alpha=0.0, tau=1.0, softcap=0.0, positive=0):
    return Scene(n, tau, alpha, (c_double * 3)(*sigma2), softcap, positive)


class Heads(Near):
    def same(self, out, wanted, others, what):
        mean, variance, mse = wanted
        for k in range(3 if others else 2):
            self.near(out.mean[k], mean[k], 1e-10, 0, (what, "mean", k))
            self.near(out.variance[k], variance[k], 1e-10, 0, (what, "variance", k))
        self.near(out.mse, mse, 2e-10, 0, (what, "mse"))

    def test_one_noisy_key(self):
        """Closed sums over the keys, integrated over gamma_a with mpmath."""
        cases = [
            (2, 10, 0.5, 0),
            (10, 3, 0.5, 1),
            (10, 10, 0.5, 0),
            (1000, 6, 0.005, 0),
            (1000, 50, 0.5, 1),
            (1e4, 10, 0.005, 0),
        ]
        for n, C, sigma2, positive in [*cases[:2], *harness.sample(cases[2:], 1)]:

            def mse(two):
                def off(gamma):
                    e = mpmath.exp(C * gamma)
                    if two:
                        one, sure = 1 / (e + n - 1), 1 / (mpmath.exp(C) + n - 1)
                        a, b = e * one + sure, one + mpmath.exp(C) * sure
                        return ((a - 1) ** 2 + (b - 1) ** 2) / 4 + (n - 2) * (
                            (one + sure) / 2
                        ) ** 2
                    one = 1 / (e + mpmath.exp(C) + n - 2)
                    a, b = e * one, mpmath.exp(C) * one
                    return (a - 0.5) ** 2 + (b - 0.5) ** 2 + (n - 2) * one**2

                # As a function of Y, so that the cuts fall where the weight turns.
                shift = mpmath.log(n - 1 if two else mpmath.exp(C) + n - 2)
                law = Law(float(C - shift), C * math.sqrt(sigma2), -INF)
                if positive:
                    law.floor = float(-shift)
                return mean_under(law, lambda y: off((y + shift) / C))

            what = (n, C, sigma2, positive)
            self.near(LAB.mse_one(n, C, sigma2, positive), mse(False), 1e-10, 0, what)
            self.near(LAB.mse_two(n, C, sigma2, positive), mse(True), 1e-10, 0, what)

    def test_two_noisy_keys(self):
        for positive, cap in harness.sample(itertools.product([0, 1], [0, 2.5]), 2):
            za, wa = grid()
            ga = 1 + math.sqrt(0.5) * za
            if positive:
                ga, wa = positive_grid(math.sqrt(0.5))
            zb, wb = grid()
            gb = 1 + math.sqrt(0.3) * zb
            queries = [(4, 3, 0), (4, -4, 0.5), (0, 2, 0)]
            tau = 0.9
            scores = []
            for a, b, rest in queries:
                raw = [tau * a * ga[:, None], tau * b * gb[None, :]]
                raw += [np.full((1, 1), tau * rest)] * 4
                scores.append([cap * np.tanh(s / cap) if cap else s for s in raw])
            wanted = softmax_output(scores, wa[:, None] * wb[None, :])
            scene = scene_of(6, (0.5, 0.3, 0), 0, tau, cap, positive)
            out = call_heads(scene, queries)
            self.same(out, wanted, True, (positive, cap))
            below = np.zeros((1, 1))
            for key in scores[0][1:]:
                below = below + np.exp(key)
            # P(p_a <= x): over gamma_a in closed form, over gamma_b on the grid.
            if not positive and not cap:
                for x in [0.2, 0.5, 0.9]:
                    limit = (np.log(x / (1 - x)) + np.log(below[0])) / (tau * 4)
                    cdf = [float(mpmath.ncdf((g - 1) / math.sqrt(0.5))) for g in limit]
                    got = LAB.head_cdf(byref(scene), Query(*queries[0]), x)
                    self.near(got, (wb * cdf).sum(), 1e-10, 0, x)

    def test_covariance_of_heads(self):
        za, wa = grid(count=4001)
        ga = 1 + math.sqrt(0.5) * za
        queries = [(5, 5, 0), (5, -5, 0)]
        c = []
        for a, b, rest in queries:
            e = [np.exp(a * ga), np.exp(b) + 0 * ga] + [1 + 0 * ga] * 8
            c.append(np.array(e) / sum(e))
        d = [x - (wa * x).sum(1)[:, None] for x in c]
        wanted = (wa * d[0] * d[1]).sum()
        scene = scene_of(10, (0.5, 0, 0))
        got = LAB.heads_covariance(byref(scene), Query(*queries[0]), Query(*queries[1]))
        self.near(got, wanted, 1e-10)

    def test_isotropic_noise(self):
        """Three keys, all noisy: a sum over their three independent scores."""
        sigma2, alpha, tau = (0.5, 0.2, 0.3), 0.02, 0.8
        cases = itertools.product([0, 2], [(4, 4, 0), (-2, 3, 1), (0, 0, -5)])
        for cap, q in harness.sample(cases, 2):
            z, w = grid(count=181)
            scores = []
            for k in range(3):
                sd = tau * math.sqrt(
                    alpha * sum(x * x for x in q) + sigma2[k] * q[k] ** 2
                )
                s = tau * q[k] + sd * z
                s = cap * np.tanh(s / cap) if cap else s
                shape = [1, 1, 1]
                shape[k] = -1
                scores.append(s.reshape(shape))
            weights = w[:, None, None] * w[None, :, None] * w[None, None, :]
            wanted = softmax_output([scores], weights)
            out = LAB.head(byref(scene_of(3, sigma2, alpha, tau, cap)), Query(*q))
            self.same(out, wanted, True, (cap, q))

    def test_isotropic_noise_given_positive(self):
        """Two keys; gamma_a, the other part of s_a, and s_b."""
        alpha, sigma2, q = 0.05, (0.5, 0.2, 0), (3, 2)
        ga, wa = positive_grid(math.sqrt(alpha + sigma2[0]), 200)
        z, w = grid(count=121)
        a = q[0] * ga[:, None, None] + q[1] * math.sqrt(alpha) * z[None, :, None]
        sd = math.sqrt(alpha * (q[0] ** 2 + q[1] ** 2) + sigma2[1] * q[1] ** 2)
        b = (q[1] + sd * z)[None, None, :]
        weights = wa[:, None, None] * w[None, :, None] * w[None, None, :]
        wanted = softmax_output([[a, b]], weights)
        out = LAB.head(byref(scene_of(2, sigma2, alpha, positive=1)), Query(*q, 0))
        self.same(out, wanted, False, "given gamma > 0")

    def test_independent_heads(self):
        """n = 2, means as queries: four independent scores."""
        alpha, sigma2, C = 0.02, (0.5, 0.5, 0), 4
        z, w = grid(count=61)
        noise = C * math.sqrt(alpha)
        sharp = C * math.sqrt(alpha + 0.5)
        shape = [(-1, 1, 1, 1), (1, -1, 1, 1), (1, 1, -1, 1), (1, 1, 1, -1)]
        s = [z.reshape(x) for x in shape]
        v = [w.reshape(x) for x in shape]
        scores = [[C + sharp * s[0], noise * s[1]], [noise * s[2], C + sharp * s[3]]]
        wanted = softmax_output(scores, v[0] * v[1] * v[2] * v[3])
        out = call_heads(scene_of(2, sigma2, alpha), [(C, 0, 0), (0, C, 0)])
        self.same(out, wanted, False, "four scores")

    def test_best_and_crossover(self):
        for n, sigma2 in [(10, 0.5), (1000, 0.5), (100, 0.005)]:
            least = c_double()
            best = LAB.best_scale_one(n, sigma2, 0, byref(least))
            for C in list(np.linspace(0.05, 3 * best, 60)) + [best * 0.999, best * 1.001]:
                self.assertLessEqual(least.value, LAB.mse_one(n, C, sigma2, 0) + 1e-13)
            cross = LAB.crossover_scale(n, sigma2, 0)
            for C in np.geomspace(cross * 1.0001, 900, 40):
                one, two = LAB.mse_one(n, C, sigma2, 0), LAB.mse_two(n, C, sigma2, 0)
                self.assertLess(two, one, (n, sigma2, C))
            C = cross * 0.9999
            self.assertGreater(LAB.mse_two(n, C, sigma2, 0), LAB.mse_one(n, C, sigma2, 0))

    def test_limits(self):
        for positive in (0, 1):
            one = LAB.one_head_limit(0.5, positive)
            two = LAB.two_heads_limit(10, 0.5, positive)
            p = 1.0 if positive else float(mpmath.ncdf(mpmath.sqrt(2)))
            up = 0.5 / float(mpmath.ncdf(mpmath.sqrt(2))) if positive else 0.5
            self.near(one.mean[0], up, 1e-14)
            self.near(one.mse, 0.5, 1e-14)
            outcome = np.array([1, 1] + [0] * 8) / 2
            fallen = np.array([0, 1 + 1 / 9] + [1 / 9] * 8) / 2
            target = outcome
            mean = p * outcome + (1 - p) * fallen
            for k in range(3):
                self.near(two.mean[k], mean[k], 1e-14)
                spread = p * (1 - p) * (outcome[k] - fallen[k]) ** 2
                self.near(two.variance[k], spread, 1e-14)
            self.near(two.mse, (1 - p) * ((fallen - target) ** 2).sum(), 1e-14)

    def test_loses(self):
        for n, C, positive in itertools.product([3, 1000], [2, 10], [0, 1]):
            sigma = mpmath.sqrt(0.5)
            below = mpmath.ncdf((mpmath.log(n - 1) / C - 1) / sigma)
            if positive:
                flipped = mpmath.ncdf(-1 / sigma)
                below = max(mpf(0), below - flipped) / (1 - flipped)
            self.near(LAB.head_loses(n, C, 0.5, positive), below, 1e-13)

    def test_unit_keys(self):
        n, C, p = 7, 1.3, float(mpmath.ncdf(mpmath.sqrt(2)))
        outcomes = []
        for sign, probability in [(1, p), (-1, 1 - p)]:
            e = np.exp(np.array([sign * C, C] + [0] * (n - 2)))
            outcomes.append((probability, e / e.sum()))
        mean = sum(q * c for q, c in outcomes)
        target = np.array([0.5, 0.5] + [0] * (n - 2))
        mse = sum(q * ((c - target) ** 2).sum() for q, c in outcomes)
        out = LAB.unit_keys(byref(scene_of(n, (0.5, 0, 0))), Query(C, C, 0))
        for k in range(3):
            self.near(out.mean[k], mean[k], 1e-14)
        self.near(out.mse, mse, 1e-14)

    def test_groups(self):
        """Every winner of every head, every failure, one by one."""
        for m, h, n, sigma2 in [
            (2, 1, 2, 0.5),
            (4, 2, 5, 0.5),
            (6, 3, 9, 2),
            (3, 3, 4, 1),
        ]:
            g = m // h
            flip = float(mpmath.ncdf(-1 / mpmath.sqrt(sigma2)))
            fail = flip**g if n > g else 0.0
            target = np.array([1 / m] * m + [0] * (n - m))
            mse = 0.0
            for result in itertools.product(range(g + 1), repeat=h):
                c, probability = np.zeros(n), 1.0
                for head, winner in enumerate(result):
                    group = np.zeros(n, bool)
                    group[head * g : (head + 1) * g] = True
                    if winner == g:
                        probability *= fail
                        if fail > 0:
                            c += ~group / (n - g) / h
                    else:
                        probability *= (1 - fail) / g
                        c[head * g + winner] += 1 / h
                mse += probability * ((c - target) ** 2).sum()
            self.near(LAB.groups_mse_flips(m, h, n, sigma2), mse, 1e-13, 0, (m, h, n))
            self.near(LAB.groups_mse_positive(m, h), 1 / h - 1 / m, 1e-15)


if __name__ == "__main__":
    harness.main()
