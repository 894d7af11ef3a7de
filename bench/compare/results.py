# SPDX-License-Identifier: MIT
"""Results of a comparison: their arithmetic, their file and their tables."""

import json
import os
import tempfile

OURS = "attend"
TITLES = {"torch": "PyTorch", "onnxruntime": "ONNX Runtime", "numpy": "NumPy"}


def best_of(timings, engine):
    """The fastest variant of an engine by its median; None if it has none."""
    own = [t for t in timings if t["engine"] == engine]
    return min(own, key=lambda t: t["median_ms"], default=None)


def best_rival(timings):
    rivals = [t for t in timings if t["engine"] != OURS]
    return min(rivals, key=lambda t: t["median_ms"], default=None)


def ratio(timings):
    """How many times as long the best rival takes; None without attend or a rival."""
    ours, rival = best_of(timings, OURS), best_rival(timings)
    if ours is None or rival is None:
        return None
    return rival["median_ms"] / ours["median_ms"]


def milliseconds(timing):
    """Three significant digits, without an exponent."""
    if timing is None:
        return "-"
    ms = timing["median_ms"]
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.3g}" if ms >= 0.001 else f"{ms:.5f}"


def cells(result):
    """Case, dtype, attend, each rival, ratio and the best rival's name, as text."""
    timings = result["timings"]
    times, rival = ratio(timings), best_rival(timings)
    return [
        result["case"],
        result["dtype"],
        milliseconds(best_of(timings, OURS)),
        *(milliseconds(best_of(timings, name)) for name in TITLES),
        "-" if times is None else f"{times:.2f}",
        "-" if rival is None else f"{TITLES[rival['engine']]} {rival['variant']}",
    ]


def rows(result):
    """The cells of a result, and of each of its bins by the speed of memory."""
    found = [cells(result)]
    for part in result.get("bins", []):
        name = f"  at {part['read_gbps']:.1f} GB/s, {part['rounds']} rounds"
        found.append(cells({**result, "case": name, "timings": part["timings"]}))
    return found


HEADER = ["case", "dtype", "attend", *TITLES.values(), "ratio", "best rival"]
WIDTHS = [26, 5, 10, 10, 13, 10, 6, 0]


def text_row(row):
    parts = []
    for x, (cell, width) in enumerate(zip(row, WIDTHS)):
        right = 2 <= x <= 6
        parts.append(cell.rjust(width) if right else cell.ljust(width))
    return " ".join(parts).rstrip()


def markdown(document):
    """The whole document as a heading line and a table."""
    machine = document["machine"]
    versions = ", ".join(f"{name} {v}" for name, v in document["versions"].items())
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB; "
        f"{document['threads']} threads; {document['date']}; `{document['command']}`.",
        f"{versions}.",
        "Times in ms (medians); ratio = best rival / attend.",
        "",
        "| " + " | ".join(HEADER) + " |",
        "|---|---|" + "--:|" * 5 + "---|",
    ]
    for result in document["results"]:
        lines += ["| " + " | ".join(row).strip() + " |" for row in rows(result)]
    return "\n".join(lines) + "\n"


def write_whole(path, data):
    """Replace the file by `data` (bytes), at once or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_json(path, document):
    write_whole(path, (json.dumps(document, indent=1) + "\n").encode())


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)
