"""The same as `host` for google-adk's own Python: `adk web` with its database service, without the page. It imports nothing of ours."""

from __future__ import annotations

import asyncio
import json
import sys
import warnings

warnings.simplefilter("ignore")

from google.adk.events.event import Event  # noqa: E402
from google.adk.sessions.database_session_service import DatabaseSessionService  # noqa: E402
from google.genai import types  # noqa: E402


class Web:
    """google-adk's session service on the database."""

    def __init__(self, folder: str, file: str) -> None:
        self._ids = {"app_name": folder.rsplit("/", 1)[-1], "user_id": "u", "session_id": "s"}
        self._file = file

    async def open(self, _: str) -> object:
        self._service = DatabaseSessionService(f"sqlite+aiosqlite:///{self._file}")
        return await self.read("")

    async def write(self, text: str) -> object:
        session = await self._service.get_session(**self._ids)
        for author, said in (("user", text), ("echo", f"{text} done")):
            content = types.Content(role="user" if author == "user" else "model", parts=[types.Part(text=said)])
            await self._service.append_event(session, Event(author=author, invocation_id=text, content=content))

    async def read(self, _: str) -> object:
        session = await self._service.get_session(**self._ids)
        return [part.text for event in session.events for part in event.content.parts if part.text]

    async def close(self, _: str) -> object:
        await self._service.db_engine.dispose()


async def main() -> None:
    """Do what each line asks."""
    opened: dict[str, Web] = {}
    while line := await asyncio.to_thread(sys.stdin.readline):
        folder, file, _, action, argument = json.loads(line)
        if action == "open":
            opened[folder] = Web(folder, file)
        try:
            answer = {"done": await getattr(opened[folder], action)(argument)}
        except Exception as error:
            answer = {"told": f"{type(error).__name__}: {error}".splitlines()[0]}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


asyncio.run(main())
