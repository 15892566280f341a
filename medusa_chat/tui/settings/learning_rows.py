"""The rows about heads that learn from use: what they are called, show and mean."""

from __future__ import annotations

from dataclasses import dataclass, replace

from medusa_chat.settings.learning import Learning
from medusa_chat.tui.learning.knowledge import Learnt

MEANING = (
    "While nobody is here, heads learn from the conversations kept here: only on this machine, never from private ones, "
    "and a held-out tenth decides if they are used."
)
AGAIN = "Press enter once more: what your heads learned is removed, and the heads from before are used."
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class LearningRow:
    id: str
    label: str
    meaning: str
    steps: bool = False
    """Arrows move its value."""

    def value(self, learnt: Learnt) -> str:
        if self.id == "learn":
            return "on" if learnt.wish.enabled else "off"
        if self.id == "share":
            return f"{100 * learnt.wish.share:.0f} %"
        if self.id == "now":
            return "learning …" if learnt.running else _last(learnt)
        return "learned" if learnt.own else "shipped"

    def idle(self, learnt: Learnt) -> str:
        """Why it changes nothing at present; empty where it counts."""
        if not learnt.able:
            return learnt.reason
        if self.id == "share" and not learnt.wish.enabled:
            return "It counts once learning from use is on."
        return ""

    def changed(self, learnt: Learnt) -> bool:
        """Otherwise than the program has it."""
        if self.id == "learn":
            return learnt.wish.enabled
        if self.id == "share":
            return learnt.wish.share != Learning().share
        return self.id == "shipped" and learnt.own

    def told(self, learnt: Learnt) -> str:
        """What is said of it below the list."""
        if self.id == "now":
            last = learnt.last.told if learnt.last is not None else "Nothing was learned yet."
            action = "Enter ends it; it goes on next time." if learnt.running else "Enter learns now."
            return f"{learnt.reason or last} {action}"
        return self.meaning


LEARNING_ROWS: tuple[LearningRow, ...] = (
    LearningRow("learn", "learn", MEANING, steps=True),
    LearningRow(
        "share", "CPU share", "How much of the processor learning may take; it stands back anyway.", steps=True
    ),
    LearningRow("now", "last lesson", "Accepted tokens per step before and after; enter learns now."),
    LearningRow("shipped", "heads in use", "Enter twice goes back to the heads the model came with."),
)


def _last(learnt: Learnt) -> str:
    last = learnt.last
    if last is None:
        return "nothing yet"
    if not last.used:
        return "not better"
    return f"{last.before:.2f} → {last.after:.2f}"


def turned(row: str, wish: Learning, by: int) -> Learning:
    """One step of a value."""
    if row == "learn":
        return replace(wish, enabled=not wish.enabled)
    place = min(range(len(SHARES)), key=lambda at: abs(SHARES[at] - wish.share))
    return replace(wish, share=SHARES[(place + by) % len(SHARES)])
