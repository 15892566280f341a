"""The app: wires engine, themes and the chat screen."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.notifications import SeverityLevel
from textual.screen import Screen

from medusa_chat.host.protocol import Engine
from medusa_chat.tui.chat.screen import ChatScreen
from medusa_chat.tui.themes import DARK, load_themes

_TWICE_SECONDS = 2.0


class MedusaChatApp(App[None]):
    """Owns the engine: it is closed when the app ends, whichever way."""

    TITLE = "Medusa Chat"
    CSS_PATH = ["chat/screen.tcss", "panel/panel.tcss", "chat/help.tcss"]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", id="app.quit", priority=True, tooltip="Leave Medusa Chat"),
        Binding("ctrl+c", "interrupt", "Quit", id="app.interrupt", show=False, tooltip="Twice: leave Medusa Chat"),
    ]

    def __init__(self, engine: Engine, model: str, prompt: str | None = None, theme: str | None = None) -> None:
        super().__init__()
        self._engine = engine
        self._model = model
        self._prompt = prompt
        self._wanted_theme = theme
        self._interrupted = float("-inf")

    def get_default_screen(self) -> Screen[None]:
        """The chat is the first screen there is: keys typed while the app comes up find their way into the composer."""
        return ChatScreen(self._engine, self._model, self._prompt)

    def on_mount(self) -> None:
        self._use_themes()

    def on_unmount(self) -> None:
        self._engine.close()

    def _use_themes(self) -> None:
        themes = load_themes()
        for theme in themes.found.values():
            self.register_theme(theme)
        for problem in themes.problems:
            self.notify(problem, severity="warning", timeout=10)
        wanted = self._wanted_theme or DARK
        if wanted not in self.available_themes:
            names = ", ".join(sorted(themes.found))
            self.notify(f"There is no theme {wanted}; these are here: {names}.", severity="warning", timeout=10)
            wanted = DARK
        if wanted in self.available_themes:
            self.theme = wanted

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """As in Textual, but plain text unless asked otherwise: a bracket in an error's words is not markup."""
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    @property
    def fault(self) -> Exception | None:
        """What ended the app against its will."""
        return self._exception

    def _print_error_renderables(self) -> None:
        """Textual would print a traceback here; whoever started the app decides what a person reads of `fault`."""
        self._exit_renderables.clear()

    def action_interrupt(self) -> None:
        now = monotonic()
        if now - self._interrupted <= _TWICE_SECONDS:
            self.exit()
            return
        self._interrupted = now
        self.notify("Press ctrl+c once more to quit.", timeout=_TWICE_SECONDS)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action with words of its own, so that no key has to be known."""
        offered: set[str] = set()
        for _, binding, enabled, tooltip in screen.active_bindings.values():
            if binding.id is not None and enabled and not binding.id.startswith("app.") and binding.id not in offered:
                offered.add(binding.id)
                yield SystemCommand(
                    f"{binding.description[:1].upper()}{binding.description[1:]}",
                    tooltip or binding.tooltip,
                    lambda action=binding.action: self.run_action(action, screen),
                )
        yield SystemCommand("Theme", "Choose how it looks", self.action_change_theme)
        yield SystemCommand(
            "Screenshot", "Save the screen as an SVG picture in the current folder", self._save_picture_soon
        )
        yield SystemCommand("Quit", "Leave Medusa Chat", self.action_quit)

    def _save_picture_soon(self) -> None:
        """Once the palette has left the picture."""
        self.set_timer(0.1, self._save_picture)

    def _save_picture(self) -> None:
        try:
            path = self.save_screenshot()
        except OSError as error:
            self.notify(f"The picture could not be saved here: {error.strerror}.", severity="error")
        else:
            self.notify(f"Saved as {path}.")
