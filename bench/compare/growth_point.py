# SPDX-License-Identifier: MIT
"""One point of the growth with n, in a fresh process:

    growth_point.py ENGINE VARIANT DTYPE N SECONDS THREADS

Causal attention of one head with d = 64.  Prints a JSON object: the peak of resident
memory above what the process held with its inputs made and its library warm, the time
of a call, and the error at a few rows.
"""

import ctypes
import importlib
import json
import statistics
import sys
import time

import cases
import inputs as inputs_module
import machine
import reference

D = 64
WARM_N = 128
ROWS_OF_N = 0.0, 0.3, 0.7, 1.0


def causal(n):
    return cases.Case(
        f"growth-{n}", 1, 1, 1, n, n, D, causal=True, window_left=-1, mask="none", kind="compute"
    )


def status_bytes(name):
    return int(machine.field("/proc/self/status", name).split()[0]) << 10


def start_peak():
    """Give back what is free, and let the peak be what is held now."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")
    return status_bytes("VmRSS")


def once(prepared):
    start = time.perf_counter()
    with prepared.context():
        returned = prepared.calls[0]()
    return time.perf_counter() - start, returned


def measure(module, variant, dtype, n, seconds):
    warm = module.prepare(variant, inputs_module.Inputs(causal(WARM_N), dtype))
    for _ in range(3):
        once(warm)
    inputs = inputs_module.Inputs(causal(n), dtype)

    held = start_peak()
    prepared = module.prepare(variant, inputs)
    once(prepared)
    once(prepared)  # ONNX Runtime's allocator settles in its second call
    peak = status_bytes("VmHWM") - held

    taken = []
    while sum(taken) < seconds:
        elapsed, returned = once(prepared)
        taken.append(elapsed)

    # Last: the threads of its BLAS spin for a while.
    rows = sorted({(0, 0, int(share * (n - 1))) for share in ROWS_OF_N})
    got = inputs_module.widen(prepared.fetch(returned)[tuple(zip(*rows))], dtype)
    error = reference.error(got, reference.dense_rows(inputs, rows))
    return {
        "peak_bytes": peak,
        "median_ms": 1e3 * statistics.median(taken),
        "samples": len(taken),
        "error": error,
        "agrees": error <= reference.TOLERANCE[dtype],
    }


def main():
    engine, variant, dtype = sys.argv[1:4]
    module = importlib.import_module(f"engine_{engine}")
    version = module.start(int(sys.argv[6]))
    point = measure(module, variant, dtype, int(sys.argv[4]), float(sys.argv[5]))
    print(json.dumps({**point, "version": version}))


if __name__ == "__main__":
    main()
