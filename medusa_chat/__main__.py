"""`python -m medusa_chat` and the `medusa-chat` script."""

from __future__ import annotations

import os
import sys

ENVIRONMENT = {
    "TOKENIZERS_PARALLELISM": "false",  # its threads take the cores the backbone computes on
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",  # progress is shown by us
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
}
"""What the libraries read when they are imported; a person's own settings win."""


def main() -> None:
    """Runs the command line and exits with its code."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        from medusa_chat.cli.outcome import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
