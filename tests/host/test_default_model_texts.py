"""The default model with its shipped heads: every decoder writes what plain decoding writes, in every precision."""

from __future__ import annotations

import pytest
from doubles.native_library import compiled

from medusa_chat.catalog import DEFAULT_MODEL
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.host.session import Session

PROMPTS = (
    "Name the planets of the solar system, and say one thing about each.",
    "Write a function in Python that returns the n-th Fibonacci number, then explain it line by line.",
)


@pytest.mark.default_model
@pytest.mark.parametrize("quantize", ["auto", "int8", "int4"])
def test_the_texts_are_those_of_plain_decoding(quantize: str) -> None:
    compiled()
    session = Session.open(DEFAULT_MODEL, quantize=quantize)
    assert session.backbone.forward_name == "native"
    assert session.backbone.precision == ("none" if quantize == "auto" else quantize)
    for prompt in PROMPTS:
        ids = session.prompt_ids([{"role": "user", "content": prompt}])

        def answer(decoding: Decoding, ids: list[int] = ids) -> tuple[list[int], int]:
            session.backbone.rewind(0)
            steps = list(session.start(ids, Sampling(), decoding, Limits(max_tokens=96)))
            return [token for step in steps for token in step.tokens], len(steps)

        plain, _ = answer(Decoding("plain"))
        for decoding in (Decoding("joint", budget=16), Decoding("joint"), Decoding("medusa", budget=7)):
            tokens, steps = answer(decoding)
            assert tokens == plain
            if decoding.budget:
                assert steps < 0.8 * len(tokens)
