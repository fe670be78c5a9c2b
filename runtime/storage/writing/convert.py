"""Lossless conversion of a database of any layout into a new file in google-adk's v1 layout, with our tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from runtime.errors.storage_error import StorageError
from runtime.events.credentials import json_without_credentials
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.events.marks import MOVED_ACTIONS, MOVED_FIELDS, STORED_TEXT, UNREADABLE
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import scope_of
from runtime.sessions.temp_trace import without_values
from runtime.storage.connections.database_url import database_url, named_file, shown_url, without_written_password
from runtime.storage.connections.new_file import give_name, unfinished_file
from runtime.storage.layouts.column_values import (
    as_name,
    as_text,
    load_json_object,
    micros_of,
    to_epoch,
    to_micros,
    without_lone_surrogates,
)
from runtime.storage.layouts.commit_record import Execute, delta_of, record_all_shared, record_events_of_others
from runtime.storage.layouts.decode_v0 import LONGEST_KEPT
from runtime.storage.layouts.detect import Layout
from runtime.storage.layouts.read_time_limit import one_read
from runtime.storage.layouts.table_names import COMMITS, INVOCATIONS, NOTES
from runtime.storage.reading.event_rows import read_offset
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.database import Database
from runtime.support.file_names import unusable_name

# The fields that google-adk 1.25 does not know. Up to 1.27, an event with any other field is refused when its session is read.
_NEW_FIELDS = {
    "environment_id",
    "go_away",
    "isolation_scope",
    "live_session_id",
    "output",
    "turn_complete_reason",
    "voice_activity",
}
_NEW_ACTIONS = {"route", "transfer_reason", "set_model_response", "render_ui_widgets"}
_ACTIONS = frozenset(EventActions.model_fields)
_OLD_ACTIONS = _ACTIONS - _NEW_ACTIONS
_OLD_FIELDS = {*Event.model_fields, "cache_metadata"} - _NEW_FIELDS
_KEY = ("app_name", "user_id", "session_id")
_RECORD = ("seq", *_KEY, "event_id", "at", "writer", "baseline", "shared", "temp")
_END = (*_KEY, "invocation_id", "status", "reason", "last_event_id", "at")
_NOTE = (*_KEY, "event_id", "text", "is_bookmark", "at")
_PIECE = 500  # rows read in one transaction
Row = dict[str, Any]


@dataclass(slots=True)
class Conversion:
    """The result of a conversion.

    Attributes:
        layout: the old database's layout.
        sessions, events: numbers of converted sessions and events.
        notes: remarks for the user.
    """

    layout: Layout
    sessions: int = 0
    events: int = 0
    notes: list[str] = field(default_factory=list)


def convert(
    old: str,
    new: str,
    *,
    drops_unreadable: bool = False,
    credentials: bool = True,
    for_old_adk: bool = False,
    progress: Callable[[int], object] = lambda _: None,
) -> Conversion:
    """Convert a whole database into a new file; the old file is not changed.

    The new file has the old one's sessions and states, its events in order with their ids and times, and our record if there was one. The
    file gets its name when it is complete.

    Args:
        old: file path or `sqlite:` URL of a database in any layout.
        new: path of the new file, which must not exist.
        drops_unreadable: convert events whose content or actions cannot be read, without what cannot be read, and give sessions whose state
            is no JSON object what their events wrote; notes count them.
        credentials: also copy the credentials that people gave to agents.
        for_old_adk: move the fields that google-adk 1.22 to 1.27 refuses into the events' `custom_metadata`.
        progress: called now and then with the number of events converted so far.

    Raises:
        StorageError: `new` exists or cannot be written, or `old` cannot be read, has a version that this program does not know, or has
            events whose changes would be lost.
        NotASessionDatabaseError: `old` is not a session database.
    """
    target = named_file(new)
    if target is None:
        raise StorageError(f"{without_written_password(new)} is not a file. Name a new file to convert into.")
    if reason := unusable_name(target):
        raise StorageError(f"{new} {reason}. Name a new file to convert into.")
    if target.exists():
        raise StorageError(f"{new} already exists. Name a file that does not exist.")
    if not target.parent.is_dir():
        raise StorageError(f"{new} cannot be created: the folder {target.parent} does not exist.")
    if named_file(old) is None:
        raise StorageError(f"{shown_url(database_url(old))} is not a file. Only files can be converted.")
    with StoredDatabase.open(old) as source:
        if source.layout.is_newer:
            raise StorageError(
                f"{old} has a layout that is newer than this program. Converting it could lose unknown data, so it can only be read."
            )
        try:
            with unfinished_file(target) as unfinished:
                database = Database(database_url(str(unfinished)), "v1", {})
                try:
                    with database.writing() as run:
                        writer = _Writer(source, run, database.writer, drops_unreadable, credentials, for_old_adk)
                        conversion = writer.convert(progress)
                finally:
                    database.close()
                give_name(unfinished, target)
        except OSError as error:
            raise StorageError(f"{target} cannot be written: {error.strerror or error}.") from error
    return conversion


class _Writer:
    """A writer that copies table by table, in one transaction."""

    def __init__(
        self, source: StoredDatabase, run: Execute, writer: str, drops_unreadable: bool, credentials: bool, for_old_adk: bool
    ) -> None:
        self._source = source
        self._for_old_adk = for_old_adk
        self._drops_unreadable = drops_unreadable
        self._unreadable = self._moved_fields = 0
        self._credentials = credentials
        self._run = run
        self._writer = writer
        self._layout = source.layout
        self._last: dict[tuple[str, str, str], int] = {}
        self._lost_states: dict[tuple[str, ...], tuple[str, dict[str, Any]]] = {}  # owner → time, and keys that its events wrote
        self._offset = source.read(read_offset) if source.layout.format.has_local_times else 0
        self._columns = source.layout.format.columns(source.layout.event_columns)
        self._decode = source.layout.format.decoder(self._columns, self._offset)
        self._done = Conversion(source.layout)

    @one_read()
    def convert(self, progress: Callable[[int], object]) -> Conversion:
        sessions = self._rows("SELECT app_name, user_id, id AS session_id, state, create_time, update_time FROM sessions ORDER BY rowid")
        self._check_names(sessions)
        self._states(sessions)
        for row in sessions:
            self._run("insert_session", **_key(row), state=self._state(row, _names(row)), time=_time(row["create_time"]))
            self._last[_names(row)] = -1
        moved, orphans, hidden = self._events(progress)
        self._restore_states()
        for row in sessions:
            self._run("touch_session", **_key(row), time=as_text(max(self._last[_names(row)], micros_of(row["update_time"]))))
        if self._unreadable and not self._drops_unreadable:
            raise StorageError(
                f"{_events(self._unreadable)} cannot be read completely, so the changes would be lost. Nothing was converted."
                " Convert without them with --drop-unreadable."
            )
        self._record()
        self._done.sessions = len(sessions)
        notes = [self._layout.note] if self._layout.note else []
        if moved:
            notes.append(
                f"{_events(moved)} had unknown actions, which google-adk would refuse; these are now in custom_metadata.{MOVED_ACTIONS}."
            )
        if self._moved_fields:
            notes.append(
                f"{_events(self._moved_fields)} had fields that google-adk up to 1.27 refuses; these are in custom_metadata.{MOVED_FIELDS}."
            )
        if self._unreadable:
            notes.append(f"{_events(self._unreadable)} could not be read completely; the changes are lost.")
        if count := len(self._lost_states):
            what = "1 stored state was no JSON object" if count == 1 else f"{count:,} stored states were no JSON objects"
            notes.append(f"{what}: the copy has what the events wrote.")
        if orphans:
            notes.append(f"{_events(orphans)} of no session {'was' if orphans == 1 else 'were'} left out.")
        if hidden:
            notes.append(f"{_events(hidden)} had credentials that people gave; these were left out (--credentials copies them).")
        self._done.notes = notes
        return self._done

    def _check_names(self, sessions: Sequence[Row]) -> None:
        for row in sessions:
            if not all(isinstance(name, str) for name in _names(row)):
                names = "/".join(map(as_name, _names(row)))
                raise StorageError(f"The name of session {names} is not text. It cannot be converted without loss.")

    def _states(self, sessions: Sequence[Row]) -> None:
        apps = {row["app_name"]: row for row in self._rows("SELECT app_name, state, update_time FROM app_states")}
        users = {_owner(row): row for row in self._rows("SELECT app_name, user_id, state, update_time FROM user_states")}
        for row in sessions:
            # google-adk cannot append events if these rows are missing.
            empty = {"state": "{}", "update_time": row["create_time"]}
            apps.setdefault(row["app_name"], {"app_name": row["app_name"], **empty})
            users.setdefault(_owner(row), {"app_name": row["app_name"], "user_id": row["user_id"], **empty})
        for row in apps.values():
            state = self._state(row, (row["app_name"],))
            self._run("insert_app_state", app_name=row["app_name"], state=state, time=_time(row["update_time"]))
        for row in users.values():
            names = {"app_name": row["app_name"], "user_id": row["user_id"]}
            self._run("insert_user_state", **names, state=self._state(row, _owner(row)), time=_time(row["update_time"]))

    def _state(self, row: Row, owner: tuple[str, ...]) -> str:
        """Return the JSON of a stored state. One that is no object is noted, and empty for now."""
        try:
            load_json_object(row["state"])
        except ValueError as error:
            if not self._drops_unreadable:
                raise StorageError(
                    f"A stored state of app {row['app_name']} is damaged: {error}. Nothing was converted."
                    " Convert without it with --drop-unreadable."
                ) from error
            first = self._source.first_state(SessionKey(*owner)) if len(owner) == len(_KEY) else None
            state = {key: value for key, value in (first or {}).items() if scope_of(key) == "session"}
            self._lost_states[owner] = _time(row["update_time"]), state
            return "{}"
        return row["state"].decode() if isinstance(row["state"], bytes) else str(row["state"])

    def _add_to_lost_states(self, names: tuple[str, str, str], data: Row) -> None:
        for key, value in delta_of(data).items():
            scope = scope_of(key)
            owner: tuple[str, ...] = {"session": names, "user": names[:2], "app": names[:1]}.get(scope, ())
            if owner in self._lost_states:
                self._lost_states[owner][1][key if scope == "session" else key.partition(":")[2]] = value

    def _restore_states(self) -> None:
        for owner, (time, state) in self._lost_states.items():
            table = ("app_state", "user_state", "session")[len(owner) - 1]
            self._run(f"update_{table}", **dict(zip(_KEY, owner, strict=False)), state=json.dumps(state), time=time)

    def _events(self, progress: Callable[[int], object]) -> tuple[int, int, int]:
        moved = orphans = hidden = 0
        for row in self._event_rows():
            progress(self._done.events)
            names = _names(row)
            if names not in self._last:
                orphans += 1
                continue
            data = self._json(row)
            if not self._credentials:
                kept = json_without_credentials(data)
                hidden += kept != data
                data = kept
            self._moved_fields += self._for_old_adk and _move_new_fields(data)
            moved += move_unknown_actions(data, _OLD_ACTIONS if self._for_old_adk else _ACTIONS)
            if not isfinite(data["timestamp"]):  # such as 1e400
                self._unreadable += 1
                data["timestamp"] = to_epoch(self._last[names] + 1)
            latest = max(to_micros(data["timestamp"]), self._last[names] + 1)
            self._last[names] = latest
            values = {"event_id": data["id"], "invocation_id": data["invocation_id"], "time": as_text(latest)}
            self._run("insert_event", **_key(row), **values, event_data=json.dumps(data))
            if self._lost_states:
                self._add_to_lost_states(names, data)
            self._done.events += 1
        return moved, orphans, hidden

    def _event_rows(self) -> Iterator[Row]:
        columns = self._columns
        number = -(2**63)
        query = f"SELECT rowid AS number, app_name, user_id, session_id, {', '.join(columns)} FROM events"
        while rows := self._rows(f"{query} WHERE rowid > ? ORDER BY rowid LIMIT {_PIECE}", number):
            yield from rows
            number = rows[-1]["number"]

    def _json(self, row: Row) -> Row:
        """Return an event's stored JSON with the fields that the v1 layout requires."""
        if self._layout.format.as_json is not None:
            data = self._layout.format.as_json(row, self._offset)
            metadata = data.get("custom_metadata")
            self._unreadable += isinstance(metadata, dict) and UNREADABLE in metadata
            return data
        event = self._decode([row[name] for name in self._columns])
        try:
            data = without_lone_surrogates(load_json_object(row["event_data"]))
            json.dumps(data).encode()
        except (ValueError, RecursionError):
            self._unreadable += 1
            data = json.loads(event.model_dump_json(exclude_none=True))
            if (text := data.pop(STORED_TEXT, None)) is not None:
                _keep(data, UNREADABLE, {"event_data": {"reason": event.error_message, "text": text[:LONGEST_KEPT]}})
        if self._layout.format.amend is not None:
            self._layout.format.amend(data)
        for camel, name in (("invocationId", "invocation_id"),):
            data.pop(camel, None)
            data[name] = event.invocation_id
        data["id"], data["author"], data["timestamp"] = event.id, event.author, event.timestamp
        return data

    def _record(self) -> None:
        """Copy our record of commits, or begin one. Data that was never recorded stays unknown."""
        if self._layout.ours:
            for row in self._rows(f"SELECT {', '.join(_RECORD)} FROM {COMMITS} ORDER BY seq"):
                temp = row["temp"] if row["event_id"] is None else without_values(row["temp"])
                self._run("copy_commit", **{**row, "temp": temp})
        if self._layout.records_ends:
            for row in self._rows(f"SELECT {', '.join(_END)} FROM {INVOCATIONS}"):
                self._run("insert_end", **row)
        if self._layout.keeps_notes:
            for row in self._rows(f"SELECT {', '.join(_NOTE)} FROM {NOTES}"):
                self._run("put_note", **row)
        record_events_of_others(self._run)
        if not self._layout.ours:
            record_all_shared(self._run, self._writer)

    def _rows(self, query: str, *values: Any) -> list[Row]:
        def read(connection: sqlite3.Connection) -> list[Row]:
            cursor = connection.execute(query, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

        return self._source.read(read)


def move_unknown_actions(data: Row, known: Collection[str] = _ACTIONS) -> bool:
    """Move the fields of `actions` that google-adk rejects into `custom_metadata`; return whether there were any.

    Args:
        data: an event's JSON object. It is modified.
        known: the fields that it takes.
    """
    actions = data.get("actions")
    if not isinstance(actions, dict):
        return False
    unknown = {name: value for name, value in actions.items() if _snake(name) not in known}
    if unknown:
        for name in unknown:
            del actions[name]
        _keep(data, MOVED_ACTIONS, unknown)
    return bool(unknown)


def _move_new_fields(data: Row) -> bool:
    unknown = {name: value for name, value in data.items() if _snake(name) not in _OLD_FIELDS}
    if unknown:
        for name in unknown:
            del data[name]
        _keep(data, MOVED_FIELDS, unknown)
    return bool(unknown)


def _keep(data: Row, mark: str, unknown: Row) -> None:
    metadata = data.pop("customMetadata", None) or data.get("custom_metadata") or {}
    data["custom_metadata"] = {**metadata, mark: unknown} if isinstance(metadata, dict) else {"": metadata, mark: unknown}


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _key(row: Row) -> dict[str, str]:
    return {name: row[name] for name in _KEY}


def _names(row: Row) -> tuple[str, str, str]:
    return row["app_name"], row["user_id"], row["session_id"]


def _owner(row: Row) -> tuple[str, str]:
    return row["app_name"], row["user_id"]


def _time(value: Any) -> str:
    return as_text(micros_of(value))


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{count:,} events"
