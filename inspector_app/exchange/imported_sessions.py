"""Sessions from files: all that `export` writes, what `adk web` exports, OpenTelemetry's traces, and other session databases."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from inspector_app.exchange.eval_cases import NO_APP, NO_USER, session_of
from inspector_app.exchange.eval_sets import eval_set_of, is_eval_set
from inspector_app.exchange.inert_data import lines_in
from inspector_app.exchange.otlp_sessions.trace_files import is_trace_file
from inspector_app.exchange.otlp_sessions.trace_reading import read_trace_file
from inspector_app.exchange.spooled_events import SpooledEvents
from inspector_app.exchange.stored_sessions import stored_sessions
from runtime.errors import KnownError
from runtime.events.event import Event
from runtime.events.marks import NOTE, drop_kept_temp
from runtime.history.session_title import one_line
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.note import NAME, Note, NoteError, note_in
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import scope_of
from runtime.storage.connections.companions import real_file
from runtime.storage.connections.open_files import open_files
from runtime.storage.reading.notes import Notes
from runtime.storage.reading.reader import StoredDatabase
from runtime.support.bounded import EVENT, MOST_BYTES, Budget, TooMuchError
from runtime.support.linkless import open_named

Json = dict[str, Any]
_NO_TIME = 1e15  # seconds: neither these nor milliseconds of any year
_LONGEST_ID = 1_000  # characters; google-adk's tables have room for 128


class ImportFileError(KnownError):
    """A file that has no sessions that can be imported."""


@dataclass(slots=True)
class _Found:
    """A session of a file.

    Attributes:
        data: what the file says of it.
        place: its line or number in the file, for messages.
        events: the events with their places; read once, and before the next session.
    """

    data: Json
    place: str
    events: Iterator[tuple[str, Any]]


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file has.

    Attributes:
        sessions: the sessions, in the file's order.
        ends: how their invocations ended, as far as the file says.
        left_out: what of the file is not used, as a sentence; empty for nothing.
    """

    sessions: dict[SessionKey, SessionCopy]
    ends: dict[SessionKey, dict[str, RecordedEnd]] = field(default_factory=dict)
    left_out: str = ""

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
    elif is_trace_file(file):
        found = read_trace_file(file, session)
        imported = replace(_renamed(file, Imported(found.sessions, found.ends), app, user), left_out=found.left_out)
    else:
        imported = Imported(_of_text(file, app, user, session))
    if not imported.sessions:
        raise ImportFileError(f"{_named(file)} has no sessions." if session is None else f"{_named(file)} has no session {session!r}.")
    return imported


def _of_text(file: str, app: str | None, user: str | None, session: str | None) -> dict[SessionKey, SessionCopy]:
    name = Path(_named(file))
    sessions: dict[SessionKey, SessionCopy] = {}
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else open_named(Path(file)) as opened:
            for each in _found(name, opened):
                names = app or _name(name, each, "app_name", "appName", "--app"), user or _name(name, each, "user_id", "userId", "--user")
                key = SessionKey(*names, _id(name, each))
                if key in sessions:
                    raise ImportFileError(f"{name}, {each.place}: the session {key.session_id!r} is there twice.")
                if session in (None, key.session_id):
                    sessions[key] = _copy(name, each)
    except FileNotFoundError:
        raise ImportFileError(f"There is no file {file}.") from None
    except OSError as error:
        raise ImportFileError(f"{name} cannot be read: {error.strerror or error}.") from None
    except TooMuchError as error:
        raise ImportFileError(f"{name} {error}. Import a part of it, or split it.") from None
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


def _renamed(file: str, found: Imported, app: str | None, user: str | None) -> Imported:
    names = {key: SessionKey(app or key.app_name, user or key.user_id, key.session_id) for key in found.sessions}
    if len(set(names.values())) < len(names):
        raise ImportFileError(f"{file} has sessions with one id that would get the same app and user. Import them one by one.")
    return Imported({names[key]: copy for key, copy in found.sessions.items()}, {names[key]: ends for key, ends in found.ends.items()})


def _found(file: Path, opened: BinaryIO) -> Iterator[_Found]:
    first = _line(opened).removeprefix(b"\xef\xbb\xbf")
    while first and not first.strip():
        first = _line(opened)
    if _is_head(first):
        yield from _of_lines(file, chain([first], iter(partial(_line, opened), b"")))
        return
    data = first + opened.read(MOST_BYTES + 1 - len(first))
    if len(data) > MOST_BYTES:
        raise TooMuchError(f"is not JSON lines, and longer than {MOST_BYTES:,} bytes")
    begin = first.lstrip()[:1]
    if begin in (b"<", b"#"):
        lines = lines_in(data)
        if lines is None:
            raise ImportFileError(f"{file} is {'an HTML page' if begin == b'<' else 'Markdown'}, but no export of Agent Inspector.")
        yield from _of_lines(file, io.BytesIO(lines))
    else:
        yield from _of_json(file, data)


def _line(opened: BinaryIO) -> bytes:
    line = opened.readline(MOST_BYTES + 1)
    if len(line) > MOST_BYTES:
        raise TooMuchError(f"has a line of more than {MOST_BYTES:,} bytes")
    return line


def _is_head(line: bytes) -> bool:
    """Return whether a line describes a session whose events follow, each in a line of its own."""
    try:
        data = Budget().parse(line)
    except ValueError:
        return False
    return isinstance(data, dict) and isinstance(data.get("session"), dict) and "events" not in data


def _of_json(file: Path, text: bytes) -> Iterator[_Found]:
    budget = Budget()
    try:
        data = budget.parse(text)
    except TooMuchError:
        raise
    except UnicodeDecodeError:
        raise ImportFileError(f"{file} is not text in UTF-8, so it is no export.") from None
    except ValueError:
        yield from _of_lines(file, io.BytesIO(text))
        return
    if isinstance(data, dict) and isinstance(data.get("session"), dict) and "events" not in data:
        yield from _of_lines(file, io.BytesIO(text))
        return
    if is_eval_set(data):
        yield from _of_cases(file, data)
        return
    several = data if isinstance(data, list) else [data]
    for number, session in enumerate(several, 1):
        place = f"session {number}" if isinstance(data, list) else "the session"
        if isinstance(session, (dict, str)) and "eval_case_results" in session:  # google-adk writes the JSON as one text
            raise ImportFileError(f"{file} has the results of an eval, which hold no sessions. Import its eval set instead.")
        if not isinstance(session, dict) or not isinstance(session.get("events"), list):
            raise ImportFileError(f"{file}, {place}: a session is a JSON object with a list of `events`.")
        budget.take(EVENT * len(session["events"]))
        yield _Found(session, place, ((f"{place}, event {n}", event) for n, event in enumerate(session["events"], 1)))


def _of_cases(file: Path, data: Any) -> Iterator[_Found]:
    for case in eval_set_of(data, file).cases:
        session = session_of(case)
        session |= {"app_name": session["app_name"] or NO_APP, "user_id": session["user_id"] or NO_USER}
        yield _Found(session, f"case {case.id!r}", ((f"case {case.id!r}", event) for event in session["events"]))


def _of_lines(file: Path, lines: Iterable[bytes]) -> Iterator[_Found]:
    values = _values(file, lines)
    head = next(values, None)

    def events() -> Iterator[tuple[str, Any]]:
        """Return what is read until the next session."""
        nonlocal head
        head = None
        for place, value in values:
            if _is_session(value):
                head = place, value
                return
            yield place, value

    while head is not None:
        place, value = head
        if not _is_session(value):
            raise ImportFileError(f'{file}, {place}: the first line must describe the session: {{"session": {{"id": …, "app_name": …}}}}.')
        found = _Found(value["session"], place, events())
        yield found
        for _ in found.events:
            pass  # of a session that is not imported


def _values(file: Path, lines: Iterable[bytes]) -> Iterator[tuple[str, Any]]:
    sessions = Budget()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            value = Budget().parse(line)
        except TooMuchError:
            raise
        except ValueError as error:
            raise ImportFileError(f"{file}, {place}: this is not JSON: {error}.") from None
        if _is_session(value):
            sessions.take_json(line)
        yield place, value


def _is_session(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("session"), dict)


def _name(file: Path, found: _Found, name: str, other: str, option: str) -> str:
    value = found.data.get(name, found.data.get(other))
    if isinstance(value, str) and value:
        return _short(file, found, other, value)
    raise ImportFileError(f"{file}, {found.place}: `{other}` is missing. Give it with {option}.")


def _id(file: Path, found: _Found) -> str:
    value = found.data.get("id")
    if isinstance(value, str) and value:
        return _short(file, found, "id", value)
    raise ImportFileError(f"{file}, {found.place}: the session has no `id`.")


def _short(file: Path, found: _Found, name: str, value: str) -> str:
    if len(value) > _LONGEST_ID:
        raise ImportFileError(f"{file}, {found.place}: `{name}` is longer than {_LONGEST_ID:,} characters.")
    return value


def _copy(file: Path, found: _Found) -> SessionCopy:
    events, notes = SpooledEvents(), {}
    ids: set[str] = set()
    for place, data in found.events:
        event = _event(file, place, data)
        if event.id in ids:
            raise ImportFileError(f"{file}, {place}: the id {event.id!r} is also another event's.")
        ids.add(event.id)
        try:
            note = _note(event)
        except NoteError as error:
            raise ImportFileError(f"{file}, {place}: {error}") from None
        if note is not None:
            notes[event.id] = note
        events.append(event)
    name = found.data.get("display_name")
    if isinstance(name, str) and (shown := one_line(name)):
        notes[NAME] = Note(shown, at=time.time())
    state = _state(file, found, "state") or {}
    created = found.data.get("create_time")
    if not isinstance(created, (int, float)) or isinstance(created, bool):
        updated = found.data.get("last_update_time", found.data.get("lastUpdateTime", 0.0))
        created = events[0].timestamp if events else updated if isinstance(updated, (int, float)) else 0.0
    if not abs(created) < _NO_TIME:
        raise ImportFileError(f"{file}, {found.place}: the time of the session is no time.")
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
        notes=notes,
    )


def _note(event: Event) -> Note | None:
    """Take the note out of an exported event, and return it."""
    if not event.custom_metadata or NOTE not in event.custom_metadata:
        return None
    note = note_in(event.custom_metadata.pop(NOTE))
    event.custom_metadata = event.custom_metadata or None
    return None if note.is_empty else note


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
    if not abs(event.timestamp) < _NO_TIME:
        raise ImportFileError(f"{file}, {place}: the `timestamp` {event.timestamp:g} is no time.")
    if len(event.id) > _LONGEST_ID:
        raise ImportFileError(f"{file}, {place}: the `id` is longer than {_LONGEST_ID:,} characters.")
    for key in [key for key in event.actions.state_delta if scope_of(key) == "temp"]:
        del event.actions.state_delta[key]
    drop_kept_temp(event.custom_metadata)
    return event
