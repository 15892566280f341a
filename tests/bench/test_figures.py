"""The arithmetic, on answers made by hand."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from medusa_chat.bench.figures import figures
from medusa_chat.bench.table import interval_lines, table
from medusa_chat.bench.timed import Sample, Timed


def timed(tokens: tuple[int, ...], steps: int, seconds: float, decoded: int | None = None) -> Timed:
    return Timed(tokens, len(tokens) if decoded is None else decoded, steps, seconds, prefill_seconds=0.5)


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


def test_the_table_fits_80_columns_and_obeys_no_markup():
    samples = [
        Sample(1, "math_reasoning", {"plain": timed((5, 6), 2, 0.001), "medusa": timed((5, 6), 1, 0.001)}),
        Sample(2, "[red]x[/]", {"plain": timed((5, 6), 2, 0.001), "medusa": timed((5, 7), 1, 0.001)}),
    ]
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(table(samples))
    text = console.export_text()
    assert "…" not in text
    assert "[red]x[/]" in text
    rows = {tuple(line.split()[:2]): line.split()[-2:] for line in text.splitlines() if line.strip()}
    assert rows["math_reasoning", "plain"] == ["1.00", "1/1"]
    assert rows["all", "plain"] == ["1.00", "2/2"]
    assert rows["medusa", "2000.0"] == ["1.00", "1/2"]
    assert interval_lines(samples) == ["medusa: speedup 1.00 to 1.00 in 95 % of 1000 redrawn sets of questions"]
