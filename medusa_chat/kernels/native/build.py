"""The C sources as a loaded library: compiled for this very CPU once, kept in a folder, found again by what it was made from."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from medusa_chat.kernels.native.structures import Guess, Heads, Linear, Model, Pass

SOURCES = Path(__file__).parent
COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-O3", "-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-pthread", "-shared")
"""No contraction: the same sum must come out of every loop that computes it."""
LONGEST_COMPILE_S = 120


class NativeCodeError(Exception):
    """Why there is no native code here, in one plain sentence."""


@functools.cache
def library(folder: Path, tuning: Sequence[str] = ("-march=native",)) -> ctypes.CDLL:
    """The library, compiled into `folder` unless it lies there already.

    Args:
        tuning: which CPU to compile for; tests ask for older ones.

    Raises:
        NativeCodeError: there is no compiler, or what it made cannot be used.
    """
    command = _command(tuning)
    path = _path(folder, command)
    try:
        if not path.exists():
            _compile(command, path)
        return _declared(ctypes.CDLL(str(path)))
    except (OSError, subprocess.SubprocessError, AttributeError) as error:
        raise NativeCodeError(f"The native CPU path could not be compiled by {command[0]}: {_reason(error)}") from error


def is_compiled(folder: Path, tuning: Sequence[str] = ("-march=native",)) -> bool:
    """Whether `library` has nothing to compile, which takes a while.

    Raises:
        NativeCodeError: there is no compiler.
    """
    return _path(folder, _command(tuning)).exists()


def _command(tuning: Sequence[str]) -> list[str]:
    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        raise NativeCodeError("No C compiler (cc, gcc or clang) was found, so the native CPU path is off.")
    return [compiler, *FLAGS, *tuning]


def _path(folder: Path, command: list[str]) -> Path:
    return folder / f"medusa-{_name(command)}.so"


def _compile(command: list[str], path: Path) -> None:
    """In one piece or not at all: another process may be looking for the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        made = Path(scratch) / path.name
        subprocess.run(
            [*command, str(SOURCES / "step.c"), "-o", str(made), "-lm"],
            check=True,
            capture_output=True,
            text=True,
            timeout=LONGEST_COMPILE_S,
        )
        made.replace(path)


def _name(command: Sequence[str]) -> str:
    """Other sources, flags, compilers or CPUs make another file."""
    parts = [
        *command,
        platform.machine(),
        _cpu(),
        *(file.read_text("utf-8") for file in sorted(SOURCES.glob("*.[ch]"))),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _cpu() -> str:
    """What -march=native looks at: a home folder may be shared by unlike machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return "".join(dict.fromkeys(line for line in lines if line.startswith(("model name", "flags", "Features"))))


def _declared(found: ctypes.CDLL) -> ctypes.CDLL:
    found.medusa_step.argtypes = [ctypes.POINTER(Model), ctypes.POINTER(Pass)]
    found.medusa_step.restype = None
    found.medusa_scratch_bytes.argtypes = [ctypes.POINTER(Model), ctypes.c_int32, ctypes.c_int32]
    found.medusa_scratch_bytes.restype = ctypes.c_int64
    found.medusa_keep.argtypes = [
        ctypes.POINTER(Model),
        *[ctypes.c_void_p] * 2,
        *[ctypes.c_int32] * 2,
        ctypes.c_void_p,
        ctypes.c_int32,
    ]
    found.medusa_keep.restype = None
    found.medusa_linear_bytes.argtypes = [ctypes.c_int32, ctypes.c_int32]
    found.medusa_linear_bytes.restype = ctypes.c_int64
    found.medusa_linear.argtypes = [
        ctypes.POINTER(Linear),
        ctypes.c_void_p,
        ctypes.c_int32,
        *[ctypes.c_void_p] * 2,
        ctypes.c_int32,
    ]
    found.medusa_linear.restype = None
    found.medusa_guess_bytes.argtypes = [ctypes.POINTER(Heads)]
    found.medusa_guess_bytes.restype = ctypes.c_int64
    found.medusa_guess.argtypes = [ctypes.POINTER(Heads), ctypes.POINTER(Guess)]
    found.medusa_guess.restype = None
    return found


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = [line for line in error.stderr.splitlines() if "error" in line] or error.stderr.splitlines()
        return lines[0] if lines else f"it ended with code {error.returncode}."
    return str(error)
