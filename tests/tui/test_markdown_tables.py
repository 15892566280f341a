"""Tables of answers in every width: columns that share it, cells that wrap in their column, and what is copied of them."""

from __future__ import annotations

from collections import Counter

import pytest
from doubles.painted import rows
from doubles.pictures import stand_still
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.geometry import Offset
from textual.selection import Selection

from medusa_chat.tui.column_widths import column_widths
from medusa_chat.tui.flat import flat

CITIES = """| City | People | Known for |
|:--|--:|:-:|
| 東京 | 14 | its trains and its food |
| Lyon | 0.5 | food |"""
NARROW = [f"| {' | '.join('abcdefg')} |", "|" + "---|" * 7, f"| {' | '.join(['one two'] * 7)} |"]


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (
            80,
            [
                "City  People         Known for",
                "────  ──────  ───────────────────────",
                "東京      14  its trains and its food",
                "Lyon     0.5           food",
            ],
        ),
        (
            26,
            [
                "City  People   Known for",
                "────  ──────  ────────────",
                "東京      14   its trains",
                "              and its food",
                "",
                "Lyon     0.5      food",
            ],
        ),
        (
            18,
            [
                "City: 東京",
                "People: 14",
                "Known for: its",
                "  trains and its",
                "  food",
                "",
                "City: Lyon",
                "People: 0.5",
                "Known for: food",
            ],
        ),
    ],
)
def test_a_table_takes_the_width_there_is(width, shown):
    assert rows(flat(CITIES), width) == [*shown, ""]


def test_a_table_in_a_quote_or_a_list_stays_beside_its_bar_or_marker():
    table = "| a | b |\n|---|---|\n| one | two three four |"
    quoted = ["▌ a    b", "▌ ───  ──────────", "▌ one  two three", "▌      four", ""]
    assert rows(flat("> " + table.replace("\n", "\n> ")), 17) == quoted
    item = ["• a    b", "  ───  ──────────", "  one  two three", "       four", ""]
    assert rows(flat("- " + table.replace("\n", "\n  ")), 17) == item
    assert rows(flat("- " + "\n  ".join(NARROW)), 40)[:2] == ["• a: one two", "  b: one two"]


def test_a_table_of_which_only_the_head_is_written_shows_it():
    text = "| Alpha | Beta | Gamma | Delta |\n|---|---|---|---|"
    assert rows(flat(text), 20) == ["Alpha", "Beta", "Gamma", "Delta", ""]
    assert rows(flat(text), 40)[0] == "Alpha  Beta  Gamma  Delta"


def test_columns_share_the_room_and_break_addresses_before_words():
    assert column_widths([4, 50, 60], [4, 9, 9], 50) == [4, 23, 23]
    assert column_widths([20, 50, 50], [14, 5, 5], 30) == [14, 8, 8]
    assert column_widths([90, 20], [90, 12], 24) == [12, 12]
    assert column_widths([50, 50], [5, 5], 12) == [6, 6]
    assert column_widths([50, 50], [5, 5], 11) is None


CELLS = st.lists(
    st.sampled_from(["one", "words", "東京と北京", "👩‍👩‍👧‍👦", "e\u0301", "**strong**", "`co de`", "characteristics" * 3, "שלום"]), max_size=8
).map(" ".join)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(
    st.integers(1, 5).flatmap(
        lambda columns: st.lists(st.lists(CELLS, min_size=columns, max_size=columns), min_size=1, max_size=4)
    ),
    st.sampled_from(["---", ":--", "--:", ":-:"]),
    st.integers(8, 130),
)
def test_no_character_is_lost_and_every_row_keeps_to_its_columns(table, rule, width):
    lines = ["|" + "|".join(cells) + "|" for cells in table]
    content = flat("\n".join([lines[0], "|" + f"{rule}|" * len(table[0]), *lines[1:]]))
    shown = rows(content, width)
    assert not Counter("".join(cell for row in table[1:] for cell in row)) - Counter("".join(shown) + "*` " * 999)
    if (rules := next((row for row in shown if "─" in row), None)) is not None:
        gaps = [place for place, character in enumerate(rules) if character == " "]
        assert all(cell == " " for row in shown for place, cell in enumerate(in_cells(row)) if place in gaps)


def in_cells(row: str) -> list[str]:
    """What stands in each cell of the terminal; nothing in those that a character before takes too."""
    cells: list[str] = []
    for end in range(1, len(row) + 1):
        cells += [row[end - 1]] * (cell_len(row[:end]) - len(cells))
    return cells


def test_of_a_wrapped_table_whole_rows_are_copied():
    content = flat(CITIES)
    assert rows(content, 26, Selection(Offset(12, 2), Offset(6, 3)))[2:6] == [
        "東京      14   [its trains]",
        "              [and its food]",
        "",
        "[Lyon]     0.5      food",
    ]
    assert Selection(Offset(12, 2), Offset(4, 3)).extract(content.plain) == "its trains and its food\nLyon"


async def test_the_mouse_finds_the_cell_it_points_at(open_chat):
    text = CITIES.replace("food |", "food and a great deal more of what one goes to a city for |")
    async with open_chat(text, size=(50, 40)) as chat:
        await chat.ask()
        await chat.finish()
        part = chat.answer.query(".frozen").first()
        lines = part.render().plain.split("\n")
        await stand_still(chat)
        assert part.size.height > len(lines)
        left, top = part.content_region.offset
        pointed_at = 0
        for y in range(part.size.height):
            for x, character in enumerate(in_cells(part.render_line(y).text)):
                widget, place = chat.screen.get_widget_and_offset_at(left + x, top + y)
                assert widget is part
                if character.isascii() and not character.isspace():
                    assert lines[place.y][place.x] == character
                    pointed_at += 1
        assert pointed_at > 80
