"""Alignment of two lists: each item once, in order, equal items paired where possible, in bounded time."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.compare.alignment import Item, align


def items(text: str) -> list[Item]:
    """Return an item for each letter; lower and upper case have the same outline."""
    return [Item(letter, letter.lower()) for letter in text]


def shown(left: str, right: str) -> str:
    pairs = align(items(left), items(right))
    return " ".join(("-" if i is None else left[i]) + ("-" if j is None else right[j]) for i, j in pairs)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("", "", ""),
        ("abc", "abc", "aa bb cc"),
        ("abc", "", "a- b- c-"),
        ("abc", "abcd", "aa bb cc -d"),
        ("abc", "axc", "aa b- -x cc"),
        ("abc", "aBc", "aa bB cc"),
        ("abcde", "bcdef", "a- bb cc dd ee -f"),
        ("aaab", "aaaab", "aa aa aa -a bb"),
        ("xabcy", "Xabcy", "xX aa bb cc yy"),
        ("aAAb", "Ac", "a- AA A- b- -c"),
        ("abAb", "ab", "aa bb A- b-"),
    ],
)
def test_examples(left: str, right: str, expected: str) -> None:
    assert shown(left, right) == expected


texts = st.text("aAbBcd", max_size=14)


@given(texts, texts)
def test_each_item_occurs_once_and_in_order(left: str, right: str) -> None:
    pairs = align(items(left), items(right))
    assert [i for i, _ in pairs if i is not None] == list(range(len(left)))
    assert [j for _, j in pairs if j is not None] == list(range(len(right)))
    assert all(left[i].lower() == right[j].lower() for i, j in pairs if i is not None and j is not None)


@given(texts, texts, texts)
def test_a_common_beginning_and_end_stay_together(begin: str, left: str, right: str) -> None:
    pairs = align(items(begin + left), items(begin + right))
    assert pairs[: len(begin)] == [(n, n) for n in range(len(begin))]


_N = 10_000
_LARGE: dict[str, Callable[[random.Random], tuple[list[Item], list[Item]]]] = {
    "alike, none the same": lambda r: ([Item(("l", n), "x") for n in range(_N)], [Item(("r", n), "x") for n in range(_N)]),
    "nothing in common": lambda r: ([Item(("l", n), "l") for n in range(_N)], [Item(("r", n), "r") for n in range(_N)]),
    "two contents": lambda r: ([Item(r.randrange(2), 0) for _ in range(_N)], [Item(r.randrange(2), 0) for _ in range(_N)]),
    "shuffled": lambda r: ([Item(n, 0) for n in range(_N)], [Item(n, 0) for n in r.sample(range(_N), _N)]),
    "backwards": lambda r: ([Item(n, 0) for n in range(_N)], [Item(n, 0) for n in reversed(range(_N))]),
    "every tenth another": lambda r: (
        [Item(n, 0) for n in range(_N)],
        [Item((n, n % 10 == 0), 0) if n % 10 == 0 else Item(n, 0) for n in range(_N)],
    ),
}


@pytest.mark.parametrize("name", _LARGE)
def test_lists_of_ten_thousand_items_are_aligned_in_bounded_time(name: str) -> None:
    left, right = _LARGE[name](random.Random(1))
    pairs = align(left, right)
    assert [i for i, _ in pairs if i is not None] == list(range(_N))
    assert [j for _, j in pairs if j is not None] == list(range(_N))


def test_insertions_are_found_in_long_lists() -> None:
    left = [Item(n, 0) for n in range(2_000)]
    right = [*left[:700], Item("new", 1), *left[700:1500], *left[1510:]]
    pairs = align(left, right)
    assert [pair for pair in pairs if None in pair] == [(None, 700), *((n, None) for n in range(1500, 1510))]
