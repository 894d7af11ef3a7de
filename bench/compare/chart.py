# SPDX-License-Identifier: MIT
"""The chart of a comparison: ratio to the best rival, a bar per case and dtype."""

import importlib.util
import io

import results

COLOURS = {"f32": "#4477aa", "bf16": "#ee6677", "f16": "#228833"}


def can_draw():
    return importlib.util.find_spec("matplotlib") is not None


def draw(document, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [r for r in document["results"] if results.ratio(r["timings"]) is not None]
    dtypes = [dtype for dtype in COLOURS if any(r["dtype"] == dtype for r in rows)]
    figure, panels = pyplot.subplots(
        1,
        max(1, len(dtypes)),
        figsize=(2 + 3.6 * max(1, len(dtypes)), 1.6 + 0.32 * len({r["case"] for r in rows})),
        squeeze=False,
        sharey=True,
        layout="constrained",
    )
    names = list(dict.fromkeys(r["case"] for r in rows))
    for panel, dtype in zip(panels[0], dtypes):
        ratios = {r["case"]: results.ratio(r["timings"]) for r in rows if r["dtype"] == dtype}
        panel.barh([names.index(name) for name in ratios], ratios.values(), color=COLOURS[dtype])
        for name, value in ratios.items():
            panel.text(value, names.index(name), f" {value:.2f}", va="center", fontsize=9)
        panel.axvline(1, color="black", linewidth=1)
        panel.set_xlim(0, 1.2 * max([1, *ratios.values()]))
        panel.set_title(dtype)
        panel.set_yticks(range(len(names)), names)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0][0].invert_yaxis()
    figure.supxlabel("time of the best rival / time of attend (the line: as fast)")
    figure.suptitle(f"{document['machine']['cpu']}, {document['threads']} threads", fontsize=11)
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=110)
    pyplot.close(figure)
    results.write_whole(path, image.getvalue())
