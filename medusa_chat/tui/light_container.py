"""What holds other widgets, and costs next to nothing itself."""

from __future__ import annotations

from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style

from medusa_chat.tui.laid_out_once import LaidOutOnce

_NO_BORDER = ("", "none", "hidden", "blank")


class LightContainer(LaidOutOnce):
    """A base to name last: style sheets follow the first."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """One row of the background for all, where Textual composes each of its own: that took as long, in every frame,
        as the text in front."""
        if any(kind not in _NO_BORDER for kind, _ in self.styles.border):
            return super().render_lines(crop)
        background = self.background_colors[1]
        row = Strip.blank(crop.width, Style(background=background).rich_style)
        for each in self.get_line_filters():
            row = row.apply_filter(each, background)
        return [row] * crop.height
