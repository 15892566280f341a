"""The settings in force, each beside its key; with the focus, arrows and brackets change them too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from medusa_chat.host.messages import Loaded
from medusa_chat.tui.choices import Choices
from medusa_chat.tui.knobs import KNOBS, Knob
from medusa_chat.tui.text import MUTED, fitted

_TWO_COLUMNS_FROM = 50
_KEY = 4
_RIGHT_VALUE = 4
_LEFT = 32
_GAP = "  "


class KnobList(Widget, can_focus=True):
    """Two columns where there is room: what is drafted at the left, how far at the right."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Setting above", id="settings.up", show=False, tooltip="Go to the setting above"),
        Binding(
            "down,j", "move(1)", "Setting below", id="settings.down", show=False, tooltip="Go to the setting below"
        ),
        Binding(
            "right,right_square_bracket,plus",
            "turn(1)",
            "More",
            id="settings.more",
            key_display="→",
            tooltip="Raise the setting under the cursor, or take its next value",
        ),
        Binding(
            "left,left_square_bracket,minus",
            "turn(-1)",
            "Less",
            id="settings.less",
            key_display="←",
            tooltip="Lower the setting under the cursor, or take its previous value",
        ),
    ]

    cursor: reactive[int] = reactive(0)

    @dataclass
    class Turned(Message):
        """A setting is to step by +1 or -1."""

        knob: str
        by: int

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._choices = Choices()
        self._loaded: Loaded | None = None

    def show(self, choices: Choices, loaded: Loaded | None) -> None:
        self._choices, self._loaded = choices, loaded
        self.refresh()

    def action_move(self, by: int) -> None:
        self.cursor = (self.cursor + by) % len(KNOBS)

    def action_turn(self, by: int) -> None:
        self.post_message(self.Turned(KNOBS[self.cursor].id, by))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(_columns(width)[0])

    def render(self) -> Content:
        columns = _columns(self.size.width)
        names = [1 + max(len(knob.name(self._choices.decoding)) for knob in column) for column in columns]
        widths = [self.size.width]
        if len(columns) > 1:
            right = _KEY + names[1] + _RIGHT_VALUE
            widths = [min(self.size.width - right - len(_GAP), _LEFT), right]
        lines = []
        for row in range(len(columns[0])):
            cells = [
                self._cell(column[row], name, width)
                for column, name, width in zip(columns, names, widths, strict=True)
                if row < len(column)
            ]
            lines.append(Content(_GAP).join(cells))
        return Content("\n").join(lines)

    def _cell(self, knob: Knob, name_width: int, width: int) -> Content:
        value = knob.show(self._choices, self._loaded)
        key = f"{knob.key.upper():<{_KEY}}"
        name = fitted(knob.name(self._choices.decoding), name_width)
        shown = fitted(value, max(1, width - _KEY - name_width))
        if self.has_focus and KNOBS[self.cursor] is knob:
            return Content.styled(
                key + name + shown, "$block-cursor-text-style $block-cursor-foreground on $block-cursor-background"
            )
        lossy = knob.id == "rule" and self._choices.decoding.lossy
        return Content.assemble(
            (key, "bold $accent"), (name, MUTED), (shown, "bold $warning" if lossy else "bold $foreground")
        )


def _columns(width: int) -> list[tuple[Knob, ...]]:
    if width < _TWO_COLUMNS_FROM:
        return [KNOBS]
    middle = (len(KNOBS) + 1) // 2
    return [KNOBS[:middle], KNOBS[middle:]]
