"""What heads hand to a tree shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Guesses:
    """The best tokens of each head, best first."""

    tokens: Tensor
    """[heads, k] int64 on the CPU; row k-1 belongs to head k and guesses the token k places after the root."""
    probabilities: Tensor
    """[heads, k] float32 on the CPU, the heads' own softmax over the whole (restricted) vocabulary, never rising along a row."""


class HeadModel(Protocol):
    """Medusa heads, as the drafter sees them (implemented by `heads.MedusaHeads`)."""

    @property
    def count(self) -> int: ...

    def guess(self, hidden: Tensor, root: int, heads: int, top_k: int) -> Guesses:
        """Guesses of the first `heads` heads from one hidden state [hidden_size] and the token chosen after it."""
        ...
