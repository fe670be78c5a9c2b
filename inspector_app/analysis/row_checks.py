"""Rows that google-adk cannot read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic.alias_generators import to_snake

from inspector_app.analysis.finding import Finding
from inspector_app.analysis.session_facts import SessionFacts
from inspector_app.presentation.values import visible
from runtime.events.marks import UNREADABLE, UNREADABLE_EVENT
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.row_faults import RowFault
from runtime.support.file_names import free_name

if TYPE_CHECKING:
    from runtime.events.event import Event

_UNREADABLE = "unreadable row"
_NEWER_ACTIONS = {"transfer_reason", "route", "render_ui_widgets"}  # of google-adk 2, unknown to this runtime
_REFUSED = "google-adk validates every event, so one such event makes its whole session unreadable."
_LOST = "google-adk reads the event without it. Keys of the state that it wrote are unknown from here until they are written again."
_LEAVE_OUT = "Restore a backup, or copy the database without what cannot be read."
_DROP = "--drop-unreadable"


def unreadable_events(facts: SessionFacts) -> Iterator[Finding]:
    """Find events that google-adk refuses, and times that are none."""
    for event in facts.events:
        damaged = (event.custom_metadata or {}).get(UNREADABLE)
        if isinstance(damaged, dict) and damaged:
            columns = visible(" and ".join(map(str, damaged)))
            if facts.writable:  # no such layout has these columns: the event was copied from one that has
                what = f"It lost its {columns} when the database was copied: the older row could not be read."
                yield facts.finding("lost in a copy", "note", event.id, what, _LOST, "Look into the older file, if the event matters.")
                continue
            pickle = " Versions before 2.8 run what a pickle in it says, so do not open the file with them." if facts.layout == "v0" else ""
            why = f"{_REFUSED}{pickle if 'actions' in damaged else ''}" if facts.is_google else "What it says is not known."
            yield facts.finding(_UNREADABLE, "error", event.id, f"Its {columns} cannot be read.", why, _LEAVE_OUT, facts.convert(_DROP))
        elif event.error_code == UNREADABLE_EVENT:
            yield facts.finding(
                _UNREADABLE, "error", event.id, event.error_message or "The row is no event.", _REFUSED, _LEAVE_OUT, facts.convert(_DROP)
            )
        elif facts.is_google and (refused := [*_refused(event)]):
            names = ", ".join(refused[:3])
            yield facts.finding(
                _UNREADABLE,
                "error",
                event.id,
                f"It has something that google-adk 2.13 does not know there: {visible(names)}.",
                _REFUSED,
                "If a newer google-adk wrote it, read it with that one. Otherwise find the program that wrote the row.",
            )
    for row in facts.rows:
        if row.time is None:
            yield facts.finding(
                _UNREADABLE,
                "error",
                row.event_id,
                "Its time column holds no time.",
                _REFUSED,
                "Copy the database: the copy has the event's own time in the column.",
                facts.convert(),
            )


def _refused(event: Event) -> Iterator[str]:
    """Yield the paths of an event's JSON that google-adk refuses: values of a wrong type, and unknown keys in `actions`."""
    yield from (".".join(map(str, path)) for path, _ in getattr(event, "unknown", None) or ())
    yield from (f"actions.{name}" for name in getattr(event.actions, "model_extra", None) or () if to_snake(name) not in _NEWER_ACTIONS)


def faults_of_tables(faults: list[RowFault], name: str) -> Iterator[Finding]:
    """Return what google-adk refuses in the tables, as findings.

    Args:
        faults: from `StoredDatabase.row_faults`.
        name: the database's name as the user wrote it.
    """
    convert = ("agent-inspector", "convert", name, free_name())
    for fault in faults:
        owner = visible(", ".join(fault.names))
        key = SessionKey(*fault.names) if len(fault.names) == len(SessionKey._fields) else None
        if fault.kind == "state":
            what, why = (
                f"The state of {owner} in {fault.table} is no JSON object.",
                "No program can read its sessions.",
            )
            yield Finding(_UNREADABLE, "error", what, why, _LEAVE_OUT, key, fix=(*convert, _DROP))
        elif fault.kind == "time":
            what, why = f"The update time of {owner} in {fault.table} is no time.", "google-adk cannot read the row."
            yield Finding(_UNREADABLE, "error", what, why, "Copy the database: the copy has a valid time.", key, fix=convert)
        elif fault.kind == "text time":
            what = f"The update time of {owner} in {fault.table} is text, where adk web's layout has a number."
            why = "google-adk's DatabaseSessionService has written to a file of adk web, which can no longer open it."
            yield Finding(_UNREADABLE, "error", what, why, "Copy the database into the layout of DatabaseSessionService.", key, fix=convert)
        elif fault.kind in ("app row", "user row"):
            what = f"{owner} has sessions and no row in {fault.table}."
            why = "google-adk reads such a session and fails to append to it."
            yield Finding(_UNREADABLE, "error", what, why, "Copy the database: the copy has the row.", key, fix=convert)
        elif fault.kind == "schema version":
            what, why = "The table adk_internal_metadata has no schema_version.", "google-adk refuses to open the file."
            yield Finding(_UNREADABLE, "error", what, why, "Copy the database: the copy has the row.", fix=convert)
        else:
            what = f"{fault.count:,} events belong to the session {owner}, which does not exist."
            why = "No program lists them. A session was deleted without its events, or its row was lost."
            advice = "Copy what is readable: the copy has the session again, without its state."
            yield Finding(_UNREADABLE, "error", what, why, advice, key, fix=("agent-inspector", "recover", name, free_name()))
