"""An event whose stored form has parts that this version does not know."""

from __future__ import annotations

import re
from typing import Any

from pydantic import PrivateAttr, SerializerFunctionWrapHandler, ValidationError, model_serializer
from pydantic_core import ErrorDetails, to_json

from runtime.events.event import Event

_ROUNDS = 20
Path = tuple[str | int, ...]


class StoredEvent(Event):
    """An event that keeps what google-genai's types refuse, where it stood: newer writers' fields survive a round trip and are shown.

    Only such events are of this class, so that all others cost nothing.
    """

    _unknown: list[tuple[Path, Any]] = PrivateAttr(default_factory=list)

    @property
    def unknown(self) -> list[tuple[Path, Any]]:
        """Where in the event's JSON which value stands that this version has no place for."""
        return self._unknown

    @model_serializer(mode="wrap")
    def _with_unknown(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        dumped: dict[str, Any] = handler(self)
        for path, value in self._unknown:
            _put_back(dumped, path, value)
        return dumped


def event_with_unknown(data: dict[str, Any]) -> StoredEvent:
    """Return the event of a JSON object that `Event` refuses: what it refuses is set aside and kept.

    Args:
        data: the stored JSON object; changed.
    """
    unknown: list[tuple[Path, Any]] = []
    data.setdefault("author", "")
    for _ in range(_ROUNDS):
        try:
            event = StoredEvent.model_validate_json(to_json(data, inf_nan_mode="constants"))
        except ValidationError as error:
            # From the back, so that what is taken out of a list does not move what is to be taken out next.
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
    """Take the value that an error names, or the nearest one that holds it, out of `data`."""
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
        # Taking a list's item away would move the others: take the list.
        path.pop()


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
