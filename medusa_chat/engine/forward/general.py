"""The general path: transformers' own forward, unchanged, whatever the model."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from medusa_chat.engine import attention
from medusa_chat.engine.cache import TreeCache
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.masks import AttentionPlan
from medusa_chat.engine.tree import CandidateTree


class TransformersForward:
    """Works on any transformers causal decoder with full or sliding-window attention, unchanged: the tree travels as
    explicit positions and an explicit mask (recipe checked against transformers 5.24).
    """

    name = "transformers"

    def __init__(self, model: PreTrainedModel) -> None:
        """Switches the model to folded attention where it supports "sdpa".

        Raises:
            MedusaError: the model has layers that cannot check a tree, or takes no positions for its tokens.
        """
        config = model.config.get_text_config()
        self._plan = AttentionPlan.of(config)
        _require_positions(model, config)
        self._model = model
        self._cache = TreeCache(config.num_hidden_layers)
        self._mask_dtype = _use_folded_attention(model)
        self._output: nn.Module = model.get_output_embeddings()  # type: ignore[no-untyped-call]
        self._device: torch.device = self._output.weight.device

    @property
    def length(self) -> int:
        return self._cache.length

    def run(self, tree: CandidateTree, *, last_only: bool) -> tuple[Tensor, Tensor]:
        positions = (self.length + tree.depths()).to(self._device)
        visible = tree.ancestry().to(self._device)
        hidden: list[Tensor] = []
        # The output layer's input is the last normed hidden state in every decoder, whatever the model does with the
        # logits afterwards (soft caps, scales); asking for all hidden states would copy every layer's.
        with self._output.register_forward_pre_hook(lambda _layer, inputs: hidden.append(inputs[0])):
            output = self._model(
                input_ids=tree.tokens.to(self._device)[None],
                position_ids=positions[None],
                attention_mask=self._plan.masks(self.length, visible, positions, self._mask_dtype),
                cache=self._cache,
                use_cache=True,
                logits_to_keep=int(last_only),
            )
        return output.logits[0], hidden[0][0]

    def commit(self, path: Sequence[int]) -> None:
        self._cache.commit(path)

    def rewind(self, length: int) -> None:
        self._cache.rewind(length)

    def fork(self, length: int) -> TransformersForward:
        other = copy.copy(self)
        other._cache = self._cache.fork(length)
        return other


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
