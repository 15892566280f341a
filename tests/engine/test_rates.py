"""Beta means: a prior of some strength, then every guess counts one."""

from __future__ import annotations

import random

import pytest

from medusa_chat.engine.drafters.rates import Rates


def test_a_mean_is_that_of_the_beta_distribution() -> None:
    draw = random.Random(1)
    rates = Rates([0.25, 0.9], strength=8.0)
    came, tried = [0, 0], [0, 0]
    for _ in range(200):
        kind, right = draw.randrange(2), draw.random() < 0.6
        rates.learn(kind, right)
        came[kind] += right
        tried[kind] += 1
        for k, prior in enumerate((0.25, 0.9)):
            alpha, beta = 8.0 * prior + came[k], 8.0 * (1.0 - prior) + tried[k] - came[k]
            assert rates.means[k] == pytest.approx(alpha / (alpha + beta))
    assert all(count > 50 for count in tried)
