# SPDX-License-Identifier: MIT
"""The chart of the growth: time and memory over n, time over threads."""

import io

import growth_table
import results

COLOURS = {"attend": "#4477aa", "torch": "#ee6677", "onnxruntime": "#228833", "numpy": "#ccbb44"}
MARKERS = {"MultiHeadAttention bhld": "s", "dense": "s"}


def finish(panel, ticks, label, title):
    panel.set(yscale="log", xlabel=label, title=title)
    panel.set_xscale("log", base=2)
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.grid(alpha=0.3)
    panel.legend(fontsize=7)


def draw_sizes(panel, lines, field, unit, label):
    for line in lines:
        points = [p for p in line["points"] if p.get("agrees") and p[field] > 0]
        panel.plot(
            [p["n"] for p in points],
            [p[field] / unit for p in points],
            color=COLOURS[line["engine"]],
            linestyle="--" if line["dtype"] == "bf16" else "-",
            marker=MARKERS.get(line["variant"], "o"),
            markersize=4,
            label=growth_table.line_title(line),
        )
    sizes = sorted({p["n"] for line in lines for p in line["points"]})
    finish(panel, sizes, "n", label)


def draw_threads(panel, rows, title):
    for name, colour in COLOURS.items():
        timings = [(r["threads"], results.best_of(r["timings"], name)) for r in rows]
        pairs = [(threads, t["median_ms"]) for threads, t in timings if t]
        if pairs:
            panel.plot(*zip(*pairs), color=colour, marker="o", markersize=4, label=name)
    finish(panel, [r["threads"] for r in rows], "threads", f"{title}, ms")


def draw(document, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawings = []
    if "sizes" in document:
        lines = document["sizes"]["lines"]
        for field, unit, label in (
            ("median_ms", 1, "causal, one head, d = 64: ms"),
            ("peak_bytes", 1e6, "the same: MB above the inputs"),
        ):
            drawings.append((draw_sizes, (lines, field, unit, label)))
    if "threads" in document:
        rows = document["threads"]["results"]
        for case, dtype in dict.fromkeys((r["case"], r["dtype"]) for r in rows):
            chosen = [r for r in rows if (r["case"], r["dtype"]) == (case, dtype)]
            drawings.append((draw_threads, (chosen, f"{case} {dtype}")))
    width = 2
    height = -(-len(drawings) // width)
    figure, panels = pyplot.subplots(
        height, width, figsize=(11, 4 * height), squeeze=False, layout="constrained"
    )
    for panel, (drawing, arguments) in zip(panels.flat, drawings):
        drawing(panel, *arguments)
    for panel in panels.flat[len(drawings) :]:
        panel.set_visible(False)
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=110)
    pyplot.close(figure)
    results.write_whole(path, image.getvalue())
