"""A program for google-adk's own Python that writes sessions, one event for each commit, while a test follows the file.

Arguments: the file, the service, the number of events, and the number of events in a session. Each line that it prints is an action done.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import sys
import warnings

warnings.simplefilter("ignore")

from google.adk.events.event import Event  # noqa: E402
from google.adk.events.event_actions import EventActions  # noqa: E402
from google.adk.sessions.database_session_service import DatabaseSessionService  # noqa: E402
from google.adk.sessions.sqlite_session_service import SqliteSessionService  # noqa: E402
from google.genai import types  # noqa: E402

APP, USER = "desk", "maria"


def say(*words: object) -> None:
    """Print a line and flush it."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def main(file: str, kind: str, count: int, length: int) -> None:
    """Write."""
    service = DatabaseSessionService(f"sqlite+aiosqlite:///{file}") if kind == "database" else SqliteSessionService(file)
    chance = random.Random(1)
    number = 0
    while number < count:
        session_id = f"s{number // length:06}"
        session = await service.create_session(app_name=APP, user_id=USER, session_id=session_id)
        say("session", session_id)
        for _ in range(min(length, count - number)):
            event_id = f"e{number:07}"
            content = types.Content(role="model", parts=[types.Part(text=f"The answer to question {number}. " * 5)])
            actions = EventActions(state_delta={"step": number, "user:last": number})
            await service.append_event(session, Event(id=event_id, author="desk", invocation_id="i", content=content, actions=actions))
            number += 1
            say("event", event_id)
            if chance.random() < 0.01:
                disturb(file, chance, session_id)
        if number // length % 3 == 2:
            old = f"s{number // length - 2:06}"
            await service.delete_session(app_name=APP, user_id=USER, session_id=old)
            say("removed", old)
    if isinstance(service, DatabaseSessionService):
        await service.db_engine.dispose()


def disturb(file: str, chance: random.Random, session_id: str) -> None:
    """Disturb the database as people and tools do."""
    what = chance.choice(["checkpoint", "vacuum", "delete last", "delete middle"])
    connection = sqlite3.connect(file, isolation_level=None, timeout=20)
    if what == "checkpoint":
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    elif what == "vacuum":
        connection.execute("VACUUM")
    else:
        order = "rowid DESC" if what == "delete last" else "random()"
        found = connection.execute(f"SELECT id FROM events WHERE session_id = ? ORDER BY {order} LIMIT 1", (session_id,)).fetchone()
        if found:
            connection.execute("DELETE FROM events WHERE session_id = ? AND id = ?", (session_id, found[0]))
            say("deleted", found[0])
    connection.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
