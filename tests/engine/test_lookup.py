"""Lookup: continuations of what stood earlier, with probabilities that follow the answer."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medusa_chat.engine.budget import FixedBudget
from medusa_chat.engine.drafters.base import DraftContext
from medusa_chat.engine.drafters.joint import Joint
from medusa_chat.engine.drafters.lookup import MOST, Lookup
from medusa_chat.engine.tree import CandidateTree


def tree_of(ids: list[int], budget: int = 8) -> CandidateTree:
    return Joint(None, Lookup(), None).propose(DraftContext(ids, None), FixedBudget(budget))


def offers_after(ids: list[int], answer: list[int]) -> dict[int, float]:
    """Of a lookup that has seen `ids` as a prompt and `answer` token by token after it."""
    lookup = Lookup()
    lookup.read(ids)
    for count in range(1, len(answer) + 1):
        lookup.read([*ids, *answer[:count]])
    return dict(lookup.offers(lookup.begin()))


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [
        ([1], []),
        ([1, 2, 3], []),
        ([1, 2, 9, 8, 1, 2], [9, 8, 1, 2, 9, 8, 1]),
        ([5, 6, 7, 5, 6, 7, 5], [6, 7, 5, 6, 7, 5, 6]),
        ([4, 4, 4, 4], [4] * 7),
    ],
)
def test_a_repetition_is_followed_also_beyond_its_end(ids: list[int], wanted: list[int]) -> None:
    tree = tree_of(ids)
    assert tree.token_ids == (ids[-1], *wanted)
    assert tree.parent_nodes == tuple(range(-1, len(wanted)))
    assert set(tree.sources[1:]) <= {"lookup"}


def test_several_continuations_share_a_tree_the_latest_first() -> None:
    tree = tree_of([1, 2, 3, 50, 1, 2, 3, 60, 61, 1, 2, 3])
    first = [tree.token_ids[child] for child in tree.children()[0]]
    assert first == [60, 50]
    scores = [tree.probabilities[child] for child in tree.children()[0]]
    assert scores[0] > scores[1]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 12), st.integers(1, 60))
def test_however_the_conversation_grew_the_guesses_are_the_same(ids: list[int], budget: int, seed: int) -> None:
    draw = random.Random(seed)
    whole, grown = Lookup(), Lookup()
    whole.read(ids)
    known = 0
    while known < len(ids):
        known += draw.randrange(1, 6)
        grown.read(ids[:known])
    tokens = [token for token, _ in whole.offers(whole.begin())]
    assert tokens == [token for token, _ in grown.offers(grown.begin())]
    assert len(tokens) <= MOST


def test_longer_and_confirmed_matches_are_trusted_more() -> None:
    def chance(ids: list[int]) -> float:
        lookup = Lookup()
        lookup.read(ids)
        return lookup.offers(lookup.begin())[0][1]

    lengths = [chance([*range(length), 77, 99, *range(length)]) for length in (1, 2, 3, 4, 6, 12, 20, 40)]
    assert lengths == sorted(lengths)
    assert lengths[0] < 0.3 < 0.9 < lengths[-1]
    times = [chance([1, 2, 77, 99] * count + [1, 2]) for count in (1, 2)]
    apart = [
        chance([*(x for i in range(count) for x in (100 + i, 1, 2, 77, 200 + i)), 300, 1, 2]) for count in (1, 2, 3)
    ]
    assert times == sorted(times)
    assert apart == sorted(set(apart))


def test_a_prompt_teaches_continuations_but_no_probabilities() -> None:
    pairs = [token for i in range(40) for token in (3 * i, 3 * i + 1, 3 * i + 2)]
    written = [*pairs, 999, *pairs, 7777, 5000, 5001, 5002, 998, 5000, 5001]
    as_prompt = offers_after(written, [])
    as_answer = offers_after(written[:121], written[121:])
    assert set(as_prompt) == set(as_answer) == {5002}
    assert as_prompt == {5002: offers_after([5000, 5001, 5002, 998, 5000, 5001], [])[5002]}


def test_probabilities_follow_what_the_answer_does_whoever_drafts() -> None:
    # Pairs that stood once before: in one answer they always go on as before, in the other never.
    pairs = [[10 * i, 10 * i + 1, 10 * i + 2] for i in range(1, 30)]
    prompt = [token for pair in pairs for token in pair] + [5, 6, 7]
    kept = [token for i, pair in enumerate(pairs) for token in (*pair, 1000 + i)]
    broken = [token for i, pair in enumerate(pairs) for token in (*pair[:2], 2000 + i, 1000 + i)]
    before = offers_after(prompt, [888, 5, 6])[7]
    assert offers_after(prompt, [*kept, 888, 5, 6])[7] > before + 0.2
    assert offers_after(prompt, [*broken, 888, 5, 6])[7] < before - 0.2


def test_a_conversation_that_goes_on_is_not_read_twice_and_new_words_only_remembered() -> None:
    lookup, whole = Lookup(), Lookup()
    assert lookup.resume([1, 2, 3])
    lookup.read([1, 2, 3, 1, 2, 3])
    learned = list(lookup._rates.means)
    assert learned != whole._rates.means
    # The person repeats themselves; that says nothing of what the model will repeat.
    longer = [1, 2, 3, 1, 2, 3, 1, 7, 1, 7, 1, 2, 3]
    assert lookup.resume(longer)
    assert lookup._rates.means == learned
    whole.resume(longer)
    assert [token for token, _ in lookup.offers(lookup.begin())] == [token for token, _ in whole.offers(whole.begin())]


def test_another_conversation_or_another_answer_is_not_gone_on_with() -> None:
    lookup = Lookup()
    lookup.resume([1, 2, 3])
    lookup.read([1, 2, 3, 4, 5])
    assert not lookup.resume([1, 2, 3])
    assert not lookup.resume([1, 2, 3, 4, 6, 7])
    assert not lookup.resume([9, 2, 3, 4, 5])
    assert lookup.resume([1, 2, 3, 4, 5])
