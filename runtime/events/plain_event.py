"""A stored event as its plain JSON, read like an `Event`.

Validating an event into google-genai's types takes ten times as long as parsing its JSON, and loading the types takes longer than listing
most sessions. So code that only reads may take a plain event. It has the attributes and questions of `Event` that readers use; one that
is missing is None. Only usual events can be plain: msgspec checks them, also while it parses their JSON. The whole JSON is parsed when it
is first needed: most events of a stream are never displayed.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, overload

import msgspec

from runtime.events.final_response import is_final_response
from runtime.support.quick_json import parser_of_many

if TYPE_CHECKING:
    from runtime.events.event import Event


T = TypeVar("T")

_OF_MODELS = frozenset({"model_copy", "model_dump", "model_dump_json", "model_extra", "model_fields_set"})
"""Methods of pydantic's models that readers use: those of the model itself, which is made then."""

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
_parse = parser_of_many()
_ERRORS = (msgspec.MsgspecError, ValueError, RecursionError)
_EMPTY_ACTIONS: dict[str, Any] = {"state_delta": {}, "artifact_delta": {}, "requested_auth_configs": {}, "requested_tool_confirmations": {}}


class computed_once(Generic[T]):
    """Does what `functools.cached_property` does, without the lock that all instances share before Python 3.12.

    Threads that read events would wait for each other there. Two threads may compute the same value; one of the two stays.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> computed_once[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        """Compute the value and put it in place of this descriptor."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


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
    """An event's JSON with the attributes of an `Event`. It is read-only. Its content and actions are msgspec's objects.

    Args:
        typed: what msgspec has read.
        source: the event's JSON object, or its text, which is parsed when the whole object is first needed.
        ids: of the event and its invocation.
        json_wins: see `typed_reader`.
    """

    model = "runtime.events.event:Event"
    output_transcription = input_transcription = output = unknown = None

    def __init__(self, typed: Any, source: Any, ids: tuple[Any, Any], *, json_wins: bool = True) -> None:
        usage = typed.usage_metadata
        super().__init__(
            {
                "id": ids[0],
                "invocation_id": ids[1],
                "author": typed.author,
                "timestamp": typed.timestamp,
                "content": typed.content,
                "actions": typed.actions,
                "usage_metadata": None if usage is None else _Usage(usage),
                "_typed": typed,
                "_source": source,
                "_json_wins": json_wins,
            }
        )

    @computed_once
    def _data(self) -> dict[str, Any]:
        """The JSON object, with all members of actions that an event always has."""
        data: dict[str, Any] = self._source
        if type(self._source) is str:
            found, ids = _parse(self._source), {"id": self.id, "invocation_id": self.invocation_id}
            data = {**ids, **found} if self._json_wins else {**found, **ids}
        data["actions"] = {**_EMPTY_ACTIONS, **data.get("actions", {})}
        for part in data.get("content", {}).get("parts", ()):
            if "thought_signature" in part:
                part["thought_signature"] = _for_urls(part["thought_signature"])
        return data

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


for _name in _SOMETIMES:
    setattr(PlainEvent, _name, property(attrgetter(f"_typed.{_name}")))


def plain_event(data: Any) -> PlainEvent | None:
    """Return the event of a stored JSON object.

    Args:
        data: the object, with all of `id`, `invocation_id`, `author` and `timestamp`. It becomes the event's.

    Returns:
        None if it has anything but what most events have: then only `Event` knows what it means.
    """
    try:
        typed = msgspec.convert(data, _event_type())
    except _ERRORS:
        return None
    return PlainEvent(typed, data, (typed.id, typed.invocation_id)) if _is_usual(typed) else None


def typed_reader(*, json_wins: bool) -> Callable[[Any, Any, Any], PlainEvent | None]:
    """Return a function that reads an event's id, its invocation's id and its JSON, which takes a third of the time of `plain_event`.

    The function returns None for an event that is not plain, and for some that are: `plain_event` decides about these.

    Args:
        json_wins: whether the ids in the JSON count, and the others only where it has none.
    """
    decode = msgspec.json.Decoder(_event_type()).decode

    def read(event_id: Any, invocation_id: Any, text: Any) -> PlainEvent | None:
        if type(text) is not str:
            return None
        try:
            typed = decode(text)
        except _ERRORS:
            return None
        if json_wins:
            event_id = event_id if typed.id is None else typed.id
            invocation_id = invocation_id if typed.invocation_id is None else typed.invocation_id
        if type(event_id) is not str or type(invocation_id) is not str or not _is_usual(typed):
            return None
        return PlainEvent(typed, text, (event_id, invocation_id), json_wins=json_wins)

    return read


def _is_usual(typed: Any) -> bool:
    """Return whether msgspec's event is plain; its signatures are then in the alphabet of URLs."""
    if typed.usage_metadata is not None and not _without_nulls(typed.usage_metadata):
        return False
    for part in (typed.content and typed.content.parts) or ():
        if part.thought_signature is not None:
            part.thought_signature = _for_urls(part.thought_signature)
    return True


def _for_urls(signature: str) -> str:
    return signature.replace("+", "-").replace("/", "_")


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


def _without_nulls(value: Any) -> bool:
    if type(value) is dict:
        for name, item in value.items():  # noqa: SIM110 - `all` with a generator takes twice the time
            if not name.islower() or (type(item) is not int and not _without_nulls(item)):
                return False
        return True
    if type(value) is list:
        return all(map(_without_nulls, value))
    return value is not None


@cache
def _event_type() -> Any:
    """Return msgspec's type of the events that are plain; a missing member is None, and null is an error."""
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
    missing: dict[str, Any] = dict.fromkeys((*written, *asked), msgspec.field(default_factory=dict))
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
    event: list[Any] = [("author", str), ("timestamp", number), *typed, ("actions", actions, msgspec.field(default_factory=actions))]
    return msgspec.defstruct("Event", event, forbid_unknown_fields=True, gc=False)
