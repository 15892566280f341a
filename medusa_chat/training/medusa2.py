"""Medusa-2 training (Medusa paper, section 2.2.2): heads and low-rank adapters on the backbone learn together.

The backbone is held to its own words: with self-made data its part of the loss is the KL divergence to the same model
with its adapters switched off, so no second copy is needed (paper, section 2.3.2). The heads come from Medusa-1, so the
backbone is not pulled about by heads that know nothing yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor, nn

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.training.accuracy import Accuracy
from medusa_chat.training.conversations import Conversation
from medusa_chat.training.drift import Drift, drift
from medusa_chat.training.hidden import HiddenStates, forward
from medusa_chat.training.loop import Loop, Parts, Report
from medusa_chat.training.loss import sparse_loss, teacher_loss
from medusa_chat.training.material import Material, Split
from medusa_chat.training.medusa1 import held_out_loss
from medusa_chat.training.passage_heads import PassageHeads, states_of
from medusa_chat.training.passages import Order, Passage, passages, positions
from medusa_chat.training.recipe import Recipe
from medusa_chat.training.targets import build_targets

SAME = 0.02
"""How far, relatively, the heads' loss at step 0 may lie from theirs on the frozen backbone."""


@dataclass(frozen=True, slots=True)
class Trained:
    model: PeftModel
    heads: MedusaHeads
    accuracy: Accuracy
    before: Accuracy
    """Of the heads they began as, on the frozen backbone."""
    start: tuple[float, float]
    """The heads' held-out loss before the first step, by Medusa-1's own reckoning and by this file's."""
    drift: Drift
    """Of the backbone's words, on held-out answers."""
    steps: int
    conversations: int


class JointLoss(nn.Module):
    """L_backbone + lambda0 * L_heads, each per answer token."""

    def __init__(self, model: PeftModel, heads: MedusaHeads, output: Tensor, recipe: Recipe) -> None:
        """
        Args:
            output: [vocab_size, hidden_size], the backbone's output layer, which stays as it is.
        """
        super().__init__()
        self.model = model
        self.heads = PassageHeads(heads, output, recipe)
        self._recipe = recipe

    def forward(self, passages: Sequence[Passage], positions: int) -> Tensor:
        """Of some conversations, divided by `positions`, the answer tokens of the whole step."""
        backbone, heads = self.losses(passages, positions)
        loss: Tensor = backbone + self._recipe.heads_weight * heads
        return loss

    def losses(self, passages: Sequence[Passage], positions: int) -> tuple[Tensor, Tensor]:
        """Both parts, not weighed."""
        device = self.heads.output.device
        # With nothing to read (a process without a share of this step) every parameter still gets a gradient.
        trained = [one.sum() for one in self.parameters() if one.requires_grad]
        backbone = heads = torch.stack(trained).sum() * 0.0 if not passages else torch.zeros((), device=device)
        for passage in passages:
            ids, left = passage.ids.to(device), passage.left.to(device)
            said, own = self.read(ids, self._recipe.low_precision)
            backbone = backbone + self._backbone(said, own, ids, left) / positions
            heads = heads + self.heads(said, own, ids, left, positions)
        return backbone, heads

    def read(self, ids: Tensor, low_precision: bool) -> tuple[Tensor, Tensor]:
        """Hidden states [conversations, longest, hidden_size] with adapters, and without."""
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=low_precision):
            base = self.model.get_base_model().base_model
            said = base(input_ids=ids, use_cache=False).last_hidden_state.float()
            with torch.no_grad(), self.model.disable_adapter():
                own = base(input_ids=ids, use_cache=False).last_hidden_state.float()
        return said, own

    def _backbone(self, said: Tensor, own: Tensor, ids: Tensor, left: Tensor) -> Tensor:
        rows = left > 0
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self._recipe.low_precision):
            if self._recipe.keep_words:
                return teacher_loss(said[rows], own[rows], self.heads.output)
            came = torch.roll(ids, -1, dims=1)[rows][:, None]
            return sparse_loss(said[rows], self.heads.output, came, torch.ones_like(came, dtype=torch.float32))


def train(
    backbone: Backbone,
    heads: MedusaHeads,
    split: Split,
    folder: Path,
    recipe: Recipe,
    report: Report,
    accelerator: Accelerator | None = None,
) -> Trained:
    """Train adapters and heads in a run folder; goes on from its checkpoint when there is one.

    Args:
        heads: from Medusa-1, on this backbone.

    Raises:
        MedusaError: joint training would not begin where the heads' own ended, or the loss is no longer finite.
    """
    accelerator = accelerator or Accelerator(cpu=backbone.device.type == "cpu")
    model = adapted(backbone, recipe)
    heads.requires_grad_(True)
    heads.dropout = recipe.dropout
    output: Tensor = backbone.output_layer.weight.detach().float()  # type: ignore[operator]
    module = JointLoss(model, heads, output, recipe)
    order = Order(split.train, recipe)

    def parts(step: int) -> Parts:
        return order.parts(step, accelerator.process_index, accelerator.num_processes)

    def measured() -> dict[str, Any]:
        accuracy, moved = _measure(module, split.test, recipe.low_precision, report)
        return {"top1": accuracy.tops(1), "top5": accuracy.tops(5), "kl": round(moved.kl, 5)}

    start = _check_start(module, backbone, split, recipe)
    before, _ = _measure(module, split.test, recipe.low_precision, report)
    lora = [one for one in model.parameters() if one.requires_grad]
    own = [one for one in heads.parameters() if one.requires_grad]
    groups = [(lora, recipe.backbone_rate), (own, 4 * recipe.backbone_rate)]
    Loop(folder, recipe, accelerator, module, groups, order.steps, recipe.batch, parts, measured, report).run()
    module.eval()
    # Rounded to bfloat16 even a model that has not moved would seem to have.
    accuracy, moved = _measure(module, split.test, False, report)
    return Trained(model, heads.eval(), accuracy, before, start, moved, order.steps, len(split.train))


def adapted(backbone: Backbone, recipe: Recipe) -> PeftModel:
    """The backbone's model with adapters that change nothing yet, on all linear layers but the output layer."""
    config = LoraConfig(
        r=recipe.lora_rank,
        lora_alpha=recipe.lora_alpha,
        lora_dropout=0.0,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    # The adapters' first weights are drawn: a run begun anew begins alike.
    torch.manual_seed(recipe.seed)
    return get_peft_model(backbone.model, config)


def _check_start(module: JointLoss, backbone: Backbone, split: Split, recipe: Recipe) -> tuple[float, float]:
    """Step 0 must start at Medusa-1's loss: new adapters change nothing, and the heads are those that were trained.

    Each loss goes its own way: Medusa-1's over kept hidden states, this file's over passages.

    Raises:
        MedusaError: the two differ.
    """
    module.eval()
    some = split.test[:48]
    with torch.no_grad():
        joint = _heads_loss(module, some)
        with module.model.disable_adapter():
            states = forward(backbone.model, some, recipe.low_precision)
    targets = build_targets(states, module.heads.known, module.heads.heads.token_map, backbone.vocab_size)
    material = Material(states, targets, states, targets, module.heads.heads.token_map)
    alone = held_out_loss(module.heads.loss, material, recipe)
    if abs(joint - alone) > SAME * alone:
        raise MedusaError(
            f"Joint training does not begin where the heads' own training ended: their loss is {alone:.3f} on the frozen "
            f"model but {joint:.3f} in step 0; begin anew from their folder."
        )
    return alone, joint


def _heads_loss(module: JointLoss, conversations: Sequence[Conversation]) -> float:
    total = sum(map(positions, conversations))
    return math.fsum(float(module.losses([passage], total)[1]) for passage in passages(conversations))


@torch.no_grad()
def _measure(
    module: JointLoss, conversations: Sequence[Conversation], low_precision: bool, report: Report
) -> tuple[Accuracy, Drift]:
    """How good the heads are on the adapted backbone, and how far its words have moved."""
    states = []

    def answers() -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        for done, passage in enumerate(some := passages(conversations), start=1):
            ids, rows = passage.ids.to(module.heads.output.device), passage.left > 0
            said, own = module.read(ids, low_precision)
            states.append(states_of(said, passage))
            report("held-out answers", done, len(some), "")
            yield said[rows], own[rows], torch.roll(ids, -1, dims=1)[rows]

    moved = drift(answers(), module.heads.output)
    return module.heads.accuracy(HiddenStates.join(states)), moved
