"""The seam between the backbone, which knows tokens, and a forward path, which computes rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from medusa_chat.engine.tree import CandidateTree


def chain(tokens: Sequence[int]) -> CandidateTree:
    """A prompt as a tree: its tokens one after the other, at least one."""
    return CandidateTree.build(tokens, range(-1, len(tokens) - 1), [1.0] * len(tokens))


class Forward(Protocol):
    """One sequence and its cache. Rows of a tree are written on trial; only `commit` makes them last.

    Several of them may read the same weights, each with its own sequence (`fork`).

    Called under `torch.inference_mode()`.
    """

    name: str
    """Short and plain, shown to people: "transformers", "lean", "native"."""

    @property
    def length(self) -> int:
        """Committed rows."""

    def run(self, tree: CandidateTree, *, last_only: bool) -> tuple[Tensor, Tensor]:
        """Append the rows of all nodes on trial, in place of rows still on trial.

        Args:
            last_only: results of the last node alone (a prompt needs no others).

        Returns:
            logits [n or 1, vocab_size] and hidden [n or 1, hidden_size], the last normed hidden states, in the
            model's dtype, on its device. Both stay valid after later calls.
        """

    def commit(self, path: Sequence[int]) -> None:
        """Of the rows on trial keep those of these nodes (rising), in that order; forget the others."""

    def rewind(self, length: int) -> None:
        """Forget all rows from `length` on, and those on trial.

        Raises:
            ValueError: `length` lies beyond what is committed.
        """

    def fork(self, length: int) -> Forward:
        """Another sequence over the same weights, which begins with copies of the first `length` committed rows.

        It costs its cache and nothing else: 2 * layers * kv_heads * head_dim numbers a row (46 kB for the default model
        in float32, 24 MB for the 512 rows that the native path takes at once).
        """
