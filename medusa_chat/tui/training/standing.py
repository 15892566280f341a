"""Where a run stands, in a sign and a sentence; and how long it will take."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from medusa_chat.tui.training.following import Following

QUIET_SECONDS = 120.0
"""Without a new row for so long, and longer than several rows take, a run counts as stopped."""
QUIET_BEFORE = 900.0
"""The same before the first step, where the model is read and hidden states are written in large pieces."""
_ROWS = 6
_ROW_STEPS = 10


@dataclass(frozen=True, slots=True)
class Standing:
    sign: str
    style: str
    text: str


def standing(run: Following, now: float) -> Standing:
    """Args:
    now: seconds since 1970.
    """
    quiet = max(0.0, now - run.grown)
    if run.finished:
        return Standing("✓", "$success", "finished: the heads are in heads/")
    if run.behind:
        return Standing("…", "$muted", "reading the log")
    if quiet > (_patience(run) if run.step else QUIET_BEFORE):
        resume = f"medusa-chat train --resume {shlex.quote(str(run.folder))}"
        return Standing("■", "$warning", f"stopped {ago(quiet)} ago: {resume} goes on")
    if not run.step:
        states = run.run.method == "medusa1" and not run.run.on_the_fly
        first = ": the model's hidden states come before it" if states else ""
        return Standing("…", "$accent", f"waiting for the first step{first}")
    if run.step >= run.of:
        return Standing("…", "$accent", "all steps are done: measuring and writing the heads")
    return Standing("▶", "$accent", "training")


def seconds_left(run: Following) -> float | None:
    """None while nobody can tell."""
    if run.rate <= 0 or not run.step:
        return None
    return max(0, run.of - run.step) * run.run.recipe.batch / run.rate


def _patience(run: Following) -> float:
    row = _ROW_STEPS * run.run.recipe.batch / run.rate if run.rate > 0 else 0.0
    return max(QUIET_SECONDS, _ROWS * row)


def ago(seconds: float) -> str:
    """Roughly: "2 minutes", "3 hours", "5 days"."""
    for unit, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= unit:
            count = int(seconds // unit)
            return f"{count} {name}{'' if count == 1 else 's'}"
    return f"{int(seconds)} seconds"


def clock(seconds: float) -> str:
    """Time left, in two units: "2 h 05 min", "4 min 09 s", "38 s"."""
    whole = round(seconds)
    if whole >= 86_400:
        return f"{whole // 86_400} d {whole % 86_400 // 3_600:02d} h"
    if whole >= 3_600:
        return f"{whole // 3_600} h {whole % 3_600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"
