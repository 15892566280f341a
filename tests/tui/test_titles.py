"""What the palette calls things."""

from __future__ import annotations

from medusa_chat.tui.bound import every_binding
from medusa_chat.tui.titles import _TITLES, title_of


def test_titles_are_of_actions_there_are():
    assert set(_TITLES) <= {each.id for each in every_binding()}


def test_a_title_says_what_it_is_about_without_its_place():
    for each in every_binding():
        if each.area in ("chat", "composer", "message", "sidebar", "conversations"):
            assert title_of(each.binding) == "Models" or " " in title_of(each.binding), each.id
