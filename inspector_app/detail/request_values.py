"""A model's request and its answer as plain values, to be shown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from google.genai import types

from runtime.debugger.request_recorder import RecordedRequest
from runtime.events.event import Event
from runtime.events.kinds import text_of_content

NOT_RECORDED = "The request itself is not stored in a session; it is known for runs that were watched in this window."
PUT_TOGETHER = " The conversation is put together from the events before."
MOST_LOOKED_THROUGH = 2_000
"""Events before one, from which what its model was told is put together."""

TOO_FAR = f" Of an event with more than {MOST_LOOKED_THROUGH:,} before it, the conversation is not put together either."


def is_model_answer(event: Event) -> bool:
    """Return whether an event is what a model answered."""
    if event.author == "user" or event.get_function_responses():
        return False
    return event.usage_metadata is not None or bool(event.content and event.content.role == "model" and event.content.parts)


def request_values(request: RecordedRequest | None, event: Event, conversation: Sequence[types.Content] = ()) -> dict[str, Any]:
    """Return a request and its answer, title → value.

    Args:
        request: None where it is not known.
        event: the answer.
        conversation: what the model was told, where the request is not known.
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
    """Return the tools by name, each with what the model was told of it."""
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
    """Return who says what: the text alone where there is nothing else."""
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
