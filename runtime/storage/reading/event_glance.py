"""The fields of an event that decide whether its invocation is finished, read from its JSON without decoding the event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from runtime.events.event import Event

_EVENT: dict[str, type] = {"author": str, "error_code": str, "partial": bool, "long_running_tool_ids": list}
_ACTIONS: dict[str, type] = {"end_of_agent": bool, "escalate": bool, "agent_state": dict, "rewind_before_invocation_id": str}
_CONTENT: dict[str, type] = {"parts": list}
_PART: dict[str, type] = {"function_call": dict, "function_response": dict}
_CALL: dict[str, type] = {"id": str}
Ids = Sequence[str | None]
Fields = tuple[str, str, Ids, Ids, str | None, bool, bool, bool, bool, bool, bool]  # a `Glance` that is made in a sixth of the time


class Glance(NamedTuple):
    """The relevant fields of an event's JSON.

    Attributes:
        invocation_id, author: the event's fields.
        calls, responses: ids of its function calls and responses.
        rewinds: the invocation that it rewinds.
        is_end: whether it marks the end of its author.
        is_open: whether it is a checkpoint or has a long-running call.
        failed: whether it has an error.
        speaks: whether it has content.
        answers: whether the content is a final answer.
        is_odd: whether only the ids and `rewinds` are reliable.
    """

    invocation_id: str
    author: str
    calls: Ids
    responses: Ids
    rewinds: str | None
    is_end: bool = False
    is_open: bool = False
    failed: bool = False
    speaks: bool = False
    answers: bool = False
    is_odd: bool = False


def look(invocation_id: str, data: Any, parse: Callable[[Any], Any], *, json_wins: bool) -> Glance | None:
    """Return the relevant fields of a row's JSON, or None if one of them is unusual."""
    try:
        event = parse(data)
    except (ValueError, TypeError, RecursionError):
        return None
    if not _is_object(event, _EVENT) or event.get("custom_metadata"):
        return None
    actions, content = event.get("actions") or {}, event.get("content")
    if not (_is_object(actions, _ACTIONS) and (content is None or _is_object(content, _CONTENT))):
        return None
    if actions.get("requested_tool_confirmations") or actions.get("requested_auth_configs"):
        return None  # whether its results count depends on other events
    parts = (content or {}).get("parts") or []
    calls: list[str | None] = []
    responses: list[str | None] = []
    for part in parts:
        if not _is_object(part, _PART):
            return None
        for kind, ids in (("function_call", calls), ("function_response", responses)):
            half = part.get(kind)
            if half is not None:
                if not _is_object(half, _CALL):
                    return None
                ids.append(half.get("id"))
    if json_wins and "invocation_id" in event:
        invocation_id = event["invocation_id"]
    author = event.get("author")
    if not isinstance(invocation_id, str) or author is None:
        return None
    # By position, as names take twice as long.
    return Glance(
        invocation_id,
        author,
        calls,
        responses,
        actions.get("rewind_before_invocation_id"),
        bool(actions.get("end_of_agent")),
        actions.get("agent_state") is not None or bool(event.get("long_running_tool_ids")),
        bool(event.get("error_code")),
        content is not None,
        bool(parts)
        and not (calls or responses or event.get("partial") or actions.get("escalate"))
        and parts[-1].get("code_execution_result") is None
        and parts[-1].get("executable_code") is None,
    )


def look_closely(event: Event) -> Glance:
    """Return the reliable fields of an unusual event."""
    calls, responses = event.get_function_calls(), event.get_function_responses()
    return Glance(
        event.invocation_id,
        event.author,
        [call.id for call in calls],
        [response.id for response in responses],
        event.actions.rewind_before_invocation_id,
        is_odd=True,
    )


def _is_object(value: Any, types: dict[str, type]) -> bool:
    """Return whether a value is a JSON object with lower-case keys whose named members are missing, null or of these types."""
    if type(value) is not dict:
        return False
    names = tuple(value)
    named = _shapes.get(names)  # most events have one of a few sets of keys
    if named is None:
        named = _shape(names)
    if named is False:
        return False
    for name in named:
        kind = types.get(name)
        if kind is not None and type(value[name]) is not kind and value[name] is not None:
            return False
    return True


_MOST_SHAPES = 1_000
_TYPED = frozenset((*_EVENT, *_ACTIONS, *_CONTENT, *_PART, *_CALL))
_shapes: dict[tuple[str, ...], tuple[str, ...] | Literal[False]] = {}


def _shape(names: tuple[str, ...]) -> tuple[str, ...] | Literal[False]:
    """Return the names whose types matter, or False if one of them is not in lower case."""
    found: tuple[str, ...] | Literal[False] = False
    if not names or "".join(names).islower():
        found = tuple(name for name in names if name in _TYPED)
    if len(_shapes) < _MOST_SHAPES:
        _shapes[names] = found
    return found
