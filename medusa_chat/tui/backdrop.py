"""What shows nothing but its background, behind what it contains."""

from __future__ import annotations

from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

_NO_BORDER = ("", "none", "hidden", "blank")


class Backdrop(Widget):
    """One row serves for all, where Textual composes each of its own: for the containers of a whole conversation that
    takes as long, in every frame, as the text in them. A base to name last: style sheets follow the first."""

    def render_lines(self, crop: Region) -> list[Strip]:
        if any(kind not in _NO_BORDER for kind, _ in self.styles.border):
            return super().render_lines(crop)
        background = self.background_colors[1]
        row = Strip.blank(crop.width, Style(background=background).rich_style)
        for each in self.get_line_filters():
            row = row.apply_filter(each, background)
        return [row] * crop.height
