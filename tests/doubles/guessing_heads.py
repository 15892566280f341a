"""Heads that guess without a network: at random, with known chances, or the truth now and then."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from medusa_chat.engine.drafters.guesses import Guesses


@dataclass
class KnowingHeads:
    """Know the text to come; at each position head k offers the true token with some chance, at a random rank.

    The chances are drawn anew for every guess, so the probabilities claimed are honest in no way: a drafter that
    trusts them chooses odd trees, and the text must not care.
    """

    text: Sequence[int]
    """Prompt and answer as plain decoding writes them."""
    rows: Callable[[], int]
    """How many tokens are in the cache: the root of the step is text[rows()]."""
    vocab: int
    rate: float
    seed: int = 0
    count: int = 4
    seen: list[Tensor] = field(default_factory=list)
    """The hidden state of every call."""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def guess(self, hidden: Tensor, root: int, heads: int, top_k: int) -> Guesses:
        assert root == self.text[self.rows()]
        self.seen.append(hidden.clone())
        top_k = min(top_k, self.vocab)
        tokens, probabilities = [], []
        for head in range(1, heads + 1):
            row = self._random.sample(range(self.vocab), top_k)
            place = self.rows() + head
            if place < len(self.text) and self._random.random() < self.rate:
                rank = min(int(self._random.expovariate(1.5)), top_k - 1)
                true = self.text[place]
                if true in row:
                    row[row.index(true)] = row[rank]
                row[rank] = true
            tokens.append(row)
            shares = sorted((self._random.random() ** 3 for _ in range(top_k)), reverse=True)
            probabilities.append([share / sum(shares) for share in shares])
        return Guesses(torch.tensor(tokens), torch.tensor(probabilities))


@dataclass
class FixedHeads:
    """Offer the same tokens at every step."""

    tokens: Sequence[Sequence[int]]
    probabilities: Sequence[Sequence[float]] | None = None

    @property
    def count(self) -> int:
        return len(self.tokens)

    def guess(self, hidden: Tensor, root: int, heads: int, top_k: int) -> Guesses:
        tokens = torch.tensor([list(row)[:top_k] for row in self.tokens[:heads]])
        if self.probabilities is None:
            falling = torch.tensor([0.5**rank for rank in range(1, tokens.shape[1] + 1)])
            return Guesses(tokens, falling.expand(tokens.shape).clone())
        return Guesses(tokens, torch.tensor([list(row)[:top_k] for row in self.probabilities[:heads]]))


@dataclass
class ChancyHeads:
    """Right with exactly the chances they claim: rank r of head k is the true token with probability chances[k][r]."""

    text: Sequence[int]
    rows: Callable[[], int]
    vocab: int
    chances: Sequence[Sequence[float]]
    seed: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    @property
    def count(self) -> int:
        return len(self.chances)

    def guess(self, hidden: Tensor, root: int, heads: int, top_k: int) -> Guesses:
        tokens = []
        for head, row in enumerate(self.chances[:heads], start=1):
            true = self.text[self.rows() + head]
            others = [token for token in self._random.sample(range(self.vocab), len(row) + 1) if token != true]
            offered, drawn = others[: len(row)], self._random.random()
            for rank, chance in enumerate(row):
                drawn -= chance
                if drawn < 0:
                    offered[rank] = true
                    break
            tokens.append(offered[:top_k])
        return Guesses(torch.tensor(tokens), torch.tensor([list(row)[:top_k] for row in self.chances[:heads]]))
