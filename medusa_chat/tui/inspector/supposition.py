"""Other settings for steps that have been taken: chosen here, sent nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from medusa_chat.engine.options import Decoding
from medusa_chat.host.messages import StepRecord
from medusa_chat.tui.choices import Choices
from medusa_chat.tui.inspector.what_if import WhatIf, what_if
from medusa_chat.tui.settings.fields import BUDGETS, field

KNOBS = ("rule", "epsilon", "delta", "threshold", "budget", "temperature")
"""What can be supposed otherwise of a tree that has been verified."""


class Supposition:
    """Starts from the settings a step was made with, and from its whole tree."""

    def __init__(self, decoding: Decoding, temperature: float) -> None:
        self.decoding = replace(decoding, budget=None)
        self.greedy = temperature == 0.0
        self.cursor = 0
        self._warm = temperature or 1.0
        """What was kept of a step made at temperature 0 are the probabilities of temperature 1."""

    def move(self, by: int) -> None:
        self.cursor = (self.cursor + by) % len(KNOBS)

    def turn(self, by: int, nodes: int) -> str:
        """Step the setting under the cursor, for a tree of `nodes` nodes; why nothing changed, if so."""
        name, before = KNOBS[self.cursor], (self.decoding, self.greedy)
        if name == "temperature":
            self.greedy = by < 0
        elif name == "budget":
            self._turn_budget(by, nodes)
        elif reason := self.idle(name):
            return reason
        else:
            self.decoding = field(f"decoding.{name}").turn(Choices(self.decoding), by, None).decoding
        return "" if before != (self.decoding, self.greedy) else f"That is as far as {name} goes here."

    def idle(self, name: str) -> str:
        """Why a setting changes nothing."""
        if name in ("epsilon", "delta", "threshold"):
            owner = "threshold" if name == "threshold" else "typical"
            if self.decoding.rule != owner:
                return f"Only the {owner} rule has this setting: change the rule first."
        return ""

    def shown(self, name: str, nodes: int) -> str:
        if name == "temperature":
            return "0" if self.greedy else f"{self._warm:g}"
        if name == "budget":
            budget = self.decoding.budget
            return f"all {nodes}" if budget is None or budget >= nodes else f"{budget} of {nodes}"
        return "–" if self.idle(name) else field(f"decoding.{name}").show(Choices(self.decoding), None)

    def of(self, step: StepRecord, follower: str | None = None) -> WhatIf:
        """
        Raises:
            MedusaError: what the model believed was not kept with this step.
        """
        return what_if(step, self.decoding, greedy=self.greedy, follower=follower)

    def _turn_budget(self, by: int, nodes: int) -> None:
        rungs: list[int | None] = [*(rung for rung in BUDGETS if rung < nodes), None]
        budget = self.decoding.budget
        now = len(rungs) - 1 if budget is None or budget >= nodes else _rung(rungs, budget)
        self.decoding = replace(self.decoding, budget=rungs[min(max(now + by, 0), len(rungs) - 1)])


def _rung(rungs: Sequence[int | None], budget: int) -> int:
    return max(place for place, rung in enumerate(rungs) if rung is not None and (rung <= budget or not place))


@dataclass(slots=True)
class Overall:
    """Accepted lengths of many steps, as they were and as they would have been."""

    steps: int = 0
    tokens: int = 0
    supposed: float = 0.0
    changed: int = 0
    """Steps that would have kept another path."""

    def add(self, step: StepRecord, result: WhatIf) -> None:
        """A path that is not known to its end counts as long as it is on average."""
        self.steps += 1
        self.tokens += len(step.tokens)
        self.changed += not result.same
        if result.same:
            self.supposed += len(step.tokens)
        else:
            self.supposed += result.expected if result.open and result.expected is not None else len(result.path)
