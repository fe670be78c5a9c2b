from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector_app.presentation.strict_json import event_json, strict_json
from runtime.events import Event, EventActions

NAN = math.nan


def refuse(text: str) -> None:
    raise AssertionError(f"{text} is no JSON")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@settings(max_examples=40)
@given(VALUES)
def test_every_value_becomes_valid_json(value: object) -> None:
    json.loads(strict_json(value), parse_constant=refuse)
    assert strict_json(value, ascii_only=True).isascii()


def test_numbers_that_json_does_not_have_are_null_and_noted() -> None:
    value = {"session": {"rate": NAN, "a/b~": [1.5, math.inf]}, "user": {"low": -math.inf}}
    assert json.loads(strict_json(value)) == {
        "session": {"rate": None, "a/b~": [1.5, None]},
        "user": {"low": None},
        "not_finite": {"/session/rate": "NaN", "/session/a~1b~0/1": "Infinity", "/user/low": "-Infinity"},
    }
    assert json.loads(strict_json([{"a": 1.0}, {"a": NAN}])) == [{"a": 1.0}, {"a": None, "not_finite": {"/a": "NaN"}}]


@pytest.mark.parametrize("value", [{"a": [1, None, "NaN", {"b": 0.5}]}, [], "Infinity", None])
def test_other_values_are_unchanged(value: object) -> None:
    assert json.loads(strict_json(value)) == value


def test_an_event_notes_them_where_google_adk_accepts_a_note() -> None:
    event = Event(author="a", actions=EventActions(state_delta={"x": NAN, "none": None}), custom_metadata={"k": 1})
    data = json.loads(event_json(event), parse_constant=refuse)
    assert data["actions"]["state_delta"] == {"x": None, "none": None}
    assert data["custom_metadata"] == {"k": 1, "inspector_not_finite": {"/actions/state_delta/x": "NaN"}}
    Event.model_validate(data)


def test_an_event_without_them_is_google_adks_json() -> None:
    event = Event(author="a", actions=EventActions(state_delta={"x": None, "city": "Málaga"}))
    assert event_json(event) == event.model_dump_json(exclude_none=True)
    assert event_json(event, ascii_only=True).isascii()
    assert json.loads(event_json(event, ascii_only=True)) == json.loads(event_json(event))
