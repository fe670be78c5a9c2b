"""Saved filters, filters made from values, and hits marked among all events."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QInputDialog, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from tests.gui.window.driver import WindowDriver


@pytest.fixture
def shown(inspector: Inspector, story_db: Path, opened: Callable[..., None]) -> Inspector:
    opened(story_db)
    return inspector


def menu_of(inspector: Inspector, qtbot: QtBot) -> QMenu:
    """Open the menu of saved filters with its command and return it."""
    inspector.window.commands.saved_filters.trigger()
    menus = [menu for menu in inspector.window.findChildren(QMenu, "saved_filters_menu") if menu.isVisible()]
    assert len(menus) == 1
    return menus[0]


def entries(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def entry(menu: QMenu, words: str) -> QAction:
    return next(action for action in menu.actions() if action.text().startswith(words))


def save(driver: WindowDriver, text: str, name: str) -> None:
    driver.inspector.window.parts.filter_bar.set_text(text)
    driver.run_until_idle()
    menu = menu_of(driver.inspector, driver.qtbot)
    menu.setActiveAction(entry(menu, "Save this filter"))
    driver.qtbot.keyClick(menu, Qt.Key.Key_Return)
    dialog = driver.inspector.window.findChild(QInputDialog, "save_filter")
    field = dialog.findChild(QLineEdit)
    assert field.text() == text
    field.clear()
    driver.qtbot.keyClicks(field, name)
    driver.qtbot.keyClick(field, Qt.Key.Key_Return)


def test_a_filter_is_saved_chosen_and_removed_by_keyboard(shown: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    bar = shown.window.parts.filter_bar
    menu = menu_of(shown, qtbot)
    assert entries(menu) == ["No filter is saved for this app", "Save this filter…"]
    assert not entry(menu, "Save").isEnabled(), "no filter is entered"
    menu.close()
    save(driver, 'author == "Critic"', "the critic & co")
    name = shown.cursor.session.key.app_name
    assert shown.settings.saved_filters(name) == {"the critic & co": 'author == "Critic"'}
    bar.clear()
    menu = menu_of(shown, qtbot)
    assert entries(menu)[0] == 'the critic && co\tauthor == "Critic"'
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert bar.text == 'author == "Critic"'
    driver.run_until_idle()
    menu = menu_of(shown, qtbot)
    removing = entry(menu, "Remove").menu()
    removing.actions()[0].trigger()
    menu.close()
    assert shown.settings.saved_filters(name) == {}
    assert entries(menu_of(shown, qtbot))[0] == "No filter is saved for this app"


def test_saved_filters_belong_to_an_app(shown: Inspector, driver: WindowDriver) -> None:
    save(driver, "Critic", "critic")
    address = shown.cursor.session
    shown.cursor.select_session(None)
    driver.run_until_idle()
    assert shown.window.parts.filter_bar.saved.filters == {}
    shown.cursor.select_session(address)
    driver.run_until_idle()
    assert shown.window.parts.filter_bar.saved.filters == {"critic": "Critic"}
    assert shown.settings.saved_filters("another app") == {}


def test_an_invalid_filter_cannot_be_saved(shown: Inspector, qtbot: QtBot) -> None:
    shown.window.parts.filter_bar.set_text("author ==")
    assert not entry(menu_of(shown, qtbot), "Save").isEnabled()


def choose(menu: QMenu, words: str) -> None:
    filters = next(action.menu() for action in menu.actions() if action.text() == "Show only")
    entry(filters, words).trigger()
    menu.close()


def state_index(inspector: Inspector, key: str) -> QModelIndex:
    model = inspector.window.parts.detail.state.model
    lane = model.index(0, 0)
    return next(model.index(row, 0, lane) for row in range(model.rowCount(lane)) if model.index(row, 0, lane).data() == key)


def test_a_state_value_is_turned_into_a_filter(shown: Inspector, driver: WindowDriver) -> None:
    bench = shown.window.workbench
    choose(bench.parts.detail.state.tree.context_menu(state_index(shown, "topic")), "events that change this")
    assert bench.parts.filter_bar.text == 'state["topic"] changed'
    driver.run_until_idle()
    assert shown.features.stream.events.shown_count == 1


def test_a_delta_value_is_turned_into_a_filter(shown: Inspector, driver: WindowDriver) -> None:
    bench, events = shown.window.workbench, shown.features.stream.events
    index = next(place for place in range(events.event_count) if events.committed(place).actions.state_delta)
    bench.parts.stream.select_event(index)
    key = next(iter(events.committed(index).actions.state_delta))
    choose(bench.parts.detail.delta.context_menu(0), "events that change this")
    assert bench.parts.filter_bar.text == f'state["{key}"] changed'
    driver.run_until_idle()
    assert shown.features.stream.events.shown_count >= 1


def test_hits_are_marked_among_all_events(shown: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    bench, events = shown.window.workbench, shown.features.stream.events
    bench.parts.filter_bar.set_text('kind == "user input"')
    driver.run_until_idle()
    hits, everything = events.shown_count, events.event_count
    assert hits < everything
    qtbot.keyClick(shown.window, Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    driver.run_until_idle()
    assert events.shown_count == everything
    bar = bench.parts.stream.table.bar
    bar.count_now()
    assert len(shown.features.stream.controller.hits) == hits
    assert len(bar.lines["hits"]) >= 1
    qtbot.keyClick(bench.parts.stream.table, Qt.Key.Key_F3)
    assert events.committed(shown.cursor.event_index).author == "user"
    bench.parts.filter_bar.clear()
    bar.count_now()
    assert bar.lines == {}
    assert shown.features.stream.controller.hits is None
