"""Commits of another process appear in the window."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from pytestqt.qtbot import QtBot

from bench.generated import _SCHEMA
from inspector_app.app import Inspector
from inspector_app.demo import STORY
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.tail_thread import TailUpdate
from runtime.events.event import Event
from runtime.sessions.session import SessionKey
from tests.gui.window.driver import WindowDriver
from tests.unit.storage.tail.sql_writer import SqlWriter

KEY = SessionKey("a", "u", "s")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "live.db"
    connection = sqlite3.connect(file)
    connection.executescript(_SCHEMA)
    connection.close()
    return file


@pytest.fixture
def writer(file: Path) -> Iterator[SqlWriter]:
    writer = SqlWriter(file)
    writer.add_session("s")
    writer.add_event("s", "e0")
    yield writer
    writer.close()


@pytest.fixture
def live(inspector: Inspector, file: Path, writer: SqlWriter, opened: Callable[..., None]) -> Inspector:
    opened(file)
    return inspector


def test_events_appear_when_they_are_committed(live: Inspector, writer: SqlWriter, driver: WindowDriver, qtbot: QtBot) -> None:
    assert live.window.status.text("tail") == "watching"
    for number in range(1, 6):
        writer.add_event("s", f"e{number}")
    qtbot.waitUntil(lambda: live.features.stream.events.event_count == 6)
    assert driver.stream.ids() == [f"e{number}" for number in range(6)]
    assert live.window.status.text("tail") == "live"
    qtbot.waitUntil(lambda: live.window.status.text("position") == "6/6")  # the newest event is followed
    for _ in range(3):
        qtbot.keyClick(live.window.parts.stream.table, Qt.Key.Key_Up)
    writer.add_event("s", "e6")
    qtbot.waitUntil(lambda: live.features.stream.events.event_count == 7)
    assert live.cursor.event_index == 2, "the selection stays if it is not on the newest event"


def test_a_run_of_this_window_is_not_taken_for_another_processes(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver, qtbot: QtBot
) -> None:
    opened(STORY.parent / "orders", tmp_path / "new.db")
    tail, marks = inspector.work.tail, []
    tail.watching_changed.connect(lambda mark, _: marks.append(mark))

    def has_events(told: TailUpdate) -> bool:
        return told.changes is not None and any(summary.event_count for summary in told.changes.changed)

    with qtbot.waitSignal(tail.told, check_params_cb=has_events, timeout=10_000):
        inspector.run.send("40 boxes of A4 paper", paused=True)
    driver.run_until_held()
    assert "live" not in marks
    with qtbot.waitSignal(inspector.run.run_ended, timeout=10_000):
        inspector.run.stop()


def test_the_session_of_a_run_is_followed_once_the_run_has_ended(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver, qtbot: QtBot
) -> None:
    file = tmp_path / "new.db"
    opened(STORY.parent / "orders", file)
    read: list[Event] = []
    counts: list[int | None] = []
    inspector.work.tail.told.connect(lambda told: read.extend(told.changes.events))
    inspector.work.tail.told.connect(lambda told: counts.extend(summary.event_count for summary in told.changes.changed))
    inspector.run.send("40 boxes of A4 paper", paused=True)
    driver.run_until_held()
    committed = driver.stream.ids()
    with closing(sqlite3.connect(file)) as connection, connection:
        _copy_last_event(connection, "theirs")
    qtbot.waitUntil(lambda: len(committed) + 1 in counts)
    assert read == [], "the run itself reports its events"
    with qtbot.waitSignal(inspector.run.run_ended, timeout=10_000):
        inspector.run.stop()
    qtbot.waitUntil(lambda: "theirs" in driver.stream.ids())


def _copy_last_event(connection: sqlite3.Connection, event_id: str) -> None:
    columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(events)") if name != "id"]
    copied = ", ".join(columns)
    connection.execute(f"INSERT INTO events (id, {copied}) SELECT ?, {copied} FROM events ORDER BY rowid DESC LIMIT 1", (event_id,))


def test_sessions_are_added_and_removed(live: Inspector, writer: SqlWriter, driver: WindowDriver, qtbot: QtBot) -> None:
    selected = live.cursor.session
    writer.add_session("other")
    qtbot.waitUntil(lambda: driver.sessions.ids() == ["other", "s"])
    writer.run("DELETE FROM sessions WHERE id = 'other'")
    qtbot.waitUntil(lambda: driver.sessions.ids() == ["s"])
    for sql in ("BEGIN", "DELETE FROM events", "DELETE FROM sessions", "COMMIT"):
        writer.run(sql)
    qtbot.waitUntil(lambda: any("deleted by another process" in message.text for message in live.window.message_bar.messages))
    assert live.cursor.session == selected
    assert driver.stream.ids() == ["e0"], "events already read stay visible"


def test_a_session_deleted_during_its_run_stays_displayed(story: Inspector, story_db: Path, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: story.window.status.text("tail") == "watching")
    story.run.resume(paused=True)
    qtbot.waitUntil(lambda: story.run.phase == "paused", timeout=20_000)
    events = story.features.stream.events.event_count
    with closing(sqlite3.connect(story_db)) as connection, connection:
        connection.execute("DELETE FROM events")
        connection.execute("DELETE FROM sessions")
    connection.close()
    qtbot.waitUntil(lambda: any("deleted by another process" in message.text for message in story.window.message_bar.messages))
    with qtbot.waitSignal(story.run.run_ended, timeout=20_000):
        story.window.commands.run.trigger()
    qtbot.waitUntil(lambda: not story.tasks.running)
    assert not story.window.parts.session_problem.isVisible()
    assert story.features.stream.events.event_count == events
    assert story.features.sessions.model.shown_sessions == 0
    qtbot.waitUntil(lambda: story.window.parts.pending.rows == [])


def test_the_newest_session_is_followed_if_the_user_chose_so(
    live: Inspector, writer: SqlWriter, driver: WindowDriver, qtbot: QtBot
) -> None:
    writer.add_session("other")
    qtbot.waitUntil(lambda: "other" in driver.sessions.ids())
    assert live.cursor.session.key == KEY
    live.window.commands.follow_newest.trigger()
    writer.add_session("newest")
    writer.add_event("newest", "n1")
    qtbot.waitUntil(lambda: live.cursor.session.key.session_id == "newest")
    qtbot.waitUntil(lambda: driver.stream.ids() == ["n1"])
    writer.add_event("newest", "n2")
    qtbot.waitUntil(lambda: driver.stream.ids() == ["n1", "n2"])


def test_deleted_events_disappear(live: Inspector, writer: SqlWriter, driver: WindowDriver, qtbot: QtBot) -> None:
    writer.add_event("s", "e1")
    qtbot.waitUntil(lambda: driver.stream.ids() == ["e0", "e1"])
    writer.run("DELETE FROM events WHERE id = 'e1'")
    writer.add_event("s", "n1")
    qtbot.waitUntil(lambda: driver.stream.ids() == ["e0", "n1"])
    writer.add_event("s", "n2")
    qtbot.waitUntil(lambda: driver.stream.ids() == ["e0", "n1", "n2"])


def test_a_deleted_file_is_reported_and_read_again_when_it_returns(
    live: Inspector, writer: SqlWriter, file: Path, driver: WindowDriver, qtbot: QtBot
) -> None:
    content = file.read_bytes()
    file.unlink()
    qtbot.waitUntil(lambda: live.window.status.text("tail") == "cannot be read")
    assert driver.stream.ids() == ["e0"]
    assert [message.severity for message in live.window.message_bar.messages] == ["warning"]
    file.write_bytes(content)
    qtbot.waitUntil(lambda: live.window.status.text("tail") != "cannot be read")
    assert [message.severity for message in live.window.message_bar.messages] == ["info"], "the warning is replaced"
    again = SqlWriter(file)
    again.add_event("s", "e1")
    qtbot.waitUntil(lambda: driver.stream.ids() == ["e0", "e1"])
    again.close()


def test_an_invocation_stops_showing_as_running_once_its_commits_cease(
    live: Inspector, writer: SqlWriter, driver: WindowDriver, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.add_event("s", "e1")
    qtbot.waitUntil(lambda: driver.stream.ids() == ["e0", "e1"])
    assert live.features.stream.events.stream_row(0).event_kind == "running"
    qtbot.waitUntil(lambda: live.features.stream.events.stream_row(0).event_kind != "running")


def test_the_silence_of_another_process_is_no_interruption(
    live: Inspector, writer: SqlWriter, file: Path, driver: WindowDriver, qtbot: QtBot
) -> None:
    writer.add_session("other")
    writer.add_event("other", "o1", author="user")
    writer.add_event("s", "q", author="user")
    qtbot.waitUntil(lambda: live.features.stream.events.stream_row(0).event_kind == "unfinished")
    for name in ("s", "other"):
        address = SessionAddress(str(file), SessionKey("a", "u", name))
        qtbot.waitUntil(lambda address=address: live.catalog.mark(address) == "unfinished")  # type: ignore[misc]
    assert (live.window.parts.pending.rows, live.window.parts.resume_hint.text) == ([], "")
    assert live.run.resumable() is None
    writer.add_event("s", "answer")
    qtbot.waitUntil(lambda: live.features.stream.events.stream_row(0).event_kind == "finished")
    assert live.catalog.mark(SessionAddress(str(file), KEY)) == "finished"


def test_an_invocations_status_updates_while_another_session_is_written_to(
    live: Inspector, writer: SqlWriter, driver: WindowDriver, qtbot: QtBot
) -> None:
    writer.add_session("busy")
    numbers = iter(range(1_000))
    writing = QTimer()
    writing.timeout.connect(lambda: writer.add_event("busy", f"b{next(numbers)}"))
    writing.start(100)
    writer.add_event("s", "e1")
    qtbot.waitUntil(lambda: driver.stream.ids() == ["e0", "e1"])
    qtbot.waitUntil(lambda: live.features.stream.events.stream_row(0).event_kind != "running")
    writing.stop()


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_commits_are_noticed_through_file_system_notifications(
    inspector: Inspector,
    file: Path,
    opened: Callable[..., None],
    driver: WindowDriver,
    qtbot: QtBot,
    mode: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("inspector_app.documents.tail_thread.RESTING", 3600.0)
    monkeypatch.setattr("inspector_app.documents.tail_thread.AWAKE", 0.0)
    writer = SqlWriter(file, mode)
    writer.add_session("s")
    writer.add_event("s", "e0")
    opened(file)
    for number in range(1, 4):
        writer.add_event("s", f"e{number}")
        qtbot.waitUntil(lambda number=number: len(driver.stream.ids()) == number + 1)
    if mode == "wal":
        writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.close()
    again = SqlWriter(file, mode)
    again.add_event("s", "e4")
    qtbot.waitUntil(lambda: len(driver.stream.ids()) == 5)
    again.close()
    copy = file.with_name("copy.db")
    shutil.copyfile(file, copy)
    copy.replace(file)
    replaced = SqlWriter(file, mode)
    replaced.add_event("s", "e5")
    qtbot.waitUntil(lambda: len(driver.stream.ids()) == 6)
    replaced.close()
