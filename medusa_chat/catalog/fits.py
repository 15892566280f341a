"""Does a model fit into this machine's memory?"""

from __future__ import annotations

from dataclasses import dataclass

import psutil

from medusa_chat.catalog.card import Card

PRECISIONS = ("auto", "none", "fp16", "int8", "int4", "nf4")
"""What a model can be loaded with; "auto" keeps weights as they are."""

_UNCHANGED = ("auto", "none")
_FLOAT32 = 4.0
_ON_GRAPHICS = 2.0
"""Bytes of an unchanged weight there."""
_BYTES = {"fp16": 2.0, "int8": 1.0625, "int4": 0.625, "nf4": 0.56}
"""Per parameter: the bits plus the factors of each block of 32 or 64 values (nf4: QLoRA, section 3)."""


@dataclass(frozen=True, slots=True)
class Fit:
    needed: int | None
    """Bytes at the most, which is while it is loaded; None when the card does not say."""
    running: int | None
    """Bytes afterwards."""
    available: int
    """Bytes free for a new process: of the graphics card when one was named, else of the machine."""

    @property
    def fits(self) -> bool | None:
        return None if self.needed is None else self.needed <= self.available


def fit(card: Card, quantize: str = "none", cuda_free: int | None = None) -> Fit:
    """Compares the card's need with what is free.

    `cuda_free` are the free bytes of the graphics card the model shall run on, as far as the caller knows of one.
    """
    available = psutil.virtual_memory().available if cuda_free is None else cuda_free
    plain = _ON_GRAPHICS if cuda_free is not None else _FLOAT32
    running = _with(card, plain if quantize in _UNCHANGED else _BYTES[quantize])
    # On a processor weights are read whole before they are packed; nf4 packs one after the other.
    packed_later = cuda_free is None and quantize != "nf4"
    return Fit(card.memory if packed_later else running, running, available)


def _with(card: Card, bytes_each: float) -> int | None:
    """The card's need with weights of another size than float32."""
    if card.memory is None or card.parameters is None:
        return card.memory
    return card.memory - int(card.parameters * (_FLOAT32 - bytes_each))
