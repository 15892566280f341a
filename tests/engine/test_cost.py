"""Timing a step leaves nothing behind and stays within the model."""

from __future__ import annotations

import pytest
import torch
from doubles.tiny_families import tiny_model

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.cost import pass_ms, step_ms
from medusa_chat.engine.tree import CandidateTree


@pytest.mark.parametrize("nodes", [1, 5])
def test_timing_a_step_leaves_an_empty_cache(nodes: int) -> None:
    backbone = Backbone(tiny_model("llama"))
    backbone.prefill([1, 2, 3])
    assert step_ms(backbone, nodes, repeats=2) > 0
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
    step_ms(backbone, 6, repeats=1)
    assert longest == 8


def test_timing_a_pass_keeps_what_is_committed_and_nothing_else() -> None:
    backbone = Backbone(tiny_model("llama"))
    backbone.prefill([1, 2, 3])
    before = backbone.verify(CandidateTree.root_only(4)).logits
    assert pass_ms(backbone, CandidateTree.build([7, 8], [-1, 0], [1.0, 1.0])) > 0
    assert backbone.ids == [1, 2, 3]
    assert backbone.length == 3
    assert torch.equal(backbone.verify(CandidateTree.root_only(4)).logits, before)
