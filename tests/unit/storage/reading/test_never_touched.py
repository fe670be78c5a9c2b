"""No way of reading changes another program's files or leaves files behind."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.storage.reading.raw_tables import RawTables
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.search_index import SearchIndex
from runtime.storage.tail.file_tail import FileTail
from tests.fixture_paths import copy_of, manifest
from tests.sweep import count
from tests.unit.storage.file_states import put_into

STATES = [
    "cold",
    "cold wal",
    "hot wal",
    "hot journal",
    "read-only folder",
    "live",
    "live wal",
    "live in a transaction",
    "closing",
    "closing wal",
]


def snapshot(folder: Path) -> dict[str, str]:
    """Return the hash of each file, including the shared memory in `-shm`."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def browse(file: Path, cache: Path, midway: Callable[[], object] = lambda: None) -> None:
    """Read everything in a database, as the window does.

    Args:
        file: the database.
        cache: the folder for the search index.
        midway: called once during a read.
    """
    tail, raw, index = FileTail(file), RawTables(file), SearchIndex(str(file), cache)
    with StoredDatabase.open(str(file)) as database:
        database.read(lambda connection: (connection.execute("SELECT 1 FROM events").fetchall(), midway()))
        for scope in database.shared_scopes():
            database.shared_state(scope)
        for table in raw.tables():
            raw.page(table, "last")
        index.update(lambda _done, _of: True)
        index.search("the", 10)
        summaries = database.sessions()
        for summary in summaries:
            events = database.events(summary.key)
            database.state(summary.key)
            database.history(summary.key)
            pages = database.pages(summary.key, summary.event_count)
            pages.rows(0, len(pages))
            tail.follow(summary.key, [event.id for event in events])
            tail.poll()
    tail.poll()
    for looked_at in (tail, raw, index):
        looked_at.close()


def once(work: Callable[[], object]) -> Callable[[], None]:
    """Return a function that calls `work` the first time it is called."""
    left = [work]

    def do() -> None:
        if left:
            left.pop()()

    return do


@pytest.mark.sweep
def test_browsing_changes_no_file_and_leaves_none_behind(tmp_path: Path) -> None:
    chance = random.Random(1)
    names = [entry["file"] for entry in manifest() if entry["layout"] != "v0"]
    for number in range(count(20, 100)):
        state = STATES[number % len(STATES)]
        folder = tmp_path / str(number)
        folder.mkdir()
        file = copy_of(f"open/{chance.choice(names)}", folder)
        writer = put_into(state, file)
        before = snapshot(folder)
        if writer is not None and state.startswith("closing"):
            browse(file, tmp_path / "cache", once(writer.close))
            assert list(snapshot(folder)) == [file.name], f"{state}: {file.name}"
            continue
        browse(file, tmp_path / "cache")
        assert snapshot(folder) == before, f"{state}: {file.name}"
        folder.chmod(0o755)
        if writer is not None:
            writer.close()
            assert [path.name for path in folder.iterdir()] == [file.name], f"{state}: files are left after the writer has closed"
