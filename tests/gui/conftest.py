"""GUI tests run off screen with the application's theme, and fail on any unexpected Qt message."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import QAbstractItemModel, QCoreApplication, QEvent, QtMsgType
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication

from inspector_app.widgets import theme
from tests.gui.patience import PatientQtBot

HARMLESS_OFF_SCREEN = tuple(f"This plugin does not support {what}" for what in ("propagateSizeHints()", "raise()", "grabbing the keyboard"))


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> PatientQtBot:
    """Return pytest-qt's robot, with longer waits."""
    return PatientQtBot(request)


@pytest.fixture(autouse=True)
def themed(qapp: QApplication) -> theme.Theme:
    """The application's dark theme."""
    return theme.apply(qapp, "dark")


@pytest.fixture(autouse=True)
def no_qt_messages(qtlog: object) -> Iterator[None]:
    """Fail the test if Qt printed a warning or an error during it or while its widgets were deleted."""
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    quiet = (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg)
    printed = [record.message for record in qtlog.records if record.type not in quiet]  # type: ignore[attr-defined]
    assert [message for message in printed if message not in HARMLESS_OFF_SCREEN] == []


@pytest.fixture
def tested(qtbot: object) -> Callable[[QAbstractItemModel], QAbstractItemModel]:
    """Return a function that attaches Qt's model tester to a model."""
    testers = []

    def watch(model: QAbstractItemModel) -> QAbstractItemModel:
        testers.append(QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning))
        return model

    return watch
