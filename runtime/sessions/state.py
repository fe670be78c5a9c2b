"""Session state: scopes, the mapping that agents write to, and the rules for applying, checking and comparing state.

A key's prefix is its scope: `user:` is shared by all of a user's sessions, `app:` by all users of an app, `temp:` lasts for one invocation
and is never stored. Any other key belongs to the session.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from math import isfinite
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, cast
from uuid import UUID

from runtime.errors.unstorable_value_error import UnstorableValueError
from runtime.sessions.state_schema import StateSchemaError as StateSchemaError
from runtime.sessions.state_schema import check_write
from runtime.sessions.uncommitted_writes import UncommittedWrites

if TYPE_CHECKING:
    from pydantic import BaseModel

Scope = Literal["session", "user", "app", "temp"]
SCOPES: tuple[Scope, ...] = ("session", "user", "app", "temp")

MAX_DEPTH = 100  # nesting of lists and dicts that is stored; google-adk accepts 198 and more, but cannot read it again

_NOTHING = object()
PLAIN = frozenset({str, int, bool, type(None)})  # types stored unchanged; strings must be valid Unicode
_NO_TEXT = PLAIN - {str}
_UNCHANGING = PLAIN | {float}
# A value's place for error messages: a name, or a path with a key or index below it. Formatted only if there is an error.
Path = str | tuple["Path", Any]


class State:
    """The state as agents, callbacks and tools see it: a mapping that records changes.

    A write changes the value immediately, so that later code of the same step reads it (a "dirty read"), and the delta, which is
    committed with the next event. A list or dict that was read and then changed in place is written too: `record_changes` compares it
    with a copy that the read took.

    Args:
        value: the current state; changed in place.
        delta: the uncommitted changes; changed in place.
        schema: a model of the keys and their types; writes are checked, but no changes of lists and dicts in place.
        writes: records the writes of a run, so that those of a failed call can be reverted.
    """

    APP_PREFIX = "app:"
    USER_PREFIX = "user:"
    TEMP_PREFIX = "temp:"

    def __init__(
        self,
        value: dict[str, Any],
        delta: dict[str, Any],
        schema: type[BaseModel] | None = None,
        *,
        writes: UncommittedWrites | None = None,
    ) -> None:
        self._value = value
        self._delta = delta
        self._schema = schema
        self._writes = writes
        self._read: dict[str, _Read] = {}
        self._calls: list[_Call] = []  # the enclosing ones first

    @property
    def delta(self) -> dict[str, Any]:
        """The uncommitted changes."""
        return self._delta

    def __getitem__(self, key: str) -> Any:
        value = self._delta[key] if key in self._delta else self._value[key]
        if type(value) not in _UNCHANGING and isinstance(value, (dict, list)):
            self._note_read(key, value)
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        if self._schema is not None:
            check_write(self._schema, key, value)
        self._set(key, value)

    def _set(self, key: str, value: Any) -> None:
        if self._writes is not None:
            self._writes.write(self._delta, key, value)
        else:
            self._value[key] = value
            self._delta[key] = value
        self._read.pop(key, None)

    def __contains__(self, key: object) -> bool:
        return key in self._value or key in self._delta

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.to_dict())

    def __repr__(self) -> str:
        return f"State({self.to_dict()!r})"

    def keys(self) -> Iterable[str]:
        """Return the keys of all scopes."""
        return self.to_dict().keys()

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, or `default`."""
        try:
            return self[key]
        except KeyError:
            return default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, setting it to `default` first if it is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, delta: Mapping[str, Any]) -> None:
        """Set every key of `delta`."""
        given = dict(delta)
        if self._schema is not None:
            for key, value in given.items():
                check_write(self._schema, key, value)  # before any of them is written
        for key, value in given.items():
            self._set(key, value)

    def has_delta(self) -> bool:
        """Return whether there are uncommitted changes."""
        self.record_changes()
        return bool(self._delta)

    def to_dict(self) -> dict[str, Any]:
        """Return a new dict of the whole state, including uncommitted changes."""
        return {**self._value, **self._delta}

    def record_changes(self) -> None:
        """Write each list and dict that was read here and changed in place since.

        One that was replaced in the meantime is not written, and neither is one that cannot be stored, as in google-adk.
        """
        for key, read in list(self._read.items()):
            current = self._delta[key] if key in self._delta else self._value.get(key)
            if current is not read.container:
                del self._read[key]
            elif read.is_changed() and (scope_of(key) == "temp" or _is_storable(current)):
                self._set(key, current)
                self._note_read(key, current)
                written = self._read.get(key)
                if written is not None and self._writes is not None:
                    self._writes.keep(current, written.copy, self)

    @contextmanager
    def call(self) -> Iterator[None]:
        """Record the in-place changes of a block, such as the call of a tool; if it raises, revert all its writes.

        What other calls wrote stays: a list or dict that another open call has changed too is left as it is.
        """
        self.begin_call()
        try:
            yield
        except BaseException:
            self.revert_call()
            raise
        self.end_call()

    def begin_call(self) -> None:
        """Begin a block as `call` does."""
        self.record_changes()
        self._calls.append(_Call(dict(self._delta), {id(read.container): read for read in self._read.values()}))
        if self._writes is not None and len(self._calls) == 1:
            self._writes.open_views.append(self)

    def end_call(self) -> None:
        """End the innermost block, recording its in-place changes."""
        self.record_changes()
        self._close_call()

    def revert_call(self) -> None:
        """End the innermost block, reverting its writes."""
        call = self._calls[-1]
        for read in call.reads.values():
            if read.is_changed():
                self._restore(read)
        if self._writes is not None:
            self._writes.revert(self._delta, call.delta)
        self._read.clear()
        self._close_call()

    def keep(self, container: Any, content: Any, *, is_written: bool) -> None:
        """Note that another call wrote a list or dict that was read here too: this call must not revert it any further.

        Args:
            container: the list or dict.
            content: a copy of what is to stay.
            is_written: whether this call need not write it either, as it was committed or reverted.
        """
        kept = _Read(container, content)
        for call in self._calls:
            if id(container) in call.reads:
                call.reads[id(container)] = kept
        for key, read in self._read.items():
            if is_written and read.container is container:
                self._read[key] = kept

    def has_read(self, container: Any) -> bool:
        """Return whether an open call read this list or dict here."""
        return any(id(container) in call.reads for call in self._calls)

    def _note_read(self, key: str, container: Any) -> None:
        known = self._read.get(key)
        if known is not None and known.container is container:
            return
        read = _Read.of(container)
        if read is not None:
            self._read[key] = read
            for call in self._calls:
                call.reads.setdefault(id(container), read)

    def _restore(self, read: _Read) -> None:
        others = [view for view in self._writes.open_views if view is not self] if self._writes is not None else []
        if any(view.has_unrecorded(read.container) for view in others):
            return
        read.restore()
        for view in others:
            view.keep(read.container, read.copy, is_written=True)

    def has_unrecorded(self, container: Any) -> bool:
        """Return whether a list or dict that was read here has changed since."""
        return any(read.container is container and read.is_changed() for read in self._read.values())

    def _close_call(self) -> None:
        self._calls.pop()
        if not self._calls:
            self._read.clear()
            if self._writes is not None:
                self._writes.open_views[:] = [view for view in self._writes.open_views if view is not self]


@dataclass(frozen=True, slots=True)
class _Read:
    """A list or dict that was read from a state, and its copy at that time."""

    container: Any
    copy: Any

    @classmethod
    def of(cls, container: Any) -> _Read | None:
        """Return one of the present value; None if it cannot be copied and compared, such as for some `temp:` objects."""
        try:
            read = cls(container, _independent(container))
        except Exception:
            return None
        return None if read.is_changed() else read

    def is_changed(self) -> bool:
        """Return whether the container has changed since it was read."""
        try:
            return not same_value(self.container, self.copy)
        except Exception:  # another thread is changing it, or its items cannot be compared
            return True

    def restore(self) -> None:
        """Give the container its earlier content back."""
        content = _independent(self.copy)
        if isinstance(self.container, dict):
            self.container.clear()
            self.container.update(content)
        else:
            self.container[:] = content


@dataclass(frozen=True, slots=True)
class _Call:
    """What a block needs in order to be reverted: the delta at its beginning, and what was read, by id()."""

    delta: dict[str, Any]
    reads: dict[int, _Read]


def _is_storable(value: Any) -> bool:
    try:
        storable(value, "state")
    except UnstorableValueError:
        return False
    return True


def scope_of(key: str) -> Scope:
    """Return the scope of a key; one without a known prefix belongs to the session."""
    if key.startswith(State.USER_PREFIX):
        return "user"
    if key.startswith(State.APP_PREFIX):
        return "app"
    if key.startswith(State.TEMP_PREFIX):
        return "temp"
    return "session"


def split_delta(delta: Mapping[str, Any]) -> dict[Scope, dict[str, Any]]:
    """Split a delta by scope and remove one scope prefix from each key, as the database tables store it."""
    parts: dict[Scope, dict[str, Any]] = {"session": {}, "user": {}, "app": {}, "temp": {}}
    own = parts["session"]
    for key, value in delta.items():
        scope = scope_of(key) if ":" in key else "session"
        if scope == "session":
            own[key] = value
        else:
            parts[scope][key[len(scope) + 1 :]] = value
    return parts


def merge_scopes(session: Mapping[str, Any], user: Mapping[str, Any], app: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merged state that agents see, from the stored scopes, whose keys have no prefix."""
    merged = dict(session)
    if app:
        merged.update({State.APP_PREFIX + key: value for key, value in app.items()})
    if user:
        merged.update({State.USER_PREFIX + key: value for key, value in user.items()})
    return merged


def independent(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deep copy of stored state or of a delta."""
    return {key: value if type(value) in _UNCHANGING else _independent(value) for key, value in state.items()} if state else {}


def _independent(value: Any) -> Any:
    # Much faster than `deepcopy` for the usual values.
    if type(value) is dict:
        return independent(value)
    if type(value) is list:
        return [item if type(item) in _UNCHANGING else _independent(item) for item in value]
    return deepcopy(value)


def apply_delta(state: MutableMapping[str, Any], delta: Mapping[str, Any]) -> None:
    """Apply a committed delta to `state`. Each key replaces the whole value; None is stored as a value and does not remove the key."""
    state.update(delta)


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one key.

    Attributes:
        key: the key with its scope prefix.
        before, after: the values; undefined where `kind` implies that there is none.
        kind: whether the key was added, changed, removed, or written over an unrecorded value.
    """

    key: str
    before: Any
    after: Any
    kind: Literal["added", "changed", "removed", "written"]

    @property
    def scope(self) -> Scope:
        """The key's scope."""
        return scope_of(self.key)


def diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return the changes between two states, in the order of `after`, followed by removed keys."""
    changes = []
    for key, value in after.items():
        old = before.get(key, _NOTHING)
        if old is _NOTHING:
            changes.append(Change(key, None, value, "added"))
        elif not same_value(old, value):
            changes.append(Change(key, old, value, "changed"))
    changes.extend(Change(key, value, None, "removed") for key, value in before.items() if key not in after)
    return changes


def same_value(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal, distinguishing True from 1 and 1 from 1.0, unlike `==`."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_value(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_value, one, other))
    return type(one) is type(other) and bool(one == other)


def storable(value: Any, path: Path) -> Any:
    """Return an independent copy of `value` that survives a round trip through storage.

    Args:
        value: JSON data: None, bool, int, finite float, str, and lists and dicts (with str keys) of these. Enum members of these types
            become their plain value.
        path: the value's place for the error message, such as `("state", "cart")` for `state['cart']`.

    Raises:
        UnstorableValueError: the value would not survive the round trip; the message names the exact place inside it.
    """
    try:
        return _storable(value, path, MAX_DEPTH)
    except RecursionError:
        raise UnstorableValueError(_shown(path), "it contains itself") from None


def _storable(value: Any, path: Path, depth: int) -> Any:
    kind = type(value)
    if kind is str:
        return checked_text(value, path)
    if kind in PLAIN:
        return value
    if kind is float:
        if not isfinite(value):
            raise UnstorableValueError(_shown(path), f"{value} is not a JSON number")
        return value
    if kind is dict or kind is list:
        if depth == 0:
            raise UnstorableValueError(_shown(path), f"it is nested deeper than {MAX_DEPTH} levels")
        if kind is list:
            items = value.copy()
            for index, item in enumerate(items):
                # `is_plain`, inlined.
                if not ((type(item) is str and item.isascii()) or type(item) in _NO_TEXT):
                    items[index] = _storable(item, (path, index), depth - 1)
            return items
        copy = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise UnstorableValueError(_shown(path), f"the key {key!r} is a {type(key).__name__}; JSON keys are strings")
            if not key.isascii():
                checked_text(key, path)
            as_it_is = (type(item) is str and item.isascii()) or type(item) in _NO_TEXT
            copy[str(key)] = item if as_it_is else _storable(item, (path, key), depth - 1)
        return copy
    if isinstance(value, Enum) and isinstance(value, (str, int, float)):
        return _storable(value.value, path, depth)
    for plain in (str, int, float, dict, list):
        if isinstance(value, plain):
            return _storable(cast(Any, plain)(value), path, depth)
    raise UnstorableValueError(_shown(path), f"a {kind.__module__}.{kind.__qualname__} is not a JSON value{_hint(value)}")


def is_plain(value: Any) -> bool:
    """Return whether a value is certainly stored unchanged; use `storable` for all others."""
    return type(value) in PLAIN and (type(value) is not str or value.isascii())


def checked_text(text: str, path: Path) -> str:
    """Return a string if it can be encoded. Lone surrogates, which Python uses for undecodable file names, cannot.

    Raises:
        UnstorableValueError: the string contains a lone surrogate.
    """
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise UnstorableValueError(
                _shown(path), f"it contains half a surrogate pair, {text[error.start]!r}, which cannot be encoded"
            ) from None
    return text


def _shown(path: Path) -> str:
    return path if isinstance(path, str) else f"{_shown(path[0])}[{path[1]!r}]"


def _hint(value: Any) -> str:
    if isinstance(value, (tuple, set, frozenset)):
        return "; store a list"
    if hasattr(value, "model_dump"):
        return "; store its model_dump(mode='json')"
    if isinstance(value, bytes):
        return "; save it as an artifact"
    if isinstance(value, (datetime.date, datetime.time)):  # a datetime is a date
        return "; store its .isoformat()"
    if isinstance(value, datetime.timedelta):
        return "; store its .total_seconds()"
    if isinstance(value, (Decimal, UUID, PurePath)):
        return "; store it as a string: str(value)"
    return "; store an id or a plain description of it (or use a temp: key, which is never stored)"
