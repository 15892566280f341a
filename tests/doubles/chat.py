"""The chat as a test has it in hand: the app, the engine behind it, and the keys and eyes of a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from doubles.scripted_engine import ScriptedEngine
from doubles.waiting import PatientPilot, until
from textual.command import CommandList, CommandPalette
from textual.notifications import Notification
from textual.widget import Widget
from textual.widgets import Input, Static

from medusa_chat.host.messages import Generate
from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.chat.conversation_lines import Conversations
from medusa_chat.tui.chat.live_text import LiveText
from medusa_chat.tui.chat.screen import ChatScreen

QUESTION = "What is the capital of France?"
AT_REST = 5
"""Looks at a widget that find it in the same place."""


@dataclass
class Chat:
    """What a test needs of the running app."""

    app: MedusaChatApp
    engine: ScriptedEngine
    pilot: PatientPilot
    toasts: list[str] = field(default_factory=list)
    """All there were: on a slow machine one may be gone before it is looked for."""

    def __post_init__(self) -> None:
        self.toasts += [notification.message for notification in self.app._notifications]
        add = self.app._notifications.add

        def noted(notification: Notification) -> None:
            self.toasts.append(notification.message)
            add(notification)

        self.app._notifications.add = noted

    @property
    def screen(self) -> ChatScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, ChatScreen)
        return screen

    @property
    def composer(self) -> Composer:
        return self.screen.query_one(Composer)

    @property
    def answer(self) -> AnswerView:
        return self.screen.query(AnswerView).last()

    @property
    def answer_source(self) -> str:
        return self.answer.query_one(LiveText).tail

    async def until(self, condition: Callable[[], object]) -> None:
        """Let the app work until something holds; the test fails when it never does."""
        await until(self.pilot, condition)

    async def ready(self) -> None:
        """Wait until the model is loaded."""
        await self.until(lambda: self.composer.is_mounted and self.screen.dialogue.loaded is not None)

    async def ask(self, question: str = QUESTION) -> None:
        """Wait until it was sent and there is a place for its answer."""
        asked = len(self.engine.sent(Generate))
        self.composer.text = question
        await self.pilot.press("enter")
        await self.until(lambda: len(self.engine.sent(Generate)) > asked and self._newest_is_there())

    async def finish(self) -> None:
        """Play the running answer to its end and wait until it is drawn."""
        self.engine.play()
        await self.until(lambda: self._newest_is_there() and self.note())

    def _newest_is_there(self) -> bool:
        return self.answer.turn is self.screen.dialogue.current

    async def click(self, widget: Widget, offset: tuple[int, int] = (0, 0)) -> None:
        """Once the widget has come to rest: while text is laid out, what stood under the mouse moves on."""
        seen: list[object] = []

        def rests() -> bool:
            seen.append(widget.region)
            return len(seen) > AT_REST and len(set(seen[-AT_REST:])) == 1 and bool(widget.region.area)

        await self.until(rests)
        await self.pilot.click(widget, offset=offset)

    async def find(self, words: str, said: str) -> None:
        """Type into the palette; this is what it offers first, and so what Enter takes."""
        await self.pilot.press("ctrl+p")
        await self.until(lambda: isinstance(self.app.screen, CommandPalette))
        palette = self.app.screen
        await self.until(lambda: palette.query_one("CommandInput", Input).is_mounted)
        palette.query_one("CommandInput", Input).value = words

        def found() -> bool:
            # What is found late is sorted in, under the cursor if need be.
            over = all(worker.is_finished for worker in self.app.workers if worker.node is palette)
            return over and any(said in str(option.prompt) for option in palette.query_one(CommandList).options[:1])

        await self.until(found)
        await self.pilot.press("enter")

    async def go_on(self) -> None:
        """With the newest conversation of an earlier run, opened from the list."""
        await self.pilot.press("ctrl+o")
        await self.until(lambda: self.app.screen is not self.screen)
        await self.until(lambda: self.app.screen.query_one(Conversations).highlighted is not None)
        await self.pilot.press("enter")
        await self.until(lambda: self.app.screen is self.screen and self.screen.query(AnswerView))

    def shown(self, widget: Widget) -> str:
        """The text a widget has on the screen, line by line."""
        width = widget.size.width
        return "\n".join(widget.render_line(row).text[:width].rstrip() for row in range(widget.size.height))

    async def sees(self, text: str, selector: str | type[Widget]) -> None:
        """Wait until a widget, once it is laid out, has this text on the screen; the test fails when it never has."""
        await self.until(lambda: any(text in self.shown(widget) for widget in self.screen.query(selector)))

    def note(self) -> str:
        """Empty until it is laid out, and with it the answer above."""
        return str(self.answer.query_one(".note", Static).render())
