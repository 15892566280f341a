"""Which of a model's own questions are worth answering."""

from __future__ import annotations

import pytest

from medusa_chat.training.questions import Questions, repetitive


@pytest.mark.parametrize(
    ("text", "ended", "reason"),
    [
        ("What is a heap?", False, "unfinished"),
        ("Why?", True, "too short"),
        ("a b " * 900, True, "too long"),
        ("What is \x1b[31mred\x1b[0m about this?", True, "unreadable"),
        ("tell me more " * 20, True, "repeats itself"),
        ("List:\n- item one\n- item one\n- item one\nand so on", True, "repeats itself"),
    ],
)
def test_what_is_no_use_is_left_out_and_counted(text: str, ended: bool, reason: str) -> None:
    questions = Questions()
    assert questions.take(text, ended) is None
    assert dict(questions.left_out) == {reason: 1}


def test_a_question_is_asked_once_however_it_is_spelled() -> None:
    questions = Questions()
    assert questions.take("  Tell me: what is the capital of France today?  ", True) is not None
    assert questions.take("tell me what is the CAPITAL of france, really?", True) is None
    assert questions.take("Tell me: what is the capital of Spain today?", True) is not None
    assert dict(questions.left_out) == {"asked before": 1}


def test_earlier_runs_are_known() -> None:
    questions = Questions()
    questions.know("What is a heap, and what is it for?")
    assert questions.take("What is a heap, and what is it for?", True) is None


def test_ordinary_text_is_not_repetitive() -> None:
    assert not repetitive("Write a poem about autumn.\nUse four lines.\nMention a river, a road and a bird.")
    assert not repetitive("多くの言語で質問できます。")
