"""Sessions from files: all that `export` writes, what `adk web` exports, and other session databases."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from inspector_app.exchange.eval_cases import NO_APP, NO_USER, session_of
from inspector_app.exchange.eval_sets import eval_set_of, is_eval_set
from inspector_app.exchange.inert_data import lines_in
from inspector_app.exchange.stored_sessions import stored_sessions
from runtime.errors import KnownError
from runtime.events.event import Event
from runtime.events.marks import NOTE
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.note import Note, NoteError, note_in
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import scope_of
from runtime.storage.connections.companions import real_file
from runtime.storage.connections.open_files import open_files
from runtime.storage.reading.notes import Notes
from runtime.storage.reading.reader import StoredDatabase

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


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file has.

    Attributes:
        sessions: the sessions, in the file's order.
        ends: how their invocations ended, as far as the file says.
    """

    sessions: dict[SessionKey, SessionCopy]
    ends: dict[SessionKey, dict[str, RecordedEnd]] = field(default_factory=dict)

    @property
    def events(self) -> int:
        """The number of events."""
        return sum(len(copy.events) for copy in self.sessions.values())


def read_sessions(
    file: str,
    *,
    app: str | None = None,
    user: str | None = None,
    session: str | None = None,
    notes: Callable[[StoredDatabase], Notes] = StoredDatabase.notes,
) -> Imported:
    """Return the sessions of a file.

    Args:
        file: its path; `-` is the standard input; also the URL of a session database.
        app, user: names in place of the file's.
        session: only the session with this id.
        notes: returns the notes of a session database; by default, those in it.

    Raises:
        ImportFileError: the file cannot be read, has no sessions, or something in it is not what it should be.
    """
    if "://" in file or _is_database(file):
        copies, ends = stored_sessions(file, lambda key: session in (None, key.session_id), notes)
        imported = _renamed(file, Imported(copies, ends), app, user)
    else:
        imported = Imported(_of_text(file, _text(file), app, user, session))
    if not imported.sessions:
        raise ImportFileError(f"{_named(file)} has no sessions." if session is None else f"{_named(file)} has no session {session!r}.")
    return imported


def _of_text(file: str, text: str, app: str | None, user: str | None, session: str | None) -> dict[SessionKey, SessionCopy]:
    name = Path(_named(file))
    try:
        found = list(_found(name, text, app, user))
    except RecursionError:
        raise ImportFileError(f"{name} is nested too deeply.") from None
    sessions: dict[SessionKey, SessionCopy] = {}
    for each in found:
        names = app or _name(name, each, "app_name", "appName", "--app"), user or _name(name, each, "user_id", "userId", "--user")
        key = SessionKey(*names, _id(name, each))
        if key in sessions:
            raise ImportFileError(f"{name}, {each.place}: the session {key.session_id!r} is there twice.")
        if session in (None, key.session_id):
            sessions[key] = _copy(name, each)
    return sessions


def _named(file: str) -> str:
    return "The input" if file == "-" else file


def _is_database(file: str) -> bool:
    if file == "-":
        return False
    try:
        with open_files.reading(real_file(Path(file))) as opened:
            return opened.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ImportFileError(f"{_named(file)} is not text in UTF-8, so it is no export.") from None
    except FileNotFoundError:
        raise ImportFileError(f"There is no file {file}.") from None
    except OSError as error:
        raise ImportFileError(f"{_named(file)} cannot be read: {error.strerror or error}.") from None


def _renamed(file: str, found: Imported, app: str | None, user: str | None) -> Imported:
    names = {key: SessionKey(app or key.app_name, user or key.user_id, key.session_id) for key in found.sessions}
    if len(set(names.values())) < len(names):
        raise ImportFileError(f"{file} has sessions with one id that would get the same app and user. Import them one by one.")
    return Imported({names[key]: copy for key, copy in found.sessions.items()}, {names[key]: ends for key, ends in found.ends.items()})


def _found(file: Path, text: str, app: str | None, user: str | None) -> Iterator[_Found]:
    is_page = text.lstrip()[:1] == "<"
    if is_page or text.lstrip()[:1] == "#":
        lines = lines_in(text)
        if lines is None:
            raise ImportFileError(f"{file} is {'an HTML page' if is_page else 'Markdown'}, but no export of Agent Inspector.")
        yield from _of_lines(file, lines)
    else:
        yield from _of_json(file, text)


def _of_json(file: Path, text: str) -> Iterator[_Found]:
    try:
        data = json.loads(text)
    except ValueError:
        yield from _of_lines(file, text)
        return
    if isinstance(data, dict) and isinstance(data.get("session"), dict) and "events" not in data:
        yield from _of_lines(file, text)
        return
    if is_eval_set(data):
        yield from _of_cases(file, data)
        return
    several = data if isinstance(data, list) else [data]
    for number, session in enumerate(several, 1):
        place = f"session {number}" if isinstance(data, list) else "the session"
        if not isinstance(session, dict) or not isinstance(session.get("events"), list):
            raise ImportFileError(f"{file}, {place}: a session is a JSON object with a list of `events`.")
        yield _Found(session, place, [(f"{place}, event {n}", event) for n, event in enumerate(session["events"], 1)])


def _of_cases(file: Path, data: Any) -> Iterator[_Found]:
    for case in eval_set_of(data, file).cases:
        session = session_of(case)
        session |= {"app_name": session["app_name"] or NO_APP, "user_id": session["user_id"] or NO_USER}
        yield _Found(session, f"case {case.id!r}", [(f"case {case.id!r}", event) for event in session["events"]])


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
    try:
        notes = _notes(events)
    except NoteError as error:
        raise ImportFileError(f"{file}, {found.place}: {error}") from None
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
        notes=notes,
    )


def _notes(events: list[Event]) -> dict[str, Note]:
    """Take the notes out of exported events, and return them by event id."""
    found = {}
    for event in events:
        if event.custom_metadata and NOTE in event.custom_metadata:
            note = note_in(event.custom_metadata.pop(NOTE))
            if not note.is_empty:
                found[event.id] = note
            if not event.custom_metadata:
                event.custom_metadata = None
    return found


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
