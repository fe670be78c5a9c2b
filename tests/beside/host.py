"""A process that has one database open in one of the program's ways, and uses it as each line of JSON on its standard input asks.

Each request is `[the agent's folder, the database, name of the way, action, argument]`; each answer is `{"done": a result}` or
`{"told": a sentence}`.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

from google.genai import types

from inspector_app.cli import main
from inspector_app.commands.child_runs import open_child
from inspector_app.commands.opening import planned_engine
from inspector_app.documents.event_notes import EventNotes
from inspector_app.documents.sources import DatabaseSource
from inspector_app.engines.agent_loader import load_agent
from inspector_app.engines.child_engine import AgentCodeError
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.errors import KnownError
from runtime.events import Event
from runtime.runners import Runner
from runtime.sessions.note import Note
from runtime.sessions.session_key import SessionKey
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.tail.open_tail import open_tail


class Way:
    """One way to have the database open.

    Args:
        folder: the agent's folder; its name is the app's.
        file: the database.
    """

    def __init__(self, folder: str, file: str) -> None:
        self.folder = folder
        self.file = file
        self.key = SessionKey(folder.rsplit("/", 1)[-1], "u", "s")

    async def open(self, _: str) -> Any:
        """Open the database."""

    async def write(self, text: str) -> Any:
        """Send a message to the agent, which answers it; return when both are committed."""

    async def read(self, _: str) -> Any:
        """Return the texts of the session as a person sees them now."""

    async def close(self, _: str) -> Any:
        """Close the database."""


class Window(Way):
    """The window's reader of the file, and the service that its runs write through."""

    async def open(self, _: str) -> Any:
        self._source = await DatabaseSource.open(self.file)
        self._catalog = SessionCatalog()
        self._agent = load_agent(self.folder)
        await self.read("")

    async def write(self, text: str) -> Any:
        service = await self._source.service()
        runner = Runner(app=self._agent.app, app_name=self.key.app_name, session_service=service)
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=_message(text)):
            pass

    async def read(self, _: str) -> Any:
        return _texts(await self._source.events(self.key))

    async def close(self, _: str) -> Any:
        await self._source.close()


class Child(Way):
    """An agent in a process of its own, which stores its session itself."""

    async def open(self, _: str) -> Any:
        plan = planned_engine(self.folder, "embedded-process", None)
        self._stack = contextlib.AsyncExitStack()
        self._engine = await self._stack.enter_async_context(open_child(plan, self.file))

    async def write(self, text: str) -> Any:
        async for _ in self._engine.run(self.key, _message(text)):
            pass

    async def read(self, _: str) -> Any:
        found = await self._engine.session(self.key)
        return _texts(found[1]) if found is not None else []

    async def close(self, _: str) -> Any:
        await self._stack.aclose()


class Command(Way):
    """The command line, which opens the file for one action."""

    async def write(self, text: str) -> Any:
        await asyncio.to_thread(self._call, "run", self.folder, "--message", text, "--db", self.file, "--session", "s", "--user", "u")

    async def read(self, _: str) -> Any:
        names = ("--app", self.key.app_name, "--user", "u", "--session", "s")
        printed = await asyncio.to_thread(self._call, "events", self.file, *names)
        return _texts(Event.model_validate_json(line) for line in printed.splitlines())

    def _call(self, *arguments: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            status = main([*arguments, "--json"])
        if status:
            raise ToldError(err.getvalue().strip().splitlines()[-1])
        return out.getvalue()


class Tail(Way):
    """The live tail of the window."""

    async def open(self, _: str) -> Any:
        with StoredDatabase.open(self.file) as database:
            known, events = database.sessions(), database.events(self.key)
        self._seen = _texts(events)
        self._tail = open_tail(self.file, known)
        self._tail.follow(self.key, [event.id for event in events])

    async def read(self, _: str) -> Any:
        changes = self._tail.poll()
        if self._tail.problem is not None:
            raise self._tail.problem
        if changes.reread:
            with StoredDatabase.open(self.file) as database:
                self._seen = _texts(database.events(self.key))
        self._seen += _texts(changes.events)
        return self._seen

    async def close(self, _: str) -> Any:
        self._tail.close()


class Notes(Way):
    """A note that a person writes on the session's first event."""

    async def open(self, _: str) -> Any:
        self._notes = EventNotes(self.file)
        self._service = open_session_service(self.file)
        await self._service.__aenter__()

    async def write(self, text: str) -> Any:
        await self._notes.put(self._service, self.key, "first", Note(text=text))

    async def read(self, _: str) -> Any:
        with StoredDatabase.open(self.file) as database:
            found = self._notes.read(database, self.key)
        return [note.text for notes in found.values() for note in notes.values()] if found else []

    async def close(self, _: str) -> Any:
        await self._service.__aexit__(None, None, None)


class ToldError(Exception):
    """A sentence that a command printed."""


WAYS: dict[str, type[Way]] = {"window": Window, "second window": Window, "child": Child, "command": Command, "tail": Tail, "notes": Notes}


def _message(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


def _texts(events: Any) -> list[str]:
    return [part.text for event in events for part in (event.content.parts if event.content else None) or [] if part.text]


async def _requests() -> AsyncIterator[list[str]]:
    while line := await asyncio.to_thread(sys.stdin.readline):
        yield json.loads(line)


async def serve(answers: Any) -> None:
    """Do what each line asks."""
    opened: dict[tuple[str, str], Way] = {}
    async for folder, file, way, action, argument in _requests():
        if action == "open":
            opened[folder, way] = WAYS[way](folder, file)
        try:
            answer: dict[str, Any] = {"done": await getattr(opened[folder, way], action)(argument)}
        except (KnownError, AgentCodeError, ToldError) as error:
            answer = {"told": str(error)}
        except Exception as error:
            answer = {"told": f"{type(error).__name__}: {error}", "is_unknown": True}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    printed = sys.stdout
    sys.stdout = sys.stderr
    asyncio.run(serve(printed))
