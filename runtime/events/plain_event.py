"""A stored event as its plain JSON, read like an `Event`.

Validating an event into google-genai's types takes ten times as long as parsing its JSON, and loading the types takes longer than listing
most sessions. So code that only reads may take a plain event. It has the attributes and questions of `Event` that readers use; one that
is missing is None. Only usual events can be plain: see `plain_event`.
"""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

from runtime.events.final_response import is_final_response
from runtime.support.computed_once import computed_once

if TYPE_CHECKING:
    from runtime.events.event import Event

_OF_MODELS = frozenset({"model_copy", "model_dump", "model_dump_json", "model_extra", "model_fields_set"})
"""Methods of pydantic's models that readers use: those of the model itself, which is made then."""

_TEXT, _FLAG, _OBJECT, _LIST, _NUMBER = (str,), (bool,), (dict,), (list,), (int, float)
_EVENT: dict[str, tuple[type, ...]] = {
    "id": _TEXT,
    "invocation_id": _TEXT,
    "author": _TEXT,
    "timestamp": _NUMBER,
    "branch": _TEXT,
    "partial": _FLAG,
    "turn_complete": _FLAG,
    "interrupted": _FLAG,
    "error_code": _TEXT,
    "error_message": _TEXT,
    "finish_reason": _TEXT,
    "model_version": _TEXT,
    "avg_logprobs": _NUMBER,
    "long_running_tool_ids": _LIST,
    "custom_metadata": _OBJECT,
    "usage_metadata": _OBJECT,
    "node_info": _OBJECT,  # google-adk 2's own
    "content": _OBJECT,
    "actions": _OBJECT,
}
_ACTIONS: dict[str, tuple[type, ...]] = {
    "state_delta": _OBJECT,
    "artifact_delta": _OBJECT,
    "requested_auth_configs": _OBJECT,
    "requested_tool_confirmations": _OBJECT,
    "skip_summarization": _FLAG,
    "transfer_to_agent": _TEXT,
    "escalate": _FLAG,
    "end_of_agent": _FLAG,
    "agent_state": _OBJECT,
    "rewind_before_invocation_id": _TEXT,
}
_PARTS: dict[str, tuple[type, ...]] = {
    "text": _TEXT,
    "thought": _FLAG,
    "thought_signature": _TEXT,
    "function_call": _OBJECT,
    "function_response": _OBJECT,
}
_CALL: dict[str, tuple[type, ...]] = {"id": _TEXT, "name": _TEXT, "args": _OBJECT}
_RESPONSE: dict[str, tuple[type, ...]] = {"id": _TEXT, "name": _TEXT, "response": _OBJECT}
_CONTENT: dict[str, tuple[type, ...]] = {"role": _TEXT, "parts": _LIST}
_OBJECTS = ("actions", "content", "usage_metadata")  # members that become objects with attributes
_EMPTY_ACTIONS: dict[str, Any] = {"state_delta": {}, "artifact_delta": {}, "requested_auth_configs": {}, "requested_tool_confirmations": {}}


class _Node:
    """A JSON object whose members are attributes; a missing one is None. It has the methods of its model: see `_OF_MODELS`."""

    model = ""  # the pydantic class that validates such an object; empty for none
    is_node = True

    def __init__(self, members: dict[str, Any]) -> None:
        self.__dict__ = members

    def __getattr__(self, name: str) -> Any:
        if name in _OF_MODELS and self.model:
            return getattr(self.checked(), name)
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def __eq__(self, other: object) -> bool:
        if _is_node(other):
            return type(self).model == type(other).model and bool(_as_json(self) == _as_json(other))  # type: ignore[attr-defined]
        return hasattr(other, "model_dump") and bool(self.checked() == other)

    __hash__ = None  # type: ignore[assignment]  # as a model

    def checked(self) -> Any:
        """Return the object as its model, with all types of its members. This loads the model."""
        return _model(self.model).model_validate_json(json.dumps(_as_json(self)))


class _Usage(_Node):
    """The tokens that a model reported."""

    model = "google.genai.types:GenerateContentResponseUsageMetadata"
    prompt_token_count = candidates_token_count = total_token_count = None
    cached_content_token_count = thoughts_token_count = tool_use_prompt_token_count = None


class _FunctionCall(_Node):
    """A call."""

    model = "google.genai.types:FunctionCall"
    id = name = args = None


class _FunctionResponse(_Node):
    """The answer to a call."""

    model = "google.genai.types:FunctionResponse"
    id = name = response = None


class _Actions(_Node):
    """What an event does. Members that readers ask for are defined here, because that is ten times faster than `__getattr__`."""

    model = "runtime.events.event_actions:EventActions"
    skip_summarization = transfer_to_agent = escalate = end_of_agent = agent_state = None
    rewind_before_invocation_id = compaction = None


class _Part(_Node):
    """A part of a content."""

    model = "google.genai.types:Part"
    text = thought = function_call = function_response = inline_data = file_data = executable_code = code_execution_result = None


class _Content(_Node):
    """A message."""

    model = "google.genai.types:Content"
    role = parts = None


class PlainEvent(_Node):
    """An event's JSON with the attributes of an `Event`. It is read-only."""

    model = "runtime.events.event:Event"
    branch = partial = error_code = error_message = long_running_tool_ids = custom_metadata = None
    output_transcription = input_transcription = model_version = interrupted = turn_complete = None
    output = unknown = None

    def __init__(self, data: dict[str, Any]) -> None:
        members = {**data, "_data": data}
        for name in _OBJECTS:
            members.pop(name, None)
        if "long_running_tool_ids" in data:
            members["long_running_tool_ids"] = set(data["long_running_tool_ids"])
        super().__init__(members)

    # Made when first asked for: a search through many events asks for few of them.

    @computed_once
    def actions(self) -> _Actions:
        """What the event does."""
        return _Actions(self._data["actions"])

    @computed_once
    def content(self) -> _Content | None:
        """The message; None if the event has none."""
        return _content(self._data["content"]) if "content" in self._data else None

    @computed_once
    def usage_metadata(self) -> _Node | None:
        """The tokens that the model reported; None if it reported none."""
        return _Usage(self._data["usage_metadata"]) if "usage_metadata" in self._data else None

    @computed_once
    def _halves(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The calls and the responses, which are asked for several times of each event that arrives."""
        parts = self._parts()
        calls = [part.function_call for part in parts if part.function_call is not None]
        responses = [part.function_response for part in parts if part.function_response is not None]
        return tuple(calls), tuple(responses)

    def get_function_calls(self) -> list[Any]:
        """Return the function calls in the content, in order."""
        return [*self._halves[0]]

    def get_function_responses(self) -> list[Any]:
        """Return the function responses in the content, in order."""
        return [*self._halves[1]]

    def has_trailing_code_execution_result(self) -> bool:
        """Return whether the content ends with the result of executed code. Events with code are not plain."""
        return False

    def is_final_response(self) -> bool:
        """Return whether the event is an agent's answer to show to the user."""
        return is_final_response(self)

    def _parts(self) -> list[Any]:
        content = self.content
        return (None if content is None else content.parts) or []

    def model_dump_json(self, *, indent: int | None = None, by_alias: bool = False, **_: Any) -> str:
        """Return google-adk's own JSON, as `Event.model_dump_json(exclude_none=True)` does."""
        if by_alias:
            text: str = self.checked().model_dump_json(by_alias=True, exclude_none=True, indent=indent)
            return text
        return json.dumps(self._data, ensure_ascii=False, separators=(",", ":") if indent is None else None, indent=indent)

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Return the event's JSON object. It is not a copy."""
        data: dict[str, Any] = self._data
        return data

    @property
    def model_extra(self) -> dict[str, Any]:
        """The fields of other versions that this one reads."""
        return {"node_info": self._data["node_info"]} if "node_info" in self._data else {}


def whole_event(event: Event) -> Event:
    """Return an event with all types of its members, for code that passes them on or changes them; an `Event` is returned as it is."""
    return event.checked() if isinstance(event, PlainEvent) else event


def plain_event(data: Any) -> PlainEvent | None:
    """Return the event of a stored JSON object.

    Args:
        data: the object, with all of `id`, `invocation_id`, `author` and `timestamp`. It becomes the event's.

    Returns:
        None if it has anything but what most events have: then only `Event` knows what it means.
    """
    if type(data) is not dict or not _fits(data, _EVENT) or type(data.get("author")) is not str:
        return None
    actions, content = data.setdefault("actions", {}), data.get("content")
    if not _fits(actions, _ACTIONS) or actions.get("requested_auth_configs") or actions.get("requested_tool_confirmations"):
        return None
    if content is not None and not (_fits(content, _CONTENT) and all(map(_usual_part, content.get("parts", ())))):
        return None
    if "usage_metadata" in data and not _without_nulls(data["usage_metadata"]):
        return None
    ids = data.get("long_running_tool_ids")
    if ids and not all(type(each) is str for each in ids):
        return None
    data["actions"] = {**_EMPTY_ACTIONS, **actions}
    return PlainEvent(data)


def _is_node(value: Any) -> bool:
    return getattr(type(value), "is_node", False)


def _as_json(value: Any) -> Any:
    if isinstance(value, PlainEvent):
        return value.model_dump()
    if isinstance(value, _Node):
        return {name: _as_json(member) for name, member in value.__dict__.items()}
    if _is_node(value):  # of msgspec, which has None for a missing member
        members = {name: getattr(value, name) for name in value.__struct_fields__}
        return {name: _as_json(member) for name, member in members.items() if member is not None}
    return [_as_json(item) for item in value] if type(value) is list else value


def _model(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _content(data: dict[str, Any]) -> _Content:
    return _Content({**data, "parts": [*map(_part, data["parts"])]} if "parts" in data else data)


def _part(data: dict[str, Any]) -> _Part:
    if "function_call" in data:
        data = {**data, "function_call": _FunctionCall(data["function_call"])}
    if "function_response" in data:
        data = {**data, "function_response": _FunctionResponse(data["function_response"])}
    return _Part(data)


def _fits(value: Any, members: dict[str, tuple[type, ...]]) -> bool:
    if type(value) is not dict:
        return False
    try:
        for name, member in value.items():  # a loop, as `all` with a generator takes twice the time of reading the JSON
            if type(member) not in members[name]:
                return False
    except KeyError:
        return False
    return True


def _usual_part(part: Any) -> bool:
    if not _fits(part, _PARTS):
        return False
    call, response = part.get("function_call"), part.get("function_response")
    if (call is not None and not _fits(call, _CALL)) or (response is not None and not _fits(response, _RESPONSE)):
        return False
    if "thought_signature" in part:
        part["thought_signature"] = part["thought_signature"].replace("+", "-").replace("/", "_")
    return True


def _without_nulls(value: Any) -> bool:
    if type(value) is dict:
        for name, item in value.items():  # noqa: SIM110 - as in `_fits`
            if not name.islower() or (type(item) is not int and not _without_nulls(item)):
                return False
        return True
    if type(value) is list:
        return all(map(_without_nulls, value))
    return value is not None
