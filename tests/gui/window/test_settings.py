"""The settings apply at once and are remembered."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QPlainTextEdit, QPushButton, QTableWidget, QTreeWidget

from inspector_app.app import Inspector
from inspector_app.shell.settings_dialog import SettingsDialog
from inspector_app.support.settings import Settings
from inspector_app.widgets import motion, theme
from tests.gui.window.driver import WindowDriver
from tests.keyrings import KeyringInFile


@pytest.fixture
def dialog(driver: WindowDriver, orders: Inspector, request: pytest.FixtureRequest) -> Iterator[SettingsDialog]:
    if "keyring_in_file" in request.fixturenames:
        request.getfixturevalue("keyring_in_file")
    driver.qtbot.keyClick(orders.window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    found = orders.window.findChild(SettingsDialog)
    assert found is not None and found.isVisible()
    yield found
    theme.current().set_scale(100)
    theme.current().set_compact(False)


def choose(driver: WindowDriver, dialog: SettingsDialog, name: str, text: str) -> None:
    box = dialog.findChild(QComboBox, name)
    box.setFocus()
    box.setCurrentText(text)
    box.activated.emit(box.currentIndex())


def test_theme_size_editor_and_recording(driver: WindowDriver, dialog: SettingsDialog, settings: Settings, orders: Inspector) -> None:
    choose(driver, dialog, "settings_theme", "High contrast")
    assert theme.current().tokens is theme.CONTRAST and orders.window.commands.theme_contrast.isChecked()
    choose(driver, dialog, "settings_text_size", "125 %")
    assert theme.current().scale == 125
    editor = dialog.findChild(QLineEdit, "settings_editor")
    editor.setFocus()
    driver.qtbot.keyClicks(editor, "vim +{line} {file}")
    driver.qtbot.keyClick(editor, Qt.Key.Key_Tab)
    dialog.findChild(QCheckBox, "settings_recording").click()
    assert not orders.run.records_requests
    assert (settings.theme, settings.text_scale, settings.editor, settings.records_requests) == (
        "contrast",
        125,
        "vim +{line} {file}",
        False,
    )
    driver.qtbot.mouseClick(dialog.findChild(QPushButton, "settings_close"), Qt.MouseButton.LeftButton)


def test_an_own_price_changes_the_displayed_costs(driver: WindowDriver, dialog: SettingsDialog, settings: Settings) -> None:
    driver.run_message("40 boxes of A4 paper")
    table = dialog.findChild(QTableWidget, "settings_prices")
    dialog.findChild(QPushButton, "settings_add_price").click()
    for column, text in enumerate(("scripted-order-desk", "1000", "2000")):
        table.item(0, column).setText(text)
    assert settings.prices == {"scripted-order-desk": {"input": 1000.0, "output": 2000.0, "cached": 1000.0}}
    driver.run_until(lambda: any("$" in row.tokens for row in headers(driver)))
    dialog.findChild(QPushButton, "settings_remove_price").click()
    assert settings.prices == {}
    driver.run_until(lambda: any("cost unknown" in row.tokens for row in headers(driver)))


def headers(driver: WindowDriver) -> list:
    model = driver.inspector.features.stream.events
    return [row for row in (model.stream_row(number) for number in range(model.rowCount())) if row.kind == "invocation"]


@pytest.mark.parametrize(("numbers", "is_wrong"), [(("1", "2"), False), (("-1", "2"), True), (("a", "2"), True), (("1", ""), True)])
def test_a_price_that_is_none_is_marked_and_not_kept(
    driver: WindowDriver, dialog: SettingsDialog, settings: Settings, numbers: tuple[str, str], is_wrong: bool
) -> None:
    table = dialog.findChild(QTableWidget, "settings_prices")
    dialog.findChild(QPushButton, "settings_add_price").click()
    for column, text in enumerate(("m", *numbers)):
        table.item(0, column).setText(text)
    assert (settings.prices == {}) == is_wrong
    assert (table.item(0, 1).foreground().color() == theme.color("bad")) == is_wrong


SECRET = "planted-key-5b1e77"
NEEDS_A_KEY = """
import os
from runtime.agents import BaseAgent
from runtime.events import Event

class Keyed(BaseAgent):
    async def _run_async_impl(self, ctx):
        letters = len(os.environ.get("MY_KEY", ""))
        yield Event(author=self.name, invocation_id=ctx.invocation_id, actions={"state_delta": {"letters": letters}})

root_agent = Keyed(name="keyed")
"""


def test_a_key_is_set_and_removed_and_is_in_the_keyring_alone(
    driver: WindowDriver, dialog: SettingsDialog, keyring_in_file: KeyringInFile, agent: Callable[[str, str], Inspector], tmp_path: Path
) -> None:
    driver.run_until_idle()
    name, key = (dialog.findChild(QLineEdit, field) for field in ("settings_key_name", "settings_key"))
    assert key.echoMode() == QLineEdit.EchoMode.Password and key.isEnabled()
    name.setText("MY_KEY")
    driver.qtbot.keyClicks(key, SECRET)
    dialog.pages.setCurrentIndex(1)
    driver.click(dialog, "settings_set_key")
    assert key.text() == ""
    driver.run_until_idle()
    assert kept_keys(dialog)["MY_KEY"] == "Set"
    agent("keyed", NEEDS_A_KEY)
    driver.run_message("hello")
    assert driver.stream.events()[-1].actions.state_delta == {"letters": len(SECRET)}
    driver.click(dialog, "settings_remove_key")
    driver.run_until_idle()
    assert "MY_KEY" not in kept_keys(dialog)
    driver.run_message("again")
    assert driver.stream.events()[-1].actions.state_delta == {"letters": 0}
    assert SECRET not in driver.log_text()
    folders = (tmp_path, Path(os.environ["XDG_DATA_HOME"]))
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    assert [file for file in files if SECRET.encode() in file.read_bytes()] == []


def test_without_a_keyring_the_page_says_what_to_do(driver: WindowDriver, dialog: SettingsDialog) -> None:
    driver.run_until_idle()
    problem = dialog.findChild(QLabel, "settings_key_problem").text()
    assert problem.startswith("This system has no keyring") and "environment variable" in problem
    assert not dialog.findChild(QLineEdit, "settings_key").isEnabled()


def test_what_the_keyring_refuses_is_shown(driver: WindowDriver, dialog: SettingsDialog, keyring_in_file: KeyringInFile) -> None:
    driver.run_until_idle()
    keyring_in_file.refuses = True
    dialog.keys.key_entered.emit("MY_KEY", SECRET)
    driver.run_until_idle()
    problem = dialog.findChild(QLabel, "settings_key_problem").text()
    assert "the collection is locked" in problem and SECRET not in problem
    assert "MY_KEY" not in kept_keys(dialog)


def kept_keys(dialog: SettingsDialog) -> dict[str, str]:
    table = dialog.findChild(QTableWidget, "settings_keys")
    return {table.item(row, 0).text(): table.item(row, 1).text() for row in range(table.rowCount())}


def heights(driver: WindowDriver) -> tuple[int, int, int]:
    """Return the heights of a row of the stream, of the session list and of the state."""
    sessions, state = driver.bench.parts.sessions.tree, driver.bench.parts.detail.state.tree
    return (
        driver.bench.parts.stream.table.rowHeight(1),
        sessions.visualRect(sessions.model().index(0, 0)).height(),
        state.visualRect(state.model().index(0, 0)).height(),
    )


def test_compact_rows_apply_at_once_and_are_kept(driver: WindowDriver, dialog: SettingsDialog, settings: Settings) -> None:
    driver.run_message("40 boxes of A4 paper")
    driver.bench.parts.detail.tabs.setCurrentWidget(driver.bench.parts.detail.state)
    comfortable = heights(driver)
    choose(driver, dialog, "settings_density", "Compact")
    assert settings.compact_rows and driver.inspector.window.commands.compact_rows.isChecked()
    compact = heights(driver)
    assert all(low < high for low, high in zip(compact, comfortable, strict=True)), (compact, comfortable)
    assert min(compact) >= QFontMetrics(driver.bench.font()).height()
    driver.inspector.window.commands.compact_rows.trigger()
    assert heights(driver) == comfortable and not settings.compact_rows


def test_reduced_motion(driver: WindowDriver, dialog: SettingsDialog, settings: Settings, orders: Inspector) -> None:
    orders.features.shell.motion.choose("system")  # the cursor blinks again
    flash = QGuiApplication.styleHints().cursorFlashTime()
    assert driver.bench.isAnimated() and flash > 0
    choose(driver, dialog, "settings_motion", "Reduced")
    assert (driver.bench.isAnimated(), QGuiApplication.styleHints().cursorFlashTime(), settings.motion) == (False, 0, "reduced")
    choose(driver, dialog, "settings_motion", "Full")
    assert (driver.bench.isAnimated(), QGuiApplication.styleHints().cursorFlashTime()) == (True, flash)


def test_the_text_cursor_stops_blinking_until_another_field_has_the_focus(
    driver: WindowDriver, orders: Inspector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(motion, "BLINKING_MS", 1)
    hints = QGuiApplication.styleHints()
    orders.features.shell.motion.choose("full")
    driver.run_until(lambda: hints.cursorFlashTime() == 0)
    seen: list[int] = []
    hints.cursorFlashTimeChanged.connect(seen.append)
    edit = orders.window.findChild(QPlainTextEdit, "composer_edit")
    edit.clearFocus()
    edit.setFocus()
    driver.run_until(lambda: len(seen) > 1 and seen[-1] == 0)
    assert seen[0] > 0
    hints.cursorFlashTimeChanged.disconnect(seen.append)


def test_motion_follows_a_system_that_asks_for_less(driver: WindowDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    class Preference(Enum):
        ReducedMotion = 1

    system = SimpleNamespace(motionPreference=lambda: Preference.ReducedMotion)  # what Qt 6.12 has
    monkeypatch.setattr(motion, "_accessibility", lambda hints: system)
    driver.inspector.features.shell.motion.choose("full")
    assert not driver.inspector.features.shell.motion.is_reduced
    driver.inspector.features.shell.motion.choose("system")
    assert not driver.bench.isAnimated()
    monkeypatch.undo()
    driver.inspector.features.shell.motion.choose("system")
    assert driver.bench.isAnimated()


def test_trust_is_listed_and_revoked(driver: WindowDriver, orders: Inspector, settings: Settings, tmp_path: Path) -> None:
    for name, changes in (("mine", True), ("theirs", False)):
        (tmp_path / name).mkdir()
        settings.keep_trusted_code(tmp_path / name, {"digest": "x", "identity": "1", "changes": changes})
    settings.trust_host("build.example")
    driver.qtbot.keyClick(orders.window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    dialog = orders.window.findChild(SettingsDialog)
    assert dialog is not None
    dialog.pages.setCurrentIndex(3)
    listed = dialog.findChild(QTreeWidget, "settings_trusted")
    rows = {listed.topLevelItem(row).text(0): listed.topLevelItem(row) for row in range(listed.topLevelItemCount())}
    assert rows[str(tmp_path / "mine")].text(1) == "this code and later changes"
    assert (rows[str(tmp_path / "theirs")].text(1), rows["build.example"].text(1)) == ("this code", "server")
    revoke = dialog.findChild(QPushButton, "settings_revoke")
    assert not revoke.isEnabled(), "nothing is selected"
    for name in (str(tmp_path / "mine"), "build.example"):
        rows[name].setSelected(True)
    driver.qtbot.mouseClick(revoke, Qt.MouseButton.LeftButton)
    assert settings.trusted_code(tmp_path / "mine") == {} and settings.trusted_hosts == []
    assert settings.trusted_code(tmp_path / "theirs") and not revoke.isEnabled()
    assert listed.topLevelItemCount() == len(rows) - 2
    dialog.accept()
