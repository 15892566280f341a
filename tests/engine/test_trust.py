"""What a drafter says is corrected by what held, range by range, and slowly."""

from __future__ import annotations

from random import Random

import pytest

from medusa_chat.engine.trust import Trust


def test_at_first_a_drafter_is_taken_at_its_word() -> None:
    assert Trust().corrected([0.9, 0.3, 0.01]) == [0.9, 0.3, 0.01]


def test_each_range_finds_its_own_factor() -> None:
    draw, trust = Random(2), Trust()
    for _ in range(2000):
        worths = [0.8, 0.8, 0.1, 0.1, 0.1]
        truth = [0.4, 0.4, 0.2, 0.2, 0.2]
        trust.observe(worths, [node for node, chance in enumerate(truth) if draw.random() < chance])
    high, low = trust.corrected([0.8, 0.1])
    assert high == pytest.approx(0.4, abs=0.1)
    assert low == pytest.approx(0.2, abs=0.06)


def test_a_range_without_observations_leans_on_the_others() -> None:
    trust = Trust()
    for _ in range(200):
        trust.observe([0.9, 0.9], [])
    assert trust.corrected([0.3])[0] < 0.1


def test_nothing_is_surer_than_sure() -> None:
    trust = Trust()
    for _ in range(200):
        trust.observe([0.5], [0])
    assert trust.corrected([0.69])[0] <= 1.0


def test_what_was_long_ago_is_forgotten() -> None:
    trust = Trust()
    for _ in range(500):
        trust.observe([0.5], [])
    doubted = trust.corrected([0.5])[0]
    for index in range(500):
        trust.observe([0.5], [0] * (index % 2))
    assert doubted < 0.1
    assert trust.corrected([0.5])[0] == pytest.approx(0.5, abs=0.05)
