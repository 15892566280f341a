"""Heads and backbone learning together."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from doubles.small_backbone import small_backbone

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.training import loop, medusa1, medusa2
from medusa_chat.training.conversations import Conversation
from medusa_chat.training.drift import drift
from medusa_chat.training.material import Split, prepare
from medusa_chat.training.passages import ROOM, passages
from medusa_chat.training.recipe import Recipe

RECIPE = Recipe(
    heads=2, vocab=60, epochs=3, batch=32, held_out=0.2, dropout=0.0, lora_rank=4, backbone_rate=2e-3, heads_weight=1.0
)


def silent(_stage: str, _done: int, _of: int, _note: str) -> None:
    """Progress nobody looks at."""


@pytest.fixture
def multi_turn() -> list[Conversation]:
    """Two answers each."""
    dice = torch.Generator().manual_seed(4)
    made = []
    for _ in range(40):
        ids = torch.randint(2, 120, (20,), generator=dice).tolist()
        made.append(Conversation(tuple(ids), ((4, 10), (14, 20))))
    return made


@pytest.fixture
def heads(backbone: Backbone, conversations: Sequence[Conversation], tmp_path: Path) -> MedusaHeads:
    recipe = replace(RECIPE, epochs=4, learning_rate=2e-3)
    return medusa1.train(
        backbone, Split.of(conversations, backbone, recipe.held_out), tmp_path / "first", recipe, silent
    ).heads


def run(
    backbone: Backbone, heads: MedusaHeads, data: Sequence[Conversation], folder: Path, recipe: Recipe = RECIPE
) -> medusa2.Trained:
    folder.mkdir(exist_ok=True)
    split = Split.of(data, backbone, recipe.held_out)
    return medusa2.train(backbone, copy.deepcopy(heads), split, folder, recipe, silent)


def test_step_0_starts_at_medusa_1s_loss(
    backbone: Backbone, heads: MedusaHeads, conversations: Sequence[Conversation], tmp_path: Path
) -> None:
    trained = run(backbone, heads, conversations, tmp_path / "run")
    assert trained.start[1] == pytest.approx(trained.start[0], rel=5e-3)
    split = Split.of(conversations, small_backbone(), RECIPE.held_out)
    material = prepare(small_backbone(), split, tmp_path / "hidden", RECIPE, silent)
    assert trained.before == medusa1.measure(heads, material.test, material.test_targets)


def test_both_learn_and_the_words_stay(
    backbone: Backbone, heads: MedusaHeads, multi_turn: Sequence[Conversation], tmp_path: Path
) -> None:
    recipe = replace(RECIPE, epochs=8, soft_share=0.0)
    kept = run(backbone, heads, multi_turn, tmp_path / "kept", recipe)
    rows = [json.loads(line) for line in (tmp_path / "kept" / "log.jsonl").read_text().splitlines()]
    losses = [row["loss"] for row in rows if "loss" in row]
    assert losses[-1] < losses[0]
    assert 0 < kept.drift.kl < 0.5
    assert rows[-1]["kl"] == pytest.approx(kept.drift.kl, abs=1e-4)
    away = run(small_backbone(), heads, multi_turn, tmp_path / "away", replace(recipe, keep_words=False))
    assert away.drift.kl > kept.drift.kl


def test_the_backbones_part_is_the_divergence_on_answers_alone(
    backbone: Backbone, heads: MedusaHeads, multi_turn: Sequence[Conversation]
) -> None:
    output = backbone.output_layer.weight.detach().float()
    original = small_backbone()
    model = medusa2.adapted(backbone, RECIPE)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.05)
    module = medusa2.JointLoss(model, heads, output, RECIPE).eval()
    ((passage,),) = [passages(multi_turn[:3])]
    with torch.no_grad():
        words, _ = module.losses([passage], 1)
        new = model(input_ids=passage.ids).logits.log_softmax(-1)
        old = original.model(input_ids=passage.ids).logits.log_softmax(-1)
    # Answers stand at 4..9 and 14..19: the rows that foretell them are 3..8 and 13..18.
    rows = [*range(3, 9), *range(13, 19)]
    divergence = (old.exp() * (old - new)).sum(-1)[:, rows].sum()
    assert float(words) == pytest.approx(float(divergence), rel=1e-3)
    with torch.no_grad():
        said, own = module.read(passage.ids, low_precision=False)
    read = passage.left > 0
    found = drift([(said[read], own[read], torch.roll(passage.ids, -1, dims=1)[read])], output)
    assert (found.tokens, found.kl) == (36, pytest.approx(float(divergence) / 36, rel=1e-3))


def test_an_interrupted_run_ends_like_an_uninterrupted_one(
    backbone: Backbone,
    heads: MedusaHeads,
    multi_turn: Sequence[Conversation],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_EVERY", 5)
    whole = run(backbone, heads, multi_turn, tmp_path / "whole")

    def stop(stage: str, done: int, _of: int, _note: str) -> None:
        if stage == "training" and done == 12:
            raise KeyboardInterrupt

    (tmp_path / "broken").mkdir()
    split = Split.of(multi_turn, small_backbone(), RECIPE.held_out)
    with pytest.raises(KeyboardInterrupt):
        medusa2.train(small_backbone(), copy.deepcopy(heads), split, tmp_path / "broken", RECIPE, stop)
    resumed = run(small_backbone(), heads, multi_turn, tmp_path / "broken")
    for one, other in zip(whole.heads.parameters(), resumed.heads.parameters(), strict=True):
        torch.testing.assert_close(one, other)
    assert resumed.drift.kl == pytest.approx(whole.drift.kl, rel=1e-3)


def test_a_step_in_parts_is_the_same_step(
    backbone: Backbone, heads: MedusaHeads, multi_turn: Sequence[Conversation], tmp_path: Path
) -> None:
    recipe = replace(RECIPE, epochs=1)
    whole = run(backbone, heads, multi_turn, tmp_path / "whole", recipe)
    parts = run(small_backbone(), heads, multi_turn, tmp_path / "parts", replace(recipe, accumulate=4))
    for one, other in zip(whole.heads.parameters(), parts.heads.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)


def test_a_start_elsewhere_is_refused(
    backbone: Backbone,
    heads: MedusaHeads,
    multi_turn: Sequence[Conversation],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loss = medusa2.held_out_loss
    monkeypatch.setattr(medusa2, "held_out_loss", lambda *args: 1.05 * loss(*args))
    with pytest.raises(MedusaError, match="does not begin where the heads' own training ended"):
        run(backbone, heads, multi_turn, tmp_path / "run")


def test_passages_hold_every_conversation_once_and_no_more_than_fits(conversations: Sequence[Conversation]) -> None:
    long = Conversation.single((5,), range(ROOM + 10))
    made = passages([*conversations, *conversations, long])
    assert sum(len(one.ids) for one in made) == 2 * len(conversations) + 1
    assert all(one.ids.numel() <= ROOM or len(one.ids) == 1 for one in made)
    assert sum(int(one.there.sum()) for one in made) == 2 * sum(len(one.ids) for one in conversations) + ROOM + 11
    assert not any(one.left[~one.there].any() for one in made)
