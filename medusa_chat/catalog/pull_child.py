"""One pull in a process of its own: `python -m ... NAME`, progress as JSON lines, ended by an interrupt.

Whatever a pull waits for (a connection, a hash, the conversion), it can be ended at once, and nothing it prints reaches
the screen.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from _thread import interrupt_main
from time import sleep

from medusa_chat import catalog
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings import paths

TELL_SECONDS = 0.1

_logger = logging.getLogger(__name__)


def main(arguments: list[str]) -> int:
    """130 when interrupted, 1 when something is in the way: the last line then says what, in one sentence."""
    (name,) = arguments
    try:
        catalog.pull(catalog.find(name), _Teller())
    except KeyboardInterrupt:
        return 130
    except MedusaError as error:
        _say(problem=str(error))
        return 1
    except Exception as error:
        _logger.exception("the pull of %s failed", name)
        _say(problem=f"The pull failed ({type(error).__name__}); pull again, details are in {paths.log_file()}.")
        return 1
    return 0


class _Teller:
    """Every chunk reports; a reader hears ten times a second of what changed, and the newest also when nothing follows."""

    def __init__(self) -> None:
        self._newest: tuple[str, float | None] | None = None
        self._told: tuple[str, float | None] | None = None
        threading.Thread(target=self._keep_telling, daemon=True).start()

    def __call__(self, stage: str, done: float | None) -> None:
        self._newest = (stage, done)

    def _keep_telling(self) -> None:
        try:
            while True:
                newest = self._newest
                if newest is not None and newest != self._told:
                    self._told = newest
                    _say(stage=newest[0], done=newest[1])
                sleep(TELL_SECONDS)
        except OSError:
            interrupt_main()  # nobody listens any more: whoever wanted the pull is gone


def _say(**message: object) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
