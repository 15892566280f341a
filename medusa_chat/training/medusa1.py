"""Medusa-1 training (Medusa paper, section 2.2.1): heads learn from the hidden states of a frozen backbone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.training.accuracy import Accuracy, evenly, measure
from medusa_chat.training.loop import Loop, Parts, Report, share
from medusa_chat.training.loss import sparse_loss
from medusa_chat.training.material import Material, Split, prepare
from medusa_chat.training.recipe import LOSS_DECAY, Recipe
from medusa_chat.training.targets import Wanted

GLANCE = 8_192
"""Held-out positions looked at while a run is under way; at its end all are."""


@dataclass(frozen=True, slots=True)
class Trained:
    heads: MedusaHeads
    accuracy: Accuracy
    """On the held-out conversations."""
    steps: int
    conversations: int
    positions: int
    passed_over: int


def fresh_heads(backbone: Backbone, recipe: Recipe, token_map: Tensor | None) -> MedusaHeads:
    """
    Raises:
        MedusaError: the model's embedding has another width than its hidden state, and heads are to see the root.
    """
    if recipe.see_root and backbone.embedding.shape[1] != backbone.hidden_size:
        raise MedusaError(
            f"This model's embedding is {backbone.embedding.shape[1]} wide, its hidden state {backbone.hidden_size}; "
            "train with --no-see-root."
        )
    weight: Tensor = backbone.output_layer.weight  # type: ignore[assignment]
    heads = MedusaHeads.fresh(
        weight.float(),
        recipe.heads,
        recipe.layers,
        own_output=recipe.own_output,
        token_map=token_map,
        embedding=backbone.embedding.float() if recipe.see_root else None,
    )
    heads.dropout = recipe.dropout
    return heads


class HeadsLoss(nn.Module):
    """The heads' share of a loss, as something several processes can train together."""

    def __init__(self, heads: MedusaHeads, low_precision: bool) -> None:
        super().__init__()
        self.heads = heads
        self._low = low_precision

    def forward(self, states: Tensor, roots: Tensor, wanted: Wanted, positions: int) -> Tensor:
        """The sum over these positions, divided by `positions`, those of the whole step.

        Args:
            states: [n, hidden_size] hidden states, roots: [n] the tokens after them.
        """
        device, heads = self.heads.weights.device, self.heads
        weights = (LOSS_DECAY ** torch.arange(heads.count) / positions).to(wanted.mass.device)
        columns, odds = wanted.columns.to(device), wanted.odds.to(device)
        mass = (wanted.mass * weights[:, None, None]).to(device)
        overlap = (wanted.overlap * weights[:, None]).to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=self._low):
            guesses = heads(states.to(device, torch.float32), roots.to(device))
            if heads.own_output:
                rows = zip(guesses, heads.output, columns, mass, odds, overlap, strict=True)
                return torch.stack([sparse_loss(*row) for row in rows]).sum()
            flat = (part.flatten(0, 1) for part in (columns, mass, odds, overlap))
            return sparse_loss(guesses.flatten(0, 1), heads.output, *flat)


def train(
    backbone: Backbone,
    split: Split,
    folder: Path,
    recipe: Recipe,
    report: Report,
    accelerator: Accelerator | None = None,
    begin_with: MedusaHeads | None = None,
) -> Trained:
    """Train heads in a run folder; goes on from its checkpoint when there is one.

    An interrupted run that goes on gives the same heads as one that was never interrupted.

    Args:
        begin_with: heads to train further; their sizes and vocabulary take the recipe's place.

    Raises:
        MedusaError: the loss is no longer finite, or the heads cannot see this model's roots.
    """
    accelerator = accelerator or Accelerator(cpu=backbone.device.type == "cpu")
    with accelerator.main_process_first():
        material = prepare(backbone, split, folder / "hidden", recipe, report, begin_with)
    heads = begin_with or fresh_heads(backbone, recipe, material.token_map)
    return train_on(material, split, heads, folder, recipe, report, accelerator)


def train_on(
    material: Material,
    split: Split,
    heads: MedusaHeads,
    folder: Path,
    recipe: Recipe,
    report: Report,
    accelerator: Accelerator,
) -> Trained:
    """As `train`, on what `prepare` made of this split for these heads."""
    positions = material.train_targets.positions()
    steps = max(1, round(recipe.epochs * len(positions) / recipe.batch))
    module = HeadsLoss(heads, recipe.low_precision)

    def parts(step: int) -> Parts:
        batch = chosen(positions, recipe, step)
        return [
            _part(material, here, heads.count, recipe, len(batch))
            for here in share(batch, accelerator, recipe.accumulate)
        ]

    def measured() -> dict[str, Any]:
        accuracy = measure(heads, material.test, material.test_targets, limit=GLANCE)
        loss = held_out_loss(module, material, recipe, limit=GLANCE)
        return {"top1": accuracy.tops(1), "top5": accuracy.tops(5), "held_out_loss": round(loss, 4)}

    group = ([parameter for parameter in heads.parameters() if parameter.requires_grad], recipe.learning_rate)
    Loop(
        folder, recipe, accelerator, module, [group], steps, min(recipe.batch, len(positions)), parts, measured, report
    ).run()
    heads.eval()
    accuracy = measure(heads, material.test, material.test_targets)
    return Trained(heads, accuracy, steps, len(split.train), len(positions), split.passed_over)


@torch.no_grad()
def held_out_loss(module: HeadsLoss, material: Material, recipe: Recipe, limit: int | None = None) -> float:
    """Per held-out position; of `limit` of them, spread evenly, where that is given."""
    positions = evenly(material.test_targets.positions(), limit)
    losses = [
        float(module(*_part(material, some, module.heads.count, recipe, len(positions), test=True)))
        for some in torch.split(positions, 1_024)
    ]
    return math.fsum(losses)


def chosen(positions: Tensor, recipe: Recipe, step: int) -> Tensor:
    """A step's positions, in an order that depends on seed and step alone, so that a resumed run sees the same."""
    per_epoch = max(1, len(positions) // recipe.batch)
    order = _order(len(positions), recipe.seed * 1_000_003 + step // per_epoch)
    place = step % per_epoch * recipe.batch
    return positions[order[place : place + recipe.batch]]


@lru_cache(maxsize=1)
def _order(count: int, seed: int) -> Tensor:
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed))


def _part(
    material: Material, positions: Tensor, heads: int, recipe: Recipe, of: int, *, test: bool = False
) -> tuple[Tensor, Tensor, Wanted, int]:
    states, targets = (material.test, material.test_targets) if test else (material.train, material.train_targets)
    wanted = targets.batch(positions, heads, recipe.soft_share, recipe.acceptance_share)
    return states.hidden[positions], states.tokens[positions + 1], wanted, of
