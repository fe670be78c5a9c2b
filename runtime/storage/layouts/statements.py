"""SQL statements of the session services, compiled once for each dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from runtime.storage.layouts.table_names import COMMITS, INVOCATIONS, METADATA, NOTES, OF_NAMED_SESSION

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect


class Rows(Protocol):
    """The common part of SQLite's and psycopg's cursors."""

    @property
    def rowcount(self) -> int:
        """Number of rows that the statement changed."""

    def fetchone(self) -> Any:
        """Return the next row, or None after the last."""

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""

    def close(self) -> None:
        """Discard the remaining rows."""

    def __iter__(self) -> Iterator[Any]: ...


class DriverConnection(Protocol):
    """The common part of SQLite's and psycopg's connections."""

    def execute(self, sql: str, values: Any = ..., /) -> Rows:
        """Run a statement."""


_SESSION = "app_name = :app_name AND user_id = :user_id AND id = :session_id"
_LAST = f"(SELECT id FROM events WHERE {OF_NAMED_SESSION} ORDER BY rowid DESC LIMIT 1)"
_LISTED = "SELECT user_id, id, update_time, state FROM sessions WHERE app_name = :app_name"
_PAGE = " ORDER BY user_id, id LIMIT :limit"
_EVENT_COLUMNS = "id, invocation_id, timestamp, event_data"

SQL = {
    "find_session": f"SELECT create_time, update_time, {_LAST} FROM sessions WHERE {_SESSION}",
    "session_state": f"SELECT state FROM sessions WHERE {_SESSION}",
    "app_state": "SELECT state FROM app_states WHERE app_name = :app_name",
    "user_state": "SELECT state FROM user_states WHERE app_name = :app_name AND user_id = :user_id",
    "user_states": "SELECT user_id, state FROM user_states WHERE app_name = :app_name",
    "app_sessions": f"{_LISTED}{_PAGE}",
    "app_sessions_after": f"{_LISTED} AND (user_id, id) > (:after_user, :after_id){_PAGE}",
    "user_sessions": f"{_LISTED} AND user_id = :user_id{_PAGE}",
    "user_sessions_after": f"{_LISTED} AND user_id = :user_id AND id > :after_id{_PAGE}",
    "events": f"SELECT {_EVENT_COLUMNS} FROM events WHERE {OF_NAMED_SESSION} ORDER BY rowid",
    "recent_events": f"SELECT {_EVENT_COLUMNS} FROM events WHERE {OF_NAMED_SESSION} ORDER BY rowid DESC LIMIT :count",
    "events_since": f"SELECT {_EVENT_COLUMNS} FROM events WHERE {OF_NAMED_SESSION} AND timestamp >= :time ORDER BY rowid",
    "event_number": f"SELECT rowid FROM events WHERE {OF_NAMED_SESSION} AND id = :event_id",
    "events_after": f"SELECT {_EVENT_COLUMNS} FROM events WHERE {OF_NAMED_SESSION} AND rowid > :number ORDER BY rowid",
    "count_events": f"SELECT count(*) FROM events WHERE {OF_NAMED_SESSION}",
    "latest_time": f"SELECT max(timestamp) FROM events WHERE {OF_NAMED_SESSION}",
    "insert_session": (
        "INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time)"
        " VALUES (:app_name, :user_id, :session_id, :state, :time, :time)"
    ),
    "insert_event": (
        "INSERT INTO events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)"
        " VALUES (:event_id, :app_name, :user_id, :session_id, :invocation_id, :time, :event_data)"
    ),
    "update_session": f"UPDATE sessions SET state = :state, update_time = :time WHERE {_SESSION}",
    "touch_session": f"UPDATE sessions SET update_time = :time WHERE {_SESSION}",
    "insert_app_state": "INSERT INTO app_states (app_name, state, update_time) VALUES (:app_name, :state, :time)",
    "insert_user_state": ("INSERT INTO user_states (app_name, user_id, state, update_time) VALUES (:app_name, :user_id, :state, :time)"),
    "update_app_state": "UPDATE app_states SET state = :state, update_time = :time WHERE app_name = :app_name",
    "update_user_state": ("UPDATE user_states SET state = :state, update_time = :time WHERE app_name = :app_name AND user_id = :user_id"),
    "insert_commit": (
        f"INSERT INTO {COMMITS} (app_name, user_id, session_id, event_id, at, writer, baseline, shared, temp)"
        " VALUES (:app_name, :user_id, :session_id, :event_id, :at, :writer, :baseline, :shared, :temp)"
    ),
    # Most commits. The driver takes as long to bind three values that are None as three others together with their column names.
    "insert_plain_commit": (
        f"INSERT INTO {COMMITS} (app_name, user_id, session_id, event_id, at, writer)"
        " VALUES (:app_name, :user_id, :session_id, :event_id, :at, :writer)"
    ),
    "copy_commit": (
        f"INSERT INTO {COMMITS} (seq, app_name, user_id, session_id, event_id, at, writer, baseline, shared, temp)"
        " VALUES (:seq, :app_name, :user_id, :session_id, :event_id, :at, :writer, :baseline, :shared, :temp)"
    ),
    "last_commit": (f"SELECT writer, at FROM {COMMITS} WHERE {OF_NAMED_SESSION} AND event_id = :event_id ORDER BY seq DESC LIMIT 1"),
    "creation": f"SELECT writer, at FROM {COMMITS} WHERE {OF_NAMED_SESSION} AND event_id IS NULL ORDER BY seq DESC LIMIT 1",
    "newest_events": (
        "SELECT e.app_name, e.user_id, e.session_id, e.id, e.timestamp, e.event_data, EXISTS (SELECT 1 FROM"
        f" {COMMITS} AS c WHERE c.app_name = e.app_name AND c.user_id = e.user_id AND c.session_id = e.session_id AND c.event_id = e.id)"
        " FROM events AS e ORDER BY e.rowid DESC"
    ),
    "all_app_states": "SELECT app_name, state FROM app_states ORDER BY app_name",
    "all_user_states": "SELECT app_name, user_id, state FROM user_states ORDER BY app_name, user_id",
    "temp": f"SELECT event_id, temp FROM {COMMITS} WHERE {OF_NAMED_SESSION} AND event_id IS NOT NULL AND temp IS NOT NULL ORDER BY seq",
    "temp_after": f"SELECT seq, temp FROM {COMMITS} WHERE seq > :seq AND event_id IS NOT NULL AND temp IS NOT NULL",
    "set_temp": f"UPDATE {COMMITS} SET temp = :temp WHERE seq = :seq",
    "newest_commit": f"SELECT max(seq) FROM {COMMITS}",
    # Commits up to this number have no values of `temp:` keys, which earlier versions stored.
    "temp_checked": f"SELECT value FROM {METADATA} WHERE key = 'temp_checked'",
    "set_temp_checked": (
        f"INSERT INTO {METADATA} (key, value) VALUES ('temp_checked', :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    ),
    "first_state": f"SELECT baseline FROM {COMMITS} WHERE {OF_NAMED_SESSION} AND event_id IS NULL AND at = :at ORDER BY seq DESC LIMIT 1",
    "ends": f"SELECT invocation_id, status, reason, last_event_id, at FROM {INVOCATIONS} WHERE {OF_NAMED_SESSION}",
    "forget_end": f"DELETE FROM {INVOCATIONS} WHERE {OF_NAMED_SESSION} AND invocation_id = :invocation_id",
    "insert_end": (
        f"INSERT INTO {INVOCATIONS} (app_name, user_id, session_id, invocation_id, status, reason, last_event_id, at)"
        " VALUES (:app_name, :user_id, :session_id, :invocation_id, :status, :reason, :last_event_id, :at)"
    ),
    "forget_ends": f"DELETE FROM {INVOCATIONS} WHERE {OF_NAMED_SESSION}",
    "notes": f"SELECT event_id, text, is_bookmark, at FROM {NOTES} WHERE {OF_NAMED_SESSION}",
    "put_note": (
        f"INSERT INTO {NOTES} (app_name, user_id, session_id, event_id, text, is_bookmark, at)"
        " VALUES (:app_name, :user_id, :session_id, :event_id, :text, :is_bookmark, :at)"
        " ON CONFLICT (app_name, user_id, session_id, event_id)"
        " DO UPDATE SET text = excluded.text, is_bookmark = excluded.is_bookmark, at = excluded.at"
    ),
    "forget_note": f"DELETE FROM {NOTES} WHERE {OF_NAMED_SESSION} AND event_id = :event_id",
    "forget_notes": f"DELETE FROM {NOTES} WHERE {OF_NAMED_SESSION}",
    "delete_event": f"DELETE FROM events WHERE {OF_NAMED_SESSION} AND id = :event_id",
    "forget_commit": f"DELETE FROM {COMMITS} WHERE {OF_NAMED_SESSION} AND event_id = :event_id AND shared IS NULL",
    "delete_events": f"DELETE FROM events WHERE {OF_NAMED_SESSION}",
    "delete_session": f"DELETE FROM sessions WHERE {_SESSION}",
    "forget_commits": f"DELETE FROM {COMMITS} WHERE {OF_NAMED_SESSION} AND shared IS NULL",
    # The user and app state that a deleted session wrote stays part of their history.
    "detach_commits": (
        f"UPDATE {COMMITS} SET session_id = '', event_id = '', baseline = NULL, temp = NULL WHERE {OF_NAMED_SESSION} AND shared IS NOT NULL"
    ),
    "data_version": "PRAGMA data_version",
    "schema_version": "SELECT value FROM adk_internal_metadata WHERE key = 'schema_version'",
    "insert_version": f"INSERT INTO {METADATA} (key, value) VALUES ('version', :version)",
    # This row marks time columns that hold UTC (or a later time). The first google-adk versions with this layout wrote local time.
    "insert_times": f"INSERT INTO {METADATA} (key, value) VALUES ('times', 'UTC')",
    "forget_times": f"DELETE FROM {METADATA} WHERE key = 'times'",
    "times": f"SELECT value FROM {METADATA} WHERE key = 'times'",
    "insert_schema_version": "INSERT INTO adk_internal_metadata (key, value) VALUES ('schema_version', '1')",
}

# PostgreSQL has no rowid. Our record gives the order; events that other programs appended since follow, sorted by time as in google-adk.
_BY_TIME = "timestamp, id"
_SEQ = (
    f"(SELECT max(c.seq) FROM {COMMITS} AS c WHERE c.app_name = e.app_name AND c.user_id = e.user_id AND c.session_id = e.session_id"
    " AND c.event_id = e.id)"
)
_NUMBERED = f"(SELECT {_EVENT_COLUMNS}, {_SEQ} AS seq FROM events AS e WHERE {OF_NAMED_SESSION}) AS numbered"
# Our timestamps increase with every event, so the newest event is the last.
_NEWEST = f"(SELECT id FROM events WHERE {OF_NAMED_SESSION} ORDER BY timestamp DESC, id DESC LIMIT 1)"
_NEW_ROW = " ON CONFLICT DO NOTHING"

POSTGRESQL = {
    **SQL,
    "find_session": f"SELECT create_time, update_time, {_NEWEST} FROM sessions WHERE {_SESSION}",
    # A separate statement: if it also read other tables, it would see them as they were before it waited for the lock.
    "lock_session": f"SELECT 1 FROM sessions WHERE {_SESSION} FOR UPDATE",
    "lock_app_state": SQL["app_state"] + " FOR UPDATE",
    "lock_user_state": SQL["user_state"] + " FOR UPDATE",
    "insert_app_state": SQL["insert_app_state"] + _NEW_ROW,
    "insert_user_state": SQL["insert_user_state"] + _NEW_ROW,
    "events": f"SELECT {_EVENT_COLUMNS} FROM {_NUMBERED} ORDER BY seq NULLS LAST, {_BY_TIME}",
    "recent_events": f"SELECT {_EVENT_COLUMNS} FROM {_NUMBERED} ORDER BY seq DESC NULLS FIRST, timestamp DESC, id DESC LIMIT :count",
    "events_since": f"SELECT {_EVENT_COLUMNS} FROM {_NUMBERED} WHERE timestamp >= :time ORDER BY seq NULLS LAST, {_BY_TIME}",
    "event_number": f"SELECT max(seq) FROM {COMMITS} WHERE {OF_NAMED_SESSION} AND event_id = :event_id GROUP BY event_id",
    "events_after": f"SELECT {_EVENT_COLUMNS} FROM {_NUMBERED} WHERE seq IS NULL OR seq > :number ORDER BY seq NULLS LAST, {_BY_TIME}",
    "newest_events": (
        "SELECT app_name, user_id, session_id, id, timestamp, event_data, false FROM events AS e"
        f" WHERE {_SEQ} IS NULL ORDER BY timestamp DESC, id DESC"
    ),
    "newest_of_session": (
        "SELECT app_name, user_id, session_id, id, timestamp, event_data, false FROM events AS e"
        f" WHERE {OF_NAMED_SESSION} AND {_SEQ} IS NULL ORDER BY timestamp DESC, id DESC"
    ),
}

POSTGRESQL_NOT_OURS = {
    **POSTGRESQL,
    "events": f"SELECT {_EVENT_COLUMNS} FROM events WHERE {OF_NAMED_SESSION} ORDER BY {_BY_TIME}",
    "recent_events": f"SELECT {_EVENT_COLUMNS} FROM events WHERE {OF_NAMED_SESSION} ORDER BY timestamp DESC, id DESC LIMIT :count",
    "events_since": f"SELECT {_EVENT_COLUMNS} FROM events WHERE {OF_NAMED_SESSION} AND timestamp >= :time ORDER BY {_BY_TIME}",
    # Events have no number here. Returning no row makes the caller read all events again.
    "event_number": f"SELECT id FROM events WHERE {OF_NAMED_SESSION} AND id = :event_id AND 1 = 0",
}


class Statement(NamedTuple):
    """A statement of one dialect.

    Attributes:
        sql: its text.
        parameters: returns the driver's parameters for the values by name.
    """

    sql: str
    parameters: Callable[[dict[str, Any]], Any]


def compiled_statements(dialect: Dialect, statements: dict[str, str] = SQL) -> dict[str, Statement]:
    """Return the statements by name, in a dialect's own parameter style.

    They run on the driver's own connection, because SQLAlchemy's execution takes longer than SQLite's work.
    """
    from sqlalchemy import text

    compiled = {name: text(sql).compile(dialect=dialect) for name, sql in statements.items()}
    return {name: Statement(str(each), _parameters(getattr(each, "positiontup", None))) for name, each in compiled.items()}


def _parameters(positions: Sequence[str] | None) -> Callable[[dict[str, Any]], Any]:
    """Return the function that selects parameters: the values themselves if the driver takes names, else a tuple in their order.

    SQLite's driver takes as long to find a parameter by its name as to bind it, and releases the interpreter's lock for each.
    """
    if positions is None:
        return lambda values: values
    if len(positions) > 1:
        return itemgetter(*positions)
    return lambda values: tuple(values[name] for name in positions)


def quoted_name(name: str) -> str:
    """Return a table's or column's name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'
