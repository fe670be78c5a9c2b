"""Events and sessions in the form of google-adk's server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

from pydantic import ValidationError

from inspector_app.exchange.google_json import google_event
from inspector_app.server.bodies import BadBodyError, problems_of
from runtime.errors import KnownError
from runtime.events.credentials import without_credentials
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.events.marks import CONFIRMATION_CALL, CREDENTIAL_CALL
from runtime.sessions.session import Session


class RefusedEventError(KnownError):
    """An event that a client supplies for a new session pretends to be the runtime's own."""


def event_json(event: Event) -> dict[str, Any]:
    """Return an event with google-adk's names, also of fields that only its newer versions know, and without credentials.

    google-adk 2 names the node of its graph that made an event; an event that was made without a graph has none.
    """
    return {"nodeInfo": {"path": ""}, **google_event(without_credentials(event, shown=None))}


def session_json(session: Session) -> dict[str, Any]:
    """Return a session with google-adk's names."""
    dumped = json.loads(session.model_dump_json(by_alias=True, exclude_none=True, exclude={"events"}))
    return {**dumped, "events": [event_json(event) for event in session.events]}


async def session_events(bodies: Iterable[dict[str, Any]]) -> AsyncIterator[Event]:
    """Yield the events of a new session's body.

    As in google-adk, they are a conversation: they carry no actions and no calls of the runtime itself.

    Raises:
        BadBodyError: one of them is not an event.
        RefusedEventError: one of them has actions, or calls that only the runtime makes.
    """
    for number, body in enumerate(bodies):
        try:
            event = Event.model_validate(body)
        except ValidationError as error:
            place = ["body", "events", number]
            problems = [{**problem, "loc": [*place, *problem["loc"]]} for problem in problems_of(error)]
            raise BadBodyError(422, problems) from None
        if event.long_running_tool_ids:
            raise _refused(number, "long-running tool ids")
        if event.actions != EventActions():
            raise _refused(number, "event actions")
        names = {call.name for call in event.get_function_calls()} | {answer.name for answer in event.get_function_responses()}
        if names & {CONFIRMATION_CALL, CREDENTIAL_CALL}:
            raise _refused(number, "calls of the runtime itself")
        yield event
        await asyncio.sleep(0)  # other requests continue


def _refused(number: int, what: str) -> RefusedEventError:
    return RefusedEventError(f"Event {number} of the new session cannot have {what}. Leave them out.")
