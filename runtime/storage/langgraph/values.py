"""Values in LangGraph's checkpoints, decoded as data: nothing that they name is imported or called."""

from __future__ import annotations

import base64
import importlib
import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from runtime.support.bounded import MOST_BYTES, VALUE, TooMuchError, parse

_DEEPEST = 80  # containers inside one another that are shown; extension types inside one another that are read
_MOST_VALUES = 250_000  # in one stored value; each takes about 5 µs on its way to the window
_BYTES_OF_A_VALUE = 6  # at least, on average, in a stored value that has more
_MOST_LARGE_VALUES = 1_000_000  # of that size, in one stored value
_MOST_CHANNELS = 10_000  # of a checkpoint; each takes about 20 µs
_LONGEST_KEPT = 20_000  # bytes of a message that is kept in memory
_ARRAYS = {*(bytes([head]) for head in range(0x90, 0xA0)), b"\xdc", b"\xdd"}  # first bytes of msgpack's arrays
_EXTENSIONS = {bytes([head]) for head in (0xC7, 0xC8, 0xC9)}  # and of its extension types
TOO_LARGE = "too large"  # the kind of a value that is not fetched, as it has more than `MOST_BYTES`
_TOO_MANY = f"has too many values, or more than {MOST_BYTES // 1_000_000} MB"
_MEMBERS = ("channel_values", "versions_seen", "pending_sends", "ts")  # of a checkpoint that are read
_ARRAY, _SNAPSHOT = 6, 7  # the extension types of numpy's arrays, and of a delta channel's whole value
_TEXTS = {"uuid", "decimal", "datetime", "ipaddress", "pathlib", "fractions", "zoneinfo"}  # modules whose values have a text
_SECRETS = {"SecretStr", "SecretBytes"}  # pydantic's: their text is not displayed
_LISTS = {"set", "frozenset", "deque", "tuple", "list"}


class UnreadableError(ValueError):
    """A stored value that is not read; the message says why, as the rest of a sentence after "it"."""


@dataclass(frozen=True, slots=True, eq=False)
class Typed:
    """A value of a class of the agent's, or of a library.

    Attributes:
        module, name: the class or function that would make the value.
        value: its argument, list of arguments or fields.
        is_snapshot: whether it is the whole value of a delta channel.
    """

    module: str
    name: str
    value: Any
    is_snapshot: bool = False


@dataclass(frozen=True, slots=True)
class Unread:
    """The place of a value that was not read, and the reason."""

    reason: str


def decode(kind: str | None, stored: Any) -> Any:
    """Return a stored value.

    Args:
        kind: the column `type`: how the value is coded.
        stored: the column with the value.

    Raises:
        UnreadableError: it is encrypted, a pickle, damaged, or would take too much memory.
    """
    _refuse_kind(kind)
    if kind in ("null", "empty"):
        return None
    data = stored.encode("utf-8", "replace") if isinstance(stored, str) else stored
    if not isinstance(data, bytes):
        raise UnreadableError("is damaged: it is no BLOB")
    if kind in ("bytes", "bytearray"):
        return data
    try:
        return _of_json(parse(data, len(data) * 5 + _MOST_VALUES * VALUE), 0) if kind == "json" else unpack(data)
    except UnreadableError:
        raise
    except TooMuchError as error:
        raise UnreadableError(str(error)) from None
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"is damaged: {error}") from None


def unpack(data: Any) -> Any:
    """Return a msgpack value.

    Raises:
        UnreadableError: it is damaged, or would take too much memory.
    """
    data = bytes(data)
    if len(data) > MOST_BYTES or (len(data) > _MOST_VALUES and _has_too_many(data)):
        raise UnreadableError(_TOO_MANY)
    return _decode(data, Any)


def _decode(data: bytes, kind: Any) -> Any:
    """Return a msgpack value of a msgspec type."""
    msgspec, depth = _msgspec(), 0

    def extension(code: int, payload: memoryview) -> Any:
        nonlocal depth
        depth += 1
        try:
            if depth > _DEEPEST:
                raise UnreadableError("is nested too deeply")
            if not 0 <= code <= _SNAPSHOT:
                return Typed("", f"extension {code}", bytes(payload))
            return _typed(code, msgspec.msgpack.decode(bytes(payload), ext_hook=extension))
        finally:
            depth -= 1

    try:
        return msgspec.msgpack.decode(data, type=kind, ext_hook=extension)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:  # a TypeError: a map is a map's key
        raise UnreadableError(f"is damaged: {error}") from None


def stored_checkpoint(kind: str | None, stored: Any) -> dict[str, Any]:
    """Return the members of a checkpoint that are read; those of `channel_values` are not decoded yet, see `channel_value`.

    Raises:
        UnreadableError: see `decode`.
    """
    if kind == "msgpack" and isinstance(stored, bytes):
        if len(stored) > _MOST_VALUES and _has_too_many(stored):
            raise UnreadableError(_TOO_MANY)
        found = _decode(stored, _checkpoint_type())
        if len(found.channel_values) > _MOST_CHANNELS:
            raise UnreadableError(f"has {len(found.channel_values):,} channels, more than are read")
        return {name: getattr(found, name) for name in _MEMBERS}
    found = decode("json" if kind is None else kind, stored)
    if not isinstance(found, dict) or not isinstance(found.get("channel_values"), dict):
        raise UnreadableError("is damaged: it is no checkpoint")
    return found


def stored_channels(kind: str | None, stored: Any) -> dict[str, bytes]:
    """Return the channels of a checkpoint as they are stored; those of JSON as JSON.

    Raises:
        UnreadableError: see `decode`.
    """
    encode, raw = _msgspec().json.encode, _msgspec().Raw
    found = stored_checkpoint(kind, stored)["channel_values"]
    return {name: bytes(value) if isinstance(value, raw) else encode(plain(value)) for name, value in found.items()}


def channel_value(value: Any) -> Any:
    """Return a member of `channel_values`; `Unread` if it cannot be read."""
    if not isinstance(value, _msgspec().Raw):
        return value
    data = bytes(value)
    try:
        if data[:1] in _ARRAYS and b"Message" in data:
            # A conversation grows by a few messages in each checkpoint; the others are stored again, and are not decoded again.
            items = [bytes(item) for item in _decode(data, _raw_list())]
            if all(item[:1] in _EXTENSIONS and len(item) < _LONGEST_KEPT for item in items):
                return [_unpack_again(item) for item in items]
        return unpack(data)
    except UnreadableError as error:
        return Unread(str(error))


@lru_cache(4_000)
def _unpack_again(data: bytes) -> Any:
    return unpack(data)


def is_same(first: Any, second: Any) -> bool:
    """Return whether two members of `channel_values` are stored alike."""
    if isinstance(first, raw := _msgspec().Raw) and isinstance(second, raw):
        return bytes(first) == bytes(second)
    return type(first) is type(second) and bool(plain(first) == plain(second))


def plain(value: Any, depth: int = 0) -> Any:
    """Return a decoded value as JSON data; `~type` names a class, other members with `~` what JSON has no form for."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if depth > _DEEPEST:
        return {"~unread": "is nested too deeply"}
    if isinstance(value, Unread):
        return {"~unread": value.reason}
    if isinstance(value, bytes):
        return {"~bytes": base64.b64encode(value).decode()}
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, Typed):
        return _plain_typed(value, depth)
    if isinstance(value, dict):
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    return str(value)


def _has_too_many(data: bytes) -> bool:
    """Return whether a msgpack text begins with more small values than are read."""
    place = count = 0
    while place < len(data):
        if count > _MOST_VALUES and (count * _BYTES_OF_A_VALUE > place or count > _MOST_LARGE_VALUES):
            return True
        head = data[place]
        count += 1
        place += 1
        if 0xA0 <= head <= 0xBF:
            place += head & 31
        elif 0xC4 <= head <= 0xDF:
            header, length = _SIZES[head]
            place += header + (int.from_bytes(data[place : place + length]) if length else 0)
    return False


# Bytes after the first one of a msgpack value, and how many of these are the length of a text; what an extension holds is counted, too.
_SIZES = {0xC4: (1, 1), 0xC5: (2, 2), 0xC6: (4, 4), 0xC7: (2, 0), 0xC8: (3, 0), 0xC9: (5, 0), 0xCA: (4, 0), 0xCB: (8, 0)}
_SIZES |= {0xCC: (1, 0), 0xCD: (2, 0), 0xCE: (4, 0), 0xCF: (8, 0), 0xD0: (1, 0), 0xD1: (2, 0), 0xD2: (4, 0), 0xD3: (8, 0)}
_SIZES |= dict.fromkeys(range(212, 217), (1, 0))
_SIZES |= {0xD9: (1, 1), 0xDA: (2, 2), 0xDB: (4, 4), 0xDC: (2, 0), 0xDD: (4, 0), 0xDE: (2, 0), 0xDF: (4, 0)}


def _plain_typed(typed: Typed, depth: int) -> Any:
    value, module = typed.value, typed.module.partition(".")[0]
    if typed.is_snapshot or (typed.name in _LISTS and module in ("builtins", "collections") and isinstance(value, list)):
        return plain(value, depth + 1)
    if module == "uuid" and isinstance(value, str) and len(value) == 32:
        return "-".join((value[:8], value[8:12], value[12:16], value[16:20], value[20:]))
    if module in _TEXTS and isinstance(value, str):
        return value
    if typed.name in _SECRETS:
        value = "**********"
    if (typed.module, typed.name) == ("re", "compile") and isinstance(value, list) and value:
        return plain(value[0], depth + 1)
    if module == "pathlib" and isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "/".join(value).replace("//", "/", 1)
    if (typed.module, typed.name) == ("datetime", "date") and isinstance(value, list) and all(isinstance(part, int) for part in value):
        return "-".join(f"{part:02}" for part in value)
    name = ".".join(filter(None, (typed.module, typed.name)))
    if isinstance(value, dict):
        return {"~type": name, **plain(value, depth + 1)}
    return {"~type": name, "value": plain(value, depth + 1)}


def _key(key: Any) -> str:
    return key if isinstance(key, str) else str(plain(key))


def _typed(code: int, found: Any) -> Any:
    if code == _SNAPSHOT:
        return Typed("", "snapshot", found, is_snapshot=True)
    if code == _ARRAY and isinstance(found, list):
        return Typed("numpy", "ndarray", dict(zip(("dtype", "shape", "order", "data"), found, strict=False)))
    if not isinstance(found, list) or len(found) < 3 or not isinstance(found[0], str) or not isinstance(found[1], str):
        return Typed("", f"extension {code}", found)
    return Typed(found[0], found[1], found[2])


def _of_json(value: Any, depth: int) -> Any:
    """Return a JSON value with its constructors as `Typed`."""
    if depth > _DEEPEST:
        raise UnreadableError("is nested too deeply")
    if isinstance(value, list):
        return [_of_json(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    place = value.get("id")
    if value.get("lc") in (1, 2) and value.get("type") == "constructor" and isinstance(place, list) and place:
        *modules, name = map(str, place)
        return Typed(".".join(modules), name, _argument(value, depth))
    return {name: _of_json(item, depth + 1) for name, item in value.items()}


def _argument(value: dict[str, Any], depth: int) -> Any:
    fields, arguments = value.get("kwargs"), value.get("args")
    if fields or not isinstance(arguments, list):
        return _of_json(fields or {}, depth + 1)
    found = _of_json(arguments, depth + 1)
    return found[0] if len(found) == 1 else found


def _refuse_kind(kind: str | None) -> None:
    if kind == TOO_LARGE:
        raise UnreadableError(_TOO_MANY)
    if isinstance(kind, str) and "+" in kind:
        raise UnreadableError(f"is encrypted ({kind}); the key is the agent's, and this program does not ask for it")
    if kind == "pickle":
        raise UnreadableError("is a pickle, which is not read: reading one can run code")
    if kind not in ("null", "empty", "bytes", "bytearray", "json", "msgpack"):
        raise UnreadableError(f"is coded as {kind}, which this program does not know")


@cache
def _checkpoint_type() -> Any:
    raw: Any = _msgspec().Raw
    return _msgspec().defstruct("Checkpoint", [("channel_values", dict[str, raw]), *((name, Any, None) for name in _MEMBERS[1:])])


@cache
def _raw_list() -> Any:
    raw: Any = _msgspec().Raw
    return list[raw]


@cache
def _msgspec() -> Any:
    return importlib.import_module("msgspec")  # 10 ms
