"""Answers kept as they come, and read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from medusa_chat.bench.differences import Parting
from medusa_chat.bench.journal import Journal
from medusa_chat.bench.timed import Sample, Timed
from medusa_chat.engine.errors import MedusaError

CONDITIONS = {"max_tokens": 64, "decoding": {"plain": {"budget": None}}, "tuple": (1, 2)}

ANSWER = Timed((5, 6), 2, 2, 0.5, 0.25, first_token_seconds=0.375, split={"draft": 1.5}, nodes=8, peak_bytes=2**30)
FIRST = (
    Sample(
        81,
        "writing",
        {"plain": ANSWER, "hf": Timed((5, 7), 1, 1, 0.5, 0.25)},
        {"hf": Parting(1, (6, None), ("é", ""), None, False)},
    ),
    Sample(81, "writing", {"plain": ANSWER, "hf": ANSWER}, turn=2),
)
SECOND = (Sample(82, "writing", {"plain": ANSWER}),)


def journal(tmp_path: Path, **other: object) -> Journal:
    return Journal.beside(tmp_path / "figures.json", {**CONDITIONS, **other})


def begun(tmp_path: Path) -> Journal:
    kept = journal(tmp_path)
    kept.begin()
    kept.add(FIRST)
    kept.add(SECOND)
    return kept


def test_what_was_added_is_read_the_same(tmp_path: Path):
    begun(tmp_path)
    assert journal(tmp_path).path == tmp_path / "figures.samples.jsonl"
    assert journal(tmp_path).read() == [FIRST, SECOND]


def test_a_line_cut_short_is_cut_away_and_the_next_stands_in_its_place(tmp_path: Path):
    kept = begun(tmp_path)
    kept.path.write_text(kept.path.read_text()[:-20])
    assert kept.read() == [FIRST]
    kept.add(SECOND)
    assert kept.read() == [FIRST, SECOND]


def test_beginning_anew_forgets(tmp_path: Path):
    kept = begun(tmp_path)
    kept.begin()
    assert kept.read() == []


def test_other_conditions_are_named_with_both_values(tmp_path: Path):
    begun(tmp_path)
    with pytest.raises(MedusaError, match=r"another max tokens \(64, now 128\); run as before, or leave out --resume"):
        journal(tmp_path, max_tokens=128).read()


@pytest.mark.parametrize("text", ["", "{}\n", "[]\n", "nonsense\n", '{"conditions": 3}\n'])
def test_another_kind_of_file_is_refused(tmp_path: Path, text: str):
    kept = journal(tmp_path)
    kept.path.write_text(text)
    with pytest.raises(MedusaError, match="does not hold the answers of a run; leave out --resume"):
        kept.read()


def test_a_spoilt_line_is_refused(tmp_path: Path):
    kept = begun(tmp_path)
    kept.path.write_text(kept.path.read_text() + '{"samples": [{"question": 1}]}\n')
    with pytest.raises(MedusaError, match="does not hold the answers of a run"):
        kept.read()


def test_no_file_and_no_place_for_one_are_said(tmp_path: Path):
    with pytest.raises(MedusaError, match="There is no run to go on with"):
        journal(tmp_path).read()
    with pytest.raises(MedusaError, match="The answers cannot be written to"):
        journal(tmp_path / "nowhere").begin()
