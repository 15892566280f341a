from __future__ import annotations

import pytest

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.search import search


def talk(db, *texts: str) -> int:
    conversation = conversations.create(db)
    parent = None
    for text in texts:
        parent = messages.add(db, conversation, parent, "user", text)
    return conversation


def found(db, words: str) -> list[int]:
    return [hit.conversation.id for hit in search(db, words, 50)]


def marked(db, words: str) -> list[str]:
    return [text for hit in search(db, words, 50) for text, hit_here in hit.pieces if hit_here]


def test_all_words_in_one_message_the_last_perhaps_cut_short(db):
    paris = talk(db, "Cities", "The Eiffel Tower stands in Paris.")
    talk(db, "Towers", "A tower of babel.")
    assert found(db, "paris tow") == [paris]
    assert sorted(marked(db, "PARIS tow")) == ["Paris", "Tower"]
    assert found(db, "paris babel") == []


def test_pieces_join_to_the_place_in_the_text(db):
    talk(db, "Title here", "one two three")
    (hit,) = search(db, "two", 5)
    assert hit.pieces == (("one ", False), ("two", True), (" three", False))


def test_one_hit_for_each_conversation_newest_first_titles_before(db):
    first = talk(db, "apple", "pear", "apple")
    second = talk(db, "pear", "an apple a day")
    renamed = talk(db, "nothing of that kind")
    conversations.rename(db, renamed, "My apple book")
    assert found(db, "apple") == [renamed, first, second]
    assert len(search(db, "apple", 2)) == 2


def test_accents_and_case_make_no_difference(db):
    metro = talk(db, "x", "Le Métro")
    assert found(db, "metro") == found(db, "MÉTRO") == [metro]


def test_a_growing_answer_is_found_by_what_was_added(db):
    conversation = talk(db, "Question")
    parent = messages.branch(db, conversation)[-1].id
    answer = messages.add(db, conversation, parent, "assistant", "", "unfinished")
    messages.append_text(db, answer, "the fox jum")
    messages.append_text(db, answer, "ps")
    assert found(db, "jumps") == [conversation]


@pytest.mark.parametrize("words", ["", "   ", "?!", '"', "* AND (", "_"])
def test_nothing_to_look_for_finds_nothing(db, words):
    talk(db, "some text")
    assert found(db, words) == []


@pytest.mark.parametrize("words", ['some" OR "text', "some AND text", "some NOT", "content:some", "some*", "some^2 ("])
def test_no_character_is_an_operator(db, words):
    talk(db, "some text")
    search(db, words, 5)


def test_markers_cannot_be_smuggled_in(db):
    talk(db, "x", "a \ufdd0fake\ufdd1 [bold]word[/bold]")
    (hit,) = search(db, "word", 5)
    assert ("word", True) in hit.pieces


def test_a_hit_knows_its_newest_message_but_not_of_a_title_alone(db):
    found_twice = talk(db, "pear", "apple one", "pear", "apple two", "pear")
    both, title = talk(db, "apple", "pear"), talk(db, "nothing of that kind")
    conversations.rename(db, title, "My apple book")
    places = {hit.conversation.id: hit.message for hit in search(db, "apple", 50)}
    ids = [each.id for each in messages.branch(db, found_twice)]
    assert places == {title: None, both: messages.branch(db, both)[0].id, found_twice: ids[3]}
