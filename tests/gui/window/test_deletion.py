"""Deleting sessions asks first, names them, and can be undone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.sessions.deletion_dialog import DeletionDialog
from inspector_app.sessions.session_node import TreeNode
from inspector_app.widgets.empty_state import EmptyState
from runtime.errors import StorageError
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing import deletion
from tests.fixture_paths import copy_of
from tests.gui.window.driver import WindowDriver


def node(driver: WindowDriver, kind: str) -> TreeNode:
    return driver.inspector.features.sessions.model.node(driver.sessions.indexes(kind)[0])


def choose(driver: WindowDriver, kind: str) -> None:
    menu = driver.bench.parts.sessions.context_menu(driver.sessions.indexes(kind)[0])
    assert menu is not None
    next(action for action in menu.actions() if action.text().startswith("Delete")).trigger()
    driver.run_until_idle()


def dialog(inspector: Inspector) -> DeletionDialog:
    found = inspector.window.findChild(DeletionDialog)
    assert found is not None
    return found


def shown_buttons(asked: DeletionDialog) -> list[str]:
    return [button.text() for button in asked.findChildren(QPushButton) if button.isVisible()]


def keys(file: Path) -> set[object]:
    with StoredDatabase.open(str(file)) as database:
        return {summary.key for summary in database.sessions()}


@pytest.fixture
def story_open(inspector: Inspector, story_db: Path, opened: Callable[..., None]) -> Inspector:
    opened(story_db)
    return inspector


def test_a_session_is_deleted_after_confirmation_and_restored_by_undo(
    story_open: Inspector, story_db: Path, driver: WindowDriver, qtbot: QtBot
) -> None:
    before, session = keys(story_db), node(driver, "session").session
    choose(driver, "session")
    asked = dialog(story_open)
    assert asked.question.startswith("Delete 1 session with ")
    shown = asked.findChild(QPlainTextEdit)
    assert shown is not None and session is not None and session.session_id in shown.toPlainText()
    assert " events, last changed " in shown.toPlainText()
    assert shown_buttons(asked) == ["Keep it", "Delete 1 session"]
    qtbot.mouseClick(asked.delete_button, Qt.MouseButton.LeftButton)
    hint = story_open.window.parts.deletion_hint
    qtbot.waitUntil(lambda: hint.button.text() == "Undo")
    assert keys(story_db) == before - {session}
    assert story_open.cursor.session is None
    qtbot.mouseClick(hint.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not story_open.tasks.running)
    assert keys(story_db) == before
    assert hint.text == ""


def test_a_deletion_that_fails_half_way_reports_the_count_and_can_be_undone(
    story_open: Inspector, story_db: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = story_open.databases.sources[0]
    (summary,) = keys(story_db)

    async def deletes_once(service: Any, chosen: Any, progress: Any) -> int:
        await deletion.delete_sessions(service, chosen[:1], progress)
        raise StorageError("The disk is full.")

    monkeypatch.setattr("inspector_app.sessions.deletion_controller.delete_sessions", deletes_once)
    other = story_open.tasks.spawn(_create(source, summary), "Creating")
    qtbot.waitUntil(other.done)
    before = keys(story_db)
    hint = story_open.window.parts.deletion_hint
    story_open.window.parts.sessions.delete_requested.emit(source.target, sorted(before))
    qtbot.waitUntil(lambda: not story_open.tasks.running)
    qtbot.mouseClick(dialog(story_open).delete_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: hint.button.text() == "Undo")
    assert hint.text.startswith("1 of 2 sessions were deleted from story.db.")
    assert len(keys(story_db)) == 1
    qtbot.mouseClick(hint.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not story_open.tasks.running)
    assert keys(story_db) == before


async def _create(source: Any, like: Any) -> None:
    await (await source.service()).create_session(app_name=like.app_name, user_id=like.user_id, session_id="zzz")


def test_enter_deletes_nothing(story_open: Inspector, story_db: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    before = keys(story_db)
    choose(driver, "session")
    qtbot.keyClick(dialog(story_open), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not story_open.tasks.running)
    assert keys(story_db) == before, "Enter presses the other button"


def test_old_sessions_are_counted_before_deletion(story_open: Inspector, story_db: Path, driver: WindowDriver) -> None:
    choose(driver, "database")
    asked = dialog(story_open)
    nothing = asked.findChild(EmptyState)
    assert nothing is not None and nothing.isVisible() and nothing.text[0].endswith("is that old")
    assert shown_buttons(asked) == ["Close"]
    asked.age.setValue(0)
    assert asked.delete_button.text() == "Delete 1 session"
    asked.reject()


def test_a_read_only_session_is_not_deleted(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver
) -> None:
    file = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    opened(file)
    choose(driver, "session")
    assert inspector.window.findChild(DeletionDialog) is None
    assert any("read-only" in message.text for message in inspector.window.message_bar.messages)


@pytest.mark.skipif(sys.platform == "win32", reason="psutil may miss open files on Windows")
def test_a_process_that_has_the_file_open_is_named_before_writing_is_allowed(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    file = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    file.chmod(0o644)
    program = "import sys; f = open(sys.argv[1]); print(flush=True); sys.stdin.read()"
    other = subprocess.Popen([sys.executable, "-c", program, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    other.stdout.readline()
    opened(file)
    hint = inspector.window.parts.writing_hint
    qtbot.mouseClick(hint.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert str(other.pid) in hint.text
    assert not inspector.databases.sources[0].writing_allowed
    qtbot.mouseClick(hint.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert inspector.databases.sources[0].writing_allowed
    other.communicate()
