"""A file of made-up conversations, as large as somebody's after years."""

from __future__ import annotations

import random
from pathlib import Path

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.database import Database

_WORDS = (
    "light", "keeper", "storm", "lamp", "glass", "stairs", "oil", "brass", "rope", "harbour", "ship", "night", "fog",
    "horn", "signal", "rock", "wave", "tide", "wind", "letter", "island", "boat", "winter", "cat", "kettle", "bread",
    "window", "clock", "sailor", "chart", "compass", "anchor", "gull", "sand", "shell", "rain", "cloud",
)  # fmt: skip


def fill(path: Path, count: int, turns: int, signs: tuple[str, str], rare: str) -> None:
    """`count` conversations of `turns` questions and answers each.

    Args:
        signs: what the newest conversation's title, and the title of the only one with the word `rare` in an answer,
            begin with. That one is among the oldest.
    """
    chance = random.Random(1)
    path.parent.mkdir(parents=True, exist_ok=True)
    db = Database(path)
    with db.transaction():
        for number in range(count):
            sign = signs[0] if number == count - 1 else signs[1] if number == 1 else ""
            words = f" {rare}" if number == 1 else ""
            _converse(db, chance, turns, sign, words)
    db.close()


def _converse(db: Database, chance: random.Random, turns: int, sign: str, words: str) -> None:
    conversation, last = conversations.create(db), None
    for _ in range(turns):
        last = messages.add(db, conversation, last, "user", f"{sign} {_sentence(chance, 8)}?".strip())
        answer = ". ".join(_sentence(chance, 12) for _ in range(3))
        last = messages.add(db, conversation, last, "assistant", f"{answer}{words}.")


def _sentence(chance: random.Random, words: int) -> str:
    return " ".join(chance.choice(_WORDS) for _ in range(words)).capitalize()
