"""A model answering prompts in batches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from doubles.small_backbone import small_backbone

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.training.answers import read_answers
from medusa_chat.training.batched import choose
from medusa_chat.training.distill import Distillation, Progress, distill, is_greedy, read_prompts

PROMPTS = [tuple(range(2 + start, 4 + start + start % 7)) for start in range(25)]


def plain(backbone: Backbone, prompt: tuple[int, ...], max_tokens: int) -> tuple[int, ...]:
    """Greedy decoding, one token a step."""
    backbone.rewind(0)
    backbone.prefill(prompt[:-1])
    answer: list[int] = []
    token = prompt[-1]
    while len(answer) < max_tokens and token != 1:
        logits = backbone.verify(CandidateTree.root_only(token)).logits
        backbone.commit([0])
        token = int(logits[0].argmax())
        answer.append(token)
    return tuple(answer)


def run(backbone: Backbone, out: Path, how: Distillation, prompts: list[tuple[int, ...]] = PROMPTS) -> Progress:
    return distill(backbone.model, backbone.eos_ids, prompts, out, how, backbone.context)


def test_greedy_answers_are_those_of_plain_decoding(tmp_path: Path) -> None:
    backbone = small_backbone(seed=21)
    run(backbone, tmp_path / "a.jsonl", Distillation(max_tokens=20, batch=8, greedy_share=1.0))
    answers = read_answers(tmp_path / "a.jsonl")
    assert sorted(answer.prompt_ids for answer in answers) == sorted(PROMPTS)
    for answer in answers:
        assert answer.answer_ids == plain(backbone, answer.prompt_ids, 20)
    # Both ways to end occur, so that rows leaving the batch early were part of the proof.
    assert {answer.answer_ids[-1] == 1 for answer in answers} == {True, False}


def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path, backbone: Backbone) -> None:
    how = Distillation(max_tokens=6, batch=4, greedy_share=1.0)
    out = tmp_path / "a.jsonl"
    run(backbone, out, how, PROMPTS[:10])
    before = out.read_bytes()
    out.write_bytes(before + b'{"prompt_ids":[2,3')
    progress = run(backbone, out, how)
    assert out.read_bytes().startswith(before)
    assert sorted(answer.prompt_ids for answer in read_answers(out)) == sorted(PROMPTS)
    assert (progress.answers, progress.of) == (25, 25)
    assert progress.tokens == sum(len(answer.answer_ids) for answer in read_answers(out)[10:])
    assert run(backbone, out, how).tokens == 0


def test_greedy_and_sampled_answers_are_mixed_and_marked(tmp_path: Path, backbone: Backbone) -> None:
    how = Distillation(max_tokens=5, batch=8, temperature=3.0, greedy_share=0.5)
    run(backbone, tmp_path / "a.jsonl", how)
    answers = read_answers(tmp_path / "a.jsonl")
    assert {answer.prompt_ids: not answer.sampled for answer in answers} == {
        prompt: is_greedy(prompt, how) for prompt in PROMPTS
    }
    assert {answer.sampled for answer in answers} == {True, False}


def test_prompts_without_room_for_an_answer_are_left_out(tmp_path: Path, backbone: Backbone) -> None:
    how = Distillation(max_tokens=5, batch=8, greedy_share=1.0)
    fits, too_long = (2,) * (backbone.context - 5), (3,) * (backbone.context - 4)
    progress = run(backbone, tmp_path / "a.jsonl", how, [(5, 6), fits, too_long, (5, 6)])
    assert progress.of == progress.answers == 2


def test_sampling_follows_the_distribution() -> None:
    logits = torch.tensor([[0.0, 1.0, -1.0, 2.0]])
    rows = 20_000
    tokens = choose(logits.expand(rows, -1), torch.full((rows,), 2.0), torch.Generator().manual_seed(1))
    share = torch.bincount(tokens, minlength=4) / rows
    torch.testing.assert_close(share, (logits[0] / 2).softmax(0), atol=0.015, rtol=0)
    assert choose(logits, torch.zeros(1), torch.Generator()).tolist() == [3]


def test_tokens_without_a_chance_are_never_drawn() -> None:
    logits = torch.tensor([[-torch.inf, 0.0, -torch.inf, 0.0, -torch.inf]]).expand(2_000, -1)
    tokens = choose(logits, torch.ones(2_000), torch.Generator().manual_seed(2))
    assert set(tokens.tolist()) == {1, 3}


@pytest.mark.parametrize("line", ["{", '{"text":"x"}', '{"prompt":"  "}', '{"prompt":3}'])
def test_a_row_without_prompt_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps({"prompt": "fine"}) + "\n" + line + "\n")
    with pytest.raises(MedusaError, match="line 2"):
        read_prompts(path)


def test_files_without_prompts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text("\n")
    with pytest.raises(MedusaError, match="no prompts"):
        read_prompts(tmp_path / "p.jsonl")
    with pytest.raises(MedusaError, match="cannot be read"):
        read_prompts(tmp_path / "none.jsonl")


def test_only_newlines_end_a_row(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"prompt":"one\u2028two three"}\n', encoding="utf-8")
    assert read_prompts(path) == ["one\u2028two three"]
