"""Settings from one start to the next: read once, written when they change, never on the screen's own time."""

from __future__ import annotations

from collections.abc import Mapping

from medusa_chat.engine.errors import MedusaError
from medusa_chat.host.messages import Loaded
from medusa_chat.settings.preferences import Remembered, remember, remembered
from medusa_chat.tui.choices import Choices, possible


class Memory:
    """Knows what the file holds; blocks while it reads and writes, so both belong on a thread."""

    def __init__(self) -> None:
        self._held = Remembered()

    def recall(self) -> tuple[Choices, Mapping[str, bool], tuple[str, ...]]:
        """Settings, panels and a plain sentence for each thing that is wrong with the file."""
        try:
            self._held, problems = remembered()
        except MedusaError as error:
            problems = (str(error),)
        held = self._held
        return Choices(held.decoding, held.sampling, held.limits), held.panels, problems

    def differs(self, choices: Choices, panels: Mapping[str, bool], loaded: Loaded | None) -> bool:
        """Whether there is something to write. What a model could not follow was no choice of the person's."""
        held = Choices(self._held.decoding, self._held.sampling, self._held.limits)
        same = choices in (held, held if loaded is None else possible(held, loaded))
        return not same or {**self._held.panels, **panels} != self._held.panels

    def keep(self, choices: Choices, panels: Mapping[str, bool]) -> str | None:
        """Writes it; returns what went wrong. What could not be written is not tried again until it changes."""
        panels = {**self._held.panels, **panels}
        self._held = Remembered(choices.decoding, choices.sampling, choices.limits, panels)
        try:
            remember(self._held)
        except MedusaError as error:
            return str(error)
        return None
