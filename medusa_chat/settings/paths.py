"""Where files live: one function per folder, made on first use and readable by its owner alone.

Settings and themes of the user's own lie in the config folder, pulled models and conversations in the data
folder, the log in the state folder, measured costs in the cache folder. MEDUSA_CHAT_HOME moves all of them below
one folder. Importing this file touches no disk.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import platformdirs

from medusa_chat.engine.errors import MedusaError

APP = "medusa-chat"
HOME_VARIABLE = "MEDUSA_CHAT_HOME"

_PACKAGE = Path(__file__).resolve().parent.parent


def config_dir() -> Path:
    return _made(_base("config") or platformdirs.user_config_path(APP, appauthor=False))


def data_dir() -> Path:
    return _made(_base("data") or platformdirs.user_data_path(APP, appauthor=False))


def state_dir() -> Path:
    return _made(_base("state") or platformdirs.user_state_path(APP, appauthor=False))


def cache_dir() -> Path:
    return _made(_base("cache") or platformdirs.user_cache_path(APP, appauthor=False))


def models_dir() -> Path:
    """One folder per model: its pulled weights, and the user's own card and heads for it."""
    return _made(data_dir() / "models")


def chats_file() -> Path:
    """All conversations. The file may not exist yet; its folder does."""
    return data_dir() / "chats.db"


def log_file() -> Path:
    """The file may not exist yet; its folder does."""
    return state_dir() / f"{APP}.log"


def prompts_file() -> Path:
    """Prompts asked before, one JSON object a line. The file may not exist yet; its folder does."""
    return state_dir() / "prompts.jsonl"


def draft_file() -> Path:
    """What was typed and not sent. The file may not exist yet; its folder does."""
    return state_dir() / "draft.txt"


def native_dir() -> Path:
    """Code compiled for this CPU."""
    return _made(cache_dir() / "native")


def cost_file(name: str) -> Path:
    """What passes cost, measured; `name` stands for machine, model and precision. The file may not exist yet."""
    return _made(cache_dir() / "costs") / f"{name}.json"


def bundled_dir(what: Literal["models", "themes"]) -> Path:
    """The folder of files that came with the program: inside the package when installed, beside it in a checkout.

    The folder of a checkout only counts beside the project's own pyproject.toml, so that a stranger's `models` in
    site-packages is never taken for ours.

    Raises:
        MedusaError: the installation lacks the folder.
    """
    installed = _PACKAGE / what
    if installed.is_dir():
        return installed
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / what).is_dir():
        return checkout / what
    raise MedusaError(f"This installation of {APP} lacks its folder of {what}: install it again.")


def _base(kind: str) -> Path | None:
    home = os.environ.get(HOME_VARIABLE)
    return Path(home).expanduser().absolute() / kind if home else None


def _made(folder: Path) -> Path:
    if folder.is_dir():
        return folder
    try:
        # Path.mkdir gives parents the default mode, so each missing one is made by hand.
        for missing in reversed([folder, *folder.parents]):
            if not missing.is_dir():
                missing.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise MedusaError(
            f"The folder {folder} cannot be made ({error.strerror}): set {HOME_VARIABLE} to a folder you can write to."
        ) from error
    return folder
