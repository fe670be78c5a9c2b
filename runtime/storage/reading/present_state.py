"""The state after a session's newest event, read without the session's past."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runtime.history.scoped_state import ScopedState
from runtime.sessions.state import Scope, scope_of
from runtime.storage.layouts.table_names import COMMITS

if TYPE_CHECKING:
    from runtime.sessions.session import SessionKey

_OWN = "user_id = :user_id AND session_id = :session_id"


def state_after(
    connection: sqlite3.Connection, key: SessionKey, rowid: int, present: Mapping[str, Any], *, ours: bool, time_order: str = "{}"
) -> ScopedState | None:
    """Return the state right after a session's newest event.

    A session's own keys change only with its events, so their present values are those after the newest one. `user:` and `app:` keys are
    known unless another session of the app may have written them since; else they are listed as unknown.

    Args:
        connection: a connection in a transaction.
        key: the session.
        rowid: row number of the event.
        present: the session's current merged state.
        ours: whether the database has our record of commits.
        time_order: see `EventFormat`.

    Returns:
        None if the session has a newer event.
    """
    names = {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id, "rowid": rowid}

    def any_row(query: str) -> bool:
        return bool(connection.execute(f"SELECT EXISTS ({query})", names).fetchone()[0])

    later = "SELECT 1 FROM events NOT INDEXED WHERE rowid > :rowid AND app_name = :app_name"
    if any_row(f"{later} AND {_OWN}"):
        return None
    shared_since = any_row(f"{later} AND NOT ({_OWN})") or any_row(
        "SELECT 1 FROM sessions AS other, sessions AS this WHERE this.app_name = :app_name AND this.user_id = :user_id"
        " AND this.id = :session_id AND other.app_name = :app_name AND NOT (other.user_id = :user_id AND other.id = :session_id)"
        f" AND {time_order.format('other.create_time')} >= {time_order.format('this.update_time')}"
    )
    if ours and not shared_since:
        newest = connection.execute(
            f"SELECT {_OWN} FROM {COMMITS} WHERE app_name = :app_name AND (shared IS NOT NULL OR ({_OWN})) ORDER BY seq DESC LIMIT 1", names
        ).fetchone()
        shared_since = newest is not None and not newest[0]
    found: dict[Scope, dict[str, Any]] = {"session": {}, "user": {}, "app": {}}
    unknown: list[str] = []
    for name, value in present.items():
        scope = scope_of(name)
        if scope != "session" and shared_since:
            unknown.append(name)
        elif scope in found:
            found[scope][name] = value
    return ScopedState(found["session"], found["user"], found["app"], {}, unknown)
