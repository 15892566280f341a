"""Timing a step leaves nothing behind and stays within the model; what was timed becomes a curve that never falls."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from doubles.tiny_families import tiny_model
from hypothesis import given
from hypothesis import strategies as st

from medusa_chat.engine import cost
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.cost import SIZES, CostCurve, measure, pairs_ms, pass_ms
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.heads.medusa import MedusaHeads


@pytest.mark.parametrize("nodes", [1, 5])
def test_timing_steps_leaves_an_empty_cache(nodes: int) -> None:
    backbone = Backbone(tiny_model("llama"))
    backbone.prefill([1, 2, 3])
    assert all(plain > 0 and tree > 0 for plain, tree in pairs_ms(backbone, nodes))
    assert backbone.length == 0
    assert backbone.ids == []


def test_a_context_smaller_than_the_usual_one_is_enough() -> None:
    backbone = Backbone(tiny_model("llama"))
    backbone.context = 8
    longest = 0
    verify = backbone.verify

    def watched(tree):  # type: ignore[no-untyped-def]
        nonlocal longest
        longest = max(longest, backbone.length + len(tree))
        return verify(tree)

    backbone.verify = watched  # type: ignore[method-assign]
    pairs_ms(backbone, 6)
    assert longest == 8


@pytest.mark.parametrize(("pass_seconds", "pairs"), [(0.01, 7), (0.125, 4), (10.0, 3)])
def test_a_slow_model_is_timed_less_often(monkeypatch: pytest.MonkeyPatch, pass_seconds: float, pairs: int) -> None:
    now = 0.0

    def timed(_backbone: Backbone, _tree: CandidateTree) -> float:
        nonlocal now
        now += pass_seconds
        return 1000.0 * pass_seconds

    monkeypatch.setattr(cost, "pass_ms", timed)
    monkeypatch.setattr(cost, "perf_counter", lambda: now)
    assert len(pairs_ms(Backbone(tiny_model("llama")), 8)) == pairs


def test_timing_a_pass_keeps_what_is_committed_and_nothing_else() -> None:
    backbone = Backbone(tiny_model("llama"))
    backbone.prefill([1, 2, 3])
    before = backbone.verify(CandidateTree.root_only(4)).logits
    assert pass_ms(backbone, CandidateTree.build([7, 8], [-1, 0], [1.0, 1.0])) > 0
    assert backbone.ids == [1, 2, 3]
    assert backbone.length == 3
    assert torch.equal(backbone.verify(CandidateTree.root_only(4)).logits, before)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> dict[int, list[float]]:
    """Passes take what this says, by size, one after another; the last one lasts. Nothing in it: 1 ms a node."""
    script: dict[int, list[float]] = {}

    def timed(_backbone: Backbone, tree: CandidateTree) -> float:
        times = script.get(len(tree), [float(len(tree))])
        return times.pop(0) if len(times) > 1 else times[0]

    monkeypatch.setattr(cost, "pass_ms", timed)
    return script


def test_the_fastest_pass_of_each_size_counts(scripted: dict[int, list[float]]) -> None:
    scripted.update({nodes: [500.0, 20.0 + nodes, 900.0] for nodes in SIZES})
    curve = measure(Backbone(tiny_model("llama")), rounds=3, seconds=1e6)
    assert curve == CostCurve(SIZES, tuple(20.0 + nodes for nodes in SIZES))


def test_a_size_that_cannot_pay_ends_the_row(scripted: dict[int, list[float]]) -> None:
    scripted.update({1: [2.0], 2: [4.0], 3: [6.0], 4: [21.0], 6: [40.0]})
    assert measure(Backbone(tiny_model("llama")), rounds=2, seconds=1e6).nodes == (1, 2, 3, 4)


def test_without_time_the_smallest_sizes_are_measured(scripted: dict[int, list[float]]) -> None:
    shares: list[float] = []
    curve = measure(Backbone(tiny_model("llama")), rounds=5, seconds=0.0, on_progress=shares.append)
    assert curve.nodes == (1, 2)
    assert shares == [0.2]


def test_measuring_leaves_an_empty_cache_and_stays_within_the_context() -> None:
    backbone = Backbone(tiny_model("llama"))
    backbone.context = 20
    backbone.prefill([1, 2, 3])
    heads = MedusaHeads.fresh(backbone.output_layer.weight, 2)
    curve = measure(backbone, heads, rounds=2, seconds=1e6)
    assert curve.nodes[-1] == 16
    assert curve.draft_ms > 0.0
    assert backbone.length == 0


@given(st.dictionaries(st.sampled_from(SIZES), st.floats(0.1, 1e3), max_size=len(SIZES)), st.floats(0.1, 1e3))
def test_a_curve_never_falls_whatever_was_timed(fastest: dict[int, float], first: float) -> None:
    curve = CostCurve.of({**fastest, 1: first})
    costs = [curve.pass_ms(nodes) for nodes in range(1, 100)]
    assert all(left <= right * (1 + 1e-9) for left, right in pairwise(costs))
    assert costs[0] <= first * (1 + 1e-9)


def test_a_curve_keeps_what_rises_and_averages_what_falls() -> None:
    curve = CostCurve.of({1: 10.0, 2: 16.0, 4: 14.0, 8: 23.0}, draft_ms=2.0)
    assert curve.ms == (10.0, 15.0, 15.0, 23.0)
    assert [curve.pass_ms(nodes) for nodes in (3, 6, 10)] == [15.0, 19.0, 27.0]
    assert (curve.step_ms(1), curve.step_ms(4)) == (10.0, 17.0)
    assert curve.overhead(4) == pytest.approx(1.7)


@pytest.mark.parametrize(
    ("nodes", "ms"),
    [((), ()), ((2,), (1.0,)), ((1, 2), (1.0,)), ((1, 1), (1.0, 2.0)), ((1, 2), (2.0, 1.0)), ((1,), (0.0,))],
)
def test_nonsense_is_no_curve(nodes: tuple[int, ...], ms: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="no curve"):
        CostCurve(nodes, ms)


def test_the_best_budget_has_most_tokens_per_second() -> None:
    curve = CostCurve((1, 4, 8, 16), (10.0, 11.0, 13.0, 29.0), draft_ms=1.0)
    assert curve.best({4: 1.5, 8: 1.9, 16: 2.2}) == 8
    assert curve.best({4: 1.1, 8: 1.2, 16: 2.2}) == 1
