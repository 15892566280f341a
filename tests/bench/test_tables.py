"""What people see of a run: tables, lines, a chart."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import pytest
from rich.console import Console

from medusa_chat.bench.chart import COLOURS, chart
from medusa_chat.bench.differences import Parting
from medusa_chat.bench.families import FAMILIES
from medusa_chat.bench.summary import summarise
from medusa_chat.bench.table import interval_lines, parting_lines, tables
from medusa_chat.bench.timed import Sample, Timed
from medusa_chat.pictures.svg import PAPER

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ("plain", "medusa", "lookup", "joint", "hf", "hf-lookup", "economize", "llamacpp", "llamacpp-ngram")


def timed(tokens: tuple[int, ...], steps: int, seconds: float) -> Timed:
    split = {"draft": 12.34, "verify": 123.45, "accept": 0.5, "text": 0.25, "commit": 0.125}
    return Timed(
        tokens, len(tokens), steps, seconds, 0.5, first_token_seconds=12.34, split=split, nodes=64, peak_bytes=2**34
    )


def shown(samples: list[Sample], width: int = 80) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    for table in tables(summarise(samples)):
        console.print(table)
    return console.export_text()


def rows(text: str) -> dict[tuple[str, ...], list[str]]:
    return {tuple(line.split()[:2]): line.split() for line in text.splitlines() if line.strip()}


TWO = [
    Sample(1, "math", {"plain": timed((5, 6), 2, 0.001), "medusa": timed((5, 6), 1, 0.001)}),
    Sample(2, "[red]x[/]", {"plain": timed((5, 6), 2, 0.001), "medusa": timed((5, 7), 1, 0.001)}),
]


def test_all_names_and_wide_figures_fit_80_columns():
    samples = [
        Sample(number, family, {name: timed((5, 6), 2, 12.3) for name in NAMES})
        for family in ("writing", *FAMILIES[1:])
        for number in range(100)
    ]
    samples = [Sample(number, sample.category, sample.answers) for number, sample in enumerate(samples)]
    text = shown(samples)
    assert "…" not in text
    assert rows(text)["all", "plain"][-1] == "600/600"
    assert "llamacpp-ngram" in text


def test_families_are_shown_where_there_are_several_and_no_markup_is_obeyed():
    text = shown(TWO)
    found = rows(text)
    assert found["mt_bench", "plain"][-2:] == ["1.00", "1/1"]
    assert "[red]x[/]" in text
    assert found["all", "plain"][-2:] == ["1.00", "2/2"]
    assert found["medusa", "2000.0"][-2:] == ["1.00", "1/2"]
    assert interval_lines(summarise(TWO)) == [
        "medusa: speedup 1.00 to 1.00 in 95 % of 1000 redrawn sets of questions; median question 1.00"
    ]


def test_categories_are_shown_where_there_is_one_family():
    samples = [Sample(1, "math", TWO[0].answers), Sample(2, "stem", TWO[0].answers)]
    found = rows(shown(samples))
    assert ("math", "plain") in found
    assert ("stem", "plain") in found
    assert ("mt_bench", "plain") not in found


def test_turns_are_counted_apart_from_questions_and_named_where_texts_part():
    parting = Parting(0, (5, 6), ("a", "b"), 0.5, False)
    samples = [
        Sample(7, "math", TWO[0].answers),
        Sample(7, "math", TWO[0].answers, {"medusa": parting}, turn=2),
    ]
    assert "1 questions, 2 turns, greedy" in shown(samples)
    (line,) = parting_lines(samples)
    assert line.plain.startswith("question 7, turn 2 (math): they part at token 1, where plain says 'a'")


def test_those_that_tell_no_split_are_left_out_of_its_table():
    silent = Timed((5, 6), 2, 2, 1.0, 0.5)
    text = shown([Sample(1, "math", {"plain": silent})])
    assert "Where a step's time goes" not in text
    assert rows(text)["plain", "0.50"][-1] == "–"


def picture(samples: list[Sample], caption: tuple[str, str] = ("what", "where")) -> ElementTree.Element:
    return ElementTree.fromstring(chart(summarise(samples), caption))


def test_the_chart_has_one_bar_a_contestant_and_part_in_its_own_colour_as_long_as_its_speedup():
    root = picture(
        [Sample(1, "rag", {"plain": timed((5, 6), 2, 2.0), "a": timed((5, 6), 1, 1.0), "b": timed((5, 6), 2, 4.0)})]
    )
    bars: dict[str, list[float]] = {}
    for rect in root.iter(f"{SVG}rect"):
        bars.setdefault(rect.get("fill"), []).append(float(rect.get("width")))
    assert set(bars) == {PAPER, *COLOURS[:2]}
    # One square in the legend, then the bars of `rag` and of `all`.
    (_, *of_a), (_, *of_b) = bars[COLOURS[0]], bars[COLOURS[1]]
    assert len(of_a) == len(of_b) == 2
    assert of_a[0] == pytest.approx(4 * of_b[0], rel=0.01)
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert texts.count("2.00 · 2.0 tokens/s") == 2
    assert texts.count("plain 1.0 tokens/s") == 2


def test_the_chart_is_well_formed_whatever_the_names_are():
    evil = "</text><script>alert('&')\x1b[31m\x00"
    root = picture([Sample(1, evil, {"plain": timed((5, 6), 2, 2.0), evil: timed((5, 6), 1, 1.0)})], (evil, evil))
    assert {element.tag for element in root.iter()} == {
        f"{SVG}{tag}" for tag in ("svg", "title", "rect", "text", "line")
    }
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert any(text.startswith("</text><script>alert('&') [31m") for text in texts)


def test_everything_drawn_lies_on_the_paper():
    samples = [
        Sample(
            number, category, {"plain": timed((5, 6), 2, 2.0), "a": timed((5, 6), 1, seconds), "b": timed((5,), 1, 0.0)}
        )
        for number, (category, seconds) in enumerate([("rag", 0.01), ("rag", 1.0), ("qa", 9.0), ("qa", 0.1)])
    ]
    root = picture(samples)
    width, height = float(root.get("width")), float(root.get("height"))
    for line in root.iter(f"{SVG}line"):
        assert 0 <= float(line.get("x1")) <= float(line.get("x2")) <= width
        assert 0 <= float(line.get("y1")) <= float(line.get("y2")) <= height
    for rect in root.iter(f"{SVG}rect"):
        assert float(rect.get("x", 0)) + float(rect.get("width")) <= width
