"""What decides how heads come out, as one value that travels into the run folder and beside the finished heads."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from medusa_chat.engine.errors import MedusaError

LOSS_DECAY = 0.8
"""Head k (from 1) weighs 0.8^(k-1) in the loss; the paper's lambda_k = 0.8^k up to a constant factor."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Medusa-1: the backbone is frozen, only heads learn."""

    heads: int = 4
    layers: int = 2
    """Residual blocks of each head."""
    own_output: bool = False
    """Each head gets an output layer of its own, starting as the backbone's; else all share the backbone's."""
    see_root: bool = True
    """Heads also see the token chosen after the hidden state; False makes heads other programs can read."""
    vocab: int = 8_192
    """The heads know this many of the tokens most frequent in the answers; 0 lets them know all."""
    epochs: float = 5.0
    batch: int = 512
    """Positions a step."""
    learning_rate: float = 3e-3
    warmup: float = 0.05
    """Share of the steps in which the learning rate rises; afterwards it falls along a cosine."""
    soft_share: float = 0.8
    """How much of the target is the backbone's own distribution; the rest is the one token that came."""
    dropout: float = 0.2
    """Share of each residual block's outputs left out at random in every step, against learning by heart."""
    held_out: float = 0.05
    """Share of the conversations that is never trained on."""
    low_precision: bool = False
    """Multiply in bfloat16; weights, sums and the optimiser stay in float32."""
    seed: int = 0

    def __post_init__(self) -> None:
        _require(self.heads >= 1, "heads", self.heads, "at least 1")
        _require(self.layers >= 1, "layers", self.layers, "at least 1")
        _require(self.vocab >= 0, "vocab", self.vocab, "0 (all tokens) or a positive count")
        _require(self.epochs > 0, "epochs", self.epochs, "above 0")
        _require(self.batch >= 1, "batch", self.batch, "at least 1")
        _require(self.learning_rate > 0, "learning rate", self.learning_rate, "above 0")
        _require(0 <= self.warmup < 1, "warm-up", self.warmup, "at least 0 and below 1")
        _require(0 <= self.soft_share <= 1, "soft share", self.soft_share, "between 0 and 1")
        _require(0 <= self.dropout < 1, "dropout", self.dropout, "at least 0 and below 1")
        _require(0 < self.held_out < 1, "held-out share", self.held_out, "between 0 and 1")

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Recipe:
        """
        Raises:
            MedusaError: there is no recipe, or it cannot be read.
        """
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise MedusaError(f"{path} is not the recipe of a training run; start a new run.") from error


def _require(holds: bool, name: str, value: object, allowed: str) -> None:
    if not holds:
        raise MedusaError(f"{name} is {value}; it must be {allowed}.")
