"""The message box: its placeholder, and the effect of Enter."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from inspector_app.running.composer import Composer


class PaintCounter(QObject):
    """Counts the paint events of a widget."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    composer = Composer()
    qtbot.addWidget(composer)
    composer.show()
    qtbot.waitExposed(composer)
    return composer


def edit_of(composer: Composer) -> QPlainTextEdit:
    return composer.findChild(QPlainTextEdit, "composer_edit")


def test_a_new_placeholder_is_painted_at_once(composer: Composer, qtbot: QtBot) -> None:
    edit = edit_of(composer)
    edit.clearFocus()  # a blinking cursor paints too
    QApplication.processEvents()
    counter = PaintCounter()
    edit.viewport().installEventFilter(counter)
    composer.set_blocked(None, "story")
    qtbot.waitUntil(lambda: counter.count > 0)
    assert edit.placeholderText().startswith("Message story")


def test_enter_while_blocked_reports_why_and_keeps_the_text(composer: Composer, qtbot: QtBot) -> None:
    composer.set_blocked("A run is active.", "story")
    composer.set_text("hello")
    with qtbot.waitSignal(composer.refused) as refused, qtbot.assertNotEmitted(composer.sent):
        qtbot.keyClick(edit_of(composer), Qt.Key.Key_Return)
    assert refused.args == ["A run is active."]
    assert composer.text == "hello"


def test_typing_continues_at_the_end_of_a_set_text(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text("one")
    qtbot.keyClicks(edit_of(composer), " two")
    assert composer.text == "one two"
