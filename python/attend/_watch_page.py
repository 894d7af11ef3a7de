# SPDX-License-Identifier: MIT
"""The page of a watch: one file without references, small whatever the model's length."""

from __future__ import annotations

import base64
import html
import json
import math
import os
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from ._engine import version
from ._watch_measure import LAST, TOP, Record
from ._watch_plot import GRIDS, grid_values
from ._watch_tokens import Tokens

if TYPE_CHECKING:
    from ._watch import Layer, Watch

#: Bytes of all rows and of all maps that a page holds, at most.
ROW_BYTES = MAP_BYTES = 2 << 20
#: Where the law for random scores is drawn, in units of the freezing spread.
LAW = np.linspace(0, 2.5, 41)
NO_KEY = 0xFFFFFFFF


def _number(x: float) -> float | None:
    """Four digits, which the page does not exceed; None for NaN."""
    return float(f"{x:.4g}") if math.isfinite(x) else None


def _shares(x: np.ndarray) -> str:
    """Numbers in 0 .. 1 as bytes; 0 for NaN."""
    return _packed(np.rint(np.clip(np.nan_to_num(x), 0, 1) * 255).astype(np.uint8))


def _packed(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


# ---- tokens and rows --------------------------------------------------------------------


class Texts:
    """The sequences that rows and keys refer to, each once, as words of the first batch."""

    def __init__(self, tokenizer: Any) -> None:
        self.decode = getattr(tokenizer, "decode", None)
        self.words: list[list[str]] = []
        self._known: dict[int, int] = {}

    def index(self, tokens: Tokens | None) -> int:
        """The index of a sequence in `words`; -1 for none."""
        if tokens is None:
            return -1
        if id(tokens) not in self._known:
            self._known[id(tokens)] = len(self.words)
            self.words.append(self._words(tokens.ids[0].tolist()))
        return self._known[id(tokens)]

    def _words(self, ids: list[int]) -> list[str]:
        """Tokens as they follow each other in a text, with the spaces between them."""
        if self.decode is None:
            return [f"#{i} " for i in ids]
        words = [self.decode([i]) for i in ids]
        if any(word[:1].isspace() for word in words):
            return words
        return [word[2:] if word.startswith("##") else f" {word}" for word in words]  # word pieces


def _sequence(layer: Layer) -> list[Record]:
    """The calls of the longest sequence that a layer read: a prompt and the generated tokens."""
    longest = max(layer.calls, key=lambda record: record.queries)
    if longest.tokens is None:
        return [longest]
    return [record for record in layer.calls if record.tokens is longest.tokens]


def _rows(layer: Layer, texts: Texts, most: int) -> dict[str, Any]:
    """Top keys and weights of the last rows of a layer's first batch."""
    records = _sequence(layer)
    keys = [
        np.where(r.top_keys[0] >= 0, r.top_keys[0].astype(np.int64) + r.key_first, NO_KEY) for r in records
    ]
    key = np.concatenate(keys, 1)[:, -most:]  # (h, rows, TOP)
    weight = np.concatenate([r.top_weights[0] for r in records], 1)[:, -most:]
    last = records[-1].first + int(records[-1].places[-1])
    return {
        "text": texts.index(records[0].tokens),
        "keyText": texts.index(records[0].key_tokens),
        "first": last + 1 - key.shape[1],
        "rows": key.shape[1],
        "total": sum(r.queries for r in records),
        "keys": _packed(key.astype("<u4" if _wide(key) else "<u2")),
        "wide": _wide(key),
        "weights": _shares(weight),
    }


def _wide(keys: np.ndarray) -> bool:
    """Whether places of keys need four bytes."""
    return bool((keys[keys != NO_KEY] >= 0xFFFF).any())


def _map(layer: Layer, side: int) -> dict[str, Any] | None:
    """Roots of the pooled weights of each head as bytes, at most side by side of them."""
    record = max(layer.calls, key=lambda one: one.queries)
    if record.pooled is None:
        return None
    maps, block = record.pooled[0], record.block
    while max(maps.shape[1:]) > side:
        maps = np.pad(maps, [(0, 0)] + [(0, n % 2) for n in maps.shape[1:]])
        maps = (maps[:, ::2] + maps[:, 1::2]) / 2
        maps = maps[:, :, ::2] + maps[:, :, 1::2]
        block *= 2
    return {
        "rows": maps.shape[1],
        "columns": maps.shape[2],
        "block": block,
        "first": record.first,
        "keyFirst": record.key_first,
        "bytes": _shares(np.sqrt(np.maximum(maps, 0))),
    }


# ---- heads --------------------------------------------------------------------------------


def _scores(watch: Watch) -> dict[tuple[int, int], dict[str, Any]]:
    """Results of detect(), where tokens are known."""
    if watch.tokenizer is None or not any(
        r.detected is not None for layer in watch.layers for r in layer.calls
    ):
        return {}
    return {(line["layer"], line["head"]): line for line in watch.detect()}


def _noise(watch: Watch) -> dict[tuple[int, int], dict[str, Any]]:
    """Results of noise() for the layers whose tensors were kept."""
    kept = any(record.kept is not None for layer in watch.layers for record in layer.calls)
    return {(line["layer"], line["head"]): line for line in (watch.noise() if kept else ())}


def _heads(watch: Watch) -> list[dict[str, Any]]:
    scores, noise = _scores(watch), _noise(watch)
    phases = {(line["layer"], line["head"]): line for line in watch.phases()}
    grids = grid_values(watch)
    found = []
    for head in watch.heads():
        at = head["layer"], head["head"]
        values = {name: float(grid[at]) for name, grid in grids.items()}
        values["n_eff"], values["keys"] = head["n_eff"], head["keys"]
        for line, names in (
            (scores, ("duplicate_token", "induction")),
            (phases, ("S", "freezing", "entropy", "random_entropy")),
            (noise, ("predicted", "measured")),
        ):
            if at in line:
                values.update((name, line[at][name]) for name in names)
        found.append(
            {
                "layer": at[0],
                "head": at[1],
                "character": head["character"],
                "reason": head["reason"],
                "values": {name: _number(x) for name, x in values.items()},
            }
        )
    return found


def _law(watch: Watch, heads: list[dict[str, Any]]) -> dict[str, Any]:
    """The entropy of random scores over ln n, for the number of keys that is usual here."""
    from . import theory

    known = sorted(head["values"]["keys"] for head in heads if head["values"]["keys"] is not None)
    n = max(2, round(known[len(known) // 2])) if known else 2
    freezing = math.sqrt(2 * math.log(n))
    return {
        "keys": n,
        "points": [
            [_number(x), _number(theory.random_entropy(float(n), float(x) * freezing) / math.log(n))]
            for x in LAW
        ],
    }


def _grids(heads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The grids that are drawn: the six, and the detected patterns where they are known."""
    found = [{"name": name, "title": title, "top": top} for name, title, top in GRIDS]
    for name, title in (("induction", "induction"), ("duplicate_token", "earlier copies")):
        if any(name in head["values"] for head in heads):
            found.append({"name": name, "title": title, "top": None})
    return found


def data(watch: Watch) -> dict[str, Any]:
    """The data of the page."""
    heads = _heads(watch)
    texts = Texts(watch.tokenizer)
    rows = max(1, min(LAST, ROW_BYTES // (len(heads) * TOP * 3)))
    side = max(8, min(64, math.isqrt(MAP_BYTES // len(heads))))
    layers = [
        {
            "label": layer.label,
            "name": layer.name,
            "kind": layer.kind,
            "heads": layer.heads,
            "map": _map(layer, side),
            **_rows(layer, texts, rows),
        }
        for layer in watch.layers
    ]
    return {
        "model": type(watch.model).__name__,
        "version": version(),
        "top": TOP,
        "layers": layers,
        "heads": heads,
        "grids": _grids(heads),
        "law": _law(watch, heads),
        "texts": texts.words,
        "missed": watch.missed,
        "batches": watch.layers[0].calls[0].rows.shape[0],
    }


# ---- the file -------------------------------------------------------------------------------

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<div class="page">
<header>
<h1>{title}</h1>
<p id="about" class="soft"></p>
<noscript><p>This page needs JavaScript, which it carries itself.</p></noscript>
</header>
<main>
<section aria-labelledby="all-heads" class="all">
<h2 id="all-heads">All heads</h2>
<div id="characters" class="chips" role="group" aria-label="Show heads of one character"></div>
<p class="soft small">A row is a layer, a column a head. Choose a head with a click, or with the arrow keys.</p>
<div id="grids" class="grids"></div>
</section>
<section aria-labelledby="head-title" class="one">
<h2 id="head-title">Head</h2>
<p id="head-reason" aria-live="polite"></p>
<dl id="head-facts" class="facts"></dl>
<h3 id="map-title">Map</h3>
<canvas id="map" class="map" role="img" aria-labelledby="map-title"></canvas>
<p id="map-note" class="soft small"></p>
<h3 id="tokens-title">Where each token looks</h3>
<p id="tokens-note" class="soft small"></p>
<p id="token-says" class="says" aria-live="polite"></p>
<div id="tokens" class="tokens" tabindex="0" role="group" aria-labelledby="tokens-title"></div>
</section>
<section aria-labelledby="phases-title" class="phases">
<h2 id="phases-title">Phase diagram</h2>
<p class="soft small">Right of the line, scores are spread so far that of random ones a few would take all the weight.
The curve is the entropy of random scores; below it, a head is sharper than chance.</p>
<div id="phases"></div>
</section>
<section aria-labelledby="table-title" class="every">
<h2 id="table-title">Table</h2>
<div class="box"><table id="table"><thead></thead><tbody></tbody></table></div>
</section>
</main>
</div>
<script id="data" type="application/json">{data}</script>
<script>
{script}</script>
</body>
</html>
"""


def page(found: dict[str, Any], title: str) -> str:
    """The page for a result of data()."""
    here = resources.files(__package__)
    return PAGE.format(
        title=html.escape(title),
        style=here.joinpath("_watch_page.css").read_text("utf-8"),
        script=here.joinpath("_watch_page.js").read_text("utf-8"),
        data=json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace(
            "<", "\\u003c"
        ),
    )


def write(watch: Watch, path: str | os.PathLike[str], title: str | None = None) -> None:
    """Writes the page; the file appears whole or not at all."""
    if not watch.layers:
        raise ValueError("nothing was watched: there is no page to save")
    text = page(data(watch), title or f"What the heads of {type(watch.model).__name__} do")
    part = f"{os.fspath(path)}.part"
    try:
        with open(part, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
