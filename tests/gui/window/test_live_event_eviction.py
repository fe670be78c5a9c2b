"""A displayed session that grows: the oldest live events are evicted and read from the database again."""

from __future__ import annotations

import gc
import json
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from bench.generated import APP, SESSION, USER, add_events, event_data, write_database
from inspector_app.app import Inspector
from inspector_app.detail.request_values import NOT_RECORDED, RECONSTRUCTED, TOO_MANY_EVENTS
from inspector_app.documents import live_event_eviction
from inspector_app.documents.live_event_eviction import _count_to_evict
from inspector_app.documents.session_document import Committed
from inspector_app.widgets.value_tree import FILES
from inspector_app.workspace import current_session as browse
from runtime.storage.open_service import open_session_service
from tests.gui.events import changed, said
from tests.gui.window.driver import WindowDriver

BEFORE, KEPT, STEP = 300, 200, 150
T = TypeVar("T")


class Writer:
    """Commits the next events of the generated session, as another process would."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file)
        self.count = BEFORE

    def write(self, count: int) -> None:
        add_events(self.connection, self.count, self.count + count)
        self.count += count

    def write_question(self) -> None:
        """Commit an event with a long-running call that is not answered, in an invocation of its own."""
        call = {"id": "asks", "name": "approve", "args": {}}
        content = {"role": "model", "parts": [{"function_call": call}]}
        more = {"author": "order_desk", "long_running_tool_ids": ["asks"], "content": content}
        self.commit({**event_data(0), "id": "question", "invocation_id": "asking", **more})

    def write_file(self, name: str, version: int) -> None:
        """Commit the next event, which saves a file."""
        data = event_data(self.count)
        data["actions"]["artifact_delta"] = {name: version}
        self.commit(data)
        self.count += 1

    def commit(self, data: dict[str, Any]) -> None:
        row = (data["id"], APP, USER, SESSION, data["invocation_id"], "2026-11-21 10:00:00.000000", json.dumps(data))
        self.connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self.connection.commit()

    @property
    def ids(self) -> list[str]:
        return [event_id for (event_id,) in self.connection.execute("SELECT id FROM events ORDER BY rowid")]

    def close(self) -> None:
        self.connection.close()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    file = tmp_path / "grows.db"
    write_database(file, BEFORE)
    writer = Writer(file)
    yield writer
    writer.close()


@pytest.fixture(params=["opened whole", "opened as a long one"])
def growing(
    request: pytest.FixtureRequest,
    inspector: Inspector,
    tmp_path: Path,
    writer: Writer,
    opened: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> Inspector:
    monkeypatch.setattr(live_event_eviction, "MAX_LIVE_EVENTS", KEPT)
    monkeypatch.setattr(live_event_eviction, "STEP", STEP)
    if request.param == "opened as a long one":
        monkeypatch.setattr("inspector_app.documents.sources.LONG", 100)
    opened(tmp_path / "grows.db")
    assert (inspector.current.session.pages is not None) == (request.param == "opened as a long one")
    return inspector


def grow(driver: WindowDriver, writer: Writer, count: int) -> None:
    """Let another process commit this many events in batches."""
    end = writer.count + count
    while writer.count < end:
        writer.write(50)
        driver.qtbot.waitUntil(lambda: driver.inspector.features.stream.events.event_count == writer.count, timeout=20_000)
    driver.run_until_idle()


def ids(inspector: Inspector, qtbot: QtBot) -> list[str]:
    """Return the ids of all events, reading page by page."""
    found = []
    for index in range(inspector.features.stream.events.event_count):
        qtbot.waitUntil(lambda index=index: inspector.current.session.events.cached(index) is not None)
        found.append(inspector.features.stream.events.committed(index).id)
    return found


def test_events_in_memory_stay_bounded_without_duplicates_or_gaps(
    growing: Inspector, writer: Writer, driver: WindowDriver, qtbot: QtBot
) -> None:
    events, session = growing.features.stream.events, growing.current.session
    for _ in range(4):
        grow(driver, writer, 300)
        assert len(session.events.in_memory) < KEPT + 2 * STEP
    assert session.pages is not None
    assert session.pages.history is session.past
    assert len(session.past) == len(session.events) == writer.count
    assert session.past.steps_in_memory == len(session.events.in_memory)
    assert ids(growing, qtbot) == writer.ids
    headers = [row for row in range(events.rowCount()) if events.is_header(row)]
    assert headers == list(range(0, events.rowCount(), 11))
    first = events.row_of_index(len(session.events) - len(session.events.in_memory))
    let_go = [row for row in headers if row < first - 11]
    assert {events.stream_row(row).event_kind for row in let_go[30:]} == {"finished"}, "known without reading them again"
    qtbot.waitUntil(lambda: growing.window.status.text("position") == f"{writer.count:,}/{writer.count:,}")


def test_new_events_are_frozen_for_the_garbage_collector_after_evictions(
    growing: Inspector, writer: Writer, driver: WindowDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browse, "FREEZE_EVERY", 2 * KEPT + 2 * STEP)  # more than are ever in memory
    frozen = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(writer.count))
    grow(driver, writer, 5 * KEPT + 5 * STEP)
    assert len(frozen) == 2


def test_an_evicted_event_is_shown_with_its_detail_and_state(growing: Inspector, writer: Writer, driver: WindowDriver) -> None:
    grow(driver, writer, 900)
    events, stream, old = growing.features.stream.events, growing.window.parts.stream, BEFORE + 110
    assert not growing.current.session.events.is_cached(old)
    stream.select_event(old)
    driver.run_until_idle()
    assert growing.window.parts.detail.event_id == event_data(old)["id"]
    assert driver.state.nodes()["step"][0] == f"{old - 1} → {old}"
    assert events.stream_row(events.row_of_index(old)).summary != "…"
    grow(driver, writer, 300)
    assert growing.cursor.event_index == old
    stream.select_event(writer.count - 1)
    driver.run_until_idle()
    assert driver.state.nodes()["step"][0] == f"{writer.count - 2} → {writer.count - 1}"
    assert events.stream_row(events.row_of_index(old)).summary != "…"


def test_an_evicted_event_has_its_files_and_its_conversation(growing: Inspector, writer: Writer, driver: WindowDriver) -> None:
    writer.write_file("plan.txt", 2)
    grow(driver, writer, 900)
    assert growing.current.session.pages is not None
    bench, old = growing.window.workbench, BEFORE + 111
    bench.parts.stream.select_event(old)
    driver.run_until_idle()
    model = bench.parts.detail.state.model
    lane = next(lane for lane in model.node(model.index(-1, 0)).children if lane.lane == FILES)
    assert [(node.key, node.text, node.writer[:4]) for node in lane.children] == [("plan.txt", "version 2", "#301")]
    bench.parts.detail.tabs.setCurrentIndex(2)
    driver.run_until_idle()
    told = {node.key: node for node in bench.parts.detail.request.model.node(QModelIndex()).children}
    assert len(told["conversation"].children) > old / 2
    assert growing.window.findChild(QLabel, "request_note").text().endswith(RECONSTRUCTED)


def test_the_note_states_that_a_very_old_conversation_is_not_reconstructed(
    growing: Inspector, writer: Writer, driver: WindowDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector_app.detail.request_controller.MAX_PRECEDING", 100)
    grow(driver, writer, 900)
    bench = growing.window.workbench
    bench.parts.stream.select_event(BEFORE + 111)
    bench.parts.detail.tabs.setCurrentIndex(2)
    driver.run_until_idle()
    assert [node.key for node in bench.parts.detail.request.model.node(QModelIndex()).children] == ["answer"]
    assert growing.window.findChild(QLabel, "request_note").text() == NOT_RECORDED + TOO_MANY_EVENTS


def test_the_filter_and_the_matching_call_find_evicted_events(growing: Inspector, writer: Writer, driver: WindowDriver) -> None:
    grow(driver, writer, 900)
    bench, events = growing.window.workbench, growing.features.stream.events
    bench.parts.filter_bar.set_text('"step": 412,')
    driver.run_until_idle()
    assert [events.index_at(row) for row in range(events.rowCount())] == [None, 412]
    bench.parts.filter_bar.set_text("delta.step > 390")
    driver.run_until_idle()
    assert events.shown_count == writer.count - 391
    grow(driver, writer, 300)
    assert events.shown_count == writer.count - 391, "also for events that arrive while the filter is set"
    bench.parts.filter_bar.clear()
    bench.parts.stream.select_event(403)
    driver.run_until_idle()
    for other in (404, 403):
        growing.window.commands.matching_call.trigger()
        driver.run_until_idle()
        assert growing.cursor.event_index == other


def test_events_that_are_not_stored_are_not_evicted(growing: Inspector, writer: Writer, driver: WindowDriver) -> None:
    session, address = growing.current.session, growing.cursor.session
    stored = len(session.events) - len(session.events.in_memory)
    for first in range(0, 3 * STEP, 50):
        batch = [Committed(said(f"text {number}", id=f"new-{number}"), {}) for number in range(first, first + 50)]
        growing.current.add_committed(address, batch)
        driver.run_until_idle()
    assert len(session.events) == BEFORE + 3 * STEP
    # If the session was opened whole, its stored events can be evicted.
    assert len(session.events.in_memory) >= 3 * STEP
    assert session.events[-1].id == f"new-{3 * STEP - 1}"
    assert len(session.events) - len(session.events.in_memory) in (stored, BEFORE)


def test_a_pending_item_of_an_evicted_event_stays_pending(growing: Inspector, writer: Writer, driver: WindowDriver, qtbot: QtBot) -> None:
    session, events = growing.current.session, growing.features.stream.events
    writer.write_question()
    qtbot.waitUntil(lambda: events.event_count == BEFORE + 1)
    for _ in range(14):
        writer.write(50)
        qtbot.waitUntil(lambda: events.event_count == writer.count + 1)
        driver.run_until_idle()
    assert session.index_of("question") is None
    pane = growing.window.parts.pending
    qtbot.waitUntil(lambda: [row.item.call_id for row in pane.rows if row.item.kind == "long_running"] == ["asks"], timeout=10_000)


def test_only_events_stored_in_the_same_order_are_evicted() -> None:
    since = [said("", id=str(number), invocation=f"e-{number // 3}") for number in range(9)]
    stored = [(10 * number, str(number)) for number in range(9)]
    assert _count_to_evict(stored, since) == 9
    assert _count_to_evict(stored[:8], since) == 6, "an invocation is evicted as a whole"
    assert _count_to_evict([*stored[:4], (35, "another process's"), *stored[4:]], since) == 3
    assert _count_to_evict([(35, "another process's"), *stored], since) == 0


def test_a_very_long_invocation_is_evicted_in_parts(
    inspector: Inspector,
    writer: Writer,
    tmp_path: Path,
    opened: Callable[..., None],
    driver: WindowDriver,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_event_eviction, "MAX_LIVE_EVENTS", KEPT)
    monkeypatch.setattr(live_event_eviction, "STEP", STEP)
    monkeypatch.setattr(live_event_eviction, "MAX_LIVE_OF_ONE", 500)
    monkeypatch.setattr("bench.generated.PER_INVOCATION", 1_000_000)
    opened(tmp_path / "grows.db")
    grow(driver, writer, 1_200)
    session = inspector.current.session
    assert len(session.events.in_memory) < 500 + 2 * STEP
    assert ids(inspector, qtbot) == writer.ids


def test_a_session_can_be_left_and_shown_again_during_eviction(
    growing: Inspector, writer: Writer, driver: WindowDriver, qtbot: QtBot
) -> None:
    before = growing.current.session
    grow(driver, writer, KEPT)
    writer.write(200)
    qtbot.waitUntil(lambda: growing.features.stream.events.event_count == writer.count)
    growing.cursor.select_session(None)
    driver.run_until_idle()
    assert growing.current.session is None
    growing.cursor.select_session(before.address)
    driver.run_until_idle()
    grow(driver, writer, 600)
    assert ids(growing, qtbot) == writer.ids


def test_evicted_events_of_the_windows_own_run_keep_their_temp_state(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_event_eviction, "MAX_LIVE_EVENTS", KEPT)
    monkeypatch.setattr(live_event_eviction, "STEP", STEP)

    async def fill(end: int) -> list[Committed]:
        made = []
        for number in range(len(session.events), end):
            event = changed({"step": number}, invocation=f"e-{number // 10}")
            made.append(Committed(await service.append_event(session, event), {"temp:t": number}))
        return made

    def run(work: Coroutine[Any, Any, T]) -> T:
        task = inspector.tasks.spawn(work, "Filling the session")
        driver.run_until_idle()
        return task.result()

    service = open_session_service(str(tmp_path / "ours.db"))
    session = run(service.create_session(app_name="a", user_id="u", session_id="s"))
    run(fill(10))
    opened(tmp_path / "ours.db")
    inspector.work.tail.close()  # during the window's own run, events do not come from the tail
    for end in range(100, 700, 100):
        inspector.current.add_committed(inspector.cursor.session, run(fill(end)))
        driver.run_until_idle()
    run(service.close())
    assert len(inspector.current.session.events.in_memory) < KEPT + 2 * STEP
    for index in (105, 600 - 1):
        inspector.window.parts.stream.select_event(index)
        driver.run_until_idle()
        assert driver.state.nodes()["step"] == (f"{index - 1} → {index}", f"#{index + 1} writer")
        assert driver.state.nodes()["temp:t"][0].endswith(str(index))
