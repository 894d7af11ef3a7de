# SPDX-License-Identifier: MIT
"""How time and memory grow with n, and time with threads, beside the rivals.

Writes bench/results/growth.json, growth.md and, where matplotlib is, growth.png.  A part
that is not measured keeps what growth.json held, so that each may come from the machine
that suits it; --plot FILE measures nothing and draws another machine's growth.json.
"""

import argparse
import datetime
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # this process times nothing

import chart
import growth_chart
import growth_table
import machine
import results
from compare import COMMAND, RESULTS, positive
from engine_client import EngineError
from growth_sizes import measure_sizes
from growth_threads import measure_threads
from measure import Disagreement


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--part", choices=("sizes", "threads"), help="one part; both")
    parser.add_argument("--seconds", type=positive(float), default=0.5, help="of calls per point; 0.5")
    parser.add_argument(
        "--threads", type=positive(int), default=machine.usable_cores(), help="at most; all cores"
    )
    parser.add_argument(
        "--memory",
        type=positive(float),
        default=round(machine.available_bytes() / 2e9, 1),
        metavar="GB",
        help="a size that would take more is not tried; half of what is free",
    )
    parser.add_argument("--call-seconds", type=positive(float), default=60, metavar="S", help="likewise; 60")
    parser.add_argument("--plot", metavar="FILE", help="draw this growth.json, measure nothing")
    return parser.parse_args()


def section(options, **rest):
    return {
        "date": datetime.date.today().isoformat(),
        "machine": machine.describe(),
        "threads": options.threads,
        **rest,
    }


def measure_parts(options, document, path):
    """Measure into the document, saved as it grows."""

    def save_sizes(versions, lines):
        document["sizes"] = section(options, versions=versions, lines=lines)
        results.write_json(path, document)

    def save_threads(versions, rows):
        document["threads"] = section(options, versions=versions, results=rows)
        results.write_json(path, document)

    if options.part != "threads":
        measure_sizes(options, save_sizes)
    if options.part != "sizes":
        measure_threads(options, COMMAND, save_threads)


def present(document):
    text = growth_table.markdown(document)
    results.write_whole(os.path.join(RESULTS, "growth.md"), text.encode())
    if chart.can_draw():
        growth_chart.draw(document, os.path.join(RESULTS, "growth.png"))
        print(f"wrote growth.md and growth.png in {os.path.relpath(RESULTS)}")
    else:
        print("no matplotlib here: take growth.json to where it is, and use --plot")


def main():
    options = arguments()
    path = os.path.join(RESULTS, "growth.json")
    try:
        if options.plot:
            document = results.read_json(options.plot)
        else:
            document = results.read_json(path) if os.path.exists(path) else {}
            measure_parts(options, document, path)
    except (OSError, ValueError) as failure:
        print(f"growth: {failure}", file=sys.stderr)
        return 2
    except (Disagreement, EngineError) as failure:
        print(f"growth: {failure}", file=sys.stderr)
        return 1
    present(document)
    return 0


if __name__ == "__main__":
    sys.exit(main())
