"""A replacement, typed by a person, for a recorded model answer or tool result. No Qt."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inspector_app.presentation.json_text import parse_json_object
from runtime.errors.known_error import KnownError
from runtime.forks.recording import Recording
from runtime.sessions.lineage import Changed
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event
else:
    types = lazy_module("google.genai.types")


class OverrideError(KnownError):
    """The text cannot replace what was recorded; the message says why."""


def overridable_text(event: Event) -> str:
    """Return the editable text of an answer or a result.

    Args:
        event: an event that `runtime.forks.recording.overridable_part` accepts.

    Returns:
        A tool's result as JSON, or several results by call id; an answer's text, or its content as JSON if it is more than text.
    """
    responses = event.get_function_responses()
    if len(responses) == 1:
        return _readable(responses[0].response or {})
    if responses:
        return _readable({response.id or "": response.response or {} for response in responses})
    parts = (event.content.parts if event.content else None) or []
    if all(part.text is not None and not part.thought for part in parts):
        return "".join(part.text or "" for part in parts)
    return _readable(_plain(event.content))


def overridden_content(event: Event, text: str) -> types.Content:
    """Return an event's content with a person's replacement in it.

    Args:
        event: the recorded event; it is not changed.
        text: the replacement, in the form of `overridable_text`; plain text is an answer, too.

    Raises:
        OverrideError: the text is not in that form.
    """
    responses = event.get_function_responses()
    if not responses:
        return _answer(text)
    value = _object(text)
    if len(responses) == 1:
        value = {responses[0].id or "": value}
    elif value.keys() != {response.id for response in responses}:
        raise OverrideError(f"Give a result for each of these calls: {', '.join(response.id or '' for response in responses)}.")
    elif not all(isinstance(each, dict) for each in value.values()):
        raise OverrideError("Each result must be a JSON object: {…}.")
    assert event.content is not None  # it has responses
    content = event.content.model_copy(deep=True)
    for part in content.parts or []:
        if part.function_response:
            part.function_response.response = value[part.function_response.id or ""]
    return content


def changed_in(events: Sequence[Event], recording: Recording) -> Changed:
    """Return how a fork with a repeated run differs from its session.

    Args:
        events: the events of the recorded session.
        recording: the recording to repeat.
    """
    last = recording.last
    if not recording.is_overridden:
        return Changed("rerun", last.id)
    old = next(event for event in events if event.id == last.id)
    what = "result" if old.get_function_responses() else "answer"
    return Changed(what, old.id, _plain(old.content), _plain(last.content))  # type: ignore[arg-type]  # one of its words


def readable_content(content: Any) -> Any:
    """Return the essential part of a content in the form of `changed_in`: its text, results or calls; other values unchanged."""
    parts = content.get("parts") if isinstance(content, dict) else None
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        return content
    found = [_said(part) for part in parts]
    if all(isinstance(part, str) for part in found):
        return "".join(found)
    return found[0] if len(found) == 1 else found


def _said(part: dict[str, Any]) -> Any:
    response, call = part.get("function_response"), part.get("function_call")
    if isinstance(response, dict):
        return response.get("response")
    if isinstance(call, dict):
        return {f"{call.get('name')}(…)": call.get("args")}
    return part.get("text", part)


def _answer(text: str) -> types.Content:
    if not text.strip():
        raise OverrideError("The answer is empty. Write a text or a JSON object.")
    if not text.lstrip().startswith("{"):
        return types.Content(role="model", parts=[types.Part(text=text)])
    try:
        content = types.Content.model_validate(_object(text))
    except ValueError as error:
        raise OverrideError(f"This is not the content of an answer: {_first_line(error)}") from None
    if not content.parts:
        raise OverrideError('An answer needs parts: {"role": "model", "parts": [{"text": "…"}]}.')
    return content


def _object(text: str) -> dict[str, Any]:
    try:
        return parse_json_object(text)
    except ValueError as error:
        raise OverrideError(str(error)) from None


def _first_line(error: ValueError) -> str:
    return " ".join(str(error).splitlines()[1:3])


def _plain(content: types.Content | None) -> Any:
    return content and content.model_dump(mode="json", exclude_none=True)


def _readable(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
