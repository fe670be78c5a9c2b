"""An event's JSON is read into a plain event if it is a usual one, else into a whole one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runtime.events.event import Event
from runtime.events.marks import UNREADABLE_EVENT
from runtime.events.plain_event import PlainEvent
from runtime.storage.layouts.decode import parse_event
from runtime.storage.layouts.json_formats import reader_of_json

USUAL: dict[str, Any] = {"id": "e", "invocation_id": "i", "author": "me", "timestamp": 1.5, "long_running_tool_ids": ["c"]}
CALL = {"parts": [{"function_call": {"id": "c", "name": "pay", "args": {"n": 1}}}], "role": "model"}
UNUSUAL = [
    {**USUAL, "grounding_metadata": {}},
    {name: value for name, value in USUAL.items() if name != "timestamp"},
    {name: value for name, value in USUAL.items() if name != "id"},
]


def test_a_usual_event_is_plain() -> None:
    read = reader_of_json()
    for _ in range(2):
        found = read(json.dumps({**USUAL, "content": CALL, "actions": {"state_delta": {"x": 1}}}))
        assert isinstance(found, PlainEvent)
        assert (found.id, found.invocation_id, found.author, found.timestamp) == ("e", "i", "me", 1.5)
        assert found.long_running_tool_ids == {"c"}
        assert [call.name for call in found.get_function_calls()] == ["pay"]
        assert found.actions.state_delta == {"x": 1}
        assert found.actions.requested_tool_confirmations == {}


@pytest.mark.parametrize("data", UNUSUAL)
def test_an_unusual_event_is_whole(data: dict[str, Any]) -> None:
    read = reader_of_json()
    read(json.dumps(USUAL))
    found = read(json.dumps(data))
    assert type(found) is Event
    assert found.id
    assert found.author == "me"


def test_what_is_no_json_is_an_unreadable_event() -> None:
    assert reader_of_json()("{").error_code == UNREADABLE_EVENT


@pytest.mark.parametrize("damaged", [{"path": []}, "x", {"output_for": [1]}])
def test_damaged_node_information_is_kept_aside_and_the_event_is_read(damaged: object) -> None:
    stored = {"id": "e", "author": "guide", "content": {"parts": [{"text": "Hi"}], "role": "model"}, "node_info": damaged}
    event = parse_event(json.dumps(stored))
    assert (event.author, event.error_code, event.content and event.content.parts and event.content.parts[0].text) == ("guide", None, "Hi")
    assert event.model_dump(exclude_none=True)["node_info"] == damaged
