"""Full-text search over every title and message; the newest hit of each conversation."""

from __future__ import annotations

import re
from dataclasses import replace

from medusa_chat.chats.conversations import COLUMNS, conversation_of
from medusa_chat.chats.database import Database
from medusa_chat.chats.records import Hit

_BEFORE, _AFTER = "\ufdd0", "\ufdd1"
"""Around what was searched for; Unicode keeps these two free for such uses, so no text has them."""

_MARKED = re.compile(f"{_BEFORE}(.*?){_AFTER}", re.DOTALL)

_IN_TITLES = f"""
    SELECT {COLUMNS}, NULL, highlight(conversation_text, 0, ?, ?)
    FROM conversation_text CROSS JOIN conversation c ON c.id = conversation_text.rowid
    WHERE conversation_text MATCH ? AND c.deleted IS NULL
    ORDER BY conversation_text.rowid DESC"""

# CROSS JOIN keeps the order of the tables: the index is read from its newest end, and only as far as needed.
_IN_MESSAGES = f"""
    SELECT {COLUMNS}, m.id, snippet(message_text, 0, ?, ?, '…', 10)
    FROM message_text CROSS JOIN message m ON m.id = message_text.rowid
    CROSS JOIN conversation c ON c.id = m.conversation
    WHERE message_text MATCH ? AND c.deleted IS NULL
    ORDER BY message_text.rowid DESC"""


def search(db: Database, words: str, limit: int) -> list[Hit]:
    """Conversations with all the words in one message or in the title, the last word perhaps cut short.

    Those whose title fits come first, then by their newest fitting message. Accents and case make no difference;
    no character has a meaning of its own. Nothing to look for finds nothing. Titles that fit are given their message in
    passing: the search goes no further for them, so behind `limit` conversations one may be left without.
    """
    if not (query := _query(words)):
        return []
    hits: dict[int, Hit] = {}
    for statement in (_IN_TITLES, _IN_MESSAGES):
        for row in db.rows(statement, _BEFORE, _AFTER, query):
            if len(hits) == limit:
                break
            if (known := hits.get(row[0])) is None:
                hits[row[0]] = Hit(conversation_of(row), _pieces(row[8]), row[7])
            elif known.message is None:
                hits[row[0]] = replace(known, message=row[7])
    return list(hits.values())


def _query(words: str) -> str:
    """Every word in quotes, so that none is taken for an operator."""
    terms = [f'"{term}"' for term in re.findall(r"\w+", words) if any(letter.isalnum() for letter in term)]
    return " ".join(terms) + "*" if terms else ""


def _pieces(marked: str) -> tuple[tuple[str, bool], ...]:
    """re.split with a group: what lies outside and inside of the marks takes turns."""
    return tuple((text, bool(index % 2)) for index, text in enumerate(_MARKED.split(marked)) if text)
