"""Python's search for garbage, made rare and short: in the middle of a frame it is a pause one can see."""

from __future__ import annotations

import gc
from collections.abc import Sequence

from textual.widget import Widget

THRESHOLDS = (2_000, 10, 100)
"""New objects between two searches among the youngest, and how many of those go before one among older ones. With Python's
own numbers text that streams into a long conversation had all widgets searched once a second, for 200 ms."""


def search_rarely() -> None:
    """Before the app runs, once everything is imported: what is here by then stays, and is never searched again."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


async def let_go(widgets: Sequence[Widget]) -> None:
    """Remove widgets, and have them forget what they drew. Textual has them keep it, in objects without number, and a
    removed widget is garbage that only a search finds."""
    gone = [each for widget in widgets for each in widget.walk_children(with_self=True) if isinstance(each, Widget)]
    if widgets and isinstance(parent := widgets[0].parent, Widget):
        await parent.remove_children(widgets)
    for each in gone:
        each._styles_cache.clear()
