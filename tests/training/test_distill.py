"""A model conversing with itself, and what ends up in the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from doubles.small_backbone import small_backbone
from doubles.small_tokenizers import byte_level, wrap

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.text.template import render
from medusa_chat.training import distill as module
from medusa_chat.training.continuous import Request, answer_all
from medusa_chat.training.conversations import Conversation, read_rows
from medusa_chat.training.distill import Distiller, Progress
from medusa_chat.training.prompts import Prompt
from medusa_chat.training.scenes import Scene
from medusa_chat.training.talks import Terms

TOKENIZER = byte_level()
EOS = int(TOKENIZER.eos_token_id)
PROMPTS = [Prompt((f"Say the number {number}.",)) for number in range(12)]
TWO_TURNS = [Prompt((f"Say {number}.", "And again?", "Once more <|im_end|>?"), "Be brief.") for number in range(5)]


def backbone(seed: int = 3):
    """One that ends about one answer in two."""
    made = small_backbone(vocab_size=len(TOKENIZER), seed=seed)
    with torch.no_grad():
        made.output_layer.weight[EOS] *= 2.5
    return made


def terms(max_tokens: int = 12, temperature: float = 3.0, context: int = 400) -> Terms:
    return Terms(Scene.of(TOKENIZER), frozenset({EOS}), context, max_tokens, temperature)


def answer(
    out: Path, prompts: Sequence[Prompt] = PROMPTS, how: Terms | None = None, greedy: float = 0.5, batch: int = 5
) -> Progress:
    return Distiller(how or terms(), out, greedy_share=greedy).answer(backbone().model, prompts, batch)


def said(conversation: Conversation) -> list[str]:
    return [TOKENIZER.decode(conversation.ids[start:end]) for start, end in conversation.answers]


def test_answers_are_the_models_own_behind_the_rendered_prompt(tmp_path: Path) -> None:
    assert answer(tmp_path / "a.jsonl", greedy=1.0).conversations == len(PROMPTS)
    rows = read_rows(tmp_path / "a.jsonl")
    openings = {tuple(render(TOKENIZER, [{"role": "user", "content": one.turns[0]}])) for one in PROMPTS}
    assert {row.opening for row in rows} == openings
    requests = iter([Request(ids, 12, stop_ids=frozenset({EOS})) for ids in sorted(openings)])
    alone = {one.prompt_ids: tuple(one.answer_ids) for one in answer_all(backbone().model, requests, 1, 0)}
    assert {row.opening: row.ids[len(row.opening) :] for row in rows} == alone
    assert not any(row.sampled for row in rows)


def test_further_turns_keep_what_was_said_and_only_whole_answers_go_on(tmp_path: Path) -> None:
    how = terms(max_tokens=60)
    progress = answer(tmp_path / "a.jsonl", TWO_TURNS, how)
    rows = read_rows(tmp_path / "a.jsonl")
    assert progress.conversations == len(rows) == 5
    assert max(len(row.answers) for row in rows) > 1
    for row in rows:
        ended = [row.ids[end - 1] == EOS for _, end in row.answers]
        assert all(ended[:-1])
        assert len(row.answers) == 3 or not ended[-1] or len(row.ids) + 60 + 40 > how.context
        for (_, before), (start, _) in zip(row.answers, row.answers[1:], strict=False):
            # What the template writes between two answers, its end token being there already; text that looks like a
            # control token is none.
            between = TOKENIZER.decode(row.ids[before:start])
            assert between.startswith("\n<|im_start|>user\n")
            assert between.endswith("?<|im_end|>\n<|im_start|>assistant\n")
            assert list(row.ids[before:start]).count(EOS) == 1


def test_a_killed_run_goes_on_to_the_same_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAVE_EVERY", 0.0)
    whole = tmp_path / "whole.jsonl"
    answer(whole, TWO_TURNS)
    broken = tmp_path / "broken.jsonl"
    steps = 0

    class KilledError(Exception):
        pass

    note = Distiller._note

    def note_and_die(self: Distiller) -> None:
        nonlocal steps
        note(self)
        steps += 1
        if steps == 7:
            raise KilledError

    monkeypatch.setattr(Distiller, "_note", note_and_die)
    with pytest.raises(KilledError):
        answer(broken, TWO_TURNS)
    kept = (tmp_path / "broken.jsonl.under-way").read_text()
    assert '"written": [' in kept
    broken.write_text(broken.read_text() + '{"ids":[1,2')
    monkeypatch.setattr(Distiller, "_note", note)
    asked: list[int] = []
    monkeypatch.setattr(
        module, "answer_all", lambda *args: (asked.append(len(one.answer_ids)) or one for one in answer_all(*args))
    )
    answer(broken, TWO_TURNS)
    assert sorted(row.to_json() for row in read_rows(broken)) == sorted(row.to_json() for row in read_rows(whole))
    assert not (tmp_path / "broken.jsonl.under-way").exists()
    again = answer(broken, TWO_TURNS)
    assert (again.conversations, again.tokens) == (5, 0)


def test_greedy_and_sampled_conversations_are_mixed_and_marked(tmp_path: Path) -> None:
    answer(tmp_path / "a.jsonl")
    assert {row.sampled for row in read_rows(tmp_path / "a.jsonl")} == {True, False}


def test_prompts_without_room_for_an_answer_are_left_out(tmp_path: Path) -> None:
    long = Prompt(("word " * 300,))
    maker = Distiller(terms(), tmp_path / "a.jsonl")
    progress = maker.answer(backbone().model, [PROMPTS[0], long, PROMPTS[0]], 4)
    assert (progress.conversations, progress.of, maker.left_out) == (1, 1, 1)


def test_a_model_asks_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A model of random weights writes nothing worth asking, so every question is let through but those asked before.
    monkeypatch.setattr("medusa_chat.training.questions._worthless", lambda text: None if text else "empty")
    monkeypatch.setattr("medusa_chat.training.questions._gist", lambda text: text)
    monkeypatch.setattr("medusa_chat.training.talks.QUESTION_TEMPERATURE", 3.0)
    maker = Distiller(terms(max_tokens=40), tmp_path / "a.jsonl")
    model = backbone(seed=8).model
    progress = maker.invent(model, 6, 2, 4)
    rows = read_rows(tmp_path / "a.jsonl")
    assert progress.conversations == progress.of == len(rows) == 6
    scene = Scene.of(TOKENIZER)
    for row in rows:
        assert row.opening[: len(scene.opening)] == scene.opening
        assert row.opening[-len(scene.closing) :] == scene.closing
    assert len({row.opening for row in rows}) == 6
    more = Distiller(terms(max_tokens=40), tmp_path / "a.jsonl").invent(model, 8, 1, 4)
    assert more.conversations == 8
    assert len({row.opening for row in read_rows(tmp_path / "a.jsonl")}) == 8


def test_a_model_that_asks_nothing_of_use_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medusa_chat.training.questions.SHORTEST", 10_000)
    maker = Distiller(terms(), tmp_path / "a.jsonl")
    with pytest.raises(MedusaError, match=r"asks nothing that can be used \(.*too short.*give --prompts"):
        maker.invent(backbone().model, 5, 1, 8)


def test_a_template_that_changes_what_is_said_is_refused() -> None:
    changing = "{% for message in messages %}{{ message['content'] | length }}{% endfor %}"
    tokenizer = wrap(TOKENIZER.backend_tokenizer, changing)
    with pytest.raises(MedusaError, match="changes what is said"):
        Scene.of(tokenizer)
