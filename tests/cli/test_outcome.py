"""Exit codes and the one sentence for whatever goes wrong."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from medusa_chat.cli import main
from medusa_chat.cli.lazy import LazyCommand
from medusa_chat.engine.errors import MedusaError


@click.command("stub")
@click.argument("what")
def stub(what: str) -> int | None:
    problems: dict[str, BaseException] = {
        "refused": MedusaError("The \x1b[31mthing is missing; get it."),
        "bug": ValueError("secret of the conversation"),
        "interrupted": KeyboardInterrupt(),
    }
    if what in problems:
        raise problems[what]
    return 130 if what == "cancelled" else None


@pytest.fixture(autouse=True)
def _stub_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(main.COMMANDS, "stub", LazyCommand(f"{__name__}:stub", "For tests."))


def test_done(medusa):
    assert medusa("stub", "fine") == medusa("stub", "fine")
    assert medusa("stub", "fine").code == 0


def test_the_code_a_command_returns_is_the_exit_code(medusa):
    assert medusa("stub", "cancelled").code == 130


def test_an_error_for_people_is_one_harmless_line(medusa):
    ended = medusa("stub", "refused")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "medusa-chat: The \N{SYMBOL FOR ESCAPE}[31mthing is missing; get it.\n"


def test_a_bug_is_one_line_naming_the_log_that_holds_the_traceback(medusa, tmp_path: Path):
    ended = medusa("stub", "bug")
    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert "secret" not in ended.err
    found = re.search(r"the details are in (\S+)\.$", ended.err.strip())
    assert found is not None
    log = Path(found[1])
    assert log.is_relative_to(tmp_path / "home")
    assert "ValueError: secret of the conversation" in log.read_text()


def test_a_bug_with_a_log_that_cannot_be_written_is_still_one_line(medusa, tmp_path: Path):
    (tmp_path / "home").write_text("a file where the folder should be")
    ended = medusa("stub", "bug")
    assert (ended.code, ended.err.count("\n")) == (1, 1)
    assert "the log cannot be written" in ended.err


@pytest.mark.parametrize("arguments", [("--debug", "stub", "bug"), ("stub", "--debug", "bug")])
def test_debug_shows_the_traceback(medusa, arguments: tuple[str, ...]):
    ended = medusa(*arguments)
    assert ended.code == 1
    assert "ValueError: secret of the conversation" in ended.err


def test_interrupted(medusa):
    ended = medusa("stub", "interrupted")
    assert (ended.code, ended.err.strip()) == (130, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rum"], "Did you mean 'run'?"),
        (["Why is the sky blue?"], 'To ask a question: medusa-chat run "..."'),
        (["--modl", "x"], "--model"),
        (["run", "--temprature", "1", "hi"], "--temperature"),
        (["run", "--temperature", "warm", "hi"], "not a valid float"),
        (["run", "--temperature", "-1", "hi"], "it must be between 0 and 10"),
        (["run", "--rule", "lucky", "hi"], "lossless"),
        (["run", "--max-tokens", "0", "hi"], "max tokens is 0"),
        (["compare", "--decoders", "plain,magic", "hi"], "magic is none of plain, joint, medusa, lookup, recycle"),
        (["compare", "--decoders", ",", "hi"], "is none of"),
        (["--model", "x", "run", "hi"], "put it after 'run'"),
        (["bench"], "SUITE"),
        (["bench", "x.jsonl", "--peer", "hg"], "hf-lookup"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_what_would_be_right(medusa, arguments: list[str], said: str):
    ended = medusa(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


def test_the_bare_command_without_a_terminal_points_to_run(medusa):
    ended = medusa()
    assert (ended.code, ended.err.count("\n")) == (1, 1)
    assert "medusa-chat run" in ended.err
