"""Keys of the settings list."""

from __future__ import annotations

from textual.binding import Binding

LIST_BINDINGS: tuple[Binding, ...] = (
    Binding("up,k", "move(-1)", "Row above", id="setting.up", show=False, tooltip="Go to the setting above"),
    Binding("down,j", "move(1)", "Row below", id="setting.down", show=False, tooltip="Go to the setting below"),
    Binding("g,home", "edge(-1)", "First row", id="setting.first", show=False, tooltip="Go to the first setting"),
    Binding("G,end", "edge(1)", "Last row", id="setting.last", show=False, tooltip="Go to the last setting"),
    Binding(
        "right,l,plus,equals_sign", "turn(1)", "More", id="setting.more", key_display="→",
        tooltip="Raise the setting under the cursor, or take its next value",
    ),
    Binding(
        "left,h,minus", "turn(-1)", "Less", id="setting.less", key_display="←",
        tooltip="Lower the setting under the cursor, or take its previous value",
    ),
    Binding(
        "enter", "take", "Choose", id="setting.take",
        tooltip="Type a value for the setting under the cursor, or apply the preset under it",
    ),
    Binding(
        "0,backspace", "reset", "Default", id="setting.reset", key_display="0", show=False,
        tooltip="Put the setting under the cursor back as the program has it",
    ),
    Binding("R", "reset_all", "Reset all", id="setting.reset-all", tooltip="Put every setting back as the program has it"),
    Binding("S", "save", "Save", id="setting.save", tooltip="Keep the present settings as a preset of your own"),
    Binding("d,delete", "delete", "Delete", id="setting.delete", key_display="d", tooltip="Delete your preset under the cursor"),
    Binding("slash", "search", "Search", id="setting.search", key_display="/", show=False, tooltip="Find a setting by a word"),
    Binding("escape", "leave", "Back", id="setting.leave", key_display="esc", tooltip="Back to the composer"),
)  # fmt: skip
