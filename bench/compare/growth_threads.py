# SPDX-License-Identifier: MIT
"""Times over the number of threads, all engines in turns as in a comparison."""

import bandwidth
import cases as cases_module
import engine
import results
from engine_client import EngineProcess
from measure import measure

CASES = "prefill-d128-2k", "causal-d128-8k", "decode-gqa-d128-8k"
DTYPES = "f32", "bf16"


def doublings(most):
    """1, 2, 4 ... and `most` itself."""
    counts = [1 << x for x in range(most.bit_length()) if 1 << x < most]
    return counts + [most]


def complain(text):
    print(f"  not timed: {text}", flush=True)


def measure_threads(options, command, save):
    """A result per threads, case and dtype; save(versions, results) after each count."""
    cases = {case.name: case for case in cases_module.load(command)}
    versions, found = {}, []
    print("threads " + results.text_row(results.HEADER), flush=True)
    for threads in doublings(options.threads):
        processes, read = [], bandwidth.Reader(threads)
        try:
            for name in engine.NAMES:
                processes.append(EngineProcess(name, threads))
                versions[name] = processes[-1].version
            for name in CASES:
                for dtype in DTYPES:
                    measured = measure(processes, cases[name], dtype, options.seconds, complain, read)
                    found.append({"threads": threads, "case": name, "dtype": dtype, **measured})
                    for row in results.rows(found[-1]):
                        print(f"{threads:7d} {results.text_row(row)}", flush=True)
        finally:
            for process in processes:
                process.close()
        save(versions, found)
