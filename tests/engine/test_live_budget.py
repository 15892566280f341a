"""In made-up worlds the live budget comes near the best fixed one, never far below plain, and finds its way back."""

from __future__ import annotations

from random import Random

import pytest
from doubles.engine_bench import Bench, tokens_of
from doubles.guessing_heads import KnowingHeads
from doubles.guessing_worlds import World
from doubles.tiny_families import VOCAB

from medusa_chat.engine.budget import FixedBudget
from medusa_chat.engine.cost import CostCurve
from medusa_chat.engine.drafters.medusa import Medusa
from medusa_chat.engine.live_budget import FIRST_NODES, LONGEST_REST, MOST_NODES, LiveBudget
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.engine.step import Step, Timings
from medusa_chat.engine.tree import CandidateTree

TOKENS = 3000
MACHINES = {
    "rows cost little": lambda nodes: 5.0 + 0.15 * (nodes - 1),
    "rows cost a tenth": lambda nodes: 10.0 + 0.8 * (nodes - 1),
    "rows cost a quarter": lambda nodes: 25.0 + 6.0 * (nodes - 1),
    "rows are free": lambda nodes: 20.0,
    "the first row jumps": lambda nodes: 30.0 if nodes == 1 else 45.0 + nodes,
}
TEXTS = {
    "predictable": lambda position, draw: 0.85,
    "half": lambda position, draw: 0.5,
    "mixed": lambda position, draw: draw.choice([0.9, 0.6, 0.2, 0.1]),
}


def best_fixed(world: World, tokens: int = TOKENS) -> float:
    return max(world.tokens_per_ms(FixedBudget(nodes), tokens) for nodes in (1, 2, 3, 4, 6, 8, 12, 16, 32))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("text", TEXTS)
def test_it_comes_near_the_best_fixed_budget(machine: str, text: str) -> None:
    world = World(TEXTS[text], MACHINES[machine], draft_ms=0.05 * MACHINES[machine](1))
    assert world.tokens_per_ms(LiveBudget(world.curve()), TOKENS) > 0.95 * best_fixed(world)


@pytest.mark.parametrize(
    "says", [lambda chance: chance**0.6, lambda chance: chance**1.4], ids=["too much", "too little"]
)
def test_a_drafter_that_misjudges_itself_is_corrected(says) -> None:  # type: ignore[no-untyped-def]
    world = World(TEXTS["mixed"], MACHINES["rows cost a tenth"], draft_ms=0.5, says=says)
    assert world.tokens_per_ms(LiveBudget(world.curve()), TOKENS) > 0.95 * best_fixed(world)


def test_choosing_step_by_step_beats_every_fixed_budget_where_steps_differ() -> None:
    world = World(lambda position, draw: draw.choice([0.95, 0.05]), MACHINES["rows cost a tenth"], draft_ms=0.2)
    assert world.tokens_per_ms(LiveBudget(world.curve()), TOKENS) > 1.15 * best_fixed(world)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("draft", [0.02, 0.6])
@pytest.mark.parametrize("boast", [0.0, 0.8])
def test_useless_drafting_costs_two_percent_at_most(machine: str, draft: float, boast: float) -> None:
    world = World(
        lambda position, draw: 0.0, MACHINES[machine], draft * MACHINES[machine](1), says=lambda _chance: boast
    )
    plain = world.tokens_per_ms(FixedBudget(1), TOKENS)
    assert world.tokens_per_ms(LiveBudget(world.curve()), TOKENS) > 0.98 * plain


def test_a_text_that_becomes_predictable_is_noticed_and_one_that_stops_to_be_is_left() -> None:
    world = World(
        lambda position, draw: 0.9 if 1000 <= position < 3000 else 0.0, MACHINES["rows cost a tenth"], draft_ms=1.5
    )
    budget = LiveBudget(world.curve())
    world.tokens_per_ms(budget, 1000)
    before = world.nodes
    assert before[-300:].count(0) > 0.9 * 300
    world.chance = lambda position, draw: 0.9
    world.tokens_per_ms(budget, 2000)
    # One rest and a short trial may pass until it is noticed.
    noticed = next(step for step in range(len(world.nodes)) if 0 not in world.nodes[step:])
    assert noticed <= 2 * LONGEST_REST
    assert sum(world.nodes[noticed:]) / len(world.nodes[noticed:]) > 5
    world.chance = lambda position, draw: 0.0
    world.tokens_per_ms(budget, 1000)
    assert world.nodes[50:].count(0) > 0.9 * len(world.nodes[50:])


def test_a_new_answer_tries_a_drafter_at_rest_at_once() -> None:
    world = World(lambda position, draw: 0.0, MACHINES["rows cost a tenth"], draft_ms=2.0)
    budget = LiveBudget(world.curve())
    while budget.limit > 1:
        world.tokens_per_ms(budget, 1)
    budget.begin()
    assert budget.limit > 1


def test_a_machine_that_slows_down_changes_nothing_but_the_clock() -> None:
    steady = World(TEXTS["mixed"], MACHINES["rows cost a tenth"], draft_ms=0.5)
    slowing = World(
        TEXTS["mixed"], MACHINES["rows cost a tenth"], 0.5, slowdown=lambda position: 1.0 if position < 2000 else 5.0
    )
    means = []
    for world in (steady, slowing):
        world.tokens_per_ms(LiveBudget(world.curve()), TOKENS)
        late = world.nodes[3 * len(world.nodes) // 4 :]
        means.append(sum(late) / len(late))
    assert means[1] == pytest.approx(means[0], rel=0.15)


def test_nodes_that_are_dearer_than_measured_are_taken_less() -> None:
    world = World(TEXTS["mixed"], MACHINES["rows cost a tenth"], draft_ms=0.2)
    measured = CostCurve.of({1: 10.0, 64: 10.0 + 0.3 * 63})
    right = world.tokens_per_ms(LiveBudget(world.curve()), TOKENS)
    assert world.tokens_per_ms(LiveBudget(measured), TOKENS) > 0.97 * right
    corrected = sum(world.nodes[-300:])
    cheap = World(TEXTS["mixed"], lambda nodes: 10.0 + 0.3 * (nodes - 1), draft_ms=0.2)
    cheap.tokens_per_ms(LiveBudget(measured), TOKENS)
    assert corrected < 0.9 * sum(cheap.nodes[-300:])


def test_it_keeps_to_its_limit_and_to_the_guesses_there_are() -> None:
    draw = Random(4)
    budget = LiveBudget(CostCurve((1, 64), (10.0, 10.5)))
    for index in range(300):
        limit = budget.limit
        assert 1 <= limit <= MOST_NODES
        worths = sorted((draw.random() for _ in range(draw.randrange(80))), reverse=True)
        nodes = budget.nodes(worths)
        assert 1 <= nodes <= min(limit, len(worths) + 1)
        tree = CandidateTree.build([0] * nodes, [-1, *[0] * (nodes - 1)], [1.0, *worths[: nodes - 1]])
        budget.observe(Step(index + 1, tree, (0,), (0,), Timings(draft=0.1, verify=10.0)))


def test_steps_it_was_not_asked_about_teach_it_costs_alone() -> None:
    budget = LiveBudget(CostCurve((1, 64), (10.0, 20.0), draft_ms=50.0))
    for index in range(500):
        budget.observe(Step(index + 1, CandidateTree.root_only(0), (0,), (0,), Timings(verify=10.0)))
    assert budget.limit > 1
    assert budget.speedup == 1.0


def test_answers_are_those_of_plain_decoding(llama: Bench) -> None:
    prompt = [3, 1, 4, 1, 5, 9, 2, 6]
    budget = LiveBudget(CostCurve((1, 64), (10.0, 12.0)))
    text = [*prompt, *llama.plain(prompt, 60)]
    heads = KnowingHeads(text, lambda: llama.backbone.length, VOCAB, rate=0.6)
    steps = llama.answer(prompt, Medusa(heads, DynamicShape(), 4, 4), budget=budget, max_tokens=60)
    assert tokens_of(steps) == llama.plain(prompt, 60)
    assert any(len(step.tree) > 1 for step in steps)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("text", TEXTS)
def test_no_node_is_wanted_that_the_search_was_told_to_leave_out(machine: str, text: str) -> None:
    world = World(TEXTS[text], MACHINES[machine], draft_ms=0.02 * MACHINES[machine](1))
    budget, draw = LiveBudget(world.curve()), Random(4)
    for tokens in (1, 60, 400):
        world.tokens_per_ms(budget, tokens)
        budget._least_worths = budget._bounds()  # As right after it was renewed.
        least = budget.least_worths
        for _ in range(50):
            worths = sorted((draw.random() ** 3 for _ in range(MOST_NODES - 1)), reverse=True)
            kept = next(
                (at for at, (worth, bound) in enumerate(zip(worths, least[1:], strict=False)) if worth < bound), 63
            )
            assert budget.nodes(worths) <= kept + 1


def test_the_first_step_of_an_answer_is_small() -> None:
    world = World(TEXTS["predictable"], MACHINES["rows cost little"])
    budget = LiveBudget(world.curve())
    world.tokens_per_ms(budget, 300)
    assert max(world.nodes[-5:]) > FIRST_NODES
    budget.begin()
    world.tokens_per_ms(budget, 100)
    assert world.nodes[0] <= FIRST_NODES < max(world.nodes[1:4])
