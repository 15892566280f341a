"""A tiny backbone beside its reference, and one way to run an answer that checks the loop's invariant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from doubles.tiny_families import Reference

from medusa_chat.engine.acceptance import AcceptanceRule, Lossless
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.budget import Budget, FixedBudget
from medusa_chat.engine.decode import Controls, decode
from medusa_chat.engine.drafters.base import Drafter
from medusa_chat.engine.drafters.plain import Plain
from medusa_chat.engine.options import Limits, Sampling
from medusa_chat.engine.sampling import Sampler
from medusa_chat.engine.step import Step
from medusa_chat.engine.text.ending import Ending


@dataclass
class Bench:
    """A backbone, what it must agree with, and a shorthand for answers."""

    backbone: Backbone
    reference: Reference
    _plain: dict[tuple[int, ...], list[int]] = field(default_factory=dict)

    def answer(
        self,
        prompt: Sequence[int],
        drafter: Drafter | None = None,
        *,
        rule: AcceptanceRule | None = None,
        budget: int | Budget = 16,
        max_tokens: int = 24,
        eos: Sequence[int] = (),
        controls: Controls | None = None,
        before_step: Callable[[Controls], None] | None = None,
        explain: bool = True,
        **sampling: Any,
    ) -> list[Step]:
        """All steps of one answer; checks after each that cache and tokens agree."""
        budget = FixedBudget(budget) if isinstance(budget, int) else budget
        controls = controls or Controls(drafter or Plain(), rule or Lossless(), budget)
        ending = Ending(Limits(max_tokens=max_tokens), frozenset(eos))
        sampler = Sampler(Sampling(**sampling), explain=explain)
        steps, ids = [], list(prompt)
        if before_step is not None:
            before_step(controls)
        for step in decode(self.backbone, controls, sampler, prompt, ending):
            steps.append(step)
            ids.extend(step.tokens)
            assert self.backbone.ids == ids[:-1]
            assert self.backbone.length == len(ids) - 1
            assert len(step.path) == len(step.tokens)
            if before_step is not None:
                before_step(controls)
        return steps

    def plain(self, prompt: Sequence[int], count: int) -> list[int]:
        """The first `count` greedy tokens by whole forward passes of the reference; remembered."""
        known = self._plain.setdefault(tuple(prompt), [])
        if len(known) < count:
            known += self.reference.greedy([*prompt, *known], count - len(known))
        return known[:count]


def tokens_of(steps: Sequence[Step]) -> list[int]:
    return [token for step in steps for token in step.tokens]
