"""Values as labelled fields."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector_app.detail.fields_html import MOST_FIELDS, MOST_TEXT, Fields

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)


def text(value: Any) -> str:
    """Return what is read of a value's fields: cells and lines separated by spaces."""
    return unescape(re.sub(r"<[^>]*>", " ", Fields().html(value))).replace("\xa0", " ").strip()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"city": "Lisbon", "nights": 4}, "city Lisbon nights 4"),
        ({"result": "done"}, "done"),
        ({"result": "done", "more": None}, "result done more none"),
        ({"flights": [{"no": "TP 1203"}, {"no": "LH 1790"}]}, "flights 1 no TP 1203 2 no LH 1790"),
        ({"tags": ["a", "b"]}, "tags a,  b"),
        ({}, "empty"),
        ("", "empty text"),
        ("<b>&", "<b>&"),
        ("two\n  lines", "two   lines"),
        ({"a\u202eb": "\x07"}, "a⟨U+202E⟩b ⟨U+0007⟩"),
        (True, "true"),
    ],
)
def test_a_value_is_read_as_fields(value: Any, shown: str) -> None:
    assert re.sub(r"\s+", " ", text(value)) == re.sub(r"\s+", " ", shown)


@given(json_values)
def test_no_text_of_an_agent_becomes_html(value: Any) -> None:
    tags = set(re.findall(r"<(/?\w+)", Fields().html(value)))
    assert tags <= {f"{end}{tag}" for end in ("", "/") for tag in ("table", "tr", "td", "span")} | {"br"}


def test_long_values_are_cut_and_say_so() -> None:
    fields = Fields()
    assert f"{1_000 - MOST_FIELDS:,} more, see JSON" in fields.html({f"k{number}": number for number in range(1_000)}) and fields.is_full
    assert len(text({"a": "x" * (MOST_TEXT + 7)})) < MOST_TEXT + 60 and "(7 more characters, see JSON)" in text(
        {"a": "x" * (MOST_TEXT + 7)}
    )
    deep: Any = "leaf"
    for _ in range(500):
        deep = {"in": deep}
    assert len(text(deep)) < 1_000
