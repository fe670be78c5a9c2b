"""Rows that sessions share: the state of each user and of each app."""

from __future__ import annotations

from typing import Any

from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.column_values import read_state
from runtime.storage.layouts.commit_record import Execute, record_snapshot
from runtime.storage.writing.database import Database
from runtime.storage.writing.session_revision import Row


def shared_states(run: Execute, key: SessionKey) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the state of a session's user and of its app, keys without prefix."""
    columns = key._asdict()
    return state_in(run("user_state", **columns).fetchone()), state_in(run("app_state", **columns).fetchone())


def state_in(row: Row | None) -> dict[str, Any]:
    """Return the state in a row; empty if there is no row."""
    return read_state(row[0]) if row else {}


def write_shared(
    run: Execute, database: Database, key: SessionKey, user_delta: dict[str, Any], app_delta: dict[str, Any], at: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write the user and app part of a delta, and create missing rows.

    Args:
        run: runs statements in a write transaction.
        database: the database.
        key: the session that wrote.
        user_delta, app_delta: keys without prefix.
        at: the time, as a value of the time columns.

    Returns:
        The user's and the app's new state.
    """
    app = _write_one(run, database, "app_state", {"app_name": key.app_name}, app_delta, at)
    user = _write_one(run, database, "user_state", {"app_name": key.app_name, "user_id": key.user_id}, user_delta, at)
    return user, app


def _write_one(run: Execute, database: Database, table: str, owner: dict[str, str], delta: dict[str, Any], at: Any) -> dict[str, Any]:
    row = run(table, **owner).fetchone() if not (delta and database.has_locks) else None
    if row is None and database.has_locks:
        row = _lock(run, database, table, owner, at)
    if row is None:
        record_snapshot(run, owner["app_name"], owner.get("user_id", ""), {}, database.writer)
        run("insert_" + table, **owner, state=database.state_json(delta), time=at)
        return delta
    state = read_state(row[0])
    if delta:
        state.update(delta)
        run("update_" + table, **owner, state=database.state_json(state), time=at)
    return state


def _lock(run: Execute, database: Database, table: str, owner: dict[str, str], at: Any) -> Row:
    """Lock a scope's row against other writers and return it; create it if it is missing."""
    row: Row | None = run("lock_" + table, **owner).fetchone()
    if row is None:
        if run("insert_" + table, **owner, state="{}", time=at).rowcount:
            record_snapshot(run, owner["app_name"], owner.get("user_id", ""), {}, database.writer)
        row = run("lock_" + table, **owner).fetchone()
        assert row is not None
    return row
