"""What stands in the line of keys: a part for each key, or for keys in a group and the words behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby

from textual.binding import ActiveBinding, Binding
from textual.widget import Widget
from textual.widgets._footer import FooterKey, FooterLabel, KeyGroup

PALETTE = "-command-palette"
"""The style class of its key."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key that applies now."""

    binding: Binding
    enabled: bool
    tooltip: str

    def made(self, shown: str, description: str, classes: str = "") -> FooterKey:
        """
        Args:
            shown: how the key is written.
        """
        binding = self.binding
        tooltip = self.tooltip or ("" if description and classes != PALETTE else binding.description)
        key = FooterKey(binding.key, shown, description, binding.action, not self.enabled, tooltip, classes)
        if classes != PALETTE:
            key.set_reactive(FooterKey.compact, False)
        return key


@dataclass(frozen=True, slots=True)
class Part:
    """Equal parts look and do the same, so that none is made anew for one that is there."""

    keys: tuple[Key, ...]
    palette: bool = False

    def made(self, written: Callable[[Binding], str]) -> list[Widget]:
        group = self.keys[0].binding.group
        names = [written(key.binding) for key in self.keys]
        if group is None or len(names) == 1:
            classes = PALETTE if self.palette else ""
            return [
                key.made(name, key.binding.description, classes) for key, name in zip(self.keys, names, strict=True)
            ]
        keys = [key.made(name, "", "-grouped") for key, name in zip(self.keys, names, strict=True)]
        return [KeyGroup(*keys, classes="-compact" if group.compact else ""), FooterLabel(group.description)]


def parts_of(active: Mapping[str, ActiveBinding], palette: str) -> list[Part]:
    """In the order of the bindings, one key for each action; that of the `palette` comes last."""
    shown: dict[str, Key] = {}
    for _, binding, enabled, tooltip in active.values():
        if binding.show:
            shown.setdefault(binding.action, Key(binding, enabled, tooltip))
    parts = []
    for group, members in groupby(shown.values(), lambda key: key.binding.group):
        keys = tuple(members)
        parts += [Part(keys)] if group is not None else [Part((key,)) for key in keys]
    if palette in active:
        parts.append(Part((Key(*active[palette][1:]),), palette=True))
    return parts
