"""The engine's process: `python -m medusa_chat.host.child`, started by `host.process`, spoken to over stdin and stdout."""

from __future__ import annotations

import faulthandler
import logging
import os
import signal

from medusa_chat.host.channel import Channel
from medusa_chat.host.messages import Load
from medusa_chat.host.seam import OnProgress, OpenSession, ServedSession
from medusa_chat.host.serving import Service
from medusa_chat.settings import paths

_QUIET = {
    # Forking after the tokenizer's threads started would deadlock; it warns about that on every fork otherwise.
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
}
"""Read by the libraries when they are imported; what a person has set stays."""


def open_session(load: Load, on_progress: OnProgress) -> ServedSession:
    """Where torch and transformers get imported: not before there is something to load, and told first."""
    on_progress("loading torch", None)
    from medusa_chat.host.served import open_served

    return open_served(load, on_progress)


def main(opener: OpenSession = open_session) -> None:
    """Serve the screen at the other end of stdin and stdout until it says goodbye or is gone."""
    channel = _take_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    Service(channel, opener, paths.log_file(), at_end=_leave).run()


def _take_pipes() -> Channel:
    """Keep stdin and stdout for messages alone: whatever prints from now on prints into the log, as stderr does."""
    channel = Channel(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return channel


def _leave() -> None:
    """At once, in the middle of whatever the main thread does: nobody is left to tell."""
    os._exit(0)


if __name__ == "__main__":
    main()
