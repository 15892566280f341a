"""Peers as contestants."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from transformers import AutoModelForCausalLM, GenerationConfig

from medusa_chat.bench.decoders import OwnDecoder
from medusa_chat.bench.peer_hf import generate
from medusa_chat.bench.peers import Peer
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding
from medusa_chat.host.session import Session
from medusa_chat.settings.paths import log_file

PROMPT = [3, 50, 60, 70, 80, 90]


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
