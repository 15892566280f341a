"""Weights from the Hugging Face hub, by its own library and into its own cache (HF_HOME, HF_ENDPOINT, HF_TOKEN)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from medusa_chat.catalog.card import Card
from medusa_chat.catalog.progress import Progress
from medusa_chat.catalog.sources import HubSource
from medusa_chat.catalog.trouble import disk_errors, require_space
from medusa_chat.engine.errors import MedusaError


def pull_hub(card: Card, source: HubSource, on_progress: Progress) -> None:
    """Downloads the snapshot, then writes `card.hub_record`: only with it does the model count as here.

    Raises:
        MedusaError: no such repository, no access, no network, no space.
    """
    from huggingface_hub import constants

    cache = Path(constants.HF_HUB_CACHE)
    with disk_errors(cache):
        cache.mkdir(parents=True, exist_ok=True)
        require_space(cache, card.disk or 0)
        on_progress("asking the hub", None)
        folder = _snapshot(source, on_progress)
    if not (folder / "config.json").is_file():
        raise MedusaError(
            f"The hub repository {source.repo} holds no config.json, so it is not a model transformers can load."
        )
    with disk_errors(card.store):
        card.store.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = card.hub_record.with_suffix(".part")
        record = {"repo": source.repo, "revision": source.revision, "folder": str(folder)}
        fresh.write_text(json.dumps(record), "utf-8")
        os.replace(fresh, card.hub_record)


def _snapshot(source: HubSource, on_progress: Progress) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        return Path(
            snapshot_download(
                source.repo,
                revision=source.revision,
                allow_patterns=list(source.allow),
                tqdm_class=_bar_class(on_progress),
            )
        )
    except GatedRepoError as error:
        raise MedusaError(
            f"The hub repository {source.repo} wants its terms accepted first: do so on its page, then `hf auth login`."
        ) from error
    except RepositoryNotFoundError as error:
        raise MedusaError(
            f"The hub has no repository {source.repo} that you may read: check the name, or `hf auth login`."
        ) from error
    except RevisionNotFoundError as error:
        raise MedusaError(f"The hub repository {source.repo} has no revision {source.revision!r}.") from error
    except LocalEntryNotFoundError as error:
        raise MedusaError(
            f"The hub cannot be reached, or lacks a file of {source.repo}: check the network and start the pull again."
        ) from error
    except Exception as error:
        # The HTTP library beneath is called httpx or httpx2, depending on the hub library's version.
        if isinstance(error, HfHubHTTPError) or type(error).__module__.partition(".")[0] in ("httpx", "httpx2"):
            raise MedusaError(
                f"The download of {source.repo} broke off ({type(error).__name__}): "
                "start the pull again, it goes on where it stopped."
            ) from error
        raise


def _bar_class(on_progress: Progress) -> type[Any]:
    """A tqdm that draws nothing and hands the share of bytes on."""
    from tqdm.auto import tqdm  # type: ignore[import-untyped]

    class Bar(tqdm):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            self._counts_bytes = kwargs.get("unit") == "B"
            super().__init__(*args, **{**kwargs, "disable": True})
            self.done = 0.0
            self.total = kwargs.get("total") or 0

        def update(self, n: float | None = 1) -> bool | None:
            self.done += n or 0
            if self._counts_bytes and self.total:
                on_progress("downloading", min(1.0, self.done / self.total))
            return None

    return Bar
