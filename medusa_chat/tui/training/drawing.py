"""How a followed run looks, as text of a given size. What is told by colour is told by a sign or a word too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from textual.content import Content

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.training.recipe import Recipe
from medusa_chat.training.run import Run
from medusa_chat.tui.text import FAINT, MUTED, fitted
from medusa_chat.tui.training.curve import blocks, bounds, dotted, sampled
from medusa_chat.tui.training.following import Following, Measured
from medusa_chat.tui.training.standing import clock, seconds_left, standing

METHODS = {"medusa1": "Medusa-1", "medusa2": "Medusa-2"}
_MOST_SPARKS = 12
_TOLD = 13
_LABEL, _FIGURE, _GAP = 8, 8, "    "


def heading(run: Run, width: int) -> Content:
    """What is trained, on one line."""
    method = METHODS.get(run.method, run.method)
    return Content.assemble(
        (f"{method}  ", "bold $primary"), (fitted(harmless(run.model), max(1, width - len(method) - 2)), "bold")
    )


def progress(run: Following, now: float, width: int) -> Content:
    """Where it stands, a bar, and the figures: three or more lines."""
    stands = standing(run, now)
    share = run.step / run.of if run.of else 0.0
    count = f" {run.step:,} of {run.of:,} steps" if run.of else " –"
    percent = f" {100 * share:3.0f} %"
    bar = max(4, min(72, width - len(count) - len(percent)))
    filled = int(bar * min(share, 1.0))
    return Content("\n").join(
        [
            Content.assemble((f"{stands.sign} ", f"bold {stands.style}"), (harmless(stands.text), "$foreground")),
            Content.assemble(
                ("━" * filled, "$primary"),
                ("╌" * (bar - filled), FAINT),
                (percent, "bold $foreground"),
                (count, MUTED),
            ),
            _figures(run, width),
        ]
    )


def _figures(run: Following, width: int) -> Content:
    left = None if run.finished else seconds_left(run)
    told = [
        ("loss ", f"{run.losses[-1]:.3f}" if run.losses else "–"),
        ("", f"{run.rate:,.0f} tokens/s" if run.rate else "– tokens/s"),
        ("", f"{clock(left)} left" if left is not None else ""),
    ]
    parts = [Content.assemble((name, MUTED), (value, "bold $foreground")) for name, value in told if value]
    return Content("\n" if width < 44 else "   ").join(parts)


def loss_curve(run: Following, width: int, height: int) -> Content:
    """The smoothed loss from the first step to now, with its bounds at the left; exactly that large."""
    title = Content.styled(fitted("training loss, smoothed", width), "bold $secondary")
    plot = max(1, height - 2)
    if len(run.losses) < 2:
        return Content("\n").join([title, Content.styled("A curve begins with the second row of the log.", MUTED)])
    margin = 8
    wide = max(2, width - margin)
    values = sampled(run.steps, run.losses, 2 * wide)
    low, high = bounds(values)
    names = {0: f"{high:.2f}", plot - 1: f"{low:.2f}"}
    lines = [
        Content.assemble((f"{names.get(row, ''):>{margin - 2}} ", MUTED), ("│", FAINT), (line, "$primary"))
        for row, line in enumerate(dotted(values, low, high, plot))
    ]
    first, last = f"{run.steps[0]:,}", f"{run.steps[-1]:,}"
    axis = f"{'step':>{margin - 2}}  {first}{last:>{max(1, wide - len(first))}}"
    return Content("\n").join([title, *lines, Content.styled(fitted(axis, width), MUTED)])


def held_out(measured: Sequence[Measured], width: int) -> Content:
    """How often each head is right on held-out answers: over time, and now. A line a head, then the losses."""
    title = Content.styled(fitted("held-out answers: guesses that are right", width), "bold $secondary")
    if not measured:
        return Content("\n").join([title, Content.styled("measured twelve times in a run; not yet", MUTED)])
    sparks = min(_MOST_SPARKS, (width - _LABEL - 2 * _FIGURE - len(_GAP)) // 2)
    cells = sparks + _FIGURE
    header = Content.styled(f"{'':<{_LABEL}}{'top-1':>{cells}}{_GAP}{'top-5':>{cells}}", MUTED)
    heads = [_head(measured, head, sparks) for head in range(len(measured[-1].top1))]
    return Content("\n").join([title, header, *heads, *_trends(measured, sparks)])


def _head(measured: Sequence[Measured], head: int, sparks: int) -> Content:
    known = [one for one in measured if head < len(one.top1)]
    high = max((share for one in measured for share in one.top5), default=1.0)
    label = (f"{f'head {head + 1}':<{_LABEL}}", "$foreground")
    top1 = _trend([one.top1[head] for one in known], high, sparks, "$primary")
    top5 = _trend([one.top5[head] for one in known], high, sparks, "$accent")
    percents = [f"{f'{100 * share:.1f} %':>{_FIGURE}}" for share in (known[-1].top1[head], known[-1].top5[head])]
    return Content.assemble(
        label, top1, (percents[0], "bold $foreground"), (_GAP, ""), top5, (percents[1], "bold $foreground")
    )


def _trend(values: Sequence[float], high: float, sparks: int, style: str) -> tuple[str, str]:
    """One block a measurement, the newest at the right."""
    return (f"{blocks(values[-sparks:] if sparks > 0 else (), high):>{max(0, sparks)}}", style)


def _trends(measured: Sequence[Measured], sparks: int) -> Iterator[Content]:
    """Loss on held-out answers; for Medusa-2 how far the model's own words have moved."""
    loss = [one.held_out_loss for one in measured if one.held_out_loss is not None]
    drift = [one.kl for one in measured if one.kl is not None]
    for label, unit, values in (("loss", "", loss), ("drift", " nats a token (KL)", drift)):
        if values:
            yield Content.assemble(
                (f"{label:<{_LABEL}}", "$foreground"),
                _trend(values, max(values), sparks, "$secondary"),
                (f"{values[-1]:>{_FIGURE}.3f}", "bold $foreground"),
                (unit, MUTED),
            )


def facts(followed: Following) -> Content:
    """What was asked for."""
    run = followed.run
    told = [
        ("folder", str(followed.folder)),
        ("data", ", ".join(Path(name).name for name in run.data)),
        ("recipe", recipe_told(run)),
        ("command", run.command),
    ]
    if run.heads_from is not None:
        told.insert(2, ("begins with", run.heads_from))
    return Content("\n").join(
        Content.assemble((f"{name:<{_TOLD}}", MUTED), (harmless(value), "$foreground")) for name, value in told
    )


def recipe_told(run: Run) -> str:
    """What differs from the recipe one gets without options."""
    usual = Recipe(epochs=1.0) if run.method == "medusa2" else Recipe()
    told = [
        f"{field.name.replace('_', ' ')} {getattr(run.recipe, field.name)}"
        for field in fields(Recipe)
        if getattr(run.recipe, field.name) != getattr(usual, field.name)
    ]
    if run.on_the_fly:
        told.append("no hidden states on the disk")
    if run.quantize != "none":
        told.append(f"model in {run.quantize}")
    return ", ".join(told) or "as it is without options"
