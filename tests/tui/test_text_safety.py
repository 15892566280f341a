"""Pure helpers that stand between foreign text and the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.flat import flat
from medusa_chat.tui.text import fitted, showable_piece


@given(st.text(), st.text())
def test_what_is_shown_holds_no_control_codes_however_it_is_cut(left, right):
    shown = harmless(left) + harmless(right)
    assert shown == harmless(left + right)
    assert all(character in "\n\t" or ord(character) >= 0x20 for character in shown)
    assert not any(0x7F <= ord(character) < 0xA0 for character in shown)


def test_escape_codes_and_direction_overrides_become_signs():
    assert harmless("\x1b[31m a\u202eb\r\nc\x07\x9b") == "␛[31m a�b\nc␇�"
    assert showable_piece(" a\n\t\x1b") == "·a↵⇥␛"
    assert showable_piece("") == "∅"


def test_fitted_counts_cells():
    assert fitted("東京", 6) == "東京  "
    assert fitted("東京東京", 5) == "東京…"
    assert fitted("abc", 0) == ""


def test_frozen_markdown_keeps_every_word_and_obeys_none():
    text = "# T [/x]\n\nA *b* **c** `d` [l](http://x) <i>h</i> &lt;\n\n- one\n  - two\n\n3. three\n\n> q\n\n```\n[bold]\n```"
    plain = flat(text).plain
    for word in ("T [/x]", "A b c d [l](http://x) <i>h</i> &lt;", "• one", "  • two", "3. three", "▌ q", "▎ [bold]"):
        assert word in plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://a.b/_c_/__d__~~e~~.", "see https://a.b/_c_/__d__~~e~~."),
        ("[l](http://a.b/_c_) and _this_", "[l](http://a.b/_c_) and this"),
        ("**https://a.b/c**, _http://d_, `x://_y_`", "https://a.b/c, http://d, x://_y_"),
    ],
)
def test_an_address_keeps_every_character_beside_emphasis(text, shown):
    assert flat(text).plain.split("\n")[0] == shown


def test_a_quote_keeps_its_bar_and_an_item_its_indent_in_every_line():
    assert flat("> one\n> two\n\n- three\n  four\n  - five\n    six").plain.split("\n") == [
        "▌ one",
        "▌ two",
        " ",
        "• three",
        "  four",
        "  • five",
        "    six",
        " ",
    ]


async def test_single_line_ends_stay_while_an_answer_is_young_and_when_it_is_old(open_chat):
    async with open_chat("Paris\nLyon\n**Nice**\nthe end") as chat:
        await chat.ask()
        await chat.finish()
        shown = "\n".join(chat.shown(block) for block in chat.answer.query(".frozen"))
        assert [line.strip() for line in shown.splitlines() if line.strip()] == ["Paris", "Lyon", "Nice", "the end"]
        assert "Paris\nLyon\nNice\nthe end" in flat("Paris\nLyon\n**Nice**\nthe end").plain
