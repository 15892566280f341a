"""The backbone: a transformers decoder that reads a prompt, checks a tree in one pass and keeps one path of it."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from medusa_chat.engine import attention
from medusa_chat.engine.cache import TreeCache
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.masks import AttentionPlan
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
    """One sequence, one cache. Rows in the cache belong to `ids`, the tokens committed so far.

    Works on any transformers causal decoder with full or sliding-window attention, unchanged: the tree travels as
    explicit positions and an explicit mask (recipe checked against transformers 5.24).
    """

    def __init__(self, model: PreTrainedModel) -> None:
        """Takes over `model`: eval mode, no gradients, folded attention where the model supports "sdpa".

        Raises:
            MedusaError: the model has layers that cannot check a tree, or takes no positions for its tokens.
        """
        config = model.config.get_text_config()
        self._plan = AttentionPlan.of(config)
        _require_positions(model, config)
        self.model: PreTrainedModel = model.eval().requires_grad_(False)  # type: ignore[no-untyped-call]
        self.context = int(config.max_position_embeddings)
        self.vocab_size = int(config.vocab_size)
        self.hidden_size = int(config.hidden_size)
        self.eos_ids = _eos_ids(model)
        self.ids: list[int] = []
        self.last_hidden: Tensor | None = None
        """[hidden_size] of the last committed row; None when there is none or it was rewound away."""
        self._cache = TreeCache(config.num_hidden_layers)
        self._mask_dtype = _use_folded_attention(model)
        self._trial: tuple[list[int], Tensor] | None = None
        self._captured: Tensor | None = None
        self.output_layer.register_forward_pre_hook(self._capture)

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
        return self._cache.length

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
            causal = torch.ones(len(chunk), len(chunk), dtype=torch.bool, device=self.device).tril()
            depths = torch.arange(len(chunk), device=self.device)
            self._forward(torch.tensor(chunk, device=self.device), depths, causal, logits_to_keep=1)
            self._keep(range(len(chunk)), chunk, self._take_hidden()[-1])
            if on_progress is not None:
                on_progress(start + len(chunk), len(ids))

    @torch.inference_mode()
    def verify(self, tree: CandidateTree) -> Readout:
        """One forward pass over all nodes. Their rows stay on trial until `commit`; a new call replaces them."""
        device = self.device
        visible = tree.ancestry().to(device)
        logits = self._forward(tree.tokens.to(device), visible.sum(dim=1) - 1, visible, logits_to_keep=0)
        hidden = self._take_hidden()
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
            self._cache.rewind(length)
            del self.ids[length:]
            self.last_hidden = None
        self._trial = None

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

    def _forward(self, tokens: Tensor, depths: Tensor, visible: Tensor, logits_to_keep: int) -> Tensor:
        """[n] tokens at positions length + depths; returns logits [kept rows, vocab_size]."""
        positions = self.length + depths
        output = self.model(
            input_ids=tokens[None],
            position_ids=positions[None],
            attention_mask=self._plan.masks(self.length, visible, positions, self._mask_dtype),
            cache=self._cache,
            use_cache=True,
            logits_to_keep=logits_to_keep,
        )
        logits: Tensor = output.logits[0]
        return logits

    def _keep(self, path: Sequence[int], tokens: list[int], hidden: Tensor) -> None:
        self._cache.commit(path)
        self.ids.extend(tokens)
        self.last_hidden = hidden
        self._trial = None

    def _capture(self, _layer: nn.Module, inputs: tuple[Any, ...]) -> None:
        # The output layer's input is the last normed hidden state in every decoder, whatever the model does with
        # the logits afterwards (soft caps, scales); asking for all hidden states would copy every layer's.
        self._captured = inputs[0]

    def _take_hidden(self) -> Tensor:
        captured, self._captured = self._captured, None
        assert captured is not None
        return captured[0]


def _require_positions(model: PreTrainedModel, config: Any) -> None:
    """Siblings share a position, which models that count rows themselves (ALiBi, recurrence) cannot be told."""
    given = "position_ids" in inspect.signature(type(model).forward).parameters and not getattr(config, "alibi", False)
    if not given or not hasattr(config, "max_position_embeddings"):
        raise MedusaError(
            f"{config.model_type} counts the positions of its tokens itself, so it cannot check a candidate tree; "
            "choose a model with rotary or learned positions."
        )


def _use_folded_attention(model: PreTrainedModel) -> torch.dtype | None:
    """Switch the attention; returns the dtype its masks need (None: bool)."""
    if model._supports_sdpa:
        attention.register()
        model.set_attn_implementation(attention.NAME)
        return None
    model.set_attn_implementation("eager")
    dtype: torch.dtype = model.dtype
    return dtype


def _eos_ids(model: PreTrainedModel) -> frozenset[int]:
    """All end tokens named by the generation config and the model config; there may be none, one or several."""
    found: set[int] = set()
    for source in (getattr(model, "generation_config", None), model.config.get_text_config()):
        ids = getattr(source, "eos_token_id", None)
        found.update([] if ids is None else [ids] if isinstance(ids, int) else ids)
    return frozenset(found)
