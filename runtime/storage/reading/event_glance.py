"""The fields of an event that decide whether its invocation is finished, read from its JSON without decoding the event.

msgspec decodes only the declared fields, and checks that the rest is JSON. Any other spelling or type of a field is a decoding error.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from runtime.storage.layouts.camel_case import camel_case

if TYPE_CHECKING:
    from runtime.events.event import Event

_NONE: tuple[str | None, ...] = ()
Ids = Sequence[str | None]
Fields = tuple[str, str, Ids, Ids, str | None, bool, bool, bool, bool, bool, bool]
"""The relevant fields of an event's JSON, without names because these take six times as long to make. In order:

- the invocation's id and the author;
- the ids of the function calls, and of the responses;
- the invocation that the event rewinds;
- whether it marks the end of its author;
- whether it is a checkpoint or has a long-running call;
- whether it has an error;
- whether it has content, and whether that is a final answer;
- whether only the ids and the rewound invocation are reliable.
"""


def glance(*, json_wins: bool) -> Callable[[Any, Any], Fields | None]:
    """Return a function that reads an invocation id and JSON text, or returns None if a relevant field is unusual.

    Args:
        json_wins: see `PendingRows`.
    """
    decode, other, errors = decoders()

    def look(invocation_id: Any, data: Any) -> Fields | None:
        nonlocal decode, other
        if type(data) is not str or type(invocation_id) is not str:
            return None
        try:
            event = decode(data)
        except errors:
            decode, other = other, decode  # a file's rows are usually spelled alike
            try:
                event = decode(data)
            except errors:
                return None
        if json_wins and event.invocation_id is not None:
            invocation_id = event.invocation_id
        rewinds, is_end, is_open, escalates = None, False, True if event.long_running_tool_ids else False, False  # noqa: SIM210 - half of bool's time
        actions = event.actions
        if actions is not None:
            rewinds, is_end, escalates = actions.rewind_before_invocation_id, actions.end_of_agent is True, actions.escalate
            is_open = is_open or actions.agent_state is not None
        content, author, failed = event.content, event.author, True if event.error_code else False  # noqa: SIM210
        if content is None or not content.parts:
            return invocation_id, author, _NONE, _NONE, rewinds, is_end, is_open, failed, content is not None, False, False
        calls = responses = _NONE
        for part in content.parts:
            if part.function_call is not None:
                calls = (*calls, part.function_call.id)
            if part.function_response is not None:
                responses = (*responses, part.function_response.id)
        is_code = part.executable_code is not None or part.code_execution_result is not None
        answers = not (calls or responses or event.partial or escalates or is_code)
        return invocation_id, author, calls, responses, rewinds, is_end, is_open, failed, True, answers, False

    return look


def look_closely(event: Event) -> Fields:
    """Return the reliable fields of an unusual event."""
    calls = [call.id for call in event.get_function_calls()]
    responses = [response.id for response in event.get_function_responses()]
    rewinds = event.actions.rewind_before_invocation_id
    return event.invocation_id, event.author, calls, responses, rewinds, False, False, False, False, False, True


def decoders(*, is_usual: bool = False) -> tuple[Callable[[Any], Any], Callable[[Any], Any], tuple[type[Exception], ...]]:
    """Return the decoders of events in `snake_case` and in `camelCase`, and their errors.

    Args:
        is_usual: see `event_type`.
    """
    msgspec = importlib.import_module("msgspec")  # 10 ms
    snake, camel = (msgspec.json.Decoder(event_type(is_camel=is_camel, is_usual=is_usual)).decode for is_camel in (False, True))
    return snake, camel, (msgspec.MsgspecError, ValueError, TypeError, RecursionError)  # a TypeError: the row is no text


@cache
def event_type(*, is_camel: bool, is_usual: bool = False) -> Any:
    """Return the type of an event whose fields are spelled in one way, `snake_case` or `camelCase`; the other one is an error.

    Args:
        is_camel: whether it is `camelCase`.
        is_usual: whether also errors, code, checkpoints, ends, rewinds, escalations and long-running calls are decoding errors.
    """
    msgspec = importlib.import_module("msgspec")
    raw: Any = msgspec.Raw
    json = raw | None
    empty = msgspec.defstruct("Empty", [], forbid_unknown_fields=True, gc=False) | None
    never = Annotated[int, msgspec.Meta(gt=0, lt=0)]

    def struct(name: str, fields: dict[str, Any]) -> Any:
        typed = [(field, kind) if field == "author" else (field, kind, None) for field, kind in fields.items()]
        spelled = {field: camel_case(field) if is_camel else field for field in fields}
        others = [camel_case(field) if not is_camel else field for field in fields if "_" in field]
        refused = [(f"refused_{number}", never, 0) for number in range(len(others))]
        names = spelled | {f"refused_{number}": other for number, other in enumerate(others)}
        return msgspec.defstruct(name, typed + refused, rename=names, gc=False)

    call = struct("Call", {"id": str | None})
    part: dict[str, Any] = {
        "function_call": call | None,
        "function_response": call | None,
        "executable_code": json,
        "code_execution_result": json,
    }
    actions: dict[str, Any] = {
        "end_of_agent": bool | None,
        "agent_state": dict[str, raw] | None,
        "escalate": bool | None,
        "rewind_before_invocation_id": str | None,
    }
    asks = dict.fromkeys(("requested_tool_confirmations", "requested_auth_configs"), empty)
    event: dict[str, Any] = {
        "author": str,
        "invocation_id": str,
        "error_code": str | None,
        "partial": bool | None,
        "long_running_tool_ids": list[raw] | None,
        "custom_metadata": empty,
    }
    if is_usual:
        nothing = never | None
        part |= {"executable_code": nothing, "code_execution_result": nothing}
        event |= {"error_code": nothing, "long_running_tool_ids": Annotated[list[raw], msgspec.Meta(max_length=0)] | None}
        actions = dict.fromkeys(actions, nothing)
    actions |= asks
    event |= {
        "content": struct("Content", {"parts": list[struct("Part", part)] | None}) | None,  # type: ignore[misc]  # made at run time
        "actions": struct("Actions", actions) | None,
    }
    return struct("Event", event)
