"""From timed answers to figures. All sums come before all ratios, so long answers weigh as much as they took."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from medusa_chat.bench.timed import Sample, Timed

RESAMPLES = 1000
BASELINE = "plain"


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one contestant over some questions; None where there was nothing to measure it by."""

    questions: int
    tokens: int
    tokens_per_second: float | None
    """Decoding alone."""
    acceleration_rate: float | None
    """Tokens per step."""
    overhead: float | None
    """Time of a step / time of a plain step."""
    speedup: float | None
    """Tokens per second / those of plain decoding; equals acceleration rate / overhead, plain's rate being 1."""
    speedup_interval: tuple[float, float] | None
    """95 % bootstrap interval over the questions."""
    identical: tuple[int, int] | None
    """Answers with exactly plain's tokens, of how many."""
    prefill_seconds: float


def figures(samples: Sequence[Sample], name: str) -> Figures:
    own = [sample.answers[name] for sample in samples]
    plain = [sample.answers[BASELINE] for sample in samples if BASELINE in sample.answers]
    step, plain_step = _step_seconds(own), _step_seconds(plain)
    speed, plain_speed = _speed(own), _speed(plain)
    return Figures(
        questions=len(own),
        tokens=sum(len(answer.tokens) for answer in own),
        tokens_per_second=speed,
        acceleration_rate=_ratio(sum(answer.decoded for answer in own), sum(answer.steps for answer in own)),
        overhead=_ratio(step, plain_step),
        speedup=_ratio(speed, plain_speed),
        speedup_interval=_interval(own, plain) if plain and name != BASELINE else None,
        identical=(sum(a.tokens == b.tokens for a, b in zip(own, plain, strict=True)), len(own)) if plain else None,
        prefill_seconds=sum(answer.prefill_seconds for answer in own),
    )


def _speed(answers: Sequence[Timed]) -> float | None:
    return _ratio(sum(answer.decoded for answer in answers), sum(answer.seconds for answer in answers))


def _step_seconds(answers: Sequence[Timed]) -> float | None:
    return _ratio(sum(answer.seconds for answer in answers), sum(answer.steps for answer in answers))


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _interval(own: Sequence[Timed], plain: Sequence[Timed]) -> tuple[float, float] | None:
    """Questions are drawn with replacement, both contestants' answers to one together; the draw is always the same."""
    draw = random.Random(0)
    speedups = []
    for _ in range(RESAMPLES):
        picks = draw.choices(range(len(own)), k=len(own))
        speedup = _ratio(_speed([own[i] for i in picks]), _speed([plain[i] for i in picks]))
        if speedup is not None:
            speedups.append(speedup)
    if not speedups:
        return None
    speedups.sort()
    return speedups[int(0.025 * len(speedups))], speedups[int(0.975 * len(speedups))]
