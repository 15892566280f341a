"""Flat Markdown: where its lines are wrapped, and its parts beside the whole."""

from __future__ import annotations

import pytest
from doubles.painted import rows
from doubles.step_records import steps_of
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.content import Content
from textual.geometry import Offset
from textual.selection import Selection

from medusa_chat.tui.chat.live_text import LiveText
from medusa_chat.tui.flat import flat
from medusa_chat.tui.settling import MOST_CHARACTERS, MOST_FENCE_LINES, settled

WORDS = "one two three four five six"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"- {WORDS}", ["• one two", "  three four", "  five six"]),
        (f"10. {WORDS}", ["10. one two", "    three", "    four", "    five six"]),
        (f"- a\n  - {WORDS}", ["• a", "  • one two", "    three", "    four", "    five six"]),
        (f"- a\n\n  {WORDS}", ["• a", "  one two", "  three four", "  five six"]),
        (f"> {WORDS}", ["▌ one two", "▌ three four", "▌ five six"]),
        (f"> - {WORDS}", ["▌ • one two", "▌   three", "▌   four", "▌   five six"]),
        (f"- > {WORDS}", ["• ▌ one two", "  ▌ three", "  ▌ four", "  ▌ five six"]),
        ("```\nab = 'cdefghijkl'\n  x\n```", ["▎ ab =", "▎ 'cdefghijk", "▎ l'", "▎   x"]),
        ("- a\n\n  ```\n  " + WORDS + "\n  ```", ["• a", "  ▎ one two", "  ▎ three", "  ▎ four", "  ▎ five six"]),
        ("- 東京東京東京", ["• 東京東京東", "  京"]),
        (WORDS, ["one two", "three four", "five six"]),
    ],
)
def test_wrapped_rows_hang_under_their_text_and_keep_their_bars(text, shown):
    assert [row for row in rows(flat(text), 12) if row.strip()] == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("> a\n>\n> b", ["▌ a", "▌", "▌ b"]),
        ("> a\n> b", ["▌ a", "▌ b"]),
        ("> a\n>\n> > b\n>\n> c", ["▌ a", "▌", "▌ ▌ b", "▌", "▌ c"]),
        ("> # a\n> b\n> - c\n> - d", ["▌ a", "▌", "▌ b", "▌ • c", "▌ • d"]),
        ("> ```\n> a\n> ```\n> b", ["▌ ▎ a", "▌", "▌ b"]),
        ("> a\n\n> b", ["▌ a", "", "▌ b"]),
        ("- a\n- b", ["• a", "• b"]),
        ("- a\n\n- b\n- c", ["• a", "", "• b", "", "• c"]),
        ("1. a\n\n   b\n2. c", ["1. a", "", "   b", "", "2. c"]),
        ("1. a\n   - b\n   - c\n\n2. d", ["1. a", "   • b", "   • c", "", "2. d"]),
        ("- a\n\n  - b\n- c", ["• a", "", "  • b", "", "• c"]),
        ("- a\n  - b\n\n    c\n- d", ["• a", "  • b", "", "    c", "", "• d"]),
        ("- ```\n  a\n  ```\n- b", ["• ▎ a", "", "• b"]),
        ("-\n- b", ["•", "• b"]),
        ("a\n\n***\n\nb", ["a", "", "─" * 12, "", "b"]),
    ],
)
def test_blocks_have_one_gap_between_them_but_not_the_items_of_a_tight_list(text, shown):
    assert rows(flat(text), 20) == [*shown, ""]


def test_headings_of_every_level_look_different():
    headings = [str(flat("#" * level + " Title").spans) for level in range(1, 7)]
    assert len(set(headings)) == len(headings)


def test_on_a_narrow_screen_a_deep_item_takes_the_width_there_is():
    deep = "\n".join("  " * level + f"- {level} and more" for level in range(9))
    for width in (1, 2, 3, 8, 14):
        assert "".join("".join(rows(flat(deep), width)).split()) == "".join(flat(deep).plain.split())


def test_what_is_marked_with_the_mouse_is_what_is_copied():
    content = flat(f"- {WORDS}\n- next")
    selection = Selection(Offset(6, 0), Offset(4, 1))
    assert rows(content, 12, selection)[:4] == ["• one [two]", "  [three four]", "  [five six]", "[• ne]xt"]
    assert selection.extract(content.plain) == "two three four five six\n• ne"


async def test_the_place_under_the_mouse_is_found_in_a_wrapped_row(open_chat):
    async with open_chat(f"- {WORDS * 20}", size=(80, 24)) as chat:
        await chat.ask()
        await chat.finish()
        part = chat.answer.query(".frozen").first()
        second = part.render_line(1)
        places = [style.meta["offset"] for _, style, _ in second if style and "offset" in style.meta]
        (x, y), text = places[0], str(part.render())
        assert y == 0
        assert text[x:].startswith(second.text.strip()[:10])
        assert second.text.strip()


PIECES = st.sampled_from(
    ["A *paragraph* " * 9, "# Title", f"- {WORDS}\n  - two\n\n    > q", "1. one\n\n2. two", f"> {WORDS}", "***", "| a |\n|---|\n| 1 |",
     f"| a | b |\n|--:|---|\n| 1 | {WORDS * 2} |\n| 2 | b |", "| a | b |" * 4 + "\n" + "|---|---|" * 4 + "\n" + f"| {WORDS} | b |" * 4,
     "> one\n>\n> two\n> - three", "- one\n\n  two\n- three"]
) | st.builds(
    lambda lines, language: f"```{language}\n" + "\n".join(lines) + "\n```",
    st.lists(st.sampled_from(["x = 1", "", "  y", "``"]), max_size=150),
    st.sampled_from(["", "py"]),
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(st.lists(PIECES, min_size=1, max_size=40), st.integers(1, 400), st.randoms(use_true_random=False))
def test_parts_that_streamed_in_look_as_the_whole_does(blocks, most, random):
    text, tail, in_code, parts = "\n\n".join(blocks), "", False, list[Content]()
    place = 0
    while place < len(text):
        fresh = text[place : place + random.randint(1, most)]
        place += len(fresh)
        tail += fresh
        if (cut := settled(tail)) is not None:
            parts.append(flat(cut.done, goes_on=cut.in_code, began=in_code))
            tail, in_code = cut.rest, cut.in_code
    parts.append(flat(tail, began=in_code))
    assert [row for part in parts if part for row in rows(part, 40)] == rows(flat(text), 40)


async def test_a_long_answer_looks_the_same_when_it_is_old(open_chat):
    fence = (
        "```python\n" + "\n\n".join(f"value_{number} = {number}" for number in range(3 * MOST_FENCE_LINES)) + "\n```"
    )
    text = "\n\n".join([f"- {WORDS * 20}", fence, f"> {WORDS * 20}", "word " * MOST_CHARACTERS, "The end."])
    async with open_chat(text, size=(80, 24)) as chat:
        await chat.ask()
        for played in range(150, len(steps_of(text)), 150):
            chat.engine.play(150)
            await chat.until(lambda played=played: chat.answer.turn.tally.steps == played and chat.screen.settled)
        await chat.finish()
        assert len(chat.answer.query(".frozen")) > 2
        young = [chat.shown(part) for part in chat.answer.query(".frozen")]
        await chat.answer.freeze()
        assert not chat.answer.query(LiveText)
        await chat.until(lambda: chat.answer.query(".frozen").first().size.height > 10)
        assert "\n".join(part for part in young if part) == chat.shown(chat.answer.query(".frozen").first())
