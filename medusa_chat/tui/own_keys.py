"""The person's own keys: what the file asks for, checked against what there is, and put in force."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import _character_to_key

from medusa_chat.settings.keymap import Keymap
from medusa_chat.tui.key_names import is_key

if TYPE_CHECKING:
    from medusa_chat.tui.bound import Bound

QUIT, QUIT_KEY = "app.quit", "ctrl+q"
"""However keys are mapped, this one leaves."""
_TOLD = 3


@dataclass(slots=True)
class OwnKeys:
    """What is put in force, in Textual's form, and what is not."""

    keys: dict[str, str] = field(default_factory=dict)
    """Comma-separated keys by the id of an action."""
    problems: list[str] = field(default_factory=list)

    def told(self) -> str:
        """All problems in one message; empty without any."""
        more = len(self.problems) - _TOLD
        return "\n".join([*self.problems[:_TOLD], *([f"… and {more} more."] if more > 0 else [])])


def checked(keymap: Keymap, bound: Iterable[Bound]) -> OwnKeys:
    """Wrong entries are left out: their actions keep the keys they had."""
    found = list(bound)
    own = OwnKeys(problems=list(keymap.problems))
    ids = {each.id for each in found}
    for id, wanted in keymap.keys.items():
        place = keymap.place(id)
        if id not in ids:
            own.problems.append(f"{place}: there is no action {id}{_guess(id, ids)}")
            continue
        keys = [key for key in wanted if _usable(key, id, place, own)]
        keys = [key for key in map(_long, keys) if not _taken(key, id, place, found, own)]
        if id == QUIT and QUIT_KEY not in keys:
            keys.append(QUIT_KEY)
        if keys:
            own.keys[id] = ",".join(keys)
    own.problems += _robbed(own.keys, keymap, found)
    return own


def _guess(id: str, ids: set[str]) -> str:
    close = difflib.get_close_matches(id, ids, n=1)
    return f"; did you mean {close[0]}?" if close else "; F1 lists them all."


def _usable(key: str, id: str, place: str, own: OwnKeys) -> bool:
    if not is_key(key):
        own.problems.append(f'{place}: there is no key {key!r}; write it as "ctrl+k", "f5" or "?".')
        return False
    if key == QUIT_KEY and id != QUIT:
        own.problems.append(f"{place}: {QUIT_KEY} always quits and cannot be the key of {id}.")
        return False
    return True


def _taken(key: str, id: str, place: str, found: list[Bound], own: OwnKeys) -> bool:
    """Another entry of the file that works in the same place has it already."""
    for other, keys in own.keys.items():
        if key in keys.split(",") and _together(id, other, found):
            own.problems.append(f"{place}: {key} is the key of {other} already.")
            return True
    return False


def _together(one: str, other: str, found: list[Bound]) -> bool:
    """Both work in the same screen or widget."""
    owners = {each.owner for each in found if each.id == one}
    return any(each.owner in owners for each in found if each.id == other)


def _robbed(keys: Mapping[str, str], keymap: Keymap, found: list[Bound]) -> Iterator[str]:
    """Actions whose own key another action was given, and that were given none."""
    for id, mine in keys.items():
        for each in found:
            lost = {_long(key) for key in each.binding.key.split(",")} & set(mine.split(","))
            if lost and each.id != id and each.id not in keys and _together(id, each.id, found):
                yield f"{keymap.place(id)}: {min(lost)} is now {id}; {each.id} has it no more: give that another key."


def _long(key: str) -> str:
    """As Textual calls it."""
    return _character_to_key(key) if len(key) == 1 else key


def in_force(binding: Binding, keymap: Mapping[str, str]) -> str:
    """Comma-separated keys that really mean this action."""
    return keymap.get(binding.id or "", binding.key)


def means(node: DOMNode, key: str, id: str) -> bool:
    """Whether the key is one of this action of the node's own class, as the person's keys have it."""
    keymap: Mapping[str, str] = getattr(node.app, "own_keys", {})
    bindings = (binding for binding in type(node).BINDINGS if isinstance(binding, Binding))
    return any(binding.id == id and key in in_force(binding, keymap).split(",") for binding in bindings)
