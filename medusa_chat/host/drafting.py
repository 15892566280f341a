"""Which drafter the options ask for."""

from __future__ import annotations

from dataclasses import dataclass, field

from medusa_chat.engine.drafters.base import Drafter
from medusa_chat.engine.drafters.joint import Heads, Joint
from medusa_chat.engine.drafters.lookup import Lookup
from medusa_chat.engine.drafters.medusa import Medusa
from medusa_chat.engine.drafters.plain import Plain
from medusa_chat.engine.drafters.recycling import Recycling
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import DecoderName, Decoding
from medusa_chat.engine.shapes import shape_for
from medusa_chat.engine.shapes.calibration import Calibration
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.heads.medusa import MedusaHeads


@dataclass(slots=True)
class Drafters:
    """Those of one answer. They share what they learn of its text, so swapping one for another loses nothing."""

    model: str
    """The card's name, for messages."""
    heads: MedusaHeads | None
    calibration: Calibration | None
    recycling: dict[DecoderName, Recycling]
    """The session's, by decoder: what one answer taught helps the next."""
    lookup: Lookup = field(default_factory=Lookup)
    """The conversation's."""

    def choose(self, decoding: Decoding, budget: int) -> Drafter:
        """
        Args:
            budget: nodes a fixed tree is chosen for.

        Raises:
            MedusaError: this model cannot do what the options ask.
        """
        match decoding.decoder:
            case "plain":
                return Plain()
            case "medusa":
                return self._medusa(decoding, budget)
            case "lookup":
                return Joint(None, self.lookup, None)
            case "recycle":
                return Joint(None, None, self._recycling("recycle"))
            case "joint":
                return Joint(self._heads(decoding), self.lookup, self._recycling("joint"))

    def _recycling(self, decoder: DecoderName) -> Recycling:
        return self.recycling.setdefault(decoder, Recycling())

    def _heads(self, decoding: Decoding) -> Heads | None:
        """Without heads the others do what they can."""
        if self.heads is None:
            return None
        return Heads(self.heads, DynamicShape(self.calibration), decoding.heads or self.heads.count, decoding.top_k)

    def _medusa(self, decoding: Decoding, budget: int) -> Medusa:
        if self.heads is None:
            raise MedusaError(
                f"{self.model} has no Medusa heads here; train some with medusa-chat train medusa1, "
                "or choose the decoder joint, lookup or plain."
            )
        shape = shape_for(decoding.tree, self.calibration, budget)
        return Medusa(self.heads, shape, decoding.heads or self.heads.count, decoding.top_k)
