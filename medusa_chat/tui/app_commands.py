"""What the palette offers on a screen: its actions in their order, those of the chat, and those of the app."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SystemCommand
from textual.screen import Screen

from medusa_chat.tui.chat.keys import CHAT_BINDINGS
from medusa_chat.tui.chat.screen import ChatScreen
from medusa_chat.tui.titles import title_of

if TYPE_CHECKING:
    from medusa_chat.tui.app import MedusaChatApp


def commands(app: MedusaChatApp, screen: Screen[object]) -> Iterable[SystemCommand]:
    yield from _of_the_screen(app, screen)
    if isinstance(screen, ChatScreen):
        yield from screen.commands()
    elif not screen.is_modal:
        yield from _of_the_chat(app)
    yield SystemCommand("Help", "Every key, and what the words mean", app.action_help)
    yield SystemCommand("Theme", "Choose how it looks; each theme is shown while you move", app.action_change_theme)
    yield SystemCommand("Screenshot", "Save the screen as an SVG picture in the current folder", app.save_picture_soon)
    yield SystemCommand("Quit", "Leave Medusa Chat", app.action_quit)


def _of_the_screen(app: MedusaChatApp, screen: Screen[object]) -> Iterable[SystemCommand]:
    offered: set[str] = set()
    for node, binding, enabled, tooltip in screen.active_bindings.values():
        title = title_of(binding)
        if binding.id is not None and enabled and not binding.id.startswith("app.") and title not in offered:
            offered.add(title)
            yield SystemCommand(
                title,
                tooltip or binding.tooltip,
                lambda action=binding.action, node=node: app.run_action(action, node),
                not binding.id.endswith(".back"),
            )


def _of_the_chat(app: MedusaChatApp) -> Iterable[SystemCommand]:
    """From another screen: they lead back there first."""
    for binding in CHAT_BINDINGS:
        if (binding.id or "").startswith("chat."):
            yield SystemCommand(f"Chat: {title_of(binding)}", binding.tooltip, partial(app.in_the_chat, binding.action))
