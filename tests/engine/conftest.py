"""Backbones that tests of the engine share: tiny, one of each family, each beside an untouched reference."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from doubles.engine_bench import Bench
from doubles.tiny_families import FAMILIES, family_pair


@pytest.fixture(scope="session")
def benches() -> Callable[[str], Bench]:
    made: dict[str, Bench] = {}

    def get(family: str) -> Bench:
        if family not in made:
            made[family] = Bench(*family_pair(family))
        made[family].backbone.rewind(0)
        return made[family]

    return get


@pytest.fixture(params=FAMILIES)
def bench(request: pytest.FixtureRequest, benches: Callable[[str], Bench]) -> Bench:
    """One of each family, cache empty."""
    return benches(request.param)


@pytest.fixture
def llama(benches: Callable[[str], Bench]) -> Bench:
    return benches("llama")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tiny matrices only lose by being shared out."""
    torch.set_num_threads(1)
