"""One answer in the transcript: live Markdown while it is young, one flat value once it is old."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.content import Content
from textual.widgets import Markdown, Static
from textual.widgets.markdown import MarkdownStream

from medusa_chat.chats.trace import TraceStep
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.chat.message_view import MessageView, SiblingLine
from medusa_chat.tui.chat.token_view import TokenView
from medusa_chat.tui.markup import frozen, parser
from medusa_chat.tui.turn import Turn


class AnswerView(MessageView, VerticalGroup):
    """Draws what its turn holds, whenever `draw` is called.

    A Markdown widget must be streamed from empty and updated once at the end: other orders leave wrong blocks behind.
    """

    def __init__(self, turn: Turn, past: bool = False) -> None:
        """A past turn is shown as old answers are, at once."""
        super().__init__()
        self._past = past
        self.turn = turn
        self._ready = False
        self._written = 0
        self._ended = False
        self._stream: MarkdownStream | None = None
        self._tokens: TokenView | None = None

    @property
    def said(self) -> str:
        return self.turn.text

    def on_mount(self) -> None:
        if self.turn.answers[1] > 1:
            self.mount(SiblingLine(self.turn.answers))

    def compose(self) -> ComposeResult:
        if self._past:
            yield _flat(self.turn)
            note = Static(_note(self.turn), classes="note", markup=False)
            note.display = True
            yield note
        else:
            yield Markdown(parser_factory=parser, open_links=False)
            yield Static(classes="note", markup=False)

    @on(Markdown.TableOfContentsUpdated)
    def _on_markdown_up(self) -> None:
        """The first of these says that the Markdown widget has emptied itself, as it does once after being mounted.

        Text handed over before that is wiped, or both wait for each other for ever.
        """
        self._ready = True

    async def draw(self) -> bool:
        """Take over what is new, and close when the turn has ended; False while it is too early for that."""
        self._draw_tokens()
        if self._ready and not self._ended:
            if self.turn.running:
                if self._tokens is None:
                    await self._write()
            else:
                self._ended = True
                await self._draw_end()
        return self._ready

    async def _write(self) -> None:
        text = self.turn.text
        fresh, self._written = harmless(text[self._written :]), len(text)
        if not fresh:
            return
        if self._stream is None:
            self._stream = Markdown.get_stream(self.query_one(Markdown))
        await self._stream.write(fresh)

    async def _draw_end(self) -> None:
        """Draw the whole text once more, and say how the answer ended."""
        if self._stream is not None:
            await self._stream.stop()
            self._stream = None
        await self.query_one(Markdown).update(harmless(self.turn.text))
        note = self.query_one(".note", Static)
        note.update(_note(self.turn))
        note.display = True

    @property
    def by_tokens(self) -> bool:
        """Shown token by token."""
        return self._tokens is not None

    async def show_tokens(self, steps_of: Callable[[Turn], Awaitable[Sequence[TraceStep]]]) -> None:
        """Show token by token how the answer was won; of one that has ended, `steps_of` knows the steps.

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

    async def freeze(self) -> None:
        """Trade the live blocks for one widget; older turns cost next to nothing that way."""
        markdowns = self.query(Markdown)
        if markdowns:
            await self.mount(_flat(self.turn), before=0)
            await markdowns.remove()


def _flat(turn: Turn) -> Static:
    return Static(frozen(harmless(turn.text)), classes="frozen", markup=False)


def _note(turn: Turn) -> Content:
    if turn.failure is None:
        return Content(turn.summary())
    failed = failure(turn.failure)
    return Content.assemble(failed, "\n", turn.summary()) if turn.text else failed


def failure(advice: str) -> Content:
    """Marked by a sign as well as a colour."""
    return Content.styled(f"✗ {harmless(advice)}", "bold $error")
