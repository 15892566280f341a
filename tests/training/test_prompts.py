"""Prompts in the shapes people have them in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from medusa_chat.engine.errors import MedusaError
from medusa_chat.training.prompts import Prompt, read_prompts


def written(tmp_path: Path, text: str, name: str = "p.jsonl") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


ROWS: list[tuple[object, Prompt]] = [
    ({"prompt": " one "}, Prompt(("one",))),
    ({"question_id": 7, "turns": ["one", "two"]}, Prompt(("one", "two"))),
    (
        {"conversations": [{"from": "system", "value": "be brief"}, {"from": "human", "value": "one"},
                           {"from": "gpt", "value": "not ours"}, {"from": "human", "value": "two"}]},
        Prompt(("one", "two"), "be brief"),
    ),
    ({"messages": [{"role": "user", "content": "one"}, {"role": "assistant", "content": "not ours"}]}, Prompt(("one",))),
    ({"instruction": "Add.", "input": "1 and 2", "output": "3"}, Prompt(("Add.\n\n1 and 2",))),
    ({"instruction": "Add.", "input": "", "output": "3"}, Prompt(("Add.",))),
]  # fmt: skip


def test_every_shape_is_understood_also_mixed(tmp_path: Path) -> None:
    path = written(tmp_path, "".join(json.dumps(row) + "\n\n" for row, _ in ROWS))
    assert read_prompts(path) == [prompt for _, prompt in ROWS]
    path = written(tmp_path, json.dumps([row for row, _ in ROWS]), "p.json")
    assert read_prompts(path) == [prompt for _, prompt in ROWS]


def test_a_text_holds_a_prompt_a_line(tmp_path: Path) -> None:
    path = written(tmp_path, 'one\n\n  {"prompt": "stays text"}\nthree\u2028three', "p.txt")
    assert read_prompts(path) == [
        Prompt(("one",)),
        Prompt(('{"prompt": "stays text"}',)),
        Prompt(("three\u2028three",)),
    ]


@pytest.mark.parametrize(
    "line",
    ["{", '{"text":"x"}', '{"prompt":"  "}', '{"prompt":3}', "[1", '{"turns":"one"}', '{"turns":[]}',
     '{"conversations":[{"from":"gpt","value":"hello"}]}', '{"messages":[{"role":"user"}]}', '{"instruction":null}'],
)  # fmt: skip
def test_a_row_without_a_prompt_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(MedusaError, match=r"p\.jsonl, line 2"):
        read_prompts(written(tmp_path, json.dumps({"prompt": "fine"}) + "\n" + line + "\n"))


def test_a_row_of_a_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(MedusaError, match="row 2"):
        read_prompts(written(tmp_path, '[{"prompt": "fine"}, 3]'))
    with pytest.raises(MedusaError, match="begins as a JSON list"):
        read_prompts(written(tmp_path, '[{"prompt": "fine"},'))


def test_files_without_prompts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MedusaError, match="no prompts"):
        read_prompts(written(tmp_path, "\n"))
    with pytest.raises(MedusaError, match="cannot be read"):
        read_prompts(tmp_path / "none.jsonl")
    (tmp_path / "p.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(MedusaError, match="cannot be read"):
        read_prompts(tmp_path / "p.jsonl")
