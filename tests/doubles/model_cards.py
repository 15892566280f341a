"""Models for screens: one far too large, and weights that are here without a pull."""

from __future__ import annotations

from medusa_chat.catalog import Card

GB = 1_000_000_000
BIG = """name = "big-7b"
title = "Big 7B"
licence = "Big licence 2, not for [red]weapons[/red]"
parameters = 7_000_000_000
context = 4096
disk = 14_000_000_000
memory = 31_000_000_000
notes = "Far too large for this machine; 東京 \\U0001F680."
[source]
kind = "hub"
repo = "someone/big-7b"
revision = "main"
allow = ["*"]
"""


def make_here(card: Card) -> None:
    """As a pull leaves it."""
    card.weights_folder.mkdir(parents=True)
    (card.weights_folder / "config.json").write_text("{}")
