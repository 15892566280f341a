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


def with_preset(choices: Choices, preset: Preset) -> Choices:
    """The preset's settings in place of all but the limits, and the seed where it names none."""
    return replace(choices, decoding=preset.decoding, sampling=preset.drawn_with(choices.sampling))


def in_force(preset: Preset, choices: Choices, loaded: Loaded | None) -> bool:
    """Whether these are the preset's settings, as far as the model can follow them."""
    wanted = with_preset(choices, preset)
    return choices == (wanted if loaded is None else possible(wanted, loaded))


def described(choices: Choices) -> str:
    """The settings that say most, on one line."""
    decoding, sampling = choices.decoding, choices.sampling
    parts: list[str] = [decoding.decoder]
    if decoding.decoder in ("joint", "medusa"):
        parts.append(
            "all heads" if decoding.heads is None else "1 head" if decoding.heads == 1 else f"{decoding.heads} heads"
        )
    if decoding.decoder != "plain":
        parts.append("as many nodes as pay" if decoding.budget is None else f"trees of {decoding.budget}")
    bound = {"typical": f" from {decoding.epsilon:g}", "threshold": f" from {decoding.threshold:g}"}
    parts.append(f"{decoding.rule_label}{bound.get(decoding.rule, '')}")
    parts.append(f"temperature {sampling.temperature:g}")
    return " · ".join(parts)


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
