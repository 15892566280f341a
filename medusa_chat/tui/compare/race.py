"""The race as plain values: how long each lane's bar is, on one scale, and the sentence that goes with it."""

from __future__ import annotations

from dataclasses import dataclass

from medusa_chat.tui.compare.state import Comparison, LaneRun

FLAG = "⚑"
"""Where a lane is that has come to its end."""

_RUNGS = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)


@dataclass(frozen=True, slots=True)
class Bar:
    """Shares of the scale, 0 to 1."""

    filled: float
    mark: float | None = None
    """Where this lane was when the first one was done."""


@dataclass(frozen=True, slots=True)
class Race:
    scale: str
    """What the length of a bar means."""
    bars: tuple[Bar, ...]
    """One a lane."""


def race(comparison: Comparison) -> Race:
    """Tokens won in the same time, while it runs and where the answers differ in length; seconds, where all have come
    to the end of equally long answers."""
    if _all_as_long(comparison):
        return _by_seconds(comparison)
    winner = comparison.winner
    moment = winner.tally.ms if comparison.over and winner is not None else comparison.clock
    won = [run.tokens_at(moment) for run in comparison.runs]
    top = next((rung for rung in _RUNGS if rung >= max(won)), max(won))
    return Race(f"tokens at {moment / 1000:.2f} s", tuple(Bar(tokens / top) for tokens in won))


def _all_as_long(comparison: Comparison) -> bool:
    """Every lane has come to its end, and all are as long."""
    return (
        comparison.over
        and all(run.finished for run in comparison.runs)
        and len({run.tally.tokens for run in comparison.runs}) == 1
        and comparison.runs[0].tally.tokens > 0
    )


def _by_seconds(comparison: Comparison) -> Race:
    longest = max(run.tally.ms for run in comparison.runs)
    first = min(run.tally.ms for run in comparison.runs)
    return Race(
        "time to finish",
        tuple(
            Bar(run.tally.ms / longest, mark=first / longest if run.tally.ms > first else None)
            for run in comparison.runs
        ),
    )


def story(comparison: Comparison, paused: bool) -> str:
    """Where the race stands, in one sentence that may be cut at its end."""
    if comparison.running and comparison.stopping:
        return "stopping …"
    if not any(run.tally.steps for run in comparison.runs):
        return ""
    winner = comparison.winner
    if winner is not None:
        return _finish(winner, [run for run in comparison.runs if run is not winner])
    held = "paused: " if paused else "" if comparison.running else "stopped: "
    return f"{held}{_lead(comparison)} after {comparison.clock / 1000:.2f} s of engine time each"


def _finish(winner: LaneRun, others: list[LaneRun]) -> str:
    """When the first one was done, and where the others were then."""
    ms = winner.tally.ms
    second, *rest = others
    had = [f"{second.lane.name} had {second.tokens_at(ms)} tokens"]
    had += [f"{run.lane.name} {run.tokens_at(ms)}" for run in rest]
    return f"{FLAG} {winner.lane.name} was done after {ms / 1000:.2f} s; by then {', '.join(had)}"


def _lead(comparison: Comparison) -> str:
    """Of the first over the last."""
    clock = comparison.clock
    ahead = max(comparison.runs, key=lambda run: run.tokens_at(clock))
    behind = min(comparison.runs, key=lambda run: run.tokens_at(clock))
    lead = ahead.tokens_at(clock) - behind.tokens_at(clock)
    if not lead:
        return "all are level"
    return f"{ahead.lane.name} is {lead} token{'' if lead == 1 else 's'} ahead of {behind.lane.name}"
