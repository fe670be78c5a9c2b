"""Opening databases of every layout, in files and on servers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.demo import STORY
from inspector_app.opening.url_dialog import UrlDialog
from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import copy_of, fixtures_dir, manifest
from tests.gui.window.driver import WindowDriver
from tests.postgres import server
from tests.sweep import count


@pytest.mark.sweep
def test_databases_of_every_layout_and_version_open(inspector: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    by_layout: dict[str, list[dict[str, object]]] = {}
    for entry in manifest():
        by_layout.setdefault(str(entry["layout"]), []).append(entry)
    for layout, entries in by_layout.items():
        for entry in entries[:: max(len(entries) // count(4, len(entries)), 1)]:
            file = fixtures_dir() / "open" / str(entry["file"])
            driver.drop([file])
            assert inspector.window.page is inspector.window.workbench, file.name
            (source,) = inspector.databases.sources
            assert source.badge == layout
            assert layout in inspector.window.status.text("database") or inspector.cursor.session is None
            with StoredDatabase.open(str(file)) as stored:
                counts = {summary.key: summary.event_count for summary in stored.sessions()}
            assert inspector.features.sessions.model.shown_sessions == len(counts), file.name
            session = inspector.current.session
            if session is not None:
                assert inspector.features.stream.events.event_count == counts[session.address.key], file.name
            inspector.tasks.spawn(inspector.databases.close_database(source.target), "Closing")
            qtbot.waitUntil(lambda: not inspector.tasks.running)


def test_several_databases_open_at_once(inspector: Inspector, tmp_path: Path, driver: WindowDriver) -> None:
    files = [copy_of(f"open/adk2.13.0-{layout}-chat_tools.db", tmp_path) for layout in ("v1", "sqlite")]
    driver.drop(files)
    assert inspector.features.sessions.model.database_count == 2
    assert inspector.features.stream.events.event_count > 0


def test_an_opened_database_is_shown_even_if_others_are_open(
    inspector: Inspector, opened: Callable[..., None], story_db: Path, tmp_path: Path
) -> None:
    others = [copy_of(f"open/adk2.13.0-{layout}-chat_tools.db", tmp_path) for layout in ("v1", "sqlite")]
    opened(story_db)
    opened(*others)
    assert inspector.cursor.session.database == str(others[0])
    opened(story_db)
    assert inspector.cursor.session.database == str(story_db)
    inspector.cursor.select_session(None)
    opened(story_db)
    assert inspector.cursor.session.database == str(story_db)


def test_a_file_opened_under_several_paths_is_listed_once(
    inspector: Inspector, opened: Callable[..., None], story_db: Path, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.db").symlink_to(story_db)
    opened(story_db, tmp_path / "folder" / ".." / story_db.name, tmp_path / "link.db")
    assert [source.target for source in inspector.databases.sources] == [str(story_db)]


def test_a_missing_database_given_with_an_agent_is_created(
    inspector: Inspector, opened: Callable[..., None], tmp_path: Path, qtbot: QtBot
) -> None:
    opened(STORY, tmp_path / "new.db")
    (source,) = inspector.databases.sources
    assert (source.target, source.writing_allowed) == (str(tmp_path / "new.db"), True)
    (message,) = inspector.window.message_bar.messages
    assert "new.db is a new database. New sessions are stored in it." in message.text
    inspector.run.new_session()
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert inspector.cursor.session is not None
    assert inspector.cursor.session.database == source.target


async def write(url: str) -> None:
    async with DatabaseSessionService(url) as service:
        session = await service.create_session(app_name="a", user_id="u", session_id="s")
        await service.append_event(session, Event(author="me"))


def test_the_password_of_a_server_database_is_neither_shown_nor_stored(inspector: Inspector, settings: object, qtbot: QtBot) -> None:
    url = server().new_database()
    inspector.tasks.spawn(write(url), "Writing")
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    inspector.window.commands.open_url.trigger()
    dialog = inspector.window.findChild(UrlDialog)
    assert dialog is not None
    assert not dialog.open_button.isEnabled()
    dialog.url.setText(url)
    dialog.password.setText("s3cret")
    qtbot.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: inspector.features.stream.events.event_count == 1 and not inspector.tasks.running, timeout=20_000)
    (source,) = inspector.databases.sources
    shown = [source.target, source.title, source.note, *inspector.settings.recent, inspector.window.status.text("database")]
    shown += [message.text for message in inspector.window.message_bar.messages]
    assert not [text for text in shown if "s3cret" in text]
    qtbot.waitUntil(lambda: inspector.window.status.text("tail") == "watching")


def test_the_url_dialog_reopens_if_the_server_cannot_be_reached(inspector: Inspector, opened: Callable[..., None], qtbot: QtBot) -> None:
    inspector.tasks.spawn(inspector.open(["postgresql://nobody:s3cret@127.0.0.1:1/x"]), "Opening")
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
    dialog = inspector.window.findChild(UrlDialog)
    assert dialog is not None
    assert dialog.url.text() == "postgresql://nobody@127.0.0.1:1/x"
    assert "cannot be reached" in dialog.findChild(QLabel, "url_dialog_problem").text()
    dialog.reject()


def test_an_invalid_url_stays_in_the_dialog_for_correction(inspector: Inspector, qtbot: QtBot) -> None:
    inspector.window.commands.open_url.trigger()
    dialog = inspector.window.findChild(UrlDialog)
    assert dialog is not None
    dialog.url.setText("foo://ana:s3cret@bar")
    qtbot.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
    again = next(other for other in inspector.window.findChildren(UrlDialog) if other.isVisible())
    assert again.url.text() == "foo://ana@bar"
    assert (again.focusWidget(), again.url.property("state")) == (again.url, "wrong")
    problem = "Databases of foo:// are not supported. A server's URL begins with postgresql://"
    assert problem in again.findChild(QLabel, "url_dialog_problem").text()
    qtbot.keyClicks(again.url, "x")
    assert not again.url.property("state")
    again.reject()
