# SPDX-License-Identifier: MIT
"""Random calls with odd arguments: only the documented exceptions, and never a crash.

The calls are made in a process of its own.  One that fails is printed, and
`test_fuzz.py worker SEED CALL 1` repeats it alone.
"""

import faulthandler
import os
import re
import sys
import tempfile
import unittest
import warnings

from setting import SEED, count, np, run

DOCUMENTED = ValueError, TypeError, MemoryError
CALLS = 6000
VIEWS = "plain plain reversed stepped turned frozen torch memoryview broadcast record".split()
RULES = "scale causal window softcap mask bias key_lengths alibi sinks layout".split()
SIZES = 0, 1, 1, 2, 3, 4, 5, 8, 17, 130


class Odd:
    """An object with the attributes of an array."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class OddProducer(Odd):
    def __dlpack__(self, **keywords):
        return self.gives


class Draw:
    """Random arguments, from one seed."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def of(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def shape(self, ndim):
        return tuple(int(self.of(*SIZES)) for _ in range(ndim))

    def array(self, shape=None, dtype=None):
        """An array, or an equivalent view."""
        shape = self.shape(self.of(0, 1, 2, 3, 4, 4, 5, 6)) if shape is None else shape
        if np.prod(shape, dtype="f8") > 1e6:
            shape = shape[-2:]
        dtype = dtype or self.of(
            "f4", "f8", "f2", "?", "i4", "i8", "u1", "c8", ">f4", "g", "O", "S3", "M8[s]"
        )
        made = self.rng.integers(-3, 4, shape).astype("i8").astype(dtype)
        if dtype in ("f4", "f8", "f2") and made.size and self.rng.random() < 0.3:
            made.reshape(-1)[self.rng.integers(made.size)] = self.of(np.nan, np.inf, -np.inf, 6e4, -6e4)
        return self.view(made)

    def view(self, array):
        kind = self.of(*VIEWS)
        if kind == "reversed" and array.ndim:
            return array[..., ::-1]
        if kind == "stepped" and array.ndim:
            return np.repeat(array, 2, -1)[..., ::2]
        if kind == "turned":
            return np.ascontiguousarray(array.T).T
        if kind == "frozen":
            array.flags.writeable = False
        if (
            kind == "torch"
            and array.dtype.kind in "fib"
            and array.dtype.isnative
            and array.dtype != np.longdouble
        ):
            return self.tensor(array)
        if (
            kind == "memoryview"
            and array.dtype.kind in "fi"
            and array.flags.c_contiguous
            and array.dtype.isnative
        ):
            return memoryview(array)
        if kind == "broadcast" and array.ndim and array.shape[0] > 1:
            return np.broadcast_to(array[:1], array.shape)
        if kind == "record" and array.dtype.kind == "f":
            record = np.zeros(array.shape, [("pad", "u1"), ("x", array.dtype)])
            record["x"] = array
            return record["x"]
        return array

    def tensor(self, array):
        import torch

        tensor = torch.from_numpy(np.array(array))
        kind = self.of("plain", "plain", "bf16", "meta", "grad", "sparse", "expanded")
        if kind == "bf16" and tensor.is_floating_point():
            return tensor.bfloat16()
        if kind == "meta":
            return tensor.to("meta")
        if kind == "grad" and tensor.is_floating_point():
            return tensor.requires_grad_()
        if kind == "sparse" and tensor.dim():
            return tensor.to_sparse()
        if kind == "expanded" and tensor.dim() and tensor.shape[0] == 1:
            return tensor.expand(3, *tensor.shape[1:])
        return tensor

    def odd(self):
        """A random object of any type."""
        return (
            self.of(
                None,
                True,
                False,
                0,
                1,
                -1,
                3,
                7,
                1 << 31,
                1 << 63,
                -(1 << 70),
                0.0,
                1.5,
                -2.5,
                1e300,
                float("nan"),
                float("inf"),
                "",
                "top-left",
                "x" * 3,
                b"bytes",
                [],
                [1],
                [1, 2],
                [1.5, None],
                [[1], [2, 3]],
                (),
                (1,),
                (2, 3),
                (None, 2),
                (1, 2, 3, 4),
                (4096, 5, (5, 7), (7, 1)),
                ("memory", 1, 2),
                {},
                {"a": 1},
                object(),
                int,
                np.float32(2),
                np.int64(3),
                np.array(2),
                np.array(2.5),
                np.bool_(True),
                1j,
                range(3),
                Odd(shape=(2, 3)),
                Odd(shape=(2, 4), dtype="f4"),
                Odd(shape=("a", 2)),
                Odd(shape=(1, 1, 1, 1), dtype=np.dtype("f4")),
                OddProducer(shape=(2, 4), dtype=np.dtype("f4"), gives=3),
                OddProducer(shape=(1, 2, 3, 4), dtype=np.dtype("f4"), gives=None),
                bytearray(8),
                memoryview(b"12345678"),
            )
            if self.rng.random() < 0.6
            else self.array()
        )

    def problem(self):
        """q, k, v and keywords of a call that is probably valid."""
        b, g, hkv, nq, nk, d, dv = (int(self.of(*SIZES[:9])) for _ in range(7))
        dtype, hq = self.of("f4", "f4", "f8", "f2"), hkv * g
        q, k, v = (self.array(s, dtype) for s in ((b, hq, nq, d), (b, hkv, nk, d), (b, hkv, nk, dv)))
        full = [self.of(1, b), self.of(1, hq), self.of(1, nq), self.of(1, nk)]
        keywords = {
            "scale": self.of(None, 0.5, 0, 1e30, -1.0),
            "causal": self.of(None, "top-left", "bottom-right", 0, -3, 1 << 40, [1] * b, list(range(b))),
            "window": self.of(None, 0, 3, (1, None), (None, 2), (1 << 40, 0)),
            "softcap": self.of(None, 0, 2.0, 1e-30),
            "mask": self.array(tuple(full), "?"),
            "bias": self.array(tuple(full[self.of(0, 1, 2) :]), self.of(dtype, "f4")),
            "key_lengths": self.rng.integers(0, nk + 1, b),
            "alibi": self.rng.standard_normal(hq),
            "sinks": self.rng.standard_normal(hq),
            "layout": self.of("bhld", "bhld", "blhd"),
        }
        kept = {name: value for name, value in keywords.items() if self.rng.random() < 0.25}
        return [q, k, v], kept


def call(draw, attend):
    """One random call."""
    arrays, keywords = draw.problem()
    for _ in range(draw.of(0, 1, 1, 2)):
        if draw.rng.random() < 0.4:
            arrays[draw.rng.integers(3)] = draw.odd()
        else:
            keywords[draw.of(*RULES)] = draw.odd()
    which = draw.of("attention", "attention", "attention", "stats", "inspect", "merge", "context", "torch")
    if which == "attention":
        more = {
            "return_lse": True,
            "return_weights": True,
            "stats": draw.of(True, ["entropy"], draw.odd()),
            "out": draw.odd(),
        }
        attend.attention(*arrays, **keywords, **{x: y for x, y in more.items() if draw.rng.random() < 0.3})
    elif which == "stats":
        s = attend.stats(
            *arrays[: draw.of(2, 3)],
            **keywords,
            **draw.of({}, {"top": draw.of(0, 1, 8, 9, -1, draw.odd())}, {"columns": draw.odd()}),
        )
        s.heads()
    elif which == "inspect":
        more = {
            "lse": draw.odd(),
            "last": draw.of(1, 3, draw.odd()),
            "pooled": draw.of(1, 4, draw.odd()),
            "column_max": True,
            "zoom": draw.of((0, 0, 1, 1), (1, 1, 2, 2), (1 << 62, 1, 2, 2), draw.odd()),
            "probes": draw.of([], [(0, 0, 0, 0)], [(1, 1 << 62, 0, -1)], draw.odd()),
        }
        attend.inspect(*arrays[:2], **keywords, **{x: y for x, y in more.items() if draw.rng.random() < 0.4})
    elif which == "merge":
        shape = draw.shape(draw.of(2, 3, 4))
        parts = [(draw.array(shape, "f4"), draw.array(shape[:-1], "f4")) for _ in range(draw.of(1, 2, 3))]
        if draw.rng.random() < 0.5:
            parts[-1] = draw.of(draw.odd(), (draw.odd(), draw.odd()), (parts[-1][0], draw.odd()))
        attend.merge(
            parts if draw.rng.random() < 0.9 else draw.odd(),
            **draw.of({}, {"out": draw.odd()}, {"lse": draw.odd()}),
        )
    elif which == "context":
        attend.attention(
            *arrays, context=draw.of(attend.Context(threads=draw.of(0, 1, 3)), draw.odd()), **keywords
        )
        attend.Context(
            **draw.of({"threads": draw.odd()}, {"isa": draw.odd()}, {"isa": "scalar"})
        ) if draw.rng.random() < 0.1 else None
    else:
        sdpa(draw, arrays)


def sdpa(draw, arrays):
    """torch's own exceptions are allowed in calls of torch."""
    import torch

    import attend.torch

    try:
        tensors = [torch.from_numpy(np.array(x)) if isinstance(x, np.ndarray) else x for x in arrays]
        mask = draw.of(None, None, draw.odd(), torch.ones(1, dtype=torch.bool))
        is_causal, gqa = draw.of(False, True), draw.of(False, True)
        # torch 2.13 divides by the number of heads before it checks that there are any.
        gqa = gqa and not any(isinstance(x, torch.Tensor) and x.shape[-3:-2] == (0,) for x in tensors)
        attend.torch.scaled_dot_product_attention(*tensors, mask, is_causal=is_causal, enable_gqa=gqa)
    except (RuntimeError, IndexError, NotImplementedError) as error:
        if "attend" in str(error):
            raise


def worker(seed, first, calls):
    """Runs the calls from `first` on; prints how many succeeded."""
    import attend

    faulthandler.enable()
    warnings.simplefilter("ignore")
    right = 0
    log = os.open(os.environ["ATTEND_FUZZ_CALL"], os.O_WRONLY) if "ATTEND_FUZZ_CALL" in os.environ else None
    for at in range(first, first + calls):
        if log is not None:
            os.pwrite(log, b"%20d" % at, 0)
        try:
            call(Draw((seed, at)), attend)
            right += 1
        except DOCUMENTED as error:
            if not str(error) and not isinstance(error, MemoryError):
                raise AssertionError("an exception without words") from error
    print(f"{calls} calls, of which {right} were right")


class Fuzz(unittest.TestCase):
    def test_odd_calls(self):
        with tempfile.NamedTemporaryFile() as log:
            done = run(
                sys.executable,
                *(os.path.abspath(__file__), "worker", SEED, 0, count(CALLS)),
                env={**os.environ, "ATTEND_FUZZ_CALL": log.name},
            )
            last = log.read().decode().strip()
        self.assertEqual(done.returncode, 0, f"seed {SEED}, call {last}: {done.stdout[-4000:]}")
        said = done.stdout.splitlines()[-1]
        right = int(re.fullmatch(r"\d+ calls, of which (\d+) were right", said)[1])
        self.assertGreater(right, count(CALLS) // 20, said)
        print(said)


if __name__ == "__main__":
    worker(*map(int, sys.argv[2:5]))
