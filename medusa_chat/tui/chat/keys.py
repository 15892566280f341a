"""The chat screen's keys: footer, palette, help and key map all come from these."""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding

from medusa_chat.tui.knobs import KNOBS


def _knob_bindings() -> Iterable[Binding]:
    """Shift with a function key arrives as F13 to F24 from most terminals and by name from newer ones."""
    for each in KNOBS:
        number = int(each.key[1:])
        yield Binding(
            each.key,
            f"turn('{each.id}', 1)",
            f"{each.title}: next",
            id=f"settings.{each.id}",
            priority=True,
            show=False,
            key_display=each.key.upper(),
            tooltip=each.meaning,
        )
        yield Binding(
            f"f{number + 12},shift+{each.key}",
            f"turn('{each.id}', -1)",
            f"{each.title}: back",
            id=f"settings.{each.id}.back",
            priority=True,
            show=False,
            key_display=f"⇧{each.key.upper()}",
            tooltip=f"{each.meaning} (one value back)",
        )


CHAT_BINDINGS: tuple[Binding, ...] = (
    Binding("escape", "stop", "Stop", id="chat.stop", key_display="esc", tooltip="End the answer; what was written stays"),
    Binding(
        "escape", "leave", "To the question", id="chat.leave", show=False, key_display="esc",
        tooltip="Leave what one is at, one layer at a time, and go on typing",
    ),
    Binding(
        "alt+up", "messages", "Messages", id="chat.messages", show=False, key_display="alt+↑",
        tooltip="To the newest message: arrows walk, letters act on it, Esc leads back",
    ),
    Binding("ctrl+n", "new", "New", id="chat.new", priority=True, tooltip="Start a new conversation"),
    Binding(
        "ctrl+s", "settings", "Settings", id="chat.settings", priority=True,
        tooltip="Open the panel of all settings and presets, or close it",
    ),
    Binding(
        "ctrl+g", "inspect", "Inspect", id="chat.inspect", priority=True,
        tooltip="Walk through the steps of an answer: trees, probabilities, why guesses fell, and what if",
    ),
    Binding(
        "ctrl+r", "compare", "Compare", id="chat.compare", priority=True,
        tooltip="Race decoders over what stands in the composer, else over the last question; nothing of it is kept",
    ),
    Binding(
        "f10,alt+t", "tokens", "Tokens", id="chat.tokens", priority=True, key_display="F10",
        tooltip="Show all answers token by token, each marked by how it was won, or as text again",
    ),
    Binding(
        "ctrl+b", "sidebar", "Conversations", id="chat.sidebar", priority=True,
        tooltip="To the conversations at the side; from there, hide them",
    ),
    Binding("ctrl+t", "panel", "Panel", id="chat.panel", priority=True, tooltip="Show or hide the Medusa panel"),
    Binding(
        "f11,alt+m", "models", "Models", id="chat.models", priority=True, key_display="F11",
        tooltip="Models: what is here, what fits, its heads; pull one, load another",
    ),
    Binding(
        "ctrl+o", "conversations", "Find conversation", id="chat.conversations", priority=True, show=False,
        tooltip="Earlier conversations: search one, go on with it, delete it",
    ),
    Binding(
        "alt+p", "pause", "Pause", id="chat.pause", priority=True, show=False,
        tooltip="Hold the running answer after this step; again: let it go on",
    ),
    Binding(
        "alt+n", "step_once", "One step", id="chat.step", priority=True, show=False,
        tooltip="Let the answer take one more step and hold it there",
    ),
    Binding(
        "alt+s", "system", "System prompt", id="chat.system", priority=True, show=False,
        tooltip="What the model is told before this conversation; for the answers to come",
    ),
    *_knob_bindings(),
    Binding(
        "pageup", "page(-1)", "Page up", id="chat.page-up", priority=True, show=False, key_display="PgUp",
        tooltip="Read further up",
    ),
    Binding(
        "pagedown", "page(1)", "Page down", id="chat.page-down", priority=True, show=False, key_display="PgDn",
        tooltip="Read further down",
    ),
    Binding(
        "alt+pageup", "earlier", "Earlier turns", id="chat.earlier", priority=True, show=False, key_display="alt+PgUp",
        tooltip="Show turns from further up that are not mounted",
    ),
    Binding(
        "ctrl+end", "follow", "Follow", id="chat.follow", priority=True, show=False, key_display="ctrl+end",
        tooltip="Go to the newest line and follow it",
    ),
)  # fmt: skip
