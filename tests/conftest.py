"""Shared by all tests. Being here it also puts this folder on the import path: `from doubles.... import ...` works."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from medusa_chat.catalog import DEFAULT_MODEL, find

# How long an example takes says more about the machine than about the code.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a crowded test run measures is not left behind for the person's own use."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked `default_model` run where its weights are; their absence is a failure in CI, a skip elsewhere."""
    if item.get_closest_marker("default_model") is None or find(DEFAULT_MODEL).is_here():
        return
    missing = f"the weights of {DEFAULT_MODEL} are not here; get them with `medusa-chat models pull`"
    if os.environ.get("CI"):
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)
