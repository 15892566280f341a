"""Rows of growing text: nothing lost, nothing too wide, nothing cut twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from medusa_chat.tui.compare.wrapping import rows_of


def cut(text: str, width: int) -> list[str]:
    return [text[start:end] for start, end in rows_of(text, width)]


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("", 10, [""]),
        ("one two three", 20, ["one two three"]),
        ("one two three", 8, ["one two ", "three"]),
        ("one two three", 7, ["one two", "three"]),
        ("one\n\ntwo", 9, ["one", "", "two"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("ab 東京東京", 5, ["ab ", "東京", "東京"]),
        ("東", 1, ["東"]),
        ("    deep", 10, ["    deep"]),
    ],
)
def test_rows(text, width, rows):
    assert cut(text, width) == rows


@given(st.text(alphabet="ab 東\n", max_size=60), st.integers(2, 9))
def test_rows_fit_and_lose_only_spaces_and_line_ends(text, width):
    rows = rows_of(text, width)
    assert all(cell_len(text[start:end]) <= width for start, end in rows)
    ends = [start for start, _ in rows[1:]] + [len(text)]
    assert rows[0][0] == 0
    assert all(
        text[end:start].strip(" \n") == "" and start - end <= 1 for (_, end), start in zip(rows, ends, strict=True)
    )


@given(st.lists(st.text(alphabet="ab 東\n", max_size=12), max_size=8), st.integers(2, 9))
def test_text_that_grows_is_cut_as_if_it_had_been_there_at_once(pieces, width):
    text, rows = "", [(0, 0)]
    for piece in pieces:
        text += piece
        last, _ = rows.pop()
        rows += rows_of(text, width, last)
    assert rows == rows_of(text, width)
