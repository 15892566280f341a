"""Recycling: the likeliest successors of a token, as the backbone saw them last, with probabilities that are learned."""

from __future__ import annotations

import pytest
import torch

from medusa_chat.engine.drafters.recycling import MOST, WINDOW, Recycling


def row(**logits: float) -> torch.Tensor:
    """[12]: the named tokens' logits, as in t3=2.0; all others far below."""
    values = torch.full((12,), -50.0)
    for name, value in logits.items():
        values[int(name[1:])] = value
    return values


def test_the_likeliest_successors_of_the_last_time_are_offered() -> None:
    recycling = Recycling()
    recycling.learn([5, 6], [1, 2], [row(t3=2.0, t1=4.0, t7=0.5), row(t2=0.0)])
    assert [token for token, _ in recycling.offers(5)] == [1, 3, 7]
    assert [token for token, _ in recycling.offers(6)] == [2]
    assert recycling.offers(7) == []
    recycling.learn([5], [8], [row(t8=1.0)])
    assert [token for token, _ in recycling.offers(5)] == [8]


def test_few_are_kept_and_none_that_is_hardly_likely() -> None:
    recycling = Recycling()
    recycling.learn([1, 2], [0, 0], [torch.linspace(1.0, 0.0, 12), row(t0=9.0, t1=9.1 - WINDOW, t2=8.9 - WINDOW)])
    assert [token for token, _ in recycling.offers(1)] == list(range(MOST))
    assert [token for token, _ in recycling.offers(2)] == [0, 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_probabilities_fall_from_successor_to_successor_and_with_the_lead(dtype: torch.dtype) -> None:
    recycling = Recycling()
    leads = [0.5, 1.5, 3.0, 9.0]
    rows = [row(t0=9.0, t1=9.0 - lead, t2=9.0 - lead - 0.25, t3=9.0 - lead - 0.5) for lead in leads]
    recycling.learn(range(4), [0] * 4, [values.to(dtype) for values in rows])
    first = [recycling.offers(token)[0][1] for token in range(4)]
    assert first == sorted(set(first))
    for token in range(3):
        chances = [chance for _, chance in recycling.offers(token)]
        assert chances == sorted(chances, reverse=True)
        assert len(chances) == MOST
    assert len(recycling.offers(3)) == 1


def test_probabilities_follow_what_came() -> None:
    def chances_after(came: int) -> list[float]:
        recycling = Recycling()
        for _ in range(60):
            recycling.learn([5], [came], [row(t0=3.0, t1=2.5, t2=2.0)])
        return [chance for _, chance in recycling.offers(5)]

    right, second, wrong = chances_after(0), chances_after(1), chances_after(9)
    assert right[0] > 0.7 > 0.1 > second[0]
    assert second[1] > 0.7 > 0.1 > right[1]
    assert max(wrong) < 0.1


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_card_offers_the_same(dtype: torch.dtype) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA card")
    rows = [torch.randperm(500).to(dtype) / 50.0 for _ in range(3)]
    here, there = Recycling(), Recycling()
    here.learn([1, 2, 3], [0, 0, 0], rows)
    there.learn([1, 2, 3], [0, 0, 0], [row.cuda() for row in rows])
    assert [here.offers(token) for token in (1, 2, 3)] == [there.offers(token) for token in (1, 2, 3)]
