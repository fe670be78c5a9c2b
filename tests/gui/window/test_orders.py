"""A conversation from the composer: an in-memory session, tools, and a long-running call that needs an answer."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.documents.session_address import SessionAddress
from inspector_app.sessions.session_tree import NODE_ROLE


def write(inspector: Inspector, text: str, qtbot: QtBot) -> None:
    edit = inspector.window.findChild(QPlainTextEdit, "composer_edit")
    qtbot.keyClicks(edit, text)
    qtbot.keyClick(edit, Qt.Key.Key_Return)


def test_a_long_running_call_is_pending_and_continues_after_its_answer(orders: Inspector, qtbot: QtBot) -> None:
    window = orders.window
    assert window.page is window.workbench
    assert not window.commands.run.isEnabled() and "Write a message" in window.commands.run.toolTip()
    with qtbot.waitSignal(orders.run.run_ended, timeout=30_000):
        write(orders, "40 boxes of A4 paper", qtbot)
    assert orders.cursor.session is not None and orders.cursor.session.database == orders.databases.unsaved[0].target
    assert window.parts.composer.text == ""
    assert orders.features.stream.events.committed(0).author == "user"
    pending = window.parts.pending
    assert [row.item.kind for row in pending.rows] == ["long_running"]
    assert (window.run_bar.state_text, window.run_bar.detail_text) == ("waiting", "for an answer to ask_for_approval")
    assert "answer" in window.commands.resume.toolTip()
    hint = window.findChild(QPlainTextEdit, "composer_edit")
    assert hint.placeholderText() == "Message orders: begins another invocation"

    answer = pending.findChild(QPlainTextEdit, "pending_answer")
    respond = pending.findChild(QPushButton, "pending_respond")
    assert not respond.isEnabled()
    qtbot.keyClicks(answer, '{"status": ')
    assert not respond.isEnabled()
    assert "a JSON value is expected here" in pending.findChild(QLabel, "pending_hint").text()
    qtbot.keyClicks(answer, '"approved"}')
    with qtbot.waitSignal(orders.run.run_ended, timeout=30_000) as ended:
        qtbot.mouseClick(respond, Qt.MouseButton.LeftButton)
    assert ended.args[0].error is None
    assert orders.current.session is not None
    assert orders.current.session.invocations[-1].status == "finished"
    assert pending.rows == []
    assert window.parts.stream.table.hasFocus()
    assert hint.placeholderText() == "Message orders"


def test_shift_enter_starts_a_new_line(orders: Inspector, qtbot: QtBot) -> None:
    edit = orders.window.findChild(QPlainTextEdit, "composer_edit")
    qtbot.keyClicks(edit, "one")
    qtbot.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(edit, "two")
    assert orders.window.parts.composer.text == "one\ntwo"
    assert orders.run.phase == "idle"
    orders.window.parts.composer.clear()


def test_step_with_a_message_holds_at_the_first_event(orders: Inspector, qtbot: QtBot) -> None:
    orders.window.parts.composer.set_text("a desk lamp")
    orders.window.commands.step.trigger()
    qtbot.waitUntil(lambda: orders.run.phase == "paused", timeout=10_000)
    assert orders.features.stream.events.committed(0).author == "user"
    assert orders.features.stream.events.event_count == 2
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def test_step_into_with_a_message_holds_before_the_first_call(orders: Inspector, qtbot: QtBot) -> None:
    into = orders.window.commands.step_into
    assert not into.isEnabled()
    orders.window.parts.composer.set_text("a desk lamp")
    assert into.isEnabled()
    into.trigger()
    qtbot.waitUntil(lambda: orders.run.phase == "paused", timeout=10_000)
    assert orders.run.hold is not None and orders.run.hold.place == "before model"
    session = orders.current.session
    assert session is not None and [event.author for event in session.events] == ["user"]
    qtbot.waitUntil(lambda: [*session.statuses.values()] == ["held"])
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def test_a_new_session_is_created_in_the_selected_sessions_database(orders: Inspector, story_db: Path, qtbot: QtBot) -> None:
    with qtbot.waitSignal(orders.run.run_ended, timeout=30_000):
        write(orders, "a desk lamp", qtbot)
    first = orders.cursor.session
    orders.window.commands.new_session.trigger()
    qtbot.waitUntil(lambda: orders.cursor.session != first and orders.current.session is not None)
    assert orders.features.stream.events.event_count == 0
    second = orders.cursor.session
    assert first is not None and second is not None and second.database == first.database
    assert marks(orders) == {first: "finished", second: ""}
    orders.run.send("a desk lamp", paused=True)
    qtbot.waitUntil(lambda: orders.run.phase == "paused", timeout=10_000)
    assert marks(orders) == {first: "finished", second: "held: it continues when you say so"}
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()
    orders.cursor.select_session(first)
    qtbot.waitUntil(lambda: orders.features.stream.events.event_count > 0)


def marks(inspector: Inspector) -> dict[SessionAddress | None, str]:
    """Return the meanings of the marks in the session list."""
    found: dict[SessionAddress | None, str] = {}

    def walk(parent: QModelIndex) -> None:
        for row in range(inspector.features.sessions.model.rowCount(parent)):
            index = inspector.features.sessions.model.index(row, 0, parent)
            node = index.data(NODE_ROLE)
            if node.session is not None:
                found[SessionAddress(node.database, node.session)] = node.meaning
            walk(index)

    walk(QModelIndex())
    return found
