"""A run's answers as they come, one line a question, so that a run that was broken off can go on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from medusa_chat.bench.differences import Parting
from medusa_chat.bench.timed import Sample, Timed
from medusa_chat.engine.errors import MedusaError


@dataclass(frozen=True, slots=True)
class Journal:
    """A file whose first line says what is measured; every other holds the samples of one question."""

    path: Path
    conditions: dict[str, Any]
    """JSON values. Answers measured under other ones do not belong to this run."""

    @classmethod
    def beside(cls, report: Path, conditions: dict[str, Any]) -> Journal:
        """The one that belongs to a report: `figures.json` has `figures.samples.jsonl`."""
        return cls(report.with_suffix(".samples.jsonl"), json.loads(json.dumps(conditions)))

    def begin(self) -> None:
        """Empty the file.

        Raises:
            MedusaError: it cannot be written.
        """
        self._write("w", {"conditions": self.conditions})

    def add(self, samples: Sequence[Sample]) -> None:
        """The turns of one question.

        Raises:
            MedusaError: the file cannot be written.
        """
        self._write("a", {"samples": [asdict(sample) for sample in samples]})

    def read(self) -> list[tuple[Sample, ...]]:
        """The questions done so far; a line that was being written when the run broke off is cut away.

        Raises:
            MedusaError: there is no such file, it is no journal, or it was measured under other conditions.
        """
        try:
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise MedusaError(
                f"There is no run to go on with: {self.path} cannot be read; leave out --resume."
            ) from error
        whole, _, unfinished = text.rpartition("\n")
        first, *rest = whole.split("\n")
        try:
            self._check(dict(json.loads(first)["conditions"]))
            questions = [tuple(_sample(raw) for raw in json.loads(line)["samples"]) for line in rest]
        except (ValueError, KeyError, TypeError) as error:
            raise MedusaError(
                f"{self.path} does not hold the answers of a run; leave out --resume to begin anew."
            ) from error
        if unfinished:
            self._cut(len((whole + "\n").encode()))
        return questions

    def _check(self, found: dict[str, Any]) -> None:
        for name, value in self.conditions.items():
            if found.get(name) != value:
                raise MedusaError(
                    f"{self.path} was measured with another {name.replace('_', ' ')} ({_short(found.get(name))}, now "
                    f"{_short(value)}); run as before, or leave out --resume to begin anew."
                )

    def _write(self, mode: str, line: dict[str, Any]) -> None:
        try:
            with self.path.open(mode, encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def _cut(self, length: int) -> None:
        try:
            with self.path.open("r+b") as file:
                file.truncate(length)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> MedusaError:
        return MedusaError(f"The answers cannot be written to {self.path}: {error.strerror or error}.")


def _sample(raw: dict[str, Any]) -> Sample:
    answers = {name: Timed(**{**one, "tokens": tuple(one["tokens"])}) for name, one in raw["answers"].items()}
    partings = {
        name: Parting(**{**one, "tokens": tuple(one["tokens"]), "texts": tuple(one["texts"])})
        for name, one in raw["partings"].items()
    }
    return Sample(**{**raw, "answers": answers, "partings": partings})


def _short(value: object, most: int = 60) -> str:
    text = json.dumps(value)
    return text if len(text) <= most else text[: most - 1] + "…"
