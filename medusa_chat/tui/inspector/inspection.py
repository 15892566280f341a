"""Which answer is looked at, which of its steps, which node: what the inspector shows, without a widget."""

from __future__ import annotations

from collections.abc import Sequence

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding
from medusa_chat.host.messages import StepRecord
from medusa_chat.tui.dialogue import Dialogue
from medusa_chat.tui.inspector.made_with import decodings_of, temperature_of
from medusa_chat.tui.journal import Journal
from medusa_chat.tui.keeping import record_of
from medusa_chat.tui.turn import Turn

_NO_TRACE = "No steps were kept with this answer, so there is nothing to walk through."


class Inspection:
    """Steps are counted from 0 here and from 1 on the screen. While the last one is looked at, a running answer is
    followed."""

    def __init__(self, dialogue: Dialogue, journal: Journal, turn: Turn) -> None:
        self.turn = turn
        self.steps: Sequence[StepRecord] = turn.steps
        """The running answer's grow by themselves."""
        self.place = 0
        self.node = 0
        self.trouble: str | None = None
        """Why there are no steps."""
        self._seen = len(turn.steps)
        self._dialogue = dialogue
        self._journal = journal
        self._made_with: list[tuple[int, Decoding]] = []
        self._temperature: float | None = None
        self.go(self._seen - 1 if self.live else 0)

    @property
    def step(self) -> StepRecord | None:
        return self.steps[self.place] if self.steps else None

    @property
    def live(self) -> bool:
        """More steps may come."""
        return self.turn is self._dialogue.current and self.turn.running

    @property
    def paused(self) -> bool:
        return self.live and self._dialogue.paused

    @property
    def stage(self) -> str | None:
        """What a running answer waits for."""
        stage = self._dialogue.stage if self.live else None
        return None if stage is None else stage.stage

    @property
    def following(self) -> bool:
        return self.place >= len(self.steps) - 1

    @property
    def follower(self) -> str | None:
        """The token the backbone added in this step: the root of the next one, and of the last what is known of it."""
        if self.place + 1 < len(self.steps):
            return self.steps[self.place + 1].tree.texts[0]
        return None if self.step is None else ending(self.step)

    @property
    def decoding(self) -> Decoding:
        """The options this step was made with, as far as that is known."""
        known = [decoding for step, decoding in self._made_with if step <= self.place + 1]
        return known[-1] if known else self._dialogue.choices.decoding

    @property
    def temperature(self) -> float:
        """The answer was made at, as far as that is known."""
        known = self._temperature
        return known if known is not None else self._dialogue.choices.sampling.temperature

    @property
    def decodings(self) -> Sequence[Decoding]:
        """All the answer may have been made with, those of this step first."""
        return [self.decoding, *(decoding for _, decoding in self._made_with)]

    @property
    def said(self) -> tuple[str, str, str]:
        """The answer's text before this step, of it, and after it."""
        texts = [step.text for step in self.steps]
        here = slice(self.place, self.place + 1)
        return "".join(texts[: self.place]), "".join(texts[here]), "".join(texts[self.place + 1 :])

    async def load(self) -> None:
        """Fetch what is kept on disk of an answer that was given earlier."""
        answer = self.turn.kept.answer
        if self.live:
            return
        try:
            if answer is not None:
                settings = await self._journal.settings(answer)
                self._made_with, self._temperature = decodings_of(settings), temperature_of(settings)
            if self.steps:
                return
            kept = [] if answer is None else await self._journal.steps(answer)
        except MedusaError as error:
            self.trouble = None if self.steps else str(error)
            return
        self.steps = [record_of(step, index) for index, step in enumerate(kept, start=1)]
        self.trouble = None if self.steps else _NO_TRACE
        self._seen = len(self.steps)
        self.go(0)

    def catch_up(self) -> bool:
        """Look for new steps; True when a newer one is looked at now."""
        follow = len(self.steps) > self._seen and self.place >= self._seen - 1
        self._seen = len(self.steps)
        if follow:
            self.go(self._seen - 1)
        return follow

    def go(self, place: int) -> None:
        """To a step, or as near as there is one."""
        self.place = min(max(place, 0), max(len(self.steps) - 1, 0))
        self._settle()

    def look_at(self, node: int) -> None:
        """-1 stands for the end of the accepted path."""
        if node < 0:
            self._settle()
        elif self.step is not None and node < len(self.step.tree.tokens):
            self.node = node

    def _settle(self) -> None:
        """The end of the accepted path is where one wants to look first."""
        self.node = self.step.path[-1] if self.step is not None else 0


def ending(step: StepRecord) -> str | None:
    """The last token a step won, as far as the step itself tells it: nodes are known by name, that one is none."""
    won = "".join(step.tree.texts[node] for node in step.path[1:])
    rest = step.text[len(won) :] if step.text.startswith(won) else None
    favourite = None if step.beliefs is None else step.beliefs.favourites[step.path[-1]]
    if favourite is not None and (not rest or rest == favourite):
        return favourite
    return rest or None
