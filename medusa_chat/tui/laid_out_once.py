"""Widgets whose growing costs one layout of the screen, not two."""

from __future__ import annotations

from textual.geometry import Size
from textual.widget import Widget


class LaidOutOnce(Widget):
    """For what changes with every word of an answer. A base to name last: style sheets follow the first."""

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """This comes in the midst of a layout. Textual has one more follow whenever a widget has grown; it is needed where
        a scroll bar comes or goes, and that asks for one by itself."""
        return super()._size_updated(size, virtual_size, container_size, layout=False)
