"""Every key of the app, wherever it works: help, key map and tests read this."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from textual.binding import Binding
from textual.dom import DOMNode

import medusa_chat.tui

PLACES = {
    "app": "Everywhere",
    "chat": "Chat",
    "composer": "Question being typed",
    "message": "Message under the cursor",
    "sidebar": "Conversations at the side",
    "conversations": "List of conversations",
    "settings": "Settings",
    "setting": "Settings panel",
    "inspector": "Inspector",
    "compare": "Compare",
    "models": "Models",
    "run": "Training run",
}
"""The beginning of an action's id, and where its key works: in this order; others follow under their own names."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A key of one class of screen or widget."""

    owner: type[DOMNode]
    binding: Binding

    @property
    def id(self) -> str:
        return self.binding.id or ""

    @property
    def area(self) -> str:
        return self.id.partition(".")[0]


@cache
def every_binding() -> tuple[Bound, ...]:
    """Imports every screen: not for the first moments of the app."""
    return tuple(bound for cls in sorted(_classes(), key=lambda cls: cls.__qualname__) for bound in _own(cls))


def place_of(area: str) -> str:
    return PLACES.get(area, area.capitalize())


def _classes() -> set[type[DOMNode]]:
    """All that bring keys of their own."""
    package = medusa_chat.tui
    names = [found.name for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return {
        cls
        for name in names
        for _, cls in inspect.getmembers(import_module(name), inspect.isclass)
        if cls.__module__.startswith(package.__name__) and issubclass(cls, DOMNode) and "BINDINGS" in vars(cls)
    }


def _own(cls: type[DOMNode]) -> Iterator[Bound]:
    for binding in cls.BINDINGS:
        yield Bound(cls, binding if isinstance(binding, Binding) else Binding(*binding))
