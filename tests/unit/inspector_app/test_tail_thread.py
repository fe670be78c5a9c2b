"""The thread rests between hints, and stops resting where hints fail."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.generated import _SCHEMA
from inspector_app import tail_thread
from inspector_app.tail_thread import TailThread, Told
from tests.unit.sessions.stored.sql_writer import SqlWriter

LONG = 60.0
"""Seconds that no test waits."""


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SqlWriter]:
    file = tmp_path / "live.db"
    connection = sqlite3.connect(file)
    connection.executescript(_SCHEMA)
    connection.close()
    writer = SqlWriter(file)
    yield writer
    writer.close()


@pytest.fixture
def told(tmp_path: Path, writer: SqlWriter) -> Iterator[tuple[TailThread, queue.Queue[Told]]]:
    found: queue.Queue[Told] = queue.Queue()
    thread = TailThread(str(tmp_path / "live.db"), [], found.put, is_hinted=True)
    yield thread, found
    thread.close()


class Waits:
    """What the thread waits for, in place of its event: each wait is noted, a long one lasts until somebody wakes it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds: queue.Queue[float] = queue.Queue()
        noted = self.seconds

        class Noted(threading.Event):
            def wait(self, timeout: float | None = None) -> bool:
                noted.put(timeout or 0.0)
                return super().wait(timeout)

        monkeypatch.setattr(tail_thread.threading, "Event", Noted)

    def until(self, longer_than: float) -> float:
        while (seconds := self.seconds.get(timeout=LONG)) <= longer_than:
            pass
        return seconds


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    monkeypatch.setattr(tail_thread, "AWAKE", 0.0)
    monkeypatch.setattr(tail_thread, "RESTING", LONG)
    return Waits(monkeypatch)


def test_a_hint_ends_the_rest(waits: Waits, told: tuple[TailThread, queue.Queue[Told]], writer: SqlWriter) -> None:
    thread, found = told
    waits.until(1.0)
    writer.add_session("s")
    thread.hint()
    changes = found.get(timeout=LONG / 2).changes
    assert [summary.key.session_id for summary in changes.changed] == ["s"]


def test_without_hints_it_looks_all_the_time(
    monkeypatch: pytest.MonkeyPatch, waits: Waits, told: tuple[TailThread, queue.Queue[Told]], writer: SqlWriter
) -> None:
    thread, found = told
    waits.until(1.0)
    monkeypatch.setattr(tail_thread, "LATE", -1.0)
    writer.add_session("s")
    thread._wake.set()  # as if the rest were over
    assert found.get(timeout=LONG / 2).changes
    writer.add_session("t")
    assert found.get(timeout=LONG / 2).changes, "nobody said anything"
    assert not thread._rests


def test_a_late_hint_is_a_hint(waits: Waits, told: tuple[TailThread, queue.Queue[Told]], writer: SqlWriter) -> None:
    thread, found = told
    waits.until(1.0)
    writer.add_session("s")
    thread._wake.set()
    assert found.get(timeout=LONG / 2).changes
    thread.hint()
    assert waits.until(1.0) > 1.0, "it rests again"
    assert thread._rests
