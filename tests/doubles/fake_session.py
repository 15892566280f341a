"""A model that needs no weights and no torch, for tests of the engine's process. What it does follows from its name."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from doubles.scripted_engine import LOADED
from doubles.step_records import steps_of

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.host.messages import Compare, Generate, Lane, Load, Loaded, Parting, StepRecord
from medusa_chat.host.partings import Difference
from medusa_chat.host.race import fair_turns

REPLY = "The capital of France is Paris, a city on the river Seine."

OTHER = "The capital of France is a city on the river Seine."

NOISE = "NOISE-THAT-BELONGS-IN-THE-LOG"


class OutOfMemoryError(RuntimeError):
    """Named as torch's own."""


PROBLEMS: dict[str, Callable[[], Exception]] = {
    "refused": lambda: MedusaError("There is no such thing; take another."),
    "memory": MemoryError,
    "card memory": lambda: OutOfMemoryError("CUDA out of memory"),
    "cpu memory": lambda: RuntimeError(
        "[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"
    ),
    "bug": lambda: KeyError("secret of the conversation"),
}


class FakeAnswer:
    """Says the same whatever is asked, or goes on for ever when that asks for "endless"."""

    prompt_tokens = 31
    prefill_seconds = 0.25

    def __init__(self, request: Generate, on_progress: Callable[[int, int], None]) -> None:
        self._asked = request.messages[-1].content
        self._decoding, self._sampling = request.decoding, request.sampling
        self._on_progress = on_progress

    def __iter__(self) -> Iterator[StepRecord]:
        if self._asked == "read for ever":
            for done in itertools.count():
                self._on_progress(done % 100, 100)
        for index in itertools.count(1) if self._asked == "endless" else ():
            # As many nodes as the budget says, a word for the temperature: a test sees which steps a change reached.
            yield _numbered(index, self._decoding.budget or 8, " cold" if self._sampling.greedy else " warm")
        for step in steps_of(OTHER if self._asked == "other" else REPLY):
            yield step
            if step.index == 2:
                self._go_wrong()

    def adjust(self, decoding: Decoding, sampling: Sampling | None) -> None:
        if decoding.decoder == "lookup":
            raise MedusaError("This model looks nothing up.")
        self._decoding, self._sampling = decoding, sampling or self._sampling

    def cancel(self) -> str:
        return "…held back"

    def _go_wrong(self) -> None:
        if self._asked in PROBLEMS:
            raise PROBLEMS[self._asked]()
        if self._asked == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if self._asked == "noise":
            make_noise()


class FakeComparison:
    """Every lane answers as it would alone, with as many nodes as its budget says; one named "other" says OTHER."""

    prompt_tokens = 31
    prefill_seconds = 0.25

    def __init__(self, request: Compare, on_progress: Callable[[int, int], None]) -> None:
        self._lanes = [FakeAnswer(_alone(request, lane), on_progress) for lane in request.lanes]

    def __iter__(self) -> Iterator[tuple[int, StepRecord]]:
        return fair_turns(self._lanes, lambda step: step.ms)

    def cancel(self, lane: int) -> str:
        return self._lanes[lane].cancel()

    def parting(self, before: Sequence[int], difference: Difference) -> Parting:
        return Parting(difference.index, difference.tokens, ("one", "other"), 0.5)


def _alone(request: Compare, lane: Lane) -> Generate:
    asked = (*request.messages[:-1], replace(request.messages[-1], content="other")) if lane.name == "other" else None
    return Generate(request.answer, asked or request.messages, decoding=lane.decoding)


class FakeSession:
    def __init__(self, load: Load, on_progress: Callable[[str, float | None], None]) -> None:
        self._model = load.model
        on_progress("reading weights", 0.5)
        if load.model in PROBLEMS:
            raise PROBLEMS[load.model]()
        if load.model == "slow":
            on_progress("reading for ever", None)
            time.sleep(3600)
        if load.model == "noisy":
            make_noise()

    def compare(self, request: Compare, on_progress: Callable[[int, int], None]) -> FakeComparison:
        if any(lane.decoding.decoder == "medusa" for lane in request.lanes):
            raise MedusaError("This model has no heads.")
        return FakeComparison(request, on_progress)

    def loaded(self) -> Loaded:
        return replace(LOADED, model=self._model)

    def answer(self, request: Generate, on_progress: Callable[[int, int], None]) -> FakeAnswer:
        if request.messages[-1].content == "too long":
            raise MedusaError("The prompt is too long; shorten it.")
        return FakeAnswer(request, on_progress)


def make_noise() -> None:
    """By every way a library may print."""
    print(NOISE, flush=True)
    print(NOISE, file=sys.stderr, flush=True)
    os.write(1, NOISE.encode())
    os.write(2, NOISE.encode())
    os.system(f"echo {NOISE}")


def _numbered(index: int, nodes: int, word: str) -> StepRecord:
    (step,) = steps_of(word, lengths=(1,), nodes=nodes, finish="length")
    return replace(step, index=index, finish=None)
