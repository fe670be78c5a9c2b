"""A server's tail reports each commit of other processes once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest

from runtime.events import Event
from runtime.sessions import DatabaseSessionService, Session
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.tail.open_tail import open_tail
from runtime.storage.tail.tail import Changes, Tail
from tests.postgres import server

KEY = SessionKey("a", "u", "s")


@pytest.fixture
def url() -> str:
    return server().new_database()


@pytest.fixture
async def service(url: str) -> AsyncIterator[DatabaseSessionService]:
    async with DatabaseSessionService(url) as opened:
        yield opened


@pytest.fixture
async def session(service: DatabaseSessionService) -> Session:
    return await service.create_session(app_name="a", user_id="u", session_id="s")


@pytest.fixture
def tail(url: str, session: Session) -> Iterator[Tail]:
    tail = open_tail(url)
    tail.follow(KEY)
    yield tail
    tail.close()


def ids(changes: Changes) -> list[str]:
    return [event.id for event in changes.events]


async def test_each_commit_is_reported_once(tail: Tail, service: DatabaseSessionService, session: Session) -> None:
    told: list[str] = []
    for number in range(10):
        await service.append_event(session, Event(id=f"e{number}", author="me"))
        if number % 2:
            told += ids(tail.poll())
            assert not tail.poll()
    assert told == [f"e{number}" for number in range(10)]
    await service.create_session(app_name="a", user_id="u", session_id="other")
    (summary,) = tail.poll().changed
    assert (summary.key.session_id, summary.event_count) == ("other", 0)
    await service.delete_session(app_name="a", user_id="u", session_id="other")
    assert [key.session_id for key in tail.poll().removed] == ["other"]


async def test_a_late_commit_is_reported(tail: Tail, service: DatabaseSessionService, session: Session, url: str) -> None:
    await service.append_event(session, Event(id="e1", author="me"))
    tail.poll()
    with psycopg.connect(url) as slow:
        slow.execute(
            "INSERT INTO events SELECT 'slow', app_name, user_id, session_id, invocation_id, timestamp, event_data FROM events",
        )
        with psycopg.connect(url) as fast:
            fast.execute("INSERT INTO sessions SELECT app_name, user_id, 'fast', state, create_time, update_time FROM sessions")
        assert [summary.key.session_id for summary in tail.poll().changed] == ["fast"]
        assert not tail.poll().events
    assert ids(tail.poll()) == ["slow"]
    assert not tail.poll()


async def test_deleted_events_cause_a_reread(tail: Tail, service: DatabaseSessionService, session: Session, url: str) -> None:
    for number in range(4):
        await service.append_event(session, Event(id=f"e{number}", author="me"))
    tail.poll()
    with psycopg.connect(url) as other:
        other.execute("DELETE FROM events WHERE id = 'e2'")
    assert tail.poll().reread
    assert not tail.poll().reread
    with StoredDatabase.open(url) as database:
        tail.follow(KEY, [event.id for event in database.events(KEY)])
    assert not tail.poll().reread
    await service.append_event(session, Event(id="e4", author="me"))
    assert ids(tail.poll()) == ["e4"]


async def test_events_committed_before_following_are_returned(tail: Tail, service: DatabaseSessionService, session: Session) -> None:
    for number in range(3):
        await service.append_event(session, Event(id=f"e{number}", author="me"))
    tail.follow(KEY, ["e0"])
    assert ids(tail.poll()) == ["e1", "e2"]


async def test_a_stopped_server_is_reported_and_followed_again(tail: Tail, session: Session, url: str) -> None:
    tail.poll()
    running = server()
    running.stop(gently=True)
    try:
        assert not tail.poll()
        first = tail.problem
        assert first is not None
        assert not tail.poll()
        assert tail.problem is first, "the first error is kept while the server is down"
    finally:
        running.start()
    with psycopg.connect(url) as other:
        other.execute("INSERT INTO sessions SELECT app_name, user_id, 'later', state, create_time, update_time FROM sessions")
    assert [summary.key.session_id for summary in tail.poll().changed] == ["later"]
    assert tail.problem is None


async def test_a_dropped_connection_is_reopened(tail: Tail, session: Session, url: str) -> None:
    tail.poll()
    assert not tail.poll()
    server().run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()", url
    )
    tail.poll()
    assert tail.problem is not None
    assert str(tail.problem).endswith(".")
    assert not tail.poll()
    assert tail.problem is None
