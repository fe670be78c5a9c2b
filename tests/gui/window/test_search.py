"""The search in all sessions of a database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from bench.generated import write_many_sessions
from inspector_app.app import Inspector
from inspector_app.sessions.search_dialog import COLUMNS, SearchDialog
from runtime.storage.reading.search_index import SearchIndex

ONE = "1 event. Click one to go to it, or press Down and Enter."


def cell_text(dialog: SearchDialog, row: int, column: str) -> str:
    return dialog.table.item(row, COLUMNS.index(column)).text()


@pytest.fixture
def dialog(inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot) -> SearchDialog:
    file = tmp_path / "many.db"
    write_many_sessions(file, 30, 10, 200)
    opened(file)
    inspector.features.sessions.search.folder = tmp_path / "cache"
    inspector.window.commands.search_all.trigger()
    found = inspector.window.findChild(SearchDialog)
    assert found is not None
    qtbot.waitUntil(lambda: found.said == "Type words, then press Enter.")
    return found


def look_for(dialog: SearchDialog, words: str, inspector: Inspector, qtbot: QtBot) -> None:
    dialog.words.setText(words)
    qtbot.keyClick(dialog.words, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not inspector.tasks.running)


def test_a_click_on_a_result_goes_to_its_event(dialog: SearchDialog, inspector: Inspector, qtbot: QtBot) -> None:
    look_for(dialog, "order 123", inspector, qtbot)
    assert dialog.said == ONE
    assert [dialog.table.item(0, column).text() for column in range(1, 3)] == ["user12", "order_desk"]
    assert dialog.table.item(0, 0).text().startswith("order_desk, 2"), "a session without a message is called by its app and time"
    assert cell_text(dialog, 0, "text").startswith("order 123 ") and cell_text(dialog, 0, "time").startswith("20")
    cell = dialog.table.visualItemRect(dialog.table.item(0, 4)).center()
    qtbot.mouseClick(dialog.table.viewport(), Qt.MouseButton.LeftButton, pos=cell)
    qtbot.waitUntil(lambda: not inspector.tasks.running and inspector.cursor.event_index == 3)
    assert inspector.cursor.session.key.session_id == "s-0000012"
    assert not inspector.window.parts.stream.following, "new events do not move the selection"
    look_for(dialog, "zebra", inspector, qtbot)
    assert dialog.said == "No event contains all of these words."
    dialog.close()


def test_a_result_is_chosen_by_keyboard(dialog: SearchDialog, inspector: Inspector, qtbot: QtBot) -> None:
    look_for(dialog, "order", inspector, qtbot)
    assert dialog.table.rowCount() > 3 and dialog.table.currentRow() == -1
    for _ in range(2):
        qtbot.keyClick(dialog.words, Qt.Key.Key_Down)
    assert dialog.table.currentRow() == 1
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.keyClick(dialog.words, Qt.Key.Key_Return)
    assert chosen.args == [1]
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    look_for(dialog, "order 123", inspector, qtbot)
    assert dialog.said == ONE, "other words start a new search"
    dialog.close()


def test_a_cancelled_indexing_is_completed_by_the_next_search(
    dialog: SearchDialog, inspector: Inspector, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog.close()
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    inspector.features.sessions.search.folder = tmp_path / "new cache"
    update, begun, cancelled = SearchIndex.update, threading.Event(), threading.Event()

    def update_when_cancelled(index: SearchIndex, progress: Callable[[int, int], bool]) -> None:
        begun.set()
        assert cancelled.wait(10)
        update(index, progress)

    monkeypatch.setattr(SearchIndex, "update", update_when_cancelled)
    inspector.window.commands.search_all.trigger()
    again = next(found for found in inspector.window.findChildren(SearchDialog) if found is not dialog)
    qtbot.waitUntil(begun.is_set)
    again.cancel.click()
    cancelled.set()
    qtbot.waitUntil(lambda: "Only part" in again.said)
    look_for(again, "order 123", inspector, qtbot)
    assert again.said == ONE
    again.close()


def test_closing_a_database_ends_its_search(dialog: SearchDialog, inspector: Inspector, qtbot: QtBot) -> None:
    with qtbot.waitSignal(dialog.ended):
        inspector.window.commands.close_database.trigger()
