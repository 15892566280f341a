"""Curves as SVG."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from medusa_chat.pictures.lines import HEIGHT, Line, Panel, line_chart

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def curves(svg: str) -> list[list[tuple[float, float]]]:
    places = [one.get("points", "") for one in ElementTree.fromstring(svg).iter(f"{SVG}polyline")]
    return [[(float(x), float(y)) for x, _, y in (pair.partition(",") for pair in one.split())] for one in places]


def test_higher_is_further_up_and_later_further_right() -> None:
    (line,) = curves(line_chart([Panel("loss", [Line("all", ((0, 1.0), (10, 3.0), (20, 2.0)))], "steps")], "run"))
    (x1, y1), (x2, y2), (x3, y3) = line
    assert x1 < x2 < x3
    assert y2 < y3 < y1
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)
    assert (y1 - y2) == pytest.approx(2 * (y1 - y3), abs=0.3)


def test_names_stand_apart_also_where_lines_end_together() -> None:
    lines = [Line(f"head <{number}>", ((0, 0.0), (1, 0.5))) for number in range(5)]
    svg = line_chart([Panel("top-1", lines, "steps")], "run")
    places = [
        float(one.get("y", "")) for one in ElementTree.fromstring(svg).iter(f"{SVG}text") if "head" in (one.text or "")
    ]
    assert all(later - earlier >= 12 for earlier, later in pairwise(places))
    assert {"head <0>", "head <4>", "top-1"} <= set(texts(svg))


@pytest.mark.parametrize("points", [((5, 2.0),), ((5, 2.0), (5, 2.0)), ((0, 0.0), (1, 0.0)), ((0, -3.0), (1, 1e-7))])
def test_flat_and_single_points_are_drawn(points: tuple[tuple[float, float], ...]) -> None:
    assert len(curves(line_chart([Panel("x", [Line("a", points)], "steps")], "run"))) == 1


def test_panels_without_points_take_no_room() -> None:
    svg = line_chart(
        [Panel("empty", [Line("a", ())], "steps"), Panel("full", [Line("b", ((0, 1.0),))], "steps")], "run"
    )
    assert ElementTree.fromstring(svg).get("height") == str(HEIGHT)
    assert "empty" not in texts(svg)
    assert ElementTree.fromstring(line_chart([], "nothing")) is not None
