"""A program for google-adk's own Python that appends to a database until its input ends: `python adk_writer.py FILE NAME`.

It opens and closes the database again and again. Each line that it prints is an acknowledged write; what fails is tried again.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import sys
import warnings

warnings.simplefilter("ignore")

from google.adk.events.event import Event  # noqa: E402
from google.adk.events.event_actions import EventActions  # noqa: E402
from google.adk.sessions.database_session_service import DatabaseSessionService  # noqa: E402


def say(kind: str, name: str) -> None:
    """Print a line and flush it."""
    sys.stdout.write(f"{kind} {name}\n")
    sys.stdout.flush()


def is_over() -> bool:
    """Return whether the input has ended."""
    return bool(select.select([sys.stdin], [], [], 0)[0])


async def append(file: str, name: str, number: int) -> None:
    """Append a few events to a new session."""
    service = DatabaseSessionService(f"sqlite+aiosqlite:///{file}")
    try:
        session = await service.create_session(app_name="child", user_id="u", session_id=f"{name}-{number}")
        say("session", session.id)
        for turn in range(3):
            event = Event(id=f"{name}-{number}-{turn}", author="me", invocation_id="i", actions=EventActions(state_delta={"turn": turn}))
            await service.append_event(session, event)
            say("event", event.id)
            await asyncio.sleep(0.01)
    finally:
        await service.db_engine.dispose()


async def main(file: str, name: str) -> None:
    """Append until the input ends."""
    number = 0
    while not is_over():
        number += 1
        with contextlib.suppress(Exception):  # locked for too long
            await append(file, name, number)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
