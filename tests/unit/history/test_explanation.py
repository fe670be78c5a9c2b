"""Present values explained by recorded writes."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.history.explanation import explain, merge_patch


@pytest.mark.parametrize(
    ("old", "patch", "merged"),
    [
        ({"a": 1}, {"b": {"c": 2}}, {"a": 1, "b": {"c": 2}}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"c": 2}}),
        ([1], {"a": 1}, {"a": 1}),
        ({"a": 1}, [2], [2]),
    ],
)
def test_merge_patch(old: Any, patch: Any, merged: Any) -> None:
    assert merge_patch(old, patch) == merged


def test_present_values_are_explained_by_plain_writes_or_merge_patches() -> None:
    writes = {"plain": [1, 2], "merged": [{"a": 1}, {"b": 2}], "gone": [{"a": 1}, None], "odd": [1]}
    assert explain(writes, {"plain": 2, "merged": {"a": 1, "b": 2}, "odd": 2}) == ({"merged", "gone"}, {"odd"})
