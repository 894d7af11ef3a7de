# SPDX-License-Identifier: MIT
"""Grids of layers by heads, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._watch import Watch

#: Contents of the grids: a column of the heads' table, its title, and the top of its scale.
GRIDS: tuple[tuple[str, str, float | None], ...] = (
    ("entropy_share", "entropy / ln keys", 1.0),
    ("keys_share", "effective keys / keys", None),
    ("sink1", "weight of first key", 1.0),
    ("previous", "weight of previous token", 1.0),
    ("top_weight", "largest weight", 1.0),
    ("distance", "mean distance (tokens)", None),
)


def grid_values(watch: Watch) -> dict[str, np.ndarray]:
    """(layers, heads) for each of GRIDS; NaN where a layer has fewer heads."""
    heads = {(line["layer"], line["head"]): line for line in watch.heads()}
    table = {(line["layer"], line["head"]): line for line in watch.lines()}
    most = max(layer.heads for layer in watch.layers)
    found = {name: np.full((len(watch.layers), most), np.nan) for name, _, _ in GRIDS}
    for at, line in table.items():
        head = heads[at]
        found["entropy_share"][at] = head["entropy_share"]
        found["keys_share"][at] = line["n_eff"] / line["keys"] if line["keys"] else np.nan
        for name in ("sink1", "previous", "top_weight", "distance"):
            found[name][at] = line[name]
    return found


def plot(watch: Watch, path: str | None = None) -> Any:
    """A figure of six grids; written to `path` if that is given."""
    import matplotlib

    if path is not None:
        matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    values = grid_values(watch)
    layers, heads = values["sink1"].shape
    figure, axes = plt.subplots(
        2, 3, figsize=(max(9, 1.2 + 0.75 * heads), max(5, 2 + 0.36 * layers)), layout="constrained"
    )
    for axis, (name, title, top) in zip(axes.flat, GRIDS):
        image = axis.imshow(
            values[name], aspect="auto", cmap="viridis", vmin=0, vmax=top, interpolation="nearest"
        )
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("head")
        axis.set_ylabel("layer")
        axis.set_xticks(range(0, heads, max(1, heads // 8)))
        axis.set_yticks(range(0, layers, max(1, layers // 10)))
        figure.colorbar(image, ax=axis, fraction=0.05)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure
