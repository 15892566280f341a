"""What stands in the rows of the screen that a text is painted on."""

from __future__ import annotations

from textual.selection import Selection
from textual.style import Style
from textual.visual import RenderOptions, Visual


def rows(content: Visual, width: int, selection: Selection | None = None) -> list[str]:
    """As they are painted, without the spaces at their ends; what is selected in brackets."""
    options = RenderOptions(lambda style: Style(), {}, selection, Style(reverse=True))
    strips = content.render_strips(width, None, Style(), options)
    assert len(strips) == content.get_height({}, width)
    assert all(strip.cell_length <= width for strip in strips)
    marked = ["".join(f"[{text}]" if style and style.reverse else text for text, style, _ in strip) for strip in strips]
    return [row.replace("][", "").rstrip() for row in marked]
