"""Reading the events of an invocation and of a whole session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bench.generated import PER_INVOCATION, write_database
from inspector_app.documents import session_ranges
from inspector_app.documents.long_session import LONG, LongSession
from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_events import SessionEvents
from inspector_app.documents.session_ranges import SessionReader, invocation_around
from inspector_app.documents.sources import DatabaseSource
from runtime.events.event import Event
from runtime.sessions.session_key import SessionKey


def test_the_newest_events_of_a_long_session_are_read_once(tmp_path: Path) -> None:
    async def read() -> None:
        write_database(tmp_path / "long.db", LONG + 500)
        source = await DatabaseSource.open(str(tmp_path / "long.db"))
        (summary,) = await source.sessions()
        long = LongSession(source.target, summary.key)
        events, groups = await long.open(lambda: None)
        session = OpenSession(SessionAddress(source.target, summary.key), source, events, None, [], long, groups)
        reader = SessionReader()
        newest = await reader.newest(session, 1_000)
        assert (newest.first, len(newest.events)) == (LONG - 500, 1_000)
        assert newest.events[-1].id == events[len(events) - 1].id
        (tmp_path / "long.db").unlink()  # what was read is kept
        fewer = await reader.newest(session, 10)
        assert [event.id for event in fewer.events] == [event.id for event in newest.events[-10:]]
        around = invocation_around(session, len(events) - 1)
        assert around is not None and len(around.events) == PER_INVOCATION
        assert invocation_around(session, 3) is None, "not in memory: it is requested"
        session.close()
        await source.close()

    asyncio.run(read())


def test_only_what_was_evicted_since_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[int, int]] = []
    real = session_ranges._read

    def counted(target: str, key: SessionKey, first: int, count: int) -> list[Event]:
        read.append((first, count))
        return real(target, key, first, count)

    async def grow() -> None:
        monkeypatch.setattr(session_ranges, "_read", counted)
        write_database(tmp_path / "long.db", LONG + 500)
        source = await DatabaseSource.open(str(tmp_path / "long.db"))
        (summary,) = await source.sessions()
        reader, session = SessionReader(), None
        for stored in (LONG, LONG + 300):
            live = (await source.events(summary.key))[stored:]
            events = SessionEvents(live, stored_count=stored)
            if session is None:
                session = OpenSession(SessionAddress(source.target, summary.key), source, events)
            session.events = events
            newest = await reader.newest(session, 1_000)
            assert (newest.first, len(newest.events)) == (LONG - 500, 1_000)
            assert [event.id for event in newest.events[-len(live) :]] == [event.id for event in live]
        assert len({event.id for event in newest.events}) == 1_000
        await source.close()

    asyncio.run(grow())
    assert read == [(LONG - 500, 500), (LONG, 300)]
