"""Where one step's time goes: part by part, operator by operator, and what is left between the operators."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
from torch.profiler import ProfilerActivity, record_function
from torch.profiler import profile as profiler

from medusa_chat.bench.decoders import split_of
from medusa_chat.engine.backbone import Backbone, Readout
from medusa_chat.engine.forward.native import NativeForward
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.engine.step import Step
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.host.session import Session

_VERIFY = "medusa_chat verify"
_WARM_UP_TOKENS = 8
_QUIET = ("KINETO_LOG_LEVEL", "6")
"""The profiler notes its own start and end on stderr below this level."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One of torch's, over all its calls."""

    name: str
    ms: float
    """Of the processor, a step, without the operators it calls; taken under the profiler, which slows it a little."""
    device_ms: float
    """The same on the graphics card."""
    calls: float
    """A step."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Means over the steps of an answer; the first one, which reads the prompt, is left out."""

    nodes: float
    """Of a tree, root included."""
    steps: int
    forward: str
    """The path the rows were computed on."""
    step_ms: dict[str, float]
    """Milliseconds of a step by part, without the profiler; `rest` is the loop around the parts."""
    operators: list[Operator]
    """The longest first."""
    verify_in_operators_ms: float
    native_ms: dict[str, float]
    """Milliseconds of a step by kind of work of the native pass; empty on the other paths."""

    @property
    def total_ms(self) -> float:
        return sum(self.step_ms.values())

    @property
    def in_operators_ms(self) -> float:
        return sum(operator.ms for operator in self.operators)

    @property
    def verify_outside_ms(self) -> float:
        """Of the forward pass: own native code where there is any, else Python and the way into operators."""
        return max(0.0, self.step_ms["verify"] - self.verify_in_operators_ms)

    @property
    def python_ms(self) -> float:
        """Python and the way into operators, outside the forward pass; own native code of the heads counts here."""
        elsewhere = self.in_operators_ms - self.verify_in_operators_ms
        return max(0.0, self.total_ms - self.step_ms["verify"] - elsewhere)


def profile(session: Session, decoding: Decoding, prompt_ids: Sequence[int], tokens: int) -> Profile | None:
    """Answer twice, greedily: once for the times, once under the profiler. None where one step was the whole answer."""
    _answer(session, decoding, prompt_ids, _WARM_UP_TOKENS)
    steps, seconds = _answer(session, decoding, prompt_ids, tokens)
    if not steps:
        return None
    split = {part: ms / len(steps) for part, ms in split_of(steps).items()}
    spent: dict[str, float] = {}
    if isinstance(session.backbone.forward, NativeForward):
        _answer(session, decoding, prompt_ids, tokens, session.backbone.forward.phases(spent))
    os.environ.setdefault(*_QUIET)
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])]
    with _marked(session.backbone):
        recorder = profiler(activities=activities)
        _answer(session, decoding, prompt_ids, tokens, recorder)
    operators, verify_ms = _operators(recorder, len(steps))
    return Profile(
        nodes=sum(len(step.tree) for step in steps) / len(steps),
        steps=len(steps),
        forward=session.backbone.forward_name,
        step_ms={**split, "rest": 1000.0 * seconds / len(steps) - sum(split.values())},
        operators=operators,
        verify_in_operators_ms=verify_ms,
        native_ms={kind: ms / len(steps) for kind, ms in spent.items()},
    )


def _answer(
    session: Session, decoding: Decoding, prompt_ids: Sequence[int], tokens: int, recorder: Any = None
) -> tuple[list[Step], float]:
    """All steps but the first, and the seconds they took."""
    session.backbone.rewind(0)
    steps = iter(session.start(prompt_ids, Sampling(), decoding, Limits(max_tokens=tokens)))
    next(steps)
    if recorder is not None:
        with recorder:
            return list(steps), 0.0
    began = perf_counter()
    rest = list(steps)
    return rest, perf_counter() - began


@contextmanager
def _marked(backbone: Backbone) -> Iterator[None]:
    """The profiler sees which operators belong to the forward pass."""
    verify = backbone.verify

    def marked(tree: CandidateTree) -> Readout:
        with record_function(_VERIFY):
            return verify(tree)

    backbone.verify = marked  # type: ignore[method-assign]
    try:
        yield
    finally:
        del backbone.verify


def _operators(recorder: Any, steps: int) -> tuple[list[Operator], float]:
    """Those that took any time, and the milliseconds of a step inside those of the forward pass."""
    verify_us, operators = 0.0, []
    for entry in recorder.key_averages():
        if entry.key == _VERIFY:
            verify_us += entry.cpu_time_total - entry.self_cpu_time_total
            continue
        ms, device_ms = entry.self_cpu_time_total / 1000.0, entry.self_device_time_total / 1000.0
        if ms or device_ms:
            operators.append(Operator(entry.key, ms / steps, device_ms / steps, entry.count / steps))
    operators.sort(key=lambda operator: max(operator.ms, operator.device_ms), reverse=True)
    return operators, verify_us / 1000.0 / steps
