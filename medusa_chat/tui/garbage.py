"""Python's search for garbage, made rare and short: in the middle of a frame it is a pause one can see."""

from __future__ import annotations

import gc

THRESHOLDS = (2_000, 10, 100)
"""New objects between two searches among the youngest, and how many of those go before one among older ones. With Python's
own numbers text that streams into a long conversation had all widgets searched once a second, for 200 ms."""


def search_rarely() -> None:
    """Before the app runs, once everything is imported: what is here by then stays, and is never searched again."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
