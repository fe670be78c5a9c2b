"""The fast column readers return the same values as the standard library."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import UnstorableValueError
from runtime.storage.layouts.column_values import as_text, load_json_object, read_epoch, read_time, to_epoch, to_micros

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=5), st.booleans())
def test_json_reads_as_with_the_standard_library(value: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert repr(load_json_object(text)) == repr(json.loads(text))
    assert repr(load_json_object(text.encode())) == repr(json.loads(text))


@pytest.mark.parametrize(
    "text", ['{"k": "\\ud83d"}', '{"k": NaN, "l": -Infinity}', '{"k": 1e400}', '{"k": 1, "k": 2}', '{"a":' * 150 + "{}" + "}" * 150]
)
def test_unusual_json_reads_as_with_the_standard_library(text: str) -> None:
    assert repr(load_json_object(text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["", "{", '{"k": 01}', "[1]", '{"a":' * 100_000])
def test_text_that_is_not_a_json_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        load_json_object(text)


@given(st.integers(0, 253_402_300_799_999_999))
def test_read_epoch_equals_read_time(micros: int) -> None:
    assert read_epoch(as_text(micros)) == to_epoch(micros)


@pytest.mark.parametrize(
    "value", ["2026-01-02T03:04:05", "2026-01-02 03:04:05+02:00", 5, 5.25, datetime(2026, 1, 2), "2026-01-02 03:04:05.5"]
)
def test_every_form_of_a_time_is_read(value: Any) -> None:
    assert read_epoch(value) == to_epoch(read_time(value))


@pytest.mark.parametrize("value", [None, True, "yesterday", ""])
def test_a_value_that_is_not_a_time_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        read_epoch(value)


@pytest.mark.parametrize(("epoch", "hint"), [(1.8e12, "milliseconds"), (-1e12, "years 1 to 9999")])
def test_a_time_outside_the_years_1_to_9999_is_refused_with_a_hint(epoch: float, hint: str) -> None:
    with pytest.raises(UnstorableValueError, match=hint):
        as_text(to_micros(epoch))
