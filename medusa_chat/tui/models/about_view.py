"""The details beside the list."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

Describe = Callable[[int], Content]
"""Width in cells -> what there is to say."""


class Details(VerticalScroll):
    """Scrolls by arrows and by the keys of vi once Tab led here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Further down", id="models.down", show=False, tooltip="Read on about this model"),
        Binding("k", "scroll_up", "Further up", id="models.up", show=False, tooltip="Read further up about this model"),
        Binding("g", "scroll_home", "Top", id="models.top", show=False, tooltip="To the top of what is said of it"),
        Binding(
            "G", "scroll_end", "Bottom", id="models.bottom", show=False, tooltip="To the end of what is said of it"
        ),
    ]


class AboutModel(Widget):
    """As high as its words are at the width it has."""

    def __init__(self) -> None:
        super().__init__(id="about")
        self._describe: Describe = lambda _: Content("")

    def show(self, describe: Describe) -> None:
        self._describe = describe
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._describe(max(1, width)).split("\n", allow_blank=True))

    def render(self) -> Content:
        return self._describe(max(1, self.size.width))
