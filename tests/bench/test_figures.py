"""The arithmetic, on answers made by hand."""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest

from medusa_chat.bench.figures import figures
from medusa_chat.bench.timed import Sample, Timed


def timed(
    tokens: tuple[int, ...], steps: int, seconds: float, decoded: int | None = None, prefill: float = 0.5, **more: Any
) -> Timed:
    return Timed(tokens, len(tokens) if decoded is None else decoded, steps, seconds, prefill, **more)


FIRST = Sample(1, "math", {"plain": timed((5, 6, 7, 8), 4, 4.0), "medusa": timed((5, 6, 7, 8), 2, 3.0)})
SECOND = Sample(2, "math", {"plain": timed((1, 2), 2, 2.0), "medusa": timed((1, 3), 1, 1.0)})


def test_sums_come_before_ratios():
    medusa = figures([FIRST, SECOND], "medusa")
    assert medusa.tokens_per_second == pytest.approx(6 / 4.0)
    assert medusa.acceleration_rate == pytest.approx(6 / 3)
    assert medusa.overhead == pytest.approx((4.0 / 3) / (6.0 / 6))
    assert medusa.speedup == pytest.approx((6 / 4.0) / (6 / 6.0))
    assert medusa.speedup == pytest.approx(medusa.acceleration_rate / medusa.overhead)
    assert (medusa.questions, medusa.tokens, medusa.prefill_seconds) == (2, 6, 1.0)
    assert medusa.identical == (1, 2)


def test_plain_is_its_own_measure():
    plain = figures([FIRST, SECOND], "plain")
    assert (plain.acceleration_rate, plain.overhead, plain.speedup) == (1.0, 1.0, 1.0)
    assert plain.identical == (2, 2)
    assert plain.speedup_interval is None


def test_without_plain_there_is_nothing_to_measure_by():
    alone = figures([Sample(1, "math", {"medusa": timed((1, 2), 1, 2.0)})], "medusa")
    assert alone.tokens_per_second == 1.0
    assert (alone.overhead, alone.speedup, alone.speedup_interval, alone.identical) == (None, None, None, None)


def test_a_first_token_that_came_with_the_prompt_is_not_counted_as_decoded():
    peer = timed((5, 6, 7, 8), 3, 3.0, decoded=3)
    sample = Sample(1, "math", {"plain": timed((5, 6, 7, 8), 4, 4.0), "hf": peer})
    hf = figures([sample], "hf")
    assert (hf.tokens, hf.tokens_per_second, hf.acceleration_rate, hf.speedup) == (4, 1.0, 1.0, 1.0)
    assert hf.identical == (1, 1)


def test_an_answer_of_one_token_by_a_peer_divides_by_nothing():
    sample = Sample(1, "math", {"plain": timed((5,), 1, 1.0), "hf": timed((5,), 0, 0.0, decoded=0)})
    hf = figures([sample], "hf")
    assert (hf.tokens_per_second, hf.speedup, hf.speedup_interval) == (None, None, None)


def test_the_interval_holds_the_speedup_widens_with_scatter_and_is_always_the_same():
    def samples(speeds: list[float]) -> list[Sample]:
        return [
            Sample(i, "math", {"plain": timed((1, 2), 2, 2.0), "medusa": timed((1, 2), 1, 2.0 / speed)})
            for i, speed in enumerate(speeds)
        ]

    steady, scattered = samples([1.5] * 20), samples([1.0, 2.0] * 10)
    assert figures(steady, "medusa").speedup_interval == pytest.approx((1.5, 1.5))
    found = figures(scattered, "medusa")
    low, high = found.speedup_interval
    assert low < found.speedup < high
    assert low > 1.0
    assert high < 2.0
    assert found == figures(scattered, "medusa")


def test_latencies_are_of_answers_with_the_reading_and_first_tokens_of_whoever_brings_them():
    seconds = [1.0, 2.0, 3.0, 4.0, 10.0]
    samples = [
        Sample(
            i,
            "math",
            {
                "medusa": timed((1, 2), 1, value, first_token_seconds=0.6),
                "hf": timed((1, 2), 1, value, decoded=1),
            },
        )
        for i, value in enumerate(seconds)
    ]
    medusa, hf = figures(samples, "medusa"), figures(samples, "hf")
    assert medusa.latency_p50.value == 0.5 + median(seconds)
    # Linear between the fourth and the fifth: 4 + 0.8 * 6.
    assert medusa.latency_p95.value == pytest.approx(0.5 + 8.8)
    low, high = medusa.latency_p50.interval
    assert 1.5 <= low < medusa.latency_p50.value < high <= 10.5
    assert (medusa.first_token_p50.value, hf.first_token_p50.value) == (0.6, 0.5)


def test_turns_are_drawn_with_their_question_and_medians_are_over_questions():
    def turns(question: int, seconds: list[float]) -> list[Sample]:
        return [
            Sample(question, "math", {"plain": timed((1, 2), 2, 2.0), "medusa": timed((1, 2), 1, value)}, turn=turn)
            for turn, value in enumerate(seconds, start=1)
        ]

    found = figures([*turns(1, [0.5, 1.5]), *turns(2, [1.0]), *turns(3, [4.0, 4.0])], "medusa")
    assert (found.questions, found.answers, found.tokens) == (3, 5, 10)
    # Questions 1 and 2 win a factor of two, question 3 loses one.
    assert found.speedup_median.value == pytest.approx(2.0)
    assert found.tokens_per_second_median.value == pytest.approx(2.0)
    assert found.speedup == pytest.approx((10 / 11.0) / (10 / 10.0))
    assert found.speedup_interval == pytest.approx((0.5, 2.0))


def test_the_split_is_a_mean_over_steps_with_what_the_parts_leave():
    one = timed((1, 2), 1, 0.010, split={"draft": 2.0, "verify": 6.0}, nodes=8)
    other = timed((1, 2), 3, 0.030, split={"draft": 2.0, "verify": 22.0}, nodes=8)
    found = figures([Sample(1, "math", {"medusa": one}), Sample(2, "math", {"medusa": other})], "medusa")
    assert found.step_ms == pytest.approx({"draft": 1.0, "verify": 7.0, "rest": 2.0})
    assert found.nodes_per_step == 4.0


def test_who_does_not_tell_has_no_split_no_nodes_and_no_memory():
    found = figures([FIRST], "medusa")
    assert (found.step_ms, found.nodes_per_step, found.peak_bytes) == (None, None, None)


def test_peak_memory_is_the_highest_of_all_answers():
    samples = [
        Sample(number, "math", {"medusa": timed((1,), 1, 1.0, peak_bytes=peak)})
        for number, peak in enumerate([5, 9, 7])
    ]
    assert figures(samples, "medusa").peak_bytes == 9
