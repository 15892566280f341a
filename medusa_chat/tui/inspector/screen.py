"""The inspector: the steps of one answer, one at a time, while it is written or long after."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.dialogue import Dialogue
from medusa_chat.tui.inspector.details import node_words, step_words, times_in_one
from medusa_chat.tui.inspector.drawing import draw
from medusa_chat.tui.inspector.inspection import Inspection
from medusa_chat.tui.inspector.keys import INSPECTOR_BINDINGS
from medusa_chat.tui.inspector.label import GAINED, LOST
from medusa_chat.tui.inspector.passage import Passage
from medusa_chat.tui.inspector.scrubber import Scrubber
from medusa_chat.tui.inspector.sources import legend
from medusa_chat.tui.inspector.supposing import SupposingScreen
from medusa_chat.tui.inspector.tree_map import TreeMap, TreePane
from medusa_chat.tui.inspector.what_if_view import WhatIfView
from medusa_chat.tui.journal import Journal
from medusa_chat.tui.key_line import KeyLine
from medusa_chat.tui.text import MUTED
from medusa_chat.tui.turn import Turn

LOOK_SECONDS = 1 / 5
"""Between two looks at a running answer."""

_ROOMY, _VAST = 100, 160
"""Columns from which the words have bars, and from which they stand beside the tree."""


class InspectorScreen(SupposingScreen):
    """Reads the dialogue's plain state on a timer of its own; pausing and stepping are all it asks of it."""

    CSS_PATH = "inspector.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (_ROOMY, "-roomy"), (_VAST, "-vast")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (18, "-short"), (32, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = list(INSPECTOR_BINDINGS)

    def __init__(self, dialogue: Dialogue, journal: Journal, turn: Turn) -> None:
        super().__init__(Inspection(dialogue, journal, turn))
        self._dialogue = dialogue
        self._shown: tuple[object, ...] = ()
        self._offered: tuple[bool, ...] = ()

    def compose(self) -> ComposeResult:
        with Horizontal(id="heading"):
            yield Static(Content(_one_line(self.inspection.turn.question)), id="question", markup=False)
            yield Static(id="where", markup=False)
        yield Scrubber()
        with Container(id="middle"):
            with Vertical(id="drawn"):
                yield Passage()
                yield TreePane()
                yield Static(id="trouble", markup=False)
                yield Static(id="legend", markup=False)
            with VerticalScroll(id="words", can_focus=False):
                yield Static(id="node", markup=False)
                yield Static(id="times", markup=False)
                yield WhatIfView()
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(TreeMap).focus()
        self.set_interval(LOOK_SECONDS, self._look)
        self.run_worker(self._load(), exclusive=True)

    async def _load(self) -> None:
        await self.inspection.load()
        self._show(reveal=True)

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._show, reveal=True)

    # What is shown.

    def _look(self) -> None:
        """Redraw when the answer went on, was paused, or ended."""
        moved = self.inspection.catch_up()
        if moved or self._state() != self._shown:
            self._show(reveal=moved)

    def _state(self) -> tuple[object, ...]:
        inspection = self.inspection
        return len(inspection.steps), inspection.live, inspection.paused, inspection.stage

    def _show(self, reveal: bool) -> None:
        self._shown = self._state()
        self._offer_what_applies()
        inspection, step = self.inspection, self.inspection.step
        self.query_one("#where", Static).update(_where(inspection))
        lengths = [len(each.tokens) for each in inspection.steps]
        self.query_one(Scrubber).show(lengths, inspection.place, max(self._dialogue.model.longest, *lengths, 1))
        self.query_one(Passage).show(inspection.said)
        self.set_class(step is None, "-empty")
        if step is None:
            self.query_one("#trouble", Static).update(Content.styled(harmless(_nothing(inspection)), MUTED))
            return
        self.query_one("#legend", Static).update(_legend(step.tree.sources, self.supposition is not None))
        self._show_tree(reveal)
        self._show_words()

    def _offer_what_applies(self) -> None:
        """Only when that changed: a footer made anew costs more than everything else of a step."""
        inspection = self.inspection
        offered = (bool(inspection.steps), inspection.live, inspection.paused)
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    def _redraw(self) -> None:
        self._show(reveal=False)

    def _show_tree(self, reveal: bool) -> None:
        inspection, pane = self.inspection, self.query_one(TreePane)
        if inspection.step is not None:
            supposed = self.supposed
            other = None if supposed is None or supposed.same else supposed.path
            drawing = draw(
                inspection.step, pane.room, inspection.follower,
                other=other, cursor=inspection.node, focused=self.query_one(TreeMap).has_focus,
            )  # fmt: skip
            pane.show(drawing, inspection.node, reveal)

    def _show_words(self) -> None:
        inspection, step = self.inspection, self.inspection.step
        if step is None:
            return
        beside, plain = self.size.width >= _ROOMY, inspection.turn.tally.plain_ms
        words = node_words(step, inspection.node, inspection.follower, inspection.decodings, beside, self.supposed)
        self.query_one("#node", Static).update(words)
        self.show_supposed()
        self.query_one("#times", Static).update(step_words(step, plain) if beside else times_in_one(step, plain))

    def on_descendant_focus(self) -> None:
        self._show_tree(reveal=False)

    # What the person wants.

    @on(TreeMap.Looked)
    def _on_looked(self, event: TreeMap.Looked) -> None:
        self.inspection.look_at(event.node)
        self._show_tree(reveal=True)
        self._show_words()

    @on(Scrubber.Moved)
    def _on_moved(self, event: Scrubber.Moved) -> None:
        self._go(event.place)

    def action_go(self, by: int) -> None:
        self._go(self.inspection.place + by)

    def action_first(self) -> None:
        self._go(0)

    def action_last(self) -> None:
        self._go(len(self.inspection.steps) - 1)

    def _go(self, place: int) -> None:
        self.inspection.go(place)
        self._show(reveal=True)

    def action_pause(self) -> None:
        self._dialogue.pause()
        self._look()

    def action_resume(self) -> None:
        self._dialogue.resume()
        self._look()

    def action_step_once(self) -> None:
        """Of a paused answer; a running one is paused first."""
        self.action_last()
        if self._dialogue.paused:
            self._dialogue.step_once()
        else:
            self._dialogue.pause()
        self._look()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("pause", "resume"):
            return self.inspection.live and self.inspection.paused == (action == "resume")
        if action == "step_once":
            return self.inspection.live
        if action in ("go", "first", "last"):
            return bool(self.inspection.steps)
        if action == "what_if":
            return bool(self.inspection.steps) and not self.has_class("-tiny", "-flat")
        return True

    def action_close(self) -> None:
        """One layer: what is supposed, then the screen."""
        if self.supposition is not None:
            self.action_what_if()
        else:
            self.dismiss(None)


def _where(inspection: Inspection) -> Content:
    if inspection.step is None:
        return Content("")
    won = len(inspection.step.tokens)
    state, style = "", MUTED
    if inspection.paused:
        state, style = "‖ paused", "bold $warning"
    elif inspection.live:
        state, style = ("▶ live", "bold $success") if inspection.following else ("▶ running", "bold $success")
    return Content.assemble(
        ("step ", MUTED), (str(inspection.place + 1), "bold $foreground"), (f" of {len(inspection.steps)}", MUTED),
        (f" · {won} token{'s' if won > 1 else ''}", MUTED), ("  " if state else "", ""), (state, style),
    )  # fmt: skip


def _nothing(inspection: Inspection) -> str:
    if inspection.trouble is not None:
        return inspection.trouble
    if inspection.live:
        return f"Before the first step: {inspection.stage} …" if inspection.stage else "Before the first step …"
    return "Reading the steps …"


def _legend(sources: tuple[str, ...], supposing: bool) -> Content:
    signs = [("✓", "bold $accent"), (" kept  ", MUTED), ("✗", "$error"), (" fell  ", MUTED)]
    if supposing:
        signs += [GAINED, (" then kept  ", MUTED), LOST, (" then not  ", MUTED)]
    else:
        signs += [("→", "bold $foreground"), (" model's own  ", MUTED)]
    return Content.assemble(*signs, legend(sources), ("p: drafter, model", MUTED))


def _one_line(text: str) -> str:
    return " ".join(harmless(text).split())
