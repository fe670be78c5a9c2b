"""JSON typed by a person: its value, or where it is wrong and what is expected there. No Qt."""

from __future__ import annotations

import json
import math
from typing import Any

_EXPECTED = {
    "Expecting value": "a JSON value is expected here; put text in double quotes.",
    "Expecting ',' delimiter": "a comma or a closing bracket is expected here.",
    "Expecting ':' delimiter": "a colon is expected here, after the key.",
    "Expecting property name enclosed in double quotes": "a key in double quotes is expected here.",
    "Illegal trailing comma before end of object": "remove the comma before the closing bracket.",
    "Illegal trailing comma before end of array": "remove the comma before the closing bracket.",
    "Invalid control character at": "the text has no closing double quote on its line.",
    "Unterminated string starting at": "the text that starts here has no closing double quote.",
    "Extra data": "the value ends before this; remove the rest.",
}


def parse_json(text: str) -> Any:
    """Return the JSON value of a text.

    Raises:
        ValueError: the text is not JSON; the message says where. NaN, Infinity, 1e999 and halves of surrogate pairs cannot be stored.
    """
    try:
        value = json.loads(text, parse_constant=refuse_constant, parse_float=_finite)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        expected = _EXPECTED.get(error.msg, f"this is not JSON ({error.msg}).")
        raise ValueError(f"Line {error.lineno}, column {error.colno}: {expected}") from None
    except UnicodeEncodeError:
        raise ValueError("A text in it has half a surrogate pair, which cannot be stored.") from None
    except RecursionError:
        raise ValueError("It is nested too deeply.") from None
    return value


def parse_json_object(text: str) -> dict[str, Any]:
    """Return the JSON object of a text.

    Raises:
        ValueError: the text is not a JSON object.
    """
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError("It must be a JSON object: {…}.")
    return value


def refuse_constant(name: str) -> Any:
    """Reject NaN and Infinity, which Python accepts and JSON does not."""
    raise ValueError(f"{name} is not a JSON number.")


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text[:40]} is too large a number.")
    return number
