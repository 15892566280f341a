"""What if: settings supposed for steps that have been taken change the picture and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from doubles.step_records import PARENTS, steps_of
from textual.widgets import Static

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding
from medusa_chat.tui.inspector.screen import InspectorScreen
from medusa_chat.tui.inspector.supposition import KNOBS, Overall, Supposition
from medusa_chat.tui.inspector.tree_map import TreeMap
from medusa_chat.tui.inspector.what_if_view import CAVEAT, COLD, Answer, WhatIfView, outcome
from medusa_chat.tui.inspector.why import then

TEXT = "The capital of France is Paris, a city on the Seine with a long history and many museums."
STEPS = steps_of(TEXT)
NODES = len(PARENTS)


def at(name: str, supposition: Supposition) -> Supposition:
    """With the cursor on a setting."""
    supposition.cursor = KNOBS.index(name)
    return supposition


def test_it_starts_with_the_step_s_own_settings_and_its_whole_tree():
    supposition = Supposition(Decoding(rule="typical", epsilon=0.2, budget=4), 0.7)
    assert supposition.decoding == Decoding(rule="typical", epsilon=0.2)
    assert [supposition.shown(name, 8) for name in KNOBS] == ["typical, lossy", "0.20", "0.3", "–", "all 8", "0.7"]
    for step in STEPS[:-1]:
        assert Supposition(Decoding(), 0.0).of(step).same


def test_settings_of_another_rule_say_so():
    supposition = at("threshold", Supposition(Decoding(), 0.0))
    assert "Only the threshold rule" in supposition.turn(1, NODES)
    assert supposition.decoding == Decoding()
    at("rule", supposition).turn(1, NODES)
    supposition.turn(1, NODES)
    assert supposition.decoding.rule == "threshold"
    at("threshold", supposition)
    assert supposition.turn(1, NODES) == ""
    assert supposition.decoding.threshold == 0.12


def test_the_budget_steps_down_from_the_whole_tree_and_up_to_it():
    supposition = at("budget", Supposition(Decoding(), 0.0))
    shown = []
    for by in (1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1):
        supposition.turn(by, 8)
        shown.append(supposition.shown("budget", 8))
    down = ["6 of 8", "4 of 8", "2 of 8", "1 of 8"]
    assert shown == ["all 8", *down, "1 of 8", *reversed(down[:-1]), "all 8", "all 8"]
    supposition.decoding = replace(supposition.decoding, budget=6)
    assert supposition.turn(-1, 3) == ""
    assert supposition.shown("budget", 3) == "2 of 3"


def test_the_temperature_is_cold_or_the_answer_s_own():
    cold, warm = at("temperature", Supposition(Decoding(), 0.0)), at("temperature", Supposition(Decoding(), 0.7))
    cold.turn(1, NODES)
    warm.turn(-1, NODES)
    assert (cold.shown("temperature", 8), warm.shown("temperature", 8)) == ("1", "0")
    assert "as far as temperature goes" in cold.turn(1, NODES)


def test_all_steps_are_counted_with_what_they_would_have_won():
    supposition = Supposition(Decoding(), 0.0)
    supposition.decoding = replace(supposition.decoding, budget=1)
    overall = Overall()
    for step in STEPS:
        overall.add(step, supposition.of(step))
    assert (overall.steps, overall.tokens) == (len(STEPS), sum(len(step.tokens) for step in STEPS))
    assert overall.supposed == len(STEPS)
    assert overall.changed == sum(len(step.path) > 1 for step in STEPS)


def test_the_outcome_has_its_caveat():
    supposition, step = Supposition(Decoding(), 0.0), STEPS[0]
    supposition.decoding = replace(supposition.decoding, budget=2)
    words = str(outcome(supposition, Answer(step, supposition.of(step), Overall(2, 5, 3.0, 1))))
    assert f"accepted length {len(step.tokens)} → 2" in words
    assert "tokens per step 2.50 → 1.50" in words
    assert "1 of 2 steps" in words
    assert CAVEAT in words
    supposition.decoding = replace(supposition.decoding, rule="typical")
    assert COLD in str(outcome(supposition, Answer(step, supposition.of(step), None)))
    supposition.greedy, supposition.decoding = False, Decoding()
    assert "over all draws" in str(outcome(supposition, Answer(step, supposition.of(step), None)))


def test_of_every_node_it_is_said_what_would_have_become_of_it():
    supposition, step = Supposition(Decoding(rule="threshold", threshold=0.5), 1.0), STEPS[0]
    result = supposition.of(step)
    assert {then(result, node).split(" ")[1].strip(".,") for node in range(NODES)} <= {"the", "kept", "fallen", "not"}
    fallen = result.fallen[0]
    assert then(result, fallen.node) == f"Then: fallen, p {fallen.probability:.3f} < 0.50."
    supposition.decoding = replace(supposition.decoding, budget=2)
    assert "budget ends before it" in then(supposition.of(step), 5)


def test_steps_without_beliefs_are_not_guessed_at():
    step = replace(STEPS[0], beliefs=None)
    with pytest.raises(MedusaError, match="not kept"):
        Supposition(Decoding(), 0.0).of(step)


async def supposing(chat) -> InspectorScreen:
    """The inspector on the first step of a finished answer, what if opened."""
    await chat.ask()
    await chat.finish()
    await chat.pilot.press("ctrl+g")
    await chat.until(lambda: isinstance(chat.app.screen, InspectorScreen) and chat.app.screen.inspection.steps)
    screen = chat.app.screen
    await chat.pilot.press("w")
    await chat.until(lambda: isinstance(screen.focused, WhatIfView))
    return screen


def shown(chat, selector) -> str:
    return chat.shown(chat.app.screen.query_one(selector))


async def test_a_smaller_budget_shows_the_path_it_would_have_cost(open_chat):
    async with open_chat(TEXT) as chat:
        screen = await supposing(chat)
        sent = len(chat.engine.requests)
        await chat.until(lambda: "the same path" in shown(chat, WhatIfView))
        assert "-" not in shown(chat, TreeMap)
        await chat.pilot.press("down", "down", "down", "down", "left", "minus", "h")
        await chat.until(lambda: f"{len(STEPS[0].tokens)} → 2" in shown(chat, WhatIfView))
        await chat.until(lambda: f"of {len(STEPS)} steps" in shown(chat, WhatIfView))
        await chat.until(lambda: shown(chat, TreeMap).count("-") == len(STEPS[0].path) - 2)
        before = shown(chat, WhatIfView)
        await chat.pilot.press("right_square_bracket")
        await chat.until(lambda: screen.inspection.place == 1 and shown(chat, WhatIfView) != before)
        assert len(chat.engine.requests) == sent
        assert chat.screen.dialogue.choices.decoding == Decoding()


async def test_esc_ends_supposing_before_it_leaves(open_chat):
    async with open_chat(TEXT) as chat:
        screen = await supposing(chat)
        await chat.pilot.press("escape")
        assert chat.app.screen is screen
        await chat.until(lambda: isinstance(screen.focused, TreeMap))
        assert not screen.query_one(WhatIfView).display
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)


async def test_the_mouse_turns_what_is_supposed(open_chat):
    async with open_chat(TEXT) as chat:
        screen = await supposing(chat)
        view = screen.query_one(WhatIfView)
        await chat.click(view, (14, KNOBS.index("budget")))
        await chat.until(lambda: screen.supposition.decoding.budget == 6)
        await chat.click(view, (30, KNOBS.index("budget")))
        await chat.until(lambda: screen.supposition.decoding.budget is None)
        await chat.click(view, (2, KNOBS.index("rule")))
        await chat.until(lambda: screen.supposition.cursor == 0)
        assert screen.supposition.decoding == Decoding()


async def test_what_cannot_be_supposed_is_said(open_chat):
    async with open_chat([replace(step, beliefs=None) for step in STEPS]) as chat:
        screen = await supposing(chat)
        await chat.until(lambda: "not kept with this step" in shown(chat, WhatIfView))
        await chat.pilot.press("down", "right")
        await chat.until(lambda: any("Only the typical rule" in toast for toast in chat.toasts))
        assert "–" in shown(chat, TreeMap)
        assert "not kept with this step" in str(screen.query_one("#node", Static).render())


async def test_on_a_tiny_screen_there_is_the_tree_alone(open_chat):
    async with open_chat(TEXT, size=(40, 12)) as chat:
        await chat.ask()
        await chat.finish()
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: isinstance(chat.app.screen, InspectorScreen) and chat.app.screen.inspection.steps)
        await chat.pilot.press("w")
        assert chat.app.screen.supposition is None
        await chat.until(lambda: "✓" in shown(chat, TreeMap))
