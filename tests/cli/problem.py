# SPDX-License-Identifier: MIT
"""A random problem in files, run by the command and compared with dense.py."""

import numpy as np

import dense
from harness import from_bf16, to_bf16

GOOD = "--q q.npy --k k.npy --v v.npy --out o.npy"

# |O - dense| over max|V|, for unit-normal inputs and the default scale.
TOLERANCE = {"f64": 1e-12, "f32": 2e-6, "f16": 2.0**-9, "bf16": 2.0**-7}
LSE_TOLERANCE = {"f64": 1e-12, "f32": 2e-6, "f16": 2e-6, "bf16": 2e-6}


def encode(x, dtype):
    """Values in the dtype as NumPy stores them in a file, and as doubles."""
    if dtype == "bf16":
        bits = to_bf16(x)
        return bits.view("V2"), from_bf16(bits).astype(np.float64)
    stored = x.astype({"f64": "f8", "f32": "f4", "f16": "f2"}[dtype])
    return stored, stored.astype(np.float64)


def decode(x):
    """Stored values as doubles, so that NumPy 1 and 2 compute with them alike."""
    values = from_bf16(x.view(np.uint16)) if x.dtype.kind == "V" else x
    return values.astype(np.float64)


def to_rank(x, rank, layout):
    """(b, h, l, d) in the layout, without the leading axes that the rank omits."""
    if rank == 2:
        return x[0, 0]
    if layout == "blhd":
        x = x.transpose(0, 2, 1, 3)
    return x if rank == 4 else x[0]


class Problem:
    """Random tensors of one shape, saved as q.npy, k.npy, v.npy in a test's folder."""

    def __init__(
        self,
        test,
        nb=2,
        hq=4,
        hkv=2,
        nq=5,
        nk=7,
        d=8,
        dv=6,
        dtype="f32",
        rank=4,
        layout="bhld",
        seed=1,
        q_size=1.0,
    ):
        rng = np.random.default_rng(seed)
        self.test, self.dtype, self.rank, self.layout = test, dtype, rank, layout
        self.nb, self.hq, self.nq, self.nk = nb, hq, nq, nk
        shapes = (nb, hq, nq, d), (nb, hkv, nk, d), (nb, hkv, nk, dv)
        self.values = []
        for name, shape in zip("qkv", shapes):
            x = rng.standard_normal(shape) * (q_size if name == "q" else 1)
            stored, values = encode(x, dtype)
            test.save(name + ".npy", to_rank(stored, rank, layout))
            self.values.append(values)
        self.args = ["run", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy"]
        if layout != "bhld":
            self.args += ["--layout", layout]
        if dtype == "bf16":
            self.args += ["--dtype", "bf16"]

    def check(self, *flags, out_dtype=None, **rule):
        """Run with the flags, of one or more words each, and compare all outputs with dense(**rule)."""
        test = self.test
        holds_bf16 = self.dtype == "bf16" and out_dtype is None
        spec = "o.safetensors:out" if holds_bf16 else "o.npy"
        words = f"--out {spec} --lse l.npy --weights w.npy {' '.join(flags)}".split()
        test.succeed(*self.args, *words)
        out, lse, weights = dense.attention(*self.values, **rule)
        got = test.load(spec), test.load("l.npy"), test.load("w.npy")
        real = "f8" if self.dtype == "f64" else "f4"
        stored = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": "V2"}
        expected = stored["f32" if out_dtype == "f32" else self.dtype]
        test.assertEqual([x.dtype.str[1:] for x in got], [expected, real, real])

        largest = np.abs(self.values[2]).max(initial=1e-30)
        lead = {4: (), 3: (0,), 2: (0, 0)}[self.rank]
        self.near(
            decode(got[0]) / largest, to_rank(out, self.rank, self.layout) / largest, TOLERANCE[self.dtype]
        )
        test.assertTrue(np.array_equal(np.isneginf(got[1]), np.isneginf(lse[lead])))
        size = 1 + np.abs(np.where(np.isneginf(lse[lead]), 0, lse[lead]))
        self.near(
            np.where(np.isneginf(got[1]), 0, got[1]) / size,
            np.where(np.isneginf(lse[lead]), 0, lse[lead]) / size,
            LSE_TOLERANCE[self.dtype],
        )
        self.near(got[2], weights[lead], TOLERANCE[self.dtype])

    def near(self, got, want, tolerance):
        self.test.assertEqual(got.shape, want.shape)
        worst = np.abs(np.asarray(got, dtype=np.float64) - want).max(initial=0)
        self.test.assertTrue(worst <= tolerance, f"off by {worst}, allowed {tolerance}")
