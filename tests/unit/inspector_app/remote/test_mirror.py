"""The copy of a server's sessions follows the server, asks for no more than has changed, and comes back when the server does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from inspector_app.remote.adk_server import AdkServer
from inspector_app.remote.mirror import Mirror, open_store
from inspector_app.remote.mirror_tail import MirrorTail
from inspector_app.remote.server_address import server_address
from runtime.errors import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_url import mirrored
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.tail.file_tail import FileTail
from runtime.storage.tail.tail import Changes
from tests.unit.inspector_app.remote.sessions_server import SessionsServer, event

KEY = SessionKey("desk", "user", "s")


@pytest.fixture
def server() -> Iterator[SessionsServer]:
    served = SessionsServer()
    with served.running():
        yield served


@pytest.fixture
def mirror(server: SessionsServer) -> Iterator[Mirror]:
    server.put("s", 1.0, event("one", k=1), **{"k": 1, "user:u": 2, "app:a": 3})
    made = Mirror(open_store(server.address))
    yield made
    made.close()


def test_what_was_copied_is_read_by_the_servers_address(server: SessionsServer, mirror: Mirror) -> None:
    mirror.refresh()
    mirror.bring_all()
    with mirrored(server.address, mirror.file), StoredDatabase.open(server.address) as database:
        assert [event.id for event in database.events(KEY)] == ["one"]
        assert database.state(KEY) == {"k": 1, "user:u": 2, "app:a": 3}
        assert not database.layout.ours
    with pytest.raises(StorageError, match="is no database"):
        StoredDatabase.open(server.address)


def test_temp_values_of_a_server_are_not_copied(server: SessionsServer, mirror: Mirror) -> None:
    server.put("s", 1.0, event("one", **{"k": 1, "temp:key": "hush-1"}), **{"k": 1, "temp:key": "hush-2"})
    mirror.refresh()
    mirror.bring_all()
    with mirrored(server.address, mirror.file), StoredDatabase.open(server.address) as database:
        [only] = database.events(KEY)
        assert only.actions.state_delta == {"k": 1} and database.state(KEY) == {"k": 1}
    assert b"hush" not in b"".join(file.read_bytes() for file in mirror.file.parent.iterdir())
    with closing(AdkServer(server_address(server.address))) as asked:
        session = asked.session(KEY)
    assert session is not None and session.state == {"k": 1}


def test_only_what_has_changed_is_asked_for_again(server: SessionsServer, mirror: Mirror) -> None:
    server.put("t", 1.0)
    mirror.refresh()
    mirror.bring(KEY)
    server.asked.clear()
    mirror.refresh()
    assert [path for path in server.asked if path.endswith(("/s", "/t"))] == []
    server.put("s", 2.0, event("one"), event("two"))
    mirror.refresh()
    assert [path.rpartition("/")[2] for path in server.asked if path.endswith(("/s", "/t"))] == ["s"]


def test_a_session_of_a_run_is_left_alone_until_its_end(server: SessionsServer, mirror: Mirror) -> None:
    mirror.refresh()
    mirror.bring(KEY)
    server.put("s", 2.0, event("one"), event("two"))
    server.asked.clear()
    with mirror.left_alone(KEY):
        mirror.refresh()
        assert not any(path.endswith("/s") for path in server.asked)
    mirror.refresh()
    assert any(path.endswith("/s") for path in server.asked)


def test_the_tail_reports_what_the_server_adds_changes_and_deletes(server: SessionsServer, mirror: Mirror) -> None:
    mirror.refresh()
    mirror.bring_all()
    tail = MirrorTail(mirror, FileTail(mirror.file))
    tail.poll()
    tail.follow(KEY, ["one"])
    server.put("s", 2.0, event("one"), event("two"))
    server.put("new", 3.0, event("first"))
    changes = _poll(tail)
    assert [found.id for found in changes.events] == ["two"]
    assert {summary.key.session_id: summary.event_count for summary in changes.changed} == {"s": 2, "new": 1}
    server.put("s", 4.0, event("other"))
    assert _poll(tail).reread
    del server.sessions["new"]
    assert [key.session_id for key in _poll(tail).removed] == ["new"]
    tail.close()


def test_a_server_that_ends_is_reported_and_found_again(mirror: Mirror, server: SessionsServer) -> None:
    other = SessionsServer()
    with other.running():
        other.put("s", 1.0, event("one"))
        copy = Mirror(open_store(other.address))
        copy.refresh()
        copy.bring(KEY)
        tail = MirrorTail(copy, FileTail(copy.file))
        _poll(tail)
        assert tail.problem is None
    _poll(tail)
    assert "cannot be reached" in str(tail.problem) or "ended the connection" in str(tail.problem)
    other.put("s", 2.0, event("one"), event("two"))
    with other.running():
        _poll(tail)
        assert tail.problem is None
        with mirrored(other.address, copy.file), StoredDatabase.open(other.address) as database:
            assert [found.id for found in database.events(KEY)] == ["one", "two"]
    tail.close()
    copy.close()


def _poll(tail: MirrorTail) -> Changes:
    tail._next = 0.0  # as if the pause were over
    return tail.poll()
