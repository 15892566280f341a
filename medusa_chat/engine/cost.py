"""What a step costs here and now, measured."""

from __future__ import annotations

from time import perf_counter

import torch

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.tree import CandidateTree

CONTEXT_ROWS = 64


def step_ms(backbone: Backbone, nodes: int, repeats: int = 7) -> float:
    """Milliseconds of one forward pass over a chain of `nodes` nodes behind a short context, the fastest of some.

    Whatever else the machine does only ever adds time, so the fastest pass is the nearest to what a step costs; a
    median taken in a busy moment would make every later speedup look too good. Empties the cache.
    """
    backbone.rewind(0)
    context = min(CONTEXT_ROWS, backbone.context - nodes)
    backbone.prefill([0] * context)
    chain = CandidateTree.build([0] * nodes, range(-1, nodes - 1), [1.0] * nodes)
    fastest = min(pass_ms(backbone, chain) for _ in range(repeats))
    backbone.rewind(0)
    return fastest


def pass_ms(backbone: Backbone, tree: CandidateTree) -> float:
    """Milliseconds of one forward pass over `tree` behind what is committed; nothing of it is kept."""
    began = perf_counter()
    backbone.verify(tree)
    if backbone.device.type == "cuda":
        # A card works on after the call has returned.
        torch.cuda.synchronize(backbone.device)
    return 1000.0 * (perf_counter() - began)
