"""The one loop: draft, verify, accept, commit. Plain decoding is this loop with a drafter that proposes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter

import torch

from medusa_chat.engine.acceptance.base import AcceptanceRule
from medusa_chat.engine.backbone import Backbone, Readout
from medusa_chat.engine.beliefs import beliefs
from medusa_chat.engine.budget import Budget
from medusa_chat.engine.drafters.base import DraftContext, Drafter
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.sampling import Sampler
from medusa_chat.engine.step import Step, Timings
from medusa_chat.engine.text.ending import Ending, Taken
from medusa_chat.engine.text.template import check_fits


@dataclass(slots=True)
class Controls:
    """What may be swapped between two steps; the loop looks once at the start of each."""

    drafter: Drafter
    rule: AcceptanceRule
    budget: Budget


def read_prompt(
    backbone: Backbone, prompt_ids: Sequence[int], on_progress: Callable[[int, int], None] | None = None
) -> None:
    """Bring the cache to all of the prompt but its last token, which becomes the first root.

    Rows the cache already holds for the same beginning (an earlier turn) are kept; only the rest is computed.

    Raises:
        MedusaError: the prompt is empty or longer than the context.
    """
    if not prompt_ids:
        raise MedusaError("The prompt is empty; there is nothing to answer.")
    check_fits(len(prompt_ids), backbone.context, 1)
    wanted = list(prompt_ids[:-1])
    if wanted == backbone.ids and (backbone.last_hidden is not None or not wanted):
        return
    # At least one row is computed anew: the heads need the hidden state of the last one.
    backbone.rewind(min(common_prefix(backbone.ids, wanted), max(len(wanted) - 1, 0)))
    backbone.prefill(wanted[backbone.length :], on_progress)


def decode(
    backbone: Backbone, controls: Controls, sampler: Sampler, prompt_ids: Sequence[int], ending: Ending
) -> Iterator[Step]:
    """Answer `prompt_ids`, one forward pass a step; the last step carries why the answer ended.

    Every token of the answer comes from a step, the first included. Between two steps `backbone.length` is one less
    than prompt + answer tokens: the newest token, the next root, has not been run through the backbone yet. Leaving
    the iterator between two steps (cancel) is always safe.

    Raises:
        MedusaError: see `read_prompt`.
    """
    read_prompt(backbone, prompt_ids)
    ids, index = list(prompt_ids), 0
    finish = None
    while finish is None:
        index += 1
        step, readout = _step(index, backbone, controls, sampler, ids, ending)
        ids.extend(step.tokens)
        finish = step.finish
        controls.drafter.observe(step, readout)
        controls.budget.observe(step)
        yield step


@torch.inference_mode()
def _step(
    index: int, backbone: Backbone, controls: Controls, sampler: Sampler, ids: list[int], ending: Ending
) -> tuple[Step, Readout]:
    rule = controls.rule
    clock = [perf_counter()]
    tree = controls.drafter.propose(DraftContext(ids, backbone.last_hidden), controls.budget).first(backbone.room)
    clock.append(perf_counter())
    readout = backbone.verify(tree)
    clock.append(perf_counter())
    posterior = sampler.posterior(ids, tree, readout.logits)
    verdict = rule.accept(posterior)
    clock.append(perf_counter())
    new = [*(tree.token_ids[node] for node in verdict.path[1:]), verdict.next_root]
    taken = _take(ending, new, backbone.context + 1 - len(ids))
    clock.append(perf_counter())
    path = verdict.path[: len(taken.tokens)]
    backbone.commit(path)
    clock.append(perf_counter())
    ms = [1000.0 * (after - before) for before, after in pairwise(clock)]
    step = Step(
        index,
        tree,
        path,
        taken.tokens,
        Timings(*ms),
        verdict.reasons,
        # Behind the clock: decoding needs none of this.
        beliefs(posterior) if sampler.explain else None,
        taken.text,
        taken.finish,
    )
    return step, readout


def _take(ending: Ending, new: list[int], room: int) -> Taken:
    """A full context ends an answer as the length limit does; the last token needs no row of its own."""
    taken = ending.take(new[:room])
    if taken.finish is None and len(taken.tokens) == room:
        return Taken(taken.tokens, taken.text + ending.close(), "length")
    return taken


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """How many tokens both begin with."""
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
