"""What decides how heads come out, as one value that travels into the run folder and beside the finished heads."""

from __future__ import annotations

from dataclasses import dataclass

from medusa_chat.engine.errors import MedusaError

LOSS_DECAY = 0.8
"""Head k (from 1) weighs 0.8^(k-1) in the loss; the paper's lambda_k = 0.8^k up to a constant factor."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How heads are trained: on a frozen backbone (Medusa-1), or with low-rank adapters on it (Medusa-2)."""

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
    acceptance_share: float = 0.0
    """How much of the loss is -log of the overlap of the head's and the backbone's distributions; the rest is
    cross-entropy."""
    accumulate: int = 1
    """Parts a step's positions are computed in, one after the other: less memory, the same result."""
    dropout: float = 0.2
    """Share of each residual block's outputs left out at random in every step, against learning by heart."""
    held_out: float = 0.05
    """Share of the conversations that is never trained on."""
    low_precision: bool = False
    """Multiply in bfloat16; weights, sums and the optimiser stay in float32."""
    lora_rank: int = 32
    """Medusa-2: of the adapters on all linear layers of the backbone's blocks."""
    lora_alpha: int = 16
    backbone_rate: float = 5e-4
    """Medusa-2: learning rate of the adapters; that of the heads is four times it."""
    heads_weight: float = 0.2
    """Medusa-2: of the heads' loss beside the backbone's (lambda0)."""
    keep_words: bool = True
    """Medusa-2: the backbone is held to what it said without its adapters (KL); False: to the tokens that came."""
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
        _require(0 <= self.acceptance_share <= 1, "acceptance share", self.acceptance_share, "between 0 and 1")
        _require(self.accumulate >= 1, "accumulate", self.accumulate, "at least 1")
        _require(self.lora_rank >= 1, "LoRA rank", self.lora_rank, "at least 1")
        _require(self.lora_alpha >= 1, "LoRA alpha", self.lora_alpha, "at least 1")
        _require(self.backbone_rate > 0, "backbone rate", self.backbone_rate, "above 0")
        _require(self.heads_weight > 0, "heads' weight", self.heads_weight, "above 0")
        _require(0 <= self.dropout < 1, "dropout", self.dropout, "at least 0 and below 1")
        _require(0 < self.held_out < 1, "held-out share", self.held_out, "between 0 and 1")


def _require(holds: bool, name: str, value: object, allowed: str) -> None:
    if not holds:
        raise MedusaError(f"{name} is {value}; it must be {allowed}.")
