"""Reading leaves another program's file unchanged in every journal mode, also while a writer is active or was killed."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from runtime.errors import NotASessionDatabaseError, StorageError
from runtime.events import Event
from runtime.sessions.database_session_service import DatabaseSessionService
from runtime.sessions.session import SessionKey
from runtime.storage.connections import sqlite_file
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.reading.reader import StoredDatabase
from tests.end2end.processes import ROOT
from tests.fixture_paths import copy_of

KEY = SessionKey("trip_planner", "maria", "s-1")
NAME = "open/adk2.13.0-v1-chat_tools.db"

# A writer in a separate process. It prints "ready" when it has written, and closes or dies on command.
WRITER = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = " + sys.argv[2])
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE sessions SET state = '{\\"written\\": true}'")
if sys.argv[3] == "commit":
    connection.execute("COMMIT")
else:
    # More than the cache holds, so that uncommitted pages reach the file.
    connection.execute("UPDATE events SET invocation_id = invocation_id || hex(zeroblob(20000))")
print("ready", flush=True)
if sys.stdin.readline() == "die\\n":
    os._exit(9)
connection.close()
"""


def snapshot(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if not path.name.endswith("-shm")}


def read_everything(file: Path) -> tuple[int, dict[str, object]]:
    with StoredDatabase.open(str(file)) as database:
        assert database.sessions()
        database.history(KEY)
        return len(database.events(KEY)), database.state(KEY)


class Writer:
    def __init__(self, file: Path, mode: str, what: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file), mode, what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        assert self.process.stdout.readline() == "ready\n"

    def end(self, how: str) -> None:
        self.process.communicate(how + "\n", timeout=20)


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_reading_an_unused_file_leaves_the_folder_unchanged(tmp_path: Path, mode: str) -> None:
    file = copy_of(NAME, tmp_path)
    file.chmod(0o644)
    connection = sqlite3.connect(file)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.close()
    before = snapshot(tmp_path)
    assert read_everything(file)[0] == 10
    assert snapshot(tmp_path) == before


def test_a_file_in_a_read_only_folder_can_be_read(tmp_path: Path) -> None:
    file = copy_of(NAME, tmp_path)
    file.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert read_everything(file)[0] == 10
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_reading_while_another_process_writes_leaves_the_folder_unchanged(tmp_path: Path, mode: str) -> None:
    file = copy_of(NAME, tmp_path)
    file.chmod(0o644)
    writer = Writer(file, mode, "commit")
    try:
        count, state = read_everything(file)
        assert (count, state["written"]) == (10, True)
        before = snapshot(tmp_path)
        read_everything(file)
        assert snapshot(tmp_path) == before
    finally:
        writer.end("close")
    assert set(snapshot(tmp_path)) == {file.name}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows whether the writer is alive")
@pytest.mark.parametrize(("mode", "what"), [("wal", "commit"), ("wal", "spill"), ("delete", "spill")])
def test_files_left_by_a_killed_writer_are_read_and_not_changed(tmp_path: Path, mode: str, what: str) -> None:
    file = copy_of(NAME, tmp_path)
    file.chmod(0o644)
    writer = Writer(file, mode, what)
    writer.end("die")
    before = snapshot(tmp_path)
    assert len(before) == 2, "the writer must leave a file behind"
    count, state = read_everything(file)
    assert count == 10
    assert ("written" in state) == (what == "commit"), "committed changes must be visible, uncommitted ones must not"
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(("mode", "what"), [("wal", "commit"), ("wal", "spill"), ("delete", "spill")])
def test_where_no_system_tells_whether_the_writer_is_alive_the_same_is_read(
    tmp_path: Path, mode: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = copy_of(NAME, tmp_path)
    file.chmod(0o644)
    writer = Writer(file, mode, what)
    writer.end("die")
    monkeypatch.setattr(sys, "platform", "darwin")
    count, state = read_everything(file)
    assert (count, "written" in state) == (10, what == "commit")


def test_a_change_between_two_reads_is_seen(tmp_path: Path) -> None:
    file = copy_of(NAME, tmp_path)
    file.chmod(0o644)
    with StoredDatabase.open(str(file)) as database:
        assert "later" not in database.state(KEY)
        connection = sqlite3.connect(file)
        connection.execute("UPDATE sessions SET state = '{\"later\": 1}'")
        connection.commit()
        connection.close()
        assert database.state(KEY)["later"] == 1


def test_a_replaced_file_is_opened_again(tmp_path: Path) -> None:
    file = copy_of(NAME, tmp_path)
    with StoredDatabase.open(str(file)) as database:
        database.sessions()
        other = copy_of("open/adk2.13.0-v1-empty.db", tmp_path)
        file.unlink()
        shutil.move(other, file)
        assert KEY not in {summary.key for summary in database.sessions()}


async def test_reading_does_not_drop_the_locks_of_our_own_service(tmp_path: Path) -> None:
    file = tmp_path / "own.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await service.create_session(app_name="a", user_id="u", session_id="s")
        with StoredDatabase.open(str(file)) as database:
            for number in range(1, 6):
                await service.append_event(session, Event(author="me"))
                assert len(database.events(session.key)) == number
        await service.append_event(session, Event(author="me"))
        # Closing the reader's descriptors has not dropped the service's locks.
        other = sqlite3.connect(file)
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        other.close()
        await service.append_event(session, Event(author="me"))
        again = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert again == session
    assert set(snapshot(tmp_path)) == {"own.db"}


@pytest.mark.parametrize(
    "trap",
    [
        "CREATE VIEW sessions AS SELECT 1 AS app_name, 2 AS user_id, 3 AS id, load_extension('x') AS state, 0 AS create_time,"
        " 0 AS update_time",
        "CREATE VIEW sessions AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)"
        " SELECT x AS app_name, x AS user_id, x AS id, '{}' AS state, 0 AS create_time, 0 AS update_time FROM r",
    ],
)
def test_views_instead_of_tables_are_refused(tmp_path: Path, trap: str) -> None:
    file = copy_of(NAME, tmp_path)
    file.chmod(0o644)
    connection = sqlite3.connect(file)
    connection.execute("DROP TABLE sessions")
    connection.execute(trap)
    connection.commit()
    connection.close()
    with pytest.raises(NotASessionDatabaseError, match="no table sessions"):
        StoredDatabase.open(str(file))


def test_a_long_read_is_interrupted_from_another_thread(tmp_path: Path) -> None:
    file = copy_of(NAME, tmp_path)
    with StoredDatabase.open(str(file)) as database, ThreadPoolExecutor() as threads:
        endless = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r, events"
        begun = threading.Event()

        def read(connection: sqlite3.Connection) -> None:
            begun.set()
            connection.set_authorizer(None)
            connection.execute(endless).fetchone()

        reading = threads.submit(database.read, read)
        begun.wait()
        database.stop()
        with pytest.raises(StorageError):
            reading.result(timeout=20)


JOINED = "SELECT count(*) FROM events AS e0" + "".join(f", events AS e{number}" for number in range(1, 4))
ENDLESS = JOINED + "".join(f", events AS e{number}" for number in range(4, 14))


def test_only_processor_time_counts_as_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no damage."""
    monkeypatch.setattr(sqlite_file, "_PATIENCE", 0.2)  # seconds
    file = SqliteFile(ROOT / "tests" / "data" / "v1.db")

    def wait_and_read(connection: sqlite3.Connection) -> int:
        subprocess.run([sys.executable, "-c", "sum(range(20_000_000))"], check=True)  # takes longer, but not of this thread
        connection.execute(JOINED).fetchone()
        return 1

    assert file.read(wait_and_read) == 1
    with pytest.raises(StorageError, match="took too long to read"):
        file.read(lambda connection: connection.execute(ENDLESS).fetchone())
    file.close()


def test_text_that_is_not_utf8_is_read_with_replacement_characters(tmp_path: Path) -> None:
    file = tmp_path / "odd.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE events (id TEXT)")
        connection.execute("INSERT INTO events VALUES ('usual'), (CAST(x'61ff62' AS TEXT))")
        connection.commit()
    with closing(SqliteFile(file)) as reader:
        assert reader.read(lambda connection: connection.execute("SELECT id FROM events").fetchall()) == [("usual",), ("a\ufffdb",)]
        assert reader.read(lambda connection: connection.execute("SELECT max(id) FROM events").fetchone()) == ("usual",)
