"""The sessions of a killed window, which have no database of the user's, are offered at the next start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.support.settings import Settings
from tests.gui.window.driver import WindowDriver


@pytest.fixture
def ended_pid() -> int:
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(30)
    return process.pid


@pytest.fixture
def left_behind(settings: Settings, story_db: Path, tmp_path: Path, ended_pid: int) -> Path:
    """Return the temporary database of a killed window, beside those of a window that runs and of one that was closed."""
    files = [tmp_path / name / "unsaved.db" for name in ("killed", "running", "closed")]
    for file in files[:2]:
        file.parent.mkdir()
        shutil.copy(story_db, file)
    for file, pid in zip(files, (ended_pid, os.getpid(), ended_pid), strict=True):
        settings.keep_unsaved_file(str(file), pid)
    return files[0]


def test_the_sessions_of_a_killed_window_are_offered_once(left_behind: Path, inspector: Inspector, qtbot: QtBot, tmp_path: Path) -> None:
    assert inspector.settings.recent == [str(left_behind)]
    tiles = inspector.window.welcome.findChildren(QWidget, "recent_item")
    assert [tile.accessibleName() for tile in tiles] == [f"Open {left_behind}"]
    assert f"A window was killed. Its sessions are in {left_behind}" in WindowDriver(inspector, qtbot).log_text()
    assert inspector.settings.unsaved_files == {str(tmp_path / "running" / "unsaved.db"): os.getpid()}


def test_a_window_remembers_its_temporary_database_from_its_first_session_on(
    inspector: Inspector, driver: WindowDriver, story_db: Path
) -> None:
    file = inspector.databases.unsaved_file.target
    assert inspector.settings.unsaved_files == {}
    shutil.copy(story_db, file)
    inspector.tasks.spawn(inspector.databases.unsaved(), "Opening")
    driver.run_until_idle()
    assert inspector.settings.unsaved_files == {file: os.getpid()}
