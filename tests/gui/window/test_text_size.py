"""Ctrl with the wheel, or with + and -, changes the size of text and rows in the whole window."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetrics, QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QPushButton, QTabBar, QToolButton, QTreeWidget, QWidget
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.stream.event_cells import Column
from inspector_app.support.settings import Settings
from inspector_app.widgets import theme
from inspector_app.widgets.steady_label import SteadyLabel
from tests.gui.window.driver import WindowDriver
from tests.gui.window.test_pending_forms import TRANSFER

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(autouse=True)
def normal_size() -> Iterator[None]:
    yield
    theme.current().set_scale(100)


def turn(widget: QWidget, angle: int, keys: Qt.KeyboardModifier = CTRL) -> None:
    place = QPointF(5, 5)
    event = QWheelEvent(
        place, widget.mapToGlobal(place), QPoint(), QPoint(0, angle), Qt.MouseButton.NoButton, keys, Qt.ScrollPhase.NoScrollPhase, False
    )
    QApplication.sendEvent(widget, event)


def test_the_wheel_with_ctrl_changes_the_size_and_without_it_scrolls(driver: WindowDriver, story: Inspector, settings: Settings) -> None:
    table = driver.bench.parts.stream.table
    before = table.rowHeight(0), table.columnWidth(1)
    turn(table.viewport(), 120, Qt.KeyboardModifier.NoModifier)
    assert theme.current().scale == 100
    turn(table.viewport(), 60)
    assert theme.current().scale == 100, "half a notch"
    turn(table.viewport(), 60)
    turn(table.viewport(), 120)
    assert theme.current().scale == 125
    assert table.rowHeight(0) == round(before[0] * 1.25) and table.columnWidth(1) > before[1]
    assert QApplication.font().pixelSize() == 16
    assert settings.text_scale == 125, "it is remembered"


def test_the_keys_stop_at_the_largest_and_smallest_size(driver: WindowDriver, story: Inspector) -> None:
    commands = story.window.commands
    for _ in range(20):
        driver.qtbot.keyClick(story.window, Qt.Key.Key_Plus, CTRL)
    assert theme.current().scale == 200
    assert not commands.larger_text.isEnabled() and commands.smaller_text.isEnabled()
    driver.qtbot.keyClick(story.window, Qt.Key.Key_0, CTRL)
    assert theme.current().scale == 100
    for _ in range(20):
        driver.qtbot.keyClick(story.window, Qt.Key.Key_Minus, CTRL)
    assert theme.current().scale == 80


def test_values_titles_and_monospace_text_follow(driver: WindowDriver, story: Inspector) -> None:
    bench = driver.bench
    bench.parts.stream.select_event(1)
    tree, delta = bench.parts.detail.state.tree, bench.parts.detail.delta.table
    filter_field = bench.parts.filter_bar.field
    before = tree.visualRect(tree.model().index(0, 0)).height(), filter_field.font().pixelSize()
    theme.current().set_scale(200)
    driver.run_until(lambda: tree.visualRect(tree.model().index(0, 0)).height() == 2 * before[0])
    assert filter_field.font().pixelSize() == 2 * before[1]
    assert delta.rowHeight(0) == 44
    driver.run_until(lambda: bench.parts.detail.findChild(QWidget, "event_facts").font().pixelSize() == 22)


def test_the_size_is_in_the_preferences_of_the_next_window(driver: WindowDriver, settings: Settings) -> None:
    driver.inspector.window.commands.larger_text.trigger()
    driver.run_until(lambda: Settings(settings.folder).text_scale == 110)
    headings = [label for label in driver.inspector.window.findChildren(QLabel) if label.property("role") == "heading"]
    assert {label.font().pixelSize() for label in headings if label.isVisible()} == {22}


@pytest.mark.parametrize("scale", [100, 150, 200])
def test_large_text_neither_widens_the_window_nor_hides_what_happened(driver: WindowDriver, orders: Inspector, scale: int) -> None:
    theme.current().set_scale(scale)
    driver.run_message("40 boxes of A4 paper")
    window, table, form = orders.window, driver.bench.parts.stream.table, driver.bench.parts.pending.form
    driver.run_until(lambda: window.width() == 1280)
    assert window.minimumSizeHint().width() <= 1280
    assert table.columnWidth(Column.EVENT) >= theme.px(100)
    assert [table.isColumnHidden(column) for column in (Column.TOKENS, Column.TIME)] == [scale > 100, scale > 100]
    hint = driver.bench.parts.composer.findChild(QPlainTextEdit).placeholderText()
    assert QFontMetrics(driver.bench.parts.composer.font()).horizontalAdvance(hint) < driver.bench.parts.composer.width()
    shown = [
        form.isVisible() and button.isVisible() for button in form.findChildren(QPushButton) if button.text() in ("Respond", "Resume…")
    ]
    assert shown == [True, True]


@pytest.mark.parametrize("scale", [100, 150, 200])
def test_everything_follows_the_size_beside_a_long_name(
    inspector: Inspector, opened: Callable[..., None], story_db: Path, tmp_path: Path, driver: WindowDriver, scale: int
) -> None:
    window = inspector.window
    long = Path(shutil.copy(story_db, tmp_path / ("a_long_name_of_a_database_" * 9 + ".db")))
    theme.current().set_scale(scale)
    opened(long)
    driver.stream.select(2)
    window.resize(1280, 800)
    driver.run_until(lambda: window.status.width() == window.width())
    assert window.size().width() == 1280, "the name made the window wider"
    for bar in window.findChildren(QTabBar):
        words = [tab for tab in range(bar.count()) if bar.isVisible() and bar.isTabVisible(tab)]
        assert all(bar.tabRect(tab).width() >= bar.fontMetrics().horizontalAdvance(bar.tabText(tab)) for tab in words)
        assert all(bar.rect().contains(bar.tabRect(tab).center()) for tab in words)
    buttons = [each for each in window.findChildren(QToolButton) if each.isVisible() and not each.icon().isNull() and not each.text()]
    drawn = {each.objectName(): each.iconSize().width() for each in buttons if each.objectName() != "qt_toolbar_ext_button"}
    assert drawn and {name: size for name, size in drawn.items() if size < theme.px(12)} == {}
    small = [each for each in window.findChildren(QLabel) if each.isVisible() and each.text() and each.font().pixelSize() < theme.px(10)]
    assert [each.objectName() for each in small] == []
    states = [each for each in window.status.findChildren(SteadyLabel) if each.objectName() in ("status_tail", "status_live")]
    assert all(each.width() >= each.fontMetrics().horizontalAdvance(each.text()) for each in states)
    header = driver.bench.parts.pending.findChild(QTreeWidget, "pending_list").header()
    shown = [column for column in range(header.count()) if not header.isSectionHidden(column)]
    assert all(header.sectionSize(column) >= header.sectionSizeHint(column) for column in shown), "a heading is cut"


@pytest.mark.parametrize("scale", [100, 150, 200])
def test_a_confirmation_shows_both_answers_at_any_size(
    agent: Callable[[str, str], Inspector], driver: WindowDriver, qtbot: QtBot, scale: int
) -> None:
    bank = agent("bank", TRANSFER)
    with qtbot.waitSignal(bank.run.run_ended, timeout=10_000):
        driver.composer.send("pay the rent")
    bank.window.resize(1280, 800)
    theme.current().set_scale(scale)
    pane = bank.window.parts.pending
    answers = [pane.findChild(QPushButton, name) for name in ("pending_approve", "pending_reject")]
    qtbot.waitUntil(lambda: all(answer.visibleRegion().boundingRect() == answer.rect() for answer in answers))
    assert all(answer.width() >= answer.sizeHint().width() for answer in answers)
