"""Conversations as lines of a list, and the days they are grouped by."""

from __future__ import annotations

from datetime import date, datetime

from textual.content import Content

from medusa_chat.chats.records import Hit
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.text import MUTED

PRIVATE = "⊘ "
"""Before the title of one that heads never learn from."""
_WEEK, _MONTH = 7, 30


def row(hit: Hit, here: int | None, dated: bool) -> Content:
    """Title, marked if it is the open one; below, where the words were found. What is too long is cut, not wrapped."""
    about = hit.conversation
    day = datetime.fromtimestamp(about.changed).strftime("%Y-%m-%d  ") if dated else ""
    sign = ("● ", "$primary") if about.id == here else ("  ", "")
    head = Content.assemble(
        (day, MUTED),
        sign,
        ("archived  " if about.archived else "", MUTED),
        (PRIVATE if about.private else "", "$warning"),
        (_line(about.title) or "untitled", "bold"),
    )
    if not hit.pieces:
        return head
    pieces = [(_line(text), "bold underline $accent" if found else MUTED) for text, found in hit.pieces]
    return Content.assemble(head, "\n" + " " * (len(day) + 2), *pieces)


def group(changed: float, today: date) -> str:
    """The heading a conversation stands under."""
    day = datetime.fromtimestamp(changed).date()
    age = (today - day).days
    if age <= 0:
        return "Today"
    if age == 1:
        return "Yesterday"
    if age < _WEEK:
        return "This week"
    if age < _MONTH:
        return "This month"
    return day.strftime("%B %Y")


def _line(text: str) -> str:
    return harmless(text).replace("\n", " ").replace("\t", " ")
