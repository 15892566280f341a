"""Between composer and messages: how the cursor gets to a message and back, and which turn an action is about."""

from __future__ import annotations

from textual import on
from textual.events import DescendantFocus
from textual.widget import Widget

from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.chat.message_view import MessageView
from medusa_chat.tui.chat.painting import PaintedScreen
from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.turn import Turn


class ReadingScreen(PaintedScreen):
    """The composer is home: from there one key leads to the newest message, and Esc leads back."""

    @property
    def marked(self) -> MessageView | None:
        """The message under the cursor; None while the transcript has not the focus."""
        transcript = self.query_one(Transcript)
        return transcript.marked if transcript.has_focus else None

    @property
    def chosen(self) -> Turn | None:
        """What an action on a turn is about: the one under the cursor, or else the newest."""
        return self.marked.turn if self.marked is not None else self.dialogue.current

    @property
    def focus_chain(self) -> list[Widget]:
        """Tab leads from the composer to the messages first."""
        chain = super().focus_chain
        composer, transcript = self.query_one(Composer), self.query_one(Transcript)
        if composer in chain and transcript in chain:
            chain.remove(transcript)
            chain.insert(chain.index(composer) + 1, transcript)
        return chain

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """A place left for good is forgotten; one left for another window is not."""
        transcript = self.query_one(Transcript)
        if event.widget is not transcript:
            transcript.mark(None)

    def action_messages(self) -> None:
        """To the newest message."""
        transcript = self.query_one(Transcript)
        if transcript.messages:
            transcript.action_move_to(-1)
            transcript.focus(scroll_visible=False)

    # Further up and down.

    async def action_earlier(self) -> None:
        if not await self.query_one(Transcript).show_earlier():
            self.notify("This is all there is: the conversation begins here.", timeout=4)

    async def action_page(self, by: int) -> None:
        transcript = self.query_one(Transcript)
        if by < 0:
            if transcript.scroll_y > 0 or not await transcript.show_earlier():
                transcript.scroll_page_up(animate=False)
        else:
            transcript.scroll_page_down(animate=False)

    def action_follow(self) -> None:
        self.query_one(Transcript).anchor()

    @on(Transcript.Copied)
    def _on_copied(self, event: Transcript.Copied) -> None:
        if not event.text:
            self.notify("There is nothing in this message to copy yet.", timeout=4)
            return
        self.app.copy_to_clipboard(event.text)
        self.notify(f"{len(event.text)} characters were sent to the terminal's clipboard.", timeout=4)
