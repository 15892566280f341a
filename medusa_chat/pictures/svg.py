"""Just enough SVG for a chart: shapes in, one escaped document out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

INK, FAINT, PAPER = "#1f2328", "#d1d9e0", "#ffffff"
FONT = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"

Anchor = Literal["start", "middle", "end"]


@dataclass(slots=True)
class Drawing:
    """Shapes on white paper, so that it reads the same on light and dark pages; coordinates in pixels."""

    width: float
    height: float
    title: str
    """What a screen reader says."""
    _shapes: list[str] = field(default_factory=list)

    def rect(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        self._add("rect", x=x, y=y, width=width, height=height, fill=fill)

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str = INK, width: float = 1.0) -> None:
        self._add("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width)

    def curve(self, points: Sequence[tuple[float, float]], stroke: str, width: float) -> None:
        """Straight from point to point."""
        places = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self._add("polyline", points=places, fill="none", stroke=stroke, stroke_width=width, stroke_linejoin="round")

    def text(
        self, x: float, y: float, text: str, *, size: float = 12, anchor: Anchor = "start", bold: bool = False
    ) -> None:
        """`y` is that of the baseline. What lies under the letters is kept off by a rim of paper."""
        attributes = _attributes(
            x=x,
            y=y,
            font_size=size,
            text_anchor=anchor,
            font_weight="bold" if bold else "normal",
            paint_order="stroke",
            stroke=PAPER,
            stroke_width=3,
        )
        self._shapes.append(f"<text {attributes}>{escape(_printable(text))}</text>")

    def document(self) -> str:
        """The whole file."""
        size = f'width="{_number(self.width)}" height="{_number(self.height)}"'
        box = f"0 0 {_number(self.width)} {_number(self.height)}"
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="{box}" role="img" '
                f'font-family="{FONT}" fill="{INK}">',
                f"<title>{escape(_printable(self.title))}</title>",
                f'<rect {size} rx="6" fill="{PAPER}"/>',
                *self._shapes,
                "</svg>\n",
            ]
        )

    def _add(self, shape: str, **attributes: float | str) -> None:
        self._shapes.append(f"<{shape} {_attributes(**attributes)}/>")


def _attributes(**attributes: float | str) -> str:
    return " ".join(f"{name.replace('_', '-')}={quoteattr(_number(value))}" for name, value in attributes.items())


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def _printable(text: str) -> str:
    """XML knows no control characters, escaped or not."""
    return "".join(char if char.isprintable() else " " for char in text)
