"""Acceptance rules: which child of a verified node is kept, and which token follows the last kept one."""

from __future__ import annotations

from medusa_chat.engine.acceptance.base import AcceptanceRule
from medusa_chat.engine.acceptance.exact import Greedy, Lossless
from medusa_chat.engine.acceptance.lossy import Threshold, Typical
from medusa_chat.engine.options import Decoding

__all__ = ["AcceptanceRule", "Greedy", "Lossless", "Threshold", "Typical", "rule_for"]


def rule_for(decoding: Decoding) -> AcceptanceRule:
    """The rule the options ask for, with its thresholds."""
    match decoding.rule:
        case "greedy":
            return Greedy()
        case "lossless":
            return Lossless()
        case "typical":
            return Typical(decoding.epsilon, decoding.delta)
        case "threshold":
            return Threshold(decoding.threshold)
