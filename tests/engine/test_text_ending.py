"""Where answers end: end tokens, stop strings and the token limit, in any division into steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medusa_chat.engine.options import Limits
from medusa_chat.engine.text.ending import Ending, Taken

EOS = 99


class Pieces:
    """A detokenizer whose token i is simply the i-th piece; `late` pieces appear only at the flush or the next token."""

    def __init__(self, pieces: list[str], late: frozenset[int] = frozenset()) -> None:
        self.pieces, self.late, self.pending = pieces, late, ""

    def push(self, token_id: int) -> str:
        text, self.pending = self.pending + self.pieces[token_id], ""
        if token_id in self.late:
            text, self.pending = "", text
        return text

    def flush(self) -> str:
        text, self.pending = self.pending, ""
        return text


def feed(ending: Ending, steps: list[list[int]]) -> tuple[list[int], str, str | None]:
    tokens: list[int] = []
    text = ""
    for step in steps:
        taken = ending.take(step)
        tokens += taken.tokens
        text += taken.text
        if taken.finish is not None:
            return tokens, text, taken.finish
    return tokens, text + ending.close(), None


@st.composite
def divided(draw: st.DrawFn, tokens: st.SearchStrategy[list[int]]) -> list[list[int]]:
    steps, rest = [], draw(tokens)
    while rest:
        size = draw(st.integers(1, len(rest)))
        steps.append(rest[:size])
        rest = rest[size:]
    return steps


def reference(
    tokens: list[int], pieces: list[str], stops: tuple[str, ...], limit: int
) -> tuple[list[int], str, str | None]:
    """The definition, spelled out: look at the whole text again after every token."""
    text = ""
    for count, token in enumerate(tokens, start=1):
        if token == EOS:
            return tokens[:count], text, "eos"
        text += pieces[token]
        found = [text.index(stop) for stop in stops if stop in text]
        if found:
            return tokens[:count], text[: min(found)], "stop"
        if count == limit:
            return tokens[:count], text, "length"
    return tokens, text, None


PIECES = ["a", "b", "ab", "ba", "aab", "", "bb a", " "]


@given(
    steps=divided(st.lists(st.sampled_from([*range(len(PIECES)), EOS]), max_size=30)),
    stops=st.lists(st.text("ab ", min_size=1, max_size=5), max_size=3),
    limit=st.integers(1, 32),
)
def test_agrees_with_searching_the_whole_text(steps: list[list[int]], stops: list[str], limit: int) -> None:
    ending = Ending(Limits(max_tokens=limit, stop=tuple(stops)), frozenset({EOS}), Pieces(PIECES))
    tokens = [token for step in steps for token in step]
    assert feed(ending, steps) == reference(tokens, PIECES, tuple(stops), limit)


@given(tokens=st.lists(st.integers(0, 4), max_size=20), stop=st.text("ab", min_size=1, max_size=6))
def test_holds_back_no_more_than_the_possible_beginning_of_a_stop_string(tokens: list[int], stop: str) -> None:
    ending = Ending(Limits(stop=(stop,)), frozenset(), Pieces(PIECES))
    shown = whole = ""
    for token in tokens:
        taken = ending.take([token])
        shown, whole = shown + taken.text, whole + PIECES[token]
        if taken.finish is not None:
            break
        held = whole[len(shown) :]
        assert whole == shown + held
        assert stop.startswith(held)
        assert held != stop


@pytest.mark.parametrize("limit", range(1, 9))
@pytest.mark.parametrize("size", range(1, 9))
def test_gives_exactly_as_many_tokens_as_asked(limit: int, size: int) -> None:
    stream = list(range(16))
    steps = [stream[at : at + size] for at in range(0, 16, size)]
    tokens, text, finish = feed(Ending(Limits(max_tokens=limit), frozenset({EOS})), steps)
    assert (tokens, text, finish) == (stream[:limit], "", "length")


def test_end_token_inside_a_step_is_counted_but_not_shown() -> None:
    ending = Ending(Limits(), frozenset({EOS}), Pieces(["x", "y"]))
    assert ending.take([0, EOS, 1, 1]) == Taken((0, EOS), "x", "eos")


def test_end_token_as_the_last_allowed_token_is_the_reason() -> None:
    assert Ending(Limits(max_tokens=2), frozenset({EOS})).take([5, EOS]).finish == "eos"


def test_stop_string_completed_by_the_last_allowed_token_is_the_reason() -> None:
    ending = Ending(Limits(max_tokens=2, stop=("xy",)), frozenset(), Pieces(["x", "y"]))
    assert ending.take([0, 1]) == Taken((0, 1), "", "stop")


def test_a_model_without_end_token_runs_to_the_limit() -> None:
    assert Ending(Limits(max_tokens=3), frozenset()).take([EOS, EOS, EOS, EOS]) == Taken((EOS,) * 3, "", "length")


def test_text_held_for_a_stop_string_is_shown_when_the_answer_ends_otherwise() -> None:
    ending = Ending(Limits(max_tokens=2, stop=("abc",)), frozenset(), Pieces(["a", "b"]))
    assert ending.take([0]).text == ""
    assert ending.take([1]) == Taken((1,), "ab", "length")
    assert ending.close() == ""


def test_cancelling_returns_what_is_held_once() -> None:
    ending = Ending(Limits(stop=("abc",)), frozenset(), Pieces(["xa", "b", "tail"], late=frozenset({2})))
    assert ending.take([0, 1]).text == "x"
    assert ending.take([2]).text == ""
    assert ending.close() == "abtail"
    assert ending.close() == ""


def test_text_that_appears_only_at_the_end_is_searched_too() -> None:
    ending = Ending(Limits(stop=("b",)), frozenset({EOS}), Pieces(["a", "cbd"], late=frozenset({1})))
    assert ending.take([0, 1, EOS]) == Taken((0, 1, EOS), "ac", "eos")


class HalfCharacter(Pieces):
    """Every token ends in the first byte of a character that is never finished."""

    def flush(self) -> str:
        return "\ufffd"


@pytest.mark.parametrize(("stop", "taken"), [("!", Taken((0,), "x", "stop")), ("?", Taken((0,), "x!\ufffd", "length"))])
def test_half_a_character_behind_a_stop_string_is_dropped(stop: str, taken: Taken) -> None:
    ending = Ending(Limits(max_tokens=1, stop=(stop,)), frozenset(), HalfCharacter(["x!"]))
    assert ending.take([0]) == taken
    assert ending.close() == ""


def test_refuses_tokens_after_the_end() -> None:
    ending = Ending(Limits(max_tokens=1), frozenset())
    ending.take([1])
    with pytest.raises(ValueError, match="already ended"):
        ending.take([2])
