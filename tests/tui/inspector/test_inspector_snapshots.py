"""How the inspector looks: a paused answer, a tree of 64 nodes, what if."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from doubles.believed_steps import random_step
from doubles.scripted_engine import ScriptedEngine
from doubles.step_records import steps_of
from textual.pilot import Pilot

from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.inspector.screen import InspectorScreen

TEXT = """The capital of France is **Paris**. It lies on the Seine and is known for:

1. The Eiffel Tower, built for the fair of 1889.
2. The Louvre, once a palace, now a museum; 東京 has more."""
STEPS = (*steps_of(TEXT)[:14], random_step(9, 64, 15), *steps_of(TEXT)[15:])


def inspected(theme: str, taken: int, *keys: str) -> tuple[MedusaChatApp, Callable[[Pilot[None]], Awaitable[None]]]:
    """The app, and how it comes to show the step number `taken` of a paused answer, after which `keys` are pressed."""
    engine = ScriptedEngine(STEPS)
    app = MedusaChatApp(engine, "smollm2-135m-instruct", theme=theme)
    app.animation_level = "none"

    async def open_it(pilot: Pilot[None]) -> None:
        async def until(condition):
            for _ in range(400):
                if condition():
                    return
                await pilot.pause(0.01)
            assert condition()

        await until(lambda: app.screen.query(Composer) and app.screen.dialogue.loaded is not None)
        dialogue = app.screen.dialogue
        app.screen.query_one(Composer).text = "What is the capital of France, and what is it known for?"
        await pilot.press("enter")
        await until(lambda: dialogue.busy)
        engine.play(taken)
        await until(lambda: dialogue.current.tally.steps == taken)
        await pilot.press("alt+p", "ctrl+g")
        await until(lambda: isinstance(app.screen, InspectorScreen) and app.screen.inspection.step is not None)
        await pilot.pause(0.1)
        for key in keys:
            await pilot.press(key)
        await pilot.pause(0.3)

    return app, open_it


@pytest.mark.parametrize("theme", ["medusa-dark", "medusa-light"])
@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_inspector(snap_compare, size, theme):
    app, open_it = inspected(theme, 12, "down")
    assert snap_compare(app, terminal_size=size, run_before=open_it)


@pytest.mark.parametrize(("size", "theme"), [((80, 24), "ansi-16"), ((200, 60), "medusa-light")])
def test_a_tree_of_64_nodes(snap_compare, size, theme):
    app, open_it = inspected(theme, 15)
    assert snap_compare(app, terminal_size=size, run_before=open_it)


@pytest.mark.parametrize(("size", "theme"), [((80, 24), "medusa-light"), ((120, 40), "medusa-dark")])
def test_what_if(snap_compare, size, theme):
    app, open_it = inspected(theme, 12, "w", "down", "down", "down", "down", "left", "left", "left")
    assert snap_compare(app, terminal_size=size, run_before=open_it)
