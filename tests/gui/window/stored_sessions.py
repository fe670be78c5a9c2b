"""Sessions in databases, written and read without the window."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runtime.events import Event
from runtime.sessions.lineage import Lineage, SessionCopy
from runtime.sessions.session import SessionKey
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase


def store_sessions(path: Path, sessions: dict[SessionKey, list[Event]]) -> Path:
    """Write whole sessions in one commit each, which is much faster than a commit per event."""

    async def fill() -> None:
        async with open_session_service(str(path)) as service:
            for key, events in sessions.items():
                lineage = Lineage(SessionKey("app", "u", "origin"), None, None, len(events), 1.0)
                state = {name: value for event in events for name, value in event.actions.state_delta.items()}
                await service.store_copy(key, SessionCopy(events, state, {}, {}, {}, [], {}, 1.0, lineage))

    with ThreadPoolExecutor(1) as thread:  # the window's loop runs in the main thread
        thread.submit(asyncio.run, fill()).result()
    return path


def event_ids(database: Path, key: SessionKey) -> list[str]:
    """Return the ids of a stored session's events."""
    with StoredDatabase.open(str(database)) as stored:
        return [event.id for event in stored.events(key)]
