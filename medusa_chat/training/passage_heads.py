"""The heads' loss over whole conversations, with hidden states made on the spot."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from medusa_chat.heads.medusa import MedusaHeads, restrict
from medusa_chat.training.accuracy import Accuracy, measure
from medusa_chat.training.hidden import HiddenStates
from medusa_chat.training.medusa1 import HeadsLoss
from medusa_chat.training.passages import Passage
from medusa_chat.training.recipe import Recipe
from medusa_chat.training.targets import build_targets, teach, wanted


class PassageHeads(nn.Module):
    """As `medusa1.HeadsLoss`, but fed with passages instead of chosen positions."""

    output: Tensor
    """[vocab_size, hidden_size], the backbone's output layer."""
    known: Tensor
    """Its rows that the heads know."""
    columns: Tensor
    """[vocab_size] int64: a token's row in `known`, or -1."""

    def __init__(self, heads: MedusaHeads, output: Tensor, recipe: Recipe) -> None:
        super().__init__()
        self.loss = HeadsLoss(heads, recipe.low_precision)
        self._recipe = recipe
        self.register_buffer("output", output, persistent=False)
        self.register_buffer("known", restrict(output, heads.token_map), persistent=False)
        columns = torch.full((len(output),), -1, dtype=torch.int64, device=output.device)
        known = torch.arange(len(output), device=output.device) if heads.token_map is None else heads.token_map
        columns[known] = torch.arange(len(known), device=output.device)
        self.register_buffer("columns", columns, persistent=False)

    @property
    def heads(self) -> MedusaHeads:
        return self.loss.heads

    def forward(self, said: Tensor, own: Tensor, ids: Tensor, left: Tensor, positions: int) -> Tensor:
        """Divided by `positions`, those of the whole step.

        Position t is that of a hidden state, t+1 that of the root, as in `targets.Targets`.

        Args:
            said: [conversations, longest, hidden_size] what the heads see; gradients go through it.
            own: of the same shape, what the frozen backbone sees: the teacher.
            ids, left: see `Passage`.
        """
        count = self.heads.count
        row, place = (left[:, 1:] > 0).nonzero(as_tuple=True)
        ahead = torch.arange(1, count + 1, device=ids.device)[:, None]
        exists = ahead <= left[row, place + 1]
        teacher = torch.where(exists, place + ahead, 0)
        came = self.columns[ids[row, torch.where(exists, place + ahead + 1, 0)]]
        odds, columns, which = self._teach(own, left)
        taught = which[row, teacher]
        columns = torch.cat([came.clamp(min=0)[..., None], columns[taught]], dim=-1)
        shares = (self._recipe.soft_share, self._recipe.acceptance_share)
        targets = wanted(columns, came >= 0, odds[taught] * exists[..., None], exists, *shares)
        loss: Tensor = self.loss(said[row, place], ids[row, place + 1], targets, positions)
        return loss

    def _teach(self, own: Tensor, left: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What the frozen backbone says after every root: odds and columns [roots, m], and each root's row in them."""
        roots = left > 0
        parts = [teach(rows, self.known) for rows in torch.split(own[roots], 512)]
        odds, columns = (torch.cat(part) for part in zip(*parts, strict=True))
        which = torch.zeros_like(left)
        which[roots] = torch.arange(len(odds), device=left.device)
        return odds, columns, which

    def accuracy(self, states: HiddenStates) -> Accuracy:
        targets = build_targets(states, self.known, self.heads.token_map, len(self.output))
        return measure(self.heads, states, targets)


def states_of(said: Tensor, passage: Passage) -> HiddenStates:
    """A passage's hidden states end to end, without pads."""
    there = passage.there
    return HiddenStates(said.cpu()[there].half(), passage.ids[there], there.sum(dim=1), passage.left[there])
