"""How the inspector looks: a paused answer, a tree of 64 nodes, what if."""

from __future__ import annotations

import pytest
from doubles.believed_steps import random_step
from doubles.chat import Chat
from doubles.pictures import DARK_AND_LIGHT, EVERY_SIZE, stand_still
from doubles.step_records import steps_of

from medusa_chat.tui.inspector.screen import InspectorScreen

TEXT = """The capital of France is **Paris**. It lies on the Seine and is known for:

1. The Eiffel Tower, built for the fair of 1889.
2. The Louvre, once a palace, now a museum; 東京 has more."""
STEPS = (*steps_of(TEXT)[:14], random_step(9, 64, 15), *steps_of(TEXT)[15:])


def inspected(taken: int, *keys: str):
    """How the app comes to show the step number `taken` of a paused answer, after which `keys` are pressed."""

    async def open_it(chat: Chat) -> None:
        await chat.ask("What is the capital of France, and what is it known for?")
        chat.engine.play(taken)
        await chat.until(lambda: chat.answer.turn.tally.steps == taken)
        await chat.pilot.press("alt+p", "ctrl+g")
        await chat.until(lambda: isinstance(chat.app.screen, InspectorScreen))
        await chat.until(lambda: chat.app.screen.inspection.step is not None)
        await stand_still(chat)
        for key in keys:
            await chat.pilot.press(key)

    return open_it


@DARK_AND_LIGHT
@EVERY_SIZE
def test_inspector(looks_as_kept, size, theme):
    assert looks_as_kept(inspected(12, "down"), STEPS, size=size, theme=theme)


@pytest.mark.parametrize(("size", "theme"), [((80, 24), "ansi-16"), ((200, 60), "medusa-light")])
def test_a_tree_of_64_nodes(looks_as_kept, size, theme):
    assert looks_as_kept(inspected(15), STEPS, size=size, theme=theme)


@pytest.mark.parametrize(("size", "theme"), [((80, 24), "medusa-light"), ((120, 40), "medusa-dark")])
def test_what_if(looks_as_kept, size, theme):
    keys = ("w", "down", "down", "down", "down", "left", "left", "left")
    assert looks_as_kept(inspected(12, *keys), STEPS, size=size, theme=theme)
