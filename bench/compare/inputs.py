# SPDX-License-Identifier: MIT
"""The inputs of a case, the same bits in every process.

Elements are standard normal, so scores are too.  bf16 is kept as its bits in uint16,
which NumPy has no type for.
"""

import zlib

import numpy as np

STORAGE = {"f32": np.float32, "bf16": np.uint16, "f16": np.float16}
DTYPES = tuple(STORAGE)
ROTATED_BYTES = 256 << 20
ALIGNMENT = 64
DOCUMENTS = 8


def empty(shape, dtype):
    """An array that starts on a cache line, as every library's own allocator gives."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


def copy(array):
    """A contiguous copy on a cache line."""
    new = empty(array.shape, array.dtype)
    new[...] = array
    return new


def narrow(x, dtype):
    """float32 to the dtype's storage, to nearest and ties to even; finite values only."""
    if dtype != "bf16":
        return x.astype(STORAGE[dtype], copy=False)
    bits = x.view(np.uint32)
    return ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype(np.uint16)


def widen(x, dtype):
    """The dtype's storage to float32, exactly."""
    if dtype != "bf16":
        return x.astype(np.float32, copy=False)
    return (x.astype(np.uint32) << 16).view(np.float32)


def seed_of(case):
    return zlib.crc32(case.name.encode())


def make_mask(case, rng):
    """(1, 1, nq, nk) of bool, or None."""
    if case.mask == "none":
        return None
    if case.mask == "random":
        return copy(rng.random((1, 1, case.nq, case.nk)) < 0.5)
    if case.mask != "docs8":
        raise ValueError(f"{case.name}: what is a mask of kind {case.mask!r}?")
    of_row, of_key = (np.arange(n) * DOCUMENTS // n for n in (case.nq, case.nk))
    return copy((of_row[:, None] == of_key)[None, None])


class Inputs:
    """q (batch, hq, nq, d); k and v lists of equal copies (batch, hkv, nk, d); mask."""

    def __init__(self, case, dtype):
        self.case, self.dtype = case, dtype
        rng = np.random.default_rng(seed_of(case))

        def normal(heads, rows):
            shape = case.batch, heads, rows, case.d
            return copy(narrow(rng.standard_normal(shape, dtype=np.float32), dtype))

        self.q = normal(case.hq, case.nq)
        self.k = [normal(case.hkv, case.nk)]
        self.v = [normal(case.hkv, case.nk)]
        self.mask = make_mask(case, rng)
        if case.rotates:
            copies = -(-ROTATED_BYTES // (self.k[0].nbytes + self.v[0].nbytes))
            for tensor in (self.k, self.v):
                tensor += [copy(tensor[0]) for _ in range(copies - 1)]

    def visible(self, rows=slice(None)):
        """(rows, nk) of bool: causal rule, window and mask together."""
        case = self.case
        numbers = range(case.nq)[rows]
        seen = np.zeros((len(numbers), case.nk), bool)
        for row, i in zip(seen, numbers):
            row[slice(*case.seen(i))] = True
        return seen if self.mask is None else seen & self.mask[0, 0, rows]

    def checksum(self):
        """A digest of the inputs, which the processes compare before anything is timed."""
        total = 0
        for array in (self.q, self.k[0], self.v[0], self.mask):
            if array is not None:
                total = zlib.crc32(array.reshape(-1).view(np.uint8), total)
        return total
