"""The task families of Spec-Bench: 80 questions each, MT-bench's eight categories being one of them."""

from __future__ import annotations

MT_BENCH = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
"""The categories of MT-bench, which Spec-Bench begins with: its only questions with a second turn."""

FAMILIES = ("mt_bench", "translation", "summarization", "qa", "math_reasoning", "rag")


def family_of(category: str) -> str:
    """A category outside MT-bench, also one Spec-Bench does not know, is a family of its own."""
    return "mt_bench" if category in MT_BENCH else category
