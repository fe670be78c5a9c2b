"""The numbers of a session's model calls count what a model was asked, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from inspector_app.detail.model_calls import ModelCalls
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import SessionDocument
from inspector_app.documents.session_events import SessionEvents
from runtime.events import Event
from runtime.events.marks import REQUEST_CALLS
from runtime.sessions.session import SessionKey

USAGE = types.GenerateContentResponseUsageMetadata(total_token_count=3)
TEXT = types.Part(text="Hi.")


def said(author: str, part: types.Part, usage: Any = None) -> Event:
    role = "user" if author == "user" else "model"
    return Event(author=author, content=types.Content(role=role, parts=[part]), usage_metadata=usage)


def places(*events: Event) -> list[str | None]:
    calls = ModelCalls(SessionDocument(SessionAddress("memory:", SessionKey("app", "user", "s")), SessionEvents(events)))
    return [place.text if (place := calls.place(index)) is not None else None for index in range(len(events))]


@pytest.mark.parametrize("name", sorted(REQUEST_CALLS))
def test_a_request_to_a_person_is_no_call_of_a_model(name: str) -> None:
    asks = types.Part(function_call=types.FunctionCall(name=name, args={}))
    assert places(said("user", TEXT), said("one", TEXT, USAGE), said("one", asks)) == [None, "call 1 of 1", None]


def test_a_callbacks_text_is_none_where_the_agents_model_reports_tokens() -> None:
    found = places(said("one", TEXT, USAGE), said("one", TEXT), said("quiet", TEXT), said("one", TEXT, USAGE))
    assert found == ["call 1 of 3", None, "call 2 of 3", "call 3 of 3"]
