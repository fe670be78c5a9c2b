"""Paths that cannot be opened are reported in the window with Retry, and nothing is lost."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.demo import STORY
from inspector_app.documents.session_address import SessionAddress
from inspector_app.opening import opening_controller as opening
from tests.gui.window.driver import WindowDriver
from tests.gui.window.trusting import trust_folder


def bound(file: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(file))  # a socket's name is short


SPECIAL: dict[str, Callable[[Path], object]] = {
    "fifo": os.mkfifo,
    "link to a device": lambda file: file.symlink_to("/dev/zero"),
    "socket": bound,
}


def press_retry(page_name: str, inspector: Inspector, qtbot: QtBot) -> None:
    page = inspector.window.findChild(object, page_name)  # type: ignore[call-overload]
    qtbot.mouseClick(page.findChild(QPushButton, "problem_retry"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=10_000)


def test_a_file_that_is_not_a_database_is_reported_and_retried(
    inspector: Inspector, tmp_path: Path, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    notes = tmp_path / "notes.db"
    notes.write_text("not a database, but long enough to be taken for one at first sight " * 10)
    opened(notes)
    window = inspector.window
    assert window.page is window.parts.problem
    assert str(notes) in window.parts.problem.text
    assert not window.message_bar.messages, "reported once, inline"

    notes.write_bytes(story_db.read_bytes())
    press_retry("open_problem", inspector, qtbot)
    assert window.page is window.workbench
    assert inspector.current.session is not None


def test_a_path_that_does_not_exist_is_reported_and_not_created(inspector: Inspector, tmp_path: Path, opened: Callable[..., None]) -> None:
    opened(tmp_path / "gone.db")
    assert inspector.window.page is inspector.window.parts.problem
    assert "There is no file" in inspector.window.parts.problem.text and "gone.db" in inspector.window.parts.problem.text
    assert not (tmp_path / "gone.db").exists(), "reading creates no file"


def test_a_database_whose_program_was_killed_before_it_had_tables_is_opened(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None]
) -> None:
    file = tmp_path / "killed.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
    assert file.stat().st_size == 4096
    opened(file)
    assert inspector.window.page is inspector.window.workbench
    assert [source.target for source in inspector.databases.sources] == [str(file)]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ana:S3cretMarker@localhost:port/db",
        "postgresql://ana:S3@cretMarker@localhost/db",
        "postgresql:/ana:S3cretMarker@localhost/db",
        "postgresql:ana:S3cretMarker@localhost",
        "postgresql//ana:S3cretMarker@localhost/agent.py",
        "ana:S3cretMarker@localhost",
    ],
)
def test_a_mistyped_url_shows_its_password_nowhere(
    inspector: Inspector, opened: Callable[..., None], url: str, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []
    inspector.messages.posted.connect(lambda message: said.append(f"{message.text} {message.details}"))
    opened(url)
    window = inspector.window
    shown = [window.windowTitle(), window.parts.problem.text, *inspector.settings.recent, caplog.text, *said]
    shown += [label.text() for label in window.findChildren(QLabel)]
    assert said
    assert not any("cretMarker" in text for text in shown)


def test_no_database_is_created_for_a_mistyped_path(inspector: Inspector, opened: Callable[..., None], tmp_path: Path) -> None:
    opened(STORY, tmp_path / "misspelt_agent")
    opened(STORY, tmp_path / "nowhere" / "new.db")
    assert list(tmp_path.glob("**/*new.db")) + list(tmp_path.glob("misspelt*")) == []
    assert inspector.window.page is inspector.window.workbench
    told = [message.text for message in inspector.window.message_bar.messages]
    assert any("There is no file" in text and "misspelt_agent" in text for text in told), told
    assert len(told) == 2 and "nowhere" in told[1], told


def test_a_file_that_is_not_a_database_is_described(inspector: Inspector, tmp_path: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    picture = tmp_path / "holiday.db"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    driver.drop([picture])
    assert inspector.window.page is inspector.window.parts.problem
    problem = inspector.window.parts.problem
    assert "seems to be a PNG picture" in problem.text
    another, retry = (problem.findChild(QPushButton, name) for name in ("problem_another", "problem_retry"))
    assert another.isVisible() and another.hasFocus() and another.property("primary") and not retry.property("primary")
    qtbot.mouseClick(another, Qt.MouseButton.LeftButton)
    asked = inspector.window.findChild(QFileDialog)
    assert asked is not None and asked.windowTitle().startswith("Open a session database")
    asked.reject()
    driver.drop([tmp_path / "gone.db"])
    assert not another.isVisible() and retry.property("primary")


@pytest.mark.parametrize("plant", SPECIAL)
def test_a_special_file_is_named_and_not_opened(
    inspector: Inspector, plant: str, tmp_path: Path, driver: WindowDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("x.db", "x.capsule", "x.evalset.json", "x.jsonl", "agent.py"):
        SPECIAL[plant](tmp_path / name)
        if name.endswith("jsonl"):
            inspector.features.sessions.exchange.import_file(str(tmp_path / name), "")
        else:
            driver.drop([tmp_path / name])
        driver.run_until_idle()
        said = inspector.window.parts.problem.text + "\n" + driver.log_text()
        assert any(name in line and re.search("special file|regular file", line) for line in said.splitlines()), (name, said)
    folder = tmp_path / "agent-inspector"
    folder.mkdir(mode=0o700)
    SPECIAL[plant](folder / "1-1.json")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    inspector.window.commands.attach.trigger()
    driver.run_until_idle()


def test_a_slow_import_is_reported_while_it_runs(
    inspector: Inspector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(opening, "LOADING_MS", 0)
    folder, gate = tmp_path / "slow_agent", tmp_path / "gate"
    folder.mkdir()
    os.mkfifo(gate)
    (folder / "agent.py").write_text(f"import pathlib\npathlib.Path({str(gate)!r}).read_text()\nraise RuntimeError('after all')\n")
    trust_folder(inspector, folder)
    inspector.tasks.spawn(inspector.open([str(folder)]), "Opening")
    bar, status = inspector.window.message_bar, inspector.window.status
    qtbot.waitUntil(lambda: any("is being loaded: its code runs" in message.text for message in bar.messages))
    assert status.text("engine") == "loading slow_agent…"
    gate.write_text("continue")
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert "after all" in inspector.window.parts.problem.text
    assert status.text("engine") == ""


def test_an_agent_whose_import_raises_shows_its_traceback(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    folder = tmp_path / "broken_agent"
    folder.mkdir()
    (folder / "agent.py").write_text("def make():\n    raise RuntimeError('no network today')\n\nmake()\n")
    trust_folder(inspector, folder)
    opened(folder)
    window = inspector.window
    assert window.page is window.parts.problem
    assert "no network today" in window.parts.problem.text
    details = window.parts.problem.findChild(QPlainTextEdit, "problem_details")
    assert "line 2, in make" in details.toPlainText()

    (folder / "agent.py").write_text(
        "from runtime.agents import LlmAgent\nfrom runtime.models import ScriptedLlm\n"
        "root_agent = LlmAgent(name='mended', model=ScriptedLlm(rules=[]))\n"
    )
    press_retry("open_problem", inspector, qtbot)
    assert window.page is window.workbench
    assert inspector.agents.loaded is not None and inspector.agents.loaded.app.root_agent.name == "mended"


def test_a_folder_without_an_agent_is_reported(inspector: Inspector, tmp_path: Path, opened: Callable[..., None]) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    trust_folder(inspector, folder)
    opened(folder)
    assert "has no agent" in inspector.window.parts.problem.text


def test_a_deleted_session_is_reported_and_shown_again_when_it_returns(
    inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(story_db)
    address = inspector.cursor.session
    assert address is not None
    whole = story_db.read_bytes()
    with closing(sqlite3.connect(story_db)) as connection, connection:
        connection.execute("DELETE FROM sessions")
    connection.close()
    inspector.cursor.select_session(None)
    inspector.cursor.select_session(SessionAddress(str(story_db), address.key))
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    problem = inspector.window.parts.session_problem
    assert problem.isVisible()
    assert address.key.session_id in problem.text

    story_db.write_bytes(whole)
    press_retry("session_problem", inspector, qtbot)
    assert not problem.isVisible()
    assert inspector.features.stream.events.event_count > 0
