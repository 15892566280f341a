"""What a person can choose about decoding: plain values, checked on creation, free of torch.

They travel between processes (`host`), are read from flags (`cli`) and changed by keys (`tui`), so this file
imports the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from medusa_chat.engine.errors import MedusaError

DecoderName = Literal["plain", "joint", "medusa", "lookup", "recycle"]
RuleName = Literal["greedy", "lossless", "typical", "threshold"]
TreeKind = Literal["dynamic", "calibrated", "published", "cartesian"]
Reason = Literal["eos", "length", "stop", "cancelled"]

DECODERS: tuple[DecoderName, ...] = get_args(DecoderName)
RULES: tuple[RuleName, ...] = get_args(RuleName)
TREE_KINDS: tuple[TreeKind, ...] = get_args(TreeKind)

LOSSY_RULES: frozenset[RuleName] = frozenset({"typical", "threshold"})
"""Rules that change the distribution of the answers at temperature > 0; they are labelled wherever they are shown."""

MAX_BUDGET = 256
MAX_SEED = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen from the backbone's logits.

    Applied in transformers' order: repetition penalty, temperature, top-k, top-p, min-p.
    """

    temperature: float = 0.0
    """0 means greedy: the most likely token, always."""
    top_k: int = 0
    """Keep the k most likely tokens; 0 keeps all."""
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    """None draws a fresh seed for every answer."""

    def __post_init__(self) -> None:
        _require(0.0 <= self.temperature <= 10.0, "temperature", self.temperature, "between 0 and 10")
        _require(self.top_k >= 0, "top-k", self.top_k, "0 (off) or a positive count")
        _require(0.0 < self.top_p <= 1.0, "top-p", self.top_p, "above 0 and at most 1")
        _require(0.0 <= self.min_p <= 1.0, "min-p", self.min_p, "between 0 and 1")
        _require(
            0.0 < self.repetition_penalty <= 10.0,
            "repetition penalty",
            self.repetition_penalty,
            "above 0 and at most 10",
        )
        _require(
            self.seed is None or 0 <= self.seed <= MAX_SEED, "seed", self.seed, f"between 0 and {MAX_SEED} or left out"
        )

    @property
    def greedy(self) -> bool:
        return self.temperature == 0.0


@dataclass(frozen=True, slots=True)
class Decoding:
    """How tokens are drafted and which guesses are kept. Every field may change between two steps."""

    decoder: DecoderName = "joint"
    """`joint` puts heads (where there are any), lookup and recycling into one tree; the others are alone."""
    budget: int | None = None
    """Nodes of the candidate tree, root included; 1 is a plain step; None takes in each step as many as pay."""
    heads: int | None = None
    """How many heads draft; None uses all."""
    top_k: int = 10
    """Candidates taken from each head."""
    tree: TreeKind = "dynamic"
    """How `medusa` combines its heads' guesses; the trees of the other decoders are always dynamic."""
    rule: RuleName = "lossless"
    epsilon: float = 0.09
    """`typical`: the hard bound on the posterior probability (Medusa paper, section 3.3.1)."""
    delta: float = 0.3
    """`typical`: factor of exp(-entropy) in the entropy-dependent bound (same section)."""
    threshold: float = 0.09
    """`threshold`: the hard bound; 0.05 accepts more, 0.15 less."""

    def __post_init__(self) -> None:
        _require(self.decoder in DECODERS, "decoder", self.decoder, f"one of {', '.join(DECODERS)}")
        _require(self.rule in RULES, "rule", self.rule, f"one of {', '.join(RULES)}")
        _require(self.tree in TREE_KINDS, "tree", self.tree, f"one of {', '.join(TREE_KINDS)}")
        _require(
            self.budget is None or 1 <= self.budget <= MAX_BUDGET,
            "budget",
            self.budget,
            f"between 1 and {MAX_BUDGET}",
        )
        _require(self.heads is None or self.heads >= 1, "heads", self.heads, "at least 1")
        _require(1 <= self.top_k <= 64, "top-k per head", self.top_k, "between 1 and 64")
        _require(0.0 < self.epsilon <= 1.0, "epsilon", self.epsilon, "above 0 and at most 1")
        _require(0.0 < self.delta <= 10.0, "delta", self.delta, "above 0 and at most 10")
        _require(0.0 < self.threshold <= 1.0, "threshold", self.threshold, "above 0 and at most 1")

    @property
    def lossy(self) -> bool:
        return self.rule in LOSSY_RULES

    @property
    def rule_label(self) -> str:
        """For showing: a rule that changes the answers' distribution never appears without that word."""
        return f"{self.rule}, lossy" if self.lossy else self.rule


@dataclass(frozen=True, slots=True)
class Limits:
    """When an answer ends, besides the model's own end token."""

    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    """Strings that end the answer; the answer's text is cut right before the first one found."""

    def __post_init__(self) -> None:
        _require(self.max_tokens >= 1, "max tokens", self.max_tokens, "at least 1")
        _require(all(self.stop), "stop string", "''", "not empty")


def as_dict(options: Sampling | Decoding | Limits) -> dict[str, Any]:
    """Field names and values, for JSON and for the settings file."""
    return {field.name: getattr(options, field.name) for field in fields(options)}


def _require(holds: bool, name: str, value: object, allowed: str) -> None:
    if not holds:
        raise MedusaError(f"{name} is {value}; it must be {allowed}.")
