"""Data and backbones small enough to train heads on in a second."""

from __future__ import annotations

import random

import pytest
from doubles.small_backbone import small_backbone

from medusa_chat.engine.backbone import Backbone
from medusa_chat.training.conversations import Conversation


@pytest.fixture
def backbone() -> Backbone:
    return small_backbone()


@pytest.fixture(scope="session")
def conversations() -> list[Conversation]:
    """60 answers of random tokens; every other one ends with the end token (1), the others were cut off."""
    dice = random.Random(9)
    made = []
    for number in range(60):
        prompt = tuple(dice.randrange(2, 120) for _ in range(dice.randrange(3, 9)))
        answer = tuple(dice.randrange(2, 120) for _ in range(dice.randrange(1, 14)))
        made.append(Conversation.single(prompt, (*answer, 1) if number % 2 else answer, sampled=number % 3 == 0))
    return made
