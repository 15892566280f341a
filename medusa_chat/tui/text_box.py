"""A text area whose scroll bar may go while edits are undone."""

from __future__ import annotations

from textual.geometry import Offset
from textual.widgets import TextArea


class TextBox(TextArea):
    """Textual undoes the text first and moves the cursor last. In between, a scroll bar that is no longer needed looks
    for the cursor, on a line that is gone, and that would end the app."""

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        if self.selection.end[0] >= self.document.line_count:
            return Offset()
        return super().scroll_cursor_visible(center, animate)
