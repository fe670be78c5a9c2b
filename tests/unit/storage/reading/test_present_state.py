"""The state after the newest event, read without the past."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bench.generated import APP, SESSION, USER, add_events, write_database
from runtime.sessions.session import SessionKey
from runtime.storage.reading.event_pages import EventPages
from runtime.storage.reading.reader import StoredDatabase

KEY = SessionKey(APP, USER, SESSION)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a database with a session of five events, and state that the session shares."""
    file = tmp_path / "orders.db"
    write_database(file, 5)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute('INSERT INTO user_states SELECT app_name, user_id, \'{"name": "Maria"}\', update_time FROM sessions')
        connection.execute("INSERT INTO app_states SELECT app_name, '{\"vat\": 0.23}', update_time FROM sessions")
    return file


def _other_session(file: Path, user: str, app: str = APP, *, created: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "INSERT INTO sessions SELECT ?, ?, 'other', state, iif(? = 'before', '2000-01-01 00:00:00', '2099-01-01 00:00:00'), update_time"
            " FROM sessions",
            (app, user, created),
        )


def _other_event(file: Path, user: str, app: str = APP) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "INSERT INTO events SELECT 'x', ?, ?, 'other', invocation_id, timestamp, event_data FROM events LIMIT 1", (app, user)
        )


def _pages(database: StoredDatabase) -> EventPages:
    return database.pages(KEY)


def test_all_is_known_if_no_other_session_committed_later(file: Path) -> None:
    _other_session(file, USER, created="before")
    with StoredDatabase.open(str(file)) as database:
        known = database.state_after(KEY, _pages(database))
        assert known is not None and known.merged() == database.state(KEY)
        assert known.unknown == []
        assert known.merged() == database.history(KEY).state_at(4).merged() | {"user:name": "Maria", "app:vat": 0.23}


@pytest.mark.parametrize("user", [USER, "joao"])
def test_shared_keys_are_unknown_after_a_later_event_of_another_session(file: Path, user: str) -> None:
    _other_session(file, user, created="before")
    _other_event(file, user)
    with StoredDatabase.open(str(file)) as database:
        known = database.state_after(KEY, _pages(database))
    assert known is not None
    assert (known.user, known.app, sorted(known.unknown)) == ({}, {}, ["app:vat", "user:name"])
    assert known.session["step"] == 4


def test_shared_keys_are_unknown_after_another_session_was_created_later(file: Path) -> None:
    _other_session(file, "joao", created="after")
    with StoredDatabase.open(str(file)) as database:
        known = database.state_after(KEY, _pages(database))
    assert known is not None and sorted(known.unknown) == ["app:vat", "user:name"]


def test_another_app_does_not_matter(file: Path) -> None:
    _other_session(file, USER, "another_app", created="after")
    _other_event(file, USER, "another_app")
    with StoredDatabase.open(str(file)) as database:
        known = database.state_after(KEY, _pages(database))
    assert known is not None and known.unknown == []


def test_nothing_is_known_of_an_event_that_is_no_longer_the_newest(file: Path) -> None:
    with StoredDatabase.open(str(file)) as database:
        pages = _pages(database)
        with closing(sqlite3.connect(file)) as connection, connection:
            add_events(connection, 5, 6)
        assert database.state_after(KEY, pages) is None
