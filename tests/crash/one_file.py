"""A process with all that a window does to one database, at random: `python one_file.py FILE SEED ROUNDS`, until it is killed.

It prints a line for each acknowledged write, `done` at the end, and a line for each problem: an error, a deleted file that is still open
here, and a database that is opened past the door.
"""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

from inspector_app.engines.recorder_file import recorder_module
from runtime.errors import KnownError
from runtime.events import Event, EventActions
from runtime.forks.fork import fork_session
from runtime.sessions import DatabaseSessionService
from runtime.sessions.note import Note
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections import open_files
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.search_index import SearchIndex
from runtime.storage.recordings.recording import Recording
from runtime.storage.tail.file_tail import FileTail
from runtime.storage.writing.copy_database import copy_database
from runtime.storage.writing.notes_file import NotesFile
from tests.stranger import descriptors


def say(*words: object) -> None:
    """Print a line in one write, from any thread."""
    os.write(1, (" ".join(str(word).replace("\n", " ") for word in words) + "\n").encode())


class Work:
    """The window's work on one file.

    Args:
        file: the database.
        seed: of the order of the actions.
    """

    def __init__(self, file: Path, seed: int) -> None:
        self._file = file
        self._seed = seed
        self._chance = random.Random(seed)
        self._services: list[DatabaseSessionService] = []
        self._sessions: list[SessionKey] = []
        self._recorder = recorder_module().Recording(file.with_suffix(".rec.db"))
        self._notes = NotesFile(str(file), file.parent / "notes")
        self._number = 0
        self._stop = threading.Event()

    async def run(self, rounds: int) -> None:
        """Do everything, at random."""
        threads = [threading.Thread(target=work) for work in (self._follow, self._look)]
        acts = (
            [self._append] * 6
            + [self._create] * 3
            + [self._reopen] * 2
            + [self._note, self._fork, self._save_as, self._record, self._search]
        )
        try:
            await self._create()
            for thread in threads:
                thread.start()
            for _ in range(rounds):
                act = self._chance.choice(acts)
                try:
                    await act()
                except (KnownError, sqlite3.Error) as error:
                    say("problem", act.__name__, type(error).__name__, error)
                self._check(act.__name__)
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()
            for service in self._services:
                await service.close()
            self._recorder.close()
        self._check("end")

    def _check(self, when: str) -> None:
        for path in descriptors(self._file):
            if "(deleted)" in path:
                say("problem", when, path)

    async def _service(self) -> DatabaseSessionService:
        if len(self._services) < 2:
            self._services.append(DatabaseSessionService(f"sqlite:///{self._file}"))
        return self._chance.choice(self._services)

    async def _create(self) -> None:
        self._number += 1
        key = SessionKey("window", "u", f"{self._seed}-{self._number}")
        await (await self._service()).create_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        say("session", key.session_id)
        self._sessions.append(key)

    async def _append(self) -> None:
        key = self._chance.choice(self._sessions)
        service = await self._service()
        session = await service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        if session is None:
            say("problem", "a session is missing", key.session_id)
            return
        self._number += 1
        delta = {"step": self._number, "user:last": self._number}
        event = Event(id=f"w{self._seed}-{self._number}", author="me", actions=EventActions(state_delta=delta))
        await service.append_event(session, event)
        say("event", event.id)

    async def _reopen(self) -> None:
        if self._services:
            await self._services.pop(self._chance.randrange(len(self._services))).close()

    async def _note(self) -> None:
        key = self._chance.choice(self._sessions)
        self._number += 1
        note = Note(text=f"note {self._number}", is_bookmark=False, at=1.0)
        if self._chance.random() < 0.5:
            await asyncio.to_thread(self._notes.put, key, f"n{self._seed}-{self._number}", note)
        else:
            await (await self._service()).set_note(key, f"n{self._seed}-{self._number}", note)
            say("note", f"n{self._seed}-{self._number}")

    async def _fork(self) -> None:
        fork = await fork_session(str(self._file), self._chance.choice(self._sessions))
        say("session", fork.key.session_id)

    async def _save_as(self) -> None:
        copy = self._file.with_name(f"copy-{self._number}.db")
        copy.unlink(missing_ok=True)
        await asyncio.to_thread(copy_database, str(self._file), copy)
        copy.unlink()

    async def _record(self) -> None:
        self._number += 1
        call = recorder_module().ToolCall(SessionKey("window", "u", "s"), f"i{self._number}", None, "agent", "tool", "c")
        self._recorder.add_tool_call(call)
        await asyncio.to_thread(self._recorder.wait)
        if self._recorder.problem:
            say("problem", self._recorder.problem)
        with closing(Recording(self._file.with_suffix(".rec.db"))) as recording:
            if not any(found.invocation_id == f"i{self._number}" for found in recording.tool_calls()):
                say("problem", "a recorded call is missing")

    async def _search(self) -> None:
        def update() -> None:
            with closing(SearchIndex(str(self._file), self._file.parent / "index")) as index:
                index.update(lambda done, total: True)

        await asyncio.to_thread(update)

    def _follow(self) -> None:
        tail = FileTail(self._file)
        while not self._stop.wait(tail.pause):
            tail.poll()
            if tail.problem is not None:
                say("problem", "tail", tail.problem)
        tail.close()

    def _look(self) -> None:
        while not self._stop.wait(0.002):
            try:
                with StoredDatabase.open(str(self._file)) as database:
                    database.sessions()
            except KnownError as error:
                say("problem", "reader", error)


def watch_door(file: Path) -> None:
    """Report each opening of a database's file that does not come through the door."""
    watched = {str(file), str(file.with_suffix(".rec.db"))}

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event not in ("open", "sqlite3.connect") or not isinstance(args[0], (str, bytes, os.PathLike)):
            return
        if os.fsdecode(args[0]).removeprefix("file:").partition("?")[0] not in watched:
            return
        frame = sys._getframe(1)
        names = []
        while frame is not None:
            names.append(frame.f_code.co_filename)
            frame = frame.f_back  # type: ignore[assignment]
        is_new = event == "open" and args[2] & os.O_EXCL
        if open_files.__file__ not in names and not is_new:
            say("problem", "opened past the door", event, *names[:4])

    sys.addaudithook(hook)


if __name__ == "__main__":
    watch_door(Path(sys.argv[1]))
    asyncio.run(Work(Path(sys.argv[1]), int(sys.argv[2])).run(int(sys.argv[3])))
    say("done")
