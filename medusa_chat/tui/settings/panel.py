"""The settings panel: search, list, and what the row under the cursor means. Beside the conversation, never above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from medusa_chat.settings.presets import Preset
from medusa_chat.tui.settings.drawing import State
from medusa_chat.tui.settings.explaining import Explained
from medusa_chat.tui.settings.setting_list import SettingList
from medusa_chat.tui.settings.wishes import RowChanged, SearchDropped, SearchWanted
from medusa_chat.tui.text import MUTED

TITLE = Content.assemble(("Settings", "bold $primary"), ("  from the next step on", MUTED))


class SearchLine(Input):
    """Filters while a person types; Enter and down lead to what was found."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "down,enter", "found", "To the settings", id="setting.found", show=False, tooltip="To the settings found"
        ),
        Binding(
            "escape", "clear", "All settings", id="setting.clear", key_display="esc", tooltip="Show all settings again"
        ),
    ]

    def action_found(self) -> None:
        self.screen.query_one(SettingList).focus()

    def action_clear(self) -> None:
        self.value = ""
        self.action_found()


class SettingsPanel(Vertical):
    """Shows what is in force; what the person wants goes on to the screen as the list's messages."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state

    def compose(self) -> ComposeResult:
        yield Static(TITLE, classes="title")
        yield SearchLine(placeholder="/ search", compact=True)
        with VerticalScroll(can_focus=False):
            yield SettingList(self._state)
        yield Explained()

    def on_resize(self) -> None:
        self.call_after_refresh(self.rows.reveal)

    @property
    def rows(self) -> SettingList:
        return self.query_one(SettingList)

    def show(self, state: State) -> None:
        self.rows.show(state)

    def offer(self, presets: Sequence[Preset]) -> None:
        self.rows.offer(presets)

    @on(Input.Changed)
    def _on_typed(self, event: Input.Changed) -> None:
        event.stop()
        if isinstance(event.input, SearchLine):
            self.rows.filter(event.value)
        elif self.rows.problem:
            self.rows.complain("")

    @on(SearchWanted)
    def _on_search(self) -> None:
        self.query_one(SearchLine).focus()

    @on(SearchDropped)
    def _on_dropped(self, event: SearchDropped) -> None:
        event.stop()
        self.query_one(SearchLine).value = ""

    @on(RowChanged)
    def _on_moved(self, event: RowChanged) -> None:
        event.stop()
        rows = self.rows
        self.query_one(Explained).tell(rows.row, rows.state, rows.problem)
        self.refresh_bindings()
