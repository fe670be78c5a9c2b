"""Parts of contents as parts of A2A messages, and back. Loading this module loads the package a2a-sdk.

Calls, results and code are data parts, with google-adk's marks in their metadata, so that both engines understand each other.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
from typing import Any

from a2a import types as a2a
from google.genai import types
from google.protobuf import json_format, struct_pb2
from pydantic import ValidationError

logger = logging.getLogger(__name__)

MARK = "adk_"  # before each key of google-adk in the metadata of the protocol's objects
TYPE = f"{MARK}type"
LONG_RUNNING = f"{MARK}is_long_running"
_THOUGHT = f"{MARK}thought"
_SIGNATURE = f"{MARK}thought_signature"
_DATA_START, _DATA_END, _DATA_TYPE = b"<a2a_datapart_json>", b"</a2a_datapart_json>", "text/plain"

_FIELDS: dict[str, type[Any]] = {
    "function_call": types.FunctionCall,
    "function_response": types.FunctionResponse,
    "code_execution_result": types.CodeExecutionResult,
    "executable_code": types.ExecutableCode,
}


def as_json(message: Any) -> dict[str, Any]:
    """Return one of the protocol's objects as JSON, with the protocol's names.

    Args:
        message: the object.
    """
    return dict(json_format.MessageToDict(message))


def as_struct(values: dict[str, Any]) -> Any:
    """Return a JSON object as the protocol's objects have it.

    Args:
        values: the object.
    """
    return json_format.ParseDict(values, struct_pb2.Struct())


def state_named(name: str) -> Any:
    """Return a state of tasks.

    Args:
        name: in lower case, such as `input_required`.
    """
    return a2a.TaskState.Value(f"TASK_STATE_{name.upper()}")


def to_a2a_part(part: types.Part) -> Any:
    """Return a part for an A2A message; None for a part that the protocol cannot carry.

    Args:
        part: the part of a content.
    """
    metadata = dict(part.part_metadata or {})
    if part.text is not None:
        marks: dict[str, Any] = {} if part.thought is None else {_THOUGHT: part.thought}
        return a2a.Part(text=part.text, metadata=_marked(marks, metadata))
    if part.file_data:
        file = part.file_data
        url, kind, name = file.file_uri or "", file.mime_type or "", file.display_name or ""
        return a2a.Part(url=url, media_type=kind, filename=name, metadata=_marked({}, metadata))
    if part.inline_data and part.inline_data.data is not None:
        return _bytes_part(part.inline_data, metadata)
    for field in _FIELDS:
        value = getattr(part, field)
        if value is not None:
            marks = {TYPE: field}
            if part.thought_signature is not None:
                marks[_SIGNATURE] = base64.b64encode(part.thought_signature).decode()
            data = value.model_dump(mode="json", by_alias=True, exclude_none=True)
            return a2a.Part(data=json_format.ParseDict(data, struct_pb2.Value()), metadata=_marked(marks, metadata))
    logger.warning("A part of a message is left out, as A2A messages have no such part: %s.", sorted(part.model_fields_set))
    return None


def _bytes_part(blob: types.Blob, metadata: dict[str, Any]) -> Any:
    data = blob.data or b""
    if blob.mime_type == _DATA_TYPE and data.startswith(_DATA_START) and data.endswith(_DATA_END):
        value = json_format.Parse(data[len(_DATA_START) : -len(_DATA_END)], struct_pb2.Value())
        return a2a.Part(data=value, metadata=_marked({}, metadata))
    return a2a.Part(raw=data, media_type=blob.mime_type or "", filename=blob.display_name or "", metadata=_marked({}, metadata))


def _marked(marks: dict[str, Any], metadata: dict[str, Any]) -> Any:
    """Return the marks and a part's metadata; None if there are none."""
    return as_struct({**marks, **metadata}) if marks or metadata else None


def to_genai_part(part: Any) -> types.Part | None:
    """Return a part of an A2A message as a part of a content; None for one that cannot be read.

    Args:
        part: an `a2a.types.Part`.
    """
    metadata = as_json(part.metadata) or None
    kind = part.WhichOneof("content")
    if kind == "text":
        return types.Part(text=part.text, thought=(metadata or {}).get(_THOUGHT), part_metadata=metadata)
    name, media = part.filename or None, part.media_type or None
    if kind == "url":
        return types.Part(file_data=types.FileData(file_uri=part.url, mime_type=media, display_name=name), part_metadata=metadata)
    if kind == "raw":
        return types.Part(inline_data=types.Blob(data=part.raw, mime_type=media, display_name=name), part_metadata=metadata)
    return _part_of_data(part, metadata) if kind == "data" else None


def _part_of_data(part: Any, metadata: dict[str, Any] | None) -> types.Part | None:
    data: Any = json_format.MessageToDict(part.data)
    field = (metadata or {}).get(TYPE)
    if field not in _FIELDS:
        blob = types.Blob(data=_DATA_START + json.dumps(data).encode() + _DATA_END, mime_type=_DATA_TYPE)
        return types.Part(inline_data=blob, part_metadata=metadata)
    try:
        value = _FIELDS[field].model_validate(data)
        signature = base64.b64decode((metadata or {}).get(_SIGNATURE, "")) or None
    except (ValidationError, binascii.Error, TypeError) as error:
        logger.warning("A part of an A2A message is left out, as it is no valid %s: %s", field, error)
        return None
    return types.Part(**{field: value}, thought_signature=signature, part_metadata=metadata)
