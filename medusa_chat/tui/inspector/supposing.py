"""What if, on the inspector's screen: opened and closed by a key, recomputed with every setting and every step."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Sequence

from textual import on, work
from textual.screen import Screen

from medusa_chat.engine.errors import MedusaError
from medusa_chat.host.messages import StepRecord
from medusa_chat.tui.inspector.inspection import Inspection
from medusa_chat.tui.inspector.supposition import Overall, Supposition
from medusa_chat.tui.inspector.tree_map import TreeMap
from medusa_chat.tui.inspector.what_if import WhatIf
from medusa_chat.tui.inspector.what_if_view import Answer, WhatIfView

_AT_ONCE = 20
"""Steps judged between two breaths of the screen."""


class SupposingScreen(Screen[None]):
    """Knows what is supposed; whoever draws asks `supposed`."""

    def __init__(self, inspection: Inspection) -> None:
        super().__init__()
        self.inspection = inspection
        self.supposition: Supposition | None = None
        self._overall: Overall | None = None

    @property
    def supposed(self) -> WhatIf | None:
        """What this step would have been; None where nothing is supposed, or nothing is known."""
        step = self.inspection.step
        if self.supposition is None or step is None or step.beliefs is None:
            return None
        return self.supposition.of(step, self.inspection.follower)

    def action_what_if(self) -> None:
        """Begin to suppose, from the settings this step was made with; or stop."""
        if self.supposition is not None:
            self.supposition = None
            self.query_one(TreeMap).focus()
        else:
            self.supposition = Supposition(self.inspection.decoding, self.inspection.temperature)
            self.call_after_refresh(self.query_one(WhatIfView).focus)
            self._count()
        self.set_class(self.supposition is not None, "-supposing")
        self._redraw()

    def show_supposed(self) -> None:
        """In words, beside the tree."""
        step = self.inspection.step
        if self.supposition is None or step is None:
            return
        trouble = ""
        try:
            result = self.supposition.of(step, self.inspection.follower)
        except MedusaError as error:
            result, trouble = None, str(error)
        self.query_one(WhatIfView).show(self.supposition, Answer(step, result, self._overall, trouble))

    def _redraw(self) -> None:
        """Everything that depends on what is supposed."""
        raise NotImplementedError

    @on(WhatIfView.Moved)
    def _on_moved_to_setting(self, event: WhatIfView.Moved) -> None:
        if self.supposition is not None:
            self.supposition.move(event.by)
            self.show_supposed()

    @on(WhatIfView.Turned)
    def _on_turned(self, event: WhatIfView.Turned) -> None:
        step = self.inspection.step
        if self.supposition is None or step is None:
            return
        if reason := self.supposition.turn(event.by, len(step.tree.tokens)):
            self.notify(reason, timeout=4)
            return
        self._count()
        self._redraw()

    @work(exclusive=True, group="supposing")
    async def _count(self) -> None:
        """Over all steps that are known so far, a few at a time."""
        self._overall = None
        supposition, steps = self.supposition, list(self.inspection.steps)
        if supposition is None:
            return
        overall = Overall()
        for place, step in enumerate(steps):
            if step.beliefs is not None:
                overall.add(step, supposition.of(step, _follower(steps, place)))
            if place % _AT_ONCE == 0:
                await sleep(0)
        self._overall = overall if overall.steps else None
        self.show_supposed()


def _follower(steps: Sequence[StepRecord], place: int) -> str | None:
    return steps[place + 1].tree.texts[0] if place + 1 < len(steps) else None
