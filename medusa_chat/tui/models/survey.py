"""All that the screen shows of models and machine, read from disk and system in one go: never on the event loop."""

from __future__ import annotations

from dataclasses import dataclass, field

import psutil

from medusa_chat.catalog import Card, Fit, fit
from medusa_chat.catalog.finding import readable_cards
from medusa_chat.catalog.fits import PRECISIONS
from medusa_chat.catalog.graphics import Graphics, graphics
from medusa_chat.catalog.head_facts import HeadFacts, read_heads
from medusa_chat.catalog.presence import Presence, presence
from medusa_chat.engine.errors import MedusaError
from medusa_chat.tui.own_precisions import own_precisions


@dataclass(frozen=True, slots=True)
class Machine:
    memory: int
    """Bytes, as `free`."""
    free: int
    graphics: Graphics | None


@dataclass(frozen=True, slots=True)
class Model:
    """A card and what is known of it here."""

    card: Card
    presence: Presence
    folder: str
    """Of the weights; empty while they are not here."""
    heads: HeadFacts | None
    heads_problem: str | None
    """One plain sentence where heads lie but cannot be read."""
    fits: dict[str, Fit] = field(hash=False)
    """By precision."""

    def possible(self) -> list[str]:
        """Precisions that fit, or may: where none does, all are offered."""
        found = [precision for precision in PRECISIONS if self.fits[precision].fits is not False]
        return found or list(PRECISIONS)


@dataclass(frozen=True, slots=True)
class Survey:
    models: tuple[Model, ...]
    machine: Machine
    problems: tuple[str, ...]
    """Cards that are wrong, one plain sentence each."""
    precisions: dict[str, str] = field(hash=False)
    """By model: the one chosen for it last."""


def survey() -> Survey:
    """Takes as long as disk and graphics driver do.

    Raises:
        MedusaError: the folder of models is out of reach.
    """
    machine = machine_now()
    cards, problems = readable_cards()
    return Survey(tuple(_model(card, machine) for card in cards), machine, tuple(problems), own_precisions())


def machine_now() -> Machine:
    memory = psutil.virtual_memory()
    return Machine(memory.total, memory.available, graphics())


def _model(card: Card, machine: Machine) -> Model:
    heads, problem = _heads(card)
    cuda_free = None if machine.graphics is None else machine.graphics.free
    fits = {precision: fit(card, precision, cuda_free) for precision in PRECISIONS}
    return Model(card, presence(card), str(card.folder()) if card.is_here() else "", heads, problem, fits)


def _heads(card: Card) -> tuple[HeadFacts | None, str | None]:
    folder = card.heads_folder()
    try:
        return (None if folder is None else read_heads(folder)), None
    except MedusaError as error:
        return None, str(error)
