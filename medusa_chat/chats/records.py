"""What is kept of a conversation, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

Role = Literal["user", "assistant"]
State = Literal["unfinished", "finished", "stopped", "failed"]
"""unfinished: still being written, or the program ended before it was."""

ROLES: tuple[Role, ...] = get_args(Role)
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Times are seconds since 1970."""

    id: int
    title: str
    system: str
    """The system prompt; empty for none."""
    created: float
    changed: float
    archived: bool
    private: bool = False
    """Heads that learn from use never read it."""


@dataclass(frozen=True, slots=True)
class Message:
    """A node of the message tree. Messages with the same parent are siblings: edits and regenerated answers."""

    id: int
    conversation: int
    parent: int | None
    role: Role
    content: str
    state: State
    chosen: bool
    """Among its siblings the one that was shown last; exactly one of them is."""
    created: float
    settings: dict[str, Any] | None
    """What an answer was made with."""
    statistics: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A conversation a search found, and where."""

    conversation: Conversation
    pieces: tuple[tuple[str, bool], ...]
    """The place in pieces; True marks what was searched for."""
    message: int | None = None
    """The newest message with the words, by id; None where only the title has them."""
