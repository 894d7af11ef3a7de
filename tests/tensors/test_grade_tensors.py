# SPDX-License-Identifier: MIT
"""attend grade --tensors: every slip is made here in NumPy, and named by the command."""

import json
import os
import re
import subprocess
import sys

import numpy as np
from numpy_attention import attention, merge, rotate, scores_of, softmax, split, triangle

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
from harness import SEED, CliTest, main, to_bf16, write_safetensors  # noqa: E402


class Tensors(CliTest):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(SEED)

    def draw(self, *shape, dtype=np.float64):
        return self.rng.standard_normal(shape).astype(dtype)

    def write(self, **arrays):
        for name, array in arrays.items():
            np.save(self.path(name + ".npy"), array)

    def exercise(self, *tasks):
        tasks = [{"name": f"task {n}", **task} for n, task in enumerate(tasks)]
        with open(self.path("exercise.json"), "w", encoding="utf-8") as file:
            json.dump({"tasks": tasks}, file)

    def grade(self):
        return json.loads(self.succeed("grade", "--tensors", ".", "--json"))["tasks"]

    def verdict(self, out, dtype=None):
        """Of the first task, whose result is `out`."""
        with np.errstate(all="ignore"):
            self.write(out=np.asarray(out) if dtype is None else np.asarray(out, dtype))
        return self.grade()[0]

    def right(self, out, mark="right", **kwargs):
        task = self.verdict(out, **kwargs)
        self.assertEqual((task["verdict"], task["slips"]), (mark, []), task["message"])
        self.assertEqual(task["points"], task["of"])
        return task

    def wrong(self, out, **kwargs):
        task = self.verdict(out, **kwargs)
        self.assertEqual((task["verdict"], task["slips"]), ("wrong", []), task["message"])
        self.assertIn("none of the usual slips", task["message"])
        self.assertEqual(task["points"], 0)
        return task

    def slip(self, names, out, **kwargs):
        task = self.verdict(out, **kwargs)
        self.assertEqual((task["verdict"], task["slips"]), ("slip", names.split()), task["message"])
        self.assertIn("your result is that of", task["message"])
        self.assertEqual(task["points"], 0)
        return task


class Slips(Tensors):
    """In f64, f32, and where the student's arithmetic is coarser than the inputs'."""

    def check(self, slips):
        for name, out in slips.items():
            for dtype in np.float64, np.float32:
                with self.subTest(slip=name, dtype=dtype.__name__):
                    self.slip(name, out, dtype=dtype)

    def test_scale_and_softmax(self):
        q, k, v = self.draw(5, 8), self.draw(7, 8), self.draw(7, 6)
        self.write(q=q, k=k, v=v)
        self.right(attention(q, k, v))
        s = scores_of(q, k)
        self.check(
            {
                "no-scale": attention(q, k, v, 1),
                "scale-d": attention(q, k, v, 1 / 8),
                "scale-times": attention(q, k, v, np.sqrt(8)),
                "softmax-queries": attention(q, k, v, axis=-2),
                "softmax-matrix": (np.exp(s) / np.exp(s).sum()) @ v,
                "softmax-mixed": (lambda e: e / e.sum(0))(np.exp(s - s.max(-1, keepdims=True))) @ v,
                "softmax-twice": softmax(softmax(s)) @ v,
                "no-softmax": s @ v,
                "no-sum": np.exp(s) @ v,
                "keys-averaged": attention(q, k, k),
                "weights-alone": softmax(s),
                "scores-alone": s,
                "transposed": attention(q, k, v).T,
            }
        )
        self.wrong(self.draw(5, 6))
        self.wrong(attention(q, k, v) + 1e-4)
        self.wrong(self.draw(5, 3))

    def test_scale_that_is_given(self):
        q, k, v = self.draw(5, 8), self.draw(7, 8), self.draw(7, 6)
        self.write(q=q, k=k, v=v)
        self.exercise({"scale": 0.7})
        self.right(attention(q, k, v, 0.7))
        self.slip("scale-usual", attention(q, k, v))
        self.slip("no-scale", attention(q, k, v, 1))

    def test_swapped_operands(self):
        q, k, v = self.draw(6, 8), self.draw(6, 8), self.draw(6, 8)
        self.write(q=q, k=k, v=v)
        s = scores_of(q, k)
        self.right(attention(q, k, v))
        self.check(
            {
                "swap-qk": attention(k, q, v),
                "swap-kv": attention(q, v, k),
                "swap-qv": attention(v, k, q),
                "transposed": attention(q, k, v).T,
                "sum-broadcast": (np.exp(s) / np.exp(s).sum(-1)) @ v,
                "sum-broadcast-max": (lambda e: e / e.sum(-1))(np.exp(s - s.max(-1, keepdims=True))) @ v,
                "max-broadcast": (lambda e: e / e.sum(-1))(np.exp(s - s.max(-1))) @ v,
            }
        )

    def test_causal(self):
        q, k, v = self.draw(5, 8), self.draw(7, 8), self.draw(7, 6)
        self.write(q=q, k=k, v=v)
        s, seen = scores_of(q, k), triangle(5, 7, 2)
        self.exercise({"causal": "bottom-right"})
        self.right(attention(q, k, v, seen=seen))
        # A mask after softmax that is followed by a division is the right result.
        after = softmax(s) * seen
        self.right((after / after.sum(-1, keepdims=True)) @ v)
        self.right(softmax(s + np.where(seen, 0, -1e9)) @ v)
        self.check(
            {
                "no-mask": attention(q, k, v),
                "mask-after": after @ v,
                "mask-added": softmax(s + seen) @ v,
                "mask-zeroes": softmax(s * seen) @ v,
                "mask-inverted": attention(q, k, v, seen=~seen),
                "causal-strict": attention(q, k, v, seen=triangle(5, 7, 1)),
                "causal-ahead": attention(q, k, v, seen=triangle(5, 7, 3)),
                "causal-corner": attention(q, k, v, seen=triangle(5, 7)),
                "no-scale": attention(q, k, v, 1, seen),
            }
        )
        self.exercise({"causal": "top-left"})
        self.right(attention(q, k, v, seen=triangle(5, 7)))
        # Row 0 sees no key and is NaN, or the mean of the values: it is not compared.
        self.slip("causal-strict", attention(q, k, v, seen=triangle(5, 7, -1)))
        fill = np.where(triangle(5, 7, -1), s, -1e9)
        self.slip("causal-strict", softmax(fill) @ v)
        self.slip("causal-corner", attention(q, k, v, seen=seen))

    def test_square_masks(self):
        q, k, v = self.draw(2, 3, 6, 8), self.draw(2, 3, 6, 8), self.draw(2, 3, 6, 8)
        seen = triangle(6, 6)
        self.write(q=q, k=k, v=v)
        self.exercise({"causal": "top-left"})
        self.right(attention(q, k, v, seen=seen))
        self.slip("mask-transposed", attention(q, k, v, seen=seen.T))
        self.slip("causal-strict", attention(q, k, v, seen=triangle(6, 6, -1)))

    def test_mask_of_a_file(self):
        q, k, v = self.draw(5, 8), self.draw(7, 8), self.draw(7, 6)
        mask = self.rng.random((5, 7)) < 0.5
        mask[:, 0], mask[:, 1] = True, False
        self.write(q=q, k=k, v=v, mask=mask)
        self.exercise({"mask": "mask.npy"})
        self.right(attention(q, k, v, seen=mask))
        self.slip("mask-inverted", attention(q, k, v, seen=~mask))
        self.slip("no-mask", attention(q, k, v))
        mask[2] = False
        self.write(mask=mask)
        self.right(attention(q, k, v, seen=mask))  # row 2 is NaN

    def test_overflow(self):
        q, k, v = self.draw(5, 8), self.draw(7, 8), self.draw(7, 6)
        for dtype, scale in (np.float64, 300.0), (np.float32, 100.0):
            with self.subTest(dtype=dtype.__name__):
                a, b, c = (x.astype(dtype) for x in (q, k, v))
                self.write(q=a, k=b, v=c)
                self.exercise({"scale": scale})
                self.right(attention(a, b, c, scale))
                with np.errstate(all="ignore"):
                    raw = np.exp(scores_of(a, b, scale))
                    out = (raw / raw.sum(-1, keepdims=True)) @ c
                self.assertTrue(np.isnan(out).any())
                self.assertIn("not finite", self.slip("no-subtract", out)["message"])
        self.write(q=q, k=k, v=v)
        self.exercise({"scale": 10.0})
        self.right(attention(q, k, v, 10.0))
        for dtype in np.float32, np.float16:  # coarser than the file, and as coarse
            a, b, c = (x.astype(dtype) for x in (q, k, v))
            with np.errstate(all="ignore"):
                raw = np.exp(scores_of(a, b, 10.0 if dtype is np.float16 else 40.0))
                out = (raw / raw.sum(-1, keepdims=True)) @ c
            self.exercise({"scale": 10.0 if dtype is np.float16 else 40.0})
            task = self.slip("no-subtract", out, dtype=np.float64 if dtype is np.float32 else dtype)
            self.assertEqual(task["arithmetic"], dtype.__name__)
        self.exercise({"scale": 30.0})
        out = attention(q, k, v, 30.0)
        out[1, 2] = np.nan
        self.assertIn("1 of 30 numbers are not finite", self.wrong(out)["message"])

    def test_heads_side_by_side(self):
        q, k, v = (self.draw(2, 6, 32) for _ in range(3))
        self.write(q=q, k=k, v=v)
        self.exercise({"layout": "packed", "heads": 4})
        a, b, c = (split(x, 4) for x in (q, k, v))
        raw = [x.reshape(2, 4, 6, 8) for x in (q, k, v)]
        strided = [x.reshape(2, 6, 8, 4).transpose(0, 3, 1, 2) for x in (q, k, v)]
        back = lambda x: x.transpose(0, 2, 3, 1).reshape(2, 6, 32)
        right = attention(a, b, c)
        self.right(merge(right))
        self.check(
            {
                "heads-read": merge(attention(*raw)),
                "heads-reshaped": attention(*raw).reshape(2, 6, 32),
                "heads-written": right.reshape(2, 6, 32),
                "heads-memory": right,
                "heads-strided": back(attention(*strided)),
                "heads-strided-read": merge(attention(*strided)),
                "heads-strided-written": back(right),
                "heads-one": attention(q, k, v, 1 / np.sqrt(8)),
                "heads-one-model": attention(q, k, v),
                "heads-mean": right.mean(1),
                "heads-sum": right.sum(1),
                "softmax-heads": merge(attention(a, b, c, axis=1)),
                "softmax-batches": merge(attention(a, b, c, axis=0)),
                "softmax-all": merge(softmax(scores_of(a, b), axis=None) @ c),
                "scale-model": merge(attention(a, b, c, 1 / np.sqrt(32))),
                "transposed": merge(right).swapaxes(-1, -2),
            }
        )

    def test_heads_of_their_own_axis(self):
        q, k, v = (self.draw(2, 3, 6, 8) for _ in range(3))
        self.write(q=q, k=k, v=v)
        right, turn = attention(q, k, v), lambda x: x.transpose(0, 2, 1, 3)
        self.right(right)
        self.slip("heads-axes", turn(attention(turn(q), turn(k), turn(v))))
        self.slip("heads-memory", turn(right))
        self.exercise({"layout": "blhd"})
        self.write(q=turn(q), k=turn(k), v=turn(v))
        self.right(turn(right))
        self.slip("heads-axes", attention(turn(q), turn(k), turn(v)))
        self.slip("heads-memory", right)

    def test_groups(self):
        q, k, v = self.draw(4, 5, 8), self.draw(2, 7, 8), self.draw(2, 7, 6)
        self.write(q=q, k=k, v=v)
        self.right(attention(q, np.repeat(k, 2, 0), np.repeat(v, 2, 0)))
        self.slip("groups-repeated", attention(q, np.tile(k, (2, 1, 1)), np.tile(v, (2, 1, 1))))

    def test_rotary(self):
        q, k, v = (self.draw(2, 6, 32) for _ in range(3))
        self.write(q=q, k=k, v=v)
        a, b, c = (split(x, 4) for x in (q, k, v))
        at = np.arange(6)
        for kind, halves in ("halves", True), ("pairs", False):
            self.exercise({"layout": "packed", "heads": 4, "rotary": kind})
            turn = lambda x, by=at, **more: rotate(x, by, **{"halves": halves, **more})
            att = lambda x, y, z=c: merge(attention(x, y, z))
            with self.subTest(kind=kind):
                self.right(att(turn(a), turn(b)))
                self.right(att(turn(a, at + 1), turn(b, at + 1)))  # differences alone matter
                whole = [split(turn(x), 4) for x in (q, k)]
                self.check(
                    {
                        "no-rotary": att(a, b),
                        "rotary-pairing": att(turn(a, halves=not halves), turn(b, halves=not halves)),
                        "rotary-q": att(turn(a), b),
                        "rotary-k": att(a, turn(b)),
                        "rotary-v": att(turn(a), turn(b), turn(c)),
                        "rotary-back": att(turn(a, -at), turn(b, -at)),
                        "rotary-whole": att(*whole),
                        "rotary-late": att(turn(a, at + 1), turn(b)),
                        "rotary-early": att(turn(a, at - 1), turn(b)),
                        "rotary-half": att(turn(a, power=0.5), turn(b, power=0.5)),
                        "rotary-double": att(turn(a, power=2), turn(b, power=2)),
                        "rotary-1e3": att(turn(a, base=1e3), turn(b, base=1e3)),
                        "rotary-1e5": att(turn(a, base=1e5), turn(b, base=1e5)),
                        "rotary-5e5": att(turn(a, base=5e5), turn(b, base=5e5)),
                        "rotary-1e6": att(turn(a, base=1e6), turn(b, base=1e6)),
                    }
                )

    def test_rotary_of_one_pair(self):
        q, k, v = (self.draw(6, 2) for _ in range(3))
        self.write(q=q, k=k, v=v)
        self.exercise({"rotary": "pairs"})
        at = np.arange(6)
        self.right(attention(rotate(q, at), rotate(k, at), v))
        self.slip("no-rotary", attention(q, k, v))
        self.slip("rotary-back", attention(rotate(q, -at), rotate(k, -at), v))

    def test_rotary_of_few_queries(self):
        q, k, v = self.draw(3, 8), self.draw(7, 8), self.draw(7, 8)
        self.write(q=q, k=k, v=v)
        self.exercise({"rotary": "pairs", "causal": "bottom-right", "base": 500})
        seen, turn = triangle(3, 7, 4), lambda x, at: rotate(x, at, False, 500.0)
        self.right(attention(turn(q, np.arange(4, 7)), turn(k, np.arange(7)), v, seen=seen))
        self.slip("rotary-zero", attention(turn(q, np.arange(3)), turn(k, np.arange(7)), v, seen=seen))
        base = [rotate(x, at, False) for x, at in ((q, np.arange(4, 7)), (k, np.arange(7)))]
        self.slip("rotary-1e4", attention(*base, v, seen=seen))


class Precision(Tensors):
    def test_every_dtype(self):
        q, k, v = (self.draw(2, 3, 20, 16) for _ in range(3))
        self.write(q=q, k=k, v=v)
        self.assertEqual(self.right(attention(q, k, v))["arithmetic"], "float64")
        q, k, v = (x.astype(np.float32) for x in (q, k, v))
        self.write(q=q, k=k, v=v)
        exact = attention(*(x.astype(np.float64) for x in (q, k, v)))
        self.right(attention(q, k, v), dtype=np.float64)  # inputs in float32: its bound
        self.assertEqual(self.right(attention(q, k, v))["arithmetic"], "float32")
        self.right(exact.astype(np.float16))
        self.exercise({"out": "out.safetensors:o"})
        write_safetensors(self.path("out.safetensors"), {"o": ("BF16", to_bf16(exact))})
        self.assertEqual(self.grade()[0]["verdict"], "right")
        write_safetensors(self.path("out.safetensors"), {"o": ("BF16", to_bf16(attention(q, k, v, 1)))})
        self.assertEqual(self.grade()[0]["slips"], ["no-scale"])

    def test_coarser_arithmetic_is_said(self):
        q, k, v = (self.draw(2, 3, 20, 16) for _ in range(3))
        self.write(q=q, k=k, v=v)
        single = attention(*(x.astype(np.float32) for x in (q, k, v)))
        task = self.right(single.astype(np.float64), mark="loose")
        self.assertEqual(task["arithmetic"], "float32")
        self.assertIn("beyond that of float64", task["message"])
        # Every operation in float16, sums too.
        a, b, c = (x.astype(np.float16) for x in (q, k, v))
        s = np.zeros((2, 3, 20, 20), np.float16)
        for column in range(16):
            s = s + a[..., column, None] * b[..., None, :, column]
        w = np.exp(s * np.float16(0.25) - (s * np.float16(0.25)).max(-1, keepdims=True))
        total, out = np.zeros((2, 3, 20, 1), np.float16), np.zeros((2, 3, 20, 16), np.float16)
        for key in range(20):
            total = total + w[..., key, None]
        for key in range(20):
            out = out + (w / total)[..., key, None] * c[..., None, key, :]
        self.assertEqual(out.dtype, np.float16)
        for dtype in np.float16, np.float32:
            task = self.right(out, mark="loose", dtype=dtype)
            self.assertEqual(task["arithmetic"], "float16")
        half = attention(a, b, c, 1.0)
        self.assertEqual(self.slip("no-scale", half)["arithmetic"], "float16")
        # Numbers of bfloat16 in a file of float32: only those have its bound.
        from_bits = lambda x: (to_bf16(x).astype(np.uint32) << 16).view(np.float32)
        exact = attention(q, k, v)
        self.assertEqual(self.right(from_bits(exact * 1.003), mark="loose")["verdict"], "loose")
        self.wrong(exact * 1.05, dtype=np.float32)
        self.assertIn("near enough for a step in float16", self.wrong(exact + 1e-4)["message"])

    def test_random_results_are_no_slip(self):
        q, k, v = (self.draw(1, 4, 6, 8) for _ in range(3))
        self.write(q=q, k=k, v=v)
        right = attention(q, k, v)
        for out in (
            self.draw(1, 4, 6, 8),
            np.zeros((1, 4, 6, 8)),
            right[..., ::-1],
            right[:, ::-1],
            np.full((1, 4, 6, 8), np.nan),
            np.full((1, 4, 6, 8), 1e300),
            attention(q, k, v, 0.5),
            np.broadcast_to(v.mean(-2, keepdims=True), v.shape),
        ):
            self.wrong(out)

    def test_slips_that_are_equal_are_both_named(self):
        """Four heads of four columns: d is the root of all columns."""
        q, k, v = (self.draw(4, 6, 4) for _ in range(3))
        self.write(q=q, k=k, v=v)
        task = self.slip("scale-d scale-model", attention(q, k, v, 1 / 4))
        self.assertIn(", or of scores divided by the root of all heads' columns", task["message"])
        self.assertIn("the right one differs by", task["message"])

    def test_a_slip_that_inputs_do_not_tell_is_right_and_shown(self):
        q, k, v = self.draw(4, 3, 8), self.draw(2, 7, 8), self.draw(2, 7, 6)
        k[1], v[1] = k[0], v[0]
        self.write(q=q, k=k, v=v)
        task = self.right(attention(q, np.tile(k, (2, 1, 1)), np.tile(v, (2, 1, 1))))
        self.assertEqual(task["untold"], ["no-subtract", "groups-repeated"])
        self.assertIn("repeated as a whole", self.succeed("grade", "--tensors", "."))


class Queries(Tensors):
    def setUp(self):
        super().setUp()
        self.k = np.linalg.qr(self.draw(8, 8))[0][:6]
        self.write(k=self.k)

    def fault(self, name, query, says, **task):
        self.exercise({"scale": 1, **task})
        self.assertIn(says, self.slip_of_query(name, query)["message"])

    def slip_of_query(self, name, query):
        task = self.verdict(query)
        self.assertEqual((task["verdict"], task["slips"]), ("slip", [name]), task["message"])
        return task

    def test_copy(self):
        task = {"kind": "copy", "wanted": [2], "scale": 1}
        self.exercise(task)
        self.right(20 * self.k[2])
        self.right(20 * self.k[None, 2], dtype=np.float32)
        self.fault("too-short", self.k[2], "8 times as long", **task)
        self.fault("wrong-sign", -20 * self.k[2], "wrong sign", **task)
        self.fault("other-key", 20 * self.k[4], "copies the value of key 4", **task)
        self.assertEqual(self.verdict(20 * (self.k[2] + self.k[1]))["verdict"], "wrong")
        self.assertEqual(self.verdict(np.full(8, np.nan))["verdict"], "unread")
        self.assertEqual(self.verdict(np.ones(7))["verdict"], "unread")

    def test_average(self):
        task = {"kind": "average", "wanted": [1, 4], "scale": 1}
        self.exercise(task)
        self.right(20 * (self.k[1] + self.k[4]))
        self.fault("too-short", self.k[1] + self.k[4], "8 times as long", **task)
        self.fault("too-short", (self.k[1] + self.k[4]) / 2, "16 times as long", **task)
        self.fault("other-key", 20 * self.k[1], "copies the value of key 1", **task)


class Files(Tensors):
    def setUp(self):
        super().setUp()
        self.q, self.k, self.v = self.draw(5, 8), self.draw(5, 8), self.draw(5, 6)
        self.write(q=self.q, k=self.k, v=self.v)
        self.out = attention(self.q, self.k, self.v)

    def unread(self, task, *says):
        self.assertEqual((task["verdict"], task["points"]), ("unread", 0))
        for word in says:
            self.assertIn(word, task["message"])

    def test_without_an_exercise(self):
        self.write(out=self.out, causal=attention(self.q, self.k, self.v, seen=triangle(5, 5)))
        tasks = self.grade()
        self.assertEqual(
            [(t["task"], t["verdict"]) for t in tasks], [("attention", "right"), ("causal", "right")]
        )
        text = self.succeed("grade", "--tensors", ".")
        self.assertIn(".: 2 of 2 points\n", text)
        self.assertIn("exponentials of scores without the row max", text)
        os.remove(self.path("causal.npy"))
        self.assertEqual(len(self.grade()), 1)

    def test_a_bad_result_costs_its_own_points(self):
        self.exercise(
            *({"out": name} for name in ("a.npy", "b.npy", "c.npy", "d.npy", "e.safetensors:x", "f.npy"))
        )
        self.write(b=np.arange(30).reshape(5, 6), c=self.out.astype(complex), d=self.out[:, :5], f=self.out)
        with open(self.path("e.safetensors"), "wb") as file:
            file.write(b"\0" * 9)
        tasks = self.grade()
        self.unread(tasks[0], "a.npy", "No such file")
        self.unread(tasks[1], "b.npy", "int64", "f64, f32, f16 or bf16")
        self.unread(tasks[2], "c.npy", "complex128")
        self.assertEqual(tasks[3]["verdict"], "wrong")
        self.assertIn("shape (5, 5): (5, 6) is needed", tasks[3]["message"])
        self.unread(tasks[4], "e.safetensors")
        self.assertEqual(tasks[5]["verdict"], "right")

    def test_axes_of_one_do_not_matter(self):
        self.right(self.out[None, None])
        self.write(q=self.q[None], k=self.k[None], v=self.v[None])
        self.right(self.out)

    def test_fortran_order_and_safetensors(self):
        self.right(np.asfortranarray(self.out))
        names = {"q": self.q, "k": self.k, "v": self.v}
        write_safetensors(self.path("in.safetensors"), {n: ("F64", x) for n, x in names.items()})
        self.exercise({n: "in.safetensors:" + n for n in names})
        self.right(self.out)

    def test_inputs_of_the_teacher(self):
        os.mkdir(self.path("theirs"))
        np.save(self.path("theirs/out.npy"), self.out)
        # The student's own exercise.json and inputs are not read.
        np.save(self.path("theirs/q.npy"), np.zeros((5, 8)))
        with open(self.path("theirs/exercise.json"), "w", encoding="utf-8") as file:
            file.write("{")
        self.exercise({"points": 3})
        said = self.succeed("grade", "--tensors", "theirs", "--exercise", "exercise.json")
        self.assertIn("theirs: 3 of 3 points", said)

    def test_gradescope(self):
        self.exercise({"name": "plain", "points": 2}, {"causal": "top-left"})
        self.write(out=self.out)
        results = json.loads(self.succeed("grade", "--tensors", ".", "--gradescope"))
        self.assertEqual(set(results), {"tests", "extra_data"})
        first, second = results["tests"]
        self.assertEqual(
            (first["name"], first["number"], first["score"], first["max_score"], first["visibility"]),
            ("plain", "1", 2, 2, "visible"),
        )
        self.assertTrue(first["output"].startswith("right\n"))
        self.assertEqual((second["number"], second["score"], second["max_score"]), ("2", 0, 1))
        self.assertIn("attention without the mask", second["output"])
        self.assertIn("no-subtract", results["extra_data"]["untold"])

    def test_bad_exercises(self):
        for task, *says in (
            ({"quey": "q.npy"}, "quey"),
            ({"q": 3}, "q: a number"),
            ({"points": -1}, "points: -1"),
            ({"points": "1"}, "points: a text"),
            ({"causal": "left"}, "causal", "'left'", "top-left"),
            ({"heads": 2}, "heads", "packed"),
            ({"layout": "packed"}, "heads"),
            ({"layout": "packed", "heads": 3, "kv_heads": 2}, "kv_heads"),
            ({"layout": "packed", "heads": 3}, "q.npy", "3 heads"),
            ({"kind": "copy"}, "wanted"),
            ({"kind": "copy", "wanted": [1, 2]}, "one key"),
            ({"kind": "copy", "wanted": [1.5]}, "1.5"),
            ({"kind": "average", "wanted": [1, 1]}, "twice"),
            ({"kind": "copy", "wanted": [9]}, "key 9", "5 keys"),
            ({"wanted": [1]}, "wanted"),
            ({"base": 1}, "base: 1"),
            ({"v": "absent.npy"}, "absent.npy"),
            ({"mask": "q.npy"}, "q.npy", "bool"),
        ):
            with self.subTest(task=task):
                self.exercise(task)
                self.refuse("grade", "--tensors", ".", says=("task", *says))
        self.exercise({"name": "a"}, {"name": "a"})
        self.refuse("grade", "--tensors", ".", says=("task 2", "another 'a'"))
        for text, say in (
            ("{", "line 1"),
            ("[]", "object"),
            ("{}", "tasks"),
            ('{"tasks": []}', "tasks"),
            ('{"tasks": [{}]}', "name"),
            ('{"tasks": [1]}', "task 1"),
        ):
            with open(self.path("exercise.json"), "w", encoding="utf-8") as file:
                file.write(text)
            self.refuse("grade", "--tensors", ".", says=("exercise.json", say))

    def test_bad_inputs(self):
        self.exercise({})
        for name, array, *says in (
            ("q", np.full((5, 8), np.inf), "q.npy", "inf"),
            ("q", self.draw(5, 7), "d of q and k", "7 and 8"),
            ("k", self.draw(4, 8), "rows of k and v", "4 and 5"),
            ("q", self.draw(8), "q.npy", "(8,)"),
            ("q", np.zeros((0, 8)), "q.npy", "empty"),
            ("v", np.ones((5, 6), int), "v.npy", "int64"),
        ):
            with self.subTest(name=name, says=says):
                self.write(q=self.q, k=self.k, v=self.v)
                self.write(**{name: array})
                self.refuse("grade", "--tensors", ".", says=says)
        self.write(q=self.q, k=self.k, v=self.v, mask=np.zeros((5, 5), bool))
        self.exercise({"mask": "mask.npy"})
        self.refuse("grade", "--tensors", ".", says="no query sees a key")
        self.exercise({"rotary": "pairs"})
        self.write(q=self.q[:, :7], k=self.k[:, :7])
        self.refuse("grade", "--tensors", ".", says=("even", "7"))

    def test_sizes(self):
        ones = lambda *shape: np.ones(shape, np.float32)
        for shapes in (
            ((1, 1), (1, 1), (1, 1)),
            ((1, 3), (4, 3), (4, 1)),
            ((2, 1, 1, 1), (2, 1, 1, 1), (2, 1, 1, 2)),
        ):
            q, k, v = (self.draw(*shape) for shape in shapes)
            self.write(q=q, k=k, v=v)
            self.right(attention(q, k, v))
        for q, k, v in (
            (ones(1, 1 << 20), ones(1, 1 << 20), ones(1, 1)),
            (ones(1 << 20, 1), ones(1, 1), ones(1, 1)),
            (ones(1, 1), ones(1 << 20, 1), ones(1 << 20, 1)),
        ):
            self.write(q=q, k=k, v=v)
            self.assertEqual(self.verdict(ones(q.shape[0], 1))["verdict"], "right")
        self.write(q=ones(2048, 1), k=ones(1024, 1), v=ones(1024, 1))
        self.refuse("grade", "--tensors", ".", says=("q.npy", "1048576 scores"))
        self.write(q=ones(2048, 1), k=ones(1, 1), v=ones(1, 1024))
        self.refuse("grade", "--tensors", ".", says=("q.npy", "of the result"))

    def test_usage(self):
        self.refuse("grade", "--tensors", "absent", says=("absent", "folder"))
        self.refuse("grade", "--exercise", "x.json", says="--tensors")
        self.refuse("grade", "--tensors", ".", "--csv", says="--tensors")
        self.refuse("grade", "--tensors", ".", "--json", "--gradescope", says="--json")
        self.refuse("grade", "--tensors", ".", "--exercise", "absent.json", says="absent.json")
        self.refuse("grade", "--make-tensors", ".", says=("--make-tensors", "exists"))
        self.refuse("grade", "--make-tensors", "x", "--json", says="--make-tensors")


class Document(Tensors):
    def text(self, *path):
        with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
            return file.read()

    def test_the_example_prints_what_is_shown(self):
        section = self.text("docs", "JUDGING.md").partition("## Exercises in code")[2]
        program = re.search(r"^```python\n(.*?)^```$", section, re.M | re.S)[1]
        shown = re.search(r"^\$ attend grade --tensors exercise\n(.*?)^```$", section, re.M | re.S)[1]
        with open(self.path("solution.py"), "w", encoding="utf-8") as file:
            file.write(program)
        self.succeed("grade", "--make-tensors", "exercise")
        subprocess.run([sys.executable, "solution.py"], cwd=self.dir, check=True)
        # Differences of rounding are those of the machine.
        masked = lambda text: re.sub(r"difference \de-\d\d", "difference", text)
        self.assertEqual(masked(self.succeed("grade", "--tensors", "exercise")), masked(shown))

    def test_every_slip_is_documented_and_tested(self):
        names = re.findall(r'^    \{"([a-z0-9-]+)"', self.text("tools", "tensors", "tensors_slips.c"), re.M)
        self.assertGreater(len(names), 55)
        document, tests = self.text("docs", "JUDGING.md"), self.text(
            "tests", "tensors", "test_grade_tensors.py"
        )
        for name in names:
            self.assertIn(f"`{name}`", document)
            self.assertRegex(tests, rf'"{name}"')


class Made(Tensors):
    """The exercise that the command writes."""

    def solve(self, folder):
        load = lambda name: np.load(os.path.join(folder, name + ".npy"))
        q, k, v = load("q"), load("k"), load("v")
        a, b, c, g, u = (load(n) for n in ("q_heads", "k_heads", "v_heads", "k_groups", "v_groups"))
        a, b, c, g, u = split(a, 4), split(b, 4), split(c, 4), split(g, 2), split(u, 2)
        at = np.arange(6)
        return {
            "attention": attention(q, k, v),
            "causal": attention(q, k, v, seen=triangle(5, 7, 2)),
            "large": attention(q, k, v, 500),
            "heads": merge(attention(a, b, c)),
            "grouped": merge(attention(a, np.repeat(g, 2, 1), np.repeat(u, 2, 1), seen=triangle(6, 6))),
            "rope": merge(attention(rotate(a, at), rotate(b, at), c)),
            "q_copy": 20 * k[2],
            "q_average": 20 * (k[1] + k[4]),
        }

    def test_every_slip_is_told_and_the_solution_is_right(self):
        self.succeed("grade", "--make-tensors", "made", "--seed", SEED)
        for name, out in self.solve(self.path("made")).items():
            np.save(self.path(f"made/{name}.npy"), out)
        graded = json.loads(self.succeed("grade", "--tensors", "made", "--json"))
        self.assertEqual([t["verdict"] for t in graded["tasks"]], ["right"] * 8, graded)
        self.assertEqual(graded["untold"], [])
        self.assertEqual(graded["points"], graded["of"])

    def test_the_same_seed_writes_the_same_files(self):
        for folder in "one", "two":
            self.succeed("grade", "--make-tensors", folder, "--seed", 5)
        self.assertEqual(len(os.listdir(self.path("one"))), 9)
        for name in os.listdir(self.path("one")):
            with open(self.path("one/" + name), "rb") as a, open(self.path("two/" + name), "rb") as b:
                self.assertEqual(a.read(), b.read(), name)


if __name__ == "__main__":
    main()
