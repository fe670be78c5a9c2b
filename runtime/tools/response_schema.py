"""JSON schemas of the values that tools return."""

from __future__ import annotations

import contextlib
import typing
from typing import Any

from pydantic import TypeAdapter

from runtime.support.json_schema import resolved
from runtime.tools.base_tool import BaseTool
from runtime.tools.function_signature import wrapped_function
from runtime.tools.function_tool import FunctionTool


def response_schema(tool: BaseTool) -> dict[str, Any] | None:
    """Return the JSON schema of a function tool's return annotation; None for `dict`, `Any` or no annotation.

    Args:
        tool: any tool; None is returned for those that are not functions.
    """
    if not isinstance(tool, FunctionTool):
        return None
    schema: dict[str, Any] = {}
    with contextlib.suppress(Exception):  # an annotation can be anything
        func = wrapped_function(tool.func)
        hints = typing.get_type_hints(func if hasattr(func, "__annotations__") else type(func).__call__)
        schema = TypeAdapter(hints["return"]).json_schema()
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1:
        schema = {**choices[0], "$defs": schema.get("$defs", {})}
    if "$ref" in schema:
        schema = {**resolved(schema, schema), "$defs": schema.get("$defs", {})}
    return schema if schema.get("properties") or schema.get("type") not in (None, "object", "null") else None
