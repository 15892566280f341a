"""What a chat template puts around what is said: the tokens before, between and behind a person's turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.text.template import render

_MARK = "\u2042medusa\u2042"
"""Stands for a text while the template is taken apart; no template writes it itself."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A template in pieces, so that a conversation can grow without its earlier tokens being written anew."""

    tokenizer: PreTrainedTokenizerBase
    opening: tuple[int, ...]
    """Before a person's first turn."""
    closing: tuple[int, ...]
    """Behind a person's turn, up to where the answer begins."""
    gap: tuple[int, ...]
    """Between an answer and the person's next turn; begins with the end token where the template writes one."""

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> Scene:
        """
        Raises:
            MedusaError: the template does more than to put something around what is said.
        """
        written = tokenizer.apply_chat_template(
            [{"role": role, "content": _MARK} for role in ("user", "assistant", "user")],
            add_generation_prompt=True,
            tokenize=False,
        )
        pieces = str(written).split(_MARK)
        if len(pieces) != 4:
            raise MedusaError("This model's chat template changes what is said; its conversations cannot be continued.")
        opening, _, gap, closing = (tuple(tokenizer.encode(piece, add_special_tokens=False)) for piece in pieces)
        return cls(tokenizer, opening, closing, gap)

    def begin(self, text: str, system: str = "") -> tuple[int, ...]:
        """A conversation up to where the first answer begins, as decoding has it.

        Raises:
            MedusaError: see `engine.text.template.render`.
        """
        said = [{"role": "system", "content": system}] if system else []
        return tuple(render(self.tokenizer, [*said, {"role": "user", "content": text}]))

    def behind(self, ids: Sequence[int]) -> tuple[int, ...]:
        """The conversation up to where the person's next turn begins; an end token that is there is not written again."""
        there = self.gap[:1] == (ids[-1],)
        return (*ids, *self.gap[there:])

    def spoken(self, text: str) -> tuple[int, ...]:
        """Text that merely looks like a control token stays text."""
        return tuple(self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))
