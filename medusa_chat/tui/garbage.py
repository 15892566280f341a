"""Python's search for garbage, made rare and short: in the middle of a frame it is a pause one can see."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence

from textual.strip import Strip
from textual.widget import Widget

THRESHOLDS = (2_000, 10, 100)
"""New objects between two searches among the youngest, and how many of those go before one among older ones. With Python's
own numbers text that streams into a long conversation had all widgets searched once a second, for 200 ms."""


def search_rarely() -> None:
    """Before the app runs, once everything is imported: what is here by then stays, and is never searched again."""
    Strip.divide = _divide  # type: ignore[method-assign, assignment]
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


_keeping_divide = Strip.divide


def _divide(strip: Strip, cuts: Iterable[int]) -> Sequence[Strip]:
    """A row that is not cut keeps itself, in a cache of its own: most rows of every frame would be garbage that only a
    search finds, with two dozen objects each."""
    within = [cut for cut in cuts if cut <= strip.cell_length]
    return [strip] if within == [strip.cell_length] else _keeping_divide(strip, within)
