# SPDX-License-Identifier: MIT
"""attend beside PyTorch, ONNX Runtime and NumPy: `make bench` runs it.

Every engine runs in a process of its own.  For each case and dtype all must agree with
a dense float64 evaluation; then they are timed in turns, round after round.  Writes
bench/results/latest.json and latest.png.  Exit status: 1 if attend disagrees.
"""

import argparse
import datetime
import os
import shlex
import subprocess
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # this process times nothing

import bandwidth
import cases as cases_module
import chart
import engine
import inputs
import machine
import results
from engine_client import EngineError, EngineProcess
from measure import Disagreement, measure

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COMMAND = os.environ.get("ATTEND_BIN") or os.path.join(ROOT, "build", "release", "attend")
RESULTS = os.path.join(ROOT, "bench", "results")


def positive(kind):
    def parse(text):
        value = kind(text)
        if not 0 < value < 1e6:
            raise ValueError
        return value

    parse.__name__ = f"positive {kind.__name__}"
    return parse


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--case", default="*", metavar="GLOB", help="which cases; all")
    parser.add_argument("--dtype", choices=inputs.DTYPES, help="one dtype; all")
    parser.add_argument(
        "--seconds", type=positive(float), default=1.0, help="of calls per engine and case; 1"
    )
    parser.add_argument("--threads", type=positive(int), default=machine.usable_cores(), help="all cores")
    options = parser.parse_args()
    try:
        listed = cases_module.load(COMMAND)
    except (OSError, subprocess.CalledProcessError) as failure:
        parser.error(f"{COMMAND} lists no cases: {failure}")
    options.cases = cases_module.select(listed, options.case)
    if not options.cases:
        parser.error(f"argument --case: no case is named {options.case!r}")
    return options


def compare(processes, options):
    """The results, one per case and dtype, printed as they come."""
    print(results.text_row(results.HEADER), flush=True)
    read = bandwidth.Reader(options.threads)
    found = []

    def complain(text):
        print(f"  not timed: {text}", flush=True)

    for case in options.cases:
        for dtype in [options.dtype] if options.dtype else inputs.DTYPES:
            measured = measure(processes, case, dtype, options.seconds, complain, read)
            found.append({"case": case.name, "dtype": dtype, **measured})
            for row in results.rows(found[-1]):
                print(results.text_row(row), flush=True)
    return found


def main():
    options = arguments()
    document = {
        "date": datetime.date.today().isoformat(),
        "command": shlex.join(["bench/compare/compare.py", *sys.argv[1:]]),
        "machine": machine.describe(),
        "threads": options.threads,
        "seconds": options.seconds,
    }
    processes = []
    try:
        processes = [EngineProcess(name, options.threads) for name in engine.NAMES]
        document["versions"] = {process.name: process.version for process in processes}
        document["results"] = compare(processes, options)
    except (Disagreement, EngineError) as failure:
        print(f"compare: {failure}", file=sys.stderr)
        return 1
    finally:
        for process in processes:
            process.close()
    results.write_json(os.path.join(RESULTS, "latest.json"), document)
    print(f"wrote {os.path.relpath(RESULTS)}/latest.json")
    if chart.can_draw():
        chart.draw(document, os.path.join(RESULTS, "latest.png"))
        print(f"wrote {os.path.relpath(RESULTS)}/latest.png")
    else:
        print("no matplotlib here: latest.png is not drawn")
    return 0


if __name__ == "__main__":
    sys.exit(main())
