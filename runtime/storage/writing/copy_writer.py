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
    """An event ready to be written; `time` is the value of the time column in microseconds."""

    event_id: str
    invocation_id: str
    time: int
    event_data: str
    temp: str | None


def copied_events(copy: SessionCopy) -> list[CopiedEvent]:
    """Return a copy's events in stored form. Events keep their own times; the times of the columns increase, as google-adk requires."""
    rows: list[CopiedEvent] = []
    latest = to_micros(copy.created) - 1
    for event in copy.events:
        latest = max(to_micros(event.timestamp), latest + 1)
        rows.append(CopiedEvent(event.id, event.invocation_id, latest, _json_of(event), trace_of(copy.temp.get(event.id, {}))))
    return rows


def _json_of(event: Event) -> str:
    text = event.model_dump_json(exclude_none=True)
    if type(event) is Event and not event.actions.model_extra:
        return text
    # Fields of `actions` that google-adk refuses may come from a database of a newer version.
    data = json.loads(text)
    return json.dumps(data) if move_unknown_actions(data) else text


def write_copy(run: Execute, database: Database, key: SessionKey, copy: SessionCopy, events: Sequence[CopiedEvent]) -> None:
    """Write the session's row and its events.

    Args:
        run: runs statements in the current transaction.
        database: the database to write to.
        key: the new session.
        copy: its content.
        events: the result of `copied_events`.
    """
    columns = key._asdict()
    run("insert_session", **columns, state=database.state_json(copy.state), time=database.time_value(to_micros(copy.created)))
    for event in events:
        database.check_text(event.event_data, f"event {event.event_id}")
        values = {"event_id": event.event_id, "invocation_id": event.invocation_id, "event_data": event.event_data}
        run("insert_event", **columns, **values, time=database.time_value(event.time))
    for event_id, note in copy.notes.items():
        write_note(run, key, event_id, note)
    if events:
        run("touch_session", **columns, time=database.time_value(events[-1].time))


def write_note(run: Execute, key: SessionKey, event_id: str, note: Note) -> None:
    """Write a note in place of an earlier one; an empty note deletes it.

    Args:
        run: runs statements in the current transaction.
        key: the session.
        event_id: the event.
        note: the note.
    """
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
        events: the result of `copied_events`.
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
    for event in events:
        values = {"event_id": event.event_id, "at": event.time, "writer": writer, "temp": event.temp}
        run("insert_commit", **columns, **values, baseline=None, shared=None)
