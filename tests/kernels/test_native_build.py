"""Compiling: once, kept, and never more than a plain sentence when it cannot be done."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from doubles.native_library import compiled

from medusa_chat.kernels.native import build
from medusa_chat.kernels.native.build import NativeCodeError, is_compiled, library


@pytest.fixture(autouse=True)
def _forget() -> None:
    library.cache_clear()


def fake_compiler(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "cc"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(build, "COMPILERS", (str(program),))


def test_no_compiler_is_said_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "COMPILERS", ("no-such-compiler",))
    with pytest.raises(NativeCodeError, match=r"No C compiler .* was found, so the native CPU path is off\."):
        library(tmp_path)


def test_a_compiler_that_fails_is_quoted_by_its_first_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_compiler(tmp_path, "echo 'in file' >&2; echo 'step.c: error: no luck' >&2; exit 1", monkeypatch)
    with pytest.raises(NativeCodeError, match=r"could not be compiled by .*cc: step\.c: error: no luck"):
        library(tmp_path / "made")
    assert not list((tmp_path / "made").iterdir())


def test_something_that_is_no_library_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_compiler(tmp_path, 'while [ "$1" != -o ]; do shift; done; echo junk > "$2"', monkeypatch)
    with pytest.raises(NativeCodeError, match="could not be compiled"):
        library(tmp_path / "made")


def test_a_folder_that_cannot_be_written_is_said_plainly(tmp_path: Path) -> None:
    compiled()
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(NativeCodeError, match="could not be compiled"):
        library(tmp_path / "file" / "folder")


def test_it_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled()
    library(tmp_path)
    made = [(path, path.stat().st_mtime_ns) for path in tmp_path.iterdir()]
    library.cache_clear()
    library(tmp_path)
    assert [(path, path.stat().st_mtime_ns) for path in tmp_path.iterdir()] == made
    assert len(made) == 1


def test_what_lies_compiled_is_known_before_it_is_loaded(tmp_path: Path) -> None:
    compiled()
    assert not is_compiled(tmp_path)
    library(tmp_path)
    assert is_compiled(tmp_path)
    assert not is_compiled(tmp_path, ())
