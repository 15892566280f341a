"""One answer in the transcript: as it is written, by its tokens, and flat once it is old."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.widgets import Static

from medusa_chat.chats.trace import TraceStep
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.chat.live_text import LiveText
from medusa_chat.tui.chat.message_view import MessageView, SiblingLine
from medusa_chat.tui.chat.note import Note
from medusa_chat.tui.chat.token_view import TokenView
from medusa_chat.tui.flat import flat
from medusa_chat.tui.garbage import let_go
from medusa_chat.tui.light_container import LightContainer
from medusa_chat.tui.turn import Turn


class AnswerView(MessageView, VerticalGroup, LightContainer):
    """Draws what its turn holds, whenever `draw` is called."""

    def __init__(self, turn: Turn, past: bool = False) -> None:
        """A past turn is shown as old answers are, at once."""
        super().__init__()
        self.turn = turn
        self._text = None if past else LiveText()
        self._tokens: TokenView | None = None
        self._ended = past

    @property
    def said(self) -> str:
        return self.turn.text

    def on_mount(self) -> None:
        if self.turn.answers[1] > 1:
            self.mount(SiblingLine(self.turn.answers))

    def compose(self) -> ComposeResult:
        yield self._text or _flat(self.turn)
        note = Note()
        if self._ended:
            note.tell(self.turn)
        yield note

    async def draw(self) -> bool:
        """Take over what is new, and close when the turn has ended; False while it is too early for all of that."""
        self._draw_tokens()
        if self._text is None or self._ended:
            return True
        if self.turn.running:
            return self._tokens is not None or self._text.write(self.turn.text)
        self._ended = True
        await self._text.end(self.turn.text)
        self.query_one(Note).tell(self.turn)
        return True

    async def freeze(self) -> None:
        """Trade the parts for one widget; older turns cost next to nothing that way."""
        if self._text is not None:
            text, self._text = self._text, None
            old = _flat(self.turn)
            old.display = False
            await self.mount(old, before=0)
            old.display, text.display = True, False
            await let_go([text])

    # Token by token.

    @property
    def by_tokens(self) -> bool:
        return self._tokens is not None

    async def show_tokens(self, steps_of: Callable[[Turn], Awaitable[Sequence[TraceStep]]]) -> None:
        """Show how each token of the answer was won; of one that has ended, `steps_of` knows the steps.

        Raises:
            MedusaError: they cannot be read.
        """
        if self._tokens is not None:
            return
        tokens = self._tokens = TokenView()
        self.add_class("-tokens")
        await self.mount(tokens, before=".note")
        if self.turn.running:
            self._draw_tokens()
        else:
            tokens.end(await steps_of(self.turn), self.turn.text)

    async def show_text(self) -> None:
        """As it was written again."""
        if self._tokens is not None:
            tokens, self._tokens = self._tokens, None
            self.remove_class("-tokens")
            await tokens.remove()
            await self.draw()

    def _draw_tokens(self) -> None:
        if self._tokens is not None:
            self._tokens.follow(self.turn)


def _flat(turn: Turn) -> Static:
    return Static(flat(harmless(turn.text)), classes="frozen", markup=False)
