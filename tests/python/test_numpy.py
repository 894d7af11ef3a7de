# SPDX-License-Identifier: MIT
"""attend on NumPy arrays, against the dense evaluation in double precision."""

import math
import signal
import sys
import threading
import time
import unittest

from setting import TOLERANCE, dense, dense_stats, deviation, np, problem, run

import attend


def dense_rule(rule, nb):
    """Keywords of attend.attention as those of dense.attention."""
    rule = dict(rule)
    causal = rule.pop("causal", None)
    if causal is None:
        rule["causal"] = "none"
    elif isinstance(causal, str):
        rule["causal"] = causal
    else:
        rule["causal"], rule["offset"] = "offset", list(np.broadcast_to(causal, nb))
    window = rule.pop("window", None)
    if window is not None:
        left, right = window if isinstance(window, tuple) else (window, window)
        rule["left"], rule["right"] = (-1 if x is None else x for x in (left, right))
    if "key_lengths" in rule:
        rule["lengths"] = rule.pop("key_lengths")
    return rule


class Case(unittest.TestCase):
    def near(self, got, wanted, tolerance=TOLERANCE["float32"], what=""):
        self.assertLessEqual(deviation(got, wanted), tolerance, what)

    def agrees(self, arrays, **rule):
        """Output, LSE and weights of a call equal the dense evaluation."""
        out, lse, weights = attend.attention(*arrays, return_lse=True, return_weights=True, **rule)
        wanted = dense.attention(*arrays, **dense_rule(rule, arrays[0].shape[0]))
        tolerance = TOLERANCE[str(arrays[0].dtype)]
        for name, a, b in zip(("out", "lse", "weights"), (out, lse, weights), wanted):
            self.near(a, b, tolerance, f"{name}, {rule.keys()}")
        self.assertTrue(np.array_equal(out, attend.attention(*arrays, **rule)))
        return out


class Arrays(Case):
    def test_dtypes(self):
        for dtype in "float64", "float32", "float16":
            out = self.agrees(problem(1, dtype=dtype))
            self.assertEqual(out.dtype, dtype)
            lse = attend.attention(*problem(1, dtype=dtype), return_lse=True)[1]
            self.assertEqual(lse.dtype, "float64" if dtype == "float64" else "float32")

    def test_dimensions(self):
        q, k, v = problem(2, b=1, hq=1, hkv=1)
        whole = attend.attention(q, k, v)
        self.assertTrue(np.array_equal(attend.attention(q[0], k[0], v[0]), whole[0]))
        out, lse, weights = attend.attention(q[0, 0], k[0, 0], v[0, 0], return_lse=True, return_weights=True)
        self.assertTrue(np.array_equal(out, whole[0, 0]))
        self.assertEqual((lse.shape, weights.shape), ((5,), (5, 7)))

    def test_three_dimensions_are_heads(self):
        q, k, v = problem(3, b=1)
        self.assertTrue(np.array_equal(attend.attention(q[0], k[0], v[0]), attend.attention(q, k, v)[0]))

    def test_layout(self):
        arrays = problem(4)
        other = [np.ascontiguousarray(x.swapaxes(1, 2)) for x in arrays]
        out, lse, weights = attend.attention(*arrays, return_lse=True, return_weights=True)
        out2, lse2, weights2 = attend.attention(*other, layout="blhd", return_lse=True, return_weights=True)
        self.assertTrue(np.array_equal(out2.swapaxes(1, 2), out))
        self.assertTrue(np.array_equal(lse2, lse) and np.array_equal(weights2, weights))
        three = attend.attention(*(x[0] for x in other), layout="blhd")
        self.assertTrue(np.array_equal(three.swapaxes(0, 1), out[0]))
        two = attend.attention(*(x[0, :, 0] for x in other), layout="blhd")
        self.assertTrue(np.array_equal(two, attend.attention(*(x[0, 0] for x in arrays))))

    def test_strides(self):
        """Views give the bits of copies: transposed, reversed, stepped, broadcast."""
        rng = np.random.default_rng(5)
        wide = [rng.standard_normal((2, 9, 4, 24)).astype("f4") for _ in range(3)]
        views = {
            "transposed": [x.transpose(0, 2, 1, 3) for x in wide],
            "reversed": [x[::-1, ::-1, ::-1, ::-1] for x in wide],
            "stepped": [x[:, 1::2, :, 2::3] for x in wide],
            "d outermost": [x.transpose(3, 2, 1, 0) for x in wide],
            "one key for all": [wide[0], np.broadcast_to(wide[1][:, :, :1], (2, 9, 4, 24)), wide[2]],
            "one head for all": [wide[0], np.broadcast_to(wide[1][:, :1], (2, 9, 4, 24)), wide[2]],
            "Fortran": [np.asfortranarray(x) for x in wide],
            "within a record": [np.zeros((2, 3, 4), [("a", "f4"), ("x", "f4")])["x"] + 1 for _ in range(3)],
        }
        for name, arrays in views.items():
            copies = [np.ascontiguousarray(x) for x in arrays]
            got, wanted = attend.attention(*arrays), attend.attention(*copies)
            self.assertTrue(np.array_equal(got, wanted), name)

    def test_no_copy(self):
        """A call on views of 64 MB takes no memory of that order."""
        import tracemalloc

        wide = np.zeros((1, 1 << 18, 2, 32), "f4")
        view = wide.transpose(0, 2, 1, 3)
        q, context = np.ones((1, 2, 1, 32), "f4"), attend.Context(threads=1)
        attend.attention(q, view, view, context=context)
        tracemalloc.start()
        attend.attention(q, view, view, context=context)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        self.assertLess(peak, 1 << 16)

    def test_bytes_of_a_view(self):
        """Memory beside a view of `out` is unchanged."""
        q, k, v = problem(6)
        memory = np.full((2, 4, 5, 13), 7.0, "f4")
        out = memory[..., ::2][..., :6]
        self.assertIs(attend.attention(q, k, v, out=out), out)
        self.assertTrue(np.array_equal(out, attend.attention(q, k, v)))
        self.assertTrue((memory[..., 1::2] == 7).all() and (memory[..., 12] == 7).all())

    def test_empty(self):
        for shape in (0, 2, 3, 4), (1, 0, 3, 4), (1, 2, 0, 4):
            x = np.zeros(shape, "f4")
            self.assertEqual(attend.attention(x, x, x).shape, shape)
        q = np.ones((1, 2, 3, 4), "f4")
        none = np.zeros((1, 2, 0, 4), "f4")
        out, lse = attend.attention(q, none, none, return_lse=True)
        self.assertTrue((out == 0).all() and (lse == -np.inf).all())

    def test_memoryview(self):
        q, k, v = problem(7)
        got = attend.attention(*(memoryview(x) for x in (q, k, v)))
        self.assertTrue(np.array_equal(got, attend.attention(q, k, v)))


class Rules(Case):
    def setUp(self):
        self.arrays = problem(11)
        self.rng = np.random.default_rng(12)

    def test_scale(self):
        self.agrees(self.arrays, scale=0.3)
        self.agrees(self.arrays, scale=0.0)
        self.agrees(self.arrays, scale=np.float32(2))

    def test_causal(self):
        for causal in "top-left", "bottom-right", 0, 3, -2, [1, -1], np.array([2, 0]):
            self.agrees(self.arrays, causal=causal)

    def test_window(self):
        for window in (2, None), (None, 1), (0, 0), 2, (3, 1):
            self.agrees(self.arrays, window=window)
            self.agrees(self.arrays, window=window, causal="bottom-right")

    def test_softcap(self):
        self.agrees(self.arrays, softcap=1.5)

    def test_bias_broadcasts(self):
        for shape in (2, 4, 5, 7), (1, 4, 5, 7), (4, 1, 7), (5, 7), (7,), (2, 1, 1, 7), (5, 1):
            self.agrees(self.arrays, bias=self.rng.standard_normal(shape).astype("f4"))

    def test_mask_broadcasts(self):
        for shape in (2, 4, 5, 7), (1, 1, 5, 7), (4, 1, 7), (5, 7), (7,), (2, 1, 1, 7):
            self.agrees(self.arrays, mask=self.rng.random(shape) < 0.6)

    def test_strided_mask(self):
        mask = (self.rng.random((7, 5)) < 0.6).T
        self.agrees(self.arrays, mask=mask)
        self.agrees(self.arrays, mask=mask[::-1, ::-1])

    def test_hidden_rows(self):
        mask = np.ones((5, 7), bool)
        mask[2] = False
        out = self.agrees(self.arrays, mask=mask)
        self.assertTrue((out[:, :, 2] == 0).all())

    def test_key_lengths(self):
        for lengths in [3, 7], np.array([0, 5], "i4"), (7, 1):
            self.agrees(self.arrays, key_lengths=lengths)

    def test_alibi(self):
        self.agrees(self.arrays, alibi=dense.alibi_slopes(4), causal="bottom-right")
        self.agrees(self.arrays, alibi=[0.5, 0.25, 0, -0.25])

    def test_sinks(self):
        self.agrees(self.arrays, sinks=[0.5, -1, 3, 0])
        self.agrees(self.arrays, sinks=np.zeros(4, "f4"), causal="top-left")

    def test_all_at_once(self):
        self.agrees(
            self.arrays,
            scale=0.7,
            causal=[2, 3],
            window=(4, None),
            softcap=2.0,
            key_lengths=[6, 7],
            bias=self.rng.standard_normal((4, 5, 7)).astype("f4"),
            mask=self.rng.random((2, 1, 5, 7)) < 0.8,
            alibi=dense.alibi_slopes(4),
            sinks=[0.1, 0.2, 0.3, 0.4],
        )

    def test_sequence_that_is_split(self):
        """Shapes with several blocks and splits of keys."""
        arrays = problem(13, b=1, hq=2, hkv=1, nq=33, nk=3001, d=16, dv=16)
        self.agrees(arrays, causal="bottom-right", window=(2500, None))


class Results(Case):
    def test_order_of_results(self):
        arrays = problem(21)
        out, lse, weights, stats = attend.attention(*arrays, return_lse=True, return_weights=True, stats=True)
        self.assertEqual((out.shape, lse.shape, weights.shape), ((2, 4, 5, 6), (2, 4, 5), (2, 4, 5, 7)))
        self.assertIsInstance(stats, attend.Stats)
        self.assertEqual(len(attend.attention(*arrays, stats=["entropy"])), 2)

    def test_stats(self):
        arrays = problem(22)
        for rule in (
            {},
            {"causal": "bottom-right"},
            {"causal": [1, 4], "softcap": 2.0},
            {"mask": np.eye(5, 7, 1, dtype=bool)},
        ):
            names = [x for x in dense_stats.NAMES if x != "keys"]
            got = attend.stats(*arrays, columns=["keys", *names], **rule)
            wanted, weights = dense_stats.rows(*arrays, **dense_rule(rule, 2))
            for (b, h, i), row in wanted.items():
                for name in ["keys", *names]:
                    self.near(
                        got[name][b, h, i],
                        row[name],
                        1e-4 * (1 + abs(row[name])) if math.isfinite(row[name]) else 0,
                        (name, rule),
                    )
            top = np.take_along_axis(weights, np.maximum(got.top_keys, 0), -1)
            seen = got.top_keys >= 0
            self.near(np.where(seen, got.top_weights, 0), np.where(seen, top, 0), 1e-5)
            self.near(got.top_weights[..., 0], weights.max(-1), 1e-5)

    def test_stats_are_those_of_attention(self):
        arrays = problem(23)
        _, s = attend.attention(*arrays, stats=True, causal="bottom-right")
        t = attend.stats(*arrays, causal="bottom-right")
        self.assertEqual(list(s), list(t))
        for name in s:
            self.assertTrue(np.array_equal(s[name], t[name]), name)
        self.assertTrue(np.array_equal(s.entropy, s["entropy"]))

    def test_summaries(self):
        s = attend.stats(*problem(24, nq=40, nk=40))
        entropy, relative = s.summaries["entropy"], s.entropy / np.log(s.keys)
        self.near(entropy.mean[:, :, 0], relative.mean(-1), 1e-9)
        self.near(entropy.max[:, :, 0], relative.max(-1), 1e-9)
        self.near(entropy.sd[:, :, 0], relative.std(-1), 1e-9)
        self.near(entropy.mean[:, :, 1], relative[:, :, :4].mean(-1), 1e-9)
        self.assertTrue((entropy.rows[:, :, 0] == 40).all())
        self.assertTrue((entropy.histogram.sum(-1) == entropy.rows).all())

    def test_heads(self):
        n = 64
        eye = np.eye(n, dtype="f4")[None, None]
        (head,) = attend.stats(30 * eye, eye, causal="bottom-right", scale=1.0).heads()
        self.assertEqual((head.rows, head.batch, head.head), (n, 0, 0))
        self.assertGreater(head.max, 0.9)
        self.assertTrue(head.character and head.reason)
        (flat,) = attend.stats(0 * eye, eye).heads()
        self.assertAlmostEqual(flat.n_eff, n, places=3)
        self.assertNotEqual(flat.character, head.character)

    def test_pandas(self):
        s = attend.stats(*problem(25))
        table = s.to_pandas()
        self.assertEqual(len(table), 2 * 4 * 5)
        row = table[(table.batch == 1) & (table["head"] == 3) & (table["query"] == 2)]
        self.assertEqual(float(row.entropy.iloc[0]), float(s.entropy[1, 3, 2]))

    def test_inspect(self):
        q, k, v = problem(26)
        for rule in {}, {"causal": "bottom-right"}, {"window": (2, 2), "sinks": [1, 0, 1, 0]}:
            weights = dense.attention(q, k, v, **dense_rule(rule, 2))[2]
            got = attend.inspect(
                q,
                k,
                column_max=True,
                last=2,
                pooled=3,
                zoom=(1, 2, 3, 4),
                probes=[(0, 1, 2, 3), (1, 3, 4, 0)],
                **rule,
            )
            self.near(got.column_mass, weights.sum(2), 1e-5)
            self.near(got.column_max, weights.max(2), 1e-5)
            self.near(got.column_last, weights[:, :, -2:].sum(2), 1e-5)
            self.near(got.zoom, weights[:, :, 1:4, 2:6], 1e-5)
            self.near(got.probes, [weights[0, 1, 2, 3], weights[1, 3, 4, 0]], 1e-5)
            padded = np.zeros((2, 4, 6, 9))
            padded[:, :, :5, :7] = weights
            self.near(got.pooled, padded.reshape(2, 4, 2, 3, 3, 3).sum((3, 5)), 1e-5)

    def test_inspect_takes_the_lse(self):
        q, k, v = problem(27)
        lse = attend.attention(q, k, v, return_lse=True)[1]
        self.near(attend.inspect(q, k, lse).column_mass, attend.inspect(q, k).column_mass, 1e-6)
        self.assertIsNone(attend.inspect(q, k, lse).pooled)

    def test_inspect_of_three_and_two_dimensions(self):
        q, k, _ = problem(28, b=1, hq=2, hkv=2)
        whole = attend.inspect(q, k, pooled=2)
        three, two = attend.inspect(q[0], k[0], pooled=2), attend.inspect(q[0, 0], k[0, 0], pooled=2)
        self.assertTrue(np.array_equal(three.column_mass, whole.column_mass[0]))
        self.assertTrue(np.array_equal(two.pooled, whole.pooled[0, 0]))

    def test_merge(self):
        q, k, v = problem(29)
        whole, whole_lse = attend.attention(q, k, v, return_lse=True)
        cuts = (0, 2), (2, 3), (3, 7)
        parts = [attend.attention(q, k[:, :, a:b], v[:, :, a:b], return_lse=True) for a, b in cuts]
        out, lse = attend.merge(parts)
        self.near(out, whole)
        self.near(lse, whole_lse)
        again = np.empty_like(whole)
        self.assertIs(attend.merge(parts, out=again)[0], again)

    def test_merge_of_three_dimensions(self):
        q, k, v = (x[0] for x in problem(30))
        parts = [attend.attention(q, k[:, s], v[:, s], return_lse=True) for s in (slice(0, 3), slice(3, 7))]
        self.near(attend.merge(parts)[0], attend.attention(q, k, v))


class Contexts(Case):
    def test_info(self):
        found = attend.info()
        self.assertEqual(found["version"], attend.__version__)
        self.assertIn(found["isa"], [x["name"] for x in found["isas"]])
        self.assertGreater(found["threads"], 0)

    def test_every_set(self):
        arrays = problem(31)
        for isa in attend.info()["isas"]:
            if isa["runs"]:
                context = attend.Context(threads=2, isa=isa["name"])
                self.assertEqual((context.threads, context.isa), (2, isa["name"]))
                self.near(attend.attention(*arrays, context=context), dense.attention(*arrays)[0])

    def test_set_threads(self):
        attend.set_threads(3)
        self.assertEqual(attend.default_context().threads, 3)
        attend.set_threads(0)
        for threads in (-1, 10**9):
            with self.assertRaisesRegex(ValueError, "^threads"):
                attend.set_threads(threads)

    def in_threads(self, contexts):
        arrays = [problem(seed, nq=64, nk=300, d=32) for seed in range(4)]
        wanted = [attend.attention(*a) for a in arrays]
        wrong = []

        def work(x):
            for _ in range(50):
                if not np.array_equal(attend.attention(*arrays[x], context=contexts[x]), wanted[x]):
                    wrong.append(x)

        threads = [threading.Thread(target=work, args=(x,)) for x in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_threads_share_a_context(self):
        self.in_threads([None] * 4)
        self.in_threads([attend.Context(threads=2)] * 4)

    def test_threads_with_their_own(self):
        self.in_threads([attend.Context(threads=1) for _ in range(4)])

    def test_threads_change_while_calls_run(self):
        q, k, v = problem(32, nq=64, nk=300)
        wanted = attend.attention(q, k, v)
        stop = threading.Event()

        def change():
            while not stop.is_set():
                attend.set_threads(1)
                attend.set_threads(2)

        thread = threading.Thread(target=change)
        thread.start()
        for _ in range(200):
            self.assertTrue(np.array_equal(attend.attention(q, k, v), wanted))
        stop.set()
        thread.join()
        attend.set_threads(0)


class Refusals(Case):
    """Each bad argument: the exception, and that its message names the argument."""

    def test_table(self):
        q, k, v = problem(41)
        i4 = q.astype("i4")
        frozen = np.empty((2, 4, 5, 6), "f4")
        frozen.flags.writeable = False
        swapped = q.astype(">f4")
        table = [
            # arguments, keywords, exception, word
            ((q[0, 0, 0], k, v), {}, ValueError, "q"),
            ((q[None], k[None], v[None]), {}, ValueError, "q"),
            ((q, k[0], v), {}, ValueError, "k"),
            ((q, k, v[:, :, :3]), {}, ValueError, "v"),
            ((q, k[..., :3], v), {}, ValueError, "k"),
            ((q, k[:1], v), {}, ValueError, "k"),
            ((q, k[:, :1], v), {}, ValueError, "v"),
            ((q[:, :3], k, v), {}, ValueError, "h"),
            ((i4, k, v), {}, TypeError, "q"),
            ((q, i4, v), {}, TypeError, "k"),
            ((q, k, v.astype("c8")), {}, TypeError, "v"),
            ((q, k, v.astype("u1")), {}, TypeError, "v"),
            ((q, k.astype("f8"), v), {}, TypeError, "k"),
            ((q, k, v.astype("f8")), {}, TypeError, "v"),
            ((q > 0, k > 0, v > 0), {}, TypeError, "q"),
            ((swapped, k, v), {}, TypeError, "q"),
            ((q.astype("g"), k, v), {}, TypeError, "q"),
            ((q.astype(object), k, v), {}, TypeError, "q"),
            ((q.astype("S4"), k, v), {}, TypeError, "q"),
            ((None, k, v), {}, TypeError, "q"),
            ((q, "k", v), {}, TypeError, "k"),
            ((q, k, [[1.0]]), {}, TypeError, "v"),
            ((q, 3.0, v), {}, TypeError, "k"),
            ((q, k, v), {"out": frozen}, ValueError, "out"),
            ((q, k, v), {"out": np.empty((2, 4, 5, 7), "f4")}, ValueError, "out"),
            ((q, k, v), {"out": np.empty((2, 4, 5, 6), "i4")}, TypeError, "out"),
            ((q, k, v), {"out": np.broadcast_to(np.zeros(6, "f4"), (2, 4, 5, 6))}, ValueError, "out"),
            ((q, k, v), {"out": [1.0]}, TypeError, "out"),
            ((q, k, v), {"out": q}, ValueError, "out"),
            ((q, k, v), {"scale": math.nan}, ValueError, "scale"),
            ((q, k, v), {"scale": "1"}, TypeError, "scale"),
            ((q, k, v), {"scale": 1j}, TypeError, "scale"),
            ((q, k, v), {"softcap": -1.0}, ValueError, "softcap"),
            ((q, k, v), {"softcap": math.inf}, ValueError, "softcap"),
            ((q, k, v), {"softcap": "x"}, TypeError, "softcap"),
            ((q, k, v), {"causal": "left"}, ValueError, "causal"),
            ((q, k, v), {"causal": True}, ValueError, "causal"),
            ((q, k, v), {"causal": [1, 2, 3]}, ValueError, "causal"),
            ((q, k, v), {"causal": 1.5}, TypeError, "causal"),
            ((q, k, v), {"causal": 1 << 80}, TypeError, "causal"),
            ((q, k, v), {"causal": (1 << 64) - 1}, ValueError, "causal"),
            ((q, k, v), {"causal": 1 << 62}, ValueError, r"causal\["),
            ((q, k, v), {"window": -3}, ValueError, "window"),
            ((q, k, v), {"window": (1, 2, 3)}, ValueError, "window"),
            ((q, k, v), {"window": 1.5}, TypeError, "window"),
            ((q, k, v), {"window": 1 << 80}, ValueError, "window"),
            ((q, k, v), {"window": "ab"}, TypeError, "window"),
            ((q, k, v), {"mask": np.ones((3, 4, 5, 7), bool)}, ValueError, "mask"),
            ((q, k, v), {"mask": np.ones((1, 1, 1, 5, 7), bool)}, ValueError, "mask"),
            ((q, k, v), {"mask": np.ones((5, 7), "i8")}, TypeError, "mask"),
            ((q, k, v), {"mask": np.ones((5, 7), "f4")}, TypeError, "mask"),
            ((q, k, v), {"mask": [[True]]}, TypeError, "mask"),
            ((q, k, v), {"mask": np.datetime64(3, "s")}, TypeError, "mask"),
            ((q, k, v), {"mask": np.zeros((5, 7), "V0")}, TypeError, "mask"),
            ((q, k, v), {"mask": (4096, 5, (5, 7), (7, 1))}, TypeError, "mask"),
            ((q, k, v), {"out": (4096, 2, (5, 7), (7, 1))}, TypeError, "out"),
            ((q, k, v), {"bias": np.ones((5, 6), "f4")}, ValueError, "bias"),
            ((q, k, v), {"bias": np.ones((5, 7), bool)}, TypeError, "bias"),
            ((q, k, v), {"bias": np.ones((5, 7), "i8")}, TypeError, "bias"),
            ((q, k, v), {"key_lengths": [1]}, ValueError, "key_lengths"),
            ((q, k, v), {"key_lengths": [1, 99]}, ValueError, "key_lengths"),
            ((q, k, v), {"key_lengths": [-1, 2]}, ValueError, "key_lengths"),
            ((q, k, v), {"key_lengths": [1.5, 2]}, TypeError, "key_lengths"),
            ((q, k, v), {"key_lengths": "ab"}, TypeError, "key_lengths"),
            ((q, k, v), {"alibi": [1.0]}, ValueError, "alibi"),
            ((q, k, v), {"alibi": [math.nan] * 4}, ValueError, "alibi"),
            ((q, k, v), {"alibi": "slopes"}, TypeError, "alibi"),
            ((q, k, v), {"sinks": [1.0] * 5}, ValueError, "sinks"),
            ((q, k, v), {"sinks": [math.inf] * 4}, ValueError, "sinks"),
            ((q, k, v), {"sinks": [[1], [2, 3]]}, TypeError, "sinks"),
            ((q, k, v), {"layout": "hbld"}, ValueError, "layout"),
            ((q, k, v), {"layout": None}, ValueError, "layout"),
            ((q, k, v), {"stats": ["entrop"]}, ValueError, "stats"),
            ((q, k, v), {"stats": 7}, TypeError, "stats"),
            ((q, k, v), {"context": 3}, TypeError, "context"),
            ((q, k, v), {"colour": 3}, TypeError, "colour"),
        ]
        for arguments, keywords, exception, word in table:
            with self.subTest(
                shapes=[getattr(x, "shape", x) for x in arguments], keywords=str(keywords)[:60]
            ):
                with self.assertRaises(exception) as caught:
                    attend.attention(*arguments, **keywords)
                self.assertIs(type(caught.exception), exception)
                self.assertRegex(str(caught.exception), rf"\b{word}")

    def test_a_signal_handler_that_raises_ends_a_call(self):
        """An alarm simulates Ctrl-C: the handler runs in the middle of the call."""
        x = np.random.default_rng(3).standard_normal((1, 8, 4096, 64)).astype("f4")
        context = attend.Context(threads=2, isa="ref")
        short = x[:, :, :16]
        before = attend.attention(short, short, short, context=context)
        nested = []

        def handler(number, frame):
            with self.assertRaisesRegex(RuntimeError, "in use"):
                attend.attention(short, short, short, context=context)
            nested.append(number)
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, handler)
        self.addCleanup(signal.signal, signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            attend.attention(x, x, x, context=context)
        self.assertLess(time.monotonic() - start, 10)  # the whole call takes 30 s and more
        self.assertEqual(nested, [signal.SIGALRM])
        again = attend.attention(short, short, short, context=context)
        self.assertEqual(before.tobytes(), again.tobytes())

    def test_odd_strides(self):
        """Elements that are not aligned to their size."""
        raw = np.zeros(5 * 8 * 6, "u1")
        odd = np.ndarray((5, 8), "f4", raw, 0, (48 - 2, 4))
        with self.assertRaisesRegex(ValueError, r"\bk\b"):
            attend.attention(problem(42)[0][0, 0], odd, odd)

    def test_an_output_over_an_input(self):
        x = np.zeros((3, 5, 8), "f4")
        for name, arrays in (
            ("q", (x[1:], x[:2] + 0, x[:2] + 0)),
            ("k", (x[:2] + 0, x[1:], x[:2] + 0)),
            ("v", (x[:2] + 0, x[:2] + 0, x[1:])),
        ):
            with self.assertRaisesRegex(ValueError, rf"^out \(at .*\) overlaps {name} \("):
                attend.attention(*arrays, out=x[:2])
        between = np.zeros((5, 2, 8), "f4")  # gaps do not overlap
        between[:, 0] = np.random.default_rng(0).standard_normal((5, 8))
        q = between[:, 0].copy()
        attend.attention(between[:, 0], between[:, 0], between[:, 0], out=between[:, 1])
        self.assertTrue(np.array_equal(between[:, 1], attend.attention(q, q, q)))

    def test_a_failed_call_writes_nothing(self):
        q, k, v = problem(43)
        out = np.full((2, 4, 5, 6), 3.0, "f4")
        with self.assertRaises(ValueError):
            attend.attention(q, k, v, key_lengths=[1, 99], out=out)
        self.assertTrue((out == 3).all())

    def test_merge(self):
        q, k, v = problem(44)
        out, lse = attend.attention(q, k, v, return_lse=True)
        for parts in (
            [],
            [(out, lse[:1])],
            [(out, lse), (out[:, :, :2], lse)],
            [(out.astype("i4"), lse)],
            [out],
            [(out,)],
            3,
            [None],
        ):
            with self.assertRaises((ValueError, TypeError), msg=str(parts)[:40]) as caught:
                attend.merge(parts)
            self.assertRegex(str(caught.exception), r"part|out|lse")

    def test_inspect(self):
        q, k, v = problem(45)
        lse = attend.attention(q, k, v, return_lse=True)[1]
        table = [
            ({"lse": lse[:1]}, ValueError, "lse"),
            ({"lse": lse.astype("i4")}, TypeError, "lse"),
            ({"lse": 3}, TypeError, "lse"),
            ({"last": -1}, ValueError, "last"),
            ({"last": 99}, ValueError, "last"),
            ({"pooled": -2}, ValueError, "pooled"),
            ({"zoom": (0, 0, 9, 1)}, ValueError, "zoom"),
            ({"zoom": (-1, 0, 1, 1)}, ValueError, "zoom"),
            ({"zoom": (0, 0, 1 << 40, 1 << 40)}, ValueError, "zoom"),
            ({"zoom": (0, 0, -1, 1)}, ValueError, "zoom"),
            ({"zoom": (0, 0, 1)}, ValueError, "zoom"),
            ({"zoom": 3}, TypeError, "zoom"),
            ({"probes": [(0, 0, 0, 99)]}, ValueError, "probe"),
            ({"probes": [(0, 0, 0)]}, ValueError, "probe"),
            ({"probes": "ab"}, TypeError, "probe"),
            ({"softcap": -1}, ValueError, "softcap"),
            ({"colour": 1}, TypeError, "colour"),
        ]
        for keywords, exception, word in table:
            with self.subTest(keywords=str(keywords)[:60]), self.assertRaisesRegex(exception, word):
                attend.inspect(q, k, **keywords)

    def test_context(self):
        for keywords in {"threads": -1}, {"isa": "sse9"}, {"threads": 1 << 40}:
            self.assertRaisesRegex(ValueError, next(iter(keywords)), attend.Context, **keywords)
        for keywords in {"threads": "x"}, {"isa": 3}, {"color": 1}:
            self.assertRaisesRegex(TypeError, next(iter(keywords)), attend.Context, **keywords)

    def test_stats(self):
        q, k, v = problem(46)
        self.assertRaisesRegex(ValueError, "top", attend.stats, q, k, v, top=99)
        self.assertRaisesRegex(ValueError, "columns", attend.stats, q, k, v, columns=["nothing"])
        self.assertRaisesRegex(ValueError, "raw_variance", attend.stats(q, k, v, columns=["keys"]).heads)
        self.assertRaises(AttributeError, lambda: attend.stats(q, k).nothing)


class Import(unittest.TestCase):
    def says(self, code):
        return run(sys.executable, "-c", code, cwd="/").stdout.strip()

    def test_what_is_imported(self):
        code = "import sys, attend; print([x for x in ('numpy', 'torch', 'transformers', 'pandas', 'matplotlib') if x in sys.modules])"
        self.assertEqual(self.says(code), "[]")

    def test_not_numpy(self):
        """Where NumPy is missing, the error says so."""
        code = "import sys; sys.modules['numpy'] = None\nimport attend\nx = memoryview(bytes(32)).cast('f', [2, 4])\n"
        code += "try: attend.attention(x, x, x)\nexcept ImportError as e: print(e)"
        self.assertRegex(self.says(code), r"^import of numpy\b")
