"""A model request and its answer as plain values for display. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inspector_app.documents.instruction_sources import instruction_sources
from inspector_app.documents.request_json import instruction_text, plain_content, plain_tools, settings_of
from runtime.storage.recordings.recorded_call import RecordedModelCall, RecordedModelRequest

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event

NOT_RECORDED = "This request was not recorded. Runs of this window record theirs; other programs need the recorder plugin."
READING = "The recorded request is being read."
RECONSTRUCTED = " The conversation is reconstructed from the preceding events."
MAX_PRECEDING = 2_000  # preceding events from which a conversation is reconstructed

TOO_MANY_EVENTS = f" The conversation is not reconstructed after more than {MAX_PRECEDING:,} events."


def recorded_values(
    request: RecordedModelRequest,
    event: Event,
    *,
    cost: str = "",
    call: RecordedModelCall | None = None,
) -> dict[str, Any]:
    """Return a recorded request and its answer, title → value; empty values are omitted.

    Args:
        request: what the model was asked.
        event: the answer.
        cost: the call's price, as a text; empty for none.
        call: when the call was made.
    """
    values: dict[str, Any] = {
        "model": request.model or "not named",
        "system instruction": _instruction(request),
        "tools": plain_tools(request.config.get("tools")),
        "settings": settings_of(request.config),
        "conversation": [plain_content(content) for content in request.contents],
        "answer": _answer(event) | ({"cost": cost} if cost else {}),
        "time": _times(call) if call is not None else {},
    }
    return {title: value for title, value in values.items() if value not in ({}, [], "")}


def unrecorded_values(event: Event, conversation: Sequence[types.Content] = (), cost: str = "") -> dict[str, Any]:
    """Return an answer, and what is known of its request, title → value; empty values are omitted.

    Args:
        event: the answer.
        conversation: the model's input, as far as it can be reconstructed.
        cost: the call's price, as a text; empty for none.
    """
    values = {
        "conversation": [plain_content(content.model_dump(mode="json", exclude_none=True)) for content in conversation],
        "answer": _answer(event) | ({"cost": cost} if cost else {}),
    }
    return {title: value for title, value in values.items() if value not in ({}, [], "")}


def _times(call: RecordedModelCall) -> dict[str, Any]:
    found = {"first piece after": call.first, "end after": call.ended}
    return {name: f"{seconds:.3f} s" for name, seconds in found.items() if seconds is not None}


def _instruction(request: RecordedModelRequest) -> Any:
    """Return the system instruction; its stretches by their sources, if there is more than one."""
    text = instruction_text(request.config)
    found = instruction_sources(text, request.agent_texts)
    if len(found) < 2 and not request.agent_texts:
        return text
    values: dict[str, str] = {}
    for source, stretch in found:
        number = sum(name == source or name.startswith(f"{source} (") for name in values) + 1
        values[source if number == 1 else f"{source} ({number})"] = stretch
    return values


def _answer(event: Event) -> dict[str, Any]:
    usage = event.usage_metadata
    found: dict[str, Any] = {
        "model version": event.model_version,
        "finish reason": getattr(event.finish_reason, "value", event.finish_reason),
        "prompt tokens": usage.prompt_token_count if usage else None,
        "cached tokens": usage.cached_content_token_count if usage else None,
        "thought tokens": usage.thoughts_token_count if usage else None,
        "answer tokens": usage.candidates_token_count if usage else None,
        "tokens": usage.total_token_count if usage else None,
        "error": event.error_message or event.error_code,
    }
    return {name: value for name, value in found.items() if value is not None}
