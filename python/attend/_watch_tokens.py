# SPDX-License-Identifier: MIT
"""Tokens that a model reads while it is watched, and their repetitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch


@dataclass
class Tokens:
    """One sequence, (b, l); it grows as a model generates."""

    ids: np.ndarray
    #: Places of equal tokens, of the latest call: made on demand, layers share them.
    pairs: dict[tuple[int, int, bool], Any] = field(default_factory=dict)


@dataclass
class Stack:
    """A model, or a part of it, that takes tokens, with its current sequence."""

    name: str
    tokens: Tokens | None = None
    queries: int = 0
    real: np.ndarray | None = None  # (b, queries): False for padding
    embedded: bool = False  # its inputs are embeddings: tokens are those of the model around it

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Records the tokens and the padding of a call."""
        ids = kwargs.get("input_ids", kwargs.get("decoder_input_ids", args[0] if args else None))
        self.embedded = kwargs.get("inputs_embeds") is not None
        if not isinstance(ids, torch.Tensor) or ids.dim() != 2 or ids.is_floating_point():
            self.tokens, self.real, self.queries = None, _real(kwargs.get("attention_mask"), 0), 0
            return
        new = ids.detach().cpu().numpy()
        self.queries = new.shape[1]
        self.real = _real(kwargs.get("attention_mask"), self.queries)
        past = kwargs.get("past_key_values")
        before = int(past.get_seq_length()) if past is not None else 0
        if (
            before
            and self.tokens is not None
            and self.tokens.ids.shape[0] == new.shape[0]
            and self.tokens.ids.shape[1] >= before
        ):
            self.tokens.ids = np.concatenate((self.tokens.ids[:, :before], new), 1)
            self.tokens.pairs.clear()
        elif before:
            self.tokens = None  # the cache was filled before the watch began
        else:
            self.tokens = Tokens(new)
        if past is not None:
            self._follow(past)

    def _follow(self, past: Any) -> None:
        """Beam search moves rows of the cache: the tokens move with them."""
        followers = getattr(past, "_attend_followers", None)
        if followers is None:
            followers = past._attend_followers = []
            move = past.reorder_cache

            def reorder_cache(places: torch.Tensor) -> None:
                move(places)
                for stack in followers:
                    stack.move(places.cpu().numpy())

            past.reorder_cache = reorder_cache
        if not any(stack is self for stack in followers):
            followers.append(self)

    def move(self, places: np.ndarray) -> None:
        """Row x becomes the former row places[x]."""
        if self.tokens is not None:
            self.tokens.ids = self.tokens.ids[places]


def _real(mask: Any, queries: int) -> np.ndarray | None:
    """(b, queries) of a model's attention_mask, if that is one of padding."""
    if not isinstance(mask, torch.Tensor) or mask.dim() != 2:
        return None
    found: np.ndarray = mask[:, -queries:].bool().cpu().numpy()
    return found
