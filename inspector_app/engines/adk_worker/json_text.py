"""Python objects as JSON text."""

from __future__ import annotations

import contextlib
import json
from typing import Any

MAX_JSON_DEPTH = 100  # of values that are no events, such as arguments

_ENCODER = json.JSONEncoder(default=lambda value: _plain(value), allow_nan=False)


def to_json(value: Any) -> str:
    """Return JSON text. What JSON cannot express is replaced: NaN by null, other objects by their `repr`."""
    try:
        return _ENCODER.encode(value)
    except (ValueError, TypeError, RecursionError):
        return json.dumps(_storable(value, 0), allow_nan=False)


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json", exclude_none=True)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return _repr(value)


def _storable(value: Any, depth: int) -> Any:
    if depth > MAX_JSON_DEPTH:
        return "…"
    if isinstance(value, dict):
        return {str(key): _storable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_storable(item, depth + 1) for item in value]
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    plain = _plain(value)
    return plain if isinstance(plain, str) else _storable(plain, depth + 1)


def _repr(value: Any) -> str:
    try:
        return repr(value)[:1000]
    except Exception as error:  # the object's own code
        return f"<{type(value).__name__}: its repr failed: {type(error).__name__}>"


def event_json(event: Any) -> str:
    """Return an event as google-adk stores it, without `temp:` keys."""
    delta = event.actions.state_delta if event.actions is not None else {}
    if not any(isinstance(key, str) and key.startswith("temp:") for key in delta):
        with contextlib.suppress(Exception):  # a value that pydantic cannot write
            return str(event.model_dump_json(exclude_none=True))
    try:
        data = event.model_dump(mode="json", exclude_none=True)
    except Exception:
        data = event.model_dump(exclude_none=True)
    kept = data.get("actions", {}).get("state_delta", {})
    for key in [key for key in kept if str(key).startswith("temp:")]:
        del kept[key]
    return to_json(data)
