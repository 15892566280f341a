"""What stands beside the conversation: conversations at the left, settings and the Medusa panel at the right.

A text of less than `COMFORT` columns is no pleasure to read, so what opens by itself and what opens second leaves that
much. One thing alone that was asked for may leave `LEAST`; where not even that is there, it takes the whole width.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

Part = Literal["sidebar", "settings", "medusa"]
PARTS: tuple[Part, ...] = ("sidebar", "settings", "medusa")
"""The one that is visited for the shortest time first: it goes before the others, and makes room for them."""

COMFORT = 56
LEAST = 36
SIDEBAR = 32
NARROW, PANEL, BROAD = 42, 54, 72
"""Columns of a panel, as in the style sheets."""
PANEL_FROM = PANEL + COMFORT
"""Columns from which the Medusa panel is shown unless it was hidden by key; below, panels are narrow ones."""
SIDEBAR_FROM = 150
BROAD_FROM = SIDEBAR + BROAD + COMFORT


@dataclass(frozen=True, slots=True)
class Wishes:
    """Opened (True) or closed (False) by the person; None: shown by itself where there is room."""

    sidebar: bool | None = None
    settings: bool | None = None
    medusa: bool | None = None
    visited: Part | None = None
    """What was opened last in this run: it alone may take the whole width."""

    def of(self, part: Part) -> bool | None:
        wish: bool | None = getattr(self, part)
        return wish

    def opened(self, part: Part, width: int) -> Wishes:
        """It is shown; what stands in its way, and is visited for a shorter time, was left for it."""
        wishes = _wishing(replace(self, visited=part), part, True)
        for other in PARTS[: PARTS.index(part)]:
            if part not in arranged(width, wishes).shown:
                wishes = _wishing(wishes, other, None)
        return wishes

    def closed(self, part: Part) -> Wishes:
        return _wishing(replace(self, visited=None), part, False)

    def left(self, part: Part) -> Wishes:
        """As if it had never been opened."""
        return _wishing(replace(self, visited=None), part, None)


@dataclass(frozen=True, slots=True)
class Arrangement:
    shown: tuple[Part, ...]
    alone: bool = False
    """The one thing shown takes the whole width, the conversation's too."""

    def room(self, width: int) -> int:
        """Columns left for the conversation."""
        return 0 if self.alone else width - _taken(width, self.shown)


def arranged(width: int, wishes: Wishes) -> Arrangement:
    """What is shown on a screen `width` columns wide."""
    asked = [part for part in PARTS if wishes.of(part)]
    if asked and width - _taken(width, asked[:1]) < LEAST:
        if wishes.visited in asked:
            return Arrangement((wishes.visited,), alone=True)
        return Arrangement(())
    shown: list[Part] = asked[:1]
    for part in [*asked[1:], *(part for part in PARTS if _by_itself(part, width, wishes))]:
        if width - _taken(width, [*shown, part]) >= COMFORT:
            shown.append(part)
    return Arrangement(tuple(part for part in PARTS if part in shown))


def is_over(part: Part, width: int, wishes: Wishes) -> bool:
    """Whether something else would be shown without it, or the conversation has too little room beside it."""
    now, without = arranged(width, wishes), arranged(width, wishes.left(part))
    return part in now.shown and (now.room(width) < COMFORT or not set(without.shown) <= set(now.shown))


def _by_itself(part: Part, width: int, wishes: Wishes) -> bool:
    """Settings never are."""
    since = {"sidebar": SIDEBAR_FROM, "medusa": PANEL_FROM}
    return part in since and wishes.of(part) is None and width >= since[part]


def _taken(width: int, shown: Iterable[Part]) -> int:
    panel = NARROW if width < PANEL_FROM else PANEL
    broad = BROAD if width >= BROAD_FROM and "settings" not in shown else panel
    columns = {"sidebar": SIDEBAR, "settings": panel, "medusa": broad}
    return sum(columns[part] for part in shown)


def _wishing(wishes: Wishes, part: Part, wish: bool | None) -> Wishes:
    if part == "sidebar":
        return replace(wishes, sidebar=wish)
    return replace(wishes, settings=wish) if part == "settings" else replace(wishes, medusa=wish)
