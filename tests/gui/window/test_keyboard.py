"""Keyboard focus: moving between panes, and where it goes when its widget disappears."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QCheckBox,
    QDockWidget,
    QLineEdit,
    QListWidget,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.presentation.decisions import Choice
from inspector_app.widgets.empty_state import EmptyState


@pytest.fixture
def shown(inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot) -> Inspector:
    opened(story_db)
    inspector.window.activateWindow()
    qtbot.waitUntil(inspector.window.isActiveWindow)
    return inspector


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def test_the_start_page_has_the_focus_and_then_the_events(
    inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    inspector.window.activateWindow()
    qtbot.waitUntil(lambda: focused().objectName() == "welcome_open_agent")
    opened(story_db)
    assert focused() is inspector.window.parts.stream.table


def test_f7_cycles_through_the_panes_in_both_directions(shown: Inspector, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    bench.parts.sessions.tree.setFocus()
    panes = [bench.parts.sessions, bench.parts.stream, bench.parts.composer, bench.parts.detail, bench.parts.pending]
    for pane in [*panes[1:], panes[0]]:
        qtbot.keyClick(focused(), Qt.Key.Key_F7)
        assert pane.isAncestorOf(focused()), (pane.objectName(), focused().objectName())
    for pane in reversed(panes):
        qtbot.keyClick(focused(), Qt.Key.Key_F7, Qt.KeyboardModifier.ShiftModifier)
        assert pane.isAncestorOf(focused()), (pane.objectName(), focused().objectName())


def test_f7_moves_from_the_filter_to_the_events_and_shift_f7_to_the_sessions(shown: Inspector, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    for modifier, pane in ((Qt.KeyboardModifier.NoModifier, bench.parts.stream), (Qt.KeyboardModifier.ShiftModifier, bench.parts.sessions)):
        bench.parts.filter_bar.focus()
        qtbot.keyClick(focused(), Qt.Key.Key_F7, modifier)
        assert pane.isAncestorOf(focused()), focused().objectName()


def test_tab_moves_from_the_sessions_to_the_events_to_the_inspector(shown: Inspector, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    bench.parts.sessions.tree.setFocus()
    seen = []
    for _ in range(12):
        qtbot.keyClick(focused(), Qt.Key.Key_Tab)
        seen.append(
            next(
                (
                    pane.objectName()
                    for pane in (bench.parts.stream, bench.parts.composer, bench.parts.detail)
                    if pane.isAncestorOf(focused())
                ),
                "",
            )
        )
    order = [name for name in dict.fromkeys(seen) if name]
    assert order == ["event_stream", "composer", "event_detail"]


@pytest.mark.parametrize("key", [Qt.Key.Key_Tab, Qt.Key.Key_Backtab])
def test_tab_skips_panes_hidden_behind_another_tab(shown: Inspector, key: Qt.Key, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    assert bench.parts.pending.rows, "a hidden form must not take the focus"
    for pane in ("log", "pending"):
        bench.raise_pane(pane)
        qtbot.waitUntil(lambda: not bench.findChild(QDockWidget, f"dock_{pane}").visibleRegion().isEmpty())  # noqa: B023
        bench.parts.stream.table.setFocus()
        stops, hidden = [], []
        while len(stops) < 2 or focused() is not bench.parts.stream.table:  # links of a text are stops of one widget
            assert len(stops) < 100, [stop.objectName() for stop in stops[-10:]]
            stops.append(focused())
            hidden += (
                [focused().objectName()] if focused().visibleRegion().isEmpty() else []
            )  # a page of cards scrolls to what has the focus
            qtbot.keyClick(focused(), key)
        assert len(stops) > 8 and not hidden
        assert any(bench.parts.pending.isAncestorOf(stop) for stop in stops) == (pane == "pending")


def test_a_closed_card_gives_the_focus_to_the_events(shown: Inspector, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    shown.window.commands.fork.trigger()
    qtbot.waitUntil(lambda: bench.parts.fork_card.isVisible() and bench.parts.fork_card.isAncestorOf(focused()))
    qtbot.keyClick(focused(), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: focused() is bench.parts.stream.table)
    bench.parts.stream.table.clearFocus()
    bench.parts.note_hint.suggest("Something", "Do it", "hand")
    bench.parts.note_hint.button.setFocus()
    bench.parts.note_hint.hide()
    qtbot.waitUntil(lambda: focused() is bench.parts.stream.table)


def test_an_explicitly_focused_widget_keeps_the_focus(shown: Inspector, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    bench.parts.note_hint.suggest("Something", "Do it", "hand")
    bench.parts.note_hint.button.setFocus()
    bench.parts.note_hint.hide()
    bench.parts.composer.focus()
    QApplication.processEvents()
    QApplication.processEvents()
    assert bench.parts.composer.isAncestorOf(focused())


@pytest.mark.parametrize("leads_to", ["filter", "composer", "question", "pane"])
def test_what_an_enlarged_pane_hides_comes_back_when_it_is_wanted(shown: Inspector, qtbot: QtBot, leads_to: str) -> None:
    window, bench = shown.window, shown.window.workbench
    bench.raise_pane("pending")
    bench.parts.stream.table.setFocus()
    bench.parts.pending.focus()
    window.commands.enlarge.trigger()
    qtbot.waitUntil(lambda: not bench.middle.isVisible())
    assert bench.parts.pending.isAncestorOf(focused())
    if leads_to == "filter":
        window.commands.find_event.trigger()
        qtbot.waitUntil(lambda: bench.parts.filter_bar.isAncestorOf(focused()))
    elif leads_to == "composer":
        window.commands.write_message.trigger()
        qtbot.waitUntil(lambda: bench.parts.composer.isAncestorOf(focused()))
    elif leads_to == "question":
        bench.parts.fork_card.show_decision("Fork here?", [], [Choice("fork", "Fork", "")], icon="code-branch")
        qtbot.waitUntil(lambda: bench.parts.fork_card.isVisible() and bench.parts.fork_card.isAncestorOf(focused()))
    else:
        window.commands.go_to_sessions.trigger()
        qtbot.waitUntil(lambda: bench.parts.sessions.isAncestorOf(focused()))
    assert bench.middle.isVisible() and bench.layout_of_docks.enlarged is None


def test_enter_presses_the_focused_button(shown: Inspector, qtbot: QtBot) -> None:
    window, bench = shown.window, shown.window.workbench
    button = window.findChild(QPushButton, "state_add")
    bench.parts.detail.tabs.setCurrentIndex(1)
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Return)
    assert window.findChild(QLineEdit, "state_key").isVisible()
    window.commands.fork.trigger()  # its buttons are made when it is shown
    qtbot.waitUntil(lambda: bench.parts.fork_card.isAncestorOf(focused()))
    choices = bench.parts.fork_card.findChildren(QPushButton)
    choices[-1].setFocus()
    qtbot.keyClick(choices[-1], Qt.Key.Key_Enter, Qt.KeyboardModifier.KeypadModifier)
    assert not bench.parts.fork_card.isVisible()
    shown.messages.warning("Something is odd")
    qtbot.keyClick(focused(), Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(focused(), Qt.Key.Key_Return)
    assert bench.parts.log.findChild(QListWidget, "log_list").hasFocus(), "its first button shows the log"


def test_enter_presses_a_button_once_and_only_without_modifiers(shown: Inspector, qtbot: QtBot) -> None:
    pressed = []
    button = QPushButton("made later", shown.window)
    button.clicked.connect(lambda: pressed.append(button))
    button.show()
    button.setFocus()
    held_down = QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", True)
    QApplication.sendEvent(button, held_down)
    qtbot.keyClick(button, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not pressed
    qtbot.keyClick(button, Qt.Key.Key_Return)
    assert pressed == [button]
    dock = shown.window.findChild(QDockWidget, "dock_log")
    dock.setFloating(True)  # a separate window
    shown.window.workbench.raise_pane("log")
    copy = dock.findChild(QToolButton, "log_copy")
    shown.messages.info("said in the log", quiet=True)
    copy.setFocus()
    qtbot.keyClick(copy, Qt.Key.Key_Return)
    assert "said in the log" in QApplication.clipboard().text()
    dock.setFloating(False)
    box = QCheckBox("an answer, not a button", shown.window)
    box.show()
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert not box.isChecked()


def test_each_pane_is_raised_by_its_shortcut(shown: Inspector, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    panes = [
        bench.parts.sessions,
        bench.parts.detail,
        bench.parts.pending,
        bench.parts.breakpoints,
        bench.parts.timeline,
    ]
    for number, pane in (*enumerate(panes, 1), (7, bench.parts.log)):
        qtbot.keyClick(focused(), str(number), Qt.KeyboardModifier.AltModifier)
        qtbot.waitUntil(lambda: not pane.visibleRegion().isEmpty())  # noqa: B023
        assert pane.isAncestorOf(focused()), "including an empty pane"


def test_the_inspectors_shortcut_focuses_what_is_shown_of_the_event(shown: Inspector, qtbot: QtBot) -> None:
    bench, events = shown.window.workbench, shown.features.stream.events
    bench.parts.stream.select_event(next(n for n in range(events.event_count) if events.committed(n).actions.state_delta))
    qtbot.waitUntil(lambda: bench.parts.detail.delta.table.isVisible())
    qtbot.keyClick(focused(), "2", Qt.KeyboardModifier.AltModifier)
    assert bench.parts.detail.isAncestorOf(focused())


def test_a_shortcut_to_a_pane_closes_the_page_that_hides_it(shown: Inspector, qtbot: QtBot) -> None:
    window, bench = shown.window, shown.window.workbench
    control, alt = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
    for key, modifier, pane in (
        (Qt.Key.Key_F, control, bench.parts.filter_bar),
        (Qt.Key.Key_4, alt, bench.parts.breakpoints),
        (Qt.Key.Key_P, control, bench.parts.pending),
        (Qt.Key.Key_F7, Qt.KeyboardModifier.NoModifier, bench),
    ):
        for page in (window.parts.welcome, window.parts.compare):
            window.show_page(page)
            qtbot.keyClick(window, key, modifier)
            qtbot.waitUntil(lambda: pane.isAncestorOf(focused()))  # noqa: B023
            assert window.page is bench


def test_shortcuts_to_panes_are_disabled_until_something_is_open(
    inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    inspector.window.activateWindow()
    qtbot.waitUntil(lambda: focused().objectName() == "welcome_open_agent")
    for key, modifier in ((Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier), (Qt.Key.Key_4, Qt.KeyboardModifier.AltModifier)):
        qtbot.keyClick(focused(), key, modifier)
        assert focused().objectName() == "welcome_open_agent"
    assert "Open an agent or a database first" in inspector.window.commands.find_event.toolTip()
    opened(story_db)
    assert inspector.window.commands.find_event.isEnabled()


def test_a_new_session_focuses_the_composer(story: Inspector, qtbot: QtBot) -> None:
    story.window.activateWindow()
    qtbot.waitUntil(story.window.isActiveWindow)
    story.window.commands.new_session.trigger()
    qtbot.waitUntil(lambda: not story.tasks.running)
    assert story.window.parts.composer.isAncestorOf(focused())


def copied_by_menu_key(view: QAbstractItemView, copy: str, qtbot: QtBot) -> str:
    """Open the context menu as the Menu key does, trigger one of its copy actions, and return the clipboard's text."""
    view.setFocus()
    QApplication.sendEvent(view.window().windowHandle(), QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint()))
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    {action.text(): action for action in menu.actions()}[copy].trigger()
    menu.close()
    return QApplication.clipboard().text()


def test_the_menu_key_opens_the_menu_of_the_current_row(shown: Inspector, qtbot: QtBot) -> None:
    bench, events = shown.window.workbench, shown.features.stream.events
    state, delta = bench.parts.detail.state, bench.parts.detail.delta
    for number in range(3):
        bench.parts.stream.select_event(number)
        assert copied_by_menu_key(bench.parts.stream.table, "Copy event id", qtbot) == events.committed(number).id
    bench.parts.stream.select_event(next(n for n in range(events.event_count) if events.committed(n).actions.state_delta))
    qtbot.waitUntil(lambda: delta.table.isVisible())
    session = state.model.index(0, 0)
    for row in range(state.model.rowCount(session)):
        state.tree.setCurrentIndex(state.model.index(row, 0, session))
        assert copied_by_menu_key(state.tree, "Copy key", qtbot) == state.model.index(row, 0, session).data()
    delta.table.setCurrentIndex(delta.model.index(0, 0))
    assert copied_by_menu_key(delta.table, "Copy path", qtbot) == f"state[{delta.model.change(0).key!r}]"


def test_the_menu_key_scrolls_the_current_row_into_view(shown: Inspector, qtbot: QtBot) -> None:
    table, events = shown.window.parts.stream.table, shown.features.stream.events
    shown.window.resize(1280, 500)
    shown.window.parts.stream.select_event(events.event_count - 1)
    table.verticalScrollBar().setValue(0)
    assert table.verticalScrollBar().maximum() > 0
    assert copied_by_menu_key(table, "Copy event id", qtbot) == events.committed(events.event_count - 1).id


def test_going_to_an_empty_pending_pane_focuses_its_empty_state(shown: Inspector, qtbot: QtBot) -> None:
    pending = shown.window.parts.pending
    pending.set_rows([], None)
    shown.window.commands.answer_pending.trigger()
    assert pending.isAncestorOf(focused()) and isinstance(focused(), EmptyState)


def test_finding_in_the_state_without_an_event_focuses_the_empty_state(shown: Inspector, qtbot: QtBot) -> None:
    detail = shown.window.parts.detail
    shown.cursor.select_session(None)
    qtbot.waitUntil(lambda: not detail.tabs.isVisible())
    shown.window.commands.find_in_state.trigger()
    assert detail.isAncestorOf(focused()) and focused().isVisible()


def test_all_tab_stops_of_the_start_page_are_buttons(inspector: Inspector, qtbot: QtBot) -> None:
    inspector.window.activateWindow()
    qtbot.waitUntil(lambda: focused().objectName() == "welcome_open_agent")
    stops = []
    while not stops or focused() is not stops[0]:
        stops.append(focused())
        qtbot.keyClick(focused(), Qt.Key.Key_Tab)
    assert all(isinstance(stop, QAbstractButton) for stop in stops), [stop.objectName() for stop in stops]
