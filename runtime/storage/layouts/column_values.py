"""Conversion of time and JSON columns.

Times are integers, microseconds since the epoch: the v1 layout's text holds exactly that precision, and integers can be incremented
without rounding.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar

from runtime.errors.storage_error import StorageError
from runtime.errors.unstorable_value_error import UnstorableValueError
from runtime.support.quick_json import from_json

_LATEST = 1e15  # epoch seconds, about 30 million years from now
_LEAST_MILLISECONDS = 1e11  # a larger number is milliseconds, of a time after March 1973; as seconds it would be after the year 5138
_EPOCH = datetime(1970, 1, 1)
T = TypeVar("T")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

# Sorts times of which some are text, with or without an offset, and some integer milliseconds. To the millisecond, then by the value.
MIXED_TIMES = (
    "CASE typeof({0}) WHEN 'text' THEN (julianday({0}) - 2440587.5) * 86400.0"
    " WHEN 'integer' THEN CASE WHEN abs({0}) < 100000000000 THEN {0} ELSE {0} / 1000.0 END ELSE {0} END"
)
# Shared, because creating an encoder takes as long as encoding a small state.
_SPACED = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def to_micros(epoch: float) -> int:
    """Return epoch seconds as whole microseconds."""
    return round(epoch * 1_000_000)


def is_milliseconds(value: Any) -> bool:
    """Return whether the value of a time column is epoch milliseconds: @google/adk stores integers, google-adk text or real numbers."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _LEAST_MILLISECONDS


def to_seconds(value: float) -> float:
    """Return a time in an event of @google/adk, in epoch milliseconds or seconds, as epoch seconds."""
    return value / 1000 if abs(value) >= _LEAST_MILLISECONDS else value


def to_epoch(micros: int) -> float:
    """Return microseconds as epoch seconds."""
    return micros / 1_000_000


def as_datetime(micros: int) -> datetime:
    """Return the naive UTC time that PostgreSQL's columns hold.

    Raises:
        UnstorableValueError: the time is before year 1 or after year 9999.
    """
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        hint = "; are these milliseconds? Times are epoch seconds" if micros > 0 else ""
        raise UnstorableValueError("timestamp", f"{to_epoch(micros):.0f} is not a time in the years 1 to 9999{hint}") from None


def as_text(micros: int) -> str:
    """Return the UTC time as `YYYY-MM-DD HH:MM:SS.ffffff`, which sorts chronologically."""
    return f"{_second_as_text(micros // 1_000_000)}.{micros % 1_000_000:06}"


@lru_cache(maxsize=8)  # commits follow each other within a second
def _second_as_text(seconds: int) -> str:
    return as_datetime(seconds * 1_000_000).isoformat(" ", "seconds")


def read_time(value: Any) -> int:
    """Return the microseconds of a time column that any ADK may have written.

    Args:
        value: epoch seconds, integer epoch milliseconds, a datetime, or ISO text: with or without a `T`, a fraction and an offset. Without
            an offset it is UTC.

    Raises:
        ValueError: the value is not a time.
    """
    if isinstance(value, bool) or value is None:
        raise ValueError(f"{value!r} is not a time")
    if isinstance(value, (int, float)):
        if not abs(value) < _LATEST:
            raise ValueError(f"{value} is not a time")
        return int(value) * 1_000 if is_milliseconds(value) else to_micros(value)
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    if moment.tzinfo is not None:
        try:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
        except OverflowError as error:
            raise ValueError(f"{value} is not a time in the years 1 to 9999") from error
    return (moment - _EPOCH) // timedelta(microseconds=1)


def read_epoch(value: Any) -> float:
    """Return the epoch seconds of a time column that any ADK may have written.

    Args:
        value: see `read_time`.

    Raises:
        ValueError: the value is not a time.
    """
    if isinstance(value, str):
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            return (moment - _EPOCH).total_seconds()
    return to_epoch(read_time(value))


def as_name(value: Any) -> str:
    """Return a column that should hold a name or an id as text; a crafted file may hold any value there."""
    if isinstance(value, str):
        return value
    return f"(unreadable: {'NULL' if value is None else f'{len(value)} bytes' if isinstance(value, bytes) else value})"


def micros_of(value: Any) -> int:
    """Return a time column's microseconds, 0 if it does not hold a time."""
    try:
        return read_time(value)
    except ValueError:
        return 0


def epoch(value: Any) -> float:
    """Return a time column's epoch seconds, 0 if it does not hold a time."""
    return to_epoch(micros_of(value))


def dump_state(state: dict[str, Any], *, ascii_only: bool) -> str:
    """Return checked state as JSON text.

    Args:
        state: the result of `state.storable`.
        ascii_only: escape non-ASCII characters, as google-adk's v1 layout does. Otherwise write compact UTF-8, as adk web's layout does.

    Raises:
        UnstorableValueError: the value contains a number that is not finite, or a lone surrogate, which no encoding can represent.
    """
    try:
        text = (_SPACED if ascii_only else _COMPACT).encode(state)
    except ValueError as error:
        raise UnstorableValueError("state", f"it is not JSON ({error})") from None
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UnstorableValueError("state", "a text in it contains a lone surrogate (half a surrogate pair)") from None
    return json.dumps(state) if ascii_only else text


def without_lone_surrogates(value: T) -> T:
    """Return a JSON value with halves of surrogate pairs, which JavaScript can store but UTF-8 cannot, as replacement characters."""
    text = json.dumps(value, ensure_ascii=False)
    if not _LONE_SURROGATE.search(text):
        return value
    replaced: T = json.loads(_LONE_SURROGATE.sub("\ufffd", text))
    return replaced


def may_have_surrogates(text: str) -> bool:
    """Return whether JSON text has an escape for a surrogate, whether half of a pair or not."""
    return "\\ud" in text or "\\uD" in text


def load_json_object(value: Any) -> dict[str, Any]:
    """Return the JSON object of a state column, given as text or as the driver's parsed value.

    Raises:
        ValueError: the column does not hold a JSON object, or the object is nested too deeply.
    """
    if isinstance(value, (str, bytes)):
        value = _load_json(value)
    if not isinstance(value, dict):
        raise ValueError(f"it is a {type(value).__name__}, not a JSON object")
    return value


def _load_json(text: str | bytes) -> Any:
    try:
        return from_json(text)
    except ValueError:
        pass
    # Slower, but it accepts invalid JSON such as lone surrogates, and reports where the text is damaged.
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_state(value: Any) -> dict[str, Any]:
    """Return the state in a state column.

    Raises:
        StorageError: the state is damaged.
    """
    try:
        state = from_json(value) if type(value) is str else None
    except ValueError:
        state = None
    if type(state) is dict:
        return state
    try:
        return load_json_object(value)
    except ValueError as error:
        raise StorageError(f"A stored state is damaged: {error}.") from error


def in_seconds(event: dict[str, Any]) -> None:
    """Change an event's times from milliseconds to seconds; google-adk may have stored some of a file's events in seconds."""
    actions = event.get("actions")
    compaction = actions.get("compaction") if isinstance(actions, dict) else None
    for holder, name in ((event, "timestamp"), (compaction, "start_timestamp"), (compaction, "end_timestamp")):
        value = holder.get(name) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and isinstance(value, (int, float)) and not isinstance(value, bool):
            holder[name] = to_seconds(value)
