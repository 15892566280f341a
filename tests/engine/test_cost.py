"""Timing a step leaves nothing behind and stays within the model."""

from __future__ import annotations

import pytest
from doubles.tiny_families import tiny_model

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.cost import step_ms


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
