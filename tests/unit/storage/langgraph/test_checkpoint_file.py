"""LangGraph's files: while another process writes them, and damaged ones."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest

from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.langgraph import checkpoint_file
from runtime.storage.langgraph.translation import Translation
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.tail.file_tail import FileTail
from runtime.storage.writing.convert import convert
from tests.langgraph_threads import copy_of, folder
from tests.sweep import count

_WRITER = dedent(
    """
    import sqlite3, sys
    source, target, thread = sys.argv[1:]
    old, new = sqlite3.connect(f"file:{source}?immutable=1", uri=True), sqlite3.connect(target, isolation_level=None)
    new.execute("PRAGMA journal_mode = WAL")
    for (sql,) in old.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"):
        new.execute(sql)
    def put(table, rows):
        for row in rows:
            new.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
            print("written", flush=True)
            sys.stdin.readline()
    for row in old.execute("SELECT * FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_id", (thread,)).fetchall():
        put("checkpoints", [row])
        this = "thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
        put("writes", old.execute(f"SELECT * FROM writes WHERE {this}", row[:3]).fetchall())
    """
)


def _followed(command: list[str], target: Path, key: SessionKey) -> list[str]:
    """Follow a session while another process writes it, and return the ids of its events."""
    ids: list[str] = []
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer,
        closing(FileTail(target)) as tail,
    ):
        assert writer.stdin is not None and writer.stdout is not None
        tail.follow(key)
        while writer.stdout.readline():
            changes = tail.poll()
            assert tail.problem is None
            if changes.reread:
                with StoredDatabase.open(str(target)) as database:
                    ids = [event.id for event in database.events(key)]
                tail.follow(key, ids)
            else:
                ids += [event.id for event in changes.events]
            writer.stdin.write("\n")
            writer.stdin.flush()
    return ids


@pytest.mark.parametrize(("name", "thread"), [("react_shop", "order-1"), ("subgraphs", "nested-done"), ("edits", "fork-edit")])
def test_a_thread_is_followed_while_another_process_writes_it(name: str, thread: str, tmp_path: Path) -> None:
    source, target = copy_of(name, tmp_path), tmp_path / "live" / f"{name}.sqlite"
    target.parent.mkdir()
    key = SessionKey(name, "ana" if name == "react_shop" else "user", thread)
    command = [sys.executable, "-c", _WRITER, str(source), str(target), thread]
    ids = _followed(command, target, key)
    with StoredDatabase.open(str(source)) as database:
        assert ids == [event.id for event in database.events(key)] != []


def _read_all(file: Path) -> None:
    with StoredDatabase.open(str(file)) as database:
        for summary in database.sessions():
            database.events(summary.key)
            database.history(summary.key)
            database.invocations(summary.key)
        database.pending()
        database.titles()
        database.lineages()


@pytest.mark.sweep
def test_a_damaged_file_is_read_as_far_as_it_can_be(tmp_path: Path) -> None:
    small = [path for path in sorted(folder().glob("*.sqlite")) if path.stat().st_size < 150_000]
    for seed in range(count(quick=40, full=1_000)):
        chance = random.Random(seed)
        file = tmp_path / "damaged.sqlite"
        file.write_bytes(chance.choice(small).read_bytes())
        with closing(sqlite3.connect(file)) as connection, connection:
            for table, column in (("checkpoints", "checkpoint"), ("checkpoints", "metadata"), ("writes", "value")):
                for row, value in connection.execute(f"SELECT rowid, {column} FROM {table} WHERE length({column})").fetchall():
                    data = bytearray(value if isinstance(value, bytes) else str(value).encode())
                    if chance.random() < 0.3:
                        data[chance.randrange(len(data))] = chance.randrange(256)
                        del data[chance.randrange(len(data) * 4) :]
                        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (bytes(data), row))
        begun = time.process_time()
        try:
            _read_all(file)
        except StorageError as error:
            assert str(file) in str(error)
        assert time.process_time() - begun < 2, seed


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE checkpoints SET parent_checkpoint_id = checkpoint_id",
        "UPDATE checkpoints SET checkpoint_id = rowid, parent_checkpoint_id = rowid - 1",
        "UPDATE checkpoints SET thread_id = x'ff00'",
        "UPDATE checkpoints SET checkpoint = NULL, metadata = NULL",
        "UPDATE checkpoints SET checkpoint = 5, type = 7",
        'UPDATE checkpoints SET metadata = \'{"source": 5, "parents": [1], "counters_since_delta_snapshot": {"a": 1}}\'',
        "UPDATE checkpoints SET checkpoint_ns = 'x', metadata = json_object('parents', json_object('x', checkpoint_id)) WHERE rowid > 2",
        "UPDATE OR REPLACE writes SET task_path = '~__pregel_push, 99999999999999999999'",
        "UPDATE OR REPLACE writes SET task_path = 5, task_id = 6, channel = 7",
        "UPDATE OR REPLACE writes SET channel = '__interrupt__'",
        "UPDATE OR REPLACE writes SET channel = '__resume__'",
        "UPDATE OR REPLACE writes SET channel = '__error__'",
        "UPDATE OR REPLACE writes SET task_id = '00000000-0000-0000-0000-000000000000'",
    ],
)
def test_odd_rows_are_read(damage: str, tmp_path: Path) -> None:
    file = copy_of("react_shop", tmp_path)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(damage)
    _read_all(file)


def test_a_file_cannot_be_continued_but_converted(tmp_path: Path) -> None:
    file = copy_of("subgraphs", tmp_path)
    with pytest.raises(StorageError, match=r"is read-only here: an interrupt is answered by the graph's own code"):
        open_session_service(str(file))
    convert(str(file), str(tmp_path / "new.db"))
    with StoredDatabase.open(str(file)) as old, StoredDatabase.open(str(tmp_path / "new.db")) as new:
        assert [(each.key, each.event_count) for each in new.sessions()] == [(each.key, each.event_count) for each in old.sessions()]
        for key in (summary.key for summary in old.sessions()):
            assert [event.id for event in new.events(key)] == [event.id for event in old.events(key)]
            assert [each.status for each in new.invocations(key)] == [each.status for each in old.invocations(key)]


def test_tables_among_those_of_an_application_are_found(tmp_path: Path) -> None:
    file = copy_of("react_shop", tmp_path)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE events (id INTEGER, what TEXT)")
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
    with StoredDatabase.open(str(file)) as database:
        assert database.layout.kind == "langgraph" and len(database.sessions()) == 2


def test_a_bomb_is_named_and_not_read(tmp_path: Path) -> None:
    keys = b"".join(b"\xa7" + str(1_000_000 + number).encode() + b"\xa9" + b"x" * 9 for number in range(1_100_000))
    values = {
        "channels": b"\xdf" + (1_100_000).to_bytes(4) + keys,
        "many": b"\xdf" + (20_000).to_bytes(4) + keys[: 18 * 20_000],
        "length": b"\x81\xa1k\xdd\x40\x00\x00\x00",
        "nested": b"\x81\xa1k" + b"\x91" * 1_000_000,
    }
    for name, value in values.items():
        file = copy_of("react_shop", tmp_path)
        bomb = b"\x81\xaechannel_values" + value
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("UPDATE checkpoints SET checkpoint = ? WHERE rowid = (SELECT max(rowid) FROM checkpoints)", (bomb,))
        begun = time.process_time()
        with StoredDatabase.open(str(file)) as database:
            faults = {event.error_code for each in database.sessions() for event in database.events(each.key)}
        assert time.process_time() - begun < 3, name
        assert name == "length" or "UNREADABLE_CHECKPOINT" in faults or name == "nested", name


@pytest.mark.parametrize("table", ["checkpoints", "writes"])
def test_a_value_that_is_too_large_is_not_fetched(table: str, tmp_path: Path) -> None:
    file = copy_of("react_shop", tmp_path)
    column = "checkpoint" if table == "checkpoints" else "value"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"UPDATE {table} SET {column} = zeroblob(200000000) WHERE rowid = (SELECT max(rowid) FROM {table})")
    begun = time.process_time()
    _read_all(file)
    assert time.process_time() - begun < 2


@pytest.mark.sweep
def test_2000_checkpoints_of_another_process_are_followed_and_the_file_stays_as_it_is(tmp_path: Path) -> None:
    """A long thread grows while it is read; the reader misses no event and changes nothing."""
    source, target = copy_of("react_shop", tmp_path), tmp_path / "live" / "long.sqlite"
    target.parent.mkdir()
    with closing(sqlite3.connect(source)) as connection, connection:
        for table in ("checkpoints", "writes"):
            connection.execute(f"DELETE FROM {table}")
        for number in range(count(quick=200, full=2_000)):
            names = [f"1f0a0000-0000-6000-8000-{each:012d}" for each in (number, number - 1)]
            about = json.dumps({"source": "loop" if number else "input", "step": number - 1, "parents": {}})
            stored = msgspec.msgpack.encode({"channel_values": {"n": number}, "versions_seen": {}})
            row = ("t", "", names[0], names[1] if number else None, "msgpack", stored, about)
            connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            columns = "thread_id, checkpoint_id, task_id, idx, channel, type, value, task_path"
            row = ("t", names[0], "task", 0, "n", "msgpack", msgspec.msgpack.encode(number + 1), "~__pregel_pull, node")
            connection.execute(f"INSERT INTO writes ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    key = SessionKey("long", "user", "t")
    command = [sys.executable, "-c", _WRITER.replace("sys.stdin.readline()", "pass"), str(source), str(target), "t"]
    ids: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer, closing(FileTail(target)) as tail:
        assert writer.stdout is not None
        writer.stdout.readline()  # the file is there
        reading = threading.Thread(target=writer.stdout.read)
        reading.start()
        tail.follow(key)
        while True:
            is_over = writer.poll() is not None
            changes = tail.poll()
            if changes.reread:
                with StoredDatabase.open(str(target)) as database:
                    ids = [event.id for event in database.events(key)]
                tail.follow(key, ids)
            else:
                ids += [event.id for event in changes.events]
            if is_over and not changes and tail.problem is None:
                break
        reading.join()
    before = target.read_bytes()
    with StoredDatabase.open(str(target)) as database:
        assert ids == [event.id for event in database.events(key)] != []
    assert target.read_bytes() == before
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_readers_of_a_file_share_what_was_translated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = copy_of("react_shop", tmp_path)
    translated: list[int] = []
    bring = Translation.bring_up_to_date

    def counted(self: Translation, *arguments: Any) -> None:
        translated.append(1)
        bring(self, *arguments)

    monkeypatch.setattr(Translation, "bring_up_to_date", counted)
    os.utime(file, (1, 1))  # a file that changed just now is read again
    with StoredDatabase.open(str(file)) as first, StoredDatabase.open(str(file)) as second:
        found = first.sessions()
        assert second.sessions() == found != []
        assert len(translated) == 1
        with ThreadPoolExecutor(4) as threads:
            each = list(threads.map(lambda _: [event.id for event in second.events(found[0].key)], range(20)))
        assert each == [each[0]] * 20
        first.close()
        first.close()
        assert second.sessions() == found
    with StoredDatabase.open(str(file)) as again:
        assert again.sessions() == found
    assert len(translated) == 2
    assert not checkpoint_file._files
