"""JSON as a person writes it: read, or told where it goes wrong and what is expected there. No Qt."""

from __future__ import annotations

import json
from typing import Any

_EXPECTED = {
    "Expecting value": "a JSON value is expected here; text goes in double quotes.",
    "Expecting ',' delimiter": "a comma or a closing bracket is expected here.",
    "Expecting ':' delimiter": "a colon is expected here, after the key.",
    "Expecting property name enclosed in double quotes": "a key in double quotes is expected here.",
    "Illegal trailing comma before end of object": "the comma before the closing bracket is one too many.",
    "Illegal trailing comma before end of array": "the comma before the closing bracket is one too many.",
    "Invalid control character at": "the text goes on past its line: its closing double quote is missing.",
    "Unterminated string starting at": "the text that begins here has no closing double quote.",
    "Extra data": "the value ends before this; nothing more is expected.",
}


def parse_json(text: str) -> Any:
    """Return the JSON value of a text.

    Raises:
        ValueError: it is none; the text says where, and that NaN and Infinity are no JSON.
    """
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        expected = _EXPECTED.get(error.msg, f"this is not JSON ({error.msg}).")
        raise ValueError(f"Line {error.lineno}, column {error.colno}: {expected}") from None
    except RecursionError:
        raise ValueError("It is nested too deeply.") from None


def parse_json_object(text: str) -> dict[str, Any]:
    """Return the JSON object of a text.

    Raises:
        ValueError: it is none.
    """
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError("It must be a JSON object: {…}.")
    return value


def refuse_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which Python reads and JSON does not have."""
    raise ValueError(f"{name} is no JSON number.")
