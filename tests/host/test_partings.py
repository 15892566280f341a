from __future__ import annotations

import pytest

from medusa_chat.host.partings import Difference, first_difference


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ([], [], None),
        ([1, 2], [1, 2], None),
        ([1, 2, 3], [1, 9, 3], Difference(1, (2, 9))),
        ([4], [5], Difference(0, (4, 5))),
        ([1, 2], [1, 2, 3], Difference(2, (None, 3))),
        ([1, 2, 3], [1, 2], Difference(2, (3, None))),
        ([], [7], Difference(0, (None, 7))),
    ],
)
def test_first_difference(left: list[int], right: list[int], found: Difference | None):
    assert first_difference(left, right) == found


@pytest.mark.parametrize(
    ("left", "right", "cut", "found"),
    [
        ([1, 2], [1, 2, 3], (True, False), None),
        ([1, 2], [1, 2, 3], (False, True), Difference(2, (None, 3))),
        ([1, 2, 3], [1, 2], (False, True), None),
        ([1, 2, 3], [1, 2], (True, False), Difference(2, (3, None))),
        ([], [1], (True, True), None),
        ([1, 9], [1, 2, 3], (True, True), Difference(1, (9, 2))),
    ],
)
def test_answers_cut_short_are_compared_as_far_as_they_got(
    left: list[int], right: list[int], cut: tuple[bool, bool], found: Difference | None
):
    assert first_difference(left, right, cut=cut) == found
