"""Drafting changes the speed of a greedy answer and never a token of it (float32)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest
import torch
from doubles.engine_bench import Bench, tokens_of
from doubles.guessing_heads import FixedHeads, KnowingHeads
from doubles.tiny_families import VOCAB, WINDOW, Reference, tiny_model

from medusa_chat.engine.acceptance import AcceptanceRule, Greedy, Lossless, Threshold, Typical
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.budget import FixedBudget
from medusa_chat.engine.decode import Controls
from medusa_chat.engine.drafters.base import Drafter
from medusa_chat.engine.drafters.joint import Heads, Joint
from medusa_chat.engine.drafters.lookup import Lookup
from medusa_chat.engine.drafters.medusa import Medusa
from medusa_chat.engine.drafters.plain import Plain
from medusa_chat.engine.drafters.recycling import Recycling
from medusa_chat.engine.shapes.base import RankPath, TreeShape
from medusa_chat.engine.shapes.calibration import Calibration, Reliability
from medusa_chat.engine.shapes.cartesian import CartesianShape
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.engine.shapes.paths import PUBLISHED_63, PathShape

CALIBRATION = Calibration(
    accuracy=((0.6, 0.2), (0.4, 0.2), (0.3, 0.1), (0.2, 0.1)),
    reliability=(
        Reliability((0.0, 0.5, 1.0), (0.1, 0.4, 0.8)),
        Reliability((0.0, 0.3, 1.0), (0.0, 0.5, 0.6)),
        Reliability((0.1,), (0.3,)),
    ),
    trees={9: ((0,), (1,), (0, 0), (2,), (0, 1), (0, 0, 0), (1, 0), (0, 0, 0, 0))},
)


def random_paths(draw: random.Random) -> list[RankPath]:
    """A `medusa_choices` list, in part beyond the heads and the top-k."""
    paths: list[RankPath] = [(), (0,), (0, 0), (0, 0, 0)]
    for _ in range(draw.randrange(4, 60)):
        path = (*draw.choice(paths), min(int(draw.expovariate(0.7)), 6))
        if path not in paths and len(path) <= 6:
            paths.append(path)
    return paths[1:]


SHAPES: dict[str, Callable[[random.Random], TreeShape]] = {
    "published": lambda draw: PathShape(PUBLISHED_63),
    "custom": lambda draw: PathShape(random_paths(draw)),
    "cartesian": lambda draw: CartesianShape(),
    "calibrated": lambda draw: PathShape(CALIBRATION.trees[9]),
    "dynamic": lambda draw: DynamicShape(),
    "dynamic, calibrated": lambda draw: DynamicShape(CALIBRATION),
}
EXACT: list[AcceptanceRule] = [Greedy(), Lossless(), Typical(), Threshold(0.05)]
"""At temperature 0 the last two accept by a one-hot distribution, so they are exact as well."""


def knowing(bench: Bench, prompt: list[int], draw: random.Random, rate: float) -> KnowingHeads:
    text = [*prompt, *bench.plain(prompt, 48)]
    return KnowingHeads(
        text, lambda: bench.backbone.length, VOCAB, rate, seed=draw.randrange(10**6), count=draw.randrange(3, 6)
    )


@pytest.mark.parametrize("kind", SHAPES)
def test_medusa_writes_what_plain_decoding_writes(bench: Bench, kind: str) -> None:
    draw = random.Random(f"{kind} {bench.backbone.model.config.model_type}")
    accepted: Counter[int] = Counter()
    prompts = [[draw.randrange(VOCAB) for _ in range(draw.randrange(1, 30))] for _ in range(3)]
    for case in range(12):
        generous = case < 3
        prompt = draw.choice(prompts)
        max_tokens = 40 if generous else draw.randrange(1, 41)
        heads = knowing(bench, prompt, draw, rate=1.0 if generous else draw.choice([0.0, 0.5, 0.9]))
        drafter = Medusa(heads, SHAPES[kind](draw), heads=draw.randrange(2, 8), top_k=draw.choice([2, 3, 10]))
        budget = 64 if generous else draw.choice([1, 2, 6, 16, 64])
        steps = bench.answer(prompt, drafter, rule=draw.choice(EXACT), budget=budget, max_tokens=max_tokens)
        assert tokens_of(steps) == bench.plain(prompt, max_tokens)
        assert all(len(step.tree) <= budget for step in steps)
        accepted.update(len(step.path) for step in steps)
    # Long paths were really kept, or this would prove little.
    assert sum(count for length, count in accepted.items() if length >= 3) >= 5, accepted


@pytest.mark.parametrize("parts", ["heads lookup recycling", "heads recycling", "lookup recycling", "recycling"])
def test_joint_trees_write_what_plain_decoding_writes(bench: Bench, parts: str) -> None:
    draw = random.Random(f"{parts} {bench.backbone.model.config.model_type}")
    recycling = Recycling()
    kept: Counter[str] = Counter()
    for case in range(8):
        start = [draw.randrange(VOCAB) for _ in range(draw.randrange(1, 24))]
        prompt = [*start, *bench.plain(start, 12), *start] if case % 2 else start
        known = knowing(bench, prompt, draw, rate=draw.choice([0.3, 0.9]))
        drafter = Joint(
            Heads(known, DynamicShape(CALIBRATION), draw.randrange(2, 6), 4) if "heads" in parts else None,
            Lookup() if "lookup" in parts else None,
            recycling,
        )
        budget = draw.choice([2, 6, 16, 40])
        steps = bench.answer(prompt, drafter, rule=draw.choice(EXACT), budget=budget, max_tokens=40)
        assert tokens_of(steps) == bench.plain(prompt, 40)
        assert all(len(step.tree) <= budget for step in steps)
        for step in steps:
            kept.update(step.tree.sources[node] for node in step.path[1:])
    named = {"heads": "head 1", "lookup": "lookup", "recycling": "recycle"}
    # Each part had guesses that were kept, or this would prove little; recycling repeats what the others know better.
    assert all(kept[named[part]] for part in parts.split() if part != "recycling" or parts == "recycling"), kept


def test_a_right_guess_is_kept_as_far_as_it_is_right(llama: Bench) -> None:
    """Heads that always know, a chain of their best guesses: every step is as long as the tree is deep."""
    prompt = [3, 1, 4, 1, 5]
    text = [*prompt, *llama.plain(prompt, 40)]

    class Prophet(FixedHeads):
        def guess(self, hidden: torch.Tensor, root: int, heads: int, top_k: int):  # type: ignore[no-untyped-def]
            rows = llama.backbone.length
            return FixedHeads([[text[rows + head]] for head in (1, 2, 3)]).guess(hidden, root, heads, top_k)

    steps = llama.answer(prompt, Medusa(Prophet([[0]] * 3), CartesianShape(), 3, 1), max_tokens=29)
    # The first step has a hidden state, too: that of the token before the root.
    assert [len(step.tokens) for step in steps] == [4] * 7 + [1]
    assert tokens_of(steps) == text[5:34]


def test_swapping_drafter_rule_and_budget_between_steps_keeps_the_text(bench: Bench) -> None:
    draw = random.Random(21)
    for _ in range(6):
        prompt = [draw.randrange(VOCAB) for _ in range(draw.randrange(1, 20))]
        heads = knowing(bench, prompt, draw, rate=0.8)
        lookup, recycling = Lookup(), Recycling()
        drafters: list[Drafter] = [Plain(), Joint(None, lookup, None), Joint(None, None, recycling)]
        drafters.append(Joint(Heads(heads, DynamicShape(CALIBRATION), 4, 5), lookup, recycling))
        drafters += [Medusa(heads, shape(draw), 4, 5) for shape in SHAPES.values()]
        used: set[int] = set()

        def swap(controls: Controls, drafters: list[Drafter] = drafters, used: set[int] = used) -> None:
            controls.drafter = draw.choice(drafters)
            controls.rule = draw.choice(EXACT)
            controls.budget = FixedBudget(draw.choice([1, 3, 12, 40]))
            used.add(id(controls.drafter))

        steps = bench.answer(
            prompt,
            controls=Controls(Plain(), Greedy(), FixedBudget(1)),
            before_step=swap,
            max_tokens=40,
            temperature=0.0,
        )
        assert tokens_of(steps) == bench.plain(prompt, 40)
        assert len(used) > 1


def test_lookup_writes_what_plain_decoding_writes(bench: Bench) -> None:
    """Long greedy answers of such small models fall into loops, which lookup finds; a windowed model repeats itself."""
    draw = random.Random(4)
    kept = 0
    for max_tokens in (1, 2, 3, 40, 120):
        start = [draw.randrange(VOCAB) for _ in range(draw.randrange(2 * WINDOW, 3 * WINDOW))]
        prompt = [*start, *bench.plain(start, 20), *start]
        steps = bench.answer(prompt, Joint(None, Lookup(), None), budget=draw.choice([2, 4, 11]), max_tokens=max_tokens)
        assert tokens_of(steps) == bench.plain(prompt, max_tokens)
        kept += sum(len(step.path) - 1 for step in steps)
    assert kept > 0


def test_lookup_runs_along_a_loop() -> None:
    """Without attention the next token depends on the last one alone, so a greedy answer must end in a loop."""
    model = tiny_model("llama")
    for layer in model.model.layers:
        torch.nn.init.zeros_(layer.self_attn.o_proj.weight)
    bench = Bench(Backbone(model), Reference(model))
    prompt = [1, *bench.plain([1], VOCAB)]
    steps = bench.answer(prompt, Joint(None, Lookup(), None), budget=8, max_tokens=64)
    assert tokens_of(steps) == bench.plain(prompt, 64)
    assert max(len(step.path) for step in steps) == 8
    assert len(steps) < 32


def test_heads_get_the_hidden_state_of_the_token_before_the_root(bench: Bench) -> None:
    """After a partly kept path it is the last kept node's, not the last row's."""
    draw = random.Random(6)
    prompt = [draw.randrange(VOCAB) for _ in range(12)]
    heads = knowing(bench, prompt, draw, rate=0.7)
    steps = bench.answer(prompt, Medusa(heads, DynamicShape(), 4, 4), budget=24, max_tokens=30)
    assert any(len(step.path) > 1 and max(step.path) < len(step.tree) - 1 for step in steps)
    assert len(heads.seen) == len(steps)
    ids = list(prompt)
    for step, hidden in zip(steps, heads.seen, strict=True):
        torch.testing.assert_close(hidden, bench.reference.hidden(ids[:-1]), atol=1e-5, rtol=0.0)
        ids += step.tokens


def test_generation_config_of_the_model_changes_nothing(llama: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    # transformers' generate() would apply these unasked.
    prompt = [9, 9, 8, 7]
    config = llama.backbone.model.generation_config
    monkeypatch.setattr(config, "repetition_penalty", 1.8)
    monkeypatch.setattr(config, "temperature", 3.0)
    monkeypatch.setattr(config, "do_sample", True)
    assert tokens_of(llama.answer(prompt, max_tokens=20)) == llama.plain(prompt, 20)
