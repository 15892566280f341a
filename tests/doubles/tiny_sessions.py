"""Loaded sessions over tiny random models, on any forward path, without files."""

from __future__ import annotations

from doubles.llama_likes import WIDE, llama_like
from doubles.native_library import compiled
from doubles.small_tokenizers import byte_level
from doubles.tiny_families import tiny_model

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.cost import CostCurve
from medusa_chat.engine.forward.dissect import dissect
from medusa_chat.engine.forward.lean import LeanForward
from medusa_chat.engine.forward.native import NativeForward
from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.host.plain_steps import PlainSteps
from medusa_chat.host.session import Session

CHEAP = CostCurve((1, 2, 4, 8, 16, 32, 64), (1.0, 1.02, 1.04, 1.08, 1.2, 1.5, 2.0))
"""Guesses nearly for nothing, so that live budgets draft."""


def tiny_session(path: str = "transformers llama", heads: int = 3, context: int = 1024) -> Session:
    """The same weights for the same arguments. `path` is a forward path and a family: "lean qwen3", "native llama".

    There is no end token, so an answer has exactly the length that is asked for.
    """
    tokenizer = byte_level()
    backbone = _backbone(path, len(tokenizer), context)
    made = MedusaHeads.fresh(backbone.output_layer.weight, heads) if heads else None
    return Session("tiny", "none", backbone, tokenizer, made, None, 1.0, CHEAP, PlainSteps(CHEAP))


def _backbone(path: str, vocab_size: int, context: int) -> Backbone:
    kind, _, family = path.partition(" ")
    sizes = {"vocab_size": vocab_size, "max_position_embeddings": context}
    if kind == "transformers":
        return Backbone(tiny_model(family, **sizes))
    model = llama_like(family, **{**WIDE, **sizes})
    if kind == "lean":
        return Backbone(model, LeanForward(dissect(model)))
    return Backbone(model, NativeForward(compiled(), dissect(model), "int8" if kind == "int8" else "none"))
