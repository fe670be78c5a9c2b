"""Looking at somebody else's files in every way there is changes none of them and leaves none behind."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

from runtime.sessions.stored.file_tail import FileTail
from runtime.sessions.stored.reader import StoredDatabase
from tests.fixture_paths import copy_of, manifest
from tests.sweep import count
from tests.unit.sessions.stored.sql_writer import SqlWriter

STATES = ["cold", "cold wal", "hot wal", "hot journal", "read-only folder", "live", "live wal", "live in a transaction"]


def snapshot(folder: Path) -> dict[str, str]:
    """Return the hash of each file, also of the memory that processes share through `-shm`."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def put_into(state: str, file: Path) -> SqlWriter | None:
    """Bring a file into a state; return the writer that goes on living."""
    file.chmod(0o644)
    if state in ("cold", "read-only folder"):
        file.parent.chmod(0o555 if state == "read-only folder" else 0o755)
        return None
    writer = SqlWriter(file, "wal" if "wal" in state else "delete")
    if state == "cold wal":
        writer.close()
        return None
    if state in ("hot journal", "live in a transaction"):
        writer.run("PRAGMA cache_size = 1")
        writer.run("BEGIN IMMEDIATE")
    writer.run("UPDATE sessions SET state = '{\"written\": 1}'")
    if state == "hot journal":
        writer.run("UPDATE events SET invocation_id = invocation_id || hex(zeroblob(20000))")
    if state.startswith("hot"):
        writer.kill()
        return None
    return writer


def browse(file: Path) -> None:
    """Look at everything in it, as the window does."""
    tail = FileTail(file)
    with StoredDatabase.open(str(file)) as database:
        for summary in database.sessions():
            events = database.events(summary.key)
            database.state(summary.key)
            database.history(summary.key)
            pages = database.pages(summary.key, summary.event_count)
            pages.rows(0, len(pages))
            tail.follow(summary.key, [event.id for event in events])
            tail.poll()
    tail.poll()
    tail.close()


@pytest.mark.sweep
def test_no_byte_is_changed_and_no_file_left_behind(tmp_path: Path) -> None:
    chance = random.Random(1)
    names = [entry["file"] for entry in manifest() if entry["layout"] != "v0"]
    for number in range(count(16, 100)):
        state = STATES[number % len(STATES)]
        folder = tmp_path / str(number)
        folder.mkdir()
        file = copy_of(f"open/{chance.choice(names)}", folder)
        writer = put_into(state, file)
        before = snapshot(folder)
        browse(file)
        assert snapshot(folder) == before, f"{state}: {file.name}"
        folder.chmod(0o755)
        if writer is not None:
            writer.close()
            assert [path.name for path in folder.iterdir()] == [file.name], f"{state}: files are left when the writer has gone"
