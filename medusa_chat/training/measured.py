"""Calibration's promise held against decoding itself: held-out prompts answered again, with heads alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from medusa_chat.engine.acceptance import rule_for
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.budget import FixedBudget
from medusa_chat.engine.decode import Controls, decode
from medusa_chat.engine.drafters.medusa import Medusa
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.engine.sampling import Sampler
from medusa_chat.engine.shapes.calibration import Calibration
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.engine.text.detokenizer import Detokenizer
from medusa_chat.engine.text.ending import Ending
from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.training.calibrate import RANKS
from medusa_chat.training.conversations import Conversation


@dataclass(frozen=True, slots=True)
class Measured:
    """Of a number of nodes."""

    nodes: int
    tokens: int
    steps: int

    @property
    def tokens_per_step(self) -> float:
        return self.tokens / max(1, self.steps)


def decode_again(
    backbone: Backbone,
    tokenizer: PreTrainedTokenizerBase,
    heads: MedusaHeads,
    calibration: Calibration,
    conversations: Sequence[Conversation],
    nodes: int,
    on_progress: Callable[[int, int], None] = lambda done, of: None,
) -> Measured:
    """Answer the first prompt of each conversation greedily, as far as the recorded answer went.

    Args:
        conversations: greedy ones; those that were sampled went other ways.
    """
    tokens = steps = 0
    for done, one in enumerate(conversations, start=1):
        start, end = one.answers[0]
        ending = Ending(Limits(max_tokens=end - start), backbone.eos_ids, Detokenizer(tokenizer))
        drafter = Medusa(heads, DynamicShape(calibration), heads.count, RANKS)
        controls = Controls(drafter, rule_for(Decoding("medusa")), FixedBudget(nodes))
        for step in decode(backbone, controls, Sampler(Sampling(), explain=False), one.ids[:start], ending):
            tokens += len(step.tokens)
            steps += 1
        on_progress(done, len(conversations))
    return Measured(nodes, tokens, steps)
