"""What a person wants of the settings list, as messages to the panel and the screen."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from medusa_chat.settings.presets import Preset
from medusa_chat.tui.choices import Choices


@dataclass
class SettingsChosen(Message):
    """Other settings, from the next step on."""

    choices: Choices


@dataclass
class PresetTaken(Message):
    """A preset is to be applied."""

    preset: Preset


@dataclass
class PresetNamed(Message):
    """The present settings are to be saved under a name."""

    name: str


@dataclass
class PresetDoomed(Message):
    """A preset of the person's own is to be deleted."""

    preset: Preset


@dataclass
class LearningTurned(Message):
    """A value about learning from use is to step."""

    row: str
    by: int


@dataclass
class LearningTaken(Message):
    """What a row about learning from use offers is wanted."""

    row: str


class RowChanged(Message):
    """Something else is to be said below the list."""


class SearchWanted(Message):
    """The search line is to have the focus."""


class SearchDropped(Message):
    """All rows are shown again, whatever the search line says."""


class SettingsLeft(Message):
    """The person is done here."""
