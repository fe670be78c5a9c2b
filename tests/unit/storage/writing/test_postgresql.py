"""Behaviour specific to a PostgreSQL server. tests/conformance covers the behaviour common to all services."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from runtime.errors import NotASessionDatabaseError, SessionNotFoundError, StaleSessionError, StorageError, UnstorableValueError
from runtime.errors.storage_error import ConnectionLostError
from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService, Session, SessionKey
from runtime.storage.connections.database_url import database_url, shown_url
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.shared_state import SharedScope
from runtime.storage.writing import database as database_module
from tests.postgres import server
from tests.sweep import count

KEY = SessionKey("a", "u", "s")


@pytest.fixture
def url() -> str:
    return server().new_database()


@pytest.fixture
async def service(url: str) -> AsyncIterator[DatabaseSessionService]:
    async with DatabaseSessionService(url) as opened:
        yield opened


def delta(**changes: Any) -> Event:
    return Event(author="me", actions=EventActions(state_delta=changes))


async def new_session(service: DatabaseSessionService, session_id: str = "s") -> Session:
    return await service.create_session(app_name="a", user_id="u", session_id=session_id, state={"first": 1, "app:first": [1.0]})


async def load(service: DatabaseSessionService, session_id: str = "s") -> Session:
    session = await service.get_session(app_name="a", user_id="u", session_id=session_id)
    assert session is not None
    return session


async def test_a_server_database_reads_like_a_file(url: str, service: DatabaseSessionService) -> None:
    session = await new_session(service)
    for number in range(5):
        event = Event(author="me", timestamp=5.0 - number, actions=EventActions(state_delta={"k": number, "user:k": number, "temp:x": 1}))
        await service.append_event(session, event)
    with StoredDatabase.open(url.replace("postgresql:", "postgresql+asyncpg:")) as database:
        assert (database.layout.kind, database.layout.ours, database.layout.note) == ("v1", True, None)
        (summary,) = database.sessions()
        assert (summary.key, summary.event_count) == (KEY, 5)
        assert database.events(KEY) == list(session.events)
        assert database.events(KEY, after=session.events[1].id, limit=2) == list(session.events[2:4])
        assert database.state(KEY) == {"first": 1, "app:first": [1.0], "k": 4, "user:k": 4}
        history = database.history(KEY)
        assert [history.state_at(index).session.get("k") for index in range(-1, 5)] == [None, 0, 1, 2, 3, 4]
        assert history.state_at(4).unknown == []
        assert history.state_at(0).temp == {"temp:x": "not stored (int)"}
        pages = database.pages(KEY)
        assert [pages.decode(row).id for row in pages.rows(1, 3)] == [event.id for event in session.events[1:3]]
        assert database.long_history(KEY, pages).state_at(4).merged() == database.state(KEY)
        with pytest.raises(SessionNotFoundError):
            database.state(SessionKey("a", "u", "nobody"))


async def test_shared_state_is_read_like_those_of_a_file(url: str, service: DatabaseSessionService) -> None:
    state = {"app:a": 1, "user:u": [2], "mine": 3}
    session = await service.create_session(app_name="app", user_id="maria", session_id="s", state=state)
    await service.append_event(session, delta(x="y"))
    with StoredDatabase.open(url) as database:
        assert database.shared_scopes() == [SharedScope("app"), SharedScope("app", "maria")]
        assert [database.shared_state(scope).values for scope in database.shared_scopes()] == [{"app:a": 1}, {"user:u": [2]}]


async def test_open_session_service_opens_a_server_database(url: str) -> None:
    async with open_session_service(url) as service:
        assert isinstance(service, DatabaseSessionService)
        assert (await service.list_sessions(app_name="a")).sessions == []
        await service.create_session(app_name="a", user_id="u", session_id="s")
    with StoredDatabase.open(url) as database:
        assert [summary.key for summary in database.sessions()] == [KEY]


async def test_other_tables_of_the_database_are_not_touched(url: str) -> None:
    server().run("CREATE TABLE recipes (name text)", url)
    with pytest.raises(NotASessionDatabaseError, match="no tables"):
        StoredDatabase.open(url)
    async with DatabaseSessionService(url) as service:
        await new_session(service)
    assert server().run("SELECT count(*) FROM recipes", url) == [(0,)]


@pytest.mark.sweep
@pytest.mark.parametrize("gently", count(quick=[True], full=[True, False]), ids=lambda gently: "stopped" if gently else "killed")
async def test_server_restarts_during_commits_lose_and_repeat_nothing(url: str, gently: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "_PATIENCE", 120.0)  # a restart takes longer than usual on a busy machine
    events, restarts = 60, count(quick=1, full=25)
    acknowledged = 0
    async with DatabaseSessionService(url) as service:
        session = await new_session(service)

        def restart() -> None:
            for number in range(restarts):
                while acknowledged < events * number // restarts:
                    time.sleep(0.001)
                server().restart(gently=gently)

        restarting = threading.Thread(target=restart)
        restarting.start()
        number = 0
        while restarting.is_alive() or acknowledged < events:
            await service.append_event(session, delta(**{f"k{number}": number, "app:k": number}))
            acknowledged = number = number + 1
            if acknowledged > events:
                await asyncio.sleep(0.01)
        again = await load(service)
    assert [event.id for event in again.events] == [event.id for event in session.events]
    assert len(again.events) == acknowledged
    assert {f"k{n}": n for n in range(acknowledged)}.items() <= again.state.items()
    sys.stderr.write(f"server restarted {restarts} times during {acknowledged} events: none lost, none repeated\n")


async def test_a_commit_with_a_lost_confirmation_is_not_repeated(service: DatabaseSessionService, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await new_session(service)
    database = service._database
    write = service._writer.write
    lost: list[int] = []

    def lose_the_answer(*args: Any, **kwargs: Any) -> None:
        revision = session._revision
        write(*args, **kwargs)
        if not lost:
            lost.append(1)
            session._revision = revision
            service._writer._known.clear()
            raise ConnectionLostError("gone")

    monkeypatch.setattr(service._writer, "write", lose_the_answer)
    event = await service.append_event(session, delta(k=1))
    assert lost
    assert [each.id for each in (await load(service)).events] == [event.id]
    await service.append_event(session, delta(k=2))
    assert database.file is None


async def test_an_unreachable_server_is_reported_at_once() -> None:
    begun = time.monotonic()
    async with DatabaseSessionService("postgresql://reader:secret@127.0.0.1:1/nothing") as service:
        with pytest.raises(StorageError, match=r"postgresql://reader@127.0.0.1:1/nothing cannot be reached") as caught:
            await service.list_sessions(app_name="a")
    assert "secret" not in str(caught.value)
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    "target",
    [
        "postgresql://u:secret@h/d",
        "postgresql+asyncpg://u:secret@h/d",
        "postgresql://u@h/d?password=secret&sslmode=require",
        "postgres://u:secret@h/d",
    ],
)
def test_passwords_are_never_shown(target: str) -> None:
    shown = shown_url(database_url(target))
    assert "secret" not in shown
    assert shown.startswith("postgresql://u@h/d")
    with pytest.raises(StorageError) as caught:
        database_url("postgresql://u:secret@h:port/d")
    assert "secret" not in str(caught.value)


async def test_too_many_connections_are_reported(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    (most,) = server().run("SHOW max_connections")[0]
    taken: list[Any] = []
    try:
        with pytest.raises(psycopg.OperationalError):
            for _ in range(int(most) + 1):
                taken.append(psycopg.connect(url))
        monkeypatch.setattr(database_module, "_PATIENCE", 0.3)
        async with DatabaseSessionService(url) as service:
            with pytest.raises(StorageError, match="accepts no more connections"):
                await new_session(service)
        monkeypatch.setattr(database_module, "_PATIENCE", 30.0)
        async with DatabaseSessionService(url) as service:
            creating = asyncio.ensure_future(new_session(service))
            await asyncio.wait([creating], timeout=0.3)
            assert not creating.done()
            for connection in taken:
                connection.close()
            assert (await creating).id == "s"
    finally:
        for connection in taken:
            connection.close()


@pytest.mark.sweep
async def test_writers_in_many_services_lose_nothing(url: str) -> None:
    writers, events = 8, count(quick=25, full=500)
    async with DatabaseSessionService(url) as first:
        for number in range(writers):
            await first.create_session(app_name="a", user_id="u", session_id=f"{number}")

    async def write(number: int) -> None:
        async with DatabaseSessionService(url) as service:
            session = await load(service, f"{number}")
            for event in range(events):
                await service.append_event(
                    session, delta(**{f"user:{number}-{event}": event, f"app:{number}-{event}": event, "app:last": number})
                )

    begun = time.monotonic()
    async with asyncio.TaskGroup() as tasks:
        for number in range(writers):
            tasks.create_task(write(number))
    seconds = time.monotonic() - begun
    with StoredDatabase.open(url) as database:
        state = database.state(SessionKey("a", "u", "0"))
        assert len([key for key in state if key.startswith("user:")]) == writers * events
        assert len([key for key in state if key.startswith("app:")]) == writers * events + 1
        history = database.history(SessionKey("a", "u", "0"))
        last = [*history._shared.get(events, [])]
        final = last[-1].delta["app:last"] if last else 0
        assert state["app:last"] == final
    sys.stderr.write(f"PostgreSQL: {writers} writers, {writers * events} commits in {seconds:.1f} s; every key is there\n")


@pytest.fixture
def locked_app(url: str) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(url) as connection:
        yield connection


async def test_only_changed_rows_are_locked(service: DatabaseSessionService, locked_app: Any) -> None:
    session = await new_session(service)
    locked_app.execute("SELECT * FROM app_states FOR UPDATE")
    await asyncio.wait_for(service.append_event(session, delta(k=1, **{"user:k": 1})), 5)
    waiting = asyncio.ensure_future(service.append_event(session, delta(**{"app:k": 1})))
    await asyncio.wait([waiting], timeout=0.3)
    assert not waiting.done()
    locked_app.rollback()
    await waiting
    assert (await load(service)).state["app:k"] == 1


async def test_two_services_on_one_session_detect_stale_copies(url: str, service: DatabaseSessionService) -> None:
    await new_session(service)
    async with DatabaseSessionService(url) as other:
        mine, theirs = await load(service), await load(other)
        await service.append_event(mine, delta(k=1))
        with pytest.raises(StaleSessionError, match="modified in storage"):
            await other.append_event(theirs, delta(k=2))
        reloaded = await load(other)
        await other.append_event(reloaded, delta(k=3))
        assert [event.actions.state_delta for event in (await load(service)).events] == [{"k": 1}, {"k": 3}]


AS_GOOGLE_ADK_MAKES_IT = """
    DROP TABLE inspector_commits; DROP TABLE inspector_metadata; DROP INDEX IF EXISTS inspector_idx_events_session;
    ALTER TABLE sessions ALTER state TYPE jsonb; ALTER TABLE app_states ALTER state TYPE jsonb;
    ALTER TABLE user_states ALTER state TYPE jsonb; ALTER TABLE events ALTER event_data TYPE jsonb
"""
INSERT = """
    INSERT INTO events VALUES ('{id}', 'a', 'u', 's', 'i', '{time}',
        '{{"author": "other", "id": "{id}", "invocation_id": "i", "actions": {{"state_delta": {{"app:theirs": "{id}"}}}}}}');
    UPDATE sessions SET update_time = '{time}'
"""


async def test_a_database_of_google_adk_is_continued(url: str) -> None:
    async with DatabaseSessionService(url) as service:
        session = await new_session(service)
        await service.append_event(session, delta(k=1))
    server().run(AS_GOOGLE_ADK_MAKES_IT, url)
    server().run(INSERT.format(id="first", time="2027-01-01 00:00:00"), url)
    with StoredDatabase.open(url) as database:
        assert not database.layout.ours
        assert [event.id for event in database.events(KEY)] == [session.events[0].id, "first"]
        assert "first" in database.history(KEY).state_at(1).unknown or database.history(KEY).state_at(1).session["first"] == 1
    async with DatabaseSessionService(url) as service:
        held = await load(service)
        assert [event.id for event in held.events] == [session.events[0].id, "first"]
        await service.append_event(held, delta(k=2))
        # Another program's event with an earlier time, while we hold the session.
        server().run(INSERT.format(id="second", time="2026-12-01 00:00:00"), url)
        with pytest.raises(StaleSessionError):
            await service.append_event(held, delta(k=3))
        held = await load(service)
        await service.append_event(held, delta(k=4))
        order = [session.events[0].id, "first", held.events[2].id, "second", held.events[4].id]
        assert [event.id for event in (await load(service)).events] == order
    with StoredDatabase.open(url) as database:
        assert [event.id for event in database.events(KEY)] == order


@pytest.mark.parametrize("value", ["a\0b", 1e23, -0.0, {"deep": ["\0"]}], ids=repr)
async def test_values_that_jsonb_would_change_are_refused_before_writing(url: str, value: Any) -> None:
    async with DatabaseSessionService(url) as service:
        session = await new_session(service)
        # Our tables use json, which changes nothing. But google-adk writes states back through jsonb.
        await service.append_event(session, Event(author="me", custom_metadata={"k": value}))
        assert repr((await load(service)).events[0].custom_metadata) == repr({"k": value})
        with pytest.raises(UnstorableValueError, match="jsonb"):
            await service.append_event(session, delta(k=value))
        with pytest.raises(UnstorableValueError, match="jsonb"):
            await service.append_event(session, delta(**{"app:k": value}))
        await service.append_event(session, delta(k=1))
        assert (await load(service)).state == {"first": 1, "app:first": [1.0], "k": 1}
    server().run("DELETE FROM events;" + AS_GOOGLE_ADK_MAKES_IT, url)
    async with DatabaseSessionService(url) as service:
        session = await load(service)
        with pytest.raises(UnstorableValueError, match="jsonb"):
            await service.append_event(session, Event(author="me", custom_metadata={"k": value}))
        assert (await load(service)).events == []
        await service.append_event(session, delta(k=[1.5, 1e22, 10**30, "ok"]))
        assert (await load(service)).state["k"] == [1.5, 1e22, 10**30, "ok"]
