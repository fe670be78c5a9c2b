"""A tool's result as the function response that a model receives: JSON, and pictures, audio and documents beside it."""

from __future__ import annotations

from typing import Any

from google.genai import types

from runtime.support.json_value import as_json
from runtime.support.unchecked import construct_unchecked
from runtime.tools.base_tool import BaseTool

_MAX_DEPTH = 1  # media are looked for in the result and in the containers in it, as in google-adk


def function_response(call_id: str | None, name: str | None, tool: BaseTool | None, result: Any) -> types.FunctionResponse:
    """Return the response of a call.

    A `types.Part` with bytes or a URI, alone or among the entries of the result, becomes a part of the response: in its JSON, a model
    would see only Base64 text.

    Args:
        call_id: the call's id.
        name: the called tool's name.
        tool: the tool, whose `response_scheduling` is the default; None if there is none of that name.
        result: what the tool or a callback returned. A `types.FunctionResponse` gives the payload and its own scheduling.
    """
    scheduling = tool.response_scheduling if tool is not None else None
    if isinstance(result, types.FunctionResponse):
        scheduling, result = result.scheduling or scheduling, result.response
    media: list[types.FunctionResponsePart] = []
    rest = _without_media(result, media, 0)
    if media:
        result = rest or {}
    own: dict[str, Any] = {"parts": media} if media else {}
    if scheduling is not None:
        own["scheduling"] = scheduling
    response = as_json(result if isinstance(result, dict) else {"result": result})
    return construct_unchecked(types.FunctionResponse, id=call_id, name=name, response=response, **own)


def _without_media(value: Any, media: list[types.FunctionResponsePart], depth: int) -> Any:
    """Return what is left of a value; None if it was a medium, or a container of nothing else."""
    part = _medium(value)
    if part is not None:
        media.append(part)
        return None
    if depth > _MAX_DEPTH or not isinstance(value, (dict, list, tuple)):
        return value
    before = len(media)
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    left = [(key, entry, _without_media(entry, media, depth + 1)) for key, entry in entries]
    if len(media) == before:
        return value
    kept = [(key, rest) for key, entry, rest in left if entry is None or rest is not None]
    if not kept:
        return None
    return dict(kept) if isinstance(value, dict) else [rest for _, rest in kept]


def _medium(value: Any) -> types.FunctionResponsePart | None:
    if not isinstance(value, types.Part):
        return None
    blob, file = value.inline_data, value.file_data
    if blob is not None and blob.data is not None and blob.mime_type:
        return types.FunctionResponsePart.from_bytes(data=blob.data, mime_type=blob.mime_type)
    if file is not None and file.file_uri and file.mime_type:
        return types.FunctionResponsePart.from_uri(file_uri=file.file_uri, mime_type=file.mime_type)
    return None
