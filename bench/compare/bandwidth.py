# SPDX-License-Identifier: MIT
"""The speed of memory, and results grouped by it.

A host's memory may change its speed within minutes, and decoding with it.  So the speed
is measured beside every turn of a decoding case, by a process that times nothing else and
has no library's threads: the engines stand still meanwhile.
"""

import concurrent.futures
import ctypes
import statistics
import threading
import time

import numpy as np

READ_BYTES = 64 << 20  # bytes per thread and sample: one or two milliseconds
ROTATED_BYTES = 512 << 20  # in all, at least: no cache holds what is read again
ONE_STATE = 1.15  # speeds that differ by less are one state of the memory


class Reader:
    """Threads that stream memory through memchr of the C library, which ctypes calls
    without the interpreter's lock: it looks at every byte, in the widest loads there are.
    """

    def __init__(self, threads):
        self.threads, self.turn = threads, 0
        share = threads * READ_BYTES
        self.memory = np.ones(max(2, -(-ROTATED_BYTES // share)) * share, np.uint8)
        self.search = ctypes.CDLL(None).memchr
        self.search.argtypes = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
        self.search.restype = ctypes.c_void_p
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)
        self.barrier = threading.Barrier(threads)

    def read_part(self, address):
        self.barrier.wait()
        start = time.perf_counter()
        if self.search(address, 0, READ_BYTES) is not None:
            raise RuntimeError("the memory that is read has changed")
        return start, time.perf_counter()

    def __call__(self):
        """Bytes per second, from the first thread's start to the last one's end."""
        first = self.turn * self.threads * READ_BYTES % self.memory.nbytes
        self.turn += 1
        addresses = [self.memory.ctypes.data + first + thread * READ_BYTES for thread in range(self.threads)]
        spans = list(self.pool.map(self.read_part, addresses))
        starts, ends = zip(*spans)
        return self.threads * READ_BYTES / (max(ends) - min(starts))


def split(speeds):
    """Lists of indices, of the slower state first: the rule of `attend bench`.

    Two where the 95th percentile is more than 15 % above the 5th, split midway between
    these, which are speeds themselves; else one.
    """
    ordered = sorted(speeds)
    cut = (len(ordered) - 1) // 20
    low, high = ordered[cut], ordered[len(ordered) - 1 - cut]
    if high <= ONE_STATE * low:
        return [list(range(len(speeds)))]
    middle = (low + high) / 2
    return [[n for n, speed in enumerate(speeds) if (speed > middle) == fast] for fast in (False, True)]


def bins(speeds, runners):
    """For each state: its rounds, its speed, and what each runner took in them.

    A round's speed is one of `speeds`; runner.turns are its samples in ns, round by round.
    """
    found = []
    for rounds in split(speeds):
        timings = []
        for runner in runners:
            taken = [ns for n in rounds for ns in runner.turns[n]]
            timings.append(
                {
                    "engine": runner.name,
                    "variant": runner.variant,
                    "median_ms": statistics.median(taken) / 1e6,
                    "samples": len(taken),
                }
            )
        speed = statistics.median(speeds[n] for n in rounds)
        found.append({"read_gbps": speed / 1e9, "rounds": len(rounds), "timings": timings})
    return found
