"""Medusa-1 without keeping hidden states: each step runs the frozen backbone over the conversations it looks at.

Slower from the second epoch on, but the disk holds nothing: kept hidden states take two bytes times the hidden size for
every token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn
from transformers import PreTrainedModel

from medusa_chat.engine.backbone import Backbone
from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.training.accuracy import Accuracy
from medusa_chat.training.hidden import HiddenStates
from medusa_chat.training.loop import Loop, Parts, Report
from medusa_chat.training.material import Split
from medusa_chat.training.medusa1 import Trained, fresh_heads
from medusa_chat.training.passage_heads import PassageHeads, states_of
from medusa_chat.training.passages import Order, Passage, passages, positions
from medusa_chat.training.recipe import Recipe
from medusa_chat.training.targets import most_frequent


class FrozenLoss(nn.Module):
    """The heads' loss on a backbone that stays as it is."""

    def __init__(self, model: PreTrainedModel, heads: MedusaHeads, output: Tensor, recipe: Recipe) -> None:
        super().__init__()
        self.heads = PassageHeads(heads, output, recipe)
        # No part of the module: its weights are not trained, saved or shared between processes.
        self._base: Callable[..., Any] = lambda ids: model.base_model(input_ids=ids, use_cache=False)
        self._low = recipe.low_precision

    def forward(self, some: Sequence[Passage], of: int) -> Tensor:
        """Divided by `of`, the positions of the whole step."""
        trained = [one.sum() for one in self.parameters() if one.requires_grad]
        loss = torch.stack(trained).sum() * 0.0
        for passage in some:
            ids = passage.ids.to(self.heads.output.device)
            said = self.read(ids)
            loss = loss + self.heads(said, said, ids, passage.left.to(ids.device), of)
        return loss

    @torch.no_grad()
    def read(self, ids: Tensor) -> Tensor:
        """[conversations, longest, hidden_size] float32."""
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self._low):
            said: Tensor = self._base(ids).last_hidden_state.float()
        return said


def train(
    backbone: Backbone,
    split: Split,
    folder: Path,
    recipe: Recipe,
    report: Report,
    accelerator: Accelerator,
    begin_with: MedusaHeads | None = None,
) -> Trained:
    """As `medusa1.train`.

    Raises:
        MedusaError: the loss is no longer finite, or the heads cannot see this model's roots.
    """
    token_map = None
    if begin_with is None and 0 < recipe.vocab < backbone.vocab_size:
        said = torch.tensor(
            [token for one in split.train for start, end in one.answers for token in one.ids[start:end]]
        )
        token_map = most_frequent(said, recipe.vocab, backbone.eos_ids, backbone.vocab_size)
    heads = begin_with or fresh_heads(backbone, recipe, token_map)
    output: Tensor = backbone.output_layer.weight.detach().float()  # type: ignore[operator]
    module = FrozenLoss(backbone.model, heads, output, recipe)
    order = Order(split.train, recipe)

    def parts(step: int) -> Parts:
        return order.parts(step, accelerator.process_index, accelerator.num_processes)

    def measured() -> dict[str, Any]:
        accuracy = _accuracy(module, split, report)
        return {"top1": accuracy.tops(1), "top5": accuracy.tops(5)}

    group = ([one for one in heads.parameters() if one.requires_grad], recipe.learning_rate)
    Loop(folder, recipe, accelerator, module, [group], order.steps, recipe.batch, parts, measured, report).run()
    module.eval()
    accuracy = _accuracy(module, split, report)
    return Trained(heads, accuracy, order.steps, len(split.train), sum(map(positions, split.train)), split.passed_over)


def _accuracy(module: FrozenLoss, split: Split, report: Report) -> Accuracy:
    parts = []
    for done, passage in enumerate(some := passages(split.test), start=1):
        parts.append(states_of(module.read(passage.ids.to(module.heads.output.device)), passage))
        report("held-out answers", done, len(some), "")
    return module.heads.accuracy(HiddenStates.join(parts))
