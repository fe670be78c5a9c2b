"""The database page: user and app state, and any table as raw rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.databases.database_page import DatabasePage
from inspector_app.widgets.text_dialog import TextDialog
from tests.fixture_paths import copy_of
from tests.gui.window.driver import WindowDriver, text_of

PICKLE = b"\x80\x04\x95never decoded"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    file.chmod(0o644)
    connection = sqlite3.connect(file)
    _app, _user = connection.execute("SELECT app_name, user_id FROM sessions").fetchone()
    for table, owner in (("app_states", "app_name"), ("user_states", "user_id")):
        connection.execute(f"UPDATE {table} SET state = '{{\"kept\": [\"' || {owner} || '\"]}}'")
    connection.execute("INSERT INTO user_states SELECT app_name, 'gone', '{\"basket\": 3}', update_time FROM user_states LIMIT 1")
    for app, user in (("app_name", "'zz'"), ("'zz'", "user_id")):  # so that apps and users are headings
        connection.execute(f"INSERT INTO sessions SELECT {app}, {user}, 'another', '{{}}', create_time, create_time FROM sessions LIMIT 1")
    connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT, body BLOB)")
    connection.executemany("INSERT INTO notes (text, body) VALUES (?, ?)", [(f"note {n}" * (n + 1), PICKLE) for n in range(250)])
    connection.commit()
    connection.close()
    return file


@pytest.fixture
def page(inspector: Inspector, file: Path, opened: Callable[..., None]) -> DatabasePage:
    opened(file)
    return inspector.window.parts.database


def values(page: DatabasePage) -> dict[str, object]:
    model = page.state.values
    return {node.key: node.value for node in (model.node(model.index(row, 0)) for row in range(model.rowCount()))}


def test_the_state_of_an_app_and_of_a_user_is_shown(page: DatabasePage, driver: WindowDriver, inspector: Inspector, qtbot: QtBot) -> None:
    driver.sessions.click("user")
    assert page.isVisible() and not inspector.window.parts.filter_bar.isVisible()
    key = inspector.cursor.session.key
    assert page.state.title == f'User "{key.user_id}" of app "{key.app_name}"'
    assert values(page) == {"user:kept": [key.user_id]}
    assert page.state.facts.startswith("1 key · last written ")
    driver.sessions.click("app")
    assert values(page) == {"app:kept": [key.app_name]}
    page.state.filter.setText("gone")
    assert page.state.model.rowCount() == 1
    qtbot.mouseClick(
        page.state.scopes.viewport(), Qt.MouseButton.LeftButton, pos=page.state.scopes.visualRect(page.state.model.index(0)).center()
    )
    driver.run_until_idle()
    assert values(page) == {"user:basket": 3}, "also of a user without sessions"
    driver.sessions.click("session")
    assert not page.isVisible() and inspector.window.parts.filter_bar.isVisible()
    assert inspector.features.stream.events.event_count > 0, "the displayed session is kept"


def test_a_user_without_state_is_selected_in_the_list_too(page: DatabasePage, file: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE user_states SET state = '{}' WHERE user_id <> 'gone'")
    driver.sessions.click("user")
    qtbot.waitUntil(lambda: bool(page.state.title))
    driver.run_until_idle()
    chosen = page.state.model.scope(page.state.scopes.currentIndex())
    assert chosen is not None and page.state.title == f'User "{chosen.user_id}" of app "{chosen.app_name}"'


def test_shared_state_is_shown_without_a_session(page: DatabasePage, inspector: Inspector, qtbot: QtBot) -> None:
    inspector.cursor.select_session(None)
    inspector.window.commands.inspect_database.trigger()
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert page.state.title.startswith('App "')
    qtbot.keyClick(page.state.scopes, Qt.Key.Key_Escape)
    assert not page.isVisible()


def test_a_change_of_shared_state_by_another_process_is_shown(
    page: DatabasePage, driver: WindowDriver, inspector: Inspector, file: Path, qtbot: QtBot
) -> None:
    driver.sessions.click("user")
    connection = sqlite3.connect(file)
    connection.execute("UPDATE user_states SET state = '{\"kept\": \"changed\"}' WHERE user_id <> 'gone'")
    connection.execute("INSERT INTO sessions SELECT app_name, user_id, 'more', state, create_time, update_time FROM sessions LIMIT 1")
    connection.commit()
    connection.close()
    qtbot.waitUntil(lambda: values(page) == {"user:kept": "changed"})
    driver.run_until_idle()


def test_any_table_is_shown_as_raw_rows(page: DatabasePage, driver: WindowDriver, inspector: Inspector, file: Path, qtbot: QtBot) -> None:
    before = file.read_bytes()
    driver.sessions.click("database")
    page.tabs.setCurrentWidget(page.tables)
    driver.run_until_idle()
    pane = page.tables
    names = [pane.tables.item(row, 0).text() for row in range(pane.tables.rowCount())]
    assert {"events", "notes", "sessions"} <= set(names)
    cell = pane.tables.visualItemRect(pane.tables.item(names.index("notes"), 0)).center()
    qtbot.mouseClick(pane.tables.viewport(), Qt.MouseButton.LeftButton, pos=cell)
    driver.run_until_idle()
    assert text_of(pane, "raw_place") == "rows 1–100 of 250"
    assert not pane.buttons["previous"].isEnabled()
    for _ in range(2):
        qtbot.mouseClick(pane.buttons["next"], Qt.MouseButton.LeftButton)
        driver.run_until_idle()
    assert text_of(pane, "raw_place") == "rows 201–250 of 250"
    assert not pane.buttons["next"].isEnabled()
    assert pane.model.index(0, 1).data().startswith("note 200note 200") and pane.model.index(0, 1).data().endswith("…")
    assert pane.model.index(0, 2).data() == f"{len(PICKLE)} bytes: {PICKLE.hex(' ')}"
    pane.rows.setCurrentIndex(pane.model.index(0, 1))
    qtbot.keyClick(pane.rows, Qt.Key.Key_Return)
    driver.run_until_idle()
    dialog = inspector.window.findChild(TextDialog)
    assert dialog.findChild(QPlainTextEdit).toPlainText().replace("\n", "") == "note 200" * 201
    dialog.close()
    pane.rows.setCurrentIndex(pane.model.index(0, 2))
    qtbot.mouseClick(pane.findChild(QPushButton, "raw_open_full"), Qt.MouseButton.LeftButton)
    driver.run_until_idle()
    other = next(text for text in inspector.window.findChildren(TextDialog) if text is not dialog)
    assert "80 04 95" in other.findChild(QPlainTextEdit).toPlainText()
    driver.run_until_idle()
    assert file.read_bytes() == before


def test_closing_a_database_closes_its_page(page: DatabasePage, driver: WindowDriver, inspector: Inspector) -> None:
    driver.sessions.click("database")
    page.tabs.setCurrentWidget(page.tables)
    driver.run_until_idle()
    inspector.window.commands.close_database.trigger()
    driver.run_until_idle()
    assert not page.isVisible()


def test_going_to_an_event_closes_the_page(page: DatabasePage, driver: WindowDriver, inspector: Inspector) -> None:
    bench, commands = inspector.window.workbench, inspector.window.commands
    bench.parts.filter_bar.set_text("kind")
    ways = [
        commands.next_hit.trigger,
        commands.previous_hit.trigger,
        commands.go_to_event.trigger,
        lambda: bench.parts.timeline.event_chosen.emit(0),
        lambda: bench.parts.pending.session_requested.emit(inspector.cursor.session),
        lambda: bench.parts.detail.state.tree.writer_requested.emit(0),
    ]
    for way in ways:
        driver.sessions.click("app")
        assert page.isVisible()
        way()
        driver.run_until_idle()
        assert not page.isVisible()


def test_reload_reads_the_displayed_table_again(
    page: DatabasePage, driver: WindowDriver, inspector: Inspector, file: Path, qtbot: QtBot
) -> None:
    driver.sessions.click("database")
    page.tabs.setCurrentWidget(page.tables)
    driver.run_until_idle()
    names = [page.tables.tables.item(row, 0).text() for row in range(page.tables.tables.rowCount())]
    page.tables.tables.setCurrentCell(names.index("notes"), 0)
    qtbot.waitUntil(lambda: text_of(page.tables, "raw_place") == "rows 1–100 of 250" and not inspector.tasks.running)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("INSERT INTO notes (text) VALUES ('one more')")
    connection.close()
    inspector.window.commands.reload.trigger()
    driver.run_until_idle()
    assert text_of(page.tables, "raw_place") == "rows 1–100 of 251"


def test_closing_another_database_closes_its_page(
    page: DatabasePage, inspector: Inspector, file: Path, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(story_db)
    opened(file)  # selects its session again
    pane, model = inspector.window.parts.sessions, inspector.features.sessions.model
    row = next(row for row in range(model.rowCount()) if model.node(model.index(row, 0)).database == str(story_db))
    pane.tree.clicked.emit(model.index(row, 0))
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert page.isVisible()
    inspector.tasks.spawn(inspector.databases.close_database(str(story_db)), "Closing")
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert not page.isVisible()
    assert inspector.current.session is not None, "the session of the other database is still shown"
