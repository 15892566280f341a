"""A run as JSON: names are stable, more may be added."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from medusa_chat.bench.figures import Figures, figures
from medusa_chat.bench.timed import Sample
from medusa_chat.engine.errors import MedusaError


def by_category(samples: Sequence[Sample], name: str) -> dict[str, Figures]:
    """Figures of one contestant for each category, in the suite's order."""
    categories = dict.fromkeys(sample.category for sample in samples)
    return {
        category: figures([sample for sample in samples if sample.category == category], name)
        for category in categories
    }


def as_json(
    suite: str,
    machine: dict[str, Any],
    settings: dict[str, Any],
    samples: Sequence[Sample],
) -> dict[str, Any]:
    """The whole run; peers stand beside decoders under their own names."""
    names = list(samples[0].answers) if samples else []
    return {
        "suite": suite,
        "machine": machine,
        "settings": settings,
        "decoders": {
            name: {
                **asdict(figures(samples, name)),
                "differences": [
                    {"question": sample.question, "category": sample.category, **asdict(sample.partings[name])}
                    for sample in samples
                    if name in sample.partings
                ],
                "categories": {category: asdict(part) for category, part in by_category(samples, name).items()},
            }
            for name in names
        },
    }


def save(report: dict[str, Any], path: Path) -> None:
    """Write in one piece or not at all.

    Raises:
        MedusaError: the file cannot be written.
    """
    unfinished = path.with_name(path.name + ".part")
    try:
        unfinished.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise MedusaError(f"The results cannot be written to {path}: {error.strerror or error}.") from error
