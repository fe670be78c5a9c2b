"""Databases of other programs are read-only until the user allows writing, and then a backup is made first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.demo import STORY
from inspector_app.documents.session_address import SessionAddress
from inspector_app.resources.samples.orders import script
from runtime.sessions.session_key import SessionKey
from tests.fixture_paths import copy_of, fixtures_dir, manifest

fixtures_dir()


def test_a_foreign_database_is_read_only_and_not_changed(inspector: Inspector, tmp_path: Path, opened: Callable[..., None]) -> None:
    name = next(entry["file"] for entry in manifest() if entry["layout"] == "v1" and "chat_tools" in entry["file"])
    database = copy_of(f"open/{Path(name).name}", tmp_path)
    before, files = database.read_bytes(), sorted(tmp_path.iterdir())
    opened(database)
    window = inspector.window
    assert inspector.features.stream.events.event_count > 0
    assert "read-only" in window.status.text("database")
    assert "read-only" in window.parts.writing_hint.text
    assert database.read_bytes() == before
    assert [path for path in sorted(tmp_path.iterdir()) if path not in files and path.name != "settings"] == []


def test_writing_must_be_allowed_explicitly_and_makes_a_backup(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    name = next(entry["file"] for entry in manifest() if entry["layout"] == "v1" and "chat_tools" in entry["file"])
    opened(copy_of(f"open/{Path(name).name}", tmp_path))
    assert inspector.window.commands.allow_writing.isEnabled()
    qtbot.mouseClick(inspector.window.parts.writing_hint.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert inspector.window.parts.writing_hint.text == ""
    assert "read-only" not in inspector.window.status.text("database")
    assert not inspector.window.commands.allow_writing.isEnabled()
    assert any("backup" in message.text for message in inspector.window.message_bar.messages)


def test_a_read_only_layout_offers_a_copy(inspector: Inspector, tmp_path: Path, opened: Callable[..., None]) -> None:
    opened(copy_of("open/adk1.0.0-v0-rich_parts.db", tmp_path))
    hint = inspector.window.parts.writing_hint
    what = "has the older layout with pickled actions, which is read-only here."
    assert hint.text == f"adk1.0.0-v0-rich_parts.db {what} Changes need a copy."
    assert [button.text() for button in hint.findChildren(QPushButton) if button.isVisibleTo(hint)] == ["Work on a copy"]


OTHER_ADKS = sorted(path.stem for path in (fixtures_dir() / "other-adks").glob("*.db"))


def test_databases_of_other_adks_are_shown_and_only_read(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    assert len(OTHER_ADKS) > 10
    for name in OTHER_ADKS:
        file = copy_of(f"other-adks/{name}.db", tmp_path)
        before = file.read_bytes()
        opened(file)
        check_sessions(inspector, file, qtbot)
        assert file.read_bytes() == before, name


def check_sessions(inspector: Inspector, file: Path, qtbot: QtBot) -> None:
    """Check what the window says of a file that it has opened, and that each of its sessions is shown."""
    badge, writer = (
        ("ADK-TS", "ADK-TS (@iqai/adk)") if file.name.startswith("iqai") else ("ADK for TypeScript", "ADK for TypeScript (@google/adk)")
    )
    window, hint = inspector.window, inspector.window.parts.writing_hint
    assert f"{badge} · read-only" in window.status.text("database")
    assert hint.text == f"{file.name} was written by {writer} and is read-only here. Changes need a copy."
    assert [button.text() for button in hint.findChildren(QPushButton) if button.isVisibleTo(hint)] == ["Work on a copy"]
    assert not window.commands.allow_writing.isEnabled()

    expected = json.loads((fixtures_dir() / "other-adks" / f"{file.stem}.expected.json").read_text("utf-8"))
    keys = [SessionKey(session["appName"], session["userId"], session["id"]) for session in expected["sessions"]]
    assert sorted(summary.key for summary in inspector.catalog.sessions(str(file))) == sorted(keys)
    for key, session in zip(keys, expected["sessions"], strict=True):
        inspector.cursor.select_session(SessionAddress(str(file), key))
        qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
        shown = inspector.current.session
        assert shown is not None and shown.address.key == key
        assert len(shown.events) == inspector.features.stream.events.event_count == len(session["events"])
        appended = [event for *of, event in expected["appendOrder"] if tuple(of) == key]
        last = shown.events[-1].id if session["events"] else None
        assert not appended or last == appended[-1]


def test_a_message_sent_before_a_foreign_session_is_selected_does_not_write_to_it(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    database = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    before = database.read_bytes()
    opened(database, STORY.parent / "orders")
    inspector.agents.loaded.app.root_agent.model = script.order_script(delay=0)
    foreign = inspector.cursor.session
    inspector.cursor.select_session(None)
    with qtbot.waitSignal(inspector.run.run_ended, timeout=20_000) as ended:
        inspector.run.send("3 boxes of A4 paper")
        inspector.cursor.select_session(foreign)
    assert ended.args[0].address.database == inspector.databases.unsaved[0].target
    assert database.read_bytes() == before
    assert list(tmp_path.glob("*.backup-*")) == []
