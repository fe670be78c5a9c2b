"""Files that a process creates, and the process that kills itself at one of the steps: a call of the system's, or an SQL statement."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from inspector_app.cli import main
from inspector_app.documents.session_address import SessionAddress
from inspector_app.engines.agent_output import OutputLine
from inspector_app.exchange.capsule import read_capsule
from inspector_app.exchange.formats import write_export
from inspector_app.support.preferences import Preferences
from inspector_app.workspace.traceback_store import TracebackStore
from runtime.errors import EmptyDatabaseError
from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService, SqliteSessionService
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.note import Note
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.saved_scan import SavedScan
from runtime.storage.reading.search_index import SearchIndex
from runtime.storage.recordings.recording import Recording
from runtime.storage.writing.convert import convert
from runtime.storage.writing.copy_database import copy_database
from runtime.storage.writing.deletion import keep_copy
from runtime.storage.writing.notes_file import NotesFile
from runtime.storage.writing.recover import recover
from tests.recorder import load_recorder

KEY = SessionKey("a", "u", "s")
STEPS = ("os.", "shutil.", "sqlite3.connect")
TEXTS = [f"line {number}: {'x' * 50}\n" for number in range(200)]


def kill_at(step: int) -> None:
    """Kill this process just before its n-th step."""
    count = 0

    def at_step(*_: Any) -> None:
        nonlocal count
        count += 1
        if count == step:
            os.kill(os.getpid(), signal.SIGKILL)

    def on_event(name: str, values: tuple[Any, ...]) -> None:
        if name.startswith(STEPS) or (name == "open" and isinstance(values[1], str) and set(values[1]) & set("wax+")):
            at_step()

    def connect(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = real(*args, **options)
        connection.set_trace_callback(at_step)
        return connection

    real = sqlite3.connect
    sqlite3.connect = sqlite3.dbapi2.connect = connect
    sys.addaudithook(on_event)


def limit_files(size: int) -> None:
    """Kill this process at its first write beyond a file's size in bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


async def _append(service: BaseSessionService) -> None:
    async with service:
        session = await service.get_session(app_name="a", user_id="u", session_id="s")
        session = session or await service.create_session(app_name="a", user_id="u", session_id="s", state={"first": 1})
        await service.append_event(session, Event(author="me", actions=EventActions(state_delta={"k": len(session.events)})))


def _check_continued(file: Path) -> None:
    """Check that what was left can be read, or has no sessions, and that a run continues it."""
    before = 0
    if file.exists():
        try:
            with StoredDatabase.open(str(file)) as database:
                before = len(database.events(KEY)) if database.sessions() else 0
        except EmptyDatabaseError:
            pass
    asyncio.run(_append(open_session_service(str(file))))
    with StoredDatabase.open(str(file)) as database:
        assert len(database.events(KEY)) == before + 1


def _v1(folder: Path) -> None:
    asyncio.run(_append(DatabaseSessionService(f"sqlite:///{folder / 'x.db'}")))


def _sqlite(folder: Path) -> None:
    asyncio.run(_append(SqliteSessionService(str(folder / "x.db"))))


def _run(folder: Path) -> None:
    asyncio.run(_append(open_session_service(str(folder / "given.db"))))


def _check_database(folder: Path) -> None:
    _check_continued(folder / "x.db")


def _check_given(folder: Path) -> None:
    _check_continued(folder / "given.db")
    for backup in folder.glob("given.db.backup-*"):
        if ".unfinished" not in backup.name:
            _check_continued(backup)


def _note(folder: Path) -> None:
    NotesFile(str(folder / "given.db"), folder / "notes").put(KEY, "event", Note("first", False, 5.0))


def _check_note(folder: Path) -> None:
    file = NotesFile(str(folder / "given.db"), folder / "notes")
    assert [note.text for note in file.notes().get(KEY, {}).values()] in ([], ["first"])
    file.put(KEY, "other", Note("second", False, 6.0))
    assert file.notes()[KEY]["other"].text == "second"


def _search(folder: Path) -> None:
    with closing(SearchIndex(str(folder / "given.db"), folder / "search")) as index:
        index.update(lambda done, total: True)


def _check_search(folder: Path) -> None:
    with closing(SearchIndex(str(folder / "given.db"), folder / "search")) as index:
        index.update(lambda done, total: True)
        assert len(index.search("me", 1000)) == len(StoredDatabase.open(str(folder / "given.db")).events(KEY))


def _record(folder: Path, call: str = "first") -> None:
    recorder = load_recorder()
    recording = recorder.Recording(folder / "x.rec.db")
    recording.add_tool_call(recorder.ToolCall(KEY, "i", None, "agent", "tool", call, ended=1.0))
    recording.close()
    assert recording.problem is None, recording.problem


def _check_recording(folder: Path) -> None:
    known = _recorded(folder) if (folder / "x.rec.db").exists() else []
    assert known in ([], ["first"])
    _record(folder, "second")
    assert _recorded(folder) == [*known, "second"]


def _recorded(folder: Path) -> list[str | None]:
    with closing(Recording(folder / "x.rec.db")) as recording:
        assert recording.call_of_event("event") is None
        return [call.call_id for call in recording.tool_calls(KEY)]


def _scan(folder: Path) -> None:
    database = SqliteFile(folder / "given.db")
    SavedScan(folder / "scans", folder / "given.db").save(database, 1, [["found", number] for number in range(2000)])
    database.close()


def _check_scan(folder: Path) -> None:
    database = SqliteFile(folder / "given.db")
    found = SavedScan(folder / "scans", folder / "given.db").load(database)
    assert found is None or len(found.data) == 2000
    _scan(folder)
    assert SavedScan(folder / "scans", folder / "given.db").load(database) is not None
    database.close()


def _copy(folder: Path) -> None:
    copy_database(str(folder / "given.db"), folder / "copy.db")


def _convert(folder: Path) -> None:
    convert(str(folder / "given.db"), str(folder / "copy.db"))


def _check_copy(folder: Path) -> None:
    """Check that the copy is complete or can be made again, and that the original is as it was."""
    if not (folder / "copy.db").exists():
        _copy(folder)
    for name in ("given.db", "copy.db"):
        with StoredDatabase.open(str(folder / name)) as database:
            assert len(database.events(KEY)) == 30
    _check_continued(folder / "copy.db")


def _export(folder: Path) -> None:
    write_export(folder / "x.jsonl", "x.jsonl", TEXTS)


def _check_export(folder: Path) -> None:
    if not (folder / "x.jsonl").exists():
        _export(folder)
    assert (folder / "x.jsonl").read_text() == "".join(TEXTS)


def _traceback(folder: Path, text: str = "first") -> None:
    TracebackStore(folder / "tracebacks").keep(SessionAddress("x.db", KEY), [(text, OutputLine("traceback", text * 2000))])


def _check_tracebacks(folder: Path) -> None:
    _traceback(folder, "second")
    found = [event_id for event_id, _ in TracebackStore(folder / "tracebacks").read(SessionAddress("x.db", KEY))]
    assert found in (["second"], ["first", "second"])


def _capsule(folder: Path) -> None:
    assert main(["capsule", str(folder / "given.db"), str(folder / "x.capsule"), "--yes"]) == 0


def _check_capsule(folder: Path) -> None:
    """Check that a capsule with its name is complete, and that one is made otherwise."""
    if not (folder / "x.capsule").exists():
        _capsule(folder)
    assert len(read_capsule(folder / "x.capsule").events) == 30


def _preferences(folder: Path, theme: str = "dark") -> None:
    preferences = Preferences(folder / "preferences.json")
    preferences.theme = theme
    preferences.add_recent(str(folder / "given.db"))


def _check_preferences(folder: Path) -> None:
    assert Preferences(folder / "preferences.json").theme in ("system", "dark")
    _preferences(folder, "light")
    preferences = Preferences(folder / "preferences.json")
    assert (preferences.theme, preferences.recent) == ("light", [str(folder / "given.db")])


def _recover(folder: Path) -> None:
    recover(str(folder / "given.db"), str(folder / "copy.db"))


def _deleted(folder: Path) -> None:
    keep_copy(folder / "given.db", [KEY])


def _check_deleted(folder: Path) -> None:
    """Check that each copy with its name is complete, and that the original is as it was."""
    _deleted(folder)
    copies = [copy for copy in folder.glob("given.db.deleted-*") if ".unfinished" not in copy.name]
    for file in (folder / "given.db", *copies):
        with closing(sqlite3.connect(file)) as connection:
            assert connection.execute("SELECT count(*) FROM events").fetchone() == (30,)


KINDS: dict[str, tuple[Callable[[Path], None], Callable[[Path], None]]] = {
    "v1": (_v1, _check_database),
    "sqlite": (_sqlite, _check_database),
    "first write": (_run, _check_given),
    "notes": (_note, _check_note),
    "search": (_search, _check_search),
    "recording": (_record, _check_recording),
    "scan": (_scan, _check_scan),
    "copy": (_copy, _check_copy),
    "conversion": (_convert, _check_copy),
    "export": (_export, _check_export),
    "tracebacks": (_traceback, _check_tracebacks),
    "capsule": (_capsule, _check_capsule),
    "preferences": (_preferences, _check_preferences),
    "recovery": (_recover, _check_copy),
    "deleted": (_deleted, _check_deleted),
}


def make_given(folder: Path) -> None:
    """Write another program's database with 30 events of google-adk's."""
    file = folder / "given.db"

    async def fill() -> None:
        async with DatabaseSessionService(f"sqlite:///{file}") as service:
            session = await service.create_session(app_name="a", user_id="u", session_id="s")
            for number in range(30):
                await service.append_event(session, Event(author="me", actions=EventActions(state_delta={"k": number})))

    asyncio.run(fill())
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'inspector_%' AND type = 'table'").fetchall():
            connection.execute(f"DROP TABLE {name}")
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()


def run(kind: str, folder: str, step: int, size: int) -> None:
    """Create a file, as the main function of a process.

    Args:
        kind: one of KINDS.
        folder: where.
        step: number of the step before which to die (0: never).
        size: bytes of a file beyond which to die (0: never).
    """
    if step:
        kill_at(step)
    if size:
        limit_files(size)
    KINDS[kind][0](Path(folder))
