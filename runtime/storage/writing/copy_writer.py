"""Writing of a session's copy into a database, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from runtime.events.event import Event
from runtime.sessions.lineage import PastWrite, SessionCopy, dump_origin
from runtime.sessions.note import Note
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import merge_scopes
from runtime.sessions.temp_trace import trace_of
from runtime.storage.layouts.column_values import to_micros
from runtime.storage.layouts.commit_record import Execute, shared_json
from runtime.storage.writing.convert import move_unknown_actions
from runtime.storage.writing.database import Database


class CopiedEvent(NamedTuple):
    """What is recorded of a written event; `time` is the value of the time column in microseconds."""

    event_id: str
    time: int
    temp: str | None


def _json_of(event: Event) -> str:
    text = event.model_dump_json(exclude_none=True)
    if type(event) is Event and not event.actions.model_extra:
        return text
    # Fields of `actions` that google-adk refuses may come from a database of a newer version.
    data = json.loads(text)
    return json.dumps(data) if move_unknown_actions(data) else text


def write_copy(run: Execute, database: Database, key: SessionKey, copy: SessionCopy) -> list[CopiedEvent]:
    """Write the session's row and its events. Events keep their own times; the times of the columns increase, as google-adk requires.

    Args:
        run: runs statements in the current transaction.
        database: the database to write to.
        key: the new session.
        copy: its content; its events are taken one by one.

    Returns:
        What `record_copy` needs of the events.
    """
    latest = to_micros(copy.created) - 1
    run("insert_session", **key._asdict(), state=database.state_json(copy.state), time=database.time_value(latest + 1))
    return write_events(run, database, key, copy, latest)


def write_events(run: Execute, database: Database, key: SessionKey, copy: SessionCopy, latest: int) -> list[CopiedEvent]:
    """Write the events and notes of a copy into a session that exists.

    Args:
        run, database, key, copy: see `write_copy`.
        latest: the time column of the event before them, in microseconds.
    """
    columns, written = key._asdict(), []
    for event in copy.events:
        latest = max(to_micros(event.timestamp), latest + 1)
        data = _json_of(event)
        database.check_text(data, f"event {event.id}")
        values = {"event_id": event.id, "invocation_id": event.invocation_id, "event_data": data}
        run("insert_event", **columns, **values, time=database.time_value(latest))
        written.append(CopiedEvent(event.id, latest, trace_of(copy.temp.get(event.id, {}))))
    for event_id, note in copy.notes.items():
        write_note(run, key, event_id, note)
    if written:
        run("touch_session", **columns, time=database.time_value(latest))
    return written


def write_note(run: Execute, key: SessionKey, event_id: str, note: Note) -> None:
    """Write a note in place of an earlier one; an empty note deletes it."""
    columns = {**key._asdict(), "event_id": event_id}
    if note.is_empty:
        run("forget_note", **columns)
    else:
        run("put_note", **columns, text=note.text, is_bookmark=int(note.is_bookmark), at=to_micros(note.at))


def record_copy(
    run: Execute,
    writer: str,
    key: SessionKey,
    copy: SessionCopy,
    events: Sequence[CopiedEvent],
    *,
    set_here: tuple[dict[str, Any], dict[str, Any]],
    now: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    """Record the copy's creation and its events. The events wrote nothing to shared keys: the original session's events did.

    Args:
        run: executes a statement in the transaction that wrote the events.
        writer: this process.
        key: the new session.
        copy: its content.
        events: the result of `write_copy`.
        set_here: the user and app keys (without prefix) that its creation set.
        now: the complete user and app state after it.
    """
    columns = key._asdict()
    user, app = now
    after = [PastWrite(len(events), merge_scopes({}, user, {}), "user"), PastWrite(len(events), merge_scopes({}, {}, app), "app")]
    run(
        "insert_commit",
        **columns,
        event_id=None,
        at=to_micros(copy.created),
        writer=writer,
        baseline=None if copy.baseline is None else json.dumps(copy.baseline),
        shared=shared_json(merge_scopes({}, *set_here)),
        temp=dump_origin(copy.lineage, [*copy.shared, *after]),
    )
    record_events(run, writer, key, events)


def record_events(run: Execute, writer: str, key: SessionKey, events: Sequence[CopiedEvent]) -> None:
    """Record the events that a copy added to a session; see `record_copy`."""
    for event in events:
        values = {"event_id": event.event_id, "at": event.time, "writer": writer, "temp": event.temp}
        run("insert_commit", **key._asdict(), **values, baseline=None, shared=None)
