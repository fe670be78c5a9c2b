"""The conversation as one agent's model sees it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from google.genai import types

from runtime.events.event import Event
from runtime.resume import REQUEST_CALLS
from runtime.rewind import without_rewound

_CLIENT_ID = "adk-"


def build_contents(events: Sequence[Event], agent_name: str, branch: str | None, *, present_turn_only: bool = False) -> list[types.Content]:
    """Turn a session's events into what is sent to a model.

    Args:
        events: the session's, in commit order.
        agent_name: whose model; what other agents said becomes context told by the user's side.
        branch: the agent's; events of other branches are left out.
        present_turn_only: begin at the last thing that was said to this agent (`include_contents="none"`).

    Returns:
        Contents in order; each function call followed by its newest response, and calls that never got one left out.
    """
    seen = [event for event in without_rewound(events) if _is_said(event) and _is_visible(event, branch)]
    if present_turn_only:
        seen = seen[_present_turn(seen, agent_name) :]
    seen = _without_wait(seen)
    responses = _newest_responses(seen)
    contents: list[types.Content] = []
    for event in seen:
        contents.extend(_contents_of(event, agent_name, responses))
    return contents


def _is_said(event: Event) -> bool:
    if not event.content or not event.content.parts or event.partial:
        return False
    return any(part.text != "" or part.function_call or part.function_response for part in event.content.parts)


def _is_visible(event: Event, branch: str | None) -> bool:
    if event.branch is None or event.branch == branch:
        return True
    return branch is not None and branch.startswith(event.branch + ".")


def _present_turn(events: Sequence[Event], agent_name: str) -> int:
    """Return where the present turn begins: at the last event of the user or of another agent, responses to own calls aside."""
    for index in range(len(events) - 1, -1, -1):
        event = events[index]
        if event.author != agent_name and not (event.author == "user" and event.get_function_responses()):
            return index
    return 0


def _without_wait(events: list[Event]) -> list[Event]:
    """Leave out what was said between a long-running call and its answer, if the answer is what came last.

    A model must find the response right behind the call it made.
    """
    if not events or events[-1].author != "user":
        return events
    ids = {response.id for response in events[-1].get_function_responses()}
    if not ids:
        return events
    for index in range(len(events) - 2, -1, -1):
        if any(call.id in ids and call.name not in REQUEST_CALLS for call in events[index].get_function_calls()):
            between = [event for event in events[index + 1 : -1] if event.get_function_responses()]
            return [*events[: index + 1], *between, events[-1]]
    return events


def _newest_responses(events: Iterable[Event]) -> dict[str | None, types.FunctionResponse]:
    return {response.id: response for event in events for response in event.get_function_responses()}


def _contents_of(event: Event, agent_name: str, responses: dict[str | None, types.FunctionResponse]) -> Iterable[types.Content]:
    assert event.content is not None  # _is_said
    parts = event.content.parts or []
    if event.author == "user":
        said = [part for part in parts if not part.function_response]
        return [types.Content(role="user", parts=said)] if said else []
    if event.author != agent_name:
        return _told(event, parts)
    said, answers = [], []
    for part in parts:
        call = part.function_call
        if part.function_response or (call and (call.name in REQUEST_CALLS or call.id not in responses)):
            continue
        said.append(_without_client_id(part))
        if call:
            answers.append(_response_part(call, responses[call.id]))
    contents = [types.Content(role=event.content.role or "model", parts=said)] if said else []
    return [*contents, types.Content(role="user", parts=answers)] if answers else contents


def _without_client_id(part: types.Part) -> types.Part:
    """Return the part without an id that we gave the call: the model knows only its own."""
    call = part.function_call
    if not call or not (call.id or "").startswith(_CLIENT_ID):
        return part
    return part.model_copy(update={"function_call": call.model_copy(update={"id": None})})


def _response_part(call: types.FunctionCall, response: types.FunctionResponse) -> types.Part:
    own_id = None if (call.id or "").startswith(_CLIENT_ID) else call.id
    return types.Part(function_response=response.model_copy(update={"id": own_id, "name": call.name}))


def _told(event: Event, parts: Sequence[types.Part]) -> list[types.Content]:
    """Return what another agent said and did, told as context."""
    told = [types.Part(text="For context:")]
    for part in parts:
        if part.thought:
            continue
        if part.text:
            told.append(types.Part(text=f"[{event.author}] said: {part.text}"))
        elif part.function_call:
            if part.function_call.name not in REQUEST_CALLS:
                told.append(
                    types.Part(text=f"[{event.author}] called tool `{part.function_call.name}` with {_json(part.function_call.args)}")
                )
        elif part.function_response:
            if part.function_response.name not in REQUEST_CALLS:
                answer = part.function_response
                told.append(types.Part(text=f"[{event.author}] got from tool `{answer.name}`: {_json(answer.response)}"))
        else:
            told.append(part)
    return [types.Content(role="user", parts=told)] if len(told) > 1 else []


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
