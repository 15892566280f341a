"""What a scripted person asks who stays with one subject: growing vegetables."""

from __future__ import annotations

import random

PLANTS = ("tomatoes", "carrots", "beans", "lettuce", "peppers", "onions", "spinach", "cucumbers", "potatoes", "peas")
WISHES = (
    "How do I grow {} in a small garden?",
    "When should I sow {}, and how deep?",
    "How often do {} need water in summer?",
    "Which pests attack {}, and what helps against them?",
    "Can I grow {} in pots on a balcony?",
    "How do I know that {} are ready to be harvested?",
    "What soil do {} like best?",
)


def questions(seed: int = 0) -> list[str]:
    """All of them, in an order of their own."""
    asked = [wish.format(plant) for plant in PLANTS for wish in WISHES]
    random.Random(seed).shuffle(asked)
    return asked
