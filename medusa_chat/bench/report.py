"""A run as JSON: names are stable, more may be added."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from medusa_chat.bench.summary import Summary
from medusa_chat.bench.timed import Sample
from medusa_chat.engine.errors import MedusaError


def as_json(
    suite: str,
    machine: dict[str, Any],
    settings: dict[str, Any],
    samples: Sequence[Sample],
    summaries: Mapping[str, Summary],
) -> dict[str, Any]:
    """The whole run; peers stand beside decoders under their own names."""
    return {
        "suite": suite,
        "machine": machine,
        "settings": settings,
        "decoders": {
            name: {
                **asdict(summary.whole),
                "differences": _differences(samples, name),
                "families": {family: asdict(part) for family, part in summary.families.items()},
                "categories": {category: asdict(part) for category, part in summary.categories.items()},
            }
            for name, summary in summaries.items()
        },
    }


def _differences(samples: Sequence[Sample], name: str) -> list[dict[str, Any]]:
    return [
        {
            "question": sample.question,
            "turn": sample.turn,
            "category": sample.category,
            **asdict(sample.partings[name]),
        }
        for sample in samples
        if name in sample.partings
    ]


def save(report: dict[str, Any], path: Path) -> None:
    """Write as JSON; see `write`."""
    write(json.dumps(report, indent=1) + "\n", path)


def write(text: str, path: Path) -> None:
    """Write in one piece or not at all.

    Raises:
        MedusaError: the file cannot be written.
    """
    unfinished = path.with_name(path.name + ".part")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise MedusaError(f"The results cannot be written to {path}: {error.strerror or error}.") from error
