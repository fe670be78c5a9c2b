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
from PySide6.QtWidgets import QApplication, QListWidget, QPlainTextEdit, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.demo import STORY
from inspector_app.documents.session_address import SessionAddress
from inspector_app.engines.child_calls import error_from_child
from inspector_app.shell import message_bar
from inspector_app.shell.message_bar import MAX_LINES
from inspector_app.shell.settings_dialog import SettingsDialog
from inspector_app.widgets.lines_label import LinesLabel
from inspector_app.workspace.messages import MessageBus
from runtime.errors import StaleSessionError, StorageError
from runtime.errors.llm_error import LlmError


def test_a_failure_is_in_the_log_with_its_traceback_and_is_copied_with_it(inspector: Inspector, qtbot: QtBot) -> None:
    try:
        raise RuntimeError("<b>odd</b>")
    except RuntimeError as error:
        inspector.messages.error("Mending", error)
    inspector.messages.info("Something else.")
    bar, log = inspector.window.message_bar, inspector.window.parts.log
    assert [message.text for message in bar.messages] == ["Mending failed: RuntimeError: <b>odd</b>", "Something else."]
    qtbot.mouseClick(bar.findChild(QToolButton, "message_copy"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not bar.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents))
    failed = next(row for row in bar.rows if row.message.severity == "error")
    qtbot.mouseClick(failed.findChild(QToolButton, "message_log"), Qt.MouseButton.LeftButton)
    details = log.findChild(QPlainTextEdit, "log_details")
    qtbot.waitUntil(details.isVisible)
    assert "RuntimeError: <b>odd</b>" in details.toPlainText()
    qtbot.mouseClick(failed.findChild(QToolButton, "message_copy"), Qt.MouseButton.LeftButton)
    assert "Traceback" in QGuiApplication.clipboard().text()
    inspector.messages.withdraw("Something else.")
    qtbot.mouseClick(failed.findChild(QToolButton, "message_dismiss"), Qt.MouseButton.LeftButton)
    assert not bar.isVisible()
    assert log.count == 2


def test_a_long_message_has_two_lines_and_all_of_it_is_in_the_log(inspector: Inspector, qtbot: QtBot) -> None:
    inspector.messages.warning("much " * 1000)
    window, bar = inspector.window, inspector.window.message_bar
    text = bar.findChild(LinesLabel)
    QApplication.processEvents()
    assert text.height() == 2 * text.fontMetrics().lineSpacing() + 2 and text._lines()[-1].endswith("…")
    window.commands.read_messages.trigger()
    to_log = bar.findChild(QToolButton, "message_log")
    assert to_log.hasFocus()
    qtbot.keyClick(to_log, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert window.parts.log.findChild(QListWidget).item(0).text().count("much") == 1000


def test_the_strip_covers_nothing_and_nothing_above_it_moves(story: Inspector, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    window, bar = story.window, story.window.message_bar
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    bench = window.workbench
    qtbot.waitUntil(lambda: bench.parts.pending.isVisible())
    parts = (window.run_bar, bench.parts.sessions, bench.parts.filter_bar, bench.parts.stream, bench.parts.composer, bench.parts.detail)
    places = {part: _place_of(part) for part in (*parts, window.status)}
    pending = _place_of(bench.parts.pending)

    def check(shown: int) -> None:
        for _ in range(3):
            QApplication.processEvents()
        assert len(bar.rows) == shown
        assert [part for part, place in places.items() if _place_of(part) != place] == [], "the page stays as it was"
        assert _place_of(bench.parts.pending).topLeft() == pending.topLeft()
        if shown:
            place = _place_of(bar)
            assert place.top() > _place_of(bench.parts.pending).bottom() and place.bottom() < _place_of(window.status).top()
            assert place.height() <= 2 * bar.rows[0].height() + 12

    story.messages.warning("The first thing was not done.")
    check(1)
    story.messages.info("Another one was, " * 40)
    check(2)
    story.messages.error("Trying", StorageError("The disk is full."))
    check(2)
    assert [row.message.severity for row in bar.rows] == ["error", "warning"]
    more = bar.findChild(QToolButton, "message_more")
    assert more.isVisible() and more.text() == "1 more in Log"
    story.messages.withdraw("The disk is full.")
    check(2)
    assert not more.isVisible()
    had_it = QApplication.focusWidget()
    window.commands.read_messages.trigger()
    assert bar.isAncestorOf(QApplication.focusWidget())
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    qtbot.keyClick(window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    check(0)
    assert not bar.isVisible() and QApplication.focusWidget() is had_it
    assert _place_of(bench.parts.pending) == pending, "the panes have their heights back"


def test_information_disappears_and_problems_stay(story: Inspector, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_bar, "PASSING_MS", 0)
    bar = story.window.message_bar
    story.messages.warning("The disk is nearly full.")
    story.messages.info("Saved.")
    qtbot.waitUntil(lambda: [message.text for message in bar.messages] == ["The disk is nearly full."])


def test_clicks_pass_through_a_message_that_has_just_appeared(inspector: Inspector, qtbot: QtBot) -> None:
    bar = inspector.window.message_bar
    inspector.messages.warning("The disk is nearly full.")
    QApplication.processEvents()
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


@pytest.mark.parametrize(
    ("error", "offered"),
    [
        (LlmError("The key is missing.", error_code="NO_CREDENTIALS"), True),
        (LlmError("Gemini answered 401.", status_code=401), True),
        (LlmError("Gemini answered 500.", status_code=500), False),
        (error_from_child({"type": "ValueError", "message": "No API key was provided. Please pass a valid API key."}), True),
        (error_from_child({"type": "ValueError", "message": "no such city"}), False),
    ],
)
def test_a_missing_key_can_be_set_from_its_message(inspector: Inspector, qtbot: QtBot, error: Exception, offered: bool) -> None:
    inspector.messages.error("Running travel", error)
    button = inspector.window.message_bar.findChild(QToolButton, "message_remedy")
    assert (button is not None) == offered
    if button is None:
        return
    assert button.text() == "Set the key…"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    dialog = inspector.window.findChild(SettingsDialog)
    assert dialog.pages.currentWidget() is dialog.keys
    dialog.reject()
    qtbot.waitUntil(lambda: not inspector.tasks.running)


def _place_of(part: QWidget) -> QRect:
    return QRect(part.mapTo(part.window(), QPoint()), part.size())


def test_information_does_not_displace_problems(inspector: Inspector) -> None:
    for number in range(2):
        inspector.messages.warning(f"problem {number}")
        inspector.messages.info(f"done {number}")
    assert [row.message.text for row in inspector.window.message_bar.rows] == ["problem 1", "problem 0"]


def test_a_stale_session_error_offers_to_reload(story: Inspector, qtbot: QtBot) -> None:
    story.messages.error("Editing", StaleSessionError("Another process wrote to it at 12:03:04. Reload it."))
    bar = story.window.message_bar
    with qtbot.waitSignal(story.window.commands.reload.triggered):
        qtbot.mouseClick(bar.findChild(QToolButton, "message_remedy"), Qt.MouseButton.LeftButton)
    assert not bar.isVisible()
    qtbot.waitUntil(lambda: not story.tasks.running)
    assert story.features.stream.events.event_count == 10


def test_expected_errors_are_shown_once_without_a_traceback(inspector: Inspector) -> None:
    for _ in range(2):
        inspector.messages.error("Opening", StorageError("orders.db is locked: close the other program."))
    assert [message.text for message in inspector.window.message_bar.messages] == ["orders.db is locked: close the other program."]
    assert inspector.window.message_bar.messages[0].details is None
    for number in range(MAX_LINES + 2):
        inspector.messages.warning(f"warning {number}")
    assert len(inspector.window.message_bar.rows) == MAX_LINES


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
