# SPDX-License-Identifier: MIT
"""mpi_timeline.py OUT.svg TRACE...: a timeline of the ranks, from attend bench --trace.

One lane for each rank.  The upper bar shows computation (one shade for each rank that sent
the keys) and waiting (red), the lower bar chunks in flight to the rank: computation above a
chunk overlaps its communication.
"""

import json
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def bar(event, scale, y, height, colour):
    x, width = event["start"] * scale, (event["end"] - event["start"]) * scale
    return (
        f'<rect x="{60 + x:.2f}" y="{y}" width="{max(width, 0.3):.2f}" '
        f'height="{height}" fill="{colour}"/>'
    )


def main(out, *paths):
    paths = sorted(paths, key=lambda path: int(path.rsplit(".", 1)[1]))
    lanes = [read(path) for path in paths]
    end = max((event["end"] for lane in lanes for event in lane), default=1)
    scale, pitch = 900 / end, 44
    height = pitch * len(lanes) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="980" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for rank, lane in enumerate(lanes):
        y = 10 + rank * pitch
        parts.append(f'<text x="6" y="{y + 15}">rank {rank}</text>')
        for event in lane:
            if event["what"] == "c":
                shade = 85 - 50 * event["peer"] / max(1, len(lanes) - 1)
                parts.append(bar(event, scale, y, 20, f"hsl(215,60%,{shade:.0f}%)"))
            elif event["what"] == "w":
                parts.append(bar(event, scale, y, 20, "hsl(0,70%,60%)"))
            elif event["what"] == "r":
                parts.append(bar(event, scale, y + 23, 10, "hsl(35,80%,60%)"))
    parts.append(f'<text x="60" y="{height - 8}">0</text>')
    parts.append(f'<text x="900" y="{height - 8}">{end * 1e3:.1f} ms</text>')
    parts.append("</svg>")
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
