"""The app over a scripted engine, driven by keys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import pytest
from doubles.scripted_engine import ScriptedEngine
from textual.command import CommandList, CommandPalette
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input, Static

from medusa_chat.host.messages import Generate, Loaded
from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.chat.live_text import LiveText
from medusa_chat.tui.chat.screen import ChatScreen

QUESTION = "What is the capital of France?"


@dataclass
class Chat:
    """What a test needs of the running app."""

    app: MedusaChatApp
    engine: ScriptedEngine
    pilot: Pilot[None]

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
        return list(self.screen.query(AnswerView))[-1]

    @property
    def answer_source(self) -> str:
        return self.answer.query_one(LiveText).tail

    @property
    def toasts(self) -> list[str]:
        return [notification.message for notification in self.app._notifications]

    async def until(self, condition: Callable[[], object]) -> None:
        """Let the app work until something holds; the test fails when it never does."""
        for _ in range(400):
            if condition():
                return
            await self.pilot.pause(0.01)
        assert condition()

    async def click(self, widget: Widget, offset: tuple[int, int] = (0, 0)) -> None:
        """Once the widget has come to rest: while text is laid out, what stood under the mouse moves on."""
        seen: list[object] = []

        def rests() -> bool:
            seen.append(widget.region)
            return len(seen) > 5 and len(set(seen[-5:])) == 1 and bool(widget.region.area)

        await self.until(rests)
        await self.pilot.click(widget, offset=offset)

    async def ask(self, question: str = QUESTION) -> None:
        asked = len(self.engine.sent(Generate))
        self.composer.text = question
        await self.pilot.press("enter")
        await self.until(lambda: len(self.engine.sent(Generate)) > asked)

    async def finish(self) -> None:
        """Play the running answer to its end and wait until it is drawn."""
        self.engine.play()
        await self.until(self.note)

    async def find(self, words: str, said: str) -> None:
        """Type into the palette; this is what it offers first, and so what Enter takes."""
        await self.pilot.press("ctrl+p")
        await self.until(lambda: isinstance(self.app.screen, CommandPalette))
        palette = self.app.screen
        palette.query_one("CommandInput", Input).value = words

        def found() -> bool:
            # What is found late is sorted in, under the cursor if need be.
            over = all(worker.is_finished for worker in self.app.workers if worker.node is palette)
            return over and any(said in str(option.prompt) for option in palette.query_one(CommandList).options[:1])

        await self.until(found)
        await self.pilot.press("enter")

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


Opener = Callable[..., AbstractAsyncContextManager[Chat]]


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    """No theme, setting or terminal of the machine that tests."""
    monkeypatch.setenv("MEDUSA_CHAT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def open_chat() -> Opener:
    """`async with open_chat("reply", size=(120, 40)) as chat`; the model is loaded when the block begins."""

    @asynccontextmanager
    async def opened(
        *replies: object,
        size: tuple[int, int] = (120, 40),
        prompt: str | None = None,
        theme: str | None = None,
        loaded: Loaded | None = None,
        engine: ScriptedEngine | None = None,
        ready: bool = True,
        model: str = "tiny",
    ) -> AsyncIterator[Chat]:
        if engine is None:
            options = {} if loaded is None else {"loaded": loaded}
            engine = ScriptedEngine(*(replies or ("Paris.",)), **options)
        app = MedusaChatApp(engine, model, prompt, theme)
        app.animation_level = "none"
        async with app.run_test(size=size) as pilot:
            chat = Chat(app, engine, pilot)
            if ready:
                await chat.until(lambda: chat.screen.dialogue.loaded is not None)
            yield chat

    return opened
