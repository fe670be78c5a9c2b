"""Sessions from files: google-adk's session JSON (also `adk web`'s), JSON lines and our HTML pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from inspector_app.exchange.page import DATA_BEGIN, DATA_END
from runtime.errors import KnownError
from runtime.events.event import Event
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import scope_of

Json = dict[str, Any]


class ImportFileError(KnownError):
    """A file that has no sessions that can be imported."""


@dataclass(slots=True)
class _Found:
    """A session of a file.

    Attributes:
        data: what the file says of it.
        place: its line or number in the file, for messages.
        events: the events with their places.
    """

    data: Json
    place: str
    events: list[tuple[str, Any]] = field(default_factory=list)


def read_sessions(file: Path, *, app: str | None = None, user: str | None = None) -> dict[SessionKey, SessionCopy]:
    """Return the sessions of a file, in its order.

    Args:
        file: the file.
        app, user: names in place of the file's.

    Raises:
        ImportFileError: the file cannot be read, has no sessions, or something in it is not what it should be.
    """
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ImportFileError(f"{file} is not text in UTF-8, so it is no export.") from None
    except OSError as error:
        raise ImportFileError(f"{file} cannot be read: {error.strerror or error}.") from None
    try:
        found = list(_of_page(file, text) if text.lstrip()[:1] == "<" else _of_json(file, text))
    except RecursionError:
        raise ImportFileError(f"{file} is nested too deeply.") from None
    if not found:
        raise ImportFileError(f"{file} has no sessions.")
    sessions: dict[SessionKey, SessionCopy] = {}
    for each in found:
        names = app or _name(file, each, "app_name", "appName", "--app"), user or _name(file, each, "user_id", "userId", "--user")
        key = SessionKey(*names, _id(file, each))
        if key in sessions:
            raise ImportFileError(f"{file}, {each.place}: the session {key.session_id!r} is there twice.")
        sessions[key] = _copy(file, each)
    return sessions


def _of_page(file: Path, text: str) -> Iterator[_Found]:
    begin = text.rfind(DATA_BEGIN)
    if begin < 0:
        raise ImportFileError(f"{file} is an HTML page, but no export of Agent Inspector.")
    begin += len(DATA_BEGIN)
    yield from _of_lines(file, text[begin : text.find(DATA_END, begin)])


def _of_json(file: Path, text: str) -> Iterator[_Found]:
    try:
        data = json.loads(text)
    except ValueError:
        yield from _of_lines(file, text)
        return
    if isinstance(data, dict) and isinstance(data.get("session"), dict) and "events" not in data:
        yield from _of_lines(file, text)
        return
    several = data if isinstance(data, list) else [data]
    for number, session in enumerate(several, 1):
        place = f"session {number}" if isinstance(data, list) else "the session"
        if not isinstance(session, dict) or not isinstance(session.get("events"), list):
            raise ImportFileError(f"{file}, {place}: a session is a JSON object with a list of `events`.")
        yield _Found(session, place, [(f"{place}, event {n}", event) for n, event in enumerate(session["events"], 1)])


def _of_lines(file: Path, text: str) -> Iterator[_Found]:
    found: _Found | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            data = json.loads(line)
        except ValueError as error:
            raise ImportFileError(f"{file}, {place}: this is not JSON: {error}.") from None
        if isinstance(data, dict) and isinstance(data.get("session"), dict):
            if found is not None:
                yield found
            found = _Found(data["session"], place)
        elif found is not None:
            found.events.append((place, data))
        else:
            raise ImportFileError(f'{file}, {place}: the first line must describe the session: {{"session": {{"id": …, "app_name": …}}}}.')
    if found is not None:
        yield found


def _name(file: Path, found: _Found, name: str, other: str, option: str) -> str:
    value = found.data.get(name, found.data.get(other))
    if isinstance(value, str) and value:
        return value
    raise ImportFileError(f"{file}, {found.place}: `{other}` is missing. Give it with {option}.")


def _id(file: Path, found: _Found) -> str:
    value = found.data.get("id")
    if isinstance(value, str) and value:
        return value
    raise ImportFileError(f"{file}, {found.place}: the session has no `id`.")


def _copy(file: Path, found: _Found) -> SessionCopy:
    events = [_event(file, place, data) for place, data in found.events]
    ids: set[str] = set()
    for (place, _), event in zip(found.events, events, strict=True):
        if event.id in ids:
            raise ImportFileError(f"{file}, {place}: the id {event.id!r} is also another event's.")
        ids.add(event.id)
    state = _state(file, found, "state") or {}
    created = found.data.get("create_time")
    if not isinstance(created, (int, float)) or isinstance(created, bool):
        updated = found.data.get("last_update_time", found.data.get("lastUpdateTime", 0.0))
        created = events[0].timestamp if events else updated if isinstance(updated, (int, float)) else 0.0
    scopes = {scope: {key: value for key, value in state.items() if scope_of(key) == scope} for scope in ("session", "user", "app")}
    return SessionCopy(
        events=events,
        state=scopes["session"],
        baseline=_state(file, found, "initial_state"),
        user=scopes["user"],
        app=scopes["app"],
        shared=[],
        temp={},
        created=float(created),
        lineage=None,
    )


def _state(file: Path, found: _Found, name: str) -> Json | None:
    value = found.data.get(name)
    if value is not None and not isinstance(value, dict):
        raise ImportFileError(f"{file}, {found.place}: `{name}` must be a JSON object.")
    return None if value is None else {key: item for key, item in value.items() if scope_of(key) != "temp"}


def _snake_case(data: Json) -> Json:
    """Return event JSON with Python's names, also those of fields that only newer versions of google-adk know."""
    found = {to_snake(name): value for name, value in data.items()}
    for part in ("actions", "node_info"):
        if isinstance(found.get(part), dict):
            found[part] = {to_snake(name): value for name, value in found[part].items()}
    return found


def _event(file: Path, place: str, data: Any) -> Event:
    try:
        event = Event.model_validate(_snake_case(data) if isinstance(data, dict) else data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ImportFileError(f"{file}, {place}: this is not an event. {where + ': ' if where else ''}{first['msg']}.") from None
    if not event.id or not isinstance(data, dict) or "timestamp" not in data:
        raise ImportFileError(f"{file}, {place}: an event needs its `id` and `timestamp`.")
    for key in [key for key in event.actions.state_delta if scope_of(key) == "temp"]:
        del event.actions.state_delta[key]
    return event
