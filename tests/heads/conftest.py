"""A tiny backbone for heads to attach to."""

from __future__ import annotations

import pytest
from doubles.small_backbone import small_backbone

from medusa_chat.engine.backbone import Backbone


@pytest.fixture(scope="session")
def backbone() -> Backbone:
    return small_backbone()
