"""The conversation so far. Follows the newest line only while the person is at the bottom."""

from __future__ import annotations

from asyncio import Lock
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.events import Click
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.earlier import MORE, MOUNTED, EarlierLine
from medusa_chat.tui.chat.message_keys import MESSAGE_BINDINGS
from medusa_chat.tui.chat.message_view import MessageView, QuestionView
from medusa_chat.tui.chat.note import failure
from medusa_chat.tui.chat.system_prompt import SystemLine
from medusa_chat.tui.garbage import let_go
from medusa_chat.tui.light_container import LightContainer
from medusa_chat.tui.markup import code_blocks
from medusa_chat.tui.turn import Turn

LIVE_ANSWERS = 3
"""Answers kept in the parts they were written in; every widget there is makes each layout slower."""

_TOLERANCE = 2


class Transcript(VerticalScroll, LightContainer, can_focus=True):
    """Questions and answers, oldest first. While it has the focus, a cursor stands on one of them."""

    FOCUS_ON_CLICK = False
    """Only a click on a message brings the cursor here; text can be marked with the mouse without it."""

    BINDINGS: ClassVar[list[BindingType]] = list(MESSAGE_BINDINGS)

    class EarlierShown(Message):
        """Turns from further up have come back."""

    @dataclass
    class Copied(Message):
        """The person wants these words in the clipboard."""

        text: str

    def __init__(self) -> None:
        super().__init__()
        self._earlier: list[Turn] = []
        """Further up, not mounted."""
        self._bottom = 0
        """What `max_scroll_y` was when the newest line was last in view."""
        self._barred = 0.0
        """What `scroll_y` was when the scroll bar was last drawn anew."""
        self._code: tuple[MessageView | None, int] = (None, 0)
        """The message code was copied from last, and which of its blocks comes next."""
        self._order = Lock()
        """Held by whatever mounts or removes messages and has to wait in the midst of it."""

    def allow_focus(self) -> bool:
        return bool(self.messages)

    @property
    def following(self) -> bool:
        return self.max_scroll_y - self.scroll_y <= _TOLERANCE

    @property
    def new_lines(self) -> int:
        """Lines that have come below since the newest one was in view."""
        return 0 if self.following else max(0, self.max_scroll_y - self._bottom)

    def settle(self) -> None:
        """Follow from when there is more than fits: an anchored view with less would hang at the bottom."""
        if self.following:
            self._bottom = self.max_scroll_y
        if self.is_anchored != (over := self.virtual_size.height > self.container_size.height):
            self.anchor(over)
            if not over:
                self.scroll_home(animate=False, immediate=True)
        if self.scroll_y != self._barred:
            # Textual moves an anchored view without drawing its bar anew.
            self._barred = self.scroll_y
            self.vertical_scrollbar.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """A released anchor takes hold again near the bottom: the exact last row keeps moving while text streams."""
        super().watch_scroll_y(old_value, new_value)
        if new_value > old_value and self.is_anchored and self.following:
            self.anchor()

    async def start(self, welcome: Widget, turns: Sequence[Turn] = (), system: str = "") -> None:
        """Nothing but the welcome, the system prompt and what was said long ago."""
        async with self._order:
            await self.remove_children()
            self._earlier = list(turns[:-MOUNTED])
            await self.mount(welcome, SystemLine(system), EarlierLine(), *_past(turns[-MOUNTED:]))
            self._count_earlier()
        self.anchor(False)
        self.scroll_home(animate=False, immediate=True)

    async def keep(self, turns: Sequence[Turn]) -> None:
        """Cut back to these turns: what belongs to another branch goes, and all below it."""
        kept = {id(turn) for turn in turns}
        async with self._order:
            for place, child in enumerate(self.children):
                if isinstance(child, MessageView) and id(child.turn) not in kept:
                    await self.remove_children(self.children[place:])
                    break

    async def extend(self, turns: Sequence[Turn]) -> None:
        """Below what is left, turns that ended long ago."""
        async with self._order:
            await self.mount(*_past(turns))

    async def add(self, turn: Turn) -> AnswerView:
        """Show a question and the place its answer will grow in; whoever asks wants to see it, so follow again."""
        answer = AnswerView(turn)
        async with self._order:
            await self.mount(QuestionView(turn), answer)
        if self.is_anchored:
            self.anchor()
        self.call_later(self._tidy)
        return answer

    async def _tidy(self) -> None:
        """On this widget's own queue: the screen's has keys and frames to see to."""
        async with self._order:
            for old in list(self.query(AnswerView))[:-LIVE_ANSWERS]:
                await old.freeze()
            await self._put_away()

    # Turns further up.

    async def show_earlier(self, count: int = MORE) -> bool:
        """Mount some more of them; what is in view stays where it is. False when all are mounted."""
        async with self._order:
            cut = max(0, len(self._earlier) - count)
            turns, self._earlier = self._earlier[cut:], self._earlier[:cut]
            if not turns:
                return False
            first = self.messages[0]
            place = first.virtual_region.y
            await self.mount(*_past(turns), before=first)
            self._count_earlier()
        self.call_after_refresh(self._scroll_along, first, place)
        self.post_message(self.EarlierShown())
        return True

    def further_up(self, turn: Turn) -> int:
        """How many turns have to come back until this one is there."""
        return len(self._earlier) - self._earlier.index(turn) if turn in self._earlier else 0

    async def read(self, turn: Turn, asked: bool) -> None:
        """The cursor goes to the question or the answer of a turn, which comes back with all below it if need be;
        unless another conversation was opened meanwhile."""
        await self.show_earlier(self.further_up(turn))
        kind = QuestionView if asked else AnswerView
        for message in self.messages:
            if message.turn is turn and isinstance(message, kind):
                self.mark(message)
                self.focus(scroll_visible=False)
                self.call_after_refresh(self._bring_to_top, message)

    def _bring_to_top(self, message: MessageView) -> None:
        """Once there is a layout. Nothing below is new: the end was passed over, not missed."""
        if message.marked and message.is_attached:
            self.settle()
            self._bottom = self.max_scroll_y
            self.scroll_to_widget(message, top=True, animate=False, immediate=True)

    def _scroll_along(self, first: MessageView, place: int) -> None:
        moved = first.virtual_region.y - place
        self._bottom += moved
        if not self.is_anchored or not self.following:
            self.scroll_relative(y=moved, animate=False, immediate=True, force=True)

    async def _put_away(self) -> None:
        """While the newest turn is followed, those far above it need not be there."""
        mounted = [message for message in self.messages if isinstance(message, AnswerView)]
        if len(mounted) > MOUNTED and self.following:
            gone = {id(view.turn): view.turn for view in mounted[:-MOUNTED]}
            self._earlier += gone.values()
            await let_go([view for view in self.messages if id(view.turn) in gone])
            self._count_earlier()

    def _count_earlier(self) -> None:
        for line in self.query(EarlierLine):
            line.count(len(self._earlier))

    async def on_mouse_scroll_up(self) -> None:
        """At the top the wheel goes on to what is not mounted."""
        if self.scroll_y == 0:
            await self.show_earlier()

    @on(EarlierLine.Wanted)
    async def _on_wanted(self) -> None:
        await self.show_earlier()

    async def tell(self, problem: str) -> None:
        """Something went wrong outside of any answer."""
        await self.mount(Static(failure(problem), classes="problem", markup=False))

    # The cursor.

    @property
    def messages(self) -> list[MessageView]:
        """Oldest first."""
        return [child for child in self.children if isinstance(child, MessageView)]

    @property
    def marked(self) -> MessageView | None:
        """The message under the cursor."""
        return next((message for message in self.messages if message.marked), None)

    def mark(self, message: MessageView | None) -> None:
        """Put the cursor on a message, and the message into view; None takes the cursor away."""
        for other in self.messages:
            other.mark(other is message)
        self.refresh_bindings()
        if message is not None:
            self.scroll_to_widget(message, animate=False, immediate=True)

    def on_focus(self) -> None:
        if self.marked is None:
            self.action_move_to(-1)

    def on_click(self, event: Click) -> None:
        around = event.widget.ancestors_with_self if event.widget is not None else ()
        message = next((node for node in around if isinstance(node, MessageView)), None)
        if message is not None and not self.screen.get_selected_text():
            self.mark(message)
            self.focus(scroll_visible=False)

    async def action_move(self, by: int) -> None:
        marked = self.marked
        if by < 0 and marked is not None and marked is self.messages[0]:
            await self.show_earlier()
        messages = self.messages
        if marked is not None:
            self.mark(messages[min(max(messages.index(marked) + by, 0), len(messages) - 1)])

    def action_move_to(self, place: int) -> None:
        if messages := self.messages:
            self.mark(messages[place])

    def action_copy(self) -> None:
        if (marked := self.marked) is not None:
            self.post_message(self.Copied(marked.said))

    def action_copy_code(self) -> None:
        """The next code block of the message under the cursor; after the last one the first again."""
        marked = self.marked
        blocks = code_blocks(marked.said) if marked is not None else []
        if not blocks:
            self.notify("There is no code block in this message; Y copies all of it.", timeout=4)
            return
        number = self._code[1] % len(blocks) if self._code[0] is marked else 0
        self._code = (marked, number + 1)
        block = blocks[number]
        self.app.copy_to_clipboard(block.code)
        lines = f"{block.lines} line{'s' if block.lines != 1 else ''}"
        kind = f", {block.language}" if block.language else ""
        said = f"Code block {number + 1} of {len(blocks)}, {lines}{kind}: sent to the terminal's clipboard."
        self.notify(said, timeout=4)


def _past(turns: Sequence[Turn]) -> list[MessageView]:
    return [view for turn in turns for view in (QuestionView(turn), AnswerView(turn, past=True))]
