"""What a run of the command line ends with: an exit code and at most one sentence."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from datetime import datetime

import click

from medusa_chat import __version__
from medusa_chat.cli.exit_codes import DONE, FAILED, INTERRUPTED
from medusa_chat.cli.lazy import Context
from medusa_chat.cli.main import cli
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.text.harmless import harmless


def run(arguments: Sequence[str]) -> int:
    """Runs one command. A person sees one sentence for whatever goes wrong, a traceback only with `--debug`."""
    context = Context()
    # Warns on import about a kernel it could download; nothing a person can or should do about.
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    try:
        result = cli.main(list(arguments), prog_name="medusa-chat", standalone_mode=False, obj=context)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except MedusaError as error:
        return _fail(str(error), context)
    except Exception as error:
        return _fail(_unforeseen(error), context)
    return result if isinstance(result, int) else DONE


def _fail(sentence: str, context: Context) -> int:
    if context.debug:
        traceback.print_exc()
    click.echo(f"medusa-chat: {harmless(sentence)}", err=True)
    return FAILED


def _unforeseen(error: Exception) -> str:
    """Keeps the traceback in the log and says where."""
    from medusa_chat.settings.paths import log_file

    name = type(error).__name__
    try:
        path = log_file()
        with path.open("a", encoding="utf-8") as log:
            log.write(f"{datetime.now().isoformat(timespec='seconds')} medusa-chat {__version__}\n")
            log.write(traceback.format_exc())
    except (OSError, MedusaError):
        return f"Something unforeseen went wrong ({name}) and the log cannot be written; --debug shows the details."
    return f"Something unforeseen went wrong ({name}); the details are in {path}."
