"""A pattern agrees with Python's `re` on every pattern that both support."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from runtime.expressions.budget import STEPS, TEXT_LIMIT, Budget
from runtime.expressions.errors import ExpressionError, ExpressionTooCostlyError
from runtime.expressions.pattern import Pattern


def found(pattern: str, text: str) -> bool:
    return Pattern(pattern).found_in(text, Budget())


ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "c",
        " ",
        "_",
        ".",
        r"\w",
        r"\d",
        r"\s",
        r"\W",
        r"\.",
        "[ab]",
        "[^a]",
        "[a-c_]",
        r"[\d-]",
        "[]a]",
        "1",
        "^",
        "$",
        r"\b",
        r"\B",
    ]
)


def repeated(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    count = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,1}", "{,2}", "{2,}", "{0}"])
    return st.one_of(
        st.tuples(inner, count).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"({'|'.join(pair)})"),
    )


PATTERNS = st.recursive(ATOMS, repeated, max_leaves=8)


@settings(max_examples=600, deadline=None)
@given(PATTERNS, st.text("abc _1\n", max_size=8), st.booleans())
def test_pattern_agrees_with_re(pattern: str, text: str, ignore_case: bool) -> None:
    assume(text or r"\B" not in pattern)  # re before Python 3.14 does not find \B in an empty text
    pattern = "(?i)" + pattern.replace("a", "A") if ignore_case else pattern
    # Our $ is the end of the text, which re writes \Z.
    assert found(pattern, text) == (re.search(pattern.replace("$", r"\Z"), text) is not None)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(?s)a.b", "a\nb"),
        ("(?i)ÄRGER", "ärger"),
        ("(?P<name>a)b", "ab"),
        (r"\n", "\n"),
        (r"a\\b", "a\\b"),
        ("", ""),
        ("^$", ""),
        (r"\$5\.\d{2}", "only $5.20"),
        ("[a-]", "-"),
        (r"\<b\>", "a <b> c"),
        (r"[\>\é]\é\ \-", ">é -"),
        (r"\[\&\]\~\#\"\'\/", "[&]~#\"'/"),
    ],
)
def test_more_patterns_agree_with_re(pattern: str, text: str) -> None:
    assert found(pattern, text)
    assert re.search(pattern, text)


@pytest.mark.timeout(60)  # a backtracking matcher would never finish
@pytest.mark.parametrize(
    "pattern", ["(a+)+b", "(a|a)*b", "(a|aa)+$b", "a*a*a*a*a*a*b", "(.*)(.*)(.*)(.*)b", "(a{1,20}){1,20}b", "((a?){10}){10}b"]
)
def test_patterns_with_exponential_backtracking_take_linear_time(pattern: str) -> None:
    assert not found(pattern, "a" * 20_000)


def test_only_the_beginning_of_a_very_long_text_is_searched() -> None:
    assert found("b+", "a" * (TEXT_LIMIT - 1) + "b")
    assert not found("b+", "a" * TEXT_LIMIT + "b")


def test_a_search_with_many_states_ends_soon() -> None:
    text = "".join(Random(1).choices("ab", k=TEXT_LIMIT))
    began = time.process_time()
    with suppress(ExpressionTooCostlyError):
        for copies in (90, 900):
            assert not found(f"[ab]*a[ab]{{{copies}}}c", text)
    assert time.process_time() - began < 3


@pytest.mark.parametrize("pattern", ["[a[b]", "[[:a]+", "[a&&b]", "[~~b]", "[a[b]]", r"[\]a[]", "[]a[]", "[^[a]"])
@pytest.mark.filterwarnings("ignore:Possible")
def test_a_set_of_characters_has_no_sets_in_it(pattern: str) -> None:
    for text in ("a", "b", "[", "&", "~", "]", ":", "a]", "b]", ""):
        assert found(pattern, text) == (re.search(pattern, text) is not None)


def test_half_a_surrogate_pair_is_a_character() -> None:
    assert found("refu.d", "a \ud800 refund")
    assert found("a.b", "a\udc00b")
    assert not found("c.b", "a\udc00b")


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        ")",
        "[",
        "a{",
        "a{x}",
        "a{3,2}",
        "a{1002}",
        "*",
        "a**",
        "a*+",
        "|*",
        "\\",
        r"\q",
        r"\1",
        "(?<=a)",
        "(?!a)",
        "(?x)a b",
        "(?>a)",
        r"[+--]",
        r"\Z",
        "{",
        "[b-a]",
        "(?:" * 40,
        "x" * 501,
        "((a{30}){30}){30}",
    ],
)
def test_unsupported_and_invalid_patterns_are_rejected(pattern: str) -> None:
    with pytest.raises(ExpressionError):
        Pattern(pattern)


@settings(deadline=None)
@given(st.text("ab()[]{}|*+?^$\\.,-123dwsbB", max_size=30))
def test_any_text_is_a_pattern_or_rejected(pattern: str) -> None:
    try:
        found(pattern, "ab1 ab")
    except ExpressionError as error:
        assert 0 <= error.position <= len(pattern)


def test_copies_are_charged_to_the_budget() -> None:
    budget = Budget()
    assert not Pattern("(a|b){1,300}c").found_in("ab" * 20, budget)
    assert STEPS - budget.left > 5 * 40
