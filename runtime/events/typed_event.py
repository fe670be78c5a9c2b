"""A plain event whose JSON msgspec has checked while it parsed it, which takes a third of the time.

What is asked of every event that arrives is read from msgspec's objects. The whole JSON is parsed when it is first needed: most events of a
stream are never displayed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

from runtime.events.plain_event import (
    PlainEvent,
    _Actions,
    _Content,
    _FunctionCall,
    _FunctionResponse,
    _Part,
    _Usage,
    _without_nulls,
    plain_event,
)
from runtime.support.computed_once import computed_once
from runtime.support.quick_json import from_json

_SOMETIMES = (
    "branch",
    "model_version",
    "partial",
    "turn_complete",
    "interrupted",
    "error_code",
    "error_message",
    "finish_reason",
    "avg_logprobs",
    "long_running_tool_ids",
    "custom_metadata",
    "node_info",
)
_IN_ACTIONS = ("skip_summarization", "transfer_to_agent", "escalate", "end_of_agent", "agent_state", "rewind_before_invocation_id")


class TypedEvent(PlainEvent):
    """A plain event that was read by `typed_reader`.

    Args:
        typed: what msgspec has read.
        text: the event's JSON.
        ids: of the event and its invocation.
        json_wins: see `typed_reader`.
    """

    def __init__(self, typed: Any, text: str, ids: tuple[str, str], *, json_wins: bool) -> None:
        self.__dict__ = members = {
            "id": ids[0],
            "invocation_id": ids[1],
            "_json_wins": json_wins,
            "author": typed.author,
            "timestamp": typed.timestamp,
            "_typed": typed,
            "_text": text,
        }
        for name in _SOMETIMES:
            value = getattr(typed, name)
            if value is not None:
                members[name] = value

    @computed_once
    def _data(self) -> dict[str, Any]:
        found, ids = from_json(self._text), {"id": self.id, "invocation_id": self.invocation_id}
        event = plain_event({**ids, **found} if self._json_wins else {**found, **ids})
        assert event is not None  # what msgspec accepts is plain
        data: dict[str, Any] = event.model_dump()
        return data

    @computed_once
    def actions(self) -> _Actions:
        """What the event does."""
        typed = self._typed.actions
        members: dict[str, Any] = {
            "state_delta": {},
            "artifact_delta": {},
            "requested_auth_configs": {},
            "requested_tool_confirmations": {},
        }
        if typed is not None:
            members["state_delta"], members["artifact_delta"] = typed.state_delta or {}, typed.artifact_delta or {}
            for name in _IN_ACTIONS:
                value = getattr(typed, name)
                if value is not None:
                    members[name] = value
        return _Actions(members)

    @computed_once
    def content(self) -> _Content | None:
        """The message; None if the event has none."""
        typed = self._typed.content
        if typed is None:
            return None
        members: dict[str, Any] = {} if typed.role is None else {"role": typed.role}
        if typed.parts is not None:
            members["parts"] = [_part(part) for part in typed.parts]
        return _Content(members)

    @computed_once
    def usage_metadata(self) -> _Usage | None:
        """The tokens that the model reported; None if it reported none."""
        usage = self._typed.usage_metadata
        return None if usage is None else _Usage(usage)

    @computed_once
    def _calls(self) -> tuple[Any, ...]:
        found = [number for number, part in enumerate(self._typed_parts()) if part.function_call is not None]
        return tuple([self._parts()[number].function_call for number in found])

    @computed_once
    def _responses(self) -> tuple[Any, ...]:
        found = [number for number, part in enumerate(self._typed_parts()) if part.function_response is not None]
        return tuple([self._parts()[number].function_response for number in found])

    def _typed_parts(self) -> Any:
        content = self._typed.content
        return () if content is None else content.parts or ()


def typed_reader(*, json_wins: bool) -> Callable[[Any, Any, Any], TypedEvent | None] | None:
    """Return a function that reads an event's id, its invocation's id and its JSON; None if msgspec is not installed.

    The function returns None for an event that is not plain, and for some that are: `plain_event` decides about these.

    Args:
        json_wins: whether the ids in the JSON count, and the others only where it has none.
    """
    try:
        msgspec = importlib.import_module("msgspec")  # 15 ms
    except ImportError:
        return None
    decode = msgspec.json.Decoder(_event_type()).decode
    errors = (msgspec.MsgspecError, ValueError, RecursionError)

    def read(event_id: Any, invocation_id: Any, text: Any) -> TypedEvent | None:
        if type(text) is not str:
            return None
        try:
            typed = decode(text)
        except errors:
            return None
        if json_wins:
            event_id = event_id if typed.id is None else typed.id
            invocation_id = invocation_id if typed.invocation_id is None else typed.invocation_id
        if type(event_id) is not str or type(invocation_id) is not str:
            return None
        if typed.usage_metadata is not None and not _without_nulls(typed.usage_metadata):
            return None
        return TypedEvent(typed, text, (event_id, invocation_id), json_wins=json_wins)

    return read


@cache
def _event_type() -> Any:
    """Return msgspec's type of the events that `plain_event` accepts; a missing member is None, and null is an error."""
    msgspec = importlib.import_module("msgspec")
    objects, number = dict[str, Any], int | float

    def struct(name: str, fields: dict[str, Any], required: tuple[str, ...] = ()) -> Any:
        typed = [(field, kind) if field in required else (field, kind, None) for field, kind in fields.items()]
        return msgspec.defstruct(name, sorted(typed, key=len), forbid_unknown_fields=True, gc=False)

    nothing = msgspec.defstruct("Nothing", [], forbid_unknown_fields=True, gc=False)
    call = struct("Call", {"id": str, "name": str, "args": objects})
    response = struct("Response", {"id": str, "name": str, "response": objects})
    part = {"text": str, "thought": bool, "thought_signature": str, "function_call": call, "function_response": response}
    content = struct("Content", {"role": str, "parts": list[struct("Part", part)]})  # type: ignore[misc]  # made at run time
    flags = dict.fromkeys(("skip_summarization", "escalate", "end_of_agent"), bool)
    texts = dict.fromkeys(("transfer_to_agent", "rewind_before_invocation_id"), str)
    written = {"state_delta": objects, "artifact_delta": objects, "agent_state": objects}
    requested = {"requested_auth_configs": nothing, "requested_tool_confirmations": nothing}
    event = {
        **dict.fromkeys(("id", "invocation_id", "author", "branch", "error_code", "error_message", "finish_reason", "model_version"), str),
        **dict.fromkeys(("partial", "turn_complete", "interrupted"), bool),
        **dict.fromkeys(("timestamp", "avg_logprobs"), number),
        **dict.fromkeys(("custom_metadata", "node_info"), objects),
        "usage_metadata": objects,
        "long_running_tool_ids": list[str],
        "content": content,
        "actions": struct("Actions", flags | texts | written | requested),
    }
    return struct("Event", event, required=("author", "timestamp"))


def _part(typed: Any) -> _Part:
    members: dict[str, Any] = {}
    if typed.text is not None:
        members["text"] = typed.text
    if typed.thought is not None:
        members["thought"] = typed.thought
    if typed.thought_signature is not None:
        members["thought_signature"] = typed.thought_signature.replace("+", "-").replace("/", "_")
    call, response = typed.function_call, typed.function_response
    if call is not None:
        members["function_call"] = _FunctionCall(_set(id=call.id, name=call.name, args=call.args))
    if response is not None:
        members["function_response"] = _FunctionResponse(_set(id=response.id, name=response.name, response=response.response))
    return _Part(members)


def _set(**members: Any) -> dict[str, Any]:
    """Return the members that the JSON has."""
    return {name: value for name, value in members.items() if value is not None}
