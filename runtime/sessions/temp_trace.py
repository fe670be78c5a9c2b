"""The stored trace of an event's `temp:` keys: their names and types. The values are never stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from runtime.events.marks import TEMP_GONE
from runtime.support.quick_json import from_json

_TYPES = "types"  # earlier versions stored the keys with their values; this key marks a trace without values
_LONGEST_TYPE = 100  # characters


class NotStored(str):
    """A description that replaces the value of a `temp:` key of which only the type is stored."""

    type_name: str

    def __new__(cls, type_name: str) -> NotStored:
        """Return the description."""
        described = super().__new__(cls, f"not stored ({type_name})")
        described.type_name = type_name
        return described

    def __getnewargs__(self) -> tuple[str]:
        """Return the arguments with which a copy is made."""
        return (self.type_name,)


def trace_of(temp: Mapping[str, Any]) -> str | None:
    """Return the trace of `temp:` keys as JSON text; None if there are none.

    Args:
        temp: any objects by key, `TEMP_GONE` included.
    """
    if not temp:
        return None
    gone = {TEMP_GONE: True} if TEMP_GONE in temp else {}
    return json.dumps({_TYPES: {key: _type_name(value) for key, value in temp.items() if key != TEMP_GONE}, **gone})


def read_trace(text: Any) -> dict[str, Any]:
    """Return the keys of a stored trace, each with a `NotStored`; empty if it cannot be read.

    Args:
        text: the column's value, untrusted. Values that an earlier version stored are not returned.
    """
    try:
        stored = from_json(text) if isinstance(text, (str, bytes)) else None
    except ValueError:
        return {}
    if not isinstance(stored, dict):
        return {}
    types = stored.get(_TYPES)
    keys: dict[str, Any] = {TEMP_GONE: True} if TEMP_GONE in stored else {}
    if isinstance(types, dict):
        names = {key: name if isinstance(name, str) else "unknown type" for key, name in types.items()}
    else:
        names = {key: _type_name(value) for key, value in stored.items() if key != TEMP_GONE}
    return {**keys, **{key: NotStored(name[:_LONGEST_TYPE]) for key, name in names.items()}}


def without_values(text: Any) -> str | None:
    """Return a stored trace without the values that an earlier version stored."""
    return trace_of(read_trace(text))


def _type_name(value: Any) -> str:
    return value.type_name if isinstance(value, NotStored) else type(value).__qualname__[:_LONGEST_TYPE]
