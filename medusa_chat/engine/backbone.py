"""The backbone: a transformers decoder that reads a prompt, checks a tree in one pass and keeps one path of it."""

from __future__ import annotations

import copy
import ctypes
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from medusa_chat.engine.forward.base import Forward, chain
from medusa_chat.engine.forward.general import TransformersForward
from medusa_chat.engine.forward.native import NativeForward
from medusa_chat.engine.tree import CandidateTree

PREFILL_CHUNK = 256
FINGERPRINT_ROWS = 256


@dataclass(frozen=True, slots=True)
class Readout:
    """What one forward pass says about each node of a tree."""

    logits: Tensor
    """[n, vocab_size] in the model's dtype, on its device."""
    hidden: Tensor
    """[n, hidden_size], last normed hidden state (what the output layer reads)."""


class Backbone:
    """One sequence: the tokens committed so far (`ids`), one row each in the cache of its forward path."""

    def __init__(
        self,
        model: PreTrainedModel,
        forward: Forward | None = None,
        *,
        precision: str = "none",
        notes: Sequence[str] = (),
    ) -> None:
        """Takes over `model`: eval mode, no gradients.

        Args:
            forward: computes the rows; None for the general path, transformers' own forward.
            precision: what the weights are kept in, by the names of `--quantize`; "none" is their own type.
            notes: plain sentences a person should read, such as why another precision than asked for is used.

        Raises:
            MedusaError: on the general path, the model has layers that cannot check a tree, or takes no positions
                for its tokens.
        """
        config = model.config.get_text_config()
        self.forward: Forward = TransformersForward(model) if forward is None else forward
        self.model: PreTrainedModel = model.eval().requires_grad_(False)  # type: ignore[no-untyped-call]
        self.precision = precision
        self.notes = tuple(notes)
        self.context = int(config.max_position_embeddings)
        self.vocab_size = int(config.vocab_size)
        self.hidden_size = int(config.hidden_size)
        self.eos_ids = _eos_ids(model)
        self.ids: list[int] = []
        self.last_hidden: Tensor | None = None
        """[hidden_size] of the last committed row; None when there is none or it was rewound away."""
        self._trial: tuple[list[int], Tensor] | None = None

    @property
    def forward_name(self) -> str:
        """Which forward path computes the rows: "transformers", "lean" or "native"."""
        return self.forward.name

    @property
    def weight_type(self) -> str:
        """What the weights are kept in, for people: a name of `--quantize`, or the model's own type."""
        return str(self.dtype).removeprefix("torch.") if self.precision == "none" else self.precision

    @property
    def native_library(self) -> ctypes.CDLL | None:
        """The compiled code where the native path runs, for drafters that have a part in it."""
        return self.forward.library if isinstance(self.forward, NativeForward) else None

    @property
    def output_layer(self) -> nn.Module:
        """The layer from hidden states to logits; `.weight` is [vocab_size, hidden_size]."""
        layer: nn.Module = self.model.get_output_embeddings()  # type: ignore[no-untyped-call]
        return layer

    @property
    def embedding(self) -> Tensor:
        """[vocab_size, embedding_size], the input embedding, which no quantisation touches."""
        weight: Tensor = self.model.get_input_embeddings().weight  # type: ignore[assignment]
        return weight.detach()

    @property
    def device(self) -> torch.device:
        return self.output_layer.weight.device  # type: ignore[return-value]

    @property
    def dtype(self) -> torch.dtype:
        """Of hidden states and logits. Never asked of other weights: 4-bit ones call themselves uint8."""
        return self.output_layer.weight.dtype  # type: ignore[return-value]

    @property
    def length(self) -> int:
        """Rows in the cache."""
        return self.forward.length

    @property
    def room(self) -> int:
        """Rows that still fit into the context."""
        return self.context - self.length

    @torch.inference_mode()
    def prefill(self, ids: Sequence[int], on_progress: Callable[[int, int], None] | None = None) -> None:
        """Append rows for `ids` after the present ones, in chunks.

        `on_progress(done, total)` is called after each chunk; an exception it raises leaves whole chunks behind, so
        the cache stays consistent.
        """
        for start in range(0, len(ids), PREFILL_CHUNK):
            chunk = list(ids[start : start + PREFILL_CHUNK])
            _, hidden = self.forward.run(chain(chunk), last_only=True)
            self._keep(range(len(chunk)), chunk, hidden[-1])
            if on_progress is not None:
                on_progress(start + len(chunk), len(ids))

    @torch.inference_mode()
    def verify(self, tree: CandidateTree) -> Readout:
        """One forward pass over all nodes. Their rows stay on trial until `commit`; a new call replaces them."""
        logits, hidden = self.forward.run(tree, last_only=False)
        self._trial = (tree.tokens.tolist(), hidden)
        return Readout(logits, hidden)

    @torch.inference_mode()
    def commit(self, path: Sequence[int]) -> None:
        """Keep the rows of these nodes of the verified tree (rising, a path from the root).

        Raises:
            RuntimeError: no tree was verified since the last commit.
        """
        if self._trial is None:
            raise RuntimeError("commit needs a verified tree")
        tokens, hidden = self._trial
        self._keep(path, [tokens[node] for node in path], hidden[path[-1]])

    def rewind(self, length: int) -> None:
        """Forget all rows from `length` on (an edited message, a regenerated answer)."""
        if length != self.length:
            self.forward.rewind(length)
            del self.ids[length:]
            self.last_hidden = None
        self._trial = None

    @torch.inference_mode()
    def fork(self, length: int) -> Backbone:
        """Another sequence over the same weights, which begins with the first `length` rows of this one.

        This one stays as it is, except that a tree on trial is not the other's. What it costs: see `Forward.fork`.
        """
        other = copy.copy(self)
        other.forward = self.forward.fork(length)
        other.ids = self.ids[:length]
        other.last_hidden = self.last_hidden if length == self.length else None
        other._trial = None
        return other

    def fingerprint(self) -> str:
        """Names these weights, alike in every precision they are loaded in.

        SHA-256 over the shape of the model and the sign bits of rows spread over the output layer: rounding keeps
        signs, other weights (also fine-tuned ones) have others.
        """
        weight: Tensor = self.output_layer.weight  # type: ignore[assignment]
        rows = torch.linspace(0, weight.shape[0] - 1, min(FINGERPRINT_ROWS, weight.shape[0])).long()
        signs = torch.signbit(weight.detach()[rows.to(weight.device)].float()).cpu()
        config = self.model.config.get_text_config()
        shape = f"{config.model_type} {config.num_hidden_layers} {tuple(weight.shape)}"
        return hashlib.sha256(shape.encode() + signs.numpy().tobytes()).hexdigest()

    def _keep(self, path: Sequence[int], tokens: list[int], hidden: Tensor) -> None:
        self.forward.commit(path)
        self.ids.extend(tokens)
        self.last_hidden = hidden
        self._trial = None


def _eos_ids(model: PreTrainedModel) -> frozenset[int]:
    """All end tokens named by the generation config and the model config; there may be none, one or several."""
    found: set[int] = set()
    for source in (getattr(model, "generation_config", None), model.config.get_text_config()):
        ids = getattr(source, "eos_token_id", None)
        found.update([] if ids is None else [ids] if isinstance(ids, int) else ids)
    return frozenset(found)
