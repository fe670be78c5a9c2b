"""What the window shows of a long session while its past is still being read."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from bench.generated import write_database
from inspector_app.app import Inspector
from inspector_app.documents.long_session import LongSession
from inspector_app.documents.session_document import Committed
from tests.gui.events import said
from tests.gui.window.driver import WindowDriver

COUNT = 3_000


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Iterator[asyncio.Event]:
    """Yield an event; the past is not read before it is set."""
    go = asyncio.Event()
    read = LongSession.read_history

    async def wait_and_read(self: LongSession, progress: Callable[[int, int], None]) -> None:
        progress(300, COUNT)
        await go.wait()
        await read(self, progress)

    monkeypatch.setattr(LongSession, "read_history", wait_and_read)
    yield go
    go.set()


@pytest.fixture
def shown(inspector: Inspector, driver: WindowDriver, reading: asyncio.Event, tmp_path: Path) -> Inspector:
    """Return the window with a long session whose past is being read."""
    write_database(tmp_path / "long.db", COUNT)
    with closing(sqlite3.connect(tmp_path / "long.db")) as connection, connection:
        written = "json_set(event_data, '$.actions.state_delta.early', 'written once')"
        connection.execute(f"UPDATE events SET event_data = {written} WHERE rowid = 500")
        connection.execute("UPDATE sessions SET state = json_set(state, '$.early', 'written once', '$.\"never written\"', 1)")
    inspector.tasks.spawn(inspector.open([str(tmp_path / "long.db")]), "Opening")
    driver.run_until(lambda: inspector.cursor.event_index == COUNT - 1 and inspector.current.session.pages.present is not None)
    return inspector


def delta(driver: WindowDriver) -> list[list[str]]:
    model = driver.bench.parts.detail.delta.model
    return [[model.index(row, column).data() for column in range(3)] for row in range(model.rowCount())]


def texts(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def test_the_newest_state_is_shown_at_once(shown: Inspector, driver: WindowDriver) -> None:
    assert delta(driver)[0][2] == "2999"
    assert driver.state.values()["total"].endswith(str((COUNT - 1) * 4.2))


def test_the_earlier_values_of_a_delta_are_read_first(shown: Inspector, driver: WindowDriver, reading: asyncio.Event) -> None:
    driver.run_until(lambda: delta(driver)[0] == ["step", "2998", "2999"])
    assert driver.state.values()["step"] == "2998 → 2999"
    assert shown.current.session.pages.history is None
    reading.set()
    driver.run_until_idle()
    assert delta(driver)[0] == ["step", "2998", "2999"]
    assert driver.state.values()["step"] == "2998 → 2999"


def test_a_screenshot_does_not_wait_until_the_past_is_read(
    shown: Inspector, driver: WindowDriver, reading: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector_app.app.BACKGROUND_SECONDS", 0.0)
    waiting = asyncio.ensure_future(shown.wait_until_shown())
    driver.run_until(waiting.done)
    assert any(task.get_name().startswith("Reading the past") for task in shown.tasks.running)


def test_the_state_at_an_older_event_is_what_was_written_before_it(shown: Inspector, driver: WindowDriver, reading: asyncio.Event) -> None:
    detail = driver.bench.parts.detail
    driver.stream.select(1_000)
    driver.run_until(lambda: detail.event_id is not None and delta(driver)[:1] == [["step", "999", "1000"]])
    assert driver.state.values()["step"] == "999 → 1000"
    assert driver.state.values()["never written"] == "reading…"
    assert "No state to show" not in texts(detail) and "changed no key" not in texts(detail)
    reading.set()
    driver.run_until_idle()
    assert delta(driver)[0] == ["step", "999", "1000"]
    assert driver.state.values()["never written"] == "1"


def test_keys_written_long_ago_follow(
    shown: Inspector, driver: WindowDriver, reading: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector_app.documents.long_session.RECENT", 10)
    read: list[list[str]] = []
    shown.current.state_computed.connect(lambda at: read.append(sorted(at.past.state.session) if at.past and at.past.state else []))
    driver.stream.select(1_000)
    driver.run_until(lambda: ["cart", "early", "step", "total"] in read)
    assert ["cart", "step", "total"] in read
    driver.run_until(lambda: driver.state.values()["early"] == '"written once"')


def test_states_that_cannot_be_compared_yet_are_not_called_equal(shown: Inspector, driver: WindowDriver, reading: asyncio.Event) -> None:
    shown.cursor.compare_with(COUNT - 5)
    assert "Reading the past" in texts(driver.bench.parts.detail.delta) and delta(driver) == []
    reading.set()
    driver.run_until_idle()
    assert ["step", str(COUNT - 5), str(COUNT - 1)] in delta(driver)


def test_an_event_committed_meanwhile_has_its_state(shown: Inspector, driver: WindowDriver, reading: asyncio.Event, qtbot: QtBot) -> None:
    new = said("just now", invocation="e-new")
    new.actions.state_delta["step"] = "new"
    shown.current.add_committed(shown.cursor.session, [Committed(new, {})])
    driver.run_until(lambda: shown.cursor.event_index == COUNT)
    assert delta(driver) == [["step", "reading…", '"new"']]
    assert driver.state.values()["step"] == '"new"'
    assert driver.state.values()["total"] == str((COUNT - 1) * 4.2)


def test_an_event_of_a_long_session_is_reported_once_with_its_state(
    shown: Inspector, driver: WindowDriver, reading: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector_app.workspace.current_session.TOGETHER_MS", 60_000)
    reading.set()
    driver.run_until_idle()
    told: list[tuple[int, bool]] = []
    shown.current.state_computed.connect(lambda at: told.append((at.index, at.past is not None)))
    for index in (1_000, 1_001, 300):  # its page is read; it is in memory; another page
        driver.stream.select(index)
        driver.run_until(lambda index=index: told[-1:] == [(index, True)])  # type: ignore[misc]
        assert delta(driver)[0] == ["step", str(index - 1), str(index)]
    assert told == [(1_000, True), (1_001, True), (300, True)]


def test_an_event_whose_state_takes_long_is_shown_before(
    shown: Inspector, driver: WindowDriver, reading: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading.set()
    driver.run_until_idle()
    go, compute = asyncio.Event(), LongSession.past_at

    async def wait_and_compute(self: LongSession, *arguments: Any) -> object:
        await go.wait()
        return await compute(self, *arguments)

    monkeypatch.setattr(LongSession, "past_at", wait_and_compute)
    driver.stream.select(1_000)
    driver.run_until(lambda: driver.bench.parts.detail.shown_event is not None and "event 1,001" in texts(driver.bench.parts.detail))
    go.set()
    driver.run_until(lambda: delta(driver)[:1] == [["step", "999", "1000"]])
