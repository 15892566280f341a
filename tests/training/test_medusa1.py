"""Training heads from beginning to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from doubles.small_backbone import small_backbone

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.heads.store import load_heads, save_heads
from medusa_chat.training import hidden, loop, medusa1, on_the_fly
from medusa_chat.training.accuracy import evenly, measure
from medusa_chat.training.conversations import Conversation
from medusa_chat.training.loop import pace
from medusa_chat.training.material import Split, prepare
from medusa_chat.training.medusa1 import Trained
from medusa_chat.training.recipe import Recipe
from medusa_chat.training.run import read_log

RECIPE = Recipe(heads=3, vocab=0, epochs=4, batch=16, learning_rate=2e-3, held_out=0.2)


def silent(_stage: str, _done: int, _of: int, _note: str) -> None:
    """Progress nobody looks at."""


def train(
    backbone: Backbone, conversations: Sequence[Conversation], folder: Path, recipe: Recipe, *more: Any
) -> Trained:
    return medusa1.train(backbone, Split.of(conversations, backbone, recipe.held_out), folder, recipe, *more)


def counting() -> list[Conversation]:
    """Answers that count on round a ring of 20 tokens: every later token follows from the one before."""
    ring = [10 + 5 * place for place in range(20)]
    return [
        Conversation.single(
            (ring[start % 20 - 1], ring[start % 20]),
            tuple(ring[(start + step) % 20] for step in range(1, 9 + start % 7)),
        )
        for start in range(80)
    ]


@pytest.mark.parametrize("own_output", [False, True], ids=["shared", "own"])
def test_every_head_learns_a_copy_task_by_heart(tmp_path: Path, own_output: bool) -> None:
    backbone = small_backbone(seed=2)
    recipe = Recipe(
        heads=4, own_output=own_output, vocab=0, epochs=30, batch=64, learning_rate=2e-2, held_out=0.1, soft_share=0.0
    )
    trained = train(backbone, counting(), tmp_path, recipe, silent)
    split = Split.of(counting(), backbone, recipe.held_out)
    material = prepare(backbone, split, tmp_path / "hidden", recipe, silent)
    accuracy = measure(trained.heads, material.train, material.train_targets)
    assert [accuracy.top(head, 1) for head in range(4)] == pytest.approx([1.0] * 4)


def test_an_interrupted_run_ends_like_an_uninterrupted_one(
    tmp_path: Path, backbone: Backbone, conversations: Sequence[Conversation], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_EVERY", 7)
    whole = train(backbone, conversations, tmp_path / "whole", RECIPE, silent)

    def stop(stage: str, done: int, _of: int, _note: str) -> None:
        if stage == "training" and done == 17:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(backbone, conversations, tmp_path / "broken", RECIPE, stop)
    seen: list[int] = []
    resumed = train(
        backbone,
        conversations,
        tmp_path / "broken",
        RECIPE,
        lambda stage, done, _of, _note: seen.append(done) if stage == "training" else None,
    )
    assert seen[0] == 15
    for one, other in zip(whole.heads.parameters(), resumed.heads.parameters(), strict=True):
        assert torch.equal(one, other)
    assert whole.accuracy == resumed.accuracy


def test_a_run_reports_and_logs_what_it_does(
    tmp_path: Path, backbone: Backbone, conversations: Sequence[Conversation]
) -> None:
    stages: dict[str, tuple[int, int]] = {}
    trained = train(
        backbone, conversations, tmp_path, RECIPE, lambda stage, done, of, _note: stages.__setitem__(stage, (done, of))
    )
    assert list(stages) == ["hidden states", "targets", "training"]
    assert all(done == of for done, of in stages.values())
    log = read_log(tmp_path)
    assert [row["step"] for row in log if "loss" in row] == [*range(10, trained.steps, 10), trained.steps]
    losses = [row["loss"] for row in log if "loss" in row]
    assert losses[-1] < losses[0]
    measured = [row for row in log if "top1" in row]
    assert measured[-1]["top1"] == trained.accuracy.tops(1)
    assert measured[-1]["held_out_loss"] < measured[0]["held_out_loss"]
    assert "held-out top-1" in (tmp_path / "curves.svg").read_text()


def test_conversations_held_out_are_not_trained_on(
    tmp_path: Path, backbone: Backbone, conversations: Sequence[Conversation]
) -> None:
    split = Split.of(conversations, backbone, RECIPE.held_out)
    material = prepare(backbone, split, tmp_path, RECIPE, silent)
    assert len(split.train) + len(split.test) == len(conversations)

    def whole(states: hidden.HiddenStates) -> set[tuple[int, ...]]:
        return {tuple(piece.tolist()) for piece in torch.split(states.tokens, states.lengths.tolist())}

    assert not whole(material.train) & whole(material.test)
    assert whole(material.train) | whole(material.test) == {one.ids for one in conversations}


def test_hidden_states_are_those_of_the_backbone_and_computed_once(
    tmp_path: Path, backbone: Backbone, conversations: Sequence[Conversation], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hidden, "SHARD_TOKENS", 100)
    hidden.compute(backbone.model, conversations[:20], tmp_path)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert len(files) > 1
    states = hidden.load(tmp_path, conversations[3:5])
    for tokens, rows in zip(
        torch.split(states.tokens, states.lengths.tolist()),
        torch.split(states.hidden, states.lengths.tolist()),
        strict=True,
    ):
        backbone.rewind(0)
        for place, token in enumerate(tokens.tolist()):
            backbone.prefill([token])
            torch.testing.assert_close(rows[place].float(), backbone.last_hidden, atol=2e-3, rtol=2e-3)
    told: list[tuple[int, int]] = []
    hidden.compute(backbone.model, conversations[:25], tmp_path, on_progress=lambda done, of: told.append((done, of)))
    new = sum(len(one.ids) for one in conversations[20:25])
    assert told[-1][0] == told[-1][1]
    assert told[0][1] - told[0][0] < new
    with pytest.raises(MedusaError, match="lacks the hidden states of 35 conversations"):
        hidden.load(tmp_path, conversations)


def test_a_damaged_shard_is_named(tmp_path: Path, backbone: Backbone, conversations: Sequence[Conversation]) -> None:
    hidden.compute(backbone.model, conversations[:3], tmp_path)
    (shard,) = tmp_path.iterdir()
    shard.write_bytes(shard.read_bytes()[:-10])
    with pytest.raises(MedusaError, match="is damaged"):
        hidden.load(tmp_path, conversations[:3])


def test_a_loss_that_is_not_finite_stops_with_advice(
    tmp_path: Path, backbone: Backbone, conversations: Sequence[Conversation]
) -> None:
    with pytest.raises(MedusaError, match="smaller learning rate"):
        train(backbone, conversations, tmp_path, replace(RECIPE, learning_rate=1e38), silent)


def test_a_checkpoint_of_another_recipe_is_refused(
    tmp_path: Path, backbone: Backbone, conversations: Sequence[Conversation]
) -> None:
    train(backbone, conversations, tmp_path, replace(RECIPE, epochs=0.2), silent)
    with pytest.raises(MedusaError, match="does not fit this run"):
        train(backbone, conversations, tmp_path, replace(RECIPE, epochs=0.2, layers=3), silent)


def test_too_few_answers_are_refused(tmp_path: Path, backbone: Backbone, conversations: Sequence[Conversation]) -> None:
    with pytest.raises(MedusaError, match="1 conversations leave"):
        train(backbone, conversations[:1], tmp_path, RECIPE, silent)


def test_learning_rate_rises_then_falls() -> None:
    rates = [pace(step, 100, 0.1) for step in range(100)]
    assert rates[:10] == pytest.approx([(step + 1) / 10 for step in range(10)])
    assert all(later < earlier for earlier, later in pairwise(rates[10:]))
    assert 0 < rates[-1] < 0.001


@pytest.mark.parametrize("accumulate", [2, 5])
def test_a_step_in_parts_is_the_same_step(
    tmp_path: Path, backbone: Backbone, conversations: Sequence[Conversation], accumulate: int
) -> None:
    recipe = replace(RECIPE, dropout=0.0, epochs=1)
    whole = train(backbone, conversations, tmp_path / "whole", recipe, silent)
    parts = train(backbone, conversations, tmp_path / "parts", replace(recipe, accumulate=accumulate), silent)
    for one, other in zip(whole.heads.parameters(), parts.heads.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)


def test_heads_can_be_trained_further(
    tmp_path: Path, backbone: Backbone, conversations: Sequence[Conversation]
) -> None:
    first = train(backbone, conversations, tmp_path / "first", RECIPE, silent)
    save_heads(first.heads, tmp_path / "heads", backbone, "small", {})
    kept = load_heads(tmp_path / "heads", backbone, frozen=False).heads
    further = train(backbone, conversations, tmp_path / "more", replace(RECIPE, learning_rate=1e-9), silent, None, kept)
    for head in range(3):
        assert further.accuracy.top(head, 1) == pytest.approx(first.accuracy.top(head, 1), abs=0.02)


def test_what_does_not_fit_the_context_is_cut_and_counted(
    tmp_path: Path, backbone: Backbone, conversations: Sequence[Conversation]
) -> None:
    backbone.context = 12
    long = Conversation.single(range(2, 30), (5, 6))
    split = Split.of([*conversations, long], backbone, 0.2)
    assert split.passed_over == 1
    assert max(len(one.ids) for one in (*split.train, *split.test)) == 12


@pytest.mark.parametrize(
    "wrong", [{"heads": 0}, {"layers": 0}, {"vocab": -1}, {"epochs": 0}, {"soft_share": 1.5}, {"held_out": 0}]
)
def test_senseless_recipes_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(MedusaError, match="must be"):
        Recipe(**wrong)  # type: ignore[arg-type]


def test_on_the_fly_is_the_same_training_without_kept_hidden_states(
    tmp_path: Path, backbone: Backbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Recipe(heads=4, vocab=60, epochs=30, batch=64, learning_rate=2e-2, held_out=0.1, soft_share=0.0)
    split = Split.of(counting(), backbone, recipe.held_out)
    trained = on_the_fly.train(backbone, split, tmp_path, recipe, silent, Accelerator(cpu=True))
    assert [trained.accuracy.top(head, 1) for head in range(4)] == pytest.approx([1.0] * 4)
    assert not (tmp_path / "hidden").exists()
    assert trained.positions == sum(one.answer_tokens for one in split.train)
    kept = prepare(backbone, split, tmp_path / "hidden", recipe, silent)
    assert torch.equal(trained.heads.token_map, kept.token_map)
    again = measure(trained.heads, kept.test, kept.test_targets)
    assert again == trained.accuracy


def test_on_the_fly_goes_on_where_it_stopped(
    tmp_path: Path, backbone: Backbone, conversations: Sequence[Conversation], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_EVERY", 5)
    split = Split.of(conversations, backbone, RECIPE.held_out)
    whole = on_the_fly.train(backbone, split, tmp_path / "whole", RECIPE, silent, Accelerator(cpu=True))

    def stop(stage: str, done: int, _of: int, _note: str) -> None:
        if stage == "training" and done == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        on_the_fly.train(backbone, split, tmp_path / "broken", RECIPE, stop, Accelerator(cpu=True))
    resumed = on_the_fly.train(backbone, split, tmp_path / "broken", RECIPE, silent, Accelerator(cpu=True))
    for one, other in zip(whole.heads.parameters(), resumed.heads.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_glance_looks_at_as_many_positions_as_it_says_all_over() -> None:
    assert evenly(torch.arange(10), None).tolist() == list(range(10))
    assert evenly(torch.arange(10), 20).tolist() == list(range(10))
    assert evenly(torch.arange(0, 100, 2), 5).tolist() == [0, 20, 40, 60, 80]
