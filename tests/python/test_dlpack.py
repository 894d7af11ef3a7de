# SPDX-License-Identifier: MIT
"""Arrays of other libraries, by DLPack: torch, ml_dtypes, and hand-written producers."""

import ctypes
import gc
import resource
import sys
import unittest

import ml_dtypes
import torch
from setting import TOLERANCE, count, dense, deviation, np, problem

import attend

# ---- a producer made by hand -----------------------------------------------------

CPU, CUDA = 1, 2
INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6
READ_ONLY = 1


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Producer:
    """An array with __dlpack__ as its only interface; counts exports and deletions."""

    def __init__(
        self,
        array,
        *,
        code=FLOAT,
        bits=None,
        lanes=1,
        device=CPU,
        version=(1, 0),
        old=False,
        flags=0,
        strides=True,
        offset=0,
        ndim=None,
    ):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.old, self.given, self.taken_back = old, 0, 0
        n = array.ndim
        self.sizes = (ctypes.c_int64 * n)(*array.shape)
        self.steps = (ctypes.c_int64 * n)(*(s // array.itemsize for s in array.strides))
        tensor = Tensor(
            array.ctypes.data - offset,
            Device(device, 0),
            n if ndim is None else ndim,
            Type(code, bits or 8 * array.itemsize, lanes),
            self.sizes,
            self.steps if strides else None,
            offset,
        )
        self.deleter = DELETER(self.delete)
        if old:
            self.managed = Managed(tensor, None, self.deleter)
        else:
            self.managed = Versioned(*version, None, self.deleter, flags, tensor)

    def delete(self, address):
        assert address == ctypes.addressof(self.managed)
        self.taken_back += 1

    def __dlpack__(self, **keywords):
        if self.old and keywords:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.given += 1
        name = b"dltensor" if self.old else b"dltensor_versioned"
        return new_capsule(ctypes.addressof(self.managed), name, None)

    def __dlpack_device__(self):
        return (CPU, 0)


class Producers(unittest.TestCase):
    def setUp(self):
        self.q, self.k, self.v = problem(1)
        self.wanted = attend.attention(self.q, self.k, self.v)

    def same(self, **keywords):
        k = Producer(self.k, **keywords)
        self.assertTrue(np.array_equal(attend.attention(self.q, k, self.v), self.wanted))
        self.assertEqual((k.given, k.taken_back), (1, 1))

    def test_versioned(self):
        self.same()

    def test_old_capsule(self):
        self.same(old=True)

    def test_contiguous_without_strides(self):
        self.same(strides=False)
        self.same(strides=False, old=True)

    def test_byte_offset(self):
        self.same(offset=64)

    def test_later_minor_version(self):
        self.same(version=(1, 9))

    def test_read_only_input(self):
        self.same(flags=READ_ONLY)

    def test_strides(self):
        view = self.k[:, ::-1, ::-1]
        out = attend.attention(self.q, Producer(view), self.v)
        self.assertTrue(np.array_equal(out, attend.attention(self.q, view.copy(), self.v)))

    def test_producer_as_q_and_out(self):
        q, out = Producer(self.q), Producer(np.zeros_like(self.wanted))
        self.assertIs(attend.attention(q, self.k, self.v, out=out), out)
        self.assertTrue(np.array_equal(out.array, self.wanted))
        self.assertEqual(out.taken_back, 1)
        self.assertEqual(attend.attention(q, self.k, self.v).dtype, np.float32)

    def refused(self, name, exception, says, **keywords):
        arrays = {"q": self.q, "k": self.k, "v": self.v, "out": np.zeros_like(self.wanted)}
        producer = arrays[name] = Producer(arrays[name], **keywords)
        with self.assertRaisesRegex(exception, rf"^{name}\b.*{says}"):
            attend.attention(**arrays)
        self.assertEqual((producer.given, producer.taken_back), (1, 1))

    def test_other_device(self):
        self.refused("k", ValueError, "device", device=CUDA)
        self.refused("q", ValueError, "device", device=CUDA, old=True)
        self.refused("out", ValueError, "device", device=CUDA)

    def test_read_only_output(self):
        self.refused("out", ValueError, "read-only", flags=READ_ONLY)

    def test_dtypes(self):
        for keywords in (
            {"code": INT},
            {"code": UINT},
            {"code": COMPLEX},
            {"code": 17},
            {"bits": 8},
            {"lanes": 2},
            {"code": BFLOAT},
            {"code": BOOL, "bits": 8},
        ):
            self.refused("v", TypeError, "dtype", **keywords)

    def test_versions(self):
        self.refused("k", ValueError, "version", version=(2, 0))
        self.refused("k", ValueError, "version", version=(0, 0))

    def test_dimensions(self):
        self.refused("k", ValueError, "dimensions", ndim=77)
        self.refused("k", ValueError, "dimensions", ndim=-1)
        self.refused("k", ValueError, "", ndim=1)

    def test_no_capsule(self):
        class Odd:
            shape, dtype = (2, 2, 7, 8), np.dtype("f4")

            def __init__(self, result):
                self.result = result

            def __dlpack__(self, **_):
                if isinstance(self.result, Exception):
                    raise self.result
                return self.result

        other = new_capsule(1, b"something", None)
        for result, exception in (
            (3, TypeError),
            (None, TypeError),
            (other, TypeError),
            (BufferError("no"), ValueError),
            (RuntimeError("no"), ValueError),
        ):
            with self.assertRaisesRegex(exception, r"^k\b"):
                attend.attention(self.q, Odd(result), self.v)

    def test_used_capsule(self):
        capsule = Producer(self.k).__dlpack__()

        class Twice:
            shape, dtype = self.k.shape, self.k.dtype

            def __dlpack__(self, **_):
                return capsule

        keep = Twice()
        attend.attention(self.q, keep, self.v)
        with self.assertRaisesRegex(TypeError, r"^k\b"):
            attend.attention(self.q, keep, self.v)


# ---- libraries ----------------------------------------------------------------------


class Libraries(unittest.TestCase):
    def test_torch(self):
        for dtype in torch.float64, torch.float32, torch.float16, torch.bfloat16:
            tensors = [torch.from_numpy(x).to(dtype) for x in problem(2)]
            out, lse, weights = attend.attention(
                *tensors, return_lse=True, return_weights=True, causal="bottom-right"
            )
            self.assertEqual(out.dtype, dtype)
            self.assertEqual(lse.dtype, torch.float64 if dtype == torch.float64 else torch.float32)
            wanted = dense.attention(*(t.double().numpy() for t in tensors), causal="bottom-right")
            for got, right in zip((out, lse, weights), wanted):
                self.assertLessEqual(deviation(got.double(), right), TOLERANCE[str(dtype).split(".")[1]])

    def test_torch_views(self):
        q, k, v = (torch.from_numpy(x) for x in problem(3))
        wanted = attend.attention(q, k, v)
        turned = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
        self.assertTrue(torch.equal(attend.attention(*turned), wanted))
        one = k[:, :1].expand(2, 2, 7, 8)
        self.assertTrue(torch.equal(attend.attention(q, one, v), attend.attention(q, one.contiguous(), v)))
        mask = torch.rand(2, 7) < 0.7
        got = attend.attention(q, k, v, mask=mask[:, None, None])
        self.assertTrue(np.array_equal(got, attend.attention(q, k, v, mask=mask[:, None, None].numpy())))

    def test_torch_numbers(self):
        q, k, v = (torch.from_numpy(x) for x in problem(4))
        keywords = {"key_lengths": [3, 7], "sinks": [0.5, 1.0, 0.0, 2.0], "alibi": [0.5, 0.25, 0.125, 0.0]}
        wanted = attend.attention(q, k, v, **keywords)
        self.assertTrue(
            torch.equal(
                attend.attention(q, k, v, **{x: torch.tensor(y) for x, y in keywords.items()}), wanted
            )
        )

    def test_torch_numbers_of_bf16(self):
        x = torch.randn(1, 4, 6, 8, dtype=torch.bfloat16)
        for name in ("sinks", "alibi"):
            numbers = torch.tensor([1.0, 0.5, 0.25, 2.0], dtype=torch.bfloat16)
            self.assertTrue(
                torch.equal(
                    attend.attention(x, x, x, **{name: numbers}),
                    attend.attention(x, x, x, **{name: numbers.tolist()}),
                )
            )

    def test_torch_stats_and_merge(self):
        q, k, v = (torch.from_numpy(x).bfloat16() for x in problem(5))
        self.assertEqual(attend.stats(q, k).entropy.shape, (2, 4, 5))
        self.assertLessEqual(deviation(attend.inspect(q, k).column_mass.sum(-1), np.full((2, 4), 5)), 1e-3)
        parts = [
            attend.attention(q, k[:, :, s], v[:, :, s], return_lse=True) for s in (slice(0, 4), slice(4, 7))
        ]
        out, lse = attend.merge(parts)
        self.assertEqual((out.dtype, lse.dtype), (torch.bfloat16, torch.float32))
        self.assertLessEqual(deviation(out.float(), attend.attention(q, k, v).float()), TOLERANCE["bfloat16"])

    def test_torch_refusals(self):
        q, k, v = (torch.from_numpy(x) for x in problem(6))
        table = [
            ({"q": q.requires_grad_()}, ValueError, "q"),
            ({"k": k.to("meta")}, ValueError, "k"),
            ({"v": v.to_sparse()}, ValueError, "v"),
            ({"k": k.to(torch.int32)}, TypeError, "k"),
            ({"v": v.to(torch.complex64)}, TypeError, "v"),
            ({"v": v.to(torch.float8_e4m3fn)}, TypeError, "v"),
            ({"out": torch.empty(2, 4, 5, 6, device="meta")}, ValueError, "out"),
            ({"out": torch.empty(2, 4, 5, 6, dtype=torch.int64)}, TypeError, "out"),
            ({"mask": torch.ones(5, 7, device="meta") > 0}, ValueError, "mask"),
            ({"key_lengths": torch.ones(2, device="meta")}, TypeError, "key_lengths"),
        ]
        q = q.detach()
        for keywords, exception, word in table:
            arguments = {"q": q, "k": k, "v": v, **keywords}
            with self.subTest(argument=next(iter(keywords)), dtype=next(iter(keywords.values())).dtype):
                with self.assertRaisesRegex(exception, rf"\b{word}\b"):
                    attend.attention(**arguments)

    def test_ml_dtypes(self):
        arrays = [x.astype(ml_dtypes.bfloat16) for x in problem(7)]
        out = attend.attention(*arrays)
        self.assertEqual(out.dtype, ml_dtypes.bfloat16)
        tensors = [torch.from_numpy(x.view(np.int16)).view(torch.bfloat16) for x in arrays]
        self.assertTrue(
            np.array_equal(out.view(np.int16), attend.attention(*tensors).view(torch.int16).numpy())
        )
        turned = [x[:, :, ::-1, ::-1] for x in arrays]
        self.assertTrue(
            np.array_equal(
                attend.attention(*turned).astype("f4"),
                attend.attention(*(x.copy() for x in turned)).astype("f4"),
            )
        )
        mine = np.empty_like(out)
        self.assertIs(attend.attention(*arrays, out=mine), mine)
        self.assertTrue(np.array_equal(mine.view(np.int16), out.view(np.int16)))
        with self.assertRaisesRegex(TypeError, r"\bq\b"):
            attend.attention(arrays[0].astype(ml_dtypes.float8_e4m3fn), *arrays[1:])


# ---- leaks ------------------------------------------------------------------------


class Mallinfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def memory():
    """Allocated bytes of malloc, or the peak memory of the process where libc has no such count."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mallinfo.restype = Mallinfo
    found = mallinfo()
    return found.uordblks + found.hblkhd


class Leaks(unittest.TestCase):
    CALLS = max(2000, count(20_000))

    def steady(self, call, objects):
        """Neither references to the objects nor memory grow over many calls.  A leak is at least
        32 bytes (malloc) or one block (Python) a call."""
        for _ in range(1000):
            call()
        gc.collect()
        counts = [sys.getrefcount(x) for x in objects]
        blocks, bytes_before = sys.getallocatedblocks(), memory()
        for _ in range(self.CALLS):
            call()
        gc.collect()
        self.assertEqual([sys.getrefcount(x) for x in objects], counts)
        self.assertLess(sys.getallocatedblocks() - blocks, self.CALLS // 2)
        self.assertLess(memory() - bytes_before, 16 * self.CALLS)

    def small(self):
        return problem(8, b=1, hq=1, hkv=1, nq=1, nk=2, d=2, dv=2)

    def test_numpy(self):
        q, k, v = self.small()
        mask, context = np.ones((1, 2), bool), attend.Context(threads=1)
        self.steady(
            lambda: attend.attention(q, k, v, mask=mask, causal=1, context=context), (q, k, v, mask, context)
        )

    def test_torch(self):
        q, k, v = (torch.from_numpy(x) for x in self.small())
        context = attend.Context(threads=1)
        self.steady(lambda: attend.attention(q, k, v, context=context), (q, k, v, context))

    def test_refusals(self):
        q, k, v = self.small()
        bad, context = k.astype("i4"), attend.Context(threads=1)

        def call():
            for wrong in (q, bad, v), (q, k, v[:, :, :1]):
                try:
                    attend.attention(*wrong, context=context)
                except (ValueError, TypeError):
                    continue
                raise AssertionError

        self.steady(call, (q, k, v, bad, context))

    def test_producer(self):
        q, k, v = self.small()
        context = attend.Context(threads=1)
        producers = [Producer(k), Producer(v, old=True), Producer(v, device=CUDA)]

        def call():
            attend.attention(q, producers[0], producers[1], context=context)
            try:
                attend.attention(q, producers[0], producers[2], context=context)
            except ValueError:
                return
            raise AssertionError

        self.steady(call, (q, *producers, context))
        for producer in producers:
            self.assertEqual(producer.given, producer.taken_back)

    def test_contexts(self):
        q, k, v = self.small()
        self.CALLS = max(1000, count(2000))
        self.steady(lambda: attend.attention(q, k, v, context=attend.Context(threads=2)), (q, k, v))
