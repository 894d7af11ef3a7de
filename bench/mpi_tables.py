# SPDX-License-Identifier: MIT
"""mpi_tables.py RESULT.json: the tables of docs/MPI.md from the output of bench/mpi_measure.sh.

The constants of the cost model come first: R from the work of ranks of one thread, B from
the gather strategy, which overlaps nothing, a from a decoding step, which sends few bytes.
"""

import json
import math
import sys

# The problem of the prediction: H, G, d, bytes per element, keys per chunk.
HEADS, GROUPS, WIDTH, SIZE, CHUNK = 32, 8, 128, 2, 2048
PROBLEMS = (131072, 16), (1048576, 64), (1048576, 256), (1048576, 1024)


def find(runs, case, **fields):
    for run in runs:
        if run["case"] == case and all(run[name] == value for name, value in fields.items()):
            return run
    return None


def constants(result):
    """FLOP/s of a rank, bytes/s into a rank, seconds per message; None: not measured."""
    runs, cores = result["runs"], result["cores"]
    ring = find(runs, "causal-32k-ring", ranks=cores, threads=1)
    gather = find(runs, "causal-32k-gather", ranks=cores, threads=1)
    step = find(runs, "decode-64k")
    rate = ring and ring["gflops"] * 1e9 * ring["seconds"] / ring["computing"] / ring["ranks"]
    moving = gather and gather["seconds"] - gather["computing"]
    width = moving and moving > 0 and gather["sent_bytes"] / gather["ranks"] / moving
    message = step and (step["seconds"] - step["computing"]) / (step["messages"] / step["ranks"])
    return rate or None, width or None, message


def measured(result):
    runs = result["runs"]
    alone = [
        run["seconds"]
        for run in runs
        if run["case"] == "causal-32k-zigzag" and run["threads"] == result["cores"]
    ]
    mean = sum(alone) / len(alone) if alone else None
    print("| case | ranks x threads | s | GFLOP/s | vs one process | MB sent | waiting s |")
    print("|---|---|---|---|---|---|---|")
    for run in runs:
        if not run["case"].startswith("causal"):
            continue
        share = f"{100 * mean / run['seconds']:.0f} %" if mean else ""
        print(
            f"| {run['case']} | {run['ranks']} x {run['threads']} | {run['seconds']:.3f} "
            f"| {run['gflops']:.0f} | {share} | {run['sent_bytes'] / 1e6:.1f} "
            f"| {run['waiting']:.3f} |"
        )
    print(f"\nThe limit of contiguous slices is {100 * result['contiguous_cap']:.1f} %.\n")
    print("| case | ranks x threads | checksum of the output | MB sent | memory / slices |")
    print("|---|---|---|---|---|")
    for run in runs:
        if run["case"].startswith("causal"):
            continue
        print(
            f"| {run['case']} | {run['ranks']} x {run['threads']} | `{run['checksum']}` "
            f"| {run['sent_bytes'] / 1e6:.3f} | {run['resident_over_slices']:.2f} |"
        )


def predicted(rate, width, message):
    print("\n| n | P | compute s | bytes into a rank | communication s | parallel efficiency |")
    print("|---|---|---|---|---|---|")
    for n, ranks in PROBLEMS:
        compute = 4 * HEADS * WIDTH * n * n / 2 / ranks / rate
        moved = 2 * GROUPS * WIDTH * SIZE * n * (ranks - 1) / ranks * 3 / 4
        moving = moved / width + 2 * GROUPS * n / CHUNK * message
        first = 2 * GROUPS * (WIDTH * SIZE * CHUNK / width + message)
        overlapped = compute / (max(compute, moving) + first)
        print(
            f"| {n} | {ranks} | {compute:.1f} | {moved / 1e9:.2f} GB | {moving:.2f} "
            f"| {math.floor(1000 * overlapped) / 1000}; {compute / (compute + moving):.2f} "
            "without overlap |"
        )


def main(path):
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    rate, width, message = constants(result)
    print(f"same bits: {result['same_bits']}, in {result['bits_runs']} runs\n")
    measured(result)
    if None in (rate, width, message):
        print("\nNot all constants of the model were measured.")
        return
    print(
        f"\nR = {rate / 1e9:.1f} GFLOP/s for a rank of one thread, B = {width / 1e9:.2f} GB/s into "
        f"a rank, a = {message * 1e6:.1f} us per message."
    )
    predicted(rate, width, message)


if __name__ == "__main__":
    main(*sys.argv[1:])
