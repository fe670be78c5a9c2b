"""State: its scopes, the view that agents write through, and the only rules for applying, checking and comparing it.

A key's prefix is its scope (seed: session-state, "Organizando el State con Prefijos"): `user:` is shared by all of a user's sessions,
`app:` by all users, `temp:` lives for one invocation and is never stored, anything else belongs to the session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum
from math import isfinite
from typing import Any, Literal, cast

from runtime.errors.unstorable_value_error import UnstorableValueError

Scope = Literal["session", "user", "app", "temp"]
SCOPES: tuple[Scope, ...] = ("session", "user", "app", "temp")

MAX_DEPTH = 100
"""Deepest nesting of lists and dicts that is stored. (google-adk accepts 198 and more, and can never read it again.)"""

_NOTHING = object()
PLAIN = frozenset({str, int, bool, type(None)})
"""Types whose values are stored as they are, if a text is one."""

_NO_TEXT = PLAIN - {str}
_UNCHANGING = PLAIN | {float}
Path = str | tuple["Path", Any]
"""What to call a value in an error, and below that, keys and indices; made into text only when there is an error."""


class State:
    """State as agents, callbacks and tools see it: a mapping that remembers what was changed.

    A write goes to the value at once, so that later code of the same step reads it ("dirty read", seed: runtime-event-loop), and to
    the delta, which the next event carries to the session service.

    Args:
        value: the current state; changed in place.
        delta: the changes that no event has committed yet; changed in place.
    """

    APP_PREFIX = "app:"
    USER_PREFIX = "user:"
    TEMP_PREFIX = "temp:"

    def __init__(self, value: dict[str, Any], delta: dict[str, Any]) -> None:
        self._value = value
        self._delta = delta

    def __getitem__(self, key: str) -> Any:
        if key in self._delta:
            return self._delta[key]
        return self._value[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._value[key] = value
        self._delta[key] = value

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
        if key in self._delta:
            return self._delta[key]
        return self._value.get(key, default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, setting it to `default` first if it is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, delta: Mapping[str, Any]) -> None:
        """Set every key of `delta`."""
        self._value.update(delta)
        self._delta.update(delta)

    def has_delta(self) -> bool:
        """Return whether anything was changed since the last event."""
        return bool(self._delta)

    def to_dict(self) -> dict[str, Any]:
        """Return a new dict of the whole state, uncommitted changes included."""
        return {**self._value, **self._delta}


def scope_of(key: str) -> Scope:
    """Return the scope that the key's prefix names; an unknown or missing prefix is the session's."""
    if key.startswith(State.USER_PREFIX):
        return "user"
    if key.startswith(State.APP_PREFIX):
        return "app"
    if key.startswith(State.TEMP_PREFIX):
        return "temp"
    return "session"


def split_delta(delta: Mapping[str, Any]) -> dict[Scope, dict[str, Any]]:
    """Sort a delta by scope, prefixes removed (once), as the tables of the storage layouts hold it."""
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
    """Return the merged state that an agent sees, from the three stored parts (their keys without prefix)."""
    merged = dict(session)
    if app:
        merged.update({State.APP_PREFIX + key: value for key, value in app.items()})
    if user:
        merged.update({State.USER_PREFIX + key: value for key, value in user.items()})
    return merged


def independent(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of stored state, or of a delta, that shares nothing with it that can be changed."""
    return {key: value if type(value) in _UNCHANGING else _independent(value) for key, value in state.items()} if state else {}


def _independent(value: Any) -> Any:
    # For what most of state is, `deepcopy` takes five times as long.
    if type(value) is dict:
        return independent(value)
    if type(value) is list:
        return [item if type(item) in _UNCHANGING else _independent(item) for item in value]
    return deepcopy(value)


def apply_delta(state: MutableMapping[str, Any], delta: Mapping[str, Any]) -> None:
    """Change `state` by a committed delta: every key replaces the whole value; None is kept as a value, it removes nothing."""
    state.update(delta)


@dataclass(frozen=True, slots=True)
class Change:
    """One key's change.

    Attributes:
        key: with its scope prefix.
        before, after: the values; meaningless where `kind` says that there was, or is, none.
        kind: whether the key is new, has another value, is gone, or was written over something that nobody recorded.
    """

    key: str
    before: Any
    after: Any
    kind: Literal["added", "changed", "removed", "written"]

    @property
    def scope(self) -> Scope:
        """The scope the key belongs to."""
        return scope_of(self.key)


def diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return what changed between two states, in the order of `after`, then what is gone."""
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
    """Return whether two JSON values are the same, telling True from 1 and 1 from 1.0 (JSON and people do, `==` does not)."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_value(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_value, one, other))
    return type(one) is type(other) and bool(one == other)


def storable(value: Any, path: Path) -> Any:
    """Return an independent copy of `value` that reads back exactly as it is, or refuse it.

    Args:
        value: JSON data: None, bool, int, finite float, str, and lists and dicts (with str keys) of these. Enum members that are one
            of these types become their plain value.
        path: what to call the value in the error, such as `("state", "cart")` for `state['cart']`.

    Raises:
        UnstorableValueError: the value would come back changed, or not at all; names the exact place inside it.
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
            raise UnstorableValueError(_shown(path), f"{value} is no JSON number")
        return value
    if kind is dict or kind is list:
        if depth == 0:
            raise UnstorableValueError(_shown(path), f"it is nested deeper than {MAX_DEPTH} levels")
        if kind is list:
            return [
                item if (type(item) is str and item.isascii()) or type(item) in _NO_TEXT else _storable(item, (path, index), depth - 1)
                for index, item in enumerate(value)
            ]
        copy = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise UnstorableValueError(_shown(path), f"the key {key!r} is a {type(key).__name__}; JSON keys are strings")
            if not key.isascii():
                checked_text(key, path)
            # As `is_plain`, without the call.
            as_it_is = (type(item) is str and item.isascii()) or type(item) in _NO_TEXT
            copy[str(key)] = item if as_it_is else _storable(item, (path, key), depth - 1)
        return copy
    if isinstance(value, Enum) and isinstance(value, (str, int, float)):
        return _storable(value.value, path, depth)
    for plain in (str, int, float, dict, list):
        if isinstance(value, plain):
            return _storable(cast(Any, plain)(value), path, depth)
    raise UnstorableValueError(_shown(path), f"a {kind.__module__}.{kind.__qualname__} is no JSON value{_hint(value)}")


def is_plain(value: Any) -> bool:
    """Return whether a value is surely stored as it is; of others `storable` has to tell."""
    return type(value) in PLAIN and (type(value) is not str or value.isascii())


def checked_text(text: str, path: Path) -> str:
    """Return a text, or refuse it: half a surrogate pair, as Python has it for what a file's name does not spell, is in no encoding.

    Args:
        text: any.
        path: as `storable` takes it.

    Raises:
        UnstorableValueError: it is no text.
    """
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise UnstorableValueError(
                _shown(path), f"it contains half a surrogate pair, {text[error.start]!r}, which is no text"
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
    return "; store an id or a plain description of it (or use a temp: key, which is never stored)"
