# SPDX-License-Identifier: MIT
"""attend grade --tensors: every slip is made here in NumPy, and named by the command."""

import numpy as np
from numpy_attention import attention, merge, rotate, scores_of, softmax, split, triangle
from tensors_case import Tensors
from harness import main, sample, to_bf16, write_safetensors


class Slips(Tensors):
    """Each in a file of f64 or f32, with inputs in f64."""

    def check(self, slips):
        for name, out in slips.items():
            for dtype in sample((np.float64, np.float32), 1):
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
        raw = [turn(x).reshape(2, 3, 6, 8) for x in (q, k, v)]
        self.slip("heads-read", turn(attention(*raw)))
        self.slip("heads-reshaped", attention(*raw).reshape(2, 6, 3, 8))
        self.slip("heads-written", right.reshape(2, 6, 3, 8))

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

    def test_rotary_positions_in_float32(self):
        """Angles too; their error grows with the position, and so does the bound."""
        q, k, v = (self.draw(200, 16, dtype=np.float32) for _ in range(3))
        self.write(q=q, k=k, v=v)
        self.exercise({"rotary": "halves", "causal": "top-left"})
        frequency = 1 / np.float32(10000) ** (np.arange(0, 16, 2, dtype=np.float32) / np.float32(16))
        angle = np.concatenate([np.arange(200, dtype=np.float32)[:, None] * frequency] * 2, -1)
        turn = lambda x: x * np.cos(angle) + np.concatenate([-x[:, 8:], x[:, :8]], -1) * np.sin(angle)
        out = attention(turn(q), turn(k), v, seen=triangle(200, 200))
        self.assertEqual((out.dtype, angle.dtype), (np.float32, np.float32))
        task = self.right(out)
        self.assertLess(task["bound"], 1e-2)
        self.slip("rotary-v", attention(turn(q), turn(k), turn(v), seen=triangle(200, 200)))

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
        self.assertEqual(task["equal_slips"], ["no-subtract", "groups-repeated"])
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


if __name__ == "__main__":
    main()
