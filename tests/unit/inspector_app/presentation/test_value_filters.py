from __future__ import annotations

import pytest
from google.genai import types

from inspector_app.documents.event_filter import read_filter
from inspector_app.presentation.value_filters import call_root, filters_of_value, path_below, state_root, value_filters
from runtime.events.event import Event
from runtime.events.event_actions import EventActions

PAY = Event(
    author="pricing",
    invocation_id="e-1",
    content=types.Content(
        parts=[types.Part(function_call=types.FunctionCall(name="pay-now", args={"to": 'a "b" c\\', "list": [{"n": None}]}))]
    ),
    actions=EventActions(state_delta={"user:plan": {"tier": ["gold"]}, 'odd "key"': True}),
)


def lets_through(text: str) -> bool:
    wanted = read_filter(text)
    assert wanted is not None and wanted.expression is not None, text
    return wanted.matches(PAY)


@pytest.mark.parametrize(
    ("root", "steps", "value"),
    [
        (call_root("call", "pay-now"), ["to"], 'a "b" c\\'),
        (call_root("call", "pay-now"), ["list", 0, "n"], None),
        (state_root("user:plan"), ["tier", 0], "gold"),
        (state_root("user:plan"), [], {"tier": ["gold"]}),
        (state_root('odd "key"'), [], True),
    ],
)
def test_each_filter_of_a_value_matches_its_event(root: str, steps: list[str | int], value: object) -> None:
    found = filters_of_value(path_below(root, steps), value)
    assert found
    for words, text in found:
        if words != "events that have this" or value is not None:
            assert lets_through(text), text


def test_values_without_a_filter_offer_none() -> None:
    assert filters_of_value("", "x") == []
    assert filters_of_value('state["two\nlines"]', 1) == []
    assert [words for words, _ in filters_of_value('state["k"]', "long " * 100)] == ["events that change this"]
    assert [words for words, _ in filters_of_value('state["k"]', "two\nlines")] == ["events that change this"]


def test_each_filter_suggested_by_an_event_matches_it() -> None:
    for _, text in value_filters(PAY):
        assert lets_through(text), text
