"""Events whose stored JSON has parts that this version does not know."""

from __future__ import annotations

import re
from typing import Any

from pydantic import PrivateAttr, SerializerFunctionWrapHandler, ValidationError, model_serializer
from pydantic_core import ErrorDetails, to_json

from runtime.events.event import SHORT_NAMES, Event

_ROUNDS = 20  # validation attempts, each of which sets aside the values that the previous one refused
Path = tuple[str | int, ...]


class StoredEvent(Event):
    """An event that keeps, at their place, the values that google-genai's types refuse.

    So fields of newer writers survive a round trip and are displayed. Only events with such values are of this class; all others have
    no overhead.
    """

    _unknown: list[tuple[Path, Any]] = PrivateAttr(default_factory=list)

    @property
    def unknown(self) -> list[tuple[Path, Any]]:
        """Paths and values in the event's JSON that this version has no field for."""
        return self._unknown

    @model_serializer(mode="wrap")
    def _with_unknown(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        dumped: dict[str, Any] = handler(self)
        for path, value in self._unknown:
            _put_back(dumped, path, value)
        return dumped


def event_with_unknown(data: dict[str, Any]) -> StoredEvent:
    """Return the event of a JSON object that `Event` refuses, with the refused values kept aside.

    Args:
        data: the stored JSON object. It is modified.
    """
    unknown: list[tuple[Path, Any]] = []
    data.setdefault("author", "")
    for _ in range(_ROUNDS):
        try:
            event = StoredEvent.model_validate_json(to_json(data, inf_nan_mode="constants"))
        except ValidationError as error:
            # Backwards, so that removing an item of a list does not move the items still to be removed.
            for detail in sorted(error.errors(), key=lambda detail: [str(step).zfill(9) for step in detail["loc"]], reverse=True):
                _set_aside(data, detail, unknown)
            data.setdefault("author", "")
        else:
            break
    else:
        event = StoredEvent.model_validate({"author": ""})
        unknown = [((str(key),), value) for key, value in data.items()]
    event._unknown = unknown[::-1]
    return event


def _set_aside(data: dict[str, Any], detail: ErrorDetails, unknown: list[tuple[Path, Any]]) -> None:
    """Remove from `data` the value that an error names, or its nearest container that can be removed."""
    place: Any = data
    path: list[str | int] = []
    holders: list[tuple[Any, str | int]] = []
    for step in detail["loc"]:
        key = _key_in(place, step)
        if key is None:
            continue
        holders.append((place, key))
        path.append(key)
        place = place[key]
    while holders:
        holder, key = holders.pop()
        if isinstance(holder, dict):
            unknown.append((tuple(path), holder.pop(key)))
            return
        # Removing one item would move the others, so the whole list is removed.
        path.pop()
    # The error names no place: one of the names that `Event` takes for other fields has an unusable value.
    for key in SHORT_NAMES.intersection(data):
        unknown.append(((key,), data.pop(key)))


def _key_in(place: Any, step: str | int) -> str | int | None:
    if isinstance(place, list) and isinstance(step, int) and 0 <= step < len(place):
        return step
    if isinstance(place, dict):
        for key in (step, _snake(str(step))):
            if key in place:
                return key
    return None


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _put_back(dumped: Any, path: Path, value: Any) -> None:
    for step in path[:-1]:
        if isinstance(dumped, dict):
            dumped = dumped.setdefault(step, {})
        elif isinstance(dumped, list) and isinstance(step, int) and step < len(dumped):
            dumped = dumped[step]
        else:
            return
    if isinstance(dumped, dict):
        dumped[path[-1]] = value
