"""The keys that work everywhere."""

from __future__ import annotations

from textual.binding import Binding, BindingType

APP_BINDINGS: list[BindingType] = [
    Binding("ctrl+q", "quit", "Quit", id="app.quit", priority=True, tooltip="Leave Medusa Chat"),
    Binding("ctrl+c", "interrupt", "Quit", id="app.interrupt", show=False, tooltip="Twice: leave Medusa Chat"),
    Binding(
        "f1",
        "help",
        "Help",
        id="app.help",
        priority=True,
        key_display="F1",
        tooltip="Every key, and what the words mean",
    ),
    Binding(
        "question_mark",
        "help",
        "Help",
        id="app.question",
        show=False,
        tooltip="The same, where no text is being typed",
    ),
    Binding(
        "ctrl+l",
        "change_theme",
        "Theme",
        id="app.theme",
        priority=True,
        show=False,
        tooltip="Choose how it looks; each theme is shown while you move",
    ),
]
