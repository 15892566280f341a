"""The tree of turns: grown by edits and further answers, walked, and recalled from the disk as it was."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.database import Database
from medusa_chat.host.messages import ChatMessage
from medusa_chat.tui.branches import Branches
from medusa_chat.tui.recalling import branches_of
from medusa_chat.tui.turn import Turn, messages_of


def turn(question: str) -> Turn:
    return Turn(0, question)


@pytest.fixture
def grown() -> tuple[Branches, list[Turn]]:
    """One, two, three, each below the other."""
    branches, turns = Branches(), [turn("one"), turn("two"), turn("three")]
    for each in turns:
        branches.append(each)
    return branches, turns


def questions(branches: Branches) -> list[str]:
    return [each.question for each in branches.shown]


def test_another_wording_begins_a_branch_and_the_old_one_waits(grown):
    branches, (_, two, three) = grown
    other = turn("two, reworded")
    branches.reword(two, other)
    assert questions(branches) == ["one", "two, reworded"]
    assert (other.wordings, other.answers) == ((2, 2), (1, 1))
    branches.append(turn("four"))
    assert branches.walk(other, -1, question=True) is two
    assert branches.shown[-1] is three
    assert two.wordings == (1, 2)
    branches.walk(two, 1, question=True)
    assert questions(branches) == ["one", "two, reworded", "four"]


def test_further_answers_stand_beside_the_old_one(grown):
    branches, (_, two, three) = grown
    again = turn("two")
    branches.answer_again(two, again)
    assert branches.shown[1:] == [again]
    assert (again.wordings, again.answers) == ((1, 1), (2, 2))
    assert branches.walk(again, -1, question=False) is two
    assert branches.shown[-1] is three
    assert branches.walk(two, -1, question=False) is None
    assert branches.walk(two, 2, question=False) is None
    assert branches.walk(three, 1, question=True) is None


def test_walking_between_wordings_finds_the_answer_that_was_shown(grown):
    branches, (one, *_) = grown
    again, other = turn("one"), turn("one, reworded")
    branches.answer_again(one, again)
    branches.reword(again, other)
    assert branches.walk(other, -1, question=True) is again
    assert {id(each) for each in branches.all} >= {id(one), id(again), id(other)}
    assert len(branches.all) == 5


def test_the_model_reads_the_shown_branch_alone_and_the_system_prompt_first(grown):
    branches, (_, two, _) = grown
    for each in branches.all:
        each._pieces.append(f"answer to {each.question}")
    branches.reword(two, turn("two, reworded"))
    assert messages_of(branches.shown, "Be short.") == (
        ChatMessage("system", "Be short."),
        ChatMessage("user", "one"),
        ChatMessage("assistant", "answer to one"),
        ChatMessage("user", "two, reworded"),
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=12), st.data())
def test_any_tree_of_messages_is_recalled_with_the_branch_it_was_left_on(shape, data):
    with TemporaryDirectory() as folder:
        db = Database(Path(folder) / "chats.db")
        conversation = conversations.create(db)
        ids: list[int] = []
        for number, (place, asks) in enumerate(shape):
            parent = None if place >= len(ids) else ids[place]
            ids.append(messages.add(db, conversation, parent, "user" if asks else "assistant", str(number)))
        messages.choose(db, data.draw(st.sampled_from(ids)))
        shown = branches_of(messages.tree(db, conversation)).shown
        said = [text for each in shown for text in (each.question, each.text) if text]
        assert said == [message.content for message in messages.branch(db, conversation)]
        for each in branches_of(messages.tree(db, conversation)).all:
            assert each.kept.question is not None or each.kept.answer is not None
        db.close()


def test_a_conversation_of_thousands_of_turns_is_recalled(tmp_path):
    db = Database(tmp_path / "chats.db")
    conversation = conversations.create(db)
    parent = None
    with db.transaction():
        for number in range(1500):
            parent = messages.add(db, conversation, parent, "assistant" if number % 2 else "user", str(number))
    assert len(branches_of(messages.tree(db, conversation)).shown) == 750
    db.close()


def test_a_message_is_led_to_on_whatever_branch_it_is_and_all_else_stays_as_it_was(grown):
    branches, (one, two, three) = grown
    again, reworded = turn("two"), turn("one, reworded")
    branches.answer_again(two, again)
    branches.append(turn("below the further answer"))
    branches.reword(one, reworded)
    for number, each in enumerate((one, two, three, again, reworded)):
        each.kept.question, each.kept.answer = 10 * number, 10 * number + 1
    again.kept.question = two.kept.question
    assert branches.lead_to(three.kept.answer) is three
    assert branches.shown == [one, two, three]
    assert (one.wordings, two.answers) == ((1, 2), (1, 2))
    assert branches.lead_to(again.kept.answer) is again
    assert questions(branches) == ["one", "two", "below the further answer"]
    assert branches.lead_to(reworded.kept.question) is reworded
    assert branches.shown == [reworded]
    assert branches.lead_to(two.kept.question) is again
    assert questions(branches) == ["one", "two", "below the further answer"]
    assert branches.lead_to(99) is None
    assert questions(branches) == ["one", "two", "below the further answer"]
