# SPDX-License-Identifier: MIT
# The extension module: positional arguments, explained in python/core/core.h.
from typing import Any

class Context:
    def __init__(
        self, threads: int = 0, isa: str | None = None, device: str | None = None, fast: bool = False
    ) -> None: ...
    def set_stream(self, stream: int, /) -> None: ...
    def wait(self) -> None: ...
    @property
    def threads(self) -> int: ...
    @property
    def isa(self) -> str: ...

def forward(
    context: Context,
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    lse: Any,
    weights: Any,
    force: bool,
    layout: int,
    rule: Any,
    stats: Any,
    /,
) -> None: ...
def forward_many(context: Context, problems: tuple[tuple[Any, ...], ...], /) -> None: ...
def inspect(
    context: Context,
    q: Any,
    k: Any,
    lse: Any,
    layout: int,
    rule: Any,
    column_mass: Any,
    column_max: Any,
    column_last: Any,
    last: int,
    pooled: Any,
    block: int,
    zoom: Any,
    zoom_query: int,
    zoom_key: int,
    probes: Any,
    probe_weights: Any,
    /,
) -> None: ...
def merge(context: Context, parts: tuple[tuple[Any, Any], ...], out: Any, lse: Any, /) -> None: ...
def head(
    columns: tuple[int, ...], rows: Any, top_weights: Any, b: int, h: int, noise: float, /
) -> tuple[Any, ...]: ...
def isas() -> tuple[list[tuple[str, str, bool]], str, str]: ...
def names() -> tuple[str, ...]: ...
