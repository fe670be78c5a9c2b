"""Held model and tool calls: what a person sees of them and may change."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from runtime.errors.known_error import KnownError
from runtime.errors.unstorable_value_error import UnstorableValueError
from runtime.sessions.state import same_value, storable
from runtime.support.json_schema import misfit
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    import pydantic
    from google.genai import types

    from runtime.models import llm_request, llm_response
else:
    pydantic = lazy_module("pydantic")
    types = lazy_module("google.genai.types")
    llm_request = lazy_module("runtime.models.llm_request")
    llm_response = lazy_module("runtime.models.llm_response")

_NOT_JSON = "(not editable: a Python object)"


class CallEditError(KnownError, ValueError):
    """A person's replacement for a request, answer, arguments or result is not valid; the message says why."""


class RaisedByHandError(KnownError, RuntimeError):
    """A person made a tool call fail."""


class ToolCall:
    """A tool call that is held or has failed.

    Attributes:
        name: the tool's name.
        call_id: the function call's id.
        args: its arguments; changed by `edit_args` only.
        schema: JSON schema of the arguments; None if the tool declares none.
        error: the tool's exception, if the call is held at its failure.
        result: a result that replaces the tool's; None if it is to run.
        failure: an exception raised instead of running the tool; None if it is to run.
        edits: the manual changes so far, as recorded in the event.
    """

    def __init__(
        self,
        name: str,
        call_id: str | None,
        args: Mapping[str, Any],
        error: Exception | None = None,
        schema: Callable[[], Mapping[str, Any] | None] = lambda: None,
    ) -> None:
        self.name = name
        self._read_schema = schema
        self.call_id = call_id
        self.args: dict[str, Any] = copy.deepcopy(dict(args))
        self.error = error
        self.result: dict[str, Any] | None = None
        self.failure: Exception | None = None
        self._first_args = self.args

    @cached_property
    def schema(self) -> Mapping[str, Any] | None:  # noqa: D102  # see the class
        return self._read_schema()

    def misfit(self, args: Mapping[str, Any]) -> str:
        """Return a sentence that names the first argument that does not fit the tool; empty if all fit."""
        return misfit(self.schema, args) if self.schema is not None else ""

    def edit_args(self, args: Mapping[str, Any]) -> None:
        """Change the arguments.

        Raises:
            CallEditError: they are not a JSON object, one does not fit the tool's parameters, or the tool has already failed.
        """
        if self.error is not None:
            raise CallEditError(f"{self.name} has already been called. Give a result instead, or let the call fail.")
        wanted = _json_object(args, "arguments")
        if problem := self.misfit(wanted):
            raise CallEditError(problem)
        self.args = wanted
        self.result = self.failure = None

    def give_result(self, result: Mapping[str, Any]) -> None:
        """Set a result; the tool does not run.

        Raises:
            CallEditError: it is not a JSON object.
        """
        self.result, self.failure = _json_object(result, "result"), None

    def fail(self, message: str) -> None:
        """Make the call fail; the tool does not run, and the agent sees an exception with this message."""
        self.result, self.failure = None, RaisedByHandError(message)

    def reset(self) -> None:
        """Undo all changes."""
        self.args, self.result, self.failure = self._first_args, None, None

    @property
    def edits(self) -> dict[str, Any]:  # noqa: D102  # see the class
        edits: dict[str, Any] = {}
        if not same_value(self.args, self._first_args):
            edits["arguments"] = {"before": self._first_args, "after": self.args}
        if self.result is not None:
            edits["result"] = self.result
        if self.failure is not None:
            edits["failure"] = str(self.failure)
        if edits and self.error is not None:
            edits["error"] = f"{type(self.error).__name__}: {self.error}"
        return {"tool": self.name, **edits} if edits else {}


class ModelCall:
    """A model call that is held or has failed.

    Attributes:
        request: the request to send; changed by `edit_request` only.
        error: the model's exception, if the call is held at its failure.
        response: an answer that replaces the model's; None if the model is to be called.
    """

    def __init__(self, request: llm_request.LlmRequest, error: Exception | None = None) -> None:
        self.request = request
        self.error = error
        self.response: llm_response.LlmResponse | None = None
        self._edited: dict[str, Any] | None = None

    @cached_property
    def _first(self) -> dict[str, Any]:
        return request_json(self.request)  # computed only when a person opens it: a conversation can be long

    def json(self) -> dict[str, Any]:
        """Return the whole request as JSON: `model`, `contents` and `config` (instruction, tools, schemas, sampling)."""
        return copy.deepcopy(self._edited if self._edited is not None else self._first)

    def edit_request(self, edited: Mapping[str, Any]) -> None:
        """Change the request.

        Args:
            edited: the JSON of `json`, changed. Unchanged parts keep their objects.

        Raises:
            CallEditError: it is not a request, or the model has already failed.
        """
        if self.error is not None:
            raise CallEditError("The model has already been called. Give an answer instead.")
        wanted = _json_object(edited, "request")
        changed_request(self.request, self._first, wanted)
        self._edited, self.response = wanted, None

    def answer(self, answer: str | Mapping[str, Any]) -> None:
        """Set an answer; the model is not called.

        Args:
            answer: a text, or the JSON of an `LlmResponse` (`{"content": {"role": "model", "parts": […]}}`).

        Raises:
            CallEditError: it is not a response.
        """
        if isinstance(answer, str):
            self.response = llm_response.LlmResponse(content=types.Content(role="model", parts=[types.Part(text=answer)]))
            return
        try:
            response = llm_response.LlmResponse.model_validate_json(json.dumps(_json_object(answer, "answer")))
        except pydantic.ValidationError as error:
            raise CallEditError(f"This is not a model's answer: {_first_problem(error)}") from None
        if not (response.content and response.content.parts) and not response.error_code:
            raise CallEditError("An answer needs content with at least one part, or an error_code.")
        self.response = response.model_copy(update={"partial": None})

    def reset(self) -> None:
        """Undo all changes."""
        self._edited = self.response = None

    def apply(self) -> None:
        """Apply the edits to the request."""
        if self._edited is not None and self.response is None:
            changed = changed_request(self.request, self._first, self._edited)
            self.request.model, self.request.contents, self.request.config = changed.model, changed.contents, changed.config

    @property
    def edits(self) -> dict[str, Any]:
        """The manual changes, as recorded in the event; empty if there are none."""
        if self.response is not None:
            failed = {"error": f"{type(self.error).__name__}: {self.error}"} if self.error is not None else {}
            return {"answer": True, **failed}
        changes = _differences(self._first, self._edited) if self._edited is not None else []
        return {"request": changes} if changes else {}


def request_json(request: llm_request.LlmRequest) -> dict[str, Any]:
    """Return a request as JSON; objects that are not JSON (such as a response schema given as a class) are named instead."""
    config = {}
    for name in sorted(request.config.model_fields_set):
        value = getattr(request.config, name)
        if value is not None:
            config[name] = _field_json(request.config, name)
    contents = [content.model_dump(mode="json", exclude_none=True) for content in request.contents]
    return {"model": request.model, "contents": contents, "config": config}


def _field_json(config: types.GenerateContentConfig, name: str) -> Any:
    try:
        dumped = config.model_dump(mode="json", include={name}, exclude_none=True).get(name)
        return storable(dumped, name)
    except Exception:  # pydantic, or the object's own code, may raise anything
        value = getattr(config, name)
        if isinstance(value, type) and issubclass(value, pydantic.BaseModel):
            return f"{_NOT_JSON[:-1]}, {value.__name__})"
        return _NOT_JSON


def changed_request(request: llm_request.LlmRequest, before: Mapping[str, Any], after: Mapping[str, Any]) -> llm_request.LlmRequest:
    """Return a request with the differences between two JSON forms of it applied.

    Raises:
        CallEditError: the result is not a request.
    """
    unknown = sorted(after.keys() - {"model", "contents", "config"})
    if unknown:
        raise CallEditError(f"A request has model, contents and config; not {', '.join(unknown)}.")
    update: dict[str, Any] = {}
    try:
        if after.get("model") != before.get("model"):
            update["model"] = llm_request.LlmRequest.model_validate({"model": after.get("model")}).model
        if not same_value(after.get("contents"), before.get("contents")):
            update["contents"] = _contents(request, before["contents"], after.get("contents", []))
        config = _json_object(after.get("config", {}), "config")
        changed = {name: value for name, value in config.items() if not same_value(value, before["config"].get(name))}
        gone = {name: None for name in before["config"] if name not in config}
        if changed or gone:
            checked = types.GenerateContentConfig.model_validate_json(json.dumps(changed))
            fields = {name: getattr(checked, name) for name in checked.model_fields_set}
            update["config"] = request.config.model_copy(update={**fields, **gone})
    except pydantic.ValidationError as error:
        raise CallEditError(f"This is not a request: {_first_problem(error)}") from None
    return request.model_copy(update=update)


def _contents(request: llm_request.LlmRequest, before: list[Any], after: Any) -> list[types.Content]:
    """Return contents built from JSON; unchanged ones keep their objects."""
    present = {json.dumps(value, sort_keys=True): content for value, content in zip(before, request.contents, strict=True)}
    if not isinstance(after, list):
        raise CallEditError("The contents of a request must be a list.")
    contents = []
    for index, value in enumerate(after):
        text = json.dumps(value, sort_keys=True)
        try:
            contents.append(present.get(text) or types.Content.model_validate_json(text))
        except pydantic.ValidationError as error:
            raise CallEditError(f"This is not a request: contents[{index}]: {_first_problem(error)}") from None
    return contents


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the differences by place: the model, each content, each field of the config."""
    old, new = _places(before), _places(after)
    return [
        {"path": path, "before": old.get(path), "after": new.get(path)}
        for path in dict.fromkeys([*old, *new])
        if not same_value(old.get(path), new.get(path))
    ]


def _places(request: Mapping[str, Any]) -> dict[str, Any]:
    places = {"model": request.get("model")}
    places |= {f"contents[{index}]": content for index, content in enumerate(request.get("contents") or [])}
    return places | {f"config.{name}": value for name, value in (request.get("config") or {}).items()}


def _json_object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise CallEditError(f"The {what} must be a JSON object, not {json.dumps(value, default=lambda other: type(other).__name__)[:60]}.")
    try:
        copied: dict[str, Any] = storable(dict(value), what)
    except UnstorableValueError as error:
        raise CallEditError(str(error)) from None
    return copied


def _first_problem(error: pydantic.ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
