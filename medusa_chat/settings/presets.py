"""Named settings of the engine: those that come with the program, and the person's own in `presets.toml`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.settings import own_presets


@dataclass(frozen=True, slots=True)
class Preset:
    name: str
    description: str
    """One line."""
    decoding: Decoding
    sampling: Sampling
    """Without a seed it leaves the seed as it is."""
    own: bool = False
    """Made by the person, who may delete it."""

    @property
    def lossy(self) -> bool:
        return self.decoding.lossy

    def drawn_with(self, sampling: Sampling) -> Sampling:
        """The preset's sampling where that one is in force."""
        return self.sampling if self.sampling.seed is not None else replace(self.sampling, seed=sampling.seed)


@dataclass(frozen=True, slots=True)
class Listing:
    presets: tuple[Preset, ...]
    """Those of the program, then the person's own by name."""
    problems: tuple[str, ...] = ()
    """One plain sentence for each of the person's own that is wrong and so is left out."""

    def find(self, name: str) -> Preset:
        """Also in other capitals than it is written.

        Raises:
            MedusaError: there is none of that name.
        """
        by_name = {preset.name.casefold(): preset for preset in self.presets}
        if (preset := by_name.get(name.strip().casefold())) is not None:
            return preset
        for problem in self.problems:
            if f"[{name}]" in problem:
                raise MedusaError(problem)
        close = get_close_matches(name.casefold(), by_name, n=1)
        hint = f"did you mean {by_name[close[0]].name}?" if close else f"there are {', '.join(self.names)}."
        raise MedusaError(f"There is no preset {name}; {hint}")

    @property
    def names(self) -> list[str]:
        return [preset.name for preset in self.presets]


def all_presets() -> Listing:
    """Reads the person's own anew; a wrong file takes nothing from the others."""
    found = own_presets.read()
    own = [
        Preset(name, each.description, each.decoding, each.sampling, own=True) for name, each in found.presets.items()
    ]
    problems = list(found.problems)
    for preset in [preset for preset in own if _is_built_in(preset.name)]:
        own.remove(preset)
        problems.append(
            f"{own_presets.presets_file()} names a preset {preset.name}, as one of the program is named: rename it."
        )
    own.sort(key=lambda preset: preset.name.casefold())
    return Listing((*BUILT_IN, *own), tuple(problems))


def save(name: str, description: str, decoding: Decoding, sampling: Sampling) -> Preset:
    """Keep settings under a name, in place of the person's own of that name.

    Raises:
        MedusaError: the name cannot be one, or belongs to the program; the file is broken or cannot be written.
    """
    name = name.strip()
    if _is_built_in(name):
        raise MedusaError(f"{name} is a preset of the program; take another name.")
    kept = own_presets.Kept(description, decoding, sampling)
    own_presets.write(name, kept)
    return Preset(name, description, decoding, sampling, own=True)


def delete(name: str) -> None:
    """
    Raises:
        MedusaError: it is not one of the person's own, or the file cannot be written.
    """
    own_presets.remove(name)


def _is_built_in(name: str) -> bool:
    return any(preset.name == name.casefold() for preset in BUILT_IN)


_WARM = Sampling(temperature=0.7)
"""Lossy rules change nothing at temperature 0, so what is to show them draws."""

BUILT_IN: tuple[Preset, ...] = (
    Preset(
        "exact",
        "Always the likeliest token, lossless: word for word what plain decoding says",
        Decoding(),
        Sampling(),
    ),
    Preset(
        "creative",
        "Varied words at temperature 0.8, lossless: drawn exactly as plain sampling draws them",
        Decoding(),
        Sampling(temperature=0.8, top_p=0.95, min_p=0.05),
    ),
    Preset(
        "conservative",
        "2 heads, trees of 4, lossless: a little drafting that never changes what is said",
        Decoding(heads=2, budget=4, top_k=4),
        _WARM,
    ),
    Preset(
        "balanced",
        "3 heads, trees of 8, typical acceptance from 0.15, lossy: keeps what is quite likely",
        Decoding(heads=3, budget=8, top_k=6, rule="typical", epsilon=0.15, delta=0.39),
        _WARM,
    ),
    Preset(
        "standard",
        "4 heads, trees of 16, typical acceptance from 0.09, lossy: the values of the Medusa paper",
        Decoding(heads=4, budget=16, top_k=10, rule="typical", epsilon=0.09, delta=0.3),
        _WARM,
    ),
    Preset(
        "aggressive",
        "5 heads, trees of 32, typical acceptance from 0.05, lossy: keeps whatever is at all plausible",
        Decoding(heads=5, budget=32, top_k=16, rule="typical", epsilon=0.05, delta=0.22),
        _WARM,
    ),
)
"""Delta is the root of epsilon, as in the Medusa paper."""
