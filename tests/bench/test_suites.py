from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from medusa_chat.bench.families import FAMILIES, MT_BENCH, family_of
from medusa_chat.bench.selections import SIXTY, select
from medusa_chat.bench.suite import Question, choose, load_suite
from medusa_chat.engine.errors import MedusaError


def question(number: int, category: str) -> Question:
    return Question(number, category, (f"Question {number}?",))


SUITE = [question(i, category) for i, category in enumerate(["math", "rag", "math", "writing", "rag", "math"])]


def test_questions_are_read_in_order_with_all_their_turns(tmp_path: Path):
    file = tmp_path / "suite.jsonl"
    rows = [
        {"question_id": 81, "category": "writing", "turns": ["Écris.", "More."]},
        {"question_id": 161, "category": "translation", "turns": ["Translate."]},
    ]
    file.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")
    assert load_suite(file) == [
        Question(81, "writing", ("Écris.", "More.")),
        Question(161, "translation", ("Translate.",)),
    ]
    assert load_suite(file)[0].first_turn() == Question(81, "writing", ("Écris.",))


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"question_id": 1, "category": "a"}',
        '{"question_id": 1, "category": "a", "turns": []}',
        '{"question_id": 1, "category": "a", "turns": [7]}',
        '{"question_id": 1, "category": "a", "turns": ["?", " "]}',
        '{"question_id": 1, "category": "a", "turns": "?"}',
        '{"question_id": "x", "category": "a", "turns": ["?"]}',
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: str):
    file = tmp_path / "suite.jsonl"
    file.write_text('{"question_id": 1, "category": "a", "turns": ["?"]}\n' + line + "\n")
    with pytest.raises(MedusaError, match=r"^Line 2 of .*suite\.jsonl is not a question"):
        load_suite(file)


def test_a_missing_and_an_empty_file_are_refused(tmp_path: Path):
    with pytest.raises(MedusaError, match="cannot be read"):
        load_suite(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(MedusaError, match="holds no question"):
        load_suite(tmp_path / "empty.jsonl")


def test_mt_bench_is_taken_where_it_is_there_and_everything_elsewhere():
    assert [one.id for one in choose(SUITE)] == [0, 2, 3, 5]
    others = [question(1, "rag"), question(2, "qa")]
    assert choose(others) == others


def test_categories_and_limit():
    assert [one.id for one in choose(SUITE, ("rag",))] == [1, 4]
    assert [one.id for one in choose(SUITE, limit=2)] == [0, 3]
    assert [one.id for one in choose(SUITE, ("math", "rag"), limit=3)] == [0, 1, 2]
    assert choose(SUITE, ("math",), limit=99) == choose(SUITE, ("math",))


def test_an_unknown_category_is_named_with_those_there_are():
    with pytest.raises(MedusaError, match="no category law; it has math, rag, writing"):
        choose(SUITE, ("law",))


def published() -> list[Question]:
    file = Path(__file__).parents[3] / "shared" / "data" / "spec-bench.jsonl"
    if not file.exists():
        pytest.skip("the suite itself is not part of the project; it lies beside it where it is measured")
    return load_suite(file)


def test_the_published_suite_begins_with_80_questions_of_mt_bench():
    chosen = choose(published())
    assert [one.id for one in chosen] == list(range(81, 161))
    assert tuple(dict.fromkeys(one.category for one in chosen)) == MT_BENCH


def test_the_list_of_60_has_ten_of_each_family_and_something_of_all_categories():
    sixty = select(published(), "60")
    assert tuple(one.id for one in sixty) == SIXTY
    assert Counter(family_of(one.category) for one in sixty) == dict.fromkeys(FAMILIES, 10)
    assert set(MT_BENCH) <= {one.category for one in sixty}


def test_all_is_every_question_of_any_suite():
    assert len(select(published(), "all")) == 480
    assert select(SUITE, "all") == SUITE


def test_a_suite_that_lacks_questions_of_the_list_is_refused_with_the_way_out():
    suite = [question(number, "math") for number in SIXTY[1:]]
    with pytest.raises(MedusaError, match=r"^The selection 60 .* lacks 1 of them, such as 81; .*--limit"):
        select(suite, "60")


def test_a_category_nobody_knows_is_a_family_of_its_own():
    assert [family_of(name) for name in ("stem", "rag", "law")] == ["mt_bench", "rag", "law"]
