"""Conversion of a v0 row's pickled actions to plain JSON data."""

from __future__ import annotations

import base64
import time
from datetime import date, datetime, timedelta, timezone
from datetime import time as clock_time
from typing import Any

from runtime.storage.layouts.read_time_limit import current_limit
from runtime.storage.layouts.unpickle import OddKey, Record, UnpickleError, unpickle

_DEEPEST = 150  # levels
_MOST_VALUES = 1_000_000  # a few bytes of pickle can repeat the same list a million times
_VALUES_BETWEEN_LOOKS = 256  # values between two checks of the clock
_LONGEST_TRACE = 10_000  # characters
_LONGEST_ZONE = 60  # characters of a time zone's name
_LONGEST_NUMBER = 10_000  # bits; Python refuses to print many more digits


def read_actions(pickled: bytes) -> dict[str, Any]:
    """Return pickled actions as JSON data, without fields that are None.

    A tool may have stored any object under a `temp:` key: times are returned in ISO form, other objects as a readable description.

    Args:
        pickled: the untrusted content of the column `actions`.

    Raises:
        UnpickleError: the bytes are not a pickle of actions, or are too large, too deep or too slow to read.
    """
    with current_limit().spending(len(pickled)) as deadline:
        return _actions(unpickle(pickled, deadline), deadline)


def _actions(value: Any, deadline: float) -> dict[str, Any]:
    if isinstance(value, Record):
        fields = _fields(value)
        if fields is None:
            raise UnpickleError(f"the pickle holds {value!r} instead of actions")
    elif isinstance(value, dict):
        fields = value
    else:
        raise UnpickleError(f"the pickle holds a {type(value).__name__} instead of actions")
    plain = _Plain(deadline).model(fields, 0)
    return plain


class _Plain:
    """A converter of unpickled values to JSON data, within limits."""

    def __init__(self, deadline: float) -> None:
        self._left = _MOST_VALUES
        self._deadline = deadline

    def model(self, fields: dict[Any, Any], depth: int) -> dict[str, Any]:
        """Return a model's fields without those that are None; an enum member becomes its value."""
        return {_key(name): self.value(value, depth + 1, in_model=True) for name, value in fields.items() if value is not None}

    def value(self, value: Any, depth: int, *, in_model: bool = False) -> Any:
        self._left -= 1
        if self._left < 0:
            raise UnpickleError("the pickle holds too many values")
        if self._left % _VALUES_BETWEEN_LOOKS == 0 and time.thread_time() > self._deadline:
            raise UnpickleError("the pickle takes too long")
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
    """Return the fields of a pydantic model, or None if the object is not one."""
    state = record.state
    if not isinstance(state, dict) or "__pydantic_fields_set__" not in state or not isinstance(state.get("__dict__"), dict):
        return None
    extra = state.get("__pydantic_extra__")
    fields: dict[Any, Any] = {**state["__dict__"], **(extra if isinstance(extra, dict) else {})}
    return fields


def _moment(record: Record) -> str | None:
    """Return a datetime, date or time in ISO form; None if the object is none."""
    kind, args = _MOMENTS.get(record.name), record.args or ()
    packed = args[0] if args else None
    if kind is None or not isinstance(packed, bytes) or len(args) > 2:
        return None
    zone = _zone(args[1]) if len(args) == 2 else None
    try:
        text = kind(packed, *([zone] if isinstance(zone, timezone) else [])).isoformat()
    except (ValueError, TypeError):
        return None
    return text if len(args) == 1 or isinstance(zone, timezone) else f"{text}[{zone}]"


_MOMENTS: dict[str, Any] = {"datetime.datetime": datetime, "datetime.date": date, "datetime.time": clock_time}


def _zone(value: Any) -> timezone | str:
    """Return a pickled time zone: its offset from UTC, or its name, as only the zone's database has its offsets."""
    args = value.args or () if isinstance(value, Record) else ()
    if isinstance(value, Record) and value.name == "datetime.timezone" and args and isinstance(args[0], Record):
        try:
            return timezone(timedelta(*(args[0].args or ())))
        except (ValueError, TypeError, OverflowError):
            return "?"
    names = [arg for arg in args if isinstance(arg, str)]
    return names[0][:_LONGEST_ZONE] if names else value.name.rpartition(".")[2].strip("_") if isinstance(value, Record) else "?"


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
