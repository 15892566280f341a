"""Who can run in a lane: every decoder as it comes, the presets, and the settings in force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from medusa_chat.engine.options import DECODERS, Decoding
from medusa_chat.host.messages import Lane, Loaded
from medusa_chat.settings.presets import Preset
from medusa_chat.tui.choices import Choices, possible

AS_SET = "as set"
"""The name of the settings in force."""

FEWEST_LANES, MOST_LANES = 2, 3


def contestants(choices: Choices, loaded: Loaded | None, presets: Sequence[Preset] = ()) -> list[Lane]:
    """In the order keys step through them, no two alike. Only how they decode counts: all draw from the same
    distribution, that of the settings in force."""
    lanes: list[Lane] = []
    names = [name for name in DECODERS if name != "medusa" or loaded is None or loaded.heads]
    for name, decoding in (
        *((name, Decoding(decoder=name)) for name in names),
        *((preset.name, _followed(preset.decoding, loaded)) for preset in presets),
        (AS_SET, choices.decoding),
    ):
        if all(lane.decoding != decoding for lane in lanes):
            lanes.append(Lane(name, decoding))
    return lanes


def usual(choices: Choices, known: Sequence[Lane]) -> list[Lane]:
    """Plain decoding, and against it what the chat decodes with."""
    plain = next(lane for lane in known if lane.name == "plain")
    chosen = next(lane for lane in known if lane.decoding == choices.decoding)
    return [plain, chosen if chosen != plain else another([plain], known)]


@dataclass(slots=True)
class Lineup:
    """The lanes that run next, as keys choose them."""

    known: list[Lane]
    lanes: list[Lane]

    @classmethod
    def of(cls, choices: Choices, known: list[Lane], last: Sequence[Lane] = ()) -> Lineup:
        """Those of the last time with what their names mean now, else the usual ones."""
        by_name = {lane.name: lane for lane in known}
        again = [by_name[lane.name] for lane in last if lane.name in by_name]
        return cls(known, again if len(again) >= FEWEST_LANES else usual(choices, known))

    @property
    def full(self) -> bool:
        return len(self.lanes) == MOST_LANES

    def turn(self, lane: int, by: int) -> None:
        """The next contestant in that direction that runs in no other lane, round and round."""
        others = [each for number, each in enumerate(self.lanes) if number != lane]
        place = self.known.index(self.lanes[lane]) + by
        while self.known[place % len(self.known)] in others:
            place += by
        self.lanes[lane] = self.known[place % len(self.known)]

    def add(self) -> None:
        """One that does not run yet."""
        self.lanes.append(another(self.lanes, self.known))

    def drop(self) -> None:
        self.lanes.pop()


def another(lanes: Sequence[Lane], known: Sequence[Lane]) -> Lane:
    return next((lane for lane in known if lane not in lanes), known[0])


def title(lane: Lane) -> str:
    """A rule that changes what is said never goes without that word."""
    return f"{lane.name} · {lane.decoding.rule_label}" if lane.decoding.lossy else lane.name


def _followed(decoding: Decoding, loaded: Loaded | None) -> Decoding:
    """As far as the loaded model can follow it."""
    return decoding if loaded is None else possible(Choices(decoding), loaded).decoding
