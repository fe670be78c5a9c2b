"""The settings apply at once and are remembered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QPushButton, QTableWidget

from inspector_app.app import Inspector
from inspector_app.shell.settings_dialog import SettingsDialog
from inspector_app.support.settings import Settings
from inspector_app.widgets import theme
from tests.gui.window.driver import WindowDriver


@pytest.fixture
def dialog(driver: WindowDriver, orders: Inspector) -> Iterator[SettingsDialog]:
    driver.qtbot.keyClick(orders.window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    found = orders.window.findChild(SettingsDialog)
    assert found is not None and found.isVisible()
    yield found
    theme.current().set_scale(100)


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
    model = driver.inspector.controller.events
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
