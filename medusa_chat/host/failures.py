"""What went wrong, as one plain sentence with a way out. Free of torch: both processes say it."""

from __future__ import annotations

import errno
import signal
from pathlib import Path

from medusa_chat.engine.errors import MedusaError
from medusa_chat.host.messages import Failed

_SAVE_MEMORY = "take a smaller budget, a shorter conversation or 4-bit weights (nf4)"
_SAVE_MEMORY_LOADING = "close other programs, or take a smaller model or 4-bit weights (nf4)"


def from_exception(error: Exception, *, answer: int | None, loading: bool, log: Path) -> Failed:
    """The engine caught an error and goes on."""
    if isinstance(error, MedusaError):
        return Failed("refused", str(error), answer)
    if is_memory(error):
        advice = _SAVE_MEMORY_LOADING if loading else _SAVE_MEMORY
        return Failed("memory", f"Memory ran out; {advice}, then try again.", answer)
    return Failed(
        "internal",
        f"Something went wrong inside the engine ({type(error).__name__}); try again, and if it happens again, "
        f"report it with the end of {log}.",
        answer,
    )


def from_death(returncode: int, *, answer: int | None, loading: bool, log: Path) -> Failed:
    """The engine's process ended without being asked to.

    `returncode` is that of `subprocess.Popen`: negative for a signal.
    """
    what = "The engine could not load the model: its process" if loading else "The engine's process"
    again = "load it again" if loading else "send your message again: the engine restarts by itself"
    if returncode == -_number("SIGKILL"):
        advice = _SAVE_MEMORY_LOADING if loading else _SAVE_MEMORY
        return Failed("died", f"{what} was killed (SIGKILL), most likely because memory ran out; {advice}.", answer)
    if returncode in (-_number("SIGTERM"), -_number("SIGHUP"), -_number("SIGINT")):
        return Failed("died", f"{what} was ended from outside ({_name(returncode)}); {again}.", answer)
    ended = f"crashed ({_name(returncode)})" if returncode < 0 else f"ended unexpectedly ({_name(returncode)})"
    return Failed("died", f"{what} {ended}; {again}, and if it happens again, look at the end of {log}.", answer)


def from_failed_start(error: OSError, *, answer: int | None) -> Failed:
    """The engine's process could not even be started (no memory, no such program, a log that cannot be written)."""
    reason = error.strerror or type(error).__name__
    where = f": {error.filename}" if error.filename else ""
    return Failed("died", f"The engine's process could not be started ({reason}{where}); put that right.", answer)


def is_memory(error: Exception) -> bool:
    """Memory of the machine or of the card. Torch says so with its own class on cards and with a text on CPUs."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error)


def _number(name: str) -> int:
    """0 where the system has no such signal."""
    return int(getattr(signal, name, 0))


def _name(returncode: int) -> str:
    if returncode >= 0:
        return f"exit code {returncode}" if returncode < 256 else f"exit code {returncode:#x}"
    try:
        return signal.Signals(-returncode).name
    except ValueError:
        return f"signal {-returncode}"
