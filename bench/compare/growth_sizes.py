# SPDX-License-Identifier: MIT
"""Time and peak memory over n, every point in a fresh process."""

import json
import os
import subprocess
import sys

from engine_client import environment

SIZES = [512 << doubling for doubling in range(8)]
LINES = [
    ("attend", "attend_forward", ("f32", "bf16")),
    ("torch", "plain", ("f32", "bf16")),
    ("onnxruntime", "GroupQueryAttention", ("f32",)),
    ("onnxruntime", "MultiHeadAttention bhld", ("f32",)),
    ("numpy", "blocked", ("f32",)),
    ("numpy", "dense", ("f32",)),
]


def run_point(engine, variant, dtype, n, seconds, threads):
    """The point's object, or one with an `error_text`."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "growth_point.py")
    done = subprocess.run(
        [sys.executable, program, engine, variant, dtype, str(n), str(seconds), str(threads)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(threads),
    )
    if done.returncode != 0:
        return {"error_text": f"exit status {done.returncode}"}
    return json.loads(done.stdout.splitlines()[-1])


def predict(points, field):
    """The next point's value when n doubles: by the last step's factor, 2 to 4."""
    values = [max(point[field], 1) for point in points[-2:]]
    factor = values[1] / values[0] if len(values) == 2 else 4
    return values[-1] * min(4, max(2, factor))


def why_stop(points, memory_bytes, call_seconds):
    """Why the next size is not tried; "" if it is."""
    if not points:
        return ""
    if "error_text" in points[-1]:
        return "an earlier size failed"
    peak = predict(points, "peak_bytes")
    if peak > memory_bytes:
        return f"about {peak / 1e9:.3g} GB, above the limit of {memory_bytes / 1e9:.3g} GB"
    seconds = predict(points, "median_ms") / 1e3
    if seconds > call_seconds:
        return f"about {seconds:.3g} s, above the limit of {call_seconds:.3g} s"
    return ""


def measure_line(engine, variant, dtype, options):
    points, stopped = [], ""
    for n in SIZES:
        stopped = why_stop(points, options.memory * 1e9, options.call_seconds)
        if stopped:
            print(f"{engine:12s} {variant:24s} {dtype:5s} stops at {n}: {stopped}", flush=True)
            break
        point = run_point(engine, variant, dtype, n, options.seconds, options.threads)
        points.append({"n": n, **point})
        if "error_text" in point:
            text = point["error_text"]
        else:
            wrong = "" if point["agrees"] else f"  DISAGREES by {point['error']:.2g}"
            megabytes = point["peak_bytes"] / 1e6
            text = f"{point['median_ms']:10.3f} ms {megabytes:10.1f} MB{wrong}"
        print(f"{engine:12s} {variant:24s} {dtype:5s} {n:6d} {text}", flush=True)
    line = {"engine": engine, "variant": variant, "dtype": dtype, "points": points}
    return {**line, "stopped": stopped}


def measure_sizes(options, save):
    """All lines; save(versions, lines) after each."""
    versions, lines = {}, []
    for engine, variant, dtypes in LINES:
        for dtype in dtypes:
            lines.append(measure_line(engine, variant, dtype, options))
            for point in lines[-1]["points"]:
                versions[engine] = point.get("version", versions.get(engine, "unknown"))
            save(versions, lines)
