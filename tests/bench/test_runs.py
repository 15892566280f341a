"""Who answers when, and the contestants themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
from transformers import AutoModelForCausalLM, GenerationConfig

from medusa_chat.bench.decoders import OwnDecoder
from medusa_chat.bench.differences import Parting
from medusa_chat.bench.machine import Others, describe
from medusa_chat.bench.peer_hf import generate
from medusa_chat.bench.peers import Peer
from medusa_chat.bench.runner import WARM_UP_TOKENS, measure, turns
from medusa_chat.bench.suite import Question
from medusa_chat.bench.timed import Timed
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding
from medusa_chat.host.session import Session
from medusa_chat.settings.paths import log_file

PROMPT = [3, 50, 60, 70, 80, 90]


@dataclass
class Recorder:
    name: str
    log: list[tuple[str, int, int]] = field(default_factory=list)
    tokens: tuple[int, ...] = (1, 2)

    def answer(self, prompt_ids: Sequence[int], max_tokens: int) -> Timed:
        self.log.append((self.name, prompt_ids[0], max_tokens))
        return Timed(self.tokens, len(self.tokens), 2, 1.0, 0.1)


def test_everyone_comes_at_every_place_equally_often_and_after_everyone_else():
    names = ["a", "b", "c"]
    orders = [turns(names, index) for index in range(6)]  # type: ignore[arg-type]
    assert all(sorted(order) == names for order in orders)
    assert all(set(Counter(order[place] for order in orders).values()) == {2} for place in range(3))
    assert {pair for order in orders for pair in pairwise(order)} == {
        (one, other) for one in names for other in names if one != other
    }
    assert [turns(["a", "b"], index) for index in range(2)] == [["a", "b"], ["b", "a"]]  # type: ignore[list-item]


def test_contestants_take_turns_question_by_question_after_one_warm_up():
    log: list[tuple[str, int, int]] = []
    contestants = [Recorder("plain", log), Recorder("medusa", log, tokens=(1, 3))]
    questions = [(Question(number, "math", "?"), [number]) for number in (7, 8)]
    examined = []

    def examine(prompt: Sequence[int], left: Sequence[int], right: Sequence[int]) -> Parting | None:
        examined.append((prompt, left, right))
        return None if left == right else Parting(1, (2, 3), ("b", "c"), 0.1, False)

    samples = list(measure(contestants, questions, 30, examine))
    assert log[:2] == [("plain", 7, WARM_UP_TOKENS), ("medusa", 7, WARM_UP_TOKENS)]
    assert log[2:] == [("plain", 7, 30), ("medusa", 7, 30), ("medusa", 8, 30), ("plain", 8, 30)]
    assert [list(sample.answers) for sample in samples] == [["plain", "medusa"]] * 2
    assert [list(sample.partings) for sample in samples] == [["medusa"]] * 2
    assert ([8], (1, 2), (1, 3)) in examined


def test_without_plain_nothing_is_held_against_it():
    (sample,) = measure([Recorder("medusa")], [(Question(1, "math", "?"), [1])], 5, lambda *_: 1 / 0)  # type: ignore[arg-type,return-value]
    assert sample.partings == {}


def test_own_decoders_agree_and_count_every_token(session: Session):
    plain, medusa, lookup = (
        OwnDecoder(session, Decoding(name)).answer(PROMPT, 24)  # type: ignore[arg-type]
        for name in ("plain", "medusa", "lookup")
    )
    assert plain.tokens == medusa.tokens == lookup.tokens
    for answer in (plain, medusa, lookup):
        assert answer.decoded == len(answer.tokens) == 24
        assert answer.seconds > 0
        assert answer.prefill_seconds > 0
    assert plain.steps == 24
    assert medusa.steps <= 24


def test_the_peer_is_greedy_whatever_the_generation_config_says(session: Session, tiny_model: Path):
    plain = OwnDecoder(session, Decoding("plain")).answer(PROMPT, 24)
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    # All that a comparison must not have.
    model.generation_config = GenerationConfig(
        do_sample=True, temperature=2.0, repetition_penalty=3.0, max_length=3, num_beams=2, min_new_tokens=20
    )
    answer = generate(model, PROMPT, 24, eos_ids=[])
    assert tuple(answer["tokens"]) == plain.tokens
    # The first token comes with the prompt: it is one of the answer's, but not one that was decoded.
    assert answer["decoded"] == 23
    assert answer["seconds"] > 0
    assert answer["prefill_seconds"] > 0
    assert generate(model, PROMPT, 1, eos_ids=[])["decoded"] == 0
    stop = plain.tokens[10]
    stopped = generate(model, PROMPT, 24, eos_ids=[stop])
    assert tuple(stopped["tokens"]) == plain.tokens[: plain.tokens.index(stop) + 1]


def test_the_peer_answers_from_a_process_that_ends_with_the_run(session: Session, tiny_model: Path):
    plain = OwnDecoder(session, Decoding("plain")).answer(PROMPT, 24)
    with Peer("hf", tiny_model, threads=1, eos_ids=()) as peer:
        answer = peer.answer(PROMPT, 24)
        (process,) = [child for child in psutil.Process().children() if "medusa_chat.bench.peer_hf" in child.cmdline()]
    assert (answer.tokens, answer.decoded, answer.steps) == (plain.tokens, 23, 23)
    assert not process.is_running()


def test_a_peer_that_dies_is_one_sentence_and_its_traceback_goes_into_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    with pytest.raises(MedusaError, match=r"^The peer hf ended with code 1; .* the details are in .*\.$"):
        Peer("hf", tmp_path, threads=1, eos_ids=())
    assert capfd.readouterr() == ("", "")
    assert "Traceback" in log_file().read_text()


def test_the_machine_is_described_in_json_values():
    machine = describe()
    assert {"cpu", "cores", "threads", "memory_gib", "gpu", "torch", "transformers"} <= set(machine)
    assert all(value is None or isinstance(value, str | int | float) for value in machine.values())


def test_own_work_is_not_others(monkeypatch: pytest.MonkeyPatch):
    clocks = iter([(100.0, 50.0, 10.0), (110.0, 58.0, 16.0)])
    monkeypatch.setattr("medusa_chat.bench.machine._clocks", lambda: next(clocks))
    # Of 10 s on all cores 8 were busy, 6 of them with us.
    assert Others().share() == pytest.approx(0.2)
