"""A session that is too long to be read at once."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget
from pytestqt.qtbot import QtBot

from bench.generated import event_data, write_database, write_many_sessions
from inspector_app.app import Inspector
from inspector_app.documents.long_session import with_older
from inspector_app.documents.session_document import Committed
from inspector_app.stream.event_cells import Column
from runtime.history.invocations import Invocation, Status
from runtime.storage.reading.pending_rows import PendingRows
from tests.gui.events import said
from tests.gui.window.driver import WindowDriver

COUNT = 3_000


@pytest.fixture(scope="session")
def long_db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("long") / "long.db"
    write_database(file, COUNT)
    return file


@pytest.fixture
def shown(inspector: Inspector, long_db: Path, opened: Callable[..., None]) -> Inspector:
    opened(long_db)
    return inspector


def test_events_are_read_where_they_are_displayed(shown: Inspector, driver: WindowDriver) -> None:
    events, stream = shown.features.stream.events, shown.window.parts.stream
    assert events.event_count == COUNT
    assert shown.cursor.event_index == COUNT - 1
    assert shown.current.session.pages is not None
    assert not shown.current.session.events.is_cached(1_000)
    stream.select_event(1_000)
    driver.run_until_idle()
    assert shown.window.parts.detail.event_id == event_data(1_000)["id"]
    assert driver.state.nodes()["step"] == (
        "999 → 1000",
        f"#1,001 {event_data(1_000)['author'] if 1_000 % 10 in (0, 1) else 'find_product'}",
    )
    row = events.row_of_index(1_000)
    assert events.stream_row(row).summary != "…"


def test_an_event_that_is_read_when_it_is_selected_can_be_forked(shown: Inspector, driver: WindowDriver) -> None:
    commands, stream = shown.window.commands, shown.window.parts.stream
    assert not shown.current.session.events.is_cached(1_000)
    stream.select_event(1_000)
    driver.run_until_idle()
    assert shown.window.parts.detail.event_id == event_data(1_000)["id"]
    for command in (commands.toggle_breakpoint, commands.fork, commands.rewind):
        assert command.isEnabled()


def test_all_invocations_get_a_header(shown: Inspector) -> None:
    events = shown.features.stream.events
    headers = [events.stream_row(row) for row in range(0, events.rowCount(), 11)]
    assert len(headers) == COUNT // 10
    assert all(header.kind == "invocation" and header.event_kind != "reading…" for header in headers)


def test_the_filter_runs_in_the_database(shown: Inspector, driver: WindowDriver) -> None:
    bench, events = shown.window.workbench, shown.features.stream.events
    bench.parts.filter_bar.set_text('"step": 1234,')
    driver.run_until_idle()
    assert [events.index_at(row) for row in range(events.rowCount())] == [None, 1234]
    assert shown.window.status.text("position") == f"{COUNT:,}/{COUNT:,} (1 shown)"
    bench.parts.filter_bar.set_text('author == "pricing" and call.find_product')
    driver.run_until_idle()
    expected = [
        number
        for number in range(COUNT)
        if event_data(number)["author"] == "pricing" and "function_call" in event_data(number)["content"]["parts"][0]
    ]
    assert [events.index_at(row) for row in range(events.rowCount()) if not events.is_header(row)] == expected
    bench.parts.filter_bar.set_text("tokens.total == 220 and delta.step < 5")
    driver.run_until_idle()
    assert events.shown_count == 5
    bench.parts.filter_bar.clear()
    driver.run_until_idle()
    assert events.shown_count == COUNT


def test_enter_moves_between_hits(shown: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    bar = shown.window.parts.filter_bar
    qtbot.keyClick(shown.window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(bar.field, '"step": 77')
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    driver.run_until_idle()
    seen = []
    for _ in range(3):
        qtbot.keyClick(bar.field, Qt.Key.Key_Return)
        driver.run_until_idle()
        seen.append(shown.cursor.event_index)
    assert seen == [77, 770, 771]
    qtbot.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert shown.cursor.event_index == 770


def test_an_invalid_filter_shows_all_events(shown: Inspector) -> None:
    bar = shown.window.parts.filter_bar
    bar.set_text("author ==")
    assert bar.field.property("state") == "wrong"
    assert shown.features.stream.events.shown_count == COUNT


def test_the_matching_call_command_moves_between_call_and_response(shown: Inspector, driver: WindowDriver) -> None:
    shown.window.parts.stream.select_event(1_003)
    driver.run_until_idle()
    shown.window.commands.matching_call.trigger()
    driver.run_until_idle()
    assert shown.cursor.event_index == 1_004
    shown.window.commands.matching_call.trigger()
    driver.run_until_idle()
    assert shown.cursor.event_index == 1_003


def test_events_committed_meanwhile_are_appended(shown: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    events = shown.features.stream.events
    new = said("just now", invocation="e-new")
    new.actions.state_delta["step"] = "new"
    shown.current.add_committed(shown.cursor.session, [Committed(new, {"temp:t": 1})])
    assert events.event_count == COUNT + 1
    assert events.data(events.index(events.rowCount() - 1, Column.EVENT)) == "just now"
    qtbot.waitUntil(lambda: shown.cursor.event_index == COUNT)
    driver.run_until_idle()
    assert driver.state.nodes()["step"] == (f'{COUNT - 1} → "new"', f"#{COUNT + 1:,} writer")
    assert driver.state.nodes()["temp:t"] == ("1", f"#{COUNT + 1:,} writer")


def test_a_short_session_of_a_large_file_is_read_in_pages(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector_app.documents.sources.LARGE", 1)
    file = tmp_path / "many.db"
    write_many_sessions(file, 3, 4, 200)
    opened(file)
    session = inspector.current.session
    assert session.pages is not None and len(session.events) == 4
    assert inspector.features.stream.events.event_count == 4
    assert session.pages.history is not None


def test_many_events_are_followed_with_one_selection(shown: Inspector, qtbot: QtBot) -> None:
    selected: list[int] = []
    shown.cursor.event_changed.connect(selected.append)
    for batch in range(20):
        new = [Committed(said(f"{batch} {number}", author="pricing", invocation="e-live"), {}) for number in range(50)]
        shown.current.add_committed(shown.cursor.session, new)
    assert selected == []
    qtbot.waitUntil(lambda: shown.cursor.event_index == COUNT + 999, timeout=5_000)
    assert selected == [COUNT + 999]
    stream = shown.window.parts.stream
    assert stream.following
    last = shown.features.stream.events.row_of_index(COUNT + 999)
    assert stream.table.visualRect(shown.features.stream.events.index(last, Column.EVENT)).bottom() <= stream.table.viewport().height()


def test_an_old_interrupted_invocation_is_a_fact_beside_the_session(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver
) -> None:
    file = tmp_path / "long.db"
    write_database(file, COUNT)
    with closing(sqlite3.connect(file)) as connection, connection:  # only the user's message of the second run remains
        gone = [event_data(number)["id"] for number in range(11, 20)]
        connection.execute(f"DELETE FROM events WHERE id IN ({', '.join('?' * len(gone))})", gone)
    connection.close()
    opened(file)
    old = event_data(10)["invocation_id"]
    assert inspector.window.parts.pending.rows == []
    found = inspector.run.resumable(old)
    assert found is not None and found.status == "interrupted"
    # It is kept while the end of the session is read again.
    address = inspector.cursor.session
    assert address is not None
    inspector.cursor.select_session(None)
    inspector.cursor.select_session(address)
    driver.run_until_idle()
    assert inspector.catalog.earlier(address) == "1 earlier message without an answer"
    assert inspector.run.resumable(old) == found


def test_an_older_scan_completes_invocations_that_began_before_the_last_events() -> None:
    def entry(name: str, status: Status, last: str) -> Invocation:
        return Invocation(name, status, "", "first", last, {})

    old, whole = entry("old", "paused", "4"), entry("long", "interrupted", "9")
    assert with_older([entry("long", "finished", "9")], [old, whole]) == [old, whole]
    grown = entry("long", "finished", "12")
    assert with_older([grown], [old, whole]) == [old, grown]


@pytest.fixture
def counted_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.storage.reading.reader.MANY_EVENTS", 1_000)


def counts_in_list(inspector: Inspector) -> list[int | None]:
    return [summary.event_count for summary in inspector.catalog.sessions(str(inspector.cursor.session.database))]


@pytest.mark.usefixtures("counted_later")
def test_a_long_database_is_shown_before_its_events_are_counted(
    inspector: Inspector, long_db: Path, opened: Callable[..., None], driver: WindowDriver, qtbot: QtBot
) -> None:
    seen: list[tuple[int | None, bool]] = []
    inspector.current.session_loaded.connect(
        lambda session: seen.append((inspector.catalog.sessions(str(long_db))[0].event_count, session.pages.is_confirmed))
    )
    opened(long_db)
    driver.run_until_idle()
    assert seen == [(None, False)]
    assert inspector.current.session.pages.is_confirmed
    assert counts_in_list(inspector) == [COUNT]
    assert inspector.features.stream.events.event_count == COUNT
    sessions = inspector.window.parts.sessions
    assert f"{COUNT:,} events" in str(sessions.tree.currentIndex().data(Qt.ItemDataRole.ToolTipRole))
    connection = sqlite3.connect(long_db)  # commits of other processes are followed from then on
    try:
        row = "'one-more', app_name, user_id, session_id, 'i', timestamp, '{\"author\": \"me\"}'"
        connection.execute(f"INSERT INTO events SELECT {row} FROM events LIMIT 1")
        connection.commit()
        qtbot.waitUntil(lambda: inspector.features.stream.events.event_count == COUNT + 1, timeout=10_000)
    finally:
        connection.execute("DELETE FROM events WHERE id = 'one-more'")
        connection.commit()
        connection.close()


@pytest.mark.usefixtures("counted_later")
@pytest.mark.parametrize("gap", [100, COUNT - 500, COUNT - 50])
def test_missing_rows_are_detected_when_the_events_are_counted(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver, gap: int
) -> None:
    file = tmp_path / "gap.db"
    write_database(file, COUNT)
    connection = sqlite3.connect(file)
    connection.execute("DELETE FROM events WHERE rowid = ?", (gap,))
    connection.commit()
    connection.close()
    opened(file)
    inspector.window.parts.stream.select_event(gap)
    driver.run_until_idle()
    events = inspector.features.stream.events
    assert events.event_count == COUNT - 1
    assert counts_in_list(inspector) == [COUNT - 1]
    inspector.window.parts.stream.select_event(gap)
    driver.run_until_idle()
    assert events.committed(gap).id == event_data(gap + 1)["id"]
    assert inspector.window.message_bar.isHidden()


def test_sessions_beyond_the_scan_limit_are_found_and_counted(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector_app.workspace.scanning.MAX_SCANNED", 3)
    monkeypatch.setattr("inspector_app.running.pending_controller.MOST_LISTED", 5)
    file = tmp_path / "many.db"
    write_many_sessions(file, 8, 1, 20)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE events SET event_data = json_set(event_data, '$.author', 'user')")
    connection.close()
    opened(file)
    assert len(inspector.catalog.pending) == 8
    assert len(inspector.window.parts.pending.rows) == 5
    docks = inspector.window.workbench.findChildren(QDockWidget)
    assert "Pending  8 (5 listed)" in [dock.windowTitle() for dock in docks]
    tree = inspector.features.sessions.model
    address = next(iter(inspector.catalog.pending))
    assert tree.node(tree.index_of(address.database, address.key)).icon == "triangle-exclamation"


@pytest.mark.parametrize(
    "statement", ["UPDATE sessions SET state = '[1'", "INSERT OR REPLACE INTO app_states SELECT app_name, '[1]', update_time FROM sessions"]
)
def test_a_state_that_cannot_be_read_is_reported(
    statement: str, inspector: Inspector, long_db: Path, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver
) -> None:
    file = tmp_path / "damaged.db"
    file.write_bytes(long_db.read_bytes())
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)
    opened(file)
    driver.run_until_idle()
    assert inspector.features.stream.events.event_count == COUNT
    assert "A stored state is damaged" in driver.log_text()


def test_a_database_can_be_closed_while_it_is_scanned(
    inspector: Inspector, long_db: Path, opened: Callable[..., None], monkeypatch: pytest.MonkeyPatch, driver: WindowDriver, qtbot: QtBot
) -> None:
    reached, go = threading.Event(), threading.Event()

    unfinished = PendingRows.unfinished

    def look(rows: PendingRows, *args: Any, **named: Any) -> object:
        reached.set()
        assert go.wait(10)
        return unfinished(rows, *args, **named)

    monkeypatch.setattr(PendingRows, "unfinished", look)
    inspector.tasks.spawn(inspector.open([str(long_db)]), "Opening")
    qtbot.waitUntil(reached.is_set, timeout=20_000)
    inspector.window.commands.close_database.trigger()
    qtbot.waitUntil(lambda: inspector.databases.sources == [], timeout=10_000)
    go.set()
    driver.run_until_idle()
    assert inspector.window.message_bar.messages == [], "a scan of a closed database reports no error"
