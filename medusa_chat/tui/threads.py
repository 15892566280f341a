"""How long the screen waits for its turn while another thread computes, as the one that saves conversations does."""

from __future__ import annotations

import sys

SWITCH_SECONDS = 0.0005
"""With Python's own 5 ms, each time the screen had waited for anything it waited as long again: while an answer's steps
were being saved, a key took 20 to 40 ms more until it was seen."""


def give_way() -> None:
    """Before the app runs."""
    sys.setswitchinterval(SWITCH_SECONDS)
