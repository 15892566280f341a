"""The message tree: branches, siblings, and the branch that is remembered."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from doubles.branches import beside, siblings
from hypothesis import given, settings
from hypothesis import strategies as st

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.database import Database
from medusa_chat.engine.errors import MedusaError


def texts(db, conversation: int) -> list[str]:
    return [message.content for message in messages.branch(db, conversation)]


@pytest.fixture
def talk(db):
    """q1 - a1 - q2 - a2; (conversation, ids of the four)."""
    conversation = conversations.create(db)
    ids: list[int] = []
    for role, text in (("user", "q1"), ("assistant", "a1"), ("user", "q2"), ("assistant", "a2")):
        ids.append(messages.add(db, conversation, ids[-1] if ids else None, role, text))
    return conversation, ids


def test_editing_and_regenerating_add_siblings(db, talk):
    conversation, (q1, a1, q2, a2) = talk
    other = beside(db, a2, "", "unfinished")
    messages.append_text(db, other, "a2 ")
    messages.append_text(db, other, "again")
    assert texts(db, conversation) == ["q1", "a1", "q2", "a2 again"]
    assert siblings(db, other) == [a2, other]
    edited = beside(db, q1, "q1 edited")
    assert texts(db, conversation) == ["q1 edited"]
    assert siblings(db, q1) == [q1, edited]
    assert siblings(db, a1) == [a1]
    assert len(messages.tree(db, conversation)) == 6
    assert messages.get(db, q2).content == "q2"


def test_walking_away_and_back_finds_the_branch_as_it_was_left(db, talk):
    conversation, (q1, _, _, a2) = talk
    beside(db, a2, "a2 again")
    edited = beside(db, q1, "q1 edited")
    messages.choose(db, q1)
    assert texts(db, conversation) == ["q1", "a1", "q2", "a2 again"]
    messages.choose(db, edited)
    assert texts(db, conversation) == ["q1 edited"]
    messages.choose(db, a2)
    assert texts(db, conversation) == ["q1", "a1", "q2", "a2"]


def test_the_branch_is_remembered_in_the_file(db, talk, file):
    conversation, (q1, *_) = talk
    beside(db, q1, "other")
    messages.choose(db, q1)
    again = Database(file)
    assert texts(again, conversation) == ["q1", "a1", "q2", "a2"]
    again.close()


def test_a_parent_of_another_conversation_is_refused(db, talk):
    _, (q1, *_) = talk
    with pytest.raises(MedusaError, match="its own conversation"):
        messages.add(db, conversations.create(db), q1, "user", "x")
    with pytest.raises(MedusaError, match="not there any more"):
        messages.add(db, conversations.create(db), 999, "user", "x")


def test_settings_and_statistics_are_kept(db, talk):
    _, (*_, a2) = talk
    messages.finish(db, a2, "stopped", {"decoding": {"budget": None}}, {"tokens": 3})
    kept = messages.get(db, a2)
    assert (kept.state, kept.settings, kept.statistics) == ("stopped", {"decoding": {"budget": None}}, {"tokens": 3})
    assert messages.steps_of(db, a2) == []


@pytest.mark.parametrize("text", ["half \ud83d of a pair", "nul \0 inside", "", "東京 \u202e\x1b[31m"])
def test_any_text_survives(db, text):
    conversation = conversations.create(db)
    message = messages.add(db, conversation, None, "user", text)
    messages.append_text(db, message, text)
    assert messages.get(db, message).content == (text * 2).encode("utf-8", "replace").decode()


ACTIONS = st.lists(st.tuples(st.sampled_from(["below", "beside", "choose"]), st.integers(0, 30)), max_size=25)


@settings(max_examples=40, deadline=None)
@given(ACTIONS)
def test_the_tree_behaves_as_a_tree_of_plain_lists(actions):
    """Against a model: parent and last chosen child of every message."""
    with TemporaryDirectory() as folder:
        db = Database(Path(folder) / "chats.db")
        conversation = conversations.create(db)
        parents: dict[int, int | None] = {}
        chosen: dict[int | None, int] = {}

        def lead_to(message: int | None) -> None:
            while message is not None:
                chosen[parents[message]] = message
                message = parents[message]

        for action, number in actions:
            known = list(parents)
            picked = known[number % len(known)] if known else None
            if action == "below" or picked is None:
                made = messages.add(db, conversation, picked, "user", "x")
                parents[made] = picked
                lead_to(made)
            elif action == "beside":
                made = beside(db, picked, "x")
                parents[made] = parents[picked]
                lead_to(made)
            else:
                messages.choose(db, picked)
                lead_to(picked)

        branch, node = [], chosen.get(None)
        while node is not None:
            branch.append(node)
            node = chosen.get(node)
        assert [message.id for message in messages.branch(db, conversation)] == branch
        for message in messages.tree(db, conversation):
            assert message.parent == parents[message.id]
            assert message.chosen == (chosen[message.parent] == message.id)
        db.close()
