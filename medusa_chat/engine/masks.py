"""Who sees whom: windows of layers, and the 4-D mask that carries a tree through an unchanged transformers decoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from medusa_chat.engine.errors import MedusaError

LayerType = Literal["full_attention", "sliding_attention"]


def layer_windows(config: Any) -> list[int | None]:
    """For each layer of a transformers text config how far it sees; None: everything.

    Raises:
        MedusaError: as `AttentionPlan.of`.
    """
    window = getattr(config, "sliding_window", None)
    return [window if kind == "sliding_attention" else None for kind in _layer_types(config)]


def _layer_types(config: Any) -> list[str]:
    """One per layer, "full_attention" or "sliding_attention"."""
    types = getattr(config, "layer_types", None)
    if types is None:
        kind = "sliding_attention" if getattr(config, "sliding_window", None) else "full_attention"
        types = [kind] * config.num_hidden_layers
    strange = sorted(set(types) - {"full_attention", "sliding_attention"})
    if strange:
        raise MedusaError(
            f"{config.model_type} has layers of type {', '.join(strange)}, which cannot check a candidate tree; "
            "choose a model with full or sliding-window attention only."
        )
    return list(types)


@dataclass(frozen=True, slots=True)
class AttentionPlan:
    """Which masks a model wants, read from its config."""

    layer_types: frozenset[str]
    window: int | None

    @classmethod
    def of(cls, config: Any) -> AttentionPlan:
        """From a transformers text config.

        Raises:
            MedusaError: layers that are neither full nor sliding attention (state space, chunked): their cache
                cannot hold a tree or be rewound.
        """
        return cls(frozenset(_layer_types(config)), getattr(config, "sliding_window", None))

    def masks(self, prefix: int, visible: Tensor, positions: Tensor, dtype: torch.dtype | None) -> Any:
        """The `attention_mask` argument of a forward pass over n rows that follow `prefix` cached rows.

        Args:
            visible: [n, n] bool, which of the new rows each new row sees (itself included).
            positions: [n] int64, absolute positions of the new rows; cached row r has position r.
            dtype: None for a bool mask; a float dtype for an additive one (eager attention).

        Returns:
            [1, 1, n, prefix + n], or a dict by layer type when the model mixes full and sliding layers.
        """
        n = visible.shape[0]
        full = torch.cat([visible.new_ones(n, prefix), visible], dim=1)
        by_type = {kind: self._of_type(kind, full, positions, prefix, dtype) for kind in sorted(self.layer_types)}
        return by_type if len(by_type) > 1 else next(iter(by_type.values()))

    def _of_type(self, kind: str, full: Tensor, positions: Tensor, prefix: int, dtype: torch.dtype | None) -> Tensor:
        mask = full
        if kind == "sliding_attention" and self.window is not None:
            columns = torch.cat([torch.arange(prefix, device=positions.device), positions])
            mask = full & (positions[:, None] - columns[None, :] < self.window)
        mask = mask[None, None]
        if dtype is None:
            return mask
        return torch.zeros_like(mask, dtype=dtype).masked_fill_(~mask, torch.finfo(dtype).min)
