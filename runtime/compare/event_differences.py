"""The differences between two corresponding events. Ids and times are ignored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from runtime.events.credentials import without_credentials
from runtime.events.kinds import kind_of, text_of, tokens_of
from runtime.events.plain_event import PlainEvent
from runtime.sessions.state import same_value

if TYPE_CHECKING:
    from runtime.events.event import Event

Area = Literal[
    "author",
    "branch",
    "kind",
    "text",
    "thought",
    "call",
    "arguments",
    "result",
    "output",
    "transcript",
    "state",
    "files",
    "actions",
    "error",
    "content",
    "tokens",
]

_CALL = "(call)"  # replaces function call ids, which differ in every run

_ACTIONS = (
    "transfer_to_agent",
    "escalate",
    "route",
    "skip_summarization",
    "agent_state",
    "end_of_agent",
    "compaction",
    "rewind_before_invocation_id",
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference.

    Attributes:
        area: the part of the events that differs.
        name: which item of the area: a state key, a file, a tool; else empty.
        left, right: JSON values; None if missing.
    """

    area: Area
    name: str
    left: Any
    right: Any


def call_ids(events: Sequence[Event]) -> frozenset[str]:
    """Return the ids of all function calls."""
    return frozenset(call.id for event in events for call in event.get_function_calls() if call.id)


def content_of(event: Event, ids: frozenset[str] = frozenset()) -> dict[Area, Any]:
    """Return an event's comparable content by area, without token counts.

    Args:
        event: any event.
        ids: the function call ids of its session.
    """
    event = without_credentials(event)
    actions = event.actions
    calls, responses = event.get_function_calls(), event.get_function_responses()
    found: dict[Area, Any] = {
        "author": event.author,
        "branch": event.branch or "",
        "kind": kind_of(event),
        "text": text_of(event),
        "thought": text_of(event, thoughts=True),
        "call": [call.name for call in calls],
        "arguments": [[call.name, _plain(call.args or {}, ids)] for call in calls],
        "result": sorted(([one.name, _plain(one.response or {}, ids)] for one in responses), key=repr),
        "output": _plain(_json(event.output), ids),
        "transcript": [heard.text for heard in (event.input_transcription, event.output_transcription) if heard is not None],
        "state": dict(actions.state_delta),
        "files": dict(actions.artifact_delta),
        "actions": {name: _json(getattr(actions, name)) for name in _ACTIONS if getattr(actions, name) is not None},
        "error": [event.error_code, event.error_message] if event.error_code or event.error_message else None,
        "content": _other_parts(event),
    }
    return found


def differences_of(left: Event | None, right: Event | None, ids: frozenset[str] = frozenset()) -> list[Difference]:
    """Return the differences between two events, one of which may be missing; token counts come last.

    Args:
        left, right: the events.
        ids: function call ids of both sessions, as `call_ids` returns them.
    """
    one = content_of(left, ids) if left else {}
    other = content_of(right, ids) if right else {}
    found = [each for area in one or other for each in _of_area(area, one.get(area), other.get(area))]
    tokens = (tokens_of(left) if left else 0, tokens_of(right) if right else 0)
    return found + ([Difference("tokens", "", *tokens)] if tokens[0] != tokens[1] else [])


def _of_area(area: Area, left: Any, right: Any) -> Iterator[Difference]:
    if same_value(left, right):
        return
    if area in ("state", "files", "actions"):
        one, other = left or {}, right or {}
        for name in dict.fromkeys([*one, *other]):
            if (name in one) != (name in other) or not same_value(one.get(name), other.get(name)):
                yield Difference(area, name, one.get(name), other.get(name))
    elif area in ("arguments", "result"):
        yield from _of_calls(area, left or [], right or [])
    elif left or right:
        yield Difference(area, "", left, right)


def _of_calls(area: Area, left: list[Any], right: list[Any]) -> Iterator[Difference]:
    for number in range(max(len(left), len(right))):
        one, other = (calls[number] if number < len(calls) else None for calls in (left, right))
        if not same_value(one, other):
            name = next(call[0] for call in (one, other) if call) or ""
            yield Difference(area, name, one and one[1], other and other[1])


def _plain(value: Any, ids: frozenset[str]) -> Any:
    """Return a JSON value with every call id replaced by the same word."""
    if isinstance(value, str):
        return _CALL if value in ids else value
    if isinstance(value, dict):
        return {_plain(key, ids): _plain(item, ids) for key, item in value.items()}
    return [_plain(item, ids) for item in value] if isinstance(value, list) else value


def _json(value: Any) -> Any:
    return value.model_dump(mode="json", exclude_none=True) if hasattr(value, "model_dump") else value


def _other_parts(event: Event) -> list[Any]:
    """Return the parts that are neither text nor calls nor responses: files and code."""
    if isinstance(event, PlainEvent):
        return []
    dropped = {"text", "thought", "thought_signature", "function_call", "function_response"}
    parts = (event.content.parts if event.content else None) or []
    dumped = (part.model_dump(mode="json", exclude_none=True, exclude=dropped) for part in parts)
    return [part for part in dumped if part]
