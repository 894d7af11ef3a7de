# SPDX-License-Identifier: MIT
"""Packed sequences and inputs of different types: the bits of each sequence alone."""

import unittest

from setting import SEED, np

import attend

STARTS = [0, 4, 4, 21, 29]


def alone(q, k, v, rows, keys, **rule):
    """One sequence by attend.attention: (rows, heads, d), and LSE (heads, rows)."""
    out, lse = attend.attention(q[rows], k[keys], v[keys], layout="blhd", return_lse=True, **rule)
    return out, lse


class Case(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(SEED)

    def same(self, got, wanted, what=""):
        self.assertTrue(np.array_equal(np.asarray(got), np.asarray(wanted)), what)

    def draw(self, rows, heads=4, d=8, dtype="f4"):
        return self.rng.standard_normal((rows, heads, d)).astype(dtype)


class Packed(Case):
    def test_sequences_are_as_alone(self):
        keys = [0, 9, 12, 40, 48]
        for rule in (
            {},
            {"causal": "bottom-right"},
            {"causal": "bottom-right", "window": (3, None)},
            {"scale": 0.3, "softcap": 2.0, "alibi": [0.1, 0.2, 0.3, 0.4], "sinks": [1.0, 0.0, 0.0, 2.0]},
        ):
            q, k, v = self.draw(29), self.draw(48, 2), self.draw(48, 2, 5)
            out, lse = attend.attention_packed(q, k, v, STARTS, keys, return_lse=True, **rule)
            for x in range(4):
                rows = slice(STARTS[x], STARTS[x + 1])
                wanted = alone(q, k, v, rows, slice(keys[x], keys[x + 1]), **rule)
                self.same(out[rows], wanted[0], f"{rule}, sequence {x}")
                self.same(lse[:, rows], wanted[1], f"LSE, {rule}, sequence {x}")

    def test_rows_of_no_sequence_are_not_written(self):
        q, k, v = self.draw(10), self.draw(10), self.draw(10)
        out = np.full((10, 4, 8), 7, "f4")
        attend.attention_packed(q, k, v, [2, 5, 8], out=out)
        self.assertTrue((out[:2] == 7).all() and (out[8:] == 7).all() and (out[2:8] != 7).any())

    def test_key_lengths(self):
        q, k, v = self.draw(6), self.draw(20), self.draw(20)
        out = attend.attention_packed(
            q, k, v, [0, 2, 6], [0, 12, 20], key_lengths=[5, 8], causal="bottom-right"
        )
        self.same(out[:2], alone(q, k, v, slice(0, 2), slice(0, 5), causal="bottom-right")[0])
        self.same(out[2:], alone(q, k, v, slice(2, 6), slice(12, 20), causal="bottom-right")[0])

    def test_bad_arguments_are_named(self):
        x = self.draw(10)
        for words, call in (
            ("q_starts", lambda: attend.attention_packed(x, x, x, [0, 11])),
            ("q_starts[2] = 3 is below", lambda: attend.attention_packed(x, x, x, [0, 5, 3])),
            ("k_starts 1", lambda: attend.attention_packed(x, x, x, [0, 5, 10], [0, 10])),
            ("key_lengths[0] = 6", lambda: attend.attention_packed(x, x, x, [0, 5], key_lengths=[6])),
            ("q has 2 dimensions", lambda: attend.attention_packed(x[0], x, x, [0, 5])),
            ("problem 0: k.size[3]", lambda: attend.attention_packed(x, x[..., :5], x, [0, 5])),
        ):
            with self.assertRaises((ValueError, TypeError)) as caught:
                call()
            self.assertIn(words, str(caught.exception))


class Mixed(Case):
    def test_half_keys_have_the_bits_of_their_values(self):
        q, k, v = (self.rng.standard_normal((1, 2, 30, 16)).astype(t) for t in ("f4", "f2", "f2"))
        self.same(attend.attention(q, k, v), attend.attention(q, k.astype("f4"), v.astype("f4")))
        with self.assertRaises(TypeError) as caught:
            attend.attention(q, k, v.astype("f8"))
        self.assertIn("v.dtype (f64)", str(caught.exception))


class Torch(Case):
    def test_varlen_attn(self):
        try:
            import torch

            import attend.torch
        except ImportError:
            self.skipTest("torch is not here")
        q, k, v = (torch.from_numpy(self.draw(n, h)) for n, h in ((29, 4), (48, 2), (48, 2)))
        at, keys = torch.tensor(STARTS, dtype=torch.int32), torch.tensor(
            [0, 9, 12, 40, 48], dtype=torch.int32
        )
        aux = type("Aux", (), {"lse": True})
        for window in ((-1, -1), (-1, 0), (3, 0), (2, 1), (2, -1), (-1, 2)):
            out, lse = attend.torch.varlen_attn(
                q, k, v, at, keys, 17, 28, window_size=window, enable_gqa=True, return_aux=aux
            )
            for x in range(4):
                rows, cut = slice(STARTS[x], STARTS[x + 1]), slice(int(keys[x]), int(keys[x + 1]))
                nq, nk = rows.stop - rows.start, cut.stop - cut.start
                if nq == 0:
                    continue
                i, j = torch.arange(nq)[:, None] + nk - nq, torch.arange(nk)[None]
                seen = torch.ones(nq, nk, dtype=torch.bool)
                if window[0] >= 0:
                    seen &= j >= i - window[0]
                if window[1] >= 0:
                    seen &= j <= i + window[1]
                one = [t.transpose(0, 1).double() for t in (q[rows], k[cut], v[cut])]
                scores = one[0] @ one[1].repeat_interleave(2, 0).transpose(1, 2) / 8**0.5
                scores = scores.masked_fill(~seen, -torch.inf)
                wanted = torch.softmax(scores, -1).nan_to_num(0) @ one[2].repeat_interleave(2, 0)
                self.assertLess(float((out[rows].transpose(0, 1) - wanted).abs().max()), 2e-5, window)
                self.assertTrue(torch.allclose(lse[rows].T.double(), scores.logsumexp(-1), atol=2e-5), window)
        with self.assertRaises(ValueError):
            attend.torch.varlen_attn(q, k, v, at, keys, 17, 28)
        with self.assertRaises(NotImplementedError):
            attend.torch.varlen_attn(q, k, v, at, keys, 17, 28, enable_gqa=True, block_table=at)
