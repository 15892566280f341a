"""All settings as a list: a cursor, values that move under arrows, and one line to type in where the value stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Blur, Click
from textual.geometry import Region, Size
from textual.widget import Widget
from textual.widgets import Input

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.presets import BUILT_IN, Preset
from medusa_chat.tui.choices import Choices
from medusa_chat.tui.settings.drawing import State, arrow_at, drawn, value_at
from medusa_chat.tui.settings.fields import FIELDS, Field
from medusa_chat.tui.settings.learning_rows import LearningRow
from medusa_chat.tui.settings.rows import Choosable, Heading, Row, SaveRow, rows_for, same, steps
from medusa_chat.tui.settings.setting_keys import LIST_BINDINGS
from medusa_chat.tui.settings.value_line import ValueLine
from medusa_chat.tui.settings.wishes import (
    LearningTaken,
    LearningTurned,
    PresetDoomed,
    PresetNamed,
    PresetTaken,
    RowChanged,
    SearchDropped,
    SearchWanted,
    SettingsChosen,
    SettingsLeft,
)


class SettingList(Widget, can_focus=True):
    """Says what the person wants in messages; what is in force comes back through `show`."""

    BINDINGS: ClassVar[list[BindingType]] = list(LIST_BINDINGS)

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state
        self.problem = ""
        """What is wrong with what was typed, or what a key just said."""
        self._presets: Sequence[Preset] = BUILT_IN
        self._search = ""
        self._rows: list[Row] = rows_for(BUILT_IN)
        self._cursor = 1
        self._doomed: str | None = None
        self._line = ValueLine()

    def compose(self) -> ComposeResult:
        yield self._line

    @property
    def row(self) -> Choosable | None:
        """Under the cursor; None where the search left nothing."""
        row = self._rows[self._cursor] if self._cursor < len(self._rows) else None
        return None if isinstance(row, Heading) else row

    # What is shown.

    def show(self, state: State) -> None:
        if state != self.state:
            self.state = state
            self.refresh()
            self.post_message(RowChanged())

    def offer(self, presets: Sequence[Preset]) -> None:
        self._presets = presets
        self._arrange()

    def filter(self, search: str) -> None:
        self._search = search
        self._arrange()

    def complain(self, problem: str) -> None:
        """Say what is wrong, below the list."""
        self.problem = problem
        self.post_message(RowChanged())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, len(self._rows))

    def render(self) -> Content:
        width = self.size.width
        cursor = self._cursor if self.has_focus or self._line.display else -1
        return Content("\n").join(drawn(row, self.state, width, at == cursor) for at, row in enumerate(self._rows))

    def _arrange(self) -> None:
        """New rows; the cursor stays on its row where that is still there."""
        before = self.row
        self._rows = rows_for(self._presets, self._search)
        places = [at for at, row in enumerate(self._rows) if not isinstance(row, Heading)]
        stays = [at for at in places if same(self._rows[at], before)]
        self._cursor = next(iter([*stays, *places]), 0)
        self.refresh(layout=True)
        self._moved()

    def _moved(self) -> None:
        self.problem, self._doomed = "", None
        self.refresh()
        self.post_message(RowChanged())
        self.call_after_refresh(self.reveal)

    def reveal(self) -> None:
        """A heading right above comes into view with its first row."""
        above = self._cursor > 0 and isinstance(self._rows[self._cursor - 1], Heading)
        place = Region(0, self._cursor - above, self.size.width, 1 + above)
        if isinstance(self.parent, Widget):
            self.parent.scroll_to_region(place, animate=False)

    # Keys.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        row = self.row
        if self._line.display:
            return False
        if action == "turn":
            return row is not None and steps(row)
        if action == "delete":
            return isinstance(row, Preset) and row.own
        return True

    def action_move(self, by: int) -> None:
        places = [at for at, row in enumerate(self._rows) if not isinstance(row, Heading)]
        if self._cursor in places:
            self._put(places[(places.index(self._cursor) + by) % len(places)])

    def action_edge(self, by: int) -> None:
        places = [at for at, row in enumerate(self._rows) if not isinstance(row, Heading)]
        if places:
            self._put(places[0 if by < 0 else -1])

    def action_turn(self, by: int) -> None:
        if isinstance(row := self.row, Field):
            self._choose(row.turn(self.state.choices, by, self.state.loaded))
        elif isinstance(row, LearningRow):
            self.post_message(LearningTurned(row.id, by))

    def action_take(self) -> None:
        row = self.row
        if isinstance(row, Preset):
            self.post_message(PresetTaken(row))
        elif isinstance(row, Field):
            self._type(row.scale.edited(row.value(self.state.choices)))
        elif isinstance(row, LearningRow):
            self.post_message(LearningTaken(row.id))
        elif row is not None:
            self._type("")

    def action_reset(self) -> None:
        if isinstance(row := self.row, Field):
            self._choose(row.default(self.state.choices))

    def action_reset_all(self) -> None:
        choices = self.state.choices
        for field in FIELDS:
            choices = field.default(choices)
        self._choose(choices)

    def action_save(self) -> None:
        if not any(isinstance(row, SaveRow) for row in self._rows):
            self.filter("")
            self.post_message(SearchDropped())
        self._put(next(at for at, row in enumerate(self._rows) if isinstance(row, SaveRow)))
        self._type("")

    def action_delete(self) -> None:
        """The first press asks, the second does it."""
        if isinstance(row := self.row, Preset) and row.own:
            if self._doomed == row.name:
                self.post_message(PresetDoomed(row))
            else:
                self.complain(f"Press d once more to delete the preset {row.name}.")
                self._doomed = row.name

    def action_search(self) -> None:
        self.post_message(SearchWanted())

    def action_leave(self) -> None:
        self.post_message(SettingsLeft())

    def _choose(self, choices: Choices) -> None:
        self.problem = ""
        if choices != self.state.choices:
            self.post_message(SettingsChosen(choices))

    def _put(self, cursor: int) -> None:
        self._cursor = cursor
        self._moved()

    # The mouse.

    def on_click(self, event: Click) -> None:
        at = event.get_content_offset(self)
        if at is None or at.y >= len(self._rows) or isinstance(row := self._rows[at.y], Heading):
            return
        again = at.y == self._cursor
        self.focus()
        if not again:
            self._put(at.y)
        if by := arrow_at(row, self.state, self.size.width, at.x):
            self.action_turn(by)
        elif again or isinstance(row, SaveRow):
            self.action_take()

    # Typing.

    def _type(self, text: str) -> None:
        left = value_at(self.size.width) + 2 if isinstance(self.row, Field) else 2
        self._line.open(text, left, self._cursor, self.size.width - left)

    @on(Input.Submitted)
    def _on_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        row = self.row
        if isinstance(row, SaveRow):
            self.post_message(PresetNamed(event.value))
        elif isinstance(row, Field):
            try:
                choices = row.typed(self.state.choices, event.value, self.state.loaded)
            except MedusaError as error:
                self.complain(str(error))
            else:
                self.close_line()
                self._choose(choices)

    @on(ValueLine.GivenUp)
    def _on_given_up(self) -> None:
        self.close_line()

    def close_line(self) -> None:
        """What was typed is taken, or given up."""
        if self._line.display:
            self._line.display = False
            self.focus()
            self._moved()

    def on_blur(self, event: Blur) -> None:
        self._doomed = None
