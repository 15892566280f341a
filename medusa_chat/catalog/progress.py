"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float | None], None]
"""Called with a stage in words and the share that is done, 0 to 1, or None where that is not known."""


def silent(stage: str, done: float | None) -> None:
    """For callers that show nothing."""
