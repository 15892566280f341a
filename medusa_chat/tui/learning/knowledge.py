"""What there is to say about the heads of a model that learn from use. Reads files: belongs on a thread."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medusa_chat import catalog
from medusa_chat.catalog.card import Card
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.learning import Learning, learning

LESSONS = "lessons.jsonl"


@dataclass(frozen=True, slots=True)
class Lesson:
    """How one ended. Lengths are mean accepted lengths on held-out answers."""

    answers: int
    before: float
    after: float
    used: bool

    @classmethod
    def read(cls, row: Any) -> Lesson | None:
        """None where the row is none."""
        try:
            return cls(int(row["answers"]), float(row["before"]), float(row["after"]), row["used"] is True)
        except (KeyError, TypeError, ValueError):
            return None

    @property
    def told(self) -> str:
        """One sentence."""
        if self.used:
            return (
                f"Your heads learned from {self.answers} answers: {self.after:.2f} accepted tokens per step instead of "
                f"{self.before:.2f}, used from the next answer on."
            )
        return (
            f"Your heads learned from {self.answers} answers and got no better: {self.after:.2f} accepted tokens per "
            f"step, {self.before:.2f} before. What they learned is thrown away."
        )


@dataclass(frozen=True, slots=True)
class Learnt:
    """Of one model."""

    model: str = ""
    wish: Learning = field(default_factory=Learning)
    last: Lesson | None = None
    ended: float = 0.0
    """When the last lesson did, seconds since 1970."""
    own: bool = False
    """Heads that learned from use are there."""
    running: bool = False
    reason: str = ""
    """Why this model cannot learn, or why the newest try came to nothing."""
    able: bool = False


NOTHING = Learnt()
"""As long as no model is loaded."""


def survey(model: str, heads: int) -> Learnt:
    """
    Args:
        heads: how many the loaded model has.

    Raises:
        MedusaError: the file of preferences cannot be read.
    """
    wish = learning()
    card = _card(model)
    if card is None:
        return Learnt(
            model, wish, reason="A model opened by its folder has no place for heads of its own: add it with F11."
        )
    if not heads:
        return Learnt(model, wish, reason="This model has no heads that could learn.")
    last, ended = _last(card.store / LESSONS)
    return Learnt(model, wish, last, ended, card.learned_folder.is_dir(), able=True)


def forget(model: str) -> None:
    """Back to the heads from before.

    Raises:
        MedusaError: the folder cannot be removed.
    """
    card = _card(model)
    if card is not None and card.learned_folder.is_dir():
        try:
            shutil.rmtree(card.learned_folder)
        except OSError as error:
            raise MedusaError(
                f"{card.learned_folder} cannot be removed ({error.strerror}): remove it yourself."
            ) from error


def _card(model: str) -> Card | None:
    """None where heads that learn would not be found again."""
    try:
        card = catalog.find(model)
    except MedusaError:
        return None
    return card if card.name == model else None


def _last(path: Path) -> tuple[Lesson | None, float]:
    try:
        lines, ended = path.read_text(encoding="utf-8").splitlines(), path.stat().st_mtime
    except (OSError, ValueError):
        return None, 0.0
    for line in reversed(lines):
        try:
            lesson = Lesson.read(json.loads(line))
        except ValueError:
            continue
        if lesson is not None:
            return lesson, ended
    return None, ended
