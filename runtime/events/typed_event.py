"""A plain event whose JSON msgspec has checked while it parsed it, which takes a third of the time.

What is asked of every event that arrives is read from msgspec's objects. The whole JSON is parsed when it is first needed: most events of a
stream are never displayed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Annotated, Any

from runtime.events.plain_event import (
    PlainEvent,
    _Actions,
    _Content,
    _FunctionCall,
    _FunctionResponse,
    _Node,
    _Part,
    _Usage,
    _without_nulls,
    plain_event,
)
from runtime.support.computed_once import computed_once
from runtime.support.quick_json import from_json

_SOMETIMES = (  # members that most events lack, which need no place in each
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


class TypedEvent(PlainEvent):
    """A plain event that was read by `typed_reader`. Its content and actions are msgspec's objects.

    Args:
        typed: what msgspec has read.
        text: the event's JSON.
        ids: of the event and its invocation.
        json_wins: see `typed_reader`.
    """

    def __init__(self, typed: Any, text: str, ids: tuple[str, str], *, json_wins: bool) -> None:
        usage = typed.usage_metadata
        self.__dict__ = {
            "id": ids[0],
            "invocation_id": ids[1],
            "author": typed.author,
            "timestamp": typed.timestamp,
            "content": typed.content,
            "actions": typed.actions,
            "usage_metadata": None if usage is None else _Usage(usage),
            "_typed": typed,
            "_text": text,
            "_json_wins": json_wins,
        }

    @computed_once
    def _data(self) -> dict[str, Any]:
        found, ids = from_json(self._text), {"id": self.id, "invocation_id": self.invocation_id}
        event = plain_event({**ids, **found} if self._json_wins else {**found, **ids})
        assert event is not None  # what msgspec accepts is plain
        data: dict[str, Any] = event.model_dump()
        return data


for _name in _SOMETIMES:
    setattr(TypedEvent, _name, property(attrgetter(f"_typed.{_name}")))


def typed_reader(*, json_wins: bool) -> Callable[[Any, Any, Any], TypedEvent | None]:
    """Return a function that reads an event's id, its invocation's id and its JSON.

    The function returns None for an event that is not plain, and for some that are: `plain_event` decides about these.

    Args:
        json_wins: whether the ids in the JSON count, and the others only where it has none.
    """
    msgspec = importlib.import_module("msgspec")  # 10 ms
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
        if "thought_signature" in text and typed.content is not None:
            _make_signatures_safe(typed.content)
        return TypedEvent(typed, text, (event_id, invocation_id), json_wins=json_wins)

    return read


def _make_signatures_safe(content: Any) -> None:
    """Write signatures in the alphabet of URLs, as `plain_event` does."""
    for part in content.parts or ():
        if part.thought_signature is not None:
            part.thought_signature = part.thought_signature.replace("+", "-").replace("/", "_")


@cache
def _event_type() -> Any:
    """Return msgspec's type of the events that `plain_event` accepts; a missing member is None, and null is an error."""
    msgspec = importlib.import_module("msgspec")
    objects, number = dict[str, Any], int | float

    def struct(node: type[_Node], fields: dict[str, Any], **defaults: Any) -> Any:
        typed = [(field, kind, defaults.get(field)) for field, kind in fields.items()]
        methods = {method: getattr(_Node, method) for method in ("__getattr__", "__eq__", "checked", "is_node")}
        others = {name: value for name, value in vars(node).items() if value is None and name not in fields}
        namespace = {"model": node.model, **methods, **others}
        return msgspec.defstruct(node.__name__.strip("_"), typed, forbid_unknown_fields=True, gc=False, namespace=namespace)

    nothing = Annotated[dict[str, Any], msgspec.Meta(max_length=0)]
    call = struct(_FunctionCall, {"id": str, "name": str, "args": objects})
    response = struct(_FunctionResponse, {"id": str, "name": str, "response": objects})
    part = {"text": str, "thought": bool, "thought_signature": str, "function_call": call, "function_response": response}
    content = struct(_Content, {"role": str, "parts": list[struct(_Part, part)]})  # type: ignore[misc]  # made at run time
    flags = dict.fromkeys(("skip_summarization", "escalate", "end_of_agent"), bool)
    texts = dict.fromkeys(("transfer_to_agent", "rewind_before_invocation_id"), str)
    written = dict.fromkeys(("state_delta", "artifact_delta"), objects)
    asked = dict.fromkeys(("requested_auth_configs", "requested_tool_confirmations"), nothing)
    missing = dict.fromkeys((*written, *asked), msgspec.field(default_factory=dict))
    actions = struct(_Actions, {**flags, **texts, **written, **asked, "agent_state": objects}, **missing)
    optional = {
        **dict.fromkeys(("id", "invocation_id", "branch", "error_code", "error_message", "finish_reason", "model_version"), str),
        **dict.fromkeys(("partial", "turn_complete", "interrupted"), bool),
        **dict.fromkeys(("custom_metadata", "node_info", "usage_metadata"), objects),
        "avg_logprobs": number,
        "long_running_tool_ids": set[str],
        "content": content,
    }
    typed = [(name, kind, None) for name, kind in optional.items()]
    event = [("author", str), ("timestamp", number), *typed, ("actions", actions, msgspec.field(default_factory=actions))]
    return msgspec.defstruct("Event", event, forbid_unknown_fields=True, gc=False)
