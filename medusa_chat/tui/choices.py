"""The settings in force on the screen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.host.messages import Loaded
from medusa_chat.settings.presets import Preset


@dataclass(frozen=True, slots=True)
class Choices:
    decoding: Decoding = field(default_factory=Decoding)
    sampling: Sampling = field(default_factory=Sampling)
    limits: Limits = field(default_factory=Limits)
    """From the next answer on; the others from the next step on."""

    def follows(self, preset: Preset) -> bool:
        """Whether the preset's settings are in force."""
        return preset.holds(self.decoding, self.sampling)


def with_preset(choices: Choices, preset: Preset) -> Choices:
    return replace(choices, decoding=preset.decoding, sampling=preset.drawn_with(choices.sampling))


def possible(choices: Choices, loaded: Loaded) -> Choices:
    """The same choices, but for those the loaded model cannot follow."""
    decoding = choices.decoding
    if decoding.decoder == "medusa" and not loaded.heads:
        decoding = replace(decoding, decoder="joint")
    if decoding.heads is not None and decoding.heads > loaded.heads:
        decoding = replace(decoding, heads=None)
    return choices if decoding == choices.decoding else replace(choices, decoding=decoding)


def why_impossible(choices: Choices, loaded: Loaded | None) -> str:
    """What the loaded model cannot follow, and the way out; empty where it can."""
    decoding = choices.decoding
    if loaded is None:
        return ""
    if decoding.decoder == "medusa" and not loaded.heads:
        return "The decoder medusa needs heads and this model has none; joint drafts without them."
    if decoding.heads is not None and decoding.heads > loaded.heads:
        return (
            f"heads is {decoding.heads}, but this model has {loaded.heads or 'none'}; all drafts with those there are."
        )
    return ""
