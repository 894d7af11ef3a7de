# SPDX-License-Identifier: MIT
"""The theory of attend/theory.h against brute force: heads on noisy keys."""

import itertools
import math

import mpmath
import numpy as np

import harness
from theory import LAB, Near, Query, call_heads, grid, scene_of


def gammas(sigma2, positive, panels=200):
    """Nodes and weights of gamma ~ N(1, sigma2), given gamma > 0 if positive."""
    sigma = math.sqrt(sigma2)
    if not positive:
        z, w = grid(count=4001)
        return 1 + sigma * z, w
    top = 1 + 9 * sigma
    x, w = np.polynomial.legendre.leggauss(20)
    gamma = (top / panels * (np.arange(panels)[:, None] + (x + 1) / 2)).ravel()
    w = np.tile(w, panels) * np.exp(-0.5 * ((gamma - 1) / sigma) ** 2)
    return gamma, w / w.sum()


def softmax_output(scores, weights, others=1):
    """Means, variances and mse from arrays: scores[head][kind], all broadcast.

    The first two kinds are one key each, a third is `others` keys with the same score."""
    total, keys = 0, np.array([1, 1, others])[: len(scores[0])]
    for head in scores:
        top = np.maximum.reduce(np.broadcast_arrays(*head))
        e = [np.exp(s - top) for s in head]
        all_keys = sum(k * x for k, x in zip(keys, e))
        total = total + np.array([x / all_keys for x in np.broadcast_arrays(*e)])
    c = total / len(scores)
    w = np.broadcast_to(weights, c[0].shape)
    mean = [(w * x).sum() for x in c]
    variance = [(w * (x - m) ** 2).sum() for x, m in zip(c, mean)]
    target = [0.5, 0.5, 0]
    mse = sum(k * (v + (m - t) ** 2) for k, m, v, t in zip(keys, mean, variance, target))
    return mean, variance, mse


class Heads(Near):
    def same(self, out, wanted, others, what):
        mean, variance, mse = wanted
        for k in range(3 if others else 2):
            self.near(out.mean[k], mean[k], 1e-15, 1e-10, (what, "mean", k))
            self.near(out.variance[k], variance[k], 1e-15, 1e-9, (what, "variance", k))
        total = sum(k * v for k, v in zip((1, 1, others), variance))
        self.near(out.total_variance, total, 1e-15, 1e-9, (what, "total"))
        self.near(out.mse, mse, 1e-15, 2e-10, (what, "mse"))

    def test_one_noisy_key(self):
        """Sums over the keys, integrated over gamma_a; and the laws of the weights."""
        for n, C, sigma2, positive in [
            (2, 10, 0.5, 0),
            (10, 3, 0.5, 1),
            (10, 10, 0.5, 0),
            (1000, 6, 0.005, 0),
            (1000, 50, 0.5, 1),
            (1e4, 10, 0.005, 0),
            (1e5, 0.3, 0.5, 1),
        ]:
            what = (n, C, sigma2, positive)
            gamma, w = gammas(sigma2, positive)
            a, b, rest = C * gamma, C + 0 * gamma, 0 * gamma
            one = softmax_output([[a, b, rest]], w, n - 2)
            two = softmax_output([[a, rest, rest], [rest, b, rest]], w, n - 2)
            scene = scene_of(n, (sigma2, 0, 0), positive=positive)
            pair, first, second = (C, C, 0), (C, 0, 0), (0, C, 0)
            self.same(call_heads(scene, [pair]), one, n - 2, what)
            self.same(call_heads(scene, [first, second]), two, n - 2, what)
            self.near(LAB.mse_one(n, C, sigma2, positive), one[2], 0, 2e-10, what)
            self.near(LAB.mse_two(n, C, sigma2, positive), two[2], 0, 2e-10, what)
            alone = softmax_output([[a, rest, rest]], w, n - 2)
            for query, law, (mean, variance, _) in [
                (pair, LAB.law_one_head(n, C, sigma2), one),
                (first, LAB.law_two_heads(n, C, sigma2), alone),
            ]:
                if positive:
                    law = LAB.law_given_positive(law, sigma2)
                self.near(LAB.weight_mean(law), mean[0], 0, 1e-10, what)
                self.near(LAB.weight_variance(law), variance[0], 0, 1e-9, what)
                for x in [0.1, 0.5]:
                    got = LAB.head_cdf(scene, Query(*query), x)
                    self.near(got, LAB.weight_cdf(law, x), 1e-14, 0, what)
            # The law is that of head 1 from here on.
            lost = LAB.weight_cdf(law, 0.5)
            self.near(LAB.head_loses(n, C, sigma2, positive), lost, 1e-14, 0, what)

    def test_two_noisy_keys(self):
        for positive, cap in harness.sample(itertools.product([0, 1], [0, 2.5]), 2):
            ga, wa = gammas(0.5, positive)
            zb, wb = grid()
            gb = 1 + math.sqrt(0.3) * zb
            queries = [(4, 3, 0), (4, -4, 0.5), (0, 2, 0), (-3, 1, 0.5)]
            tau = 0.9
            scores = []
            for a, b, rest in queries:
                raw = [tau * a * ga[:, None], tau * b * gb[None, :]]
                raw += [np.full((1, 1), tau * rest)]
                scores.append([cap * np.tanh(s / cap) if cap else s for s in raw])
            wanted = softmax_output(scores, wa[:, None] * wb[None, :], 4)
            scene = scene_of(6, (0.5, 0.3, 0), 0, tau, cap, positive)
            out = call_heads(scene, queries)
            self.same(out, wanted, 4, (positive, cap))

    def test_chance_of_a_weight(self):
        """P(p_a <= x): over gamma_a in closed form, over gamma_b on a grid."""
        sigma, tau = math.sqrt(0.5), 0.9
        z, w = grid()
        for positive, cap, noise in itertools.product([0, 1], [0, 9], [0.5, 0]):
            scene = scene_of(6, (0.5, noise, 0), 0, tau, cap, positive)
            kept = 1 - float(mpmath.ncdf(-1 / sigma)) if positive else 1

            def capped(score):
                return cap * np.tanh(score / cap) if cap else score

            def uncapped(score):
                near_one = 1 - 1e-16
                edge = np.clip(score / (cap or 1), -near_one, near_one)
                return cap * np.arctanh(edge) if cap else score

            for (a, b, rest), x in itertools.product([(4, 3, 0), (-3, 2, 0.5)], [0.2, 0.5, 0.9]):
                others = np.exp(capped(tau * b * (1 + math.sqrt(noise) * z)))
                others += 4 * np.exp(capped(tau * rest))
                # s_a is at most this; and gamma_a at most, or at least, that.
                edge = math.log(x / (1 - x)) + np.log(others)
                raw = uncapped(edge)
                chance = 0
                for limit, share in zip(raw / (tau * a), w):
                    below = float(mpmath.ncdf((limit - 1) / sigma))
                    below = max(0, below - (1 - kept)) / kept
                    chance += share * (below if a > 0 else 1 - below)
                got = LAB.head_cdf(scene, Query(a, b, rest), x)
                self.near(got, chance, 1e-9, 0, (positive, cap, noise, a, x))
            # With s_a = 0 sure, e^(s_b) is at least this where p_a is at most x.
            for x in [0.05, 0.3] if noise else []:
                least = uncapped(math.log((1 - x) / x - 4 * math.exp(capped(-0.9))))
                chance = mpmath.ncdf((1 - least / (tau * 2)) / math.sqrt(noise))
                got = LAB.head_cdf(scene, Query(0, 2, -1), x)
                self.near(got, chance, 1e-13, 0, (positive, cap, x))

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
        got = LAB.heads_covariance(scene, Query(*queries[0]), Query(*queries[1]))
        self.near(got, wanted, 1e-10)

    def test_covariance_of_scores(self):
        """Keys of covariance alpha I + sigma2 mu mu^T, the means unit vectors."""
        n, tau, alpha, sigma2 = 5, 0.8, 0.1, (0.5, 0.3, 0.2)
        scene = scene_of(n, sigma2, alpha, tau)
        q = [np.array([5, 4, 1, 1, 1]), np.array([3, -2, 2, 2, 2])]
        queries = Query(5, 4, 1), Query(3, -2, 2)
        for k in range(3):
            noise = alpha * np.eye(n)
            noise[k, k] += sigma2[k]
            c, v, w = (tau**2 * x @ noise @ y for x, y in [q, q[:1] * 2, q[1:] * 2])
            self.near(LAB.score_covariance(scene, *queries, k), c, 1e-13)
            correlation = c / math.sqrt(v * w)
            self.near(LAB.score_correlation(scene, *queries, k), correlation, 1e-14)
            gap = v + LAB.score_covariance(scene, queries[0], queries[0], 1)
            self.near(LAB.score_gap_variance(scene, queries[0], k, 1), gap, 0, 1e-14)

    def test_isotropic_noise(self):
        """Three keys, all noisy: a sum over their three independent scores."""
        tau, queries = 0.8, [(4, 4, 0), (-2, 3, 1), (0, 0, -5)]
        cases = itertools.product([(0.5, 0.2, 0.3)], [0.02], [0, 2], queries)
        # One score is constant.
        sure = (0, 0.2, 0.3), 0, 0, (3, 2, 1)
        for sigma2, alpha, cap, q in [sure, *harness.sample(cases, 2)]:
            z, w = grid(count=181)
            scores = []
            for k in range(3):
                sd = tau * math.sqrt(alpha * sum(x * x for x in q) + sigma2[k] * q[k] ** 2)
                s = tau * q[k] + sd * z
                s = cap * np.tanh(s / cap) if cap else s
                shape = [1, 1, 1]
                shape[k] = -1
                scores.append(s.reshape(shape))
            weights = w[:, None, None] * w[None, :, None] * w[None, None, :]
            wanted = softmax_output([scores], weights)
            out = LAB.head(scene_of(3, sigma2, alpha, tau, cap), Query(*q))
            self.same(out, wanted, 1, (cap, q))

    def test_isotropic_noise_given_positive(self):
        """Two keys; gamma_a, the other part of s_a, and s_b."""
        alpha, sigma2 = 0.05, (0.5, 0.2, 0)
        ga, wa = gammas(alpha + sigma2[0], 1, 10)
        z, w = grid(count=121)
        weights = wa[:, None, None] * w[None, :, None] * w[None, None, :]
        for q in [(3, 2), (-2, 1), (4, 0)]:
            a = q[0] * ga[:, None, None] + q[1] * math.sqrt(alpha) * z[None, :, None]
            sd = math.sqrt(alpha * (q[0] ** 2 + q[1] ** 2) + sigma2[1] * q[1] ** 2)
            b = (q[1] + sd * z)[None, None, :]
            wanted = softmax_output([[a, b]], weights)
            out = LAB.head(scene_of(2, sigma2, alpha, positive=1), Query(*q, 0))
            self.same(out, wanted, 0, q)

    def test_vanishing_noise(self):
        """With noise on all keys a head computes the same numbers by another method."""
        queries = [(6, 5, 0.5), (2, 0, -1), (-3, 1, 0)]
        for positive, cap, q in itertools.product([0, 1], [0, 3], queries):
            without, with_noise = (
                LAB.head(scene_of(30, (0.5, 0.3, 0), alpha, 0.8, cap, positive), Query(*q))
                for alpha in (0, 1e-18)
            )
            for k in range(3):
                self.near(with_noise.mean[k], without.mean[k], 1e-11)
                self.near(with_noise.variance[k], without.variance[k], 1e-11)
            self.near(with_noise.mse, without.mse, 1e-10)

    def test_small_noise(self):
        """Noise so small that E p^2 and (E p)^2 agree to all digits."""
        alpha = 0.01
        for C in 1e-7 * 4.0 ** np.arange(14):
            pair, many = (LAB.head(scene_of(n, (0, 0, 0), alpha), Query(C, C, 0)) for n in (2, 10))
            share = LAB.weight_variance(LAB.law_pair(C, 0, alpha))
            self.near(pair.variance[0], share, 0, 1e-10, C)
            # Over the scores, (dp/ds)^2 Var s.
            if C < 1e-5:
                first_order = 0.1**2 * (0.9**2 + 9 * 0.1**2) * 2 * alpha * C * C
                self.near(many.variance[0], first_order, 0, 1e-4, C)

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
        for n, scales in [(3, range(1, 999, 20)), (3, np.linspace(14, 15, 50))]:
            best, least = LAB.best_scale_two(n, 0.5)
            self.near(LAB.mse_two(n, best, 0.5, 0), least, 1e-15)
            for C in scales:
                self.assertLessEqual(least, LAB.mse_two(n, C, 0.5, 0) + 1e-13)
        for case in (10, 0.5, 0), (1000, 0.5, 0), (100, 0.005, 0), (5, 2.0, 1):

            def one(C):
                return LAB.mse_one(case[0], C, *case[1:])

            def two(C):
                return LAB.mse_two(case[0], C, *case[1:])

            best, least = LAB.best_scale_one(*case)
            for C in [*np.linspace(0.05, 3 * best, 60), best * 0.999, best * 1.001]:
                self.assertLessEqual(least, one(C) + 1e-13)
            cross = LAB.crossover_scale(*case)
            for C in np.geomspace(cross * 1.0001, 900, 40):
                self.assertLess(two(C), one(C), (case, C))
            self.assertGreater(two(cross * 0.9999), one(cross * 0.9999))

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

    def test_window_limit(self):
        """The key of the largest score has weight 1: at its own noise, over the others."""
        z, w = grid(count=4001)
        below = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))
        for n, alpha, sigma2 in [
            (10, 1, 0),
            (7, 0.37, 0.21),
            (1000, 0.3, 0),
            (2, 0.2, 0.9),
            (1e5, 2, 0.5),
            (5, 50, 0),
            (1e9, 0.1, 0.01),
            (1e12, 0.02, 0.5),
        ]:
            rest, own = math.sqrt(2 * alpha), math.sqrt(2 * alpha + sigma2)
            mean = []
            for mine, other in [(own, rest), (rest, own)]:
                lost = np.minimum(below(-(1 + mine * z) / rest), 1 - 1e-16)
                wins = below(mine * z / other) * np.exp((n - 2) * np.log1p(-lost))
                mean.append((w * wins).sum())
            mean.append((1 - sum(mean)) / (n - 2) if n > 2 else 0)
            wanted = mean, [p * (1 - p) for p in mean], 1.5 - mean[0] - mean[1]
            out = LAB.window_limit(n, alpha, sigma2)
            self.same(out, wanted, n - 2, (n, alpha, sigma2))

    def test_unit_keys(self):
        """Every combination of signs of the keys."""
        # Of the three others, two are most likely positive.
        sigma2, kinds = (0.5, 2, 9), [0, 1, 2, 2, 2]
        cases = itertools.product([(2, 1, -1.5), (1.3, 1.3, 0)], [0, 2.5], [0, 1])
        for q, cap, positive in cases:
            scores, weights = [], []
            for signs in itertools.product([1, -1], repeat=5):
                up = [float(mpmath.ncdf(1 / math.sqrt(sigma2[k]))) for k in kinds]
                up[0] = 1 if positive else up[0]
                chances = [u if g > 0 else 1 - u for u, g in zip(up, signs)]
                weights.append(math.prod(chances))
                scores.append([0.9 * q[k] * g for k, g in zip(kinds, signs)])
            scores = np.array(scores).T
            c = np.exp(cap * np.tanh(scores / cap) if cap else scores)
            c /= c.sum(0)
            mean = c @ weights
            variance = (c - mean[:, None]) ** 2 @ weights
            mse = variance.sum() + ((mean - [0.5, 0.5, 0, 0, 0]) ** 2).sum()
            scene = scene_of(5, sigma2, 0, 0.9, cap, positive)
            out = LAB.unit_keys(scene, Query(*q))
            self.same(out, (mean[:3], variance[:3], mse), 3, (q, cap, positive))

    def test_unit_keys_limit(self):
        for positive in (0, 1):
            scene = scene_of(10, (0.5, 0, 0), positive=positive)
            far = LAB.unit_keys(scene, Query(60, 60, 0))
            limit = LAB.unit_keys_limit(0.5, positive)
            self.same(limit, (far.mean, far.variance, far.mse), 8, positive)

    def test_suppression(self):
        """The leak of the average; no noise of a or b reaches it."""
        B, q = 4, LAB.suppression_query(4)
        self.near(LAB.suppression_norm(10, -B), B * math.sqrt(8), 0, 1e-15)
        p = 1 / (2 + 8 * math.exp(-B))
        sure = [p, p, p * math.exp(-B)]
        mse = 2 * (p - 0.5) ** 2 + 8 * sure[2] ** 2
        out = LAB.head(scene_of(10, (0.5, 0.3, 0)), q)
        self.same(out, (sure, [0, 0, 0], mse), 8, "suppression")

    def test_groups(self):
        """Every combination of winners and failures of the heads."""
        for m, h, n, sigma2 in [(2, 1, 2, 0.5), (4, 2, 5, 0.5), (6, 3, 9, 2), (3, 3, 4, 1)]:
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
            first = flip / m * (1 + 1 / (n - 1))
            self.near(LAB.groups_mse_first_order(m, n, sigma2), first, 1e-15)
        for m in range(1, 30):
            self.assertEqual(LAB.best_heads(m, 100, 0.5), m)
