"""A window without owners."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from inspector_app.shell.features import make_window
from inspector_app.shell.main_window import MainWindow
from inspector_app.widgets.places import Places


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    window = make_window(Places())[1]
    qtbot.addWidget(window, before_close_func=lambda window: window.close_now())
    window.resize(1000, 700)
    window.show()
    return window
