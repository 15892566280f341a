"""The way into the inspector; its screen is imported only when somebody wants it."""

from __future__ import annotations

from typing import Any

from textual.app import App

from medusa_chat.tui.dialogue import Dialogue
from medusa_chat.tui.journal import Journal
from medusa_chat.tui.turn import Turn


def open_inspector(app: App[Any], dialogue: Dialogue, journal: Journal, turn: Turn | None) -> None:
    """Walk through a turn's answer; without one it is said what is missing."""
    if turn is None:
        app.notify("There is no answer to inspect yet: ask something first.", timeout=4)
        return
    from medusa_chat.tui.inspector.screen import InspectorScreen

    app.push_screen(InspectorScreen(dialogue, journal, turn))
