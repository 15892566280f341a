"""Answers token by token: the marks on the screen are those of the trace, live, afterwards and years later."""

from __future__ import annotations

import pytest
from doubles.step_records import steps_of
from rich.cells import cell_len
from textual.color import Color

from medusa_chat.settings.paths import bundled_dir
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.token_rows import TokenRows
from medusa_chat.tui.chat.token_view import NO_TRACE, SIGNS, TokenText, TokenView, legend
from medusa_chat.tui.keeping import trace_step
from medusa_chat.tui.themes import read_theme, token_variable
from medusa_chat.tui.won import WonTokens, kind_of, kinds

TEXT = "The capital of France is Paris, a city on the Seine with 東京 and naïve cafés. 👩‍👩‍👧 fine\n\nשלום, e\u0301nd."


def expected(records) -> WonTokens:
    tokens = WonTokens()
    for record in records:
        tokens.add(trace_step(record))
    return tokens


def marks_on(widget: TokenText) -> list[tuple[str, str]]:
    """(character, kind) as they go to the terminal, by colour and second sign; spaces at row ends are in no row."""
    looks = {widget.rich_style + widget._style(kind): kind for kind in kinds()}
    return [
        (char, looks[segment.style])
        for row in range(widget.size.height)
        for segment in widget.render_line(row)
        for char in segment.text
        if segment.style in looks
    ]


def marks_of(records) -> list[tuple[str, str]]:
    tokens = expected(records)
    return [(char, kind_of(tokens.sources[token])) for token, text in tokens.parts for char in text]


async def test_the_marks_are_those_of_the_trace_live_and_at_the_end(open_chat):
    text = "The capital of France is Paris, a city on the Seine."
    records = steps_of(text)
    async with open_chat(text) as chat:
        await chat.pilot.press("f10")
        await chat.ask()
        chat.engine.play(4)
        await chat.until(lambda: chat.screen.query(TokenText))
        widget = chat.screen.query_one(TokenText)
        await chat.until(lambda: marks_on(widget)[:3])
        so_far = marks_of(records[:4])
        await chat.until(
            lambda: [mark for mark in marks_on(widget) if mark[0] != " "] == [m for m in so_far if m[0] != " "]
        )
        await chat.finish()
        everything = [mark for mark in marks_of(records) if mark[0] != " "]
        await chat.until(lambda: [mark for mark in marks_on(widget) if mark[0] != " "] == everything)
        counts = expected(records).counts()
        shares = (f"{kind} {count} · {100 * count / sum(n for _, n in counts):.0f} %" for kind, count in counts)
        told, legend = " ".join(shares), chat.screen.query_one(".legend")
        await chat.until(lambda: " ".join(chat.shown(legend).split()) == told)
        assert chat.answer.turn.text == text
        await chat.pilot.press("alt+t")
        await chat.until(lambda: not chat.screen.query(TokenView) and chat.answer_source == text)


async def test_an_answer_begun_as_tokens_can_be_read_as_text_halfway(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.pilot.press("f10")
        await chat.ask()
        chat.engine.play(5)
        await chat.until(lambda: chat.screen.query_one(TokenText).size.height and chat.answer.turn.tally.steps == 5)
        await chat.pilot.press("f10")
        await chat.until(lambda: chat.answer_source == "".join(step.text for step in steps_of(TEXT)[:5]))
        await chat.finish()
        assert chat.answer_source == TEXT


async def test_one_answer_of_a_stored_conversation(open_chat):
    async with open_chat("Paris.", "The Seine flows there.") as chat:
        for question in ("One?", "Two?"):
            await chat.ask(question)
            await chat.finish()
    async with open_chat("Never.") as chat:
        await chat.go_on()
        await chat.until(lambda: len(chat.screen.query(AnswerView)) == 2)
        await chat.pilot.press("alt+up", "t")
        await chat.until(lambda: chat.screen.query(TokenText) and chat.screen.query_one(TokenText).size.height)
        widget = chat.screen.query_one(TokenText)
        expected = [mark for mark in marks_of(steps_of("The Seine flows there.")) if mark[0] != " "]
        await chat.until(lambda: [mark for mark in marks_on(widget) if mark[0] != " "] == expected)
        await chat.pilot.press("f10")
        await chat.until(lambda: len(chat.screen.query(TokenView)) == 2)
        await chat.pilot.press("f10")
        await chat.until(lambda: not chat.screen.query(TokenView))


async def test_an_answer_without_a_trace_says_so(open_chat):
    async with open_chat("Paris.") as chat:
        await chat.ask()
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.screen.dialogue.busy)
        await chat.pilot.press("f10")
        await chat.sees(NO_TRACE[:30], ".legend")


@pytest.mark.parametrize("width", [9, 24, 80])
def test_rows_are_as_wide_as_the_terminal_says_and_lose_nothing(width):
    tokens = expected(steps_of(TEXT))
    rows = TokenRows(width)
    for token, text in tokens.parts:
        rows.add(text, kind_of(tokens.sources[token]))
    for row in rows.rows:
        assert cell_len("".join(sign.text for sign in row)) == sum(sign.cells for sign in row) <= width
    assert "".join(sign.text for row in rows.rows for sign in row).replace(" ", "") == TEXT.replace("\n", "").replace(
        " ", ""
    )


def test_rows_break_at_words_and_signs_stay_whole():
    rows = TokenRows(9)
    for text in ("one two ", "thr", "ee", " 👩", "\u200d👩", " e", "\u0301"):
        rows.add(text, "root")
    assert ["".join(sign.text for sign in row) for row in rows.rows] == ["one two ", "three 👩‍👩 ", "e\u0301"]


def test_the_legend_fits_and_wraps_between_entries():
    counts = [(kind, 12345) for kind in kinds()]
    for width in (40, 80):
        assert all(cell_len(line) <= width for line in legend(counts, width).plain.split("\n"))
    assert "lookup 12345 · 11 %" in legend(counts, 40).plain


@pytest.mark.parametrize("path", sorted(bundled_dir("themes").glob("*.toml")), ids=lambda path: path.stem)
def test_every_theme_tells_the_kinds_apart_by_hue_and_by_a_second_sign(path):
    theme = read_theme(path)
    hues = [theme.variables[token_variable(kind)] for kind in kinds()]
    guessed = [theme.variables[token_variable(kind)] for kind in ("head 1", "head 2", "head 3", "head 4", "lookup")]
    assert len(set(guessed)) == len(guessed)
    assert all(Color.parse(hue) for hue in hues)
    assert len(set(SIGNS.values())) == len(list(kinds()))
