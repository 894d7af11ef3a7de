#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The laboratory's Monte Carlo beside NumPy's vectorised evaluation of the same trials.

    monte_carlo.py PROGRAM [SECONDS]

Both draw all 64 x 64 key entries of a trial in float32 and measure the variance of one
weight; they must agree within 4 standard errors.  Prints trials per second of each, the
best of several runs, and the ratio; exit status 1 if they disagree.
"""
import math
import multiprocessing
import subprocess
import sys
import time

import numpy as np

N = D = 64
C, SIGMA2, ALPHA = 10.0, 0.5, 1e-4
BATCH = 256  # trials at a time: the fastest of 16 .. 4000


def numpy_weights(rng, trials):
    """The weight of v_a in `trials` trials."""
    q = np.zeros(D, np.float32)
    q[:2] = C
    own = np.arange(N)
    out = np.empty(trials, np.float32)
    for start in range(0, trials, BATCH):
        count = min(BATCH, trials - start)
        k = rng.standard_normal((count, N, D), dtype=np.float32)
        k *= np.float32(math.sqrt(ALPHA))
        k[:, own, own] += 1
        k[:, 0, 0] += np.float32(math.sqrt(SIGMA2)) * rng.standard_normal(count, dtype=np.float32)
        s = k @ q
        s -= s.max(axis=1, keepdims=True)
        np.exp(s, out=s)
        out[start : start + count] = s[:, 0] / s.sum(axis=1)
    return out


def numpy_run(seed, trials):
    return numpy_weights(np.random.default_rng(seed), trials)


def variance_and_error(w):
    w = w.astype(np.float64)
    m2 = w.var()
    m4 = ((w - w.mean()) ** 4).mean()
    return m2, math.sqrt((m4 - m2 * m2) / w.size)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1].strip())
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0

    trials, repeats = max(int(25000 * seconds), BATCH), 3
    best = [0.0, 0.0]
    for repeat in range(repeats):
        start = time.perf_counter()
        w = numpy_run(repeat, trials)
        best[0] = max(best[0], trials / (time.perf_counter() - start))
    with multiprocessing.Pool(2) as pool:
        pool.starmap(numpy_run, [(0, BATCH), (1, BATCH)])
        for repeat in range(repeats):
            start = time.perf_counter()
            pool.starmap(numpy_run, [(repeat, trials // 2), (repeat + 9, trials // 2)])
            best[1] = max(best[1], 2 * (trials // 2) / (time.perf_counter() - start))
    expected, expected_error = variance_and_error(w)

    rate = 0.0
    for _ in range(repeats):
        done = subprocess.run(
            [sys.argv[1], str(12 * trials), "2"], capture_output=True, text=True, check=True
        )
        _, per_second, variance, error = map(float, done.stdout.split())
        rate = max(rate, per_second)

    print(f"Monte Carlo, n = {N}, d = {D}, all entries drawn, two cores    trials/s")
    print(f"  attend                              {rate:24.4g}")
    for words, other in zip(("one process", "two processes"), best):
        print(f"  NumPy {np.__version__}, {words:13s}      {other:24.4g}   {rate / other:.1f}x")
    z = (variance - expected) / math.hypot(error, expected_error)
    print(f"  variance of the weight: {variance:.5f} and {expected:.5f}, z = {z:.2f}")
    return int(abs(z) > 4)


if __name__ == "__main__":
    sys.exit(main())
