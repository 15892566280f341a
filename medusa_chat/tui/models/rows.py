"""A model in the list: two lines, its state as a sign and in words."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content

from medusa_chat.catalog.pull_queue import Pulling
from medusa_chat.catalog.size import size
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.models.survey import Model
from medusa_chat.tui.text import MUTED


@dataclass(frozen=True, slots=True)
class State:
    """How a model stands right now."""

    sign: str
    words: str
    style: str


def state_of(model: Model, loaded: str | None, loading: bool, pulling: Pulling | None, waits: bool) -> State:
    """
    Args:
        loaded: what its weights are kept in, if it is the engine's.
        loading: it is about to be.
        pulling: the running pull, if it is this model's.
        waits: its pull waits for its turn.
    """
    if loading:
        return State("◌", "being loaded", "$accent")
    if pulling is not None:
        share = "" if pulling.done is None or pulling.total is None else f" {_percent(pulling.done)}"
        return State("↓", f"being pulled{share}", "$accent")
    if waits:
        return State("↓", "waits to be pulled", "$accent")
    if loaded is not None:
        return State("●", f"loaded, {harmless(loaded)}", "bold $success")
    if model.presence.here:
        return State("✓", "here", "$success")
    if model.presence.part:
        return State("◐", f"{_percent(model.presence.part)} pulled", "$warning")
    return State("○", "not here", MUTED)


def row(model: Model, state: State, marked: bool) -> Content:
    """The marked row leaves its colours to the cursor."""
    card = model.card
    heads = f"{model.heads.count} heads" if model.heads is not None else "no heads"
    facts = [state.words, *([size(card.disk)] if card.disk else []), heads]
    title, more = harmless(card.title), " · ".join(facts)
    if marked:
        return Content.assemble((f"{state.sign} {title}", "bold"), f"\n  {more}")
    return Content.assemble((f"{state.sign} ", state.style), (title, "bold $foreground"), (f"\n  {more}", MUTED))


def _percent(share: float) -> str:
    return f"{int(100 * share)} %"
