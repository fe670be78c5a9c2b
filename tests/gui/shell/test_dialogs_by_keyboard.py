"""Every dialog is used by the keyboard alone: Tab walks it as it is read, Enter presses its main button, and Escape closes it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from inspector_app.branches.session_picker import SessionPicker
from inspector_app.capsules.capsule_dialog import CapsuleDialog
from inspector_app.capsules.replay_dialog import ReplayDialog
from inspector_app.detail.editor_dialog import EditorDialog
from inspector_app.detail.send_again_dialog import SendAgainDialog
from inspector_app.evals.repeat_dialog import RepeatDialog
from inspector_app.opening.attach_dialog import AppRow, AttachDialog
from inspector_app.opening.host_dialog import HostDialog
from inspector_app.opening.url_dialog import UrlDialog
from inspector_app.sessions.deletion_dialog import DeletionDialog
from inspector_app.sessions.search_dialog import SearchDialog
from inspector_app.shell.help_dialog import HelpDialog
from inspector_app.shell.leave_dialog import LeaveDialog
from inspector_app.shell.settings_dialog import SettingsDialog, ShownSettings
from inspector_app.widgets.text_dialog import TextDialog


def attach() -> AttachDialog:
    dialog = AttachDialog("inspector_plugin.py")
    dialog.show_rows([AppRow(0, "orders · 12", "google-adk 2.13 · agent.py"), AppRow(1, "parcels · 13", "google-adk 2.13 · agent.py")])
    return dialog


def capsule() -> CapsuleDialog:
    dialog = CapsuleDialog("Session s1", 11, "With the description of orders", "")
    dialog.show_content("It holds 11 events.", [("event 1", "looks like a password")])
    return dialog


# What is opened, the button that Enter presses, and the control that has the focus at first.
DIALOGS: dict[str, tuple[Callable[[], QDialog], str, str]] = {
    "settings": (lambda: SettingsDialog(ShownSettings("dark", 100, False, "system", "", True, 30, 500, {}, [])), "settings_close", ""),
    "url": (lambda: UrlDialog(), "url_dialog_open", "url_dialog_url"),
    "attach": (attach, "attach_app", "attach_app"),
    "host": (lambda: HostDialog("example.org"), "host_dialog_cancel", "host_dialog_cancel"),
    "capsule": (capsule, "capsule_write", "capsule_first"),
    "replay": (lambda: ReplayDialog("Replay session s1", ["It has 2 model calls."]), "replay_run", "replay_runs_tools"),
    "repeat": (lambda: RepeatDialog("Run again", ["Each run costs."], ["1 run"] * 100), "repeat_run", "repeat_number"),
    "picker": (lambda: SessionPicker("Compare s1 with", []), "picker_compare", "picker_filter"),
    "search": (lambda: SearchDialog("orders.db"), "", "search_words"),
    "deletion": (lambda: DeletionDialog("orders.db", [], {}, "", by_age=True), "deletion_cancel", "deletion_age"),
    "send again": (lambda: SendAgainDialog({"model": "m"}, "Sent as it was.", "Yes."), "send_again_send", "send_again_request"),
    "editor": (lambda: EditorDialog("code"), "OK", ""),
    "help": (lambda: HelpDialog("How conditions are written", "Text"), "close_help", "help_text"),
    "leave": (lambda: LeaveDialog(2), "leave_dialog_save", "leave_dialog_save"),
    "text": (lambda: TextDialog("A value", "x"), "close_full_text", "full_text"),
}


def test_enter_begins_another_search_while_the_database_is_read(qtbot: QtBot) -> None:
    dialog = SearchDialog("orders.db")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    dialog.show_progress(1, 10)
    qtbot.waitUntil(lambda: QApplication.focusWidget() is dialog.words)
    dialog.words.setText("A4 paper")
    with qtbot.assertNotEmitted(dialog.cancelled), qtbot.waitSignal(dialog.asked):
        qtbot.keyClick(dialog.words, Qt.Key.Key_Return)


def place(part: QWidget, dialog: QDialog) -> QRect:
    return QRect(part.mapTo(dialog, QPoint()), part.size())


def goes_back(before: QRect, after: QRect) -> bool:
    """Return whether a step is not that of a reader: up in the same column, or left in the same line."""
    up = after.bottom() < before.top() and after.left() <= before.right()
    left = after.right() < before.left() and after.top() <= before.bottom() and after.bottom() >= before.top()
    return up or left


@pytest.mark.parametrize("name", DIALOGS)
def test_a_dialog_is_walked_as_it_is_read_and_escape_closes_it(name: str, qtbot: QtBot) -> None:
    make, main_button, first = DIALOGS[name]
    dialog = make()
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.isAncestorOf(QApplication.focusWidget()))
    stops: list[QWidget] = []
    while (focused := QApplication.focusWidget()) not in stops and len(stops) < 30:
        assert focused is not None and dialog.isAncestorOf(focused)
        stops.append(focused)
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is stops[0], "Tab comes round"
    assert first in ("", stops[0].objectName())
    named = [stop.accessibleName() or getattr(stop, "text", str)() for stop in stops if stop.objectName() != "qt_tabwidget_tabbar"]
    assert all(named) or name == "editor", "each stop has a name"  # Qt's own question names its field by the label
    places = [place(stop, dialog) for stop in stops]
    start = min(range(len(places)), key=lambda stop: (places[stop].top(), places[stop].left()))
    read = places[start:] + places[:start]
    assert [(one, other) for one, other in pairwise(read) if goes_back(one, other)] == []
    defaults = [button for button in dialog.findChildren(QPushButton) if button.isDefault()]
    assert [button.objectName() or button.text().replace("&", "") for button in defaults] == ([main_button] if main_button else [])
    with qtbot.waitSignal(dialog.finished):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert not dialog.isVisible()
