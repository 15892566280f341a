"""What a step costs here and now, measured."""

from __future__ import annotations

from statistics import median
from time import perf_counter

import torch

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.tree import CandidateTree

CONTEXT_ROWS = 64


def step_ms(backbone: Backbone, nodes: int, repeats: int = 5) -> float:
    """Median milliseconds of one forward pass over a chain of `nodes` nodes behind a short context.

    Empties the cache. The first pass is not counted: it pays for buffers and cold caches.
    """
    backbone.rewind(0)
    context = min(CONTEXT_ROWS, backbone.context - nodes)
    backbone.prefill([0] * context)
    chain = CandidateTree.build([0] * nodes, range(-1, nodes - 1), [1.0] * nodes)
    times = []
    for _ in range(repeats + 1):
        began = perf_counter()
        backbone.verify(chain)
        if backbone.device.type == "cuda":
            torch.cuda.synchronize(backbone.device)
        times.append(1000.0 * (perf_counter() - began))
    backbone.rewind(0)
    return median(times[1:])
