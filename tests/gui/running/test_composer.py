"""The message box: what it says, and what Enter does."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from inspector_app.running.composer import Composer


class PaintCounter(QObject):
    """Counts how often a widget is drawn."""

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


def test_another_placeholder_is_drawn_at_once(composer: Composer, qtbot: QtBot) -> None:
    edit = edit_of(composer)
    edit.clearFocus()  # a blinking caret draws too
    QApplication.processEvents()
    counter = PaintCounter()
    edit.viewport().installEventFilter(counter)
    composer.set_blocked(None, "story")
    qtbot.waitUntil(lambda: counter.count > 0)
    assert edit.placeholderText().startswith("Message story")


def test_enter_on_a_text_that_cannot_be_sent_says_why_and_keeps_it(composer: Composer, qtbot: QtBot) -> None:
    composer.set_blocked("A run is going on.", "story")
    composer.set_text("hello")
    with qtbot.waitSignal(composer.refused) as refused, qtbot.assertNotEmitted(composer.sent):
        qtbot.keyClick(edit_of(composer), Qt.Key.Key_Return)
    assert refused.args == ["A run is going on."]
    assert composer.text == "hello"


def test_a_text_that_is_put_in_is_gone_on_writing_at_its_end(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text("one")
    qtbot.keyClicks(edit_of(composer), " two")
    assert composer.text == "one two"
