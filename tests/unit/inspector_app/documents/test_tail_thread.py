"""The tail thread sleeps between hints, polls if hints are missed, and emits no update before the previous one is acknowledged."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bench.generated import _SCHEMA
from inspector_app.documents import tail_thread
from inspector_app.documents.tail_thread import Subscription, TailThread, TailUpdate
from runtime.sessions.session_key import SessionKey
from runtime.storage.tail.open_tail import open_tail
from runtime.storage.tail.tail import Tail
from tests.unit.storage.tail.sql_writer import SqlWriter

LONG = 60.0  # seconds; longer than any test waits
RESTING = LONG + 1  # seconds between hints; differs from `LONG`, the wait for an acknowledgement


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
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, writer: SqlWriter) -> Iterator[tuple[TailThread, queue.Queue[TailUpdate]]]:
    monkeypatch.setattr(tail_thread, "MOST_WAITING", LONG)
    found: queue.Queue[TailUpdate] = queue.Queue()
    thread = TailThread("live.db", partial(open_tail, str(tmp_path / "live.db")), found.put, is_hinted=True)
    yield thread, found
    thread.close()


class Waits:
    """Replaces the thread's event by one that records the timeout of each wait."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds: queue.Queue[float] = queue.Queue()
        noted = self.seconds

        class Noted(threading.Event):
            def wait(self, timeout: float | None = None) -> bool:
                noted.put(timeout or 0.0)
                return super().wait(timeout)

        monkeypatch.setattr(tail_thread.threading, "Event", Noted)

    def until(self, seconds: float) -> None:
        while self.seconds.get(timeout=LONG) != seconds:
            pass


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    monkeypatch.setattr(tail_thread, "AWAKE", 0.0)
    monkeypatch.setattr(tail_thread, "RESTING", RESTING)
    return Waits(monkeypatch)


def test_a_hint_wakes_the_thread(waits: Waits, told: tuple[TailThread, queue.Queue[TailUpdate]], writer: SqlWriter) -> None:
    thread, found = told
    waits.until(RESTING)
    writer.add_session("s")
    thread.hint()
    changes = found.get(timeout=LONG / 2).changes
    assert [summary.key.session_id for summary in changes.changed] == ["s"]


def test_the_thread_polls_after_a_missed_hint(
    monkeypatch: pytest.MonkeyPatch, waits: Waits, told: tuple[TailThread, queue.Queue[TailUpdate]], writer: SqlWriter
) -> None:
    thread, found = told
    waits.until(RESTING)
    monkeypatch.setattr(tail_thread, "LATE", -1.0)
    writer.add_session("s")
    thread._wake.set()  # simulates the end of the sleep
    assert found.get(timeout=LONG / 2).changes
    thread.acknowledge()
    writer.add_session("t")
    assert found.get(timeout=LONG / 2).changes, "found without a hint"
    assert not thread._rests


def test_a_late_hint_counts_as_a_hint(waits: Waits, told: tuple[TailThread, queue.Queue[TailUpdate]], writer: SqlWriter) -> None:
    thread, found = told
    waits.until(RESTING)
    writer.add_session("s")
    thread._wake.set()
    assert found.get(timeout=LONG / 2).changes
    thread.hint()
    waits.until(RESTING)  # sleeping again
    assert thread._rests


def test_the_next_update_waits_for_the_acknowledgement(
    waits: Waits, told: tuple[TailThread, queue.Queue[TailUpdate]], writer: SqlWriter
) -> None:
    thread, found = told
    waits.until(RESTING)
    for name in ("s", "t"):
        writer.add_session(name)
        thread.hint()
        waits.until(LONG)  # waiting for the acknowledgement
    assert [summary.key.session_id for summary in found.get(timeout=LONG / 2).changes.changed] == ["s"]
    assert found.empty()
    thread.acknowledge()
    assert [summary.key.session_id for summary in found.get(timeout=LONG / 2).changes.changed] == ["t"]


def test_a_session_that_is_followed_before_the_thread_begins_is_followed(tmp_path: Path, writer: SqlWriter) -> None:
    followed = threading.Event()

    def open_late() -> Tail:
        assert followed.wait(LONG)
        return open_tail(str(tmp_path / "live.db"))

    writer.add_session("s")
    found: queue.Queue[TailUpdate] = queue.Queue()
    thread = TailThread("live.db", open_late, found.put)
    thread.follow(Subscription(SessionKey("a", "u", "s")))
    writer.add_event("s", "first")
    followed.set()
    try:
        assert [event.id for event in found.get(timeout=LONG).changes.events] == ["first"]
    finally:
        thread.close()
