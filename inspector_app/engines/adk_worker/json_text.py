"""Python objects as JSON text."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from .texts import text_of, type_name

MAX_JSON_DEPTH = 100  # of values that are no events, such as arguments
MAX_ITEMS = 5_000_000  # of all containers together: one that contains another several times is written as often
MAX_BITS = 10_000  # of an integer; Python refuses to write one of more than 4,300 digits
MAX_REPR = 1_000  # characters of an object that JSON cannot express

_ENCODER = json.JSONEncoder(allow_nan=False)
_SCALARS = frozenset((str, int, float, bool, type(None)))


def to_json(value: Any) -> str:
    """Return JSON text. What JSON cannot express is replaced: NaN by null, other objects by their `repr`, what is too much by `…`.

    Only `__repr__` and `model_dump` of the agent's objects are called: a subclass of `dict` may have endless items.
    """
    if _is_plain(value, 0, [MAX_ITEMS]):
        with contextlib.suppress(ValueError):  # NaN, or an integer of thousands of digits
            return _ENCODER.encode(value)
    return json.dumps(_storable(value, (), [MAX_ITEMS]), allow_nan=False)


def _is_plain(value: Any, depth: int, left: list[int]) -> bool:
    """Return whether encoding a value runs no code but JSON's own, and ends."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is not dict and kind is not list and kind is not tuple:
        return False
    left[0] -= len(value)
    if depth > MAX_JSON_DEPTH or left[0] < 0:
        return False
    if kind is dict:
        return all(type(key) is str and (type(item) in _SCALARS or _is_plain(item, depth + 1, left)) for key, item in value.items())
    return all(type(item) in _SCALARS or _is_plain(item, depth + 1, left) for item in value)


def _storable(value: Any, above: tuple[Any, ...], left: list[int]) -> Any:
    """Return a value with only what JSON can express.

    Args:
        value: any value.
        above: the containers that it is in.
        left: how many more items may be written.
    """
    left[0] -= 1
    if len(above) > MAX_JSON_DEPTH or left[0] < 0 or any(value is one for one in above):
        return "…"
    try:
        return _replaced(value, above, left)
    except BaseException as error:  # the object's own code
        return f"<{type_name(value)}: it cannot be read: {type_name(error)}>"


def _replaced(value: Any, above: tuple[Any, ...], left: list[int]) -> Any:
    kind = type(value)
    if value is None or kind is bool:
        return value
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        number = int.__index__(value)
        return number if number.bit_length() < MAX_BITS else f"<a number of {number.bit_length():,} bits>"
    if issubclass(kind, float):
        real = float.__float__(value)
        return real if real == real and abs(real) != float("inf") else None
    if issubclass(kind, dict):
        return {text_of(key): _storable(item, (*above, value), left) for key, item in dict.items(value) if left[0] > 0}
    for container in (list, tuple, set, frozenset):
        if issubclass(kind, container):
            return [_storable(item, (*above, value), left) for item in container.__iter__(value) if left[0] > 0]
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not issubclass(kind, type):
        return _storable(dump(mode="json", exclude_none=True), (*above, value), left)
    return text_of(value, repr, MAX_REPR)


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
    for key in [key for key in kept if text_of(key).startswith("temp:")]:
        del kept[key]
    return to_json(data)
