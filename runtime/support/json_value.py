"""Conversion of tool results to JSON."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_jsonable_python


def as_json(value: Any) -> Any:
    """Convert models, dates, tuples and the like to JSON values, as google-adk's database service does.

    A value that cannot be converted is returned unchanged; the session service rejects it and names its place.
    """
    try:
        return to_jsonable_python(value, exclude_none=True, by_alias=False)
    except ValueError:  # unknown types, bytes that are not text, recursive values, too many levels
        return value
