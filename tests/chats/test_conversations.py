"""Conversations as a whole: titles, order, archive, deletion and its undoing."""

from __future__ import annotations

from time import time

import pytest

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.conversations import title_from
from medusa_chat.chats.search import search
from medusa_chat.engine.errors import MedusaError


def begun(db, text: str = "Hello?") -> int:
    conversation = conversations.create(db)
    messages.add(db, conversation, None, "user", text)
    return conversation


def titles(db, **options) -> list[str]:
    return [each.title for each in conversations.newest(db, limit=100, **options)]


def test_the_first_message_gives_the_title_and_a_person_may_give_another(db):
    conversation = begun(db, "\n  What is   the capital\nof France?")
    assert conversations.get(db, conversation).title == "What is the capital"
    conversations.rename(db, conversation, "  Paris \n trip ")
    messages.add(db, conversation, None, "user", "Something else")
    assert conversations.get(db, conversation).title == "Paris trip"


def test_a_long_title_is_cut_between_words():
    title = title_from("word " * 40)
    assert len(title) <= 60
    assert title.endswith("word…")
    assert len(title_from("x" * 200)) == 60


def test_a_blank_title_is_refused(db):
    with pytest.raises(MedusaError, match="needs a title"):
        conversations.rename(db, begun(db), " \n ")


def test_those_written_to_last_come_first(db):
    first, second, third = (begun(db, name) for name in ("first", "second", "third"))
    messages.add(db, first, None, "user", "again")
    assert titles(db) == ["first", "third", "second"]
    assert [each.id for each in conversations.newest(db, limit=1, offset=1)] == [third]
    assert conversations.newest(db, limit=5, offset=2)[0].id == second


def test_archived_ones_are_a_list_of_their_own_and_still_found(db):
    conversation = begun(db, "put away")
    begun(db, "at hand")
    conversations.archive(db, conversation)
    assert titles(db) == ["at hand"]
    assert titles(db, archived=True) == ["put away"]
    assert [hit.conversation.id for hit in search(db, "away", 9)] == [conversation]
    conversations.archive(db, conversation, False)
    assert sorted(titles(db)) == ["at hand", "put away"]


def test_deleting_hides_and_can_be_undone(db):
    conversation = begun(db, "secret words")
    conversations.delete(db, conversation)
    assert titles(db) == []
    assert search(db, "secret", 9) == []
    with pytest.raises(MedusaError, match="not there any more"):
        conversations.get(db, conversation)
    conversations.restore(db, conversation)
    assert titles(db) == ["secret words"]
    assert search(db, "secret", 9)


def test_what_was_deleted_long_ago_is_forgotten_for_good(db):
    kept, gone = begun(db, "kept"), begun(db, "gone")
    parent = None
    for number in range(1500):
        parent = messages.add(db, gone, parent, "user", f"deep {number}")
    conversations.delete(db, gone)
    assert conversations.purge(db, time() - 60) == 0
    assert conversations.purge(db, time() + 60) == 1
    assert titles(db) == ["kept"]
    assert messages.tree(db, kept)
    assert messages.tree(db, gone) == []
    with pytest.raises(MedusaError, match="not there any more"):
        conversations.restore(db, gone)


def test_writing_to_a_deleted_one_brings_it_back(db):
    conversation = begun(db, "alive")
    conversations.delete(db, conversation)
    messages.add(db, conversation, None, "user", "more")
    assert titles(db) == ["alive"]


def test_a_system_prompt_is_kept(db):
    conversation = conversations.create(db, "Be brief.")
    assert conversations.get(db, conversation).system == "Be brief."
    conversations.set_system(db, conversation, "Be long.")
    assert conversations.get(db, conversation).system == "Be long."


@pytest.mark.parametrize("change", [conversations.archive, conversations.delete, conversations.restore])
def test_what_is_not_there_is_said(db, change):
    with pytest.raises(MedusaError, match="not there any more"):
        change(db, 77)
