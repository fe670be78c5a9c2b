"""Messages reach the message bar and the log from any thread, including uncaught exceptions."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.demo import STORY
from inspector_app.documents.session_address import SessionAddress
from inspector_app.shell import message_bar
from inspector_app.shell.message_bar import MAX_SHOWN
from inspector_app.shell.message_row import MessageRow
from inspector_app.workspace.messages import MessageBus
from runtime.errors import StaleSessionError, StorageError


def test_a_failure_shows_its_traceback_and_copies_it(inspector: Inspector, qtbot: QtBot) -> None:
    try:
        raise RuntimeError("<b>odd</b>")
    except RuntimeError as error:
        inspector.messages.error("Mending", error)
    bar = inspector.window.message_bar
    assert [message.text for message in bar.messages] == ["Mending failed: RuntimeError: <b>odd</b>"]
    traceback = bar.findChild(QPlainTextEdit, "message_traceback")
    assert not traceback.isVisible()
    qtbot.mouseClick(bar.findChild(QToolButton, "message_details"), Qt.MouseButton.LeftButton)
    assert traceback.isVisible() and "RuntimeError: <b>odd</b>" in traceback.toPlainText()
    assert traceback.textCursor().atEnd(), "the end of the traceback is visible"
    qtbot.mouseClick(bar.findChild(QToolButton, "message_copy"), Qt.MouseButton.LeftButton)
    assert "Traceback" in QGuiApplication.clipboard().text()
    qtbot.mouseClick(bar.findChild(QToolButton, "message_dismiss"), Qt.MouseButton.LeftButton)
    assert not bar.isVisible()
    assert inspector.window.parts.log.count == 1


def test_a_long_message_is_cut_and_complete_in_its_details(inspector: Inspector, qtbot: QtBot) -> None:
    inspector.messages.warning("much " * 1000)
    bar = inspector.window.message_bar
    assert bar.findChild(QLabel, "message_text").text().endswith("…") and bar.height() < 220
    inspector.window.commands.read_messages.trigger()
    details = bar.findChild(QToolButton, "message_details")
    assert details.hasFocus()
    qtbot.keyClick(details, Qt.Key.Key_Space)
    assert bar.findChild(QPlainTextEdit, "message_traceback").toPlainText().count("much") == 1000
    qtbot.keyClick(details, Qt.Key.Key_Escape)
    assert not bar.isVisible()


def test_messages_move_nothing_and_disappear(story: Inspector, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_bar, "PASSING_MS", 0)
    window, bar = story.window, story.window.message_bar
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    bench = window.workbench
    parts = (
        window.run_bar,
        bench.parts.sessions,
        bench.parts.filter_bar,
        bench.parts.stream,
        bench.parts.composer,
        bench.parts.detail,
        bench.parts.pending,
        window.status,
    )
    places = {part: _place_of(part) for part in parts}
    story.messages.info("The first thing was done.")
    story.messages.info("And another one, " * 20)
    assert [message.text[:3] for message in bar.messages] == ["The", "And"]
    assert [part for part, place in places.items() if _place_of(part) != place] == [], "the page stays as it was"
    assert _place_of(window.centralWidget()).contains(_place_of(bar))
    had_it = QApplication.focusWidget()
    window.commands.read_messages.trigger()
    qtbot.waitUntil(lambda: len(bar.messages) == 1)  # the focused message stays
    assert bar.messages[0].text.startswith("And") and bar.isAncestorOf(QApplication.focusWidget())
    assert all(row.height() >= row.heightForWidth(row.width()) for row in bar.findChildren(MessageRow) if row.isVisible())
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert not bar.messages and not bar.isVisible()
    assert QApplication.focusWidget() is had_it


def test_clicks_pass_through_a_message_that_has_just_appeared(inspector: Inspector, qtbot: QtBot) -> None:
    bar = inspector.window.message_bar
    inspector.messages.warning("The disk is nearly full.")
    middle = bar.mapTo(inspector.window, bar.rect().center())
    below = inspector.window.childAt(middle)
    assert below is not None and below is not bar and not bar.isAncestorOf(below)
    qtbot.waitUntil(lambda: bar.isAncestorOf(inspector.window.childAt(middle)) or inspector.window.childAt(middle) is bar)


def test_a_new_message_does_not_move_an_older_one(inspector: Inspector) -> None:
    bar = inspector.window.message_bar
    inspector.messages.warning("The disk is nearly full.")
    first = bar.findChild(QToolButton, "message_dismiss")
    QApplication.processEvents()
    before = _place_of(first)
    inspector.messages.warning("The disk is full. " * 10)
    QApplication.processEvents()
    assert _place_of(first) == before


def _place_of(part: QWidget) -> QRect:
    return QRect(part.mapTo(part.window(), QPoint()), part.size())


def test_informational_messages_do_not_displace_warnings(inspector: Inspector) -> None:
    inspector.messages.warning("The disk is nearly full.")
    for number in range(MAX_SHOWN + 2):
        inspector.messages.info(f"done {number}")
    assert [message.text for message in inspector.window.message_bar.messages] == ["The disk is nearly full.", "done 2", "done 3", "done 4"]


def test_a_stale_session_error_offers_to_reload(story: Inspector, qtbot: QtBot) -> None:
    story.messages.error("Editing", StaleSessionError("Another process wrote to it at 12:03:04. Reload it."))
    bar = story.window.message_bar
    with qtbot.waitSignal(story.window.commands.reload.triggered):
        qtbot.mouseClick(bar.findChild(QToolButton, "message_reload"), Qt.MouseButton.LeftButton)
    assert not bar.isVisible()
    qtbot.waitUntil(lambda: not story.tasks.running)
    assert story.features.stream.events.event_count == 10


def test_expected_errors_are_shown_once_without_a_traceback(inspector: Inspector) -> None:
    for _ in range(2):
        inspector.messages.error("Opening", StorageError("orders.db is locked: close the other program."))
    assert [message.text for message in inspector.window.message_bar.messages] == ["orders.db is locked: close the other program."]
    assert inspector.window.message_bar.messages[0].details is None
    for number in range(MAX_SHOWN + 2):
        inspector.messages.warning(f"warning {number}")
    assert len(inspector.window.message_bar.messages) == MAX_SHOWN


@pytest.mark.logs("from a thread")
def test_messages_of_other_threads_arrive_on_the_gui_thread(inspector: Inspector, qtbot: QtBot) -> None:
    thread = threading.Thread(target=logging.getLogger("runtime.test").error, args=("from a thread",))
    thread.start()
    qtbot.waitUntil(lambda: any("from a thread" in message.text for message in inspector.window.message_bar.messages))
    thread.join()


def test_a_task_that_fails_is_reported(inspector: Inspector, qtbot: QtBot) -> None:
    async def fail() -> None:
        raise KeyError("city")

    inspector.tasks.spawn(fail(), "Looking")
    qtbot.waitUntil(lambda: bool(inspector.window.message_bar.messages))
    assert inspector.window.message_bar.messages[0].text == "Looking failed: KeyError: 'city'"


def test_an_exception_in_an_agent_ends_the_run_and_is_reported(inspector: Inspector, opened: Callable[..., None], qtbot: QtBot) -> None:
    opened(STORY.parent / "orders")
    loaded = inspector.agents.loaded
    assert loaded is not None

    def explode(callback_context: object) -> None:
        raise RuntimeError("callback broke")

    loaded.app.root_agent.before_agent_callback = explode  # type: ignore[assignment]
    with qtbot.waitSignal(inspector.run.run_ended, timeout=10_000) as ended:
        inspector.run.send("hello")
    assert isinstance(ended.args[0].error, RuntimeError)
    message = inspector.window.message_bar.messages[-1]
    assert message.text == "Running orders failed: RuntimeError: callback broke"
    assert message.details is not None and "explode" in message.details
    assert inspector.run.phase == "idle"
    assert inspector.features.stream.events.event_count == 1, "the user's message is kept"


def test_a_message_that_was_not_stored_returns_to_the_composer(story: Inspector, story_db: Path, qtbot: QtBot) -> None:
    composer = story.window.parts.composer
    composer.set_text("another one, please")
    with closing(sqlite3.connect(story_db)) as connection, connection:  # another process deletes the session now
        connection.execute("DELETE FROM events")
        connection.execute("DELETE FROM sessions")
    connection.close()
    with qtbot.waitSignal(story.run.run_ended, timeout=20_000) as ended:
        story.window.commands.run.trigger()
    assert ended.args is not None
    assert not ended.args[0].committed
    assert composer.text == "another one, please"


def test_stopping_after_the_end_of_a_run_still_reports_its_end(story: Inspector, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    refresh = story.current.refresh_session

    async def stopped_meanwhile(address: SessionAddress) -> None:
        story.window.commands.stop.trigger()
        story.run.stop()
        await refresh(address)

    monkeypatch.setattr(story.current, "refresh_session", stopped_meanwhile)
    with qtbot.waitSignal(story.run.run_ended, timeout=20_000):
        story.run.resume()
    assert story.run.phase == "idle"


def test_a_message_bus_works_without_a_window() -> None:
    bus, heard = MessageBus(), []
    bus.posted.connect(heard.append)
    bus.info("hello", quiet=True)
    assert heard[0].quiet and heard[0].severity == "info"
