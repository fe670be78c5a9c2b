"""A tail reports each commit of the real google-adk, for Python and for TypeScript, once, during checkpoints, vacuums and deletions."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.tail.file_tail import FileTail
from tests.interop.google_adk import adk_python, typescript_adk
from tests.sweep import count

WRITER = Path(__file__).with_name("adk_live_writer.py")


class Watcher:
    """A watcher that follows the newest session of a file and collects each session's events."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.tail = FileTail(file)
        self.told: dict[str, list[str]] = {}
        self.rereads = 0
        self._newest: SessionKey | None = None

    def look(self) -> int:
        """Poll once and return the number of new events."""
        changes = self.tail.poll()
        newest = max((summary.key for summary in changes.changed), default=self._newest)
        if self._newest is not None:
            ids = self.told[self._newest.session_id]
            ids += [event.id for event in changes.events]
            if changes.reread:
                self.rereads += 1
                self._read_again(self._newest)
        if newest is not None and (self._newest is None or newest > self._newest):
            self._newest = newest
            self._read_again(newest)
        return len(changes.events)

    def _read_again(self, key: SessionKey) -> None:
        with StoredDatabase.open(str(self.file)) as database:
            self.told[key.session_id] = [event.id for event in database.events(key)]
        self.tail.follow(key, self.told[key.session_id])


@pytest.mark.sweep
@pytest.mark.parametrize(("service", "mode", "share"), [("database", "delete", 1.0), ("sqlite", "delete", 1.0), ("database", "wal", 0.2)])
def test_no_event_is_missed_or_repeated(tmp_path: Path, service: str, mode: str, share: float) -> None:
    file = tmp_path / "live.db"
    connection = sqlite3.connect(file)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    if mode == "wal":  # the mode is stored only when a page is written
        connection.execute("CREATE TABLE t (x)")
        connection.execute("DROP TABLE t")
    connection.close()
    total, length = round(count(250, 100_000) * share), count(60, 1_000)
    _follow(file, [adk_python(), str(WRITER), str(file), service, str(total), str(length)], total, mode)


@pytest.mark.sweep
def test_no_event_of_typescript_is_missed_or_repeated(tmp_path: Path) -> None:
    total = count(60, 2_000)
    file = tmp_path / "live.db"
    _follow(file, [*typescript_adk(), str(file), str(total)], total, "@google/adk")
    with StoredDatabase.open(str(file)) as database:
        assert database.layout.kind == "typescript"
        assert abs(database.sessions()[0].last_update_time - time.time()) < 3_600


def _follow(file: Path, program: list[str], total: int, name: str) -> None:
    """Follow a file while a program writes it, and compare what was reported with the program's log."""
    log = file.with_name("log")
    with log.open("w") as output:
        writer = subprocess.Popen(program, stdout=output)
        watcher = Watcher(file)
        alone = 0
        while writer.poll() is None:
            alone += watcher.look()
            with suppress(subprocess.TimeoutExpired):
                writer.wait(watcher.tail.pause)
    assert writer.returncode == 0
    while watcher.tail.poll() or not watcher.tail._counted:
        time.sleep(watcher.tail.pause)  # the tail counts once the file has been calm for a while, as in the window
    watcher.tail.follow(watcher._newest, watcher.told[watcher._newest.session_id])
    watcher.look()
    watcher.tail.close()
    assert alone > total * 0.3, "most events must arrive without reading a session again"
    _compare(log.read_text().splitlines(), watcher, name)
    assert {path.name for path in file.parent.iterdir()} == {"live.db", "log"}


def _compare(log: list[str], watcher: Watcher, name: str) -> None:
    sessions: dict[str, list[str]] = {}
    removed: set[str] = set()
    written = 0
    for line in log:
        what, name = line.split()
        if what == "session":
            current = sessions.setdefault(name, [])
        elif what == "event":
            current.append(name)
            written += 1
        elif what == "deleted":
            current.remove(name)
        else:
            removed.add(name)
    missed = doubled = 0
    for session_id, ids in sessions.items():
        if session_id not in watcher.told:
            continue  # on a loaded machine, it was written whole between two looks, and never was the newest one
        told = watcher.told[session_id]
        doubled += len(told) - len(set(told))
        if session_id == max(sessions):
            assert told == ids
        # A deletion from an older session after its last poll is not noticed any more.
        missed += len(set(ids) - set(told))
    found = f"{written} commits, {len(sessions)} sessions, {watcher.rereads} read again, {missed} missed, {doubled} doubled"
    sys.stdout.write(f"{name}: {found}\n")
    assert (missed, doubled) == (0, 0)
    assert {key.session_id for key in watcher.tail._known} == sessions.keys() - removed
    counts = {summary.key.session_id: summary.event_count for summary in watcher.tail._known.values()}
    assert counts == {session_id: len(ids) for session_id, ids in sessions.items() if session_id not in removed}
