"""Notes and bookmarks in the window."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.documents.event_notes import EventNotes
from inspector_app.sessions.search_dialog import COLUMNS, SearchDialog
from inspector_app.stream.event_cells import row_text
from runtime.sessions.note import MOST_CHARACTERS, Note
from runtime.sessions.session_key import SessionKey
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from tests.end2end.processes import ROOT
from tests.gui.window.driver import WindowDriver

TEXT = "Read too early: <b>stock</b>"


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def database(tmp_path: Path, opened: Callable[..., None], driver: WindowDriver) -> Path:
    """A database of ours, displayed, with its third event selected."""
    file = Path(shutil.copy(ROOT / "tests" / "data" / "ours.db", tmp_path / "orders.db"))
    opened(file)
    driver.sessions.click("session")
    select(driver, 2)
    return file


def select(driver: WindowDriver, index: int) -> None:
    driver.bench.parts.stream.select_event(index)
    driver.run_until_idle()


def stored(file: Path) -> dict[str, Note]:
    with StoredDatabase.open(str(file)) as database:
        return next(iter(EventNotes(str(file)).read(database).values()), {})


def key_of(file: Path) -> SessionKey:
    with StoredDatabase.open(str(file)) as database:
        return database.listing()[0].key


def row(driver: WindowDriver, index: int) -> str:
    model = driver.inspector.features.stream.events
    found = model.row_of_index(index)
    assert found is not None
    return row_text(model.stream_row(found))


def editor(driver: WindowDriver) -> QPlainTextEdit:
    found = driver.bench.parts.detail.findChild(QPlainTextEdit, "note_text")
    assert found is not None
    return found


def write(driver: WindowDriver, qtbot: QtBot, text: str) -> None:
    driver.inspector.window.commands.edit_note.trigger()
    field = editor(driver)
    assert not field.isReadOnly() and field.isVisible()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    driver.run_until_idle()


def test_a_note_is_written_shown_deleted_and_restored(database: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    event = driver.inspector.current.session.events[2]  # type: ignore[union-attr]
    write(driver, qtbot, TEXT)
    assert {name: note.text for name, note in stored(database).items()} == {event.id: TEXT}
    assert editor(driver).isReadOnly() and editor(driver).toPlainText() == TEXT
    assert row(driver, 2).endswith(f"note: {TEXT}") and "note" not in row(driver, 1)
    select(driver, 1)
    assert not driver.bench.parts.detail.note.isVisible()
    select(driver, 2)
    delete = driver.bench.parts.detail.findChild(QToolButton, "delete_note")
    assert delete is not None and delete.isVisible()
    delete.click()
    driver.run_until_idle()
    assert stored(database) == {} and not driver.bench.parts.detail.note.isVisible()
    assert driver.bench.parts.note_hint.text == "The note was deleted."
    select(driver, 1)
    driver.bench.parts.note_hint.button.click()
    driver.run_until_idle()
    assert stored(database)[event.id].text == TEXT and driver.bench.parts.note_hint.text == ""


def test_bookmarks_toggle_and_take_the_selection(database: Path, driver: WindowDriver) -> None:
    commands = driver.inspector.window.commands
    assert not commands.next_note.isEnabled()
    for index in (2, 7):
        select(driver, index)
        commands.toggle_bookmark.trigger()
        driver.run_until_idle()
    assert row(driver, 2).endswith("bookmarked") and commands.next_note.isEnabled()
    button = driver.bench.parts.detail.findChild(QToolButton, "event_bookmark")
    assert button is not None and button.accessibleName() == "Remove the bookmark"
    places = []
    for command in (commands.next_note, commands.next_note, commands.previous_note, commands.previous_note):
        command.trigger()
        driver.run_until_idle()
        places.append(driver.inspector.cursor.event_index)
    assert places == [2, 7, 2, 7]
    bar = driver.bench.parts.stream.table.bar
    bar.count_now()
    assert len(bar.lines["notes and bookmarks"]) == 2 and "2 notes and bookmarks (in the middle)" in bar.accessibleDescription()
    button.click()
    driver.run_until_idle()
    assert len(stored(database)) == 1 and "bookmarked" not in row(driver, 7)


def test_the_filter_finds_notes_as_they_change(database: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    events, bench = driver.inspector.features.stream.events, driver.bench
    write(driver, qtbot, "Zebra crossing")
    for text, count in (('note contains "zebra"', 1), ("zebra", 1), ("bookmarked", 0), ("note or bookmarked", 1)):
        bench.parts.filter_bar.set_text(text)
        driver.run_until_idle()
        assert events.shown_count == count, text
    bench.parts.filter_bar.set_text("bookmarked")
    driver.run_until_idle()
    driver.inspector.window.commands.toggle_bookmark.trigger()
    driver.run_until_idle()
    assert events.shown_count == 1


def test_a_note_of_another_process_appears(database: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    event = driver.inspector.current.session.events[0]  # type: ignore[union-attr]

    async def note() -> None:
        async with open_session_service(str(database)) as service:
            await service.set_note(key_of(database), event.id, Note("from elsewhere", True, 1.0))

    driver.inspector.tasks.spawn(note(), "Noting as another process does")
    driver.run_until(lambda: row(driver, 0).endswith("bookmarked note: from elsewhere"))


def test_notes_on_another_programs_file_do_not_change_it(
    tmp_path: Path, opened: Callable[..., None], driver: WindowDriver, qtbot: QtBot
) -> None:
    file = Path(shutil.copy(ROOT / "tests" / "data" / "v1.db", tmp_path / "foreign.db"))
    before = file.read_bytes()
    opened(file)
    driver.sessions.click("session")
    select(driver, 0)
    write(driver, qtbot, TEXT)
    assert [note.text for note in stored(file).values()] == [TEXT]
    assert file.read_bytes() == before and sorted(path.name for path in tmp_path.glob("foreign*")) == ["foreign.db"]
    event = driver.inspector.current.session.events[1]  # type: ignore[union-attr]
    driver.inspector.tasks.spawn(EventNotes(str(file)).put(None, key_of(file), event.id, Note("another window", False, 1.0)), "Noting")
    driver.run_until(lambda: row(driver, 1).endswith("note: another window"))


def test_what_is_typed_is_kept_when_another_event_or_session_is_selected(database: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    commands = driver.inspector.window.commands
    event = driver.inspector.current.session.events[2]  # type: ignore[union-attr]
    commands.toggle_bookmark.trigger()
    commands.edit_note.trigger()
    qtbot.keyClicks(editor(driver), "half a thought")
    select(driver, 4)
    assert stored(database)[event.id].text == "half a thought" and not driver.bench.parts.detail.note.is_editing
    select(driver, 2)
    commands.edit_note.trigger()
    qtbot.keyClicks(editor(driver), ", and more")
    driver.inspector.cursor.select_session(None)
    driver.run_until_idle()
    assert stored(database)[event.id][:2] == ("half a thought, and more", True)


def test_escape_gives_up_and_a_long_text_cannot_be_saved(database: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.inspector.window.commands.edit_note.trigger()
    field, save = editor(driver), driver.bench.parts.detail.findChild(QPushButton, "save_note")
    field.setPlainText("x" * (MOST_CHARACTERS + 1))
    assert save is not None and not save.isEnabled()
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert driver.bench.parts.detail.note.is_editing
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    driver.run_until_idle()
    assert stored(database) == {} and not driver.bench.parts.detail.note.isVisible()
    assert driver.bench.parts.stream.table.hasFocus()


def test_writing_a_note_stops_following_the_newest_event_until_it_is_written(database: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    select(driver, driver.inspector.features.stream.events.event_count - 1)
    driver.bench.parts.stream.set_following(True)
    driver.inspector.window.commands.edit_note.trigger()
    assert not driver.bench.parts.stream.following
    qtbot.keyClick(editor(driver), Qt.Key.Key_Escape)
    assert driver.bench.parts.stream.following


def test_the_search_in_all_sessions_finds_notes(database: Path, inspector: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    write(driver, qtbot, "a zebra crossing")
    inspector.window.commands.search_all.trigger()
    dialog = inspector.window.findChild(SearchDialog)
    assert dialog is not None
    driver.run_until_idle()
    dialog.words.setText("cross zeb")
    qtbot.keyClick(dialog.words, Qt.Key.Key_Return)
    driver.run_until_idle()
    assert dialog.table.item(0, COLUMNS.index("text")).text() == "Note: a zebra crossing"
    select(driver, 9)
    dialog.chosen.emit(0)
    driver.run_until(lambda: inspector.cursor.event_index == 2)
    dialog.close()


def test_sessions_in_memory_have_notes_and_forks_take_them_along(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.run_message("3 boxes of A4 paper")
    select(driver, 0)
    write(driver, qtbot, TEXT)
    source, key = orders.current.session.source, orders.current.session.address.key  # type: ignore[union-attr]
    found = asyncio.ensure_future(source.notes(key), loop=asyncio.get_event_loop())
    driver.run_until(found.done)
    assert [note.text for note in found.result().values()] == [TEXT]
