"""The stored JSON of events, and checks that an event can be stored."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticSerializationError

from runtime.errors.unstorable_value_error import UnstorableValueError
from runtime.sessions.state import checked_text, storable
from runtime.support.texts import text_of

if TYPE_CHECKING:
    from runtime.events.event import Event
    from runtime.events.event_actions import EventActions


def check_storable(event: Event) -> None:
    """Check that an event survives a round trip through storage; its state and checkpoint are checked by `check_actions`.

    Raises:
        UnstorableValueError: a value cannot be stored; the message names its place.
    """
    # Read from the objects' dicts: a commit reads 40 of pydantic's attributes otherwise, and each costs as much as a small dict.
    fields = event.__dict__
    timestamp, avg_logprobs = fields["timestamp"], fields["avg_logprobs"]
    if not isfinite(timestamp):
        raise _no_number(timestamp, "timestamp")
    if avg_logprobs is not None and not isfinite(avg_logprobs):
        raise _no_number(avg_logprobs, "avg_logprobs")
    content, actions = fields["content"], fields["actions"]
    if content is not None:
        for index, part in enumerate(content.parts or ()):
            _check_part(part.__dict__, index)
    of_actions = actions.__dict__
    if of_actions["requested_auth_configs"] or of_actions["requested_tool_confirmations"]:
        _check_requests(actions)
    for unknown in (event.__pydantic_extra__, actions.__pydantic_extra__):
        if unknown:
            for key, value in unknown.items():
                storable(value, key)


def _check_part(part: dict[str, Any], index: int) -> None:
    text, call, response = part["text"], part["function_call"], part["function_response"]
    if text is not None and not text.isascii():
        checked_text(text, f"content.parts[{index}].text")
    if call is not None:
        storable(call.args, f"content.parts[{index}].function_call.args")
    if response is not None:
        storable(response.response, f"content.parts[{index}].function_response.response")


def _check_requests(actions: EventActions) -> None:
    for call_id, config in actions.requested_auth_configs.items():
        if isinstance(config, dict):
            storable(config, f"requested_auth_configs[{call_id!r}]")
    for call_id, asked in actions.requested_tool_confirmations.items():
        storable(asked.payload, f"requested_tool_confirmations[{call_id!r}].payload")


def _no_number(number: float, name: str) -> UnstorableValueError:
    return UnstorableValueError(name, f"{number} is not a JSON number")


def encode_event(event: Event) -> str:
    """Return an event's stored JSON in google-adk's format: snake_case, without None values.

    Args:
        event: an event that has passed `check_storable` and `check_actions`.

    Raises:
        UnstorableValueError: it contains a value that is not JSON.
    """
    try:
        # As `model_dump_json`, which passes on 17 arguments.
        return event.__pydantic_serializer__.to_json(event, exclude_none=True).decode()
    except PydanticSerializationError as error:
        raise UnstorableValueError(f"event {event.id} by {event.author}", text_of(error)) from error
