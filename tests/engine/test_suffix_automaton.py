"""The automaton finds what scanning the text finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from medusa_chat.engine.drafters.suffix_automaton import NOTED, SuffixAutomaton

TEXTS = st.lists(st.integers(0, 2), max_size=NOTED - 2)


def automaton_of(text: list[int]) -> SuffixAutomaton:
    automaton = SuffixAutomaton()
    for token in text:
        automaton.append(token)
    return automaton


def followers(text: list[int], suffix: list[int]) -> list[int]:
    """What followed the occurrences of `suffix` in `text`, the latest first."""
    ends = range(len(text) - 1, len(suffix) - 1, -1)
    return [text[end] for end in ends if text[end - len(suffix) : end] == suffix]


def longest_match(text: list[int], seen: list[int]) -> int:
    """Length of the longest suffix of `seen` that occurs in `text`."""
    for length in range(min(len(seen), len(text)), 0, -1):
        if any(text[start : start + length] == seen[-length:] for start in range(len(text) - length + 1)):
            return length
    return 0


def by_scanning(text: list[int], suffix: list[int], most: int) -> list[tuple[int, int, int]]:
    found: list[tuple[int, int, int]] = []
    for length in range(len(suffix), 0, -1):
        tokens = followers(text, suffix[-length:])
        others = [token for token in tokens if token != tokens[0]]
        held = tokens.index(others[0]) if others else len(tokens)
        for token, times in [(token, held) for token in tokens[:1]] + [(token, 0) for token in others[:1]]:
            if token not in [known for known, _, _ in found]:
                found.append((token, length, times))
    return found[:most]


@given(TEXTS)
def test_the_end_matches_its_longest_earlier_occurrence(text: list[int]) -> None:
    automaton = automaton_of(text)
    earlier = max((length for length in range(len(text)) if length and followers(text, text[-length:])), default=0)
    assert automaton.end()[1] == earlier
    assert automaton.size == len(text)


@given(TEXTS, st.integers(1, 4))
def test_continuations_are_those_of_a_scan(text: list[int], most: int) -> None:
    automaton = automaton_of(text)
    match = automaton.end()
    suffix = text[len(text) - match[1] :]
    assert automaton.continuations(match, most) == by_scanning(text, suffix, most)


@given(TEXTS, st.lists(st.integers(0, 3), max_size=12))
def test_following_a_path_that_was_not_taken_finds_its_longest_match(text: list[int], path: list[int]) -> None:
    automaton = automaton_of(text)
    match, seen = automaton.end(), list(text)
    length = match[1]
    for token in path:
        match = automaton.follow(match, token)
        # Longer than one token more than before it cannot become: what did not match does not match again.
        seen = [*seen[len(seen) - length :], token]
        length = longest_match(text, seen)
        assert match[1] == length
        suffix = seen[len(seen) - length :]
        assert automaton.continuations(match, 4) == by_scanning(text, suffix, 4)
    assert automaton.size == len(text), "looking changes nothing"


def test_the_latest_occurrence_of_a_long_text_is_the_first_offer() -> None:
    passage = list(range(100, 140))
    automaton = automaton_of([*passage, 1, *range(4000, 6000), *passage, 2, *range(3000, 3500), *passage])
    assert automaton.end()[1] == len(passage)
    assert [token for token, _, _ in automaton.continuations(automaton.end(), 2)] == [2, 1]


def test_one_token_over_and_over_stays_cheap_and_goes_on() -> None:
    automaton = automaton_of([7] * 3000)
    match = automaton.end()
    for _ in range(20):
        # Beyond the end of the text, too: the shorter suffixes know that it repeats.
        assert automaton.continuations(match, 1)[0][0] == 7
        match = automaton.follow(match, 7)
