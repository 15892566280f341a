"""The compare screen: the prompt, the race with its figures, what each lane writes, and the verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType

from medusa_chat.engine.errors import MedusaError
from medusa_chat.host.messages import ChatMessage, Lane
from medusa_chat.settings.presets import all_presets
from medusa_chat.tui.compare.contestants import FEWEST_LANES, Lineup, contestants
from medusa_chat.tui.compare.keys import COMPARE_BINDINGS
from medusa_chat.tui.compare.lane_text import LaneText
from medusa_chat.tui.compare.painting import RaceScreen
from medusa_chat.tui.compare.prompt import PromptField
from medusa_chat.tui.compare.state import Comparison
from medusa_chat.tui.compare.verdict import report
from medusa_chat.tui.dialogue import Dialogue

LOOK_SECONDS = 1 / 10


class CompareScreen(RaceScreen):
    """Starts at once where there is a prompt, and draws what changed ten times a second. Nothing of it enters the
    conversation."""

    CSS_PATH = "screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = list(COMPARE_BINDINGS)

    def __init__(self, dialogue: Dialogue, earlier: Sequence[ChatMessage], prompt: str) -> None:
        super().__init__(dialogue, earlier, prompt)
        self._wanted = False
        """To start as soon as the model is ready."""
        self._drawn: tuple[Comparison | None, int] | None = None
        self._offered: object = None

    def on_mount(self) -> None:
        self._lane_texts[0].focus()
        self.set_interval(LOOK_SECONDS, self._look)
        before = self._dialogue.comparisons.newest
        self._begin(before.lanes if before is not None else ())

    @work(exclusive=True, group="begin")
    async def _begin(self, last: Sequence[Lane]) -> None:
        """The presets lie on the disk; then off it goes, if there is anything to ask."""
        dialogue = self._dialogue
        presets = (await asyncio.to_thread(all_presets)).presets
        known = contestants(dialogue.choices, dialogue.loaded, presets)
        self._lineup = Lineup.of(dialogue.choices, known, last)
        self._place(self.size.width)
        self.action_run()

    # What the engine says.

    @property
    def settled(self) -> bool:
        """Everything that arrived is drawn."""
        return self._state == self._drawn

    @property
    def _state(self) -> tuple[Comparison | None, int]:
        return self._shown, self._shown.changes if self._shown is not None else 0

    def _look(self) -> None:
        self._looks += 1
        if self._wanted and self._dialogue.loading is None:
            # Only now is known what the model can do.
            self._wanted = False
            self._begin(self._lineup.lanes)
        if not self.settled:
            self._drawn = self._state
            self._draw()
        if (offered := (self._racing, self._dialogue.paused, self._partings[0] is None)) != self._offered:
            self._offered = offered
            self.refresh_bindings()
        self._draw_story()

    # What the person wants.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offers what applies now."""
        running, paused = self._racing, self._dialogue.paused
        applies = {
            "stop": running,
            "close": not running,
            "pause": running and not paused,
            "resume": running and paused,
            "step": running and paused,
            "add_lane": not self._lineup.full,
            "drop_lane": len(self._lineup.lanes) > FEWEST_LANES,
            "turn_lane": bool(parameters) and parameters[0] in range(len(self._lineup.lanes)),
            "difference": self._partings[0] is not None,
            "copy": self._shown is not None,
            "copy_lane": isinstance(self.focused, LaneText),
        }
        return applies.get(action, True)

    @property
    def _racing(self) -> bool:
        return self._shown is not None and self._shown.running

    @on(PromptField.Run)
    def action_run(self) -> None:
        """Now, or as soon as the model is ready; without a prompt, ask for one."""
        if not self.query_one(PromptField).text.strip():
            self.query_one(PromptField).take_up()
        elif self._dialogue.loading is None:
            self._run()
        else:
            self._wanted = True

    def _run(self) -> None:
        prompt = ChatMessage("user", self.query_one(PromptField).text.strip())
        try:
            self._shown = self._dialogue.compare([*self._earlier, prompt], self._lineup.lanes)
        except MedusaError as error:
            self.notify(str(error), severity="warning")
            return
        self.refresh_bindings()
        self._to_lanes()

    @on(PromptField.Left)
    def _to_lanes(self) -> None:
        if not isinstance(self.focused, LaneText):
            self._lane_texts[0].focus()

    def action_edit(self) -> None:
        self.query_one(PromptField).take_up()

    def action_difference(self) -> None:
        for text, place in zip(self._lane_texts, self._partings, strict=False):
            if place is not None:
                text.reveal(place)

    @property
    def _partings(self) -> list[int | None]:
        """Character by lane; the first lane has that of the first to leave it."""
        parted = [run.parted for run in self._shown.runs] if self._shown is not None else [None]
        return [min((place for place in parted if place is not None), default=None), *parted[1:]]

    def action_turn_lane(self, lane: int, by: int) -> None:
        self._lineup.turn(lane, by)
        self._change_lanes()

    @on(LaneText.Titled)
    def _on_titled(self, event: LaneText.Titled) -> None:
        self.action_turn_lane(event.lane, 1)

    def action_add_lane(self) -> None:
        self._lineup.add()
        self._change_lanes()

    def action_drop_lane(self) -> None:
        self._lineup.drop()
        self._change_lanes()

    def _change_lanes(self) -> None:
        """What was run with others no longer belongs to what is shown."""
        self._stop()
        self._shown = None
        if isinstance(self.focused, LaneText) and self.focused.lane >= len(self._lineup.lanes):
            self._lane_texts[0].focus()
        self._place(self.size.width)
        self.refresh_bindings()

    def action_stop(self) -> None:
        """A second time: without waiting for it."""
        if self._shown is not None and self._shown.stopping:
            self.action_close()
        else:
            self._stop()

    def _stop(self) -> None:
        self._wanted = False
        if self._racing:
            self._dialogue.comparisons.stop()

    def action_close(self) -> None:
        self._stop()
        self.dismiss(None)

    def action_pause(self) -> None:
        self._dialogue.pause()

    def action_resume(self) -> None:
        self._dialogue.resume()

    def action_step(self) -> None:
        self._dialogue.step_once()

    def action_copy(self) -> None:
        if self._shown is not None:
            self.app.copy_to_clipboard(report(self._shown))
            self.notify("Sent to the clipboard: prompt, figures and verdict.", timeout=4)

    def action_copy_lane(self) -> None:
        if isinstance(self.focused, LaneText) and self._shown is not None:
            self.app.copy_to_clipboard(self._shown.runs[self.focused.lane].text)
            self.notify(f"Sent to the clipboard: what lane {self.focused.lane + 1} wrote.", timeout=4)
