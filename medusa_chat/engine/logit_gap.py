"""How close a call it was between two tokens."""

from __future__ import annotations

from collections.abc import Sequence

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.decode import read_prompt
from medusa_chat.engine.tree import CandidateTree


def logit_gap(backbone: Backbone, before: Sequence[int], token: int, other: int) -> float:
    """The logit of `token` minus that of `other` in a plain step behind the tokens `before`.

    Brings the backbone's cache to `before`, reading only what it does not hold.

    Raises:
        MedusaError: see `read_prompt`.
    """
    read_prompt(backbone, before)
    logits = backbone.verify(CandidateTree.root_only(before[-1])).logits[0]
    return float(logits[token] - logits[other])
