"""Validation of answers against an agent's `output_schema`."""

from __future__ import annotations

import json
import re
from typing import Any

from google.genai import types
from pydantic import TypeAdapter, ValidationError

from runtime.errors.known_error import KnownError

_FENCE = "```"


class OutputSchemaError(KnownError, ValueError):
    """Raised when a model's answer does not match the `output_schema`."""


def shaped(schema: Any, text: str) -> Any:
    """Return an answer as JSON values, validated against a schema.

    Args:
        schema: a pydantic model class or another type. With a schema dict or `types.Schema`, the answer only has to be JSON.
        text: the answer; a Markdown fence around all of it is removed, as in google-adk 2.

    Raises:
        OutputSchemaError: the answer does not match; the message says where.
    """
    text = _without_fence(text)
    try:
        if schema is None or isinstance(schema, (dict, types.Schema)):
            return json.loads(text)
        adapter: TypeAdapter[Any] = TypeAdapter(schema)
        return adapter.dump_python(adapter.validate_json(text), mode="json", exclude_none=True)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        raise OutputSchemaError("; ".join(f"{'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in problems)) from error
    except ValueError as error:
        raise OutputSchemaError(f"it is not JSON: {error}") from error


def _without_fence(text: str) -> str:
    bare = text.strip()
    if len(bare) < 2 * len(_FENCE) or not (bare.startswith(_FENCE) and bare.endswith(_FENCE)):
        return text
    return re.sub(r"^[A-Za-z0-9_]*[ \t]*\n?", "", bare[len(_FENCE) : -len(_FENCE)], count=1).strip()
