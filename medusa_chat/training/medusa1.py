"""Medusa-1 training (Medusa paper, section 2.2.1): heads learn from the hidden states of a frozen backbone."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.heads.medusa import MedusaHeads, restrict
from medusa_chat.training import hidden
from medusa_chat.training.accuracy import Accuracy, measure
from medusa_chat.training.conversations import Conversation, check_ids, held_out
from medusa_chat.training.hidden import HiddenStates
from medusa_chat.training.loss import sparse_cross_entropy
from medusa_chat.training.recipe import LOSS_DECAY, Recipe
from medusa_chat.training.targets import Targets, build_targets, frequent_tokens

CHECKPOINT = "checkpoint.pt"
LOG = "log.jsonl"
CHECKPOINT_EVERY = 200
"""Steps between two checkpoints."""
_SMOOTHING = 0.98

Report = Callable[[str, int, int, str], None]
"""(stage, done, of, note): told after every batch of every stage."""


@dataclass(frozen=True, slots=True)
class Material:
    """Everything the heads are trained and measured on."""

    train: HiddenStates
    train_targets: Targets
    test: HiddenStates
    test_targets: Targets
    token_map: Tensor | None


@dataclass(frozen=True, slots=True)
class Trained:
    heads: MedusaHeads
    accuracy: Accuracy
    """On the held-out conversations."""
    steps: int
    train_answers: int
    train_positions: int


def prepare(
    backbone: Backbone, conversations: Sequence[Conversation], folder: Path, recipe: Recipe, report: Report
) -> tuple[Material, int]:
    """Hidden states (computed where they are missing), held-out split, vocabulary and targets.

    Returns:
        The material and the number of answers in its training part.

    Raises:
        MedusaError: the answers belong to another model, or too few are left for one of the two parts.
    """
    check_ids(conversations, backbone.vocab_size)
    hidden.compute(
        backbone.model,
        conversations,
        folder,
        low_precision=recipe.low_precision,
        on_progress=lambda done, of: report("hidden states", done, of, ""),
    )
    test = [one for one in conversations if held_out(one, recipe.held_out)]
    train = [one for one in conversations if not held_out(one, recipe.held_out)]
    if not test or not train:
        raise MedusaError(
            f"{len(conversations)} conversations leave {len(train)} to train on and {len(test)} to measure with; give more data."
        )
    parts = [hidden.load(folder, part) for part in (train, test)]
    vocab_size = backbone.vocab_size
    token_map = None
    if 0 < recipe.vocab < vocab_size:
        token_map = frequent_tokens(parts[0], recipe.vocab, backbone.eos_ids, vocab_size)
    output = restrict(backbone.output_layer.weight, token_map)  # type: ignore[arg-type]
    if recipe.low_precision:
        output = output.bfloat16()
    targets = [
        build_targets(part, output, token_map, vocab_size, lambda done, of: report("soft targets", done, of, ""))
        for part in parts
    ]
    return Material(parts[0], targets[0], parts[1], targets[1], token_map), len(train)


def train(
    backbone: Backbone, conversations: Sequence[Conversation], folder: Path, recipe: Recipe, report: Report
) -> Trained:
    """Train heads in a run folder; goes on from its checkpoint when there is one.

    The folder holds hidden states, a checkpoint and log.jsonl. An interrupted run that goes on gives the same heads
    as one that was never interrupted.

    Raises:
        MedusaError: the data does not fit (see `prepare`) or the loss is no longer finite.
    """
    if recipe.see_root and backbone.embedding.shape[1] != backbone.hidden_size:
        raise MedusaError(
            f"This model's embedding is {backbone.embedding.shape[1]} wide, its hidden state {backbone.hidden_size}; "
            "train with --no-see-root."
        )
    material, train_answers = prepare(backbone, conversations, folder / "hidden", recipe, report)
    weight: Tensor = backbone.output_layer.weight  # type: ignore[assignment]
    heads = MedusaHeads.fresh(
        weight.float(),
        recipe.heads,
        recipe.layers,
        own_output=recipe.own_output,
        token_map=material.token_map,
        embedding=backbone.embedding.float() if recipe.see_root else None,
    )
    heads.dropout = recipe.dropout
    optimiser = torch.optim.AdamW(heads.parameters(), lr=recipe.learning_rate, betas=(0.9, 0.95), weight_decay=0.0)
    positions = material.train_targets.positions()
    steps = max(1, round(recipe.epochs * len(positions) / recipe.batch))
    start, smooth = _restore(folder / CHECKPOINT, heads, optimiser)
    with (folder / LOG).open("a", encoding="utf-8") as log:
        for step, batch in _batches(positions, recipe, start, steps):
            # Dropout depends on seed and step alone, as the batches do.
            torch.manual_seed(recipe.seed * 1_000_003 + step)
            rate = learning_rate(step, steps, recipe)
            loss = _step(heads, optimiser, material, batch, recipe, rate)
            smooth = loss if step == 0 else _SMOOTHING * smooth + (1 - _SMOOTHING) * loss
            report("training", step + 1, steps, f"loss {smooth:.3f}")
            log.write(json.dumps({"step": step + 1, "loss": round(loss, 4), "rate": rate}) + "\n")
            if (step + 1) % CHECKPOINT_EVERY == 0 or step + 1 == steps:
                log.flush()
                _save(folder / CHECKPOINT, heads, optimiser, step + 1, smooth)
        heads.eval()
        accuracy = measure(heads, material.test, material.test_targets)
        log.write(json.dumps({"step": steps, "top1": accuracy.describe(1), "top5": accuracy.describe(5)}) + "\n")
    return Trained(heads, accuracy, steps, train_answers, len(positions))


def learning_rate(step: int, steps: int, recipe: Recipe) -> float:
    """Rises over the warm-up, then falls along half a cosine to nothing; `step` counts from 0."""
    warm = max(1, round(recipe.warmup * steps))
    if step < warm:
        return recipe.learning_rate * (step + 1) / warm
    return recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def _step(
    heads: MedusaHeads,
    optimiser: torch.optim.Optimizer,
    material: Material,
    batch: Tensor,
    recipe: Recipe,
    rate: float,
) -> float:
    device = heads.weights.device
    columns, mass = material.train_targets.batch(batch, recipe.heads, recipe.soft_share)
    weights = LOSS_DECAY ** torch.arange(recipe.heads)[:, None, None] / len(batch)
    columns, mass = columns.to(device), (mass * weights).to(device)
    states_in = material.train.hidden[batch].to(device, torch.float32)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.zero_grad()
    with torch.autocast(device.type, torch.bfloat16, enabled=recipe.low_precision):
        states = heads(states_in, material.train.tokens[batch + 1].to(device))
        if recipe.own_output:
            loss = torch.stack(
                [sparse_cross_entropy(*one) for one in zip(states, heads.output, columns, mass, strict=True)]
            ).sum()
        else:
            loss = sparse_cross_entropy(states.flatten(0, 1), heads.output, columns.flatten(0, 1), mass.flatten(0, 1))
    if not math.isfinite(loss.item()):
        raise MedusaError(
            f"The loss became {loss.item()}; train again with a smaller --learning-rate (it was {recipe.learning_rate:g})."
        )
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(heads.parameters(), 1.0)
    optimiser.step()
    return loss.item()


def _batches(positions: Tensor, recipe: Recipe, start: int, steps: int) -> Iterator[tuple[int, Tensor]]:
    """(step, positions), in an order that depends on seed and step alone, so that a resumed run sees the same."""
    per_epoch = max(1, len(positions) // recipe.batch)
    epoch, order = -1, positions
    for step in range(start, steps):
        if step // per_epoch != epoch:
            epoch = step // per_epoch
            generator = torch.Generator().manual_seed(recipe.seed * 1_000_003 + epoch)
            order = positions[torch.randperm(len(positions), generator=generator)]
        place = step % per_epoch * recipe.batch
        yield step, order[place : place + recipe.batch]


def _save(path: Path, heads: MedusaHeads, optimiser: torch.optim.Optimizer, step: int, smooth: float) -> None:
    """In one move, so that a killed run keeps its last whole checkpoint."""
    temporary = path.with_suffix(".tmp")
    state = {"heads": heads.state_dict(), "optimiser": optimiser.state_dict(), "step": step, "loss": smooth}
    torch.save(state, temporary)
    os.replace(temporary, path)


def _restore(path: Path, heads: MedusaHeads, optimiser: torch.optim.Optimizer) -> tuple[int, float]:
    """Steps done and smoothed loss; (0, 0) without a checkpoint."""
    if not path.exists():
        return 0, 0.0
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        heads.load_state_dict(state["heads"])
        optimiser.load_state_dict(state["optimiser"])
        return int(state["step"]), float(state["loss"])
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise MedusaError(
            f"{path} does not fit this run (other answers or another recipe?); train into a new folder."
        ) from error
