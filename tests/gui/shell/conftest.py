"""A window without owners."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.shell.main_window import MainWindow
from inspector_app.stream.event_table_model import EventTableModel


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    window = MainWindow(EventTableModel(), SessionTreeModel(), [])
    qtbot.addWidget(window, before_close_func=lambda window: window.close_now())
    window.resize(1000, 700)
    window.show()
    return window
