"""From timed answers to figures.

Rates are ratios of sums, so that long answers weigh as much as they took; medians, over questions or answers, stand
beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from medusa_chat.bench.resample import Interval, Spread, quantile, ratio_interval
from medusa_chat.bench.timed import Sample, Timed

BASELINE = "plain"


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one contestant over some questions; None where there was nothing to measure it by."""

    questions: int
    answers: int
    """As many as questions, or more where a question has several turns."""
    tokens: int
    tokens_per_second: float | None
    """Decoding alone."""
    tokens_per_second_median: Spread | None
    """Over the questions."""
    acceleration_rate: float | None
    """Tokens per step."""
    overhead: float | None
    """Time of a step / time of a plain step."""
    speedup: float | None
    """Tokens per second / those of plain decoding; equals acceleration rate / overhead, plain's rate being 1."""
    speedup_interval: Interval | None
    """95 % bootstrap interval over the questions."""
    speedup_median: Spread | None
    """Over the questions."""
    identical: tuple[int, int] | None
    """Answers with exactly plain's tokens, of how many."""
    prefill_seconds: float
    latency_p50: Spread | None
    """Seconds from a question to the end of its answer, reading included: the median answer."""
    latency_p95: Spread | None
    first_token_p50: Spread | None
    """Seconds from a question to the first token of its answer."""
    step_ms: Mapping[str, float] | None
    """Milliseconds of a step by part; `rest` is the loop around the parts. None where a contestant does not tell."""
    nodes_per_step: float | None
    """Mean size of the trees, roots included."""
    peak_bytes: int | None
    """The most memory its process had held by its last answer; our own decoders share one process."""


def figures(samples: Sequence[Sample], name: str) -> Figures:
    own = _by_question(samples, name)
    plain = _by_question(samples, BASELINE)
    answers, plain_answers = _flat(own), _flat(plain)
    speed, plain_speed = _speed(answers), _speed(plain_answers)
    measured = bool(plain) and name != BASELINE
    return Figures(
        questions=len(own),
        answers=len(answers),
        tokens=sum(len(answer.tokens) for answer in answers),
        tokens_per_second=speed,
        tokens_per_second_median=quantile([_numbers(_speed(question)) for question in own], 0.5),
        acceleration_rate=_ratio(_total(answers, _decoded), _total(answers, _steps)),
        overhead=_ratio(_step_seconds(answers), _step_seconds(plain_answers)),
        speedup=_ratio(speed, plain_speed),
        speedup_interval=ratio_interval(_terms(own), _terms(plain)) if measured else None,
        speedup_median=quantile(_speedups(own, plain), 0.5) if measured else None,
        identical=_identical(answers, plain_answers),
        prefill_seconds=_total(answers, lambda answer: answer.prefill_seconds),
        latency_p50=quantile([[answer.latency for answer in question] for question in own], 0.5),
        latency_p95=quantile([[answer.latency for answer in question] for question in own], 0.95),
        first_token_p50=quantile([[answer.first_token for answer in question] for question in own], 0.5),
        step_ms=_step_ms(answers),
        nodes_per_step=_nodes_per_step(answers),
        peak_bytes=max((answer.peak_bytes for answer in answers if answer.peak_bytes is not None), default=None),
    )


def _by_question(samples: Sequence[Sample], name: str) -> list[list[Timed]]:
    """The turns of each question."""
    questions: dict[int, list[Timed]] = {}
    for sample in samples:
        if name in sample.answers:
            questions.setdefault(sample.question, []).append(sample.answers[name])
    return list(questions.values())


def _flat(questions: Sequence[Sequence[Timed]]) -> list[Timed]:
    return [answer for question in questions for answer in question]


def _decoded(answer: Timed) -> float:
    return answer.decoded


def _steps(answer: Timed) -> float:
    return answer.steps


def _seconds(answer: Timed) -> float:
    return answer.seconds


def _total(answers: Sequence[Timed], of: Callable[[Timed], float]) -> float:
    return sum(of(answer) for answer in answers)


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _speed(answers: Sequence[Timed]) -> float | None:
    return _ratio(_total(answers, _decoded), _total(answers, _seconds))


def _step_seconds(answers: Sequence[Timed]) -> float | None:
    return _ratio(_total(answers, _seconds), _total(answers, _steps))


def _terms(questions: Sequence[Sequence[Timed]]) -> tuple[list[float], list[float]]:
    """Of tokens per second, one a question."""
    return [_total(question, _decoded) for question in questions], [
        _total(question, _seconds) for question in questions
    ]


def _speedups(own: Sequence[Sequence[Timed]], plain: Sequence[Sequence[Timed]]) -> list[list[float]]:
    return [
        _numbers(_ratio(_speed(question), _speed(reference))) for question, reference in zip(own, plain, strict=True)
    ]


def _numbers(value: float | None) -> list[float]:
    return [] if value is None else [value]


def _identical(own: Sequence[Timed], plain: Sequence[Timed]) -> tuple[int, int] | None:
    if not plain:
        return None
    return sum(a.tokens == b.tokens for a, b in zip(own, plain, strict=True)), len(own)


def _step_ms(answers: Sequence[Timed]) -> dict[str, float] | None:
    steps = _total(answers, _steps)
    if not steps or not all(answer.split for answer in answers):
        return None
    parts = {part: sum(answer.split[part] for answer in answers) / steps for part in answers[0].split}
    return {**parts, "rest": 1000.0 * _total(answers, _seconds) / steps - sum(parts.values())}


def _nodes_per_step(answers: Sequence[Timed]) -> float | None:
    nodes = [answer.nodes for answer in answers if answer.nodes is not None]
    return _ratio(sum(nodes), _total(answers, _steps)) if len(nodes) == len(answers) else None
