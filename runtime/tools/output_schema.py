"""The shape an agent's answer is to have."""

from __future__ import annotations

import json
from typing import Any

from google.genai import types
from pydantic import TypeAdapter, ValidationError

from runtime.errors.known_error import KnownError


class OutputSchemaError(KnownError, ValueError):
    """The model's answer does not have the shape that `output_schema` asks for."""


def shaped(schema: Any, text: str) -> Any:
    """Return an answer as JSON values of the shape it is to have.

    Args:
        schema: a pydantic model class or another type; of a schema dict or `types.Schema` only that the answer is JSON is checked.
        text: the answer.

    Raises:
        OutputSchemaError: it has another shape; the text says where.
    """
    try:
        if schema is None or isinstance(schema, (dict, types.Schema)):
            return json.loads(text)
        adapter: TypeAdapter[Any] = TypeAdapter(schema)
        return adapter.dump_python(adapter.validate_json(text), mode="json", exclude_none=True)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        raise OutputSchemaError("; ".join(f"{'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in problems)) from error
    except ValueError as error:
        raise OutputSchemaError(f"it is no JSON: {error}") from error
