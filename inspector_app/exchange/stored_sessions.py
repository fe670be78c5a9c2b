"""Sessions of a database as copies for another database, with all that the first one knows of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from inspector_app.exchange.spooled_events import SpooledEvents
from runtime.events.credentials import without_credentials
from runtime.forks.fork import session_copy
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import scope_of
from runtime.storage.connections.database_url import without_password
from runtime.storage.reading.notes import Notes
from runtime.storage.reading.reader import StoredDatabase


def stored_sessions(
    target: str, wanted: Callable[[SessionKey], bool], notes: Callable[[StoredDatabase], Notes] = StoredDatabase.notes
) -> tuple[dict[SessionKey, SessionCopy], dict[SessionKey, dict[str, RecordedEnd]]]:
    """Return the sessions of a database, without the credentials that people gave, and how their invocations ended.

    Args:
        target: file path or URL.
        wanted: whether a session is taken.
        notes: returns the notes of the open database; by default, those in it.

    Raises:
        StorageError: the database cannot be read.
        NotASessionDatabaseError: it is no session database.
    """
    sessions: dict[SessionKey, SessionCopy] = {}
    with StoredDatabase.open(target) as database:
        lineages = database.lineages()
        ends = database.recorded_ends()
        noted = notes(database)
        for summary in database.listing():
            key = summary.key
            if not wanted(key):
                continue
            lineage = lineages.get(key)
            if lineage is not None and lineage.database is None:
                lineage = replace(lineage, database=without_password(target))
            copy = session_copy(database.history(key), database.created(key), lineage)
            state = database.state(key)
            scopes = {
                scope: {name: value for name, value in state.items() if scope_of(name) == scope} for scope in ("session", "user", "app")
            }
            events = SpooledEvents(without_credentials(event) for event in copy.events)
            sessions[key] = replace(
                copy, events=events, state=scopes["session"], user=scopes["user"], app=scopes["app"], notes=noted.get(key, {})
            )
    return sessions, {key: ends[key] for key in sessions if key in ends}
