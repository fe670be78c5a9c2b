"""Events that no agent yields: manual state edits, "cancelled" responses to unanswered calls, progress of long-running calls.

These functions only build the events; the Runner commits them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from google.genai import types

from runtime.errors.known_error import KnownError
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.events.marks import (
    AGENT_PLACE,
    CALLED_WITHOUT_RESULT,
    CANCELLED,
    EDITED,
    PROGRESS,
    REQUEST_CALLS,
    SYSTEM,
    is_state_edit,
    recorded_place,
)
from runtime.history.rewound import without_rewound
from runtime.sessions.state import State, same_value, storable

CANCELLED_TEXT = "cancelled: the run was stopped before this call had a result"


class StateEditError(KnownError, ValueError):
    """A state edit is not possible; the message says why."""


class ProgressError(KnownError, ValueError):
    """A progress report is not possible; the message says why."""


def state_edit(changes: Mapping[str, Any], state: Mapping[str, Any], invocation_id: str, author: str = SYSTEM) -> Event:
    """Return an event that sets state keys and records their earlier values, so that the edit can be undone.

    Args:
        changes: key with scope prefix → value; None clears a key by storing null, as a delta cannot remove one.
        state: the committed state.
        invocation_id: the invocation that the event becomes part of.
        author: the event's author; an edit of another author than `system` cannot be undone.

    Raises:
        StateEditError: the edit changes nothing, or a key cannot be edited.
    """
    if not changes:
        raise StateEditError("There is nothing to change.")
    for key in changes:
        if not key.strip():
            raise StateEditError("A state key needs a name.")
        if key.startswith(State.TEMP_PREFIX):
            raise StateEditError(f"{key} is never stored: temp: keys live in a running invocation only.")
    before = {key: state[key] for key in changes if key in state}
    edit = {"before": before, "absent": [key for key in changes if key not in state]}
    return _state_event(changes, edit, invocation_id, author)


def state_edit_undone(edit: Event, state: Mapping[str, Any], invocation_id: str) -> Event:
    """Return the inverse of an event made by `state_edit`; keys that did not exist before are cleared.

    Args:
        edit: the event to undo.
        state: the committed state.
        invocation_id: the invocation that the inverse becomes part of.

    Raises:
        StateEditError: the event is not a state edit, or a key has changed since.
    """
    if not is_state_edit(edit):
        raise StateEditError("Only a state edit can be undone.")
    assert edit.custom_metadata is not None  # is_state_edit
    for key, value in edit.actions.state_delta.items():
        if key not in state or not same_value(state[key], value):
            raise StateEditError(f"{key} has changed since that edit, so it cannot be undone. Set the value you want instead.")
    before = edit.custom_metadata[EDITED]["state"]["before"]
    inverse = {key: before.get(key) for key in edit.actions.state_delta}
    return _state_event(inverse, {"before": dict(edit.actions.state_delta), "absent": [], "undoes": edit.id}, invocation_id)


def cancelled_calls(events: Iterable[Event], invocation_id: str, edits: Mapping[str, Any] | None = None) -> list[Event]:
    """Return "cancelled" responses to an invocation's unanswered calls, one event for each event that made such calls.

    Calls that wait for a person or a long-running job keep waiting.

    Args:
        events: the session's events.
        invocation_id: the stopped invocation.
        edits: manual edits of these calls, in the form in which events record them (see `runtime.debugger.interception`).
    """
    ours = [event for event in events if event.invocation_id == invocation_id]
    answered = {response.id for event in ours for response in event.get_function_responses()}
    for event in ours:
        answered.update((event.custom_metadata or {}).get(CALLED_WITHOUT_RESULT, ()))
    return [cancelled for event in ours if (cancelled := _cancelled(event, answered, edits or {})) is not None]


def progress(events: Sequence[Event], call_id: str, response: Mapping[str, Any]) -> Event:
    """Return an event that reports the progress of a long-running call; the call stays open until it is answered.

    The event is a newer receipt: a response by the calling agent, like the one that its tool returned first. So every reader of the
    session, including older versions of google-adk, treats the call as open, and a model that is called meanwhile sees the newest receipt.

    Raises:
        ProgressError: there is no such call, it is not long-running, or it is already answered.
        UnstorableValueError: the response is not JSON.
    """
    current = without_rewound(events)
    asking = next((event for event in reversed(current) if any(call.id == call_id for call in event.get_function_calls())), None)
    if asking is None:
        raise ProgressError(f"No function call in this session has the id {call_id}.")
    call = next(call for call in asking.get_function_calls() if call.id == call_id)
    if call_id not in (asking.long_running_tool_ids or ()) or call.name in REQUEST_CALLS:
        raise ProgressError(f"{call.name} is not a long-running call, so its progress cannot be reported.")
    if any(given.id == call_id for event in current if event.author == "user" for given in event.get_function_responses()):
        raise ProgressError(f"{call.name} has already been answered.")
    part = types.Part(function_response=types.FunctionResponse(id=call_id, name=call.name, response=storable(dict(response), "response")))
    return Event(
        invocation_id=asking.invocation_id,
        author=asking.author,
        branch=asking.branch,
        content=types.Content(role="user", parts=[part]),
        custom_metadata={PROGRESS: [call_id], **_place(asking)},
    )


def _cancelled(event: Event, answered: set[str | None], edits: Mapping[str, Any]) -> Event | None:
    waiting = answered | set(event.long_running_tool_ids or ())
    calls = [call for call in event.get_function_calls() if call.id not in waiting and call.name not in REQUEST_CALLS]
    if not calls:
        return None
    marks: dict[str, Any] = {CANCELLED: [call.id for call in calls], **_place(event)}
    edited = {call.id: edits["calls"][call.id] for call in calls if call.id in edits.get("calls", {})}
    if edited:
        marks[EDITED] = {"calls": edited}
    parts = [
        types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response={"error": CANCELLED_TEXT}))
        for call in calls
    ]
    return Event(
        invocation_id=event.invocation_id,
        author=event.author,
        branch=event.branch,
        content=types.Content(role="user", parts=parts),
        custom_metadata=marks,
    )


def _place(event: Event) -> dict[str, Any]:
    """Return the mark of the agent that an event is from, for another event in its name."""
    place = recorded_place(event)
    return {} if place is None else {AGENT_PLACE: place}


def _state_event(delta: Mapping[str, Any], edit: dict[str, Any], invocation_id: str, author: str = SYSTEM) -> Event:
    return Event(
        invocation_id=invocation_id,
        author=author,
        actions=EventActions(state_delta=dict(delta)),
        custom_metadata={EDITED: {"state": edit}} if author == SYSTEM else None,
    )
