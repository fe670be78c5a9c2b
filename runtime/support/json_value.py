"""What tools return and ask, as JSON."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_jsonable_python


def as_json(value: Any) -> Any:
    """Return a value as it is stored: models, dates, tuples and the like become JSON, as google-adk's database service makes them.

    What cannot become JSON stays what it is; the session service refuses it and says where it stands.
    """
    try:
        return to_jsonable_python(value, exclude_none=True, by_alias=False)
    except ValueError:  # unknown types, bytes that are no text, a value within itself, too many levels
        return value
