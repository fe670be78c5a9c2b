"""The event fields that every service stores, and values that it rejects before the commit."""

from __future__ import annotations

import sqlite3
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from google.genai import types

from runtime.errors import UnstorableValueError
from runtime.events import Event
from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService, SqliteSessionService

NAMES = {"app_name": "app", "user_id": "u", "session_id": "s"}
DEEP: Any = 1
for _ in range(150):
    DEEP = [DEEP]


def calls(args: dict[str, Any]) -> dict[str, Any]:
    return {"content": types.Content(parts=[types.Part(text="x"), types.Part(function_call=types.FunctionCall(name="f", args=args))])}


def responds(response: dict[str, Any]) -> dict[str, Any]:
    return {"content": types.Content(parts=[types.Part(function_response=types.FunctionResponse(name="f", response=response))])}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a call": (calls({"a": {"b": float("nan")}}), r"content.parts\[1\].function_call.args\['a'\]\['b'\].*nan"),
    "a response": (responds({"a": DEEP}), r"content.parts\[0\].function_response.response\['a'\].*nested deeper than 100"),
    "metadata": ({"custom_metadata": {"a": [float("inf")]}}, r"custom_metadata\['a'\]\[0\].*inf"),
    "deep metadata": ({"custom_metadata": {"a": DEEP}}, r"custom_metadata\['a'\].*nested deeper than 100"),
    "a checkpoint": ({"actions": {"agent_state": {"a": float("nan")}}}, r"agent_state of me\['a'\].*nan"),
    "a question's payload": (
        {"actions": {"requested_tool_confirmations": {"c": {"payload": {"a": float("nan")}}}}},
        r"requested_tool_confirmations\['c'\].payload\['a'\].*nan",
    ),
    "a request for a credential": ({"actions": {"requested_auth_configs": {"c": {"a": float("nan")}}}}, r"requested_auth_configs\['c'\]"),
    "a newer writer's field": ({"mood": {"a": float("nan")}}, r"mood\['a'\].*nan"),
    "a newer writer's action": ({"actions": {"sound": {"a": object()}}}, r"sound\['a'\].*not a JSON value"),
    "a time": ({"timestamp": float("nan")}, "timestamp.*nan"),
    "no text": ({"content": types.Content(parts=[types.Part(text="bad\udcff")])}, r"content.parts\[0\].text.*half a surrogate pair"),
    "a file's name in a response": (
        responds({"files": ["a", {"name": "bad\udcff"}]}),
        r"response\['files'\]\[1\]\['name'\].*half a surrog",
    ),
    "a key in a call": (calls({"a": {"bad\udcff": 1}}), r"function_call.args\['a'\].*half a surrogate pair"),
    "a probability": ({"avg_logprobs": float("-inf")}, "avg_logprobs.*-inf"),
}


@pytest.fixture(params=["memory", "database", "adk web's layout"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> BaseSessionService:
    made: dict[str, BaseSessionService] = {
        "memory": InMemorySessionService(),
        "database": DatabaseSessionService(f"sqlite:///{tmp_path / 's.db'}"),
        "adk web's layout": SqliteSessionService(str(tmp_path / "w.db")),
    }
    return made[request.param]


@pytest.mark.parametrize("case", REFUSED)
async def test_a_rejected_event_changes_nothing(case: str, service: BaseSessionService) -> None:
    fields, place = REFUSED[case]
    async with service:
        session = await service.create_session(**NAMES)
        with pytest.raises(UnstorableValueError, match=place):
            await service.append_event(session, Event.model_validate({"author": "me", **fields}))
        assert list(session.events) == []
        found = await service.get_session(**NAMES)
        assert found is not None
        assert list(found.events) == []


async def test_unknown_fields_of_newer_writers_survive_a_round_trip(service: BaseSessionService) -> None:
    newer = {"author": "me", "mood": {"x": [1, None]}, "actions": {"state_delta": {"k": 1}, "sound": "ping"}}
    async with service:
        session = await service.create_session(**NAMES)
        event = await service.append_event(session, Event.model_validate(newer))
        found = await service.get_session(**NAMES)
        assert found is not None
        assert list(found.events) == [event]
        shown = found.events[0].model_dump(mode="json")
        assert (shown["mood"], shown["actions"]["sound"]) == ({"x": [1, None]}, "ping")


@pytest.mark.parametrize("layout", [DatabaseSessionService, SqliteSessionService])
async def test_unknown_nested_fields_are_read_and_the_session_can_be_continued(layout: Any, tmp_path: Path) -> None:
    """`types.Content` rejects unknown fields, but those stored by a newer google-adk must be readable."""
    file = tmp_path / "s.db"
    url = f"sqlite:///{file}"
    async with layout(url) as service:
        session = await service.create_session(**NAMES)
        await service.append_event(session, Event(author="me", content=types.ModelContent("hi")))
    database = sqlite3.connect(file)
    database.execute("UPDATE events SET event_data = json_set(event_data, '$.content.mood', 2, '$.content.parts[0].mood', 'calm')")
    database.commit()
    database.close()
    async with layout(url) as service:
        session = await service.get_session(**NAMES)
        await service.append_event(session, Event(author="me", content=types.ModelContent("two")))
        first, second = (await service.get_session(**NAMES)).events
        shown = first.model_dump(mode="json")["content"]
        assert (shown["mood"], shown["parts"][0]["mood"], first.content.parts[0].text) == (2, "calm", "hi")
        assert second.content.parts[0].text == "two"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (datetime(2026, 1, 2), "a datetime.datetime is not a JSON value; store its .isoformat()"),
        (date(2026, 1, 2), "a datetime.date is not a JSON value; store its .isoformat()"),
        (time(1), "a datetime.time is not a JSON value; store its .isoformat()"),
        (timedelta(1), "a datetime.timedelta is not a JSON value; store its .total_seconds()"),
        (Decimal(1), "a decimal.Decimal is not a JSON value; store it as a string: str(value)"),
        (UUID(int=1), "a uuid.UUID is not a JSON value; store it as a string: str(value)"),
    ],
)
async def test_a_value_that_is_no_json_is_refused_with_the_key_the_type_and_what_to_store(value: object, says: str) -> None:
    service = InMemorySessionService()
    session = await service.create_session(**NAMES)
    with pytest.raises(UnstorableValueError) as caught:
        await service.append_event(session, Event.model_validate({"author": "me", "actions": {"state_delta": {"cart": {"at": [value]}}}}))
    assert str(caught.value) == f"state['cart']['at'][0] cannot be stored: {says}"
