"""How parallel branches take turns makes no difference; everything else does."""

from __future__ import annotations

import random

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from runtime.compare.branch_order import by_branch
from runtime.compare.comparison import Row, compare
from runtime.events import Event


def said(text: str, branch: str | None = None) -> Event:
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return Event(author=branch or "root", branch=branch, content=content)


def events_of(*said_by: str) -> list[Event]:
    """Return events, each written `branch:text`; without a branch, `:text`."""
    return [said(text, branch or None) for branch, _, text in (each.partition(":") for each in said_by)]


def are_parallel(one: str | None, other: str | None) -> bool:
    first, second = ((each or "").split(".") if each else [] for each in (one, other))
    return first[: len(second)] != second and second[: len(first)] != first


def test_branches_in_another_order_are_the_same() -> None:
    left = events_of(":go", "p.a:1", "p.b:1", "p.a:2", "p.b:2", ":done")
    right = events_of(":go", "p.b:1", "p.b:2", "p.a:1", "p.a:2", ":done")
    found = compare(left, right)
    assert found.differing == []
    assert [(row.left, row.right) for row in found.rows] == [(0, 0), (1, 3), (2, 1), (3, 4), (4, 2), (5, 5)]


def test_one_other_answer_is_one_difference() -> None:
    left = events_of(":go", "p.a:1", "p.b:1", "p.a:2", ":done")
    right = events_of(":go", "p.b:other", "p.a:1", "p.a:2", ":done")
    found = compare(left, right)
    assert [found.rows[number] for number in found.differing] == [Row(2, 1, same=False)]


def test_an_event_more_is_beside_those_of_its_branch() -> None:
    left = events_of(":go", "p.a:1", "p.b:1", "p.a:2", ":done")
    right = events_of(":go", "p.b:1", "p.b:more", "p.a:1", "p.a:2", ":done")
    found = compare(left, right)
    assert [found.rows[number] for number in found.differing] == [Row(None, 2, same=False)]
    assert [row.right for row in found.rows] == [0, 3, 1, 2, 4, 5]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((":a", ":b"), (":b", ":a")),
        (("p.a:1", "p.a:2"), ("p.a:2", "p.a:1")),
        (("p:1", "p.a:2"), ("p.a:2", "p:1")),
        (("p.a:1", ":x", "p.b:1"), ("p.b:1", ":x", "p.a:1")),
        (("p.a:1", "p.a.q.x:2"), ("p.a.q.x:2", "p.a:1")),
    ],
    ids=["no branch", "one branch", "a branch and one within it", "another turn", "a nested branch"],
)
def test_another_order_of_what_is_not_parallel_is_a_difference(left: tuple[str, ...], right: tuple[str, ...]) -> None:
    assert compare(events_of(*left), events_of(*right)).differing


def test_a_name_that_begins_with_another_is_another_branch() -> None:
    assert compare(events_of("p.a:1", "p.ab:1"), events_of("p.ab:1", "p.a:1")).differing == []


BRANCHES = st.sampled_from([None, "p", "p.a", "p.b", "p.ab", "p.a.q.x", "p.a.q.y", "r.c"])


@given(st.lists(BRANCHES, max_size=30), st.randoms(use_true_random=False))
def test_any_turns_have_the_same_result(branches: list[str | None], chance: random.Random) -> None:
    left = [said(str(number), branch) for number, branch in enumerate(branches)]
    right = list(left)
    for _ in range(200):
        place = chance.randrange(max(len(right) - 1, 1))
        if place + 1 < len(right) and are_parallel(right[place].branch, right[place + 1].branch):
            right[place], right[place + 1] = right[place + 1], right[place]
    assert [left[index] for index in by_branch(left)] == [right[index] for index in by_branch(right)]
    found = compare(left, right)
    assert found.differing == [] and [row.left for row in found.rows] == list(range(len(left)))
    assert sorted(row.right for row in found.rows if row.right is not None) == list(range(len(right)))


def test_without_parallel_branches_nothing_is_moved() -> None:
    events = events_of(":a", "p.a:1", "p.a:2", ":b", "q:1")
    assert by_branch(events) == list(range(len(events)))


def test_a_deep_branch_is_ordered() -> None:
    deep = ".".join(["a"] * 20_000)
    assert by_branch([said("1", deep), said("2", deep)]) == [0, 1]
