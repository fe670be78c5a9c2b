"""The stored JSON of events, and checks that an event can be stored."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from pydantic_core import PydanticSerializationError

from runtime.errors.unstorable_value_error import UnstorableValueError
from runtime.sessions.state import checked_text, storable

if TYPE_CHECKING:
    from runtime.events.event import Event


def check_storable(event: Event) -> None:
    """Check that an event survives a round trip through storage; its state and checkpoint are checked by `check_actions`.

    Raises:
        UnstorableValueError: a value cannot be stored; the message names its place.
    """
    if not isfinite(event.timestamp):
        raise _no_number(event.timestamp, "timestamp")
    if event.avg_logprobs is not None and not isfinite(event.avg_logprobs):
        raise _no_number(event.avg_logprobs, "avg_logprobs")
    if event.content is not None:
        for index, part in enumerate(event.content.parts or ()):
            if part.text is not None and not part.text.isascii():
                checked_text(part.text, f"content.parts[{index}].text")
            if part.function_call is not None:
                storable(part.function_call.args, f"content.parts[{index}].function_call.args")
            if part.function_response is not None:
                storable(part.function_response.response, f"content.parts[{index}].function_response.response")
    actions = event.actions
    for call_id, config in actions.requested_auth_configs.items():
        if isinstance(config, dict):
            storable(config, f"requested_auth_configs[{call_id!r}]")
    for call_id, asked in actions.requested_tool_confirmations.items():
        storable(asked.payload, f"requested_tool_confirmations[{call_id!r}].payload")
    for unknown in (event.model_extra, actions.model_extra):
        for key, value in unknown.items() if unknown else ():
            storable(value, key)


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
        raise UnstorableValueError(f"event {event.id} by {event.author}", str(error)) from error
