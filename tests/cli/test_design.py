# SPDX-License-Identifier: MIT
"""`attend design`: its statements about its queries, compared with NumPy."""

import json
import math

import numpy as np

import harness
from harness import CliTest


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def random_units(rng, n, d):
    keys = rng.standard_normal((n, d))
    return keys / np.linalg.norm(keys, axis=1, keepdims=True)


class DesignTest(CliTest):
    def design(self, *args):
        text = self.succeed("design", *args, "--json")
        self.assertEqual(text.count("\n"), 1)
        return json.loads(text)

    def row(self, said, quantity, item=None):
        rows = [r for r in said["rows"] if r["quantity"] == quantity and r["item"] == item]
        self.assertEqual(len(rows), 1, (quantity, item))
        return rows[0]

    def leak_of(self, said, keys):
        """The largest weight a head has outside its own items, and all weights."""
        weights = softmax(said["tau"] * np.array(said["queries"]) @ keys.T)
        groups = np.array(said["items"]).reshape(said["heads"], -1)
        own = np.array([w[g].sum() for w, g in zip(weights, groups)])
        return (1 - own).max(), weights

    def agree(self, said, keys, eps=None):
        """Without noise: the stated, measured and computed numbers are equal."""
        leak, weights = self.leak_of(said, keys)
        row = self.row(said, "leak")
        for value in row["predicted"], row["measured"]:
            self.assertAlmostEqual(value, leak, delta=1e-9)
        if eps is not None:
            self.assertLessEqual(leak, eps * (1 + 1e-9))
        for item in said["items"]:
            row = self.row(said, "weight", item)
            for value in row["predicted"], row["measured"]:
                self.assertAlmostEqual(value, weights.mean(axis=0)[item], delta=1e-9)
        return weights


class Quiet(DesignTest):
    def test_average_of_orthonormal_keys(self):
        for n, eps, tau, d in (10, 0.01, "1", 10), (1024, 0.01, "sqrt", 1024):
            flags = f"average --n {n} --d {d} --items 1,2 --eps {eps} --tau {tau}"
            said = self.design(*flags.split())
            factor = 1 if tau == "1" else 1 / np.sqrt(d)
            beta = np.log((n - 2) * (1 - eps) / (2 * eps)) / factor
            self.assertAlmostEqual(said["scale"], beta, delta=1e-9 * beta)
            self.assertAlmostEqual(said["norm"], np.sqrt(2) * beta, delta=1e-9 * beta)
            self.assertAlmostEqual(self.row(said, "leak")["measured"], eps, delta=1e-9)
            self.agree(said, np.eye(n, d), eps)

    def test_scale_with_one_over_sqrt_d(self):
        # A known value: 10.83 becomes 86.65 at n = 1024, d = 64.
        rng = np.random.default_rng(1)
        keys = np.linalg.qr(rng.standard_normal((64, 64)))[0]
        self.save("k.npy", keys)
        said = self.design("average", "--keys", "k.npy", "--tau", "sqrt")
        beta = np.log(62 * 0.99 / 0.02) * 8
        self.assertAlmostEqual(said["scale"], beta, delta=1e-9 * beta)
        self.agree(said, keys, 0.01)

    def test_copy(self):
        said = self.design("copy", "--n", "50", "--items", "7", "--eps", "1e-6")
        beta = np.log(49 * (1 - 1e-6) / 1e-6)
        self.assertAlmostEqual(said["scale"], beta, delta=1e-9)
        self.agree(said, np.eye(50), 1e-6)

    def test_independent_keys_of_any_shape(self):
        rng = np.random.default_rng(2)
        keys = rng.standard_normal((20, 32)) * rng.uniform(0.2, 5, (20, 1))
        self.save("k.npy", keys)
        said = self.design("average", "--keys", "k.npy", "--items", "4,9,11")
        self.assertEqual(said["prescribed"], "every key")
        scores = keys @ said["queries"][0]
        target = np.zeros(20)
        target[[4, 9, 11]] = said["scale"]
        np.testing.assert_allclose(scores, target, atol=1e-9)
        # The shortest such query is pinv(K) s.
        np.testing.assert_allclose(said["queries"][0], np.linalg.pinv(keys) @ target, atol=1e-9)
        weights = self.agree(said, keys, 0.01)
        np.testing.assert_allclose(weights[0][[4, 9, 11]], 0.99 / 3, atol=1e-9)

    def test_weights(self):
        rng = np.random.default_rng(3)
        for keys in random_units(rng, 12, 16), random_units(rng, 60, 24):
            self.save("k.npy", keys.astype(np.float32))
            keys = keys.astype(np.float32).astype(float)
            said = self.design("weights", "--keys", "k.npy", "--items", "2,5", "--weights", "0.8,0.2")
            weights = self.agree(said, keys, 0.01)
            self.assertAlmostEqual(weights[0][2] / weights[0][5], 4, delta=1e-6)

    def test_more_keys_than_dimensions(self):
        keys = random_units(np.random.default_rng(4), 256, 64)
        self.save("k.npy", keys)
        said = self.design("copy", "--keys", "k.npy", "--items", "9", "--eps", "0.001")
        self.assertEqual(said["prescribed"], "items only")
        self.agree(said, keys, 0.001)
        leak, _ = self.leak_of(said, keys)
        self.assertAlmostEqual(leak, 0.001, delta=1e-9)

    def test_heads(self):
        keys = random_units(np.random.default_rng(5), 40, 48)
        self.save("k.npy", keys)
        said = self.design("heads", "--keys", "k.npy", "--items", "0,1,2,3", "--heads", 2)
        self.assertEqual((said["heads"], np.shape(said["queries"])), (2, (2, 48)))
        self.agree(said, keys, 0.01)

    def test_given_scale(self):
        said = self.design("average", "--n", "10", "--C", "2")
        self.assertEqual(said["scale"], 2)
        leak = 8 / (2 * np.exp(2) + 8)
        self.assertAlmostEqual(self.row(said, "leak")["measured"], leak, delta=1e-12)

    def test_every_key_wanted(self):
        said = self.design("average", "--n", "2")
        self.assertEqual(self.row(said, "leak")["measured"], 0)
        self.assertEqual(self.row(said, "weight", 0)["measured"], 0.5)

    def test_keys_of_every_dtype(self):
        keys = random_units(np.random.default_rng(6), 8, 12)
        half = keys.astype(np.float16)
        bits = harness.to_bf16(keys)
        self.save("k.npy", half)
        harness.write_safetensors(self.path("k.safetensors"), {"k": ("BF16", bits)})
        for spec, read in (
            ("k.npy", half.astype(float)),
            ("k.safetensors:k", harness.from_bf16(bits).astype(float)),
        ):
            self.agree(self.design("average", "--keys", spec), read, 0.01)


class Noisy(DesignTest):
    def check_rows(self, said):
        for row in said["rows"]:
            if row["z"] is not None and row["kind"] == "exact":
                self.assertLessEqual(abs(row["z"]), 4, row)
            if row["rare"] and row["kind"] == "exact":
                self.assertTrue(row["low"] <= row["predicted"] <= row["high"], row)

    def simulate(self, said, keys, sigma2, alpha, items_only, trials=20000):
        """mse, P(flip) and P(lopsided) with noise drawn here, and the standard errors."""
        rng = np.random.default_rng(7)
        n, d = keys.shape
        queries, items = np.array(said["queries"]), np.array(said["items"])
        groups = items.reshape(said["heads"], -1)
        wanted = np.zeros(n)
        wanted[items] = said["weights"] or 1 / len(items)
        values = []
        for _ in range(trials // 1000):
            gamma = 1 + np.sqrt(sigma2) * rng.standard_normal((1000, n))
            if items_only:
                gamma[:, np.setdiff1d(np.arange(n), items)] = 1
            drawn = gamma[:, :, None] * keys
            if alpha:
                drawn = drawn + np.sqrt(alpha) * rng.standard_normal((1000, n, d))
            weights = softmax(said["tau"] * np.einsum("hd,tnd->thn", queries, drawn))
            flip = np.zeros(1000, bool)
            lopsided = np.zeros(1000, bool)
            for h, group in enumerate(groups):
                own = weights[:, h, group]
                others = np.delete(weights[:, h], group, axis=1)
                flip |= own.min(axis=1) < others.max(axis=1)
                ratio = own / wanted[group]
                lopsided |= ratio.max(axis=1) > 9 * ratio.min(axis=1)
            mse = ((weights.mean(axis=1) - wanted) ** 2).sum(axis=1)
            values.append(np.stack([mse, flip, lopsided]))
        values = np.concatenate(values, axis=1)
        return values.mean(axis=1), values.std(axis=1) / np.sqrt(values.shape[1])

    def compare(self, keys, *args, sigma2=0.0, alpha=0.0, items_only=False):
        self.save("k.npy", keys)
        said = self.design(
            *args, "--keys", "k.npy", "--sigma2", sigma2, "--alpha", alpha,
            "--noisy", "items" if items_only else "all",
        )  # fmt: skip
        self.check_rows(said)
        means, errors = self.simulate(said, keys, sigma2, alpha, items_only)
        for quantity, mean, se in zip(("mse", "p_flip", "p_lopsided"), means, errors):
            if quantity == "p_lopsided" and said["heads"] == len(said["items"]):
                continue
            predicted = self.row(said, quantity)["predicted"]
            self.assertLessEqual(abs(mean - predicted), 4 * se + 1e-4, (quantity, mean))
        return said

    def test_the_exercise(self):
        said = self.compare(np.eye(10), "average", "--C", 10, "--items", "3,7", sigma2=0.5)
        self.assertEqual(said["best_heads"], 2)
        self.assertRegex(said["advice"], r"^2 heads would be steadier: .* 0\.06")
        self.assertGreater(self.row(said, "p_lopsided")["measured"], 0.75)

    def test_without_noise_nothing_is_steadier(self):
        said = self.design("average")
        self.assertEqual((said["heads"], said["best_heads"]), (1, 1))
        self.assertRegex(said["advice"], "^without noise nothing varies: one head reaches")
        self.assertNotIn("least", self.succeed("design", "average"))
        self.assertEqual(self.design("heads", "--heads", 2)["best_heads"], 1)

    def test_scales_that_are_compared_are_told(self):
        said = self.design("average", "--C", 10, "--sigma2", 0.5)
        self.assertRegex(said["advice"], r"^2 heads would be steadier.*both at scale 10$")
        said = self.design("average", "--sigma2", 0.5)
        # A leak of 0.01 among n = 10 keys, of two wanted, and of one.
        scales = [math.log(99 * rest / own) for own, rest in ((1, 9), (2, 8))]
        self.assertRegex(
            said["advice"], r"^2 heads would be steadier.*at scales %.4g and %.4g, of equal leak" % (*scales,)
        )

    def test_scores_are_compared_not_weights(self):
        """Where weights underflow, the comparison 0 < 0 is not decided."""
        cdf = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))
        said = self.design("average", "--sigma2", 5, "--C", 300)
        row = self.row(said, "p_flip")
        expected = 1 - cdf(1 / math.sqrt(5)) ** 2
        self.assertAlmostEqual(expected, 0.548, delta=5e-4)
        self.assertLessEqual(abs(row["measured"] - expected), 4 * row["se"])
        self.assertLessEqual(abs(row["predicted"] - expected), 1e-4)
        said = self.design("average", "--alpha", 1, "--C", 1000)
        row = self.row(said, "p_lopsided")
        expected = 2 * cdf(-math.log(9) / 2000)
        self.assertAlmostEqual(expected, 0.9991, delta=5e-5)
        self.assertTrue(row["rare"] and row["low"] <= expected <= row["high"], row)
        self.check_rows(said)

    def test_the_example_of_the_laboratory(self):
        """--noisy a: the same numbers as `attend lab magnitude` and `one-vs-two`."""
        said = self.design("average", "--n", 10, "--items", "3,7", "--sigma2", 0.5,
                           "--noisy", "a", "--C", 10)  # fmt: skip
        self.check_rows(said)
        for experiment, quantity, row in (
            ("magnitude", "var_w", self.row(said, "var_weight", 3)),
            ("magnitude", "mean_w", self.row(said, "mean_weight", 3)),
            ("one-vs-two", "mse_one", self.row(said, "mse")),
        ):
            args = "--n", "10", "--C", "10", "--trials", "1000", "--no-sweep", "--json"
            rows = {r["quantity"]: r for r in self.objects("lab", experiment, *args)}
            self.assertAlmostEqual(rows[quantity]["theory"], row["predicted"], places=6)

    def test_ctrl_c_ends_with_what_was_measured(self):
        out, cost, stopped = self.stop_when_it_says(
            *("design", "average", "--n", "500", "--alpha", "0.1", "--trials", "100000000")
        )
        self.assertRegex(cost, r"takes about \d+ minutes")
        self.assertIn("stopped after", stopped)
        self.assertIn("p_flip", out)

    def test_two_heads(self):
        said = self.compare(np.eye(10), "heads", "--C", 10, "--items", "3,7", sigma2=0.5, items_only=True)
        self.assertEqual(said["heads"], 2)
        self.assertAlmostEqual(self.row(said, "mse")["predicted"], 0.0608, delta=5e-4)

    def test_isotropic_noise(self):
        self.compare(np.eye(16), "average", "--items", "0,1,2", alpha=0.01)

    def test_keys_of_any_shape(self):
        rng = np.random.default_rng(8)
        keys = random_units(rng, 24, 32) * rng.uniform(0.5, 2, (24, 1))
        self.compare(
            keys, "weights", "--items", "1,5,6", "--weights", "0.6,0.3,0.1",
            sigma2=0.01, alpha=1e-3,
        )  # fmt: skip

    def test_more_keys_than_dimensions(self):
        keys = random_units(np.random.default_rng(9), 64, 16)
        self.compare(keys, "copy", "--items", "3", sigma2=0.05, alpha=1e-3)

    def test_same_for_any_number_of_threads(self):
        args = "average", "--sigma2", "0.5", "--alpha", "0.001", "--trials", "1000"
        one = self.design(*args, "--threads", 1)
        self.assertEqual(one, self.design(*args, "--threads", 3))
        self.assertNotEqual(one, self.design(*args, "--threads", 1, "--seed", 2))


class Output(DesignTest):
    def test_written_queries(self):
        said = self.design("heads", "--items", "0,1", "--heads", 2, "--out", "q.npy")
        q = self.load("q.npy")
        self.assertEqual((q.dtype, q.shape), (np.float64, (2, 10)))
        np.testing.assert_array_equal(q, said["queries"])

    def test_query_works_in_run(self):
        keys = random_units(np.random.default_rng(10), 30, 40)
        self.save("k.npy", keys)
        self.save("v.npy", np.eye(30))
        self.design("copy", "--keys", "k.npy", "--items", "8", "--out", "q.npy")
        self.succeed(
            "run", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy",
            "--scale", "1",
        )  # fmt: skip
        self.assertAlmostEqual(self.load("o.npy")[0][8], 0.99, delta=1e-9)

    def test_text(self):
        text = self.succeed(
            "design", "average", "--items", "3,7", "--sigma2", "0.5", "--C", "10",
            "--trials", "1000", "--out", "q.safetensors:q",
        )  # fmt: skip
        self.assertRegex(text, r"\nheads +1, scale 10,")
        self.assertRegex(text, r"\nleak +0\.000181\d+ +0\.000181\d+ ")
        self.assertRegex(text, r"\nwritten +q\.safetensors:q\n")
        self.assertRegex(text, r"\n2 heads would be steadier: .*\n$")
        self.assertEqual(self.load("q.safetensors:q").shape, (1, 10))

    def test_help(self):
        text = self.succeed("design", "--help")
        self.assertTrue(text.startswith("usage: attend design copy|average|weights|heads"))
        self.assertEqual(self.succeed("design", "copy", "--help"), text)
        self.assertLessEqual(max(map(len, text.splitlines())), 90)


class Refused(DesignTest):
    def test_closed_standard_output_leaves_no_file(self):
        self.say_to_closed("design", "copy", "--out", "q.npy")

    def test_usage(self):
        self.save("vector.npy", np.ones(4))
        self.save("integers.npy", np.ones((4, 4), int))
        self.save("nan.npy", np.array([[1, 0], [0, np.nan]]))
        for args, says in (
            ([], "copy|average|weights|heads"),
            (["avrage"], "did you mean 'average'"),
            (["average", "--n", "1"], "--items: 1 is outside 0..0"),
            (["average", "--n", "0"], "--n: 0 is outside 1.."),
            (["average", "--n", "20", "--d", "10"], "--d: 10"),
            (["average", "--items", "3,3"], "twice"),
            (["average", "--items", "3,x"], "'x' is not a whole number"),
            (["average", "--items", "10"], "0..9"),
            (["copy", "--items", "1,2"], "one item"),
            (["average", "--eps", "0"], "--eps"),
            (["average", "--eps", "1.5"], "--eps"),
            (["average", "--C", "nan"], "--C"),
            (["average", "--tau", "0"], "--tau"),
            (["average", "--sigma2", "-1"], "--sigma2"),
            (["average", "--noisy", "some"], "all, items, a"),
            (["average", "--trials", "-5"], "--trials"),
            (["average", "--weights", "0.5,0.5"], "attend design weights"),
            (["weights"], "--weights is needed"),
            (["weights", "--weights", "0.5,0.6"], "sum is 1.1"),
            (["weights", "--weights", "0.5,-0.5"], "--weights"),
            (["weights", "--weights", "1"], "--weights"),
            (["weights", "--items", "1,2,3", "--weights", "0.5,0.5"], "2 of them for 3"),
            (["average", "--heads", "2"], "--heads goes with"),
            (["heads", "--items", "1,2,3", "--heads", "2"], "does not divide"),
            (["average", "--keys", "no.npy"], "no.npy"),
            (["average", "--keys", "vector.npy"], "shape (4,)"),
            (["average", "--keys", "integers.npy"], "dtype int64"),
            (["average", "--keys", "nan.npy"], "(1, 1) is not finite"),
            (["average", "--keys", "nan.npy", "--n", "4"], "--n"),
            (["average", "--out", "no/q.npy"], "--out"),
            (["average", "--out", "q.txt"], "--out"),
        ):
            self.refuse("design", *args, says=says)

    def test_what_cannot_be_designed(self):
        keys = np.eye(6)[:, :6]
        keys[4] = keys[1]
        self.save("twins.npy", keys)
        # Key 4 equals key 1: a query that selects one selects the other as well.
        self.refuse("design", "copy", "--keys", "twins.npy", "--items", "1",
                    says="key 4")  # fmt: skip
        self.refuse("design", "average", "--keys", "twins.npy", "--items", "1,4",
                    says="linearly dependent")  # fmt: skip
        self.agree(self.design("copy", "--keys", "twins.npy", "--items", "2"), keys, 0.01)
        # Three items cannot have arbitrary scores in two dimensions.
        self.save("flat.npy", np.array([[1.0, 0], [0, 1], [1, 1], [-1, 0]]))
        self.refuse("design", "weights", "--keys", "flat.npy", "--items", "0,1,2",
                    "--weights", "0.2,0.3,0.5", says="linearly dependent")  # fmt: skip
