"""A model request and its answer as plain values for display. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from google.genai import types

from runtime.debugger.request_recorder import RecordedRequest
from runtime.events.event import Event
from runtime.events.kinds import text_of_content
from runtime.storage.recordings.recorded_call import RecordedModelCall, RecordedModelRequest

NOT_RECORDED = "This request was not recorded. Runs of this window record theirs; other programs need the recorder plugin."
READING = "The recorded request is being read."
RECONSTRUCTED = " The conversation is reconstructed from the preceding events."
MAX_PRECEDING = 2_000  # preceding events from which a conversation is reconstructed

TOO_MANY_EVENTS = f" The conversation is not reconstructed after more than {MAX_PRECEDING:,} events."


def is_model_answer(event: Event) -> bool:
    """Return whether an event is an answer of a model."""
    if event.author == "user" or event.get_function_responses():
        return False
    return event.usage_metadata is not None or bool(event.content and event.content.role == "model" and event.content.parts)


def recorded_values(call: RecordedModelCall, request: RecordedModelRequest, event: Event, cost: str) -> dict[str, Any]:
    """Return a request of a recording and its answer, title → value; empty values are omitted.

    Args:
        call: when the call was made.
        request: what the model was asked.
        event: the answer.
        cost: the call's price, as a text; empty for none.
    """
    config = {name: value for name, value in request.config.items() if name not in ("system_instruction", "tools")}
    values: dict[str, Any] = {
        "model": request.model or "not named",
        "system instruction": _plain_instruction(request.config.get("system_instruction")),
        "tools": _plain_tools(request.config.get("tools")),
        "settings": config,
        "conversation": [_plain_content(content) for content in request.contents],
        "answer": _answer(event) | ({"cost": cost} if cost else {}),
        "time": _times(call),
    }
    return {title: value for title, value in values.items() if value not in ({}, [], "")}


def _times(call: RecordedModelCall) -> dict[str, Any]:
    found = {"first piece after": call.first, "end after": call.ended}
    return {name: f"{seconds:.3f} s" for name, seconds in found.items() if seconds is not None}


def _plain_instruction(instruction: Any) -> Any:
    if isinstance(instruction, dict):
        return _text(instruction)
    return instruction or ""


def _plain_tools(tools: Any) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for tool in tools if isinstance(tools, list) else []:
        declarations = tool.get("function_declarations") if isinstance(tool, dict) else None
        for declaration in declarations if isinstance(declarations, list) else []:
            if isinstance(declaration, dict):
                named[str(declaration.get("name", "?"))] = {name: value for name, value in declaration.items() if name != "name"}
        if not declarations:
            named[f"tool {len(named) + 1}"] = tool
    return named


def _plain_content(content: Any) -> Any:
    """Return role → content: a string if there is only text, else the parts."""
    if not isinstance(content, dict):
        return content
    parts = content.get("parts")
    parts = parts if isinstance(parts, list) else []
    only_text = all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts)
    return {str(content.get("role", "?")): _text(content) if only_text else parts}


def _text(content: Mapping[str, Any]) -> str:
    parts = content.get("parts")
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict)) if isinstance(parts, list) else ""


def request_values(
    request: RecordedRequest | None, event: Event, conversation: Sequence[types.Content] = (), cost: str = ""
) -> dict[str, Any]:
    """Return a request and its answer, title → value; empty values are omitted.

    Args:
        request: None if it was not recorded.
        event: the answer.
        conversation: the model's input, used if the request was not recorded.
        cost: the call's price, as a text; empty for none.
    """
    values: dict[str, Any] = {}
    if request is not None:
        config = request.config.model_dump(mode="json", exclude_none=True, exclude={"system_instruction", "tools"}, fallback=str)
        values["model"] = request.model or "not named"
        values["system instruction"] = _instruction(request.config.system_instruction)
        values["tools"] = _tools(request.config.tools or [])
        values["settings"] = config
        conversation = request.contents
    values["conversation"] = [_content(content) for content in conversation]
    values["answer"] = _answer(event) | ({"cost": cost} if cost else {})
    return {title: value for title, value in values.items() if value not in ({}, [], "")}


def _instruction(instruction: Any) -> Any:
    if isinstance(instruction, types.Content):
        return text_of_content(instruction)
    return instruction if isinstance(instruction, str) else "" if instruction is None else str(instruction)


def _tools(tools: Iterable[Any]) -> dict[str, Any]:
    """Return the tools' declarations as the model received them, by name."""
    named: dict[str, Any] = {}
    for tool in tools:
        declarations = getattr(tool, "function_declarations", None) or []
        for declaration in declarations:
            named[declaration.name or "?"] = declaration.model_dump(mode="json", exclude_none=True, exclude={"name"})
        if not declarations:
            dumped = tool.model_dump(mode="json", exclude_none=True) if isinstance(tool, types.Tool) else str(tool)
            named[f"tool {len(named) + 1}"] = dumped
    return named


def _content(content: types.Content) -> dict[str, Any]:
    """Return role → content: a string if there is only text, else the parts."""
    parts = content.parts or []
    if all(part.text is not None for part in parts):
        return {content.role or "?": text_of_content(content)}
    return {content.role or "?": [part.model_dump(mode="json", exclude_none=True) for part in parts]}


def _answer(event: Event) -> dict[str, Any]:
    usage = event.usage_metadata
    found: dict[str, Any] = {
        "model version": event.model_version,
        "finish reason": event.finish_reason.value if event.finish_reason else None,
        "prompt tokens": usage.prompt_token_count if usage else None,
        "cached tokens": usage.cached_content_token_count if usage else None,
        "thought tokens": usage.thoughts_token_count if usage else None,
        "answer tokens": usage.candidates_token_count if usage else None,
        "tokens": usage.total_token_count if usage else None,
        "error": event.error_message or event.error_code,
    }
    return {name: value for name, value in found.items() if value is not None}
