from __future__ import annotations

import pytest

from inspector_app.presentation.value_differences import MOST_PLACES, NOTHING, Difference, differences, marked


def test_differences_inside_objects_and_lists() -> None:
    before = {"cart": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}], "old": 1, "same": [1, 2], "odd key": 1}
    after = {"cart": [{"sku": "a", "n": 3}], "same": [1, 2], "new": {}, "odd key": True}
    assert differences(before, after) == (
        [
            Difference(".cart[0].n", 1, 3),
            Difference(".cart[1]", {"sku": "b", "n": 2}, NOTHING),
            Difference(".old", 1, NOTHING),
            Difference("['odd key']", 1, True),
            Difference(".new", NOTHING, {}),
        ],
        False,
    )


def test_values_of_different_kinds_are_one_difference() -> None:
    assert differences([1], {"a": 1}) == ([Difference("", [1], {"a": 1})], False)
    assert differences({"a": 1}, {"a": 1}) == ([], False)


def test_the_differences_of_a_large_change_are_bounded() -> None:
    found, more = differences(list(range(10_000)), list(range(1, 10_001)))
    assert (len(found), more) == (MOST_PLACES, True)


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("total 168.00 euro", "total 154.56 euro", ("168.00", "154.56")),
        ("abc", "abXc", ("abc", "abXc")),
        ("aaa", "aa", ("aaa", "aa")),
        ("", "new", ("", "new")),
        ("The night the lamp", "The nine of the lamp", ("night", "nine of")),
        ("x" * 500 + "old" + "y" * 500, "x" * 500 + "new" + "y" * 500, ("old", "new")),
    ],
)
def test_the_differing_part_of_texts_is_marked(before: str, after: str, parts: tuple[str, str]) -> None:
    shown = marked(before, after)
    assert tuple(text.text[text.start : text.end] for text in shown) == parts
    assert all(len(text.text) < 300 for text in shown)
