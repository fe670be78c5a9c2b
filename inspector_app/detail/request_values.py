"""A model request and its answer as plain values for display. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from google.genai import types

from runtime.debugger.request_recorder import RecordedRequest
from runtime.events.event import Event
from runtime.events.kinds import text_of_content

NOT_RECORDED = "A session does not store requests. They are recorded only for runs in this window."
RECONSTRUCTED = " The conversation is reconstructed from the preceding events."
MAX_PRECEDING = 2_000  # preceding events from which a conversation is reconstructed

TOO_MANY_EVENTS = f" The conversation is not reconstructed after more than {MAX_PRECEDING:,} events."


def is_model_answer(event: Event) -> bool:
    """Return whether an event is an answer of a model."""
    if event.author == "user" or event.get_function_responses():
        return False
    return event.usage_metadata is not None or bool(event.content and event.content.role == "model" and event.content.parts)


def request_values(request: RecordedRequest | None, event: Event, conversation: Sequence[types.Content] = ()) -> dict[str, Any]:
    """Return a request and its answer, title → value; empty values are omitted.

    Args:
        request: None if it was not recorded.
        event: the answer.
        conversation: the model's input, used if the request was not recorded.
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
    values["answer"] = _answer(event)
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
