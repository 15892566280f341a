"""What the chat screen does about settings: the panel beside the conversation, presets, and what is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on, work
from textual.command import Provider

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings import presets
from medusa_chat.settings.presets import Preset
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.chat.painting import PaintedScreen
from medusa_chat.tui.choices import Choices, described, possible, why_impossible, with_preset
from medusa_chat.tui.settings.drawing import State
from medusa_chat.tui.settings.memory import Memory
from medusa_chat.tui.settings.setting_list import SettingList
from medusa_chat.tui.settings.wishes import PresetDoomed, PresetNamed, PresetTaken, SettingsChosen, SettingsLeft

if TYPE_CHECKING:
    from medusa_chat.tui.dialogue import Dialogue
    from medusa_chat.tui.settings.panel import SettingsPanel

KEEP_SECONDS = 1.0


def _preset_commands() -> type[Provider]:
    from medusa_chat.tui.settings.commands import PresetCommands

    return PresetCommands


class SettingScreen(PaintedScreen):
    """The panel is made when it is first wanted."""

    COMMANDS = {_preset_commands}  # noqa: RUF012

    def __init__(self, dialogue: Dialogue) -> None:
        super().__init__(dialogue)
        self.preset: Preset | None = None
        """For this start, in place of what is remembered."""
        self._memory = Memory()

    # The panel.

    async def action_settings(self) -> None:
        """Opens the panel, leads to it, and closes it from there."""
        panel = await self._settings_panel()
        if self.shows("settings") and panel.has_focus_within:
            self._hide_settings()
            return
        self.open_part("settings")
        panel.rows.focus()

    def _hide_settings(self) -> None:
        self.close_part("settings")
        self.query_one(Composer).focus()

    def action_panel(self) -> None:
        """Where it takes the place of the settings, those have not the keys any longer."""
        super().action_panel()
        if not self.shows("settings") and any(panel.has_focus_within for panel in self.query("SettingsPanel")):
            self.query_one(Composer).focus()

    async def _settings_panel(self) -> SettingsPanel:
        from medusa_chat.tui.settings.panel import SettingsPanel

        if not self.query(SettingsPanel):
            await self.query_one("#body").mount(SettingsPanel(self._state))
            self._read_presets()
        return self.query_one(SettingsPanel)

    @property
    def _state(self) -> State:
        return State(self.dialogue.choices, self.dialogue.loaded)

    def _show_settings(self) -> None:
        super()._show_settings()
        for rows in self.query(SettingList):
            rows.show(self._state)

    @on(SettingsLeft)
    def _on_left(self) -> None:
        if self.has_class("-alone"):
            self._hide_settings()
        else:
            self.query_one(Composer).focus()

    # What the person wants.

    def choose(self, choices: Choices) -> None:
        """In force from the next step on."""
        self.dialogue.choose(choices)
        self._show_settings()
        self._show_status()

    @on(SettingsChosen)
    def _on_chosen(self, event: SettingsChosen) -> None:
        self.choose(event.choices)

    @on(PresetTaken)
    def _on_taken(self, event: PresetTaken) -> None:
        self.query_one(SettingList).complain(self._follow(event.preset))

    def take_preset(self, preset: Preset) -> None:
        """From afar: what is in force then is said."""
        reason = self._follow(preset)
        self.notify(f"{preset.name}: {described(self.dialogue.choices)}. {reason}".strip(), timeout=5)

    def _follow(self, preset: Preset) -> str:
        """As far as the model can; what it cannot is returned."""
        wanted, loaded = with_preset(self.dialogue.choices, preset), self.dialogue.loaded
        self.choose(wanted if loaded is None else possible(wanted, loaded))
        return why_impossible(wanted, loaded)

    @on(PresetNamed)
    async def _on_named(self, event: PresetNamed) -> None:
        choices, rows = self.dialogue.choices, self.query_one(SettingList)
        save = lambda: presets.save(event.name, described(choices), choices.decoding, choices.sampling)  # noqa: E731
        if (problem := await _attempted(save)) is not None:
            rows.complain(problem)
            return
        rows.close_line()
        self._read_presets()
        self.notify(f"Saved as {event.name.strip()}.", timeout=4)

    @on(PresetDoomed)
    async def _on_doomed(self, event: PresetDoomed) -> None:
        if (problem := await _attempted(lambda: presets.delete(event.preset.name))) is not None:
            self.query_one(SettingList).complain(problem)
            return
        self._read_presets()
        self.notify(f"The preset {event.preset.name} is deleted.", timeout=4)

    @work(exclusive=True, group="presets")
    async def _read_presets(self) -> None:
        listing = await asyncio.to_thread(presets.all_presets)
        for rows in self.query(SettingList):
            rows.offer(listing.presets)
        for problem in listing.problems:
            self.notify(problem, severity="warning", timeout=10)

    # What is remembered.

    async def recall(self) -> None:
        """Settings as they were left, or those of the preset this start was given."""
        choices, panels, problems = await asyncio.to_thread(self._memory.recall)
        self.dialogue.choose(choices if self.preset is None else with_preset(choices, self.preset))
        if panels.get("settings"):
            await self._settings_panel()
        self.wish(replace(self.wishes, settings=panels.get("settings"), medusa=panels.get("medusa")))
        self._show_settings()
        for problem in problems:
            self.notify(problem, severity="warning", timeout=10)
        self.set_interval(KEEP_SECONDS, self._keep)

    @property
    def _panels(self) -> dict[str, bool]:
        wanted = {"medusa": self.wishes.medusa, "settings": self.wishes.settings}
        return {name: shown for name, shown in wanted.items() if shown is not None}

    async def _keep(self) -> None:
        """Once a second is often enough: whoever turns a knob turns it on."""
        dialogue = self.dialogue
        if self._memory.differs(dialogue.choices, self._panels, dialogue.loaded):
            problem = await asyncio.to_thread(self._memory.keep, dialogue.choices, self._panels)
            if problem is not None:
                self.notify(problem, severity="warning", timeout=10)

    def on_unmount(self) -> None:
        if self._memory.differs(self.dialogue.choices, self._panels, self.dialogue.loaded):
            self._memory.keep(self.dialogue.choices, self._panels)


async def _attempted(deed: Callable[[], object]) -> str | None:
    """Does it on a thread; returns what went wrong."""
    try:
        await asyncio.to_thread(deed)
    except MedusaError as error:
        return str(error)
    return None
