"""Rows of training data."""

from __future__ import annotations

from pathlib import Path

import pytest

from medusa_chat.engine.errors import MedusaError
from medusa_chat.training.answers import Answer, check_ids, held_out, read_all, read_answers

ROW = '{"prompt_ids":[5,6],"answer_ids":[7,1],"sampled":true}\n'


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    answer = Answer((5, 6, 7), (8, 1), sampled=True)
    (tmp_path / "a.jsonl").write_text(answer.to_json() + "\n")
    assert read_answers(tmp_path / "a.jsonl") == [answer]


def test_sampled_may_be_left_out_and_empty_answers_teach_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"prompt_ids":[5],"answer_ids":[6]}\n\n{"prompt_ids":[5],"answer_ids":[]}\n')
    assert read_answers(tmp_path / "a.jsonl") == [Answer((5,), (6,))]


@pytest.mark.parametrize("line", ["{", "[]", '{"prompt_ids":[5]}', '{"prompt_ids":[5],"answer_ids":["x"]}', "7"])
def test_a_wrong_row_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.jsonl").write_text(ROW + line + "\n" + ROW)
    with pytest.raises(MedusaError, match=r"a\.jsonl, line 2"):
        read_answers(tmp_path / "a.jsonl", unfinished=True)


def test_only_the_last_line_may_be_broken_and_only_while_unfinished(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(ROW + ROW[:20])
    assert len(read_answers(tmp_path / "a.jsonl", unfinished=True)) == 1
    with pytest.raises(MedusaError, match="line 2"):
        read_answers(tmp_path / "a.jsonl")


def test_the_same_answer_in_two_files_counts_once(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(ROW)
    (tmp_path / "b.jsonl").write_text(ROW + '{"prompt_ids":[5,6],"answer_ids":[9]}\n')
    assert [answer.answer_ids for answer in read_all([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])] == [(7, 1), (9,)]


def test_missing_and_empty_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MedusaError, match="cannot be read"):
        read_all([tmp_path / "none.jsonl"])
    (tmp_path / "a.jsonl").write_text("")
    with pytest.raises(MedusaError, match="no answers"):
        read_all([tmp_path / "a.jsonl"])


def test_all_answers_to_a_prompt_are_held_out_together_and_the_share_holds() -> None:
    prompts = [(one, two) for one in range(40) for two in range(50)]
    for prompt in prompts[:50]:
        assert held_out(Answer(prompt, (1, 2)), 0.1) == held_out(Answer(prompt, (3,), sampled=True), 0.1)
    share = sum(held_out(Answer(prompt, (1,)), 0.1) for prompt in prompts) / len(prompts)
    assert 0.07 < share < 0.13


def test_data_of_a_model_with_more_tokens_is_refused() -> None:
    check_ids([Answer((5,), (119,))], 120)
    with pytest.raises(MedusaError, match="token 120, but the backbone knows only 120"):
        check_ids([Answer((5,), (120, 1))], 120)
