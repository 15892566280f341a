"""The settings a function key can change: which key, which field, and what to say when there is nothing to change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from medusa_chat.engine.options import Decoding
from medusa_chat.host.messages import Loaded
from medusa_chat.tui.choices import Choices
from medusa_chat.tui.settings.fields import Field, field


@dataclass(frozen=True, slots=True)
class Knob:
    """One key; which setting it turns may depend on the others."""

    id: str
    key: str
    """A function key; with Shift it steps back."""
    title: str
    """In lists of actions."""
    field_under: Callable[[Decoding], Field]
    label: str | None = None
    """In the Medusa panel, where it is shorter there than the field's."""
    said: str | None = None
    """In lists of actions, where it is more than one field's meaning."""
    blank: bool = False
    """Whether a dash stands for a value that does not count."""

    @property
    def meaning(self) -> str:
        return self.said or self.field_under(Decoding()).meaning

    def name(self, decoding: Decoding) -> str:
        return self.label or self.field_under(decoding).label

    def show(self, choices: Choices, loaded: Loaded | None) -> str:
        field = self.field_under(choices.decoding)
        return "–" if self.blank and field.idle(choices, loaded) else field.show(choices, loaded)

    def turn(self, choices: Choices, by: int, loaded: Loaded | None) -> Choices:
        """(choices, +1 or -1, what was loaded); the same choices come back where there is nothing to change."""
        field = self.field_under(choices.decoding)
        return choices if field.idle(choices, loaded) else field.turn(choices, by, loaded)


def _always(id: str) -> Callable[[Decoding], Field]:
    return lambda _decoding: field(id)


def _bound(decoding: Decoding) -> Field:
    return field("decoding.epsilon" if decoding.rule == "typical" else "decoding.threshold")


KNOBS: tuple[Knob, ...] = (
    Knob("decoder", "f2", "Decoder", _always("decoding.decoder")),
    Knob("tree", "f3", "Tree", _always("decoding.tree")),
    Knob("rule", "f4", "Rule", _always("decoding.rule")),
    Knob("budget", "f5", "Budget", _always("decoding.budget")),
    Knob("heads", "f6", "Heads", _always("decoding.heads")),
    Knob("top_k", "f7", "Top-k", _always("decoding.top_k"), label="top-k"),
    Knob("bound", "f8", "Threshold or epsilon", _bound, blank=True,
         said="Probability a guess needs: the typical rule's epsilon, the threshold rule's threshold"),
    Knob("temperature", "f9", "Temperature", _always("sampling.temperature")),
    Knob("delta", "f12", "Delta", _always("decoding.delta"), blank=True),
)  # fmt: skip


def knob(id: str) -> Knob:
    return next(knob for knob in KNOBS if knob.id == id)


def key_of(field: Field) -> str | None:
    """The function key that turns a field, if any."""
    ways = (Decoding(), Decoding(rule="typical"))
    return next((each.key for each in KNOBS if field in [each.field_under(way) for way in ways]), None)


def why_unchanged(id: str, choices: Choices, loaded: Loaded | None) -> str:
    """What to say when a key had nothing to change."""
    field = knob(id).field_under(choices.decoding)
    if reason := field.idle(choices, loaded):
        return reason
    if id == "heads" and loaded is None:
        return "The heads are not loaded yet."
    return f"That is as far as {field.label} goes."
