"""Sessions are called by their first messages, and by the names that the user gives them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from runtime.storage.reading.reader import StoredDatabase
from tests.end2end.processes import ROOT
from tests.gui.window.driver import WindowDriver

FIRST = {"ours.db": "40 boxes of A4 paper", "v1.db": "How is the weather in Lisbon?"}


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def shown(inspector: Inspector, driver: WindowDriver) -> set[str]:
    """Return the names of the displayed session in the list, the status bar and the window's title."""
    window = inspector.window
    row = driver.sessions.indexes("session")[0].data()
    return {row, window.status.text("session"), window.windowTitle().split(" · ")[0]}


@pytest.mark.parametrize("name", list(FIRST))
def test_a_session_is_renamed_with_f2_and_by_another_process(
    name: str, tmp_path: Path, inspector: Inspector, opened: Callable[..., None], driver: WindowDriver, qtbot: QtBot
) -> None:
    file = Path(shutil.copy(ROOT / "tests" / "data" / name, tmp_path))
    opened(file)
    qtbot.waitUntil(lambda: shown(inspector, driver) == {FIRST[name]})
    tree = inspector.window.parts.sessions.tree
    tree.setFocus()
    driver.sessions.click("session")
    before = file.read_bytes()
    for new, title in (("Paper for all", "Paper for all"), ("", FIRST[name])):
        qtbot.keyClick(tree, Qt.Key.Key_F2)
        (editor,) = tree.findChildren(QLineEdit)
        assert editor.selectedText() == editor.text() == driver.sessions.indexes("session")[0].data()
        editor.setText(new)
        qtbot.keyClick(editor, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: shown(inspector, driver) == {title})  # noqa: B023 - waited for
        qtbot.waitUntil(lambda: not tree.findChildren(QLineEdit))
    assert name == "ours.db" or file.read_bytes() == before, "another program's database is not changed"
    with StoredDatabase.open(str(file)) as database:
        (key,) = (summary.key for summary in database.listing())
    subprocess.run([sys.executable, "-m", "inspector_app", "name", str(file), key.session_id, "Named elsewhere"], check=True)
    qtbot.waitUntil(lambda: shown(inspector, driver) == {"Named elsewhere"})


def test_a_new_session_is_called_by_its_first_message(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.run_message("40 boxes of A4 paper")
    qtbot.waitUntil(lambda: shown(orders, driver) == {"40 boxes of A4 paper"})
