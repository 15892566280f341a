"""The app: wires engine, themes and the chat screen."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.dom import DOMNode
from textual.events import Event, InputEvent, Paste
from textual.notifications import SeverityLevel
from textual.screen import Screen

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.host.protocol import Engine
from medusa_chat.settings.keymap import read_keymap
from medusa_chat.settings.presets import Preset
from medusa_chat.tui.app_commands import commands
from medusa_chat.tui.app_keys import APP_BINDINGS
from medusa_chat.tui.chat.screen import ChatScreen
from medusa_chat.tui.look import Look
from medusa_chat.tui.theme_picker import ThemePicker
from medusa_chat.tui.themes import shades

_TWICE_SECONDS = 2.0
_SIGNS = {"warning": "! ", "error": "✗ "}
"""Before a notice, which without colours looks like any other."""


def _providers(name: str) -> Callable[[], type[Provider]]:
    """Of the palette, imported when it is first opened."""

    def provider() -> type[Provider]:
        from medusa_chat.tui import palette

        found: type[Provider] = getattr(palette, name)
        return found

    return provider


class MedusaChatApp(App[None]):
    """Owns the engine: it is closed when the app ends, whichever way."""

    TITLE = "Medusa Chat"
    CSS_PATH = [  # noqa: RUF012
        "chat/screen.tcss",
        "chat/sidebar.tcss",
        "panel/panel.tcss",
        "settings/settings.tcss",
        "chat/help.tcss",
        "look.tcss",
    ]
    COMMANDS = {_providers("Actions"), _providers("Conversations"), _providers("Themes"), _providers("Models")}  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = list(APP_BINDINGS)

    def __init__(
        self,
        engine: Engine,
        model: str,
        prompt: str | None = None,
        theme: str | None = None,
        preset: Preset | None = None,
        notice: str | None = None,
        quantize: str = "auto",
    ) -> None:
        """`notice` is said at the start; `quantize` is what the first model's weights are to be kept in."""
        # Without colours only the terminal's own two are left, and reversing them marks what is chosen.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self._engine = engine
        self._model = model
        self._prompt = prompt
        self._preset = preset
        self._notice = notice
        self._quantize = quantize
        self.look = Look(self, theme)
        self._interrupted = float("-inf")
        self.own_keys: Mapping[str, str] = {}
        """Comma-separated keys by the id of an action, where the person chose others."""

    def get_default_screen(self) -> Screen[None]:
        """The chat is the first screen there is: keys typed while the app comes up find their way into the composer."""
        screen = ChatScreen(self._engine, self._model, self._prompt, self._quantize)
        screen.preset = self._preset
        return screen

    def on_mount(self) -> None:
        self.look.start()
        if self._notice is not None:
            self.notify(self._notice, severity="warning", timeout=15)
        self.call_after_refresh(self._take_own_keys)

    def _take_own_keys(self) -> None:
        """The file is read at once; whether it makes sense is looked at only where there is something in it."""
        try:
            wanted = read_keymap()
        except MedusaError:
            return  # the theme is in the same file, and has said so
        if wanted.keys or wanted.problems:
            from medusa_chat.tui.bound import every_binding
            from medusa_chat.tui.own_keys import checked

            own = checked(wanted, every_binding())
            self.own_keys = own.keys
            self.set_keymap(own.keys)
            if own.problems:
                self.notify(own.told(), title="Keys", severity="warning", timeout=15)

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: DOMNode) -> None:
        """Told already, once, when the keys were read."""

    async def on_event(self, event: Event) -> None:
        """Whatever a person does is a sign that they are here."""
        if isinstance(event, InputEvent | Paste) and self.screen_stack:
            self.chat.touch()
        await super().on_event(event)

    def on_unmount(self) -> None:
        self._engine.close()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The program's own variables, for the moment before a theme of its own is worn."""
        return shades("#e0e0e0")

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        if self.no_color:
            variables |= {"block-cursor-text-style": "bold reverse"}
        return variables

    def action_help(self) -> None:
        """Every key, those of the screen one came from first."""
        from medusa_chat.tui.bound import every_binding
        from medusa_chat.tui.chat.help import HelpScreen
        from medusa_chat.tui.chat.help_text import sections

        if not isinstance(self.screen, HelpScreen):
            here = {each.area for each in every_binding() if isinstance(self.screen, each.owner)}
            shown = sections(every_binding(), self.own_keys, [] if "chat" in here else sorted(here))
            self.push_screen(HelpScreen(shown))

    def action_change_theme(self) -> None:
        """Let the person choose among the program's themes and their own."""
        if not isinstance(self.screen, ThemePicker):
            self.push_screen(ThemePicker(self.look.themes, self.theme, self.look.preview), self.look.choose)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """As in Textual, but always plain text, though widgets ask for markup unless told otherwise: brackets and
        escapes in an error's words are shown. What is said once more takes the place of what was said before."""
        said = _SIGNS.get(severity, "") + harmless(message)
        for shown in [each for each in self._notifications if (each.message, each.title) == (said, title)]:
            self._unnotify(shown, refresh=False)
        super().notify(said, title=title, severity=severity, timeout=timeout, markup=False)

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
        return commands(self, screen)

    async def _shutdown(self) -> None:
        """What is still being read is not waited for: it would come back to widgets that are gone. (Textual cancels a
        widget's work only after it has taken away what stands in it.)"""
        self.workers.cancel_all()
        await super()._shutdown()

    @property
    def chat(self) -> ChatScreen:
        """At the bottom of all screens."""
        chat = self.screen_stack[0]
        assert isinstance(chat, ChatScreen)
        return chat

    async def to_the_chat(self) -> None:
        """Leave all other screens."""
        while len(self.screen_stack) > 1:
            await self.pop_screen()

    async def in_the_chat(self, action: str) -> None:
        """There, whatever screen one is at."""
        await self.to_the_chat()
        await self.run_action(action, self.chat)

    def save_picture_soon(self) -> None:
        """Once the palette has left the picture."""
        self.set_timer(0.1, self._save_picture)

    def _save_picture(self) -> None:
        try:
            path = self.save_screenshot()
        except OSError as error:
            self.notify(f"The picture could not be saved here: {error.strerror}.", severity="error")
        else:
            self.notify(f"Saved as {path}.")
