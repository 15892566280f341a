"""The drawn tree: a cursor walks from node to node, and the view follows it both ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import ScrollableContainer, Vertical
from textual.content import Content
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from medusa_chat.tui.inspector.drawing import Drawing

_AROUND = 8
"""Cells kept in view beside the cursor's label, for the lines that lead on."""


class _Window(ScrollableContainer, can_focus=False, inherit_bindings=False):
    """Keys belong to the tree itself."""


class TreeMap(Widget, can_focus=True):
    """Shows what it is given and says where the person wants to look."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "walk(-1)", "Node above", id="tree.up", show=False, tooltip="To the guess above"),
        Binding("down,j", "walk(1)", "Node below", id="tree.down", show=False, tooltip="To the guess below"),
        Binding("left,h", "parent", "Parent", id="tree.parent", show=False, tooltip="To the token before"),
        Binding("right,l", "child", "Child", id="tree.child", show=False, tooltip="To the first guess after this one"),
        Binding("g", "look(0)", "Root", id="tree.root", show=False, tooltip="To the root of the tree"),
        Binding("G", "end", "End of path", id="tree.end", show=False, tooltip="To the end of the accepted path"),
    ]

    @dataclass
    class Looked(Message):
        """The person wants to look at this node; -1 stands for the end of the accepted path."""

        node: int

    def __init__(self) -> None:
        super().__init__()
        self._drawing: Drawing | None = None
        self._cursor = 0

    def show(self, drawing: Drawing, cursor: int) -> None:
        self._drawing, self._cursor = drawing, cursor
        self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return max(container.width, self._drawing.width if self._drawing else 0)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._drawing.lines) if self._drawing else 1

    def render(self) -> Content:
        return Content("\n").join(self._drawing.lines) if self._drawing is not None else Content("")

    def action_walk(self, down: int) -> None:
        if self._drawing is not None:
            self._look(self._drawing.shape.neighbour(self._cursor, down, self._count))

    def action_parent(self) -> None:
        if self._drawing is not None:
            node = self._cursor
            above = [other for other, below in enumerate(self._drawing.shape.children) if node in below]
            self._look(above[0] if above else node)

    def action_child(self) -> None:
        if self._drawing is not None:
            below = self._drawing.shape.children[self._cursor]
            self._look(next((node for node in below if node < self._count), self._cursor))

    def action_look(self, node: int) -> None:
        self._look(node)

    def action_end(self) -> None:
        self._look(-1)

    def on_click(self, event: Click) -> None:
        if self._drawing is not None and (node := self._drawing.node_at(event.x, event.y)) is not None:
            self._look(node)

    @property
    def _count(self) -> int:
        return len(self._drawing.boxes) - 1 if self._drawing is not None else 0

    def _look(self, node: int) -> None:
        if node != self._cursor and node < self._count:
            self.post_message(self.Looked(node))

    @property
    def cursor_place(self) -> Region:
        """The label under the cursor, with some room beside it."""
        if self._drawing is None or self._cursor >= self._count:
            return Region(0, 0, 1, 1)
        x, y, width, height = self._drawing.boxes[self._cursor]
        start = max(0, x - _AROUND)
        return Region(start, y, x - start + width + _AROUND, height)


class TreePane(Vertical):
    """The tree below the depths of its columns, in a window that follows the cursor."""

    def compose(self) -> ComposeResult:
        yield Static(id="titles", markup=False)
        with _Window():
            yield TreeMap()

    def on_mount(self) -> None:
        self._titles = Content("")
        self.watch(self.query_one(_Window), "scroll_x", self._show_titles, init=False)

    @property
    def room(self) -> int:
        """Cells for the tree side by side."""
        return self.query_one(_Window).container_size.width

    def show(self, drawing: Drawing, cursor: int, reveal: bool) -> None:
        """`reveal` moves the window to the cursor."""
        tree = self.query_one(TreeMap)
        tree.show(drawing, cursor)
        self._titles = drawing.titles
        self._show_titles()
        if reveal:
            self.call_after_refresh(self._reveal)

    def _reveal(self) -> None:
        place = self.query_one(TreeMap).cursor_place
        self.query_one(_Window).scroll_to_region(place, animate=False, force=True, immediate=True)

    def _show_titles(self) -> None:
        self.query_one("#titles", Static).update(self._titles[int(self.query_one(_Window).scroll_x) :])
