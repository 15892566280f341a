"""Does a model fit into this machine's memory?"""

from __future__ import annotations

from dataclasses import dataclass

import psutil

from medusa_chat.catalog.card import Card

_FLOAT32 = 4.0
_NF4 = 0.56
"""Bytes per parameter: 4 bits plus one scale in 64 values (QLoRA, section 3)."""


@dataclass(frozen=True, slots=True)
class Fit:
    needed: int | None
    """Bytes; None when the card does not say."""
    available: int
    """Bytes free for a new process: of the graphics card when one was named, else of the machine."""

    @property
    def fits(self) -> bool | None:
        return None if self.needed is None else self.needed <= self.available


def fit(card: Card, quantize: str = "none", cuda_free: int | None = None) -> Fit:
    """Compares the card's need with what is free.

    `cuda_free` are the free bytes of the graphics card the model shall run on, asked by a caller that has torch.
    """
    available = psutil.virtual_memory().available if cuda_free is None else cuda_free
    return Fit(_needed(card, quantize), available)


def _needed(card: Card, quantize: str) -> int | None:
    if card.memory is None or card.parameters is None or quantize != "nf4":
        return card.memory
    return card.memory - int(card.parameters * (_FLOAT32 - _NF4))
