"""Rows of training data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from medusa_chat.engine.errors import MedusaError
from medusa_chat.training.conversations import Conversation, check_ids, cut, held_out, read_all, read_rows

ROW = '{"prompt_ids":[5,6],"answer_ids":[7,1],"sampled":true}\n'


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    said = Conversation((5, 6, 7, 8, 1, 9, 8, 1), ((3, 5), (6, 8)), sampled=True)
    (tmp_path / "a.jsonl").write_text(said.to_json() + "\n")
    assert read_rows(tmp_path / "a.jsonl") == [said]


def test_a_single_answer_may_be_spelled_as_prompt_and_answer(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(ROW)
    assert read_rows(tmp_path / "a.jsonl") == [Conversation((5, 6, 7, 1), ((2, 4),), sampled=True)]


def test_rows_without_an_answer_teach_nothing_and_are_counted(tmp_path: Path) -> None:
    rows = [
        {"prompt_ids": [5], "answer_ids": [6]},
        {"prompt_ids": [5], "answer_ids": []},
        {"prompt_ids": [], "answer_ids": [7]},
    ]
    rows += [{"ids": [5, 6], "answers": []}, {"ids": [5, 6, 7], "answers": [[1, 1], [2, 3]]}]
    (tmp_path / "a.jsonl").write_text("\n\n".join(map(json.dumps, rows)) + "\n")
    data = read_all([tmp_path / "a.jsonl"])
    assert data.conversations == (Conversation((5, 6), ((1, 2),)), Conversation((5, 6, 7), ((2, 3),)))
    assert (data.passed_over, data.answer_tokens) == (3, 2)


@pytest.mark.parametrize(
    "line",
    [
        "{", "[]", "7", '{"prompt_ids":[5]}', '{"prompt_ids":[5],"answer_ids":["x"]}', '{"ids":[5,6]}',
        '{"ids":[5,6],"answers":[[0,1]]}', '{"ids":[5,6],"answers":[[1,3]]}', '{"ids":[5,6,7,8],"answers":[[2,4],[1,2]]}',
        '{"ids":[5,6,7,8],"answers":[[1,3],[2,4]]}', '{"ids":[5,true],"answers":[[1,2]]}', '{"ids":[5,6],"answers":[1,2]}',
        '{"ids":"56","answers":[[1,2]]}',
    ],
)  # fmt: skip
def test_a_wrong_row_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.jsonl").write_text(ROW + line + "\n" + ROW)
    with pytest.raises(MedusaError, match=r"a\.jsonl, line 2"):
        read_rows(tmp_path / "a.jsonl", unfinished=True)


def test_only_the_last_line_may_be_broken_and_only_while_unfinished(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(ROW + ROW[:20])
    assert len(read_rows(tmp_path / "a.jsonl", unfinished=True)) == 1
    with pytest.raises(MedusaError, match="line 2"):
        read_rows(tmp_path / "a.jsonl")


def test_the_same_conversation_in_two_files_counts_once(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(ROW)
    (tmp_path / "b.jsonl").write_text(ROW + '{"prompt_ids":[5,6],"answer_ids":[9]}\n')
    data = read_all([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    assert [one.ids for one in data.conversations] == [(5, 6, 7, 1), (5, 6, 9)]


def test_missing_and_empty_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MedusaError, match="cannot be read"):
        read_all([tmp_path / "none.jsonl"])
    (tmp_path / "a.jsonl").write_text("")
    with pytest.raises(MedusaError, match="no answers"):
        read_all([tmp_path / "a.jsonl"])


def test_roots_are_the_token_before_an_answer_and_all_of_it_but_its_last() -> None:
    # A prompt of two, an answer of three, three tokens of the person, an answer of two.
    assert Conversation(tuple(range(10)), ((2, 5), (8, 10))).left() == [0, 3, 2, 1, 0, 0, 0, 2, 1, 0]
    assert Conversation.single((5,), (6, 7, 8)).left() == [0, 2, 1, 0]


def test_a_conversation_cut_keeps_what_fits() -> None:
    said = Conversation(tuple(range(10)), ((2, 5), (8, 10)), sampled=True)
    assert cut(said, 10) == said
    assert cut(said, 9) == Conversation(tuple(range(9)), ((2, 5), (8, 9)), sampled=True)
    assert cut(said, 8) == Conversation(tuple(range(8)), ((2, 5),), sampled=True)
    assert cut(said, 2) is None


def test_all_answers_to_a_prompt_are_held_out_together_and_the_share_holds() -> None:
    prompts = [(one, two) for one in range(40) for two in range(50)]
    for prompt in prompts[:50]:
        one, other = (
            Conversation.single(prompt, (1, 2)),
            Conversation((*prompt, 3, 4, 5), ((2, 3), (4, 5)), sampled=True),
        )
        assert held_out(one, 0.1) == held_out(other, 0.1)
    share = sum(held_out(Conversation.single(prompt, (1,)), 0.1) for prompt in prompts) / len(prompts)
    assert 0.07 < share < 0.13


def test_data_of_a_model_with_more_tokens_is_refused() -> None:
    check_ids([Conversation.single((5,), (119,))], 120)
    with pytest.raises(MedusaError, match="token 120, but the backbone knows only 120"):
        check_ids([Conversation.single((5,), (120, 1))], 120)
