"""A process that appends events until it is killed, and reports each acknowledged event."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from multiprocessing.connection import Connection

from sqlalchemy import event as sqlalchemy_event

from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService, SqliteSessionService


def run(said: Connection, file: str, layout: str, events: int, statement: int = 0) -> None:
    """Append events, as the main function of a process.

    Args:
        said: receives the id of each acknowledged event.
        file, layout: the database.
        events: number of events.
        statement: number of the SQL statement before which to die (0: never).
    """
    asyncio.run(_append(said, file, layout, events, statement))


def kill_at(service: DatabaseSessionService, statement: int) -> None:
    """Kill this process just before its n-th statement."""
    count = 0

    def trace(_sql: str) -> None:
        nonlocal count
        count += 1
        if count == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    def connected(connection: sqlite3.Connection, _record: object) -> None:
        connection.set_trace_callback(trace)

    sqlalchemy_event.listen(service._database._engine, "connect", connected)


async def _append(said: Connection, file: str, layout: str, events: int, statement: int) -> None:
    service = DatabaseSessionService(f"sqlite:///{file}") if layout == "v1" else SqliteSessionService(file)
    if statement:
        kill_at(service, statement)
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    if session is None:
        session = await service.create_session(app_name="a", user_id="u", session_id="s")
    said.send("ready")
    for number in range(len(session.events), len(session.events) + events):
        delta = {"own": number, "user:shared": number, "app:shared": number, f"k{number % 50}": str(number) * 500}
        await service.append_event(session, Event(author="me", id=f"event-{number}", actions=EventActions(state_delta=delta)))
        said.send(f"event-{number}")
    await service.close()
