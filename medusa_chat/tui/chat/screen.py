"""The chat: transcript and composer at the left, the Medusa panel at the right, one timer between engine and screen."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Footer

from medusa_chat.engine.options import Limits
from medusa_chat.engine.statistics import Tally
from medusa_chat.host.messages import (
    Adjust,
    Cancel,
    Event,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    Progress,
)
from medusa_chat.host.protocol import Engine
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.composer import BUSY, READY, WAITING, Composer
from medusa_chat.tui.chat.help import HelpScreen
from medusa_chat.tui.chat.keys import CHAT_BINDINGS, key_table
from medusa_chat.tui.chat.status import Status, StatusLine, summary
from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.chat.welcome import Welcome
from medusa_chat.tui.knobs import Choices, knob, possible, why_unchanged
from medusa_chat.tui.panel.knob_list import KnobList
from medusa_chat.tui.panel.panel import MedusaPanel
from medusa_chat.tui.turn import Turn, messages_of

DRAIN_SECONDS = 1 / 25
PAINT_EVERY = 3
"""Drains between two repaints of text and figures: the screen shares its processor with the model."""
TREE_EVERY = 6
BEAT_EVERY = 5

PANEL_FROM = 104
"""Columns from which the panel is shown unless it was hidden by key."""


class ChatScreen(Screen[None]):
    """Folds engine events into turns and lets the widgets draw them."""

    CSS_PATH = ["screen.tcss", "../panel/panel.tcss"]  # noqa: RUF012
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-tiny"),
        (60, "-narrow"),
        (PANEL_FROM, "-medium"),
        (160, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-middle"), (38, "-roomy"), (48, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = list(CHAT_BINDINGS)

    def __init__(self, engine: Engine, model: str, prompt: str | None = None) -> None:
        super().__init__()
        self._engine = engine
        self._model = model
        self._prompt = prompt
        self._choices = Choices()
        self._loaded: Loaded | None = None
        self._loading: Progress | None = Progress("starting the engine")
        self._turns: list[Turn] = []
        self._view: AnswerView | None = None
        self._answers = 0
        self._ticks = 0
        self._dirty = False
        self._tree_dirty = False
        self._panel_wanted: bool | None = None
        self._waiting = False
        """A question is on the screen and is sent as soon as the model is ready."""

    def compose(self) -> ComposeResult:
        with Horizontal(id="body"):
            with Vertical(id="conversation"):
                with Transcript():
                    yield Welcome(None)
                yield StatusLine()
                yield Composer(id="composer")
            yield MedusaPanel()
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(Composer).focus()
        self._show_settings()
        self._paint()
        self.call_after_refresh(self._start)

    async def _start(self) -> None:
        """The first frame is on the screen: only now does anything heavy begin, and that in the engine's process."""
        self._engine.send(Load(self._model))
        self.set_interval(DRAIN_SECONDS, self._tick)
        if self._prompt is not None and self._prompt.strip():
            await self._ask(self._prompt)

    # Engine to screen.

    async def _tick(self) -> None:
        self._ticks += 1
        for event in self._engine.drain():
            await self._take(event)
        if self._dirty and self._ticks % PAINT_EVERY == 0:
            self._dirty = False
            if self._view is not None and self._view.turn.running:
                await self._view.update_text()
            self._paint_figures()
        if self._tree_dirty and self._ticks % TREE_EVERY == 0:
            self._paint_tree()
        self.query_one(Transcript).settle()
        self._show_status()

    async def _take(self, event: Event) -> None:
        turn = self._current
        if isinstance(event, Loaded):
            self._on_loaded(event)
        elif isinstance(event, Progress):
            if turn is not None and turn.running and not self._waiting and self._loading is None:
                turn.take(event)
            else:
                self._loading = event
        elif isinstance(event, Failed):
            await self._on_failed(event)
        elif turn is not None and turn.running and event.answer == turn.answer:
            turn.take(event)
            self._dirty = self._tree_dirty = True
            if isinstance(event, Finished):
                await self._close_turn()

    def _on_loaded(self, loaded: Loaded) -> None:
        self._loaded, self._loading = loaded, None
        self._choices = possible(self._choices, loaded)
        for welcome in self.query(Welcome):
            welcome.show(loaded)
        self._show_settings()
        self._dirty = True
        if self._waiting:
            self._send()
        elif self._busy and not self._turns[-1].tally.steps:
            self._turns[-1].tally.plain_ms = loaded.plain_ms

    async def _on_failed(self, failed: Failed) -> None:
        turn = self._current
        self._loading = None
        if turn is not None and turn.running and failed.answer in (None, turn.answer):
            turn.take(failed)
            await self._close_turn()
            composer = self.query_one(Composer)
            if not turn.text and not composer.text:
                composer.give_back(turn.question)
        elif failed.answer is None:
            await self.query_one(Transcript).tell(failed.advice)

    async def _close_turn(self) -> None:
        self._waiting = False
        if self._view is not None:
            await self._view.finish()
        self._paint()
        self.query_one(Composer).hint(READY)

    @property
    def _current(self) -> Turn | None:
        return self._turns[-1] if self._turns else None

    @property
    def _busy(self) -> bool:
        return self._current is not None and self._current.running

    # Screen to engine.

    @on(Composer.Submitted)
    async def _on_submitted(self, event: Composer.Submitted) -> None:
        if self._busy:
            self.query_one(Composer).give_back(event.text)
            self.notify("Still answering: Esc stops it. What you typed is kept.", timeout=4)
            return
        await self._ask(event.text)

    async def _ask(self, question: str) -> None:
        self._answers += 1
        turn = Turn(self._answers, question.strip(), Tally(plain_ms=self._loaded.plain_ms if self._loaded else None))
        self._turns.append(turn)
        self._view = await self.query_one(Transcript).add(turn)
        if self._loading is None:
            self._send()
        else:
            self._waiting = True
            self.query_one(Composer).hint(WAITING)
        self._paint()

    def _send(self) -> None:
        turn = self._turns[-1]
        self._waiting = False
        turn.tally.plain_ms = self._loaded.plain_ms if self._loaded else None
        self.query_one(Composer).hint(BUSY)
        self._engine.send(
            Generate(turn.answer, messages_of(self._turns), self._choices.sampling, self._choices.decoding, Limits())
        )

    async def action_stop(self) -> None:
        turn = self._current
        if turn is None or not turn.running:
            return
        if self._waiting:
            turn.reason = "cancelled"
            await self._close_turn()
        else:
            self._engine.send(Cancel())

    async def action_new(self) -> None:
        if self._busy and not self._waiting:
            self._engine.send(Cancel())
        self._turns, self._view, self._waiting = [], None, False
        await self.query_one(Transcript).start(Welcome(self._loaded))
        composer = self.query_one(Composer)
        composer.hint(READY)
        composer.focus()
        self._paint()

    # Settings.

    def action_turn(self, id: str, by: int) -> None:
        """Step a setting; a running answer takes it up with its next step."""
        changed = knob(id).turn(self._choices, by, self._loaded)
        if changed == self._choices:
            self.notify(why_unchanged(id, self._choices, self._loaded), timeout=4)
            return
        adjusted = changed.decoding != self._choices.decoding
        self._choices = changed
        if adjusted and self._busy and not self._waiting:
            self._engine.send(Adjust(changed.decoding))
        self._show_settings()
        self._show_status()

    @on(KnobList.Turned)
    def _on_turned(self, event: KnobList.Turned) -> None:
        self.action_turn(event.knob, event.by)

    # View.

    def action_panel(self) -> None:
        self._panel_wanted = not self.has_class("-panel")
        self._place_panel(self.size.width)

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen(key_table()))

    def action_page(self, by: int) -> None:
        transcript = self.query_one(Transcript)
        if by < 0:
            transcript.scroll_page_up(animate=False)
        else:
            transcript.scroll_page_down(animate=False)

    def action_follow(self) -> None:
        self.query_one(Transcript).anchor()

    def on_resize(self, event: Resize) -> None:
        self._place_panel(event.size.width)

    def _place_panel(self, width: int) -> None:
        wanted = self._panel_wanted if self._panel_wanted is not None else width >= PANEL_FROM
        self.set_class(wanted, "-panel")
        self._show_status()
        if wanted:
            self.call_after_refresh(self._paint)

    def _show_settings(self) -> None:
        self.query_one(MedusaPanel).show_settings(self._choices, self._loaded)

    def _paint(self) -> None:
        self._paint_figures()
        self._paint_tree()

    def _paint_figures(self) -> None:
        if self.has_class("-panel"):
            self.query_one(MedusaPanel).show_figures(self._shown_turn, self._loaded)

    def _paint_tree(self) -> None:
        self._tree_dirty = False
        if self.has_class("-panel"):
            turn = self._shown_turn
            self.query_one(MedusaPanel).show_tree(turn.last if turn is not None else None)

    @property
    def _shown_turn(self) -> Turn | None:
        """The newest turn with a step: figures stay until there are newer ones."""
        return next((turn for turn in reversed(self._turns) if turn.tally.steps), None)

    def _show_status(self) -> None:
        stage = self._loading or (self._current.stage if self._current is not None else None)
        brief = None
        if not self.has_class("-panel"):
            longest = self._loaded.heads + 1 if self._loaded is not None and self._loaded.heads else 5
            brief = summary(self._shown_turn, self._choices, longest)
        self.query_one(StatusLine).show(
            Status(
                stage=stage,
                behind=not self.query_one(Transcript).following,
                summary=brief,
                beat=self._ticks // BEAT_EVERY if stage is not None else 0,
            )
        )
