"""Best first finds the best nodes of any tree of offers, in order, as many as the budget wants."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from medusa_chat.engine.budget import FixedBudget
from medusa_chat.engine.drafters.search import Stream, best_first
from medusa_chat.engine.step import Step

Path = tuple[int, ...]
DEPTH, TOKENS = 4, 6


class RandomGuide:
    """Any path of up to `DEPTH` tokens may go on by streams drawn for it once; the state is the path."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def streams(self, path: Path) -> list[Stream]:
        draw = random.Random(f"{self._seed} {path}")
        if len(path) == DEPTH:
            return []
        tokens = draw.sample(range(TOKENS), draw.randrange(1, TOKENS + 1))
        cut = draw.randrange(len(tokens) + 1)
        return [self._stream(draw, tokens[:cut], ()), self._stream(draw, tokens, tokens[:cut])]

    def _stream(self, draw: random.Random, tokens: Sequence[int], without: Sequence[int]) -> Stream:
        chances = sorted((draw.random() for _ in tokens), reverse=True)
        offers = [(token, chance, f"by {token}") for token, chance in zip(tokens, chances, strict=True)]
        return offers, draw.choice([1.0, 0.5, 0.0]), without

    def begin(self) -> tuple[Path, list[Stream]]:
        return (), self.streams(())

    def follow(self, state: Path, token: int, depth: int) -> tuple[Path, list[Stream]]:
        path = (*state, token)
        assert depth == len(path)
        return path, self.streams(path)

    def every_worth(self, path: Path = (), worth: float = 1.0) -> list[float]:
        worths = []
        for offers, scale, without in self.streams(path):
            for token, chance, _ in offers:
                if token not in without:
                    value = worth * scale * chance
                    worths += [value, *self.every_worth((*path, token), value)]
        return worths


@dataclass
class Choosy:
    """Wants the nodes worth more than a bound; remembers what it was shown."""

    limit: int
    bound: float
    shown: list[float]
    least_worths: Sequence[float] = ()

    def nodes(self, worths: Sequence[float]) -> int:
        self.shown = list(worths)
        return 1 + sum(worth > self.bound for worth in worths)

    def observe(self, step: Step) -> None:
        """Nothing to learn."""


@pytest.mark.parametrize("seed", range(20))
def test_the_search_ends_at_the_first_node_of_too_little_worth(seed: int) -> None:
    everything = Choosy(64, 0.0, [])
    best_first(3, RandomGuide(seed), everything)
    bounds = [0.0, *(0.02 * node for node in range(1, 30))]
    bounded = Choosy(64, 0.0, [], bounds)
    best_first(3, RandomGuide(seed), bounded)
    ends = [place for place, worth in enumerate(everything.shown) if place + 1 < 30 and worth < bounds[place + 1]]
    assert bounded.shown == everything.shown[: ends[0] if ends else None]


@pytest.mark.parametrize("seed", range(20))
def test_the_best_nodes_come_first(seed: int) -> None:
    guide = RandomGuide(seed)
    every = sorted(guide.every_worth(), reverse=True)
    for limit in (1, 2, 7, 30, 64):
        tree = best_first(3, guide, FixedBudget(limit))
        worths = tree.worths()
        assert tree.token_ids[0] == 3
        assert worths == pytest.approx(every[: limit - 1])
        assert all(after <= before for before, after in itertools.pairwise(worths))
        assert all(0 <= parent < node for node, parent in enumerate(tree.parent_nodes) if node)
        for siblings in tree.children():
            tokens = [tree.token_ids[child] for child in siblings]
            assert len(set(tokens)) == len(tokens)
        assert tree.sources == ("root", *(f"by {token}" for token in tree.token_ids[1:]))


def test_the_budget_sees_all_worths_and_cuts() -> None:
    budget = Choosy(limit=40, bound=0.2, shown=[])
    tree = best_first(0, RandomGuide(5), budget)
    assert len(budget.shown) == 39
    assert 1 < len(tree) < 40
    assert tree.worths() == [worth for worth in budget.shown if worth > 0.2]
