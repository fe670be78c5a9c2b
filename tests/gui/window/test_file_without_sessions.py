"""An SQLite file without sessions: a description and its tables as raw rows; the file is not changed."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from tests.gui.window.driver import text_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a database in a folder of its own, with a write-ahead log left by its writer."""
    made, folder = tmp_path / "made.db", tmp_path / "shop"
    folder.mkdir()
    connection = sqlite3.connect(made)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE birds (name TEXT, weight REAL)")
    connection.execute("CREATE TABLE sessions (id INTEGER PRIMARY KEY, user TEXT)")
    connection.execute("CREATE TABLE ants (name TEXT)")
    connection.execute("INSERT INTO birds VALUES ('wren', 9.5)")
    connection.commit()
    for companion in ("", "-wal"):
        shutil.copy(f"{made}{companion}", folder / f"shop.db{companion}")
    connection.close()
    return folder / "shop.db"


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_its_tables_are_shown_below_a_description_and_the_file_is_not_changed(
    inspector: Inspector, file: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    before = hashes(file.parent)
    opened(file)
    page = inspector.window.parts.foreign_database
    assert inspector.window.page is page
    assert page.text.startswith(f"{file} is not a session database: its table sessions has no column app_name, ")
    names = page.tables.tables
    listed = [tuple(names.item(row, column).text() for column in range(2)) for row in range(names.rowCount())]
    assert listed == [("ants", "0"), ("birds", "1"), ("sessions", "0")]
    assert "as sessions" not in names.item(2, 0).toolTip()
    assert page.tables.model.index(0, 0).data() == "wren"
    assert inspector.databases.sources == []
    qtbot.keyClick(names, Qt.Key.Key_Escape)
    assert inspector.window.page is inspector.window.parts.welcome
    assert hashes(file.parent) == before


def test_reload_reads_the_file_again_and_other_databases_stay_open(
    inspector: Inspector, file: Path, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(story_db, file)
    page = inspector.window.parts.foreign_database
    assert inspector.window.page is page
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("INSERT INTO birds VALUES ('owl', 480)")
    connection.close()
    inspector.window.commands.reload.trigger()
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert text_of(page.tables, "raw_place") == "rows 1–2"
    qtbot.mouseClick(page.findChild(QPushButton, "other_database_close"), Qt.MouseButton.LeftButton)
    assert inspector.window.page is inspector.window.workbench
    assert inspector.current.session is not None
    opened(file)
    opened(story_db)
    opened(file)
    assert inspector.window.page is page, "opened again after another page"
    assert text_of(page.tables, "raw_place") == "rows 1–2"


def test_the_bars_do_not_describe_the_hidden_session(story: Inspector, file: Path, opened: Callable[..., None], qtbot: QtBot) -> None:
    window = story.window
    seen = {name: window.findChild(QLabel, f"status_{name}") for name in ("database", "session", "position", "tokens")}
    assert window.run_bar.state_text == "interrupted" and all(label.isVisible() for label in seen.values())
    opened(file)
    assert window.page is window.parts.foreign_database
    assert window.run_bar.state_text == "idle"
    assert not any(label.isVisible() for label in seen.values())
    assert not window.commands.resume.isEnabled() and not window.run_bar.button(window.commands.resume.objectName()).property("primary")
    qtbot.keyClick(window.parts.foreign_database.tables.tables, Qt.Key.Key_Escape)
    assert window.run_bar.state_text == "interrupted" and all(label.isVisible() for label in seen.values())
    assert window.commands.resume.isEnabled()


def test_opened_with_others_it_is_reported_in_a_message(
    inspector: Inspector, file: Path, story_db: Path, opened: Callable[..., None]
) -> None:
    opened(file, story_db)
    assert inspector.window.page is inspector.window.workbench
    (message,) = inspector.window.message_bar.messages
    assert message.text.startswith(f"{file} is not a session database: ")


def test_sessions_added_to_the_file_are_shown_after_reload(
    inspector: Inspector, file: Path, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(file)
    assert inspector.window.page is inspector.window.parts.foreign_database
    file.with_name(f"{file.name}-wal").unlink()
    file.write_bytes(story_db.read_bytes())
    inspector.window.commands.reload.trigger()
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert inspector.window.page is inspector.window.workbench
    assert inspector.current.session is not None
