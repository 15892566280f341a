"""Presets in the command palette."""

from __future__ import annotations

import asyncio
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from medusa_chat.settings.presets import Preset, all_presets
from medusa_chat.tui.settings.screen_part import SettingScreen


class PresetCommands(Provider):
    """One command a preset: "Preset: creative"."""

    async def startup(self) -> None:
        self._presets = (await asyncio.to_thread(all_presets)).presets

    async def discover(self) -> Hits:
        for preset in self._presets:
            yield DiscoveryHit(_name(preset), partial(self._take, preset), help=preset.description)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for preset in self._presets:
            if (score := matcher.match(_name(preset))) > 0:
                yield Hit(score, matcher.highlight(_name(preset)), partial(self._take, preset), help=preset.description)

    def _take(self, preset: Preset) -> None:
        if isinstance(screen := self.screen, SettingScreen):
            screen.take_preset(preset)


def _name(preset: Preset) -> str:
    return f"Preset: {preset.name}"
