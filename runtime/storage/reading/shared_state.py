"""Stored user and app state, independent of any session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runtime.sessions.state import merge_scopes
from runtime.storage.layouts.column_values import epoch, read_state
from runtime.storage.reading.event_rows import ReadingConnection


@dataclass(frozen=True, slots=True, order=True)
class SharedScope:
    """The owner of shared state.

    Attributes:
        app_name: the app.
        user_id: a user of the app, or None for the app itself.
    """

    app_name: str
    user_id: str | None = None

    def place(self) -> tuple[str, bool, str]:
        """Return what a list is sorted by: each app is before its users."""
        return self.app_name, self.user_id is not None, self.user_id or ""


@dataclass(frozen=True, slots=True)
class SharedState:
    """State that several sessions share.

    Attributes:
        values: keys with their prefixes → values.
        update_time: time of the last write in epoch seconds; 0.0 if it cannot be read, None if nothing is stored.
    """

    values: dict[str, Any]
    update_time: float | None


def shared_scopes(connection: ReadingConnection) -> list[SharedScope]:
    """Return the apps and users that have state, each app before its users."""
    kept = "CAST(state AS TEXT) <> '{}'"
    apps = connection.execute(f"SELECT app_name FROM app_states WHERE {kept}").fetchall()
    users = connection.execute(f"SELECT app_name, user_id FROM user_states WHERE {kept}").fetchall()
    scopes = [SharedScope(str(name)) for (name,) in apps] + [SharedScope(str(name), str(user)) for name, user in users]
    return sorted(scopes, key=SharedScope.place)


def shared_state(connection: ReadingConnection, scope: SharedScope) -> SharedState:
    """Return the stored state of an app or a user.

    Raises:
        StorageError: the state is damaged.
    """
    if scope.user_id is None:
        rows = connection.execute("SELECT state, update_time FROM app_states WHERE app_name = ?", (scope.app_name,))
    else:
        query = "SELECT state, update_time FROM user_states WHERE app_name = ? AND user_id = ?"
        rows = connection.execute(query, (scope.app_name, scope.user_id))
    row = rows.fetchone()
    if row is None:
        return SharedState({}, None)
    stored = read_state(row[0])
    return SharedState(merge_scopes({}, {}, stored) if scope.user_id is None else merge_scopes({}, stored, {}), epoch(row[1]))
