"""What a v0 row's pickled actions say, as plain JSON data."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any

from runtime.storage.layouts.unpickle import OddKey, Record, UnpickleError, unpickle

_DEEPEST = 150
_MOST_VALUES = 1_000_000
"""A few bytes of pickle can mean the same list a million times over."""

_LONGEST_TRACE = 10_000
_LONGEST_NUMBER = 10_000
"""Bits: more digits than Python prints."""


def read_actions(pickled: bytes) -> dict[str, Any]:
    """Return the JSON of pickled actions, without what is None.

    What a tool had put under a `temp:` key may be anything: a time is shown in ISO form, other objects as a readable trace.

    Args:
        pickled: of the column `actions`, from anybody.

    Raises:
        UnpickleError: it is not a pickle of actions, or too large, deep or slow to read.
    """
    value = unpickle(pickled)
    if isinstance(value, Record):
        fields = _fields(value)
        if fields is None:
            raise UnpickleError(f"the pickle holds no actions but {value!r}")
    elif isinstance(value, dict):
        fields = value
    else:
        raise UnpickleError(f"the pickle holds no actions but a {type(value).__name__}")
    plain = _Plain().model(fields, 0)
    return plain


class _Plain:
    """Turns what was unpickled into JSON data, within bounds."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def model(self, fields: dict[Any, Any], depth: int) -> dict[str, Any]:
        """Return a model's fields: those that are None are left out, members of enums are their values."""
        return {_key(name): self.value(value, depth + 1, in_model=True) for name, value in fields.items() if value is not None}

    def value(self, value: Any, depth: int, *, in_model: bool = False) -> Any:
        self._left -= 1
        if self._left < 0:
            raise UnpickleError("the pickle holds too many values")
        if depth > _DEEPEST:
            raise UnpickleError("the pickle holds values nested too deeply")
        if value is None or isinstance(value, (bool, float, str)):
            return value
        if isinstance(value, int):
            return value if value.bit_length() < _LONGEST_NUMBER else f"<a whole number of {value.bit_length()} bits>"
        if isinstance(value, bytes):
            return base64.urlsafe_b64encode(value).decode("ascii")
        if isinstance(value, (list, tuple)):
            return [self.value(item, depth + 1, in_model=in_model) for item in value]
        if isinstance(value, dict):
            return {_key(key): self.value(item, depth + 1) for key, item in value.items()}
        if isinstance(value, Record):
            return self._object(value, depth, in_model)
        return f"<{type(value).__name__}>"

    def _object(self, record: Record, depth: int, in_model: bool) -> Any:
        fields = _fields(record)
        if fields is not None:
            return self.model(fields, depth)
        args = record.args or ()
        if in_model and len(args) == 1 and isinstance(args[0], str) and record.state is None:
            return args[0]
        if record.name in ("datetime.datetime", "datetime.date", "datetime.time"):
            moment = _moment(record)
            if moment is not None:
                return moment
        if record.name in ("builtins.set", "builtins.frozenset", "collections.deque") and args and isinstance(args[0], list):
            return self.value(args[0], depth + 1)
        if record.name == "collections.OrderedDict":
            return {_key(key): self.value(item, depth + 1) for key, item in record.pairs}
        return self._trace(record, depth)

    def _trace(self, record: Record, depth: int) -> str:
        if record.args is None:
            return f"<{record.name}>"
        said = [_short(self.value(arg, depth + 1)) for arg in record.args]
        if record.state is not None:
            said.append(_short(self.value(record.state, depth + 1)))
        said += [_short(self.value(item, depth + 1)) for item in record.items]
        text = f"<{record.name} object{': ' if said else ''}{', '.join(said)}"
        return (text if len(text) < _LONGEST_TRACE else text[:_LONGEST_TRACE] + "…") + ">"


def _fields(record: Record) -> dict[Any, Any] | None:
    """Return the fields of a pydantic model, None if the object was none."""
    state = record.state
    if not isinstance(state, dict) or "__pydantic_fields_set__" not in state or not isinstance(state.get("__dict__"), dict):
        return None
    extra = state.get("__pydantic_extra__")
    fields: dict[Any, Any] = {**state["__dict__"], **(extra if isinstance(extra, dict) else {})}
    return fields


def _moment(record: Record) -> str | None:
    packed = record.args[0] if record.args else None
    if record.name != "datetime.datetime" or not isinstance(packed, bytes) or len(packed) != 10 or len(record.args or ()) != 1:
        return None
    try:
        # year (2 bytes), month, day, hour, minute, second, microsecond (3 bytes); `fold` is the month's highest bit
        date = (int.from_bytes(packed[:2], "big"), packed[2] & 0x7F, packed[3])
        return datetime(*date, packed[4], packed[5], packed[6], int.from_bytes(packed[7:], "big")).isoformat()
    except ValueError:
        return None


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    value = key.value if isinstance(key, OddKey) else key
    if isinstance(value, tuple) and len(value) < 10 and all(isinstance(item, (str, float, bool, type(None))) for item in value):
        return repr(value)[:_LONGEST_TRACE]
    if isinstance(value, int) and value.bit_length() >= _LONGEST_NUMBER:
        return f"<a whole number of {value.bit_length()} bits>"
    return repr(value)[:_LONGEST_TRACE] if not isinstance(value, (tuple, list, dict)) else f"<a {type(value).__name__}>"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) and value.startswith("<") else repr(value)
    return text if len(text) <= 1_000 else text[:1_000] + "…"
