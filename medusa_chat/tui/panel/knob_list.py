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
from medusa_chat.tui.knobs import KNOBS, Choices, Knob
from medusa_chat.tui.text import fitted

_TWO_COLUMNS_FROM = 46
_KEY = 4
_NAME = 12
_DECODER_NAME = 8


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
        width = (self.size.width - 2 * (len(columns) - 1)) // len(columns)
        lines = []
        for row in range(len(columns[0])):
            cells = [self._cell(column[row], width) for column in columns if row < len(column)]
            lines.append(Content("  ").join(cells))
        return Content("\n").join(lines)

    def _cell(self, knob: Knob, width: int) -> Content:
        chosen = self.has_focus and KNOBS[self.cursor] is knob
        name = knob.name(self._choices.decoding)
        value = knob.show(self._choices, self._loaded)
        lossy = value.endswith("(lossy)")
        label = _DECODER_NAME if knob.id in ("decoder", "tree", "rule") else _NAME
        return Content.assemble(
            (f"{'▸' if chosen else ' '}{knob.key.upper():<{_KEY - 1}}", "bold $accent"),
            (fitted(name, label), "$text-muted"),
            (fitted(value, max(1, width - _KEY - label)), "bold $warning" if lossy else "bold $foreground"),
        ).stylize("reverse" if chosen else "")


def _columns(width: int) -> list[tuple[Knob, ...]]:
    if width < _TWO_COLUMNS_FROM:
        return [KNOBS]
    middle = (len(KNOBS) + 1) // 2
    return [KNOBS[:middle], KNOBS[middle:]]
