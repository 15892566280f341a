"""A lesson: heads in use learn further, and are measured before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from doubles.small_backbone import small_backbone

from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.training import medusa1
from medusa_chat.training.conversations import Conversation
from medusa_chat.training.lessons import learn
from medusa_chat.training.material import Split
from medusa_chat.training.recipe import Recipe

RECIPE = Recipe(heads=2, vocab=0, epochs=3, batch=16, learning_rate=2e-3, held_out=0.2)


def counting() -> Sequence[Conversation]:
    """Answers that count on round a ring of 20 tokens."""
    return [
        Conversation.single((start % 20 + 9, start % 20 + 10), tuple((start + n) % 20 + 10 for n in range(1, 12)))
        for start in range(40)
    ]


def test_what_is_learned_from_is_prepared_once_and_learned_from_as_in_any_training(tmp_path: Path) -> None:
    backbone = small_backbone(seed=2)
    split = Split.of(counting(), backbone, RECIPE.held_out)
    prepared: Counter[str] = Counter()

    def watch(stage: str, done: int, of: int, _note: str) -> None:
        prepared[stage] += stage != "training" and done == of

    def heads() -> MedusaHeads:
        return medusa1.fresh_heads(backbone, replace(RECIPE, dropout=0.2), None)

    torch.manual_seed(1)
    learned = learn(backbone, heads(), None, split, tmp_path / "lesson", RECIPE, 4, watch)
    assert prepared["targets"] == 2, "for the answers trained on, and for those held out"
    torch.manual_seed(1)
    trained = medusa1.train(backbone, split, tmp_path / "run", RECIPE, watch, None, heads())
    for one, other in zip(learned.heads.parameters(), trained.heads.parameters(), strict=True):
        assert torch.equal(one, other)
    assert (learned.answers, learned.held_out) == (len(split.train), len(split.test))
    assert learned.after > learned.before >= 1
