"""The way into a comparison; its screen is imported only when somebody wants it."""

from __future__ import annotations

from typing import Any

from textual.app import App

from medusa_chat.tui.dialogue import Dialogue
from medusa_chat.tui.turn import Turn


def open_compare(app: App[Any], dialogue: Dialogue, turn: Turn | None, written: str) -> None:
    """Over the question of a turn, without one over what is written, after all that comes before it."""
    if dialogue.busy:
        app.notify("Still answering: Esc stops it first.", timeout=4)
        return
    from medusa_chat.tui.compare.screen import CompareScreen

    prompt = turn.question if turn is not None else written
    app.push_screen(CompareScreen(dialogue, dialogue.talk.before(turn), prompt))
