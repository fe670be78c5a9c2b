"""How the columns of the storage layouts hold times and JSON.

Times are handled as whole microseconds since the epoch: that is what the v1 layout's text can hold, and integers can be bumped exactly.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic_core import from_json

from runtime.errors.storage_error import StorageError
from runtime.errors.unstorable_value_error import UnstorableValueError

_EPOCH = datetime(1970, 1, 1)
# Made once: making one costs as much as it takes to encode a small state.
_SPACED = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def to_micros(epoch: float) -> int:
    """Return epoch seconds as whole microseconds."""
    return round(epoch * 1_000_000)


def to_epoch(micros: int) -> float:
    """Return microseconds as epoch seconds."""
    return micros / 1_000_000


def as_datetime(micros: int) -> datetime:
    """Return the UTC time without a zone, as PostgreSQL's columns hold it.

    Raises:
        UnstorableValueError: it is before the year 1 or after 9999.
    """
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        hint = "; are these milliseconds? Times are epoch seconds" if micros > 0 else ""
        raise UnstorableValueError("timestamp", f"{to_epoch(micros):.0f} is no time of the years 1 to 9999{hint}") from None


def as_text(micros: int) -> str:
    """Return UTC as `YYYY-MM-DD HH:MM:SS.ffffff`, which sorts as time does (SEMANTICS.md 9)."""
    return as_datetime(micros).isoformat(" ", "microseconds")


def read_time(value: Any) -> int:
    """Return a time column's microseconds, whoever wrote it.

    Args:
        value: epoch seconds, a datetime, or text in any of the forms seen in the wild: with a `T`, without a fraction, with an offset.
            No zone means UTC.

    Raises:
        ValueError: it is not a time.
    """
    if isinstance(value, bool) or value is None:
        raise ValueError(f"{value!r} is no time")
    if isinstance(value, (int, float)):
        return to_micros(value)
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return (moment - _EPOCH) // timedelta(microseconds=1)


def read_epoch(value: Any) -> float:
    """Return a time column's epoch seconds, whoever wrote it.

    Args:
        value: as for `read_time`.

    Raises:
        ValueError: it is not a time.
    """
    if isinstance(value, str):
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            return (moment - _EPOCH).total_seconds()
    return to_epoch(read_time(value))


def epoch(value: Any) -> float:
    """Return a time column's epoch seconds, 0 where it holds no time."""
    try:
        return to_epoch(read_time(value))
    except ValueError:
        return 0.0


def dump_json(value: Any, path: str, *, ascii_only: bool) -> str:
    """Return checked state as JSON text.

    Args:
        value: as `state.storable` returned it.
        path: what to call it in the error.
        ascii_only: escape everything else, as google-adk's v1 layout does; compact UTF-8, as adk web's does, otherwise.

    Raises:
        UnstorableValueError: it contains half a surrogate pair, which is not text in any encoding.
    """
    text = (_SPACED if ascii_only else _COMPACT).encode(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UnstorableValueError(path, "a text in it contains half a surrogate pair") from None
    return json.dumps(value) if ascii_only else text


def load_json_object(value: Any) -> dict[str, Any]:
    """Return the JSON object of a state column: text, or what the driver already made of it.

    Raises:
        ValueError: it is not a JSON object, or nested too deeply to be read.
    """
    if isinstance(value, (str, bytes)):
        value = _load_json(value)
    if not isinstance(value, dict):
        raise ValueError(f"it is no JSON object but a {type(value).__name__}")
    return value


def _load_json(text: str | bytes) -> Any:
    try:
        return from_json(text)
    except ValueError:
        pass
    # Five times slower; it also reads what no JSON should hold, such as half a surrogate pair, and says where the text is damaged.
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_state(value: Any) -> dict[str, Any]:
    """Return the state of a state column.

    Raises:
        StorageError: it is damaged.
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
