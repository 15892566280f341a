"""What the inspector says about a node, a step and a place in the answer."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from doubles.believed_steps import believed, random_step
from doubles.step_records import steps_of
from rich.cells import cell_len

from medusa_chat.engine.options import Decoding
from medusa_chat.host.messages import RejectionRecord
from medusa_chat.tui.inspector.details import node_words, step_words, times_in_one
from medusa_chat.tui.inspector.fate import Fate
from medusa_chat.tui.inspector.inspection import ending
from medusa_chat.tui.inspector.made_with import decodings_of
from medusa_chat.tui.inspector.passage import passage
from medusa_chat.tui.inspector.scrubber import column_of, heights, place_at
from medusa_chat.tui.inspector.why import number, why

STEP = next(step for step in steps_of("The capital of France is Paris, on the Seine.") if step.path == (0, 1, 3, 5))


def reason(node: int, **numbers: float) -> RejectionRecord:
    return RejectionRecord(node, **numbers)


def test_a_kept_guess_was_the_model_s_likeliest():
    assert (
        why(STEP, 1, Fate.KEPT, "x") == f"Kept: the model's likeliest token here ({STEP.beliefs.certainties[0]:.2f})."
    )


def test_a_kept_guess_that_was_not_the_likeliest_says_what_was():
    beliefs = replace(STEP.beliefs, favourites=(" else", *STEP.beliefs.favourites[1:]))
    assert "though “·else” was likelier" in why(replace(STEP, beliefs=beliefs), 1, Fate.KEPT, "x")


def test_exact_rules_name_the_model_s_choice():
    kept = STEP.tree.texts[1].replace(" ", "·")
    assert why(STEP, 2, Fate.FELL, "x") == f"Fell: the model's choice was “{kept}” ({STEP.beliefs.certainties[0]:.2f})."
    assert why(STEP, 7, Fate.FELL, " after") == "Fell: the model's choice was “·after”."
    assert why(STEP, 7, Fate.FELL, None) == "Fell: the model chose another token."


def test_the_typical_rule_shows_its_whole_sum():
    bound = 0.3 * math.exp(-1.642)
    step = replace(STEP, reasons=(reason(2, probability=0.0312, needed=bound, entropy=1.642),))
    sentence = why(step, 2, Fate.FELL, "x", [Decoding(), Decoding(rule="typical", epsilon=0.09, delta=0.3)])
    assert sentence == "Fell: p 0.031 < 0.058 = min(epsilon 0.09, delta 0.3 · exp(-entropy 1.64))."


def test_options_that_do_not_give_the_bound_are_not_blamed():
    step = replace(STEP, reasons=(reason(2, probability=0.0312, needed=0.0581, entropy=1.642),))
    sentence = why(step, 2, Fate.FELL, "x", [Decoding(rule="typical", epsilon=0.01, delta=0.3)])
    assert sentence == "Fell: p 0.031 < 0.058, what an entropy of 1.64 asks for."


def test_the_threshold_rule_names_its_threshold():
    step = replace(STEP, reasons=(reason(2, probability=0.0312, needed=0.09),))
    assert why(step, 2, Fate.FELL, "x") == "Fell: p 0.031 < 0.090, the threshold."


def test_every_node_of_any_tree_has_words():
    for seed in range(30):
        step = random_step(seed, 1 + 2 * seed)
        for bare in (step, replace(step, beliefs=None), replace(step, reasons=())):
            for node in range(len(step.tree.tokens)):
                for bars in (True, False):
                    words = str(node_words(bare, node, None, [], bars))
                    assert str(step.tree.tokens[node]) in words
                    assert "\x1b" not in words


def test_what_was_not_kept_with_a_step_is_said():
    words = str(node_words(replace(STEP, beliefs=None), 2, None, []))
    assert "its probabilities were not kept" in words
    assert "–" in words


def test_the_times_add_up_and_stand_beside_a_plain_step():
    words = str(step_words(STEP, 8.0))
    assert f"{STEP.ms:.1f} ms" in words
    assert f"overhead {STEP.ms / 8.0:.2f}" in words
    assert "8.0 ms in this answer" in words
    assert "at its pace" in str(step_words(replace(STEP, plain_ms=7.5), 8.0))
    assert "overhead –" in str(times_in_one(STEP, None))


@pytest.mark.parametrize(
    ("probability", "shown"), [(1.0, "1.000"), (0.9951, "0.995"), (0.5, "0.50"), (0.0312, "0.031"), (0.00004, "4e-05")]
)
def test_numbers_keep_the_digits_that_count(probability, shown):
    assert number(probability) == shown


def test_the_last_token_of_the_last_step_is_known_by_its_text_or_by_what_the_model_held():
    last = steps_of("The capital of France is Paris.")[-1]
    assert ending(last) == last.beliefs.favourites[last.path[-1]]
    first = steps_of("The capital of France is Paris.")[0]
    assert ending(replace(first, beliefs=None)) == first.text.removeprefix(
        "".join(first.tree.texts[node] for node in first.path[1:])
    )
    assert ending(replace(believed(last, " far"), text=last.text + " off")) == " off"


@pytest.mark.parametrize("steps", [1, 2, 7, 40, 79, 80, 81, 500, 4001])
def test_every_step_is_found_again_on_the_bar(steps):
    columns = [column_of(place, steps, 80) for place in range(steps)]
    assert columns == sorted(columns)
    assert max(columns) < 80
    for column in set(columns):
        assert place_at(column, steps, 80) == columns.index(column)
    assert place_at(79, steps, 80) == steps - 1 or columns[-1] == 79
    assert len(heights([1] * steps, 80)) <= 80
    assert set(heights([3] * steps, 80)) == {3.0}


def test_the_passage_shows_what_was_said_here_whatever_came_before():
    before, after = "word " * 400, " later" * 400
    for rows in (1, 2, 4):
        lines = str(passage(before, "HERE", after, 40, rows)).split("\n")
        assert len(lines) == rows
        assert any("HERE" in line for line in lines)
        assert all(cell_len(line) <= 40 for line in lines)


def test_the_passage_is_whole_when_it_fits():
    assert str(passage("One.\n", "Two.", "\nThree.", 40, 4)) == "One.\nTwo.\nThree."
    assert str(passage("", "\x1b[31m[/b]", "", 40, 2)) == "␛[31m[/b]"
    assert str(passage("a", "b", "c", 0, 0)) == ""


def test_options_an_answer_was_made_with_are_read_back():
    settings = {
        "decoding": {"rule": "typical", "epsilon": 0.2},
        "changes": [
            {"step": 4, "decoding": {"rule": "greedy", "unheard": 1}},
            {"step": 9, "decoding": {"rule": "odd"}},
        ],
    }
    assert decodings_of(settings) == [(1, Decoding(rule="typical", epsilon=0.2)), (4, Decoding(rule="greedy"))]


@pytest.mark.parametrize(
    "settings", [None, {}, [], {"decoding": 3}, {"decoding": {"budget": "x"}}, {"changes": {"a": 1}}]
)
def test_kept_options_that_are_none_are_left_out(settings):
    assert decodings_of(settings) in ([], [(1, Decoding())])
