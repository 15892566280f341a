"""The figures of a run: over all questions, by family and by category."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from medusa_chat.bench.families import family_of
from medusa_chat.bench.figures import Figures, figures
from medusa_chat.bench.timed import Sample


@dataclass(frozen=True, slots=True)
class Summary:
    """Of one contestant; parts stand in the suite's order."""

    whole: Figures
    families: dict[str, Figures]
    categories: dict[str, Figures]


def summarise(samples: Sequence[Sample]) -> dict[str, Summary]:
    """By contestant."""
    names = list(samples[0].answers) if samples else []
    return {name: _summary(samples, name) for name in names}


def _summary(samples: Sequence[Sample], name: str) -> Summary:
    categories = _groups(samples, lambda sample: sample.category)
    families = _groups(samples, lambda sample: family_of(sample.category))
    by_category = {category: figures(members, name) for category, members in categories.items()}
    return Summary(
        figures(samples, name),
        {
            # Most families are one category of the same name.
            family: by_category[family] if family in by_category else figures(members, name)
            for family, members in families.items()
        },
        by_category,
    )


def _groups(samples: Sequence[Sample], key: Callable[[Sample], str]) -> dict[str, list[Sample]]:
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(key(sample), []).append(sample)
    return groups
