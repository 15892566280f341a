"""The chat: transcript and composer at the left, the Medusa panel at the right, one timer between engine and screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Key

from medusa_chat.host.messages import Event, Failed
from medusa_chat.host.protocol import Engine
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.composer import BUSY, HELD, QUEUED, READY, STOPPING, WAITING, Composer
from medusa_chat.tui.chat.keys import CHAT_BINDINGS
from medusa_chat.tui.chat.pace import TICK_SECONDS
from medusa_chat.tui.chat.queued import QueuedPrompts
from medusa_chat.tui.chat.sidebar import Sidebar
from medusa_chat.tui.chat.status import StatusLine
from medusa_chat.tui.chat.stepping import SteppingScreen
from medusa_chat.tui.chat.system_prompt import SystemLine
from medusa_chat.tui.chat.token_screen import TokenScreen
from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.chat.welcome import Welcome
from medusa_chat.tui.compare.opening import open_compare
from medusa_chat.tui.dialogue import Dialogue, Effect
from medusa_chat.tui.journal import Journal
from medusa_chat.tui.key_line import KeyLine
from medusa_chat.tui.learning.screen_part import LearningScreen
from medusa_chat.tui.panel.knob_list import KnobList
from medusa_chat.tui.panel.panel import MedusaPanel
from medusa_chat.tui.settings.setting_list import SettingList
from medusa_chat.tui.shelf import Shelf
from medusa_chat.tui.turn import Turn

SAVE_EVERY = 25


class ChatScreen(LearningScreen, TokenScreen, SteppingScreen):
    """Wires the dialogue to the widgets: what it says changed is redrawn, at a pace the screen sets."""

    BINDINGS: ClassVar[list[BindingType]] = list(CHAT_BINDINGS)

    def __init__(self, engine: Engine, model: str, prompt: str | None = None, quantize: str = "auto") -> None:
        self._journal = Journal()
        self.shelf = Shelf(self._journal)
        super().__init__(Dialogue(engine, model, self._journal, quantize))
        self._prompt = prompt
        self._view: AnswerView | None = None
        self._begun = False

    @property
    def settled(self) -> bool:
        """Everything that arrived is drawn."""
        return self.pace.settled

    def compose(self) -> ComposeResult:
        with Horizontal(id="body"):
            yield Sidebar(self.shelf, self.leave)
            with Vertical(id="conversation"):
                with Transcript():
                    yield Welcome(None)
                    yield SystemLine()
                yield StatusLine()
                yield QueuedPrompts()
                yield Composer(id="composer")
            yield MedusaPanel()
        yield KeyLine()

    def on_mount(self) -> None:
        self.set_focus(self.query_one(Composer))
        self._show_settings()
        self._paint()
        self.call_after_refresh(self._start)

    async def _start(self) -> None:
        """The first frame is on the screen: only now does anything heavy begin, and that in the engine's process."""
        self._begun = True
        self.refresh_bindings()
        await self.recall()
        self.dialogue.model.open()
        self._journal.open()
        self.query_one(Sidebar).look_again()
        self.set_interval(TICK_SECONDS, self._tick)
        if self._prompt is not None and self._prompt.strip():
            await self._ask(self._prompt)

    def on_unmount(self) -> None:
        self.dialogue.close()

    # What the engine says.

    async def _tick(self) -> None:
        pace = self.pace
        pace.ticks += 1
        for event in self.dialogue.drain():
            await self._react(event)
        if pace.text_due:
            pace.text = self._view is not None and not await self._view.draw()
        if pace.figures_due:
            self._paint_figures()
        if pace.tree_due:
            self._paint_tree()
        await self._ask_next()
        if pace.ticks % SAVE_EVERY == 0:
            self._journal.save()
        for trouble in self._journal.troubles():
            self.notify(trouble, severity="warning", timeout=10)
        self.query_one(Transcript).settle()
        self._show_status()

    async def _react(self, event: Event) -> None:
        effect = self.dialogue.take(event)
        if effect is Effect.STEPPED:
            self.pace.text = self.pace.figures = self.pace.tree = True
        elif effect is Effect.ENDED:
            await self._end_turn()
        elif effect is Effect.LOADED:
            self._show_loaded()
        elif effect is Effect.FAILED and isinstance(event, Failed):
            answering = self.dialogue.busy and not self.dialogue.waiting
            trouble = None if answering else self.dialogue.model.trouble
            await self.query_one(Transcript).tell(trouble or event.advice)

    def _show_loaded(self) -> None:
        if self.dialogue.loaded is not None:
            for welcome in self.query(Welcome):
                welcome.tell(self.dialogue.loaded)
        if self.dialogue.busy:
            self._hint()
        self._show_settings()
        self.pace.text = self.pace.figures = True

    async def _end_turn(self) -> None:
        self.refresh_bindings()
        self.pace.text = self._view is not None and not await self._view.draw()
        self.pace.figures = self.pace.tree = True
        composer, turn = self.query_one(Composer), self.dialogue.current
        self._hint()
        if turn is not None and turn.failure is not None and not turn.text and not composer.text:
            composer.give_back(turn.question)

    # What the person wants.

    @on(Composer.Submitted)
    async def _on_submitted(self, event: Composer.Submitted) -> None:
        if self.editing is not None:
            await self.ask_reworded(event.text)
        elif self.dialogue.busy or self.query_one(QueuedPrompts).prompts:
            self.query_one(QueuedPrompts).add(event.text)
            self._hint()
        else:
            await self._ask(event.text)

    async def _ask_next(self) -> None:
        """What waits in the queue; not behind an answer that was stopped or failed, for it may be about that one."""
        queued, turn = self.query_one(QueuedPrompts), self.dialogue.current
        ended_well = turn is None or turn.reason in ("eos", "length", "stop")
        if queued.prompts and ended_well and self.editing is None and not self.pace.text:
            await self._ask(queued.next())

    async def _ask(self, question: str) -> None:
        await self.grow(self.dialogue.ask(question))

    async def grow(self, turn: Turn) -> None:
        self.refresh_bindings()
        self._view = await self.query_one(Transcript).add(turn)
        self.query_one(Sidebar).look_again()
        self.keep_token_view()
        self.pace.text = self.pace.figures = True
        self._hint()

    def _hint(self) -> None:
        """What Enter and Esc do now."""
        dialogue, queued = self.dialogue, bool(self.query_one(QueuedPrompts).prompts)
        if dialogue.busy and not queued:
            hint = WAITING if dialogue.waiting else BUSY
        else:
            hint = QUEUED if dialogue.busy else HELD if queued else READY
        self.query_one(Composer).hint(hint)

    async def action_stop(self) -> None:
        """One layer at a time: leads back to the composer, takes back what waits, and then ends the answer."""
        composer, queued = self.query_one(Composer), self.query_one(QueuedPrompts)
        if self.uncover() or self.marked is not None or not (self.dialogue.busy or queued.prompts or self.editing):
            composer.focus()
        elif self.editing is not None:
            self.end_editing()
        elif queued.prompts:
            composer.give_back(queued.last())
            self._hint()
        elif self.dialogue.stop():
            await self._end_turn()
        else:
            self.query_one(Composer).hint(STOPPING)

    async def action_leave(self) -> None:
        await self.action_stop()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing before there is a screen to do it on; stopping is offered while there is something to stop."""
        if not self._begun:
            return False
        return self.dialogue.busy if action == "stop" else super().check_action(action, parameters)

    async def show(self, turns: Sequence[Turn]) -> None:
        """Another conversation than before."""
        self.end_editing()
        self.refresh_bindings()
        self._view = None
        while self.query_one(QueuedPrompts).prompts:
            self.query_one(Composer).give_back(self.query_one(QueuedPrompts).last())
        await self.query_one(Transcript).start(Welcome(self.dialogue.loaded), turns, self.dialogue.talk.system)
        self.keep_token_view()
        self.query_one(Composer).hint(READY)
        self._paint()
        self.query_one(Sidebar).look_again()

    @on(Composer.Changed)
    def _on_typed(self) -> None:
        """What takes the whole width makes room for it."""
        self.uncover()

    def on_key(self, event: Key) -> None:
        """What is typed where it means nothing was meant for the composer, be it before anything has the focus."""
        composer = self.query(Composer).first() if self.query(Composer) else None
        if composer is None or isinstance(self.focused, KnobList | SettingList):
            return
        if (at := self.focused) not in (None, composer) and (
            event.key in self.active_bindings or event.key in at._bindings.key_to_bindings
        ):
            return
        if (event.is_printable and not event.key.startswith(("alt+", "ctrl+"))) or event.key == "enter":
            event.stop()
            composer.post_message(Key(event.key, event.character))
            self.set_focus(composer)

    def action_turn(self, id: str, by: int) -> None:
        if (reason := self.dialogue.change(id, by)) is not None:
            self.notify(reason, timeout=4)
            return
        self._show_settings()
        self._show_status()

    @on(KnobList.Turned)
    def _on_turned(self, event: KnobList.Turned) -> None:
        self.action_turn(event.knob, event.by)

    def action_models(self) -> None:
        """The screen stays once it was opened, so that a pull goes on while one chats."""
        from medusa_chat.tui.models.screen import ModelsScreen

        if not self.app.is_screen_installed("models"):
            self.app.install_screen(ModelsScreen(self.dialogue), "models")
        self.app.push_screen("models")

    def action_compare(self) -> None:
        """Over the question under the cursor, else over what stands in the composer, else over the last question."""
        written = self.query_one(Composer).text.strip()
        turn = self.chosen if self.marked is not None or not written else None
        open_compare(self.app, self.dialogue, turn, written)
