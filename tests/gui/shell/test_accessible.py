"""Every control has a name, for screen readers and scripts."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QTabWidget,
    QTextBrowser,
    QWidget,
)

from inspector_app.databases.database_page import DatabasePage
from inspector_app.detail.event_detail import EventDetail
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.sessions.sessions_pane import SessionsPane
from inspector_app.shell.main_window import MainWindow
from inspector_app.stream.event_stream import EventStreamView
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.widgets.text_dialog import TextDialog

CONTROLS = (QAbstractButton, QAbstractItemView, QLineEdit, QPlainTextEdit, QTabWidget, QTextBrowser)


def made_by_qt(widget: QWidget) -> bool:
    return (
        isinstance(widget, QHeaderView)
        or widget.objectName().startswith("qt_")
        or (isinstance(widget.parent(), QFrame) and "ComboBox" in widget.parent().metaObject().className())
        or widget.metaObject().className().startswith("Q" + "LineEditIcon")
    )


def test_every_control_has_a_name(qtbot) -> None:
    for made in (EventStreamView(EventTableModel()), EventDetail(), SessionsPane(SessionTreeModel()), TextDialog("t", "x"), DatabasePage()):
        qtbot.addWidget(made)
        nameless = [
            (type(control).__name__, control.objectName(), control.accessibleName())
            for control in made.findChildren(QWidget)
            if isinstance(control, CONTROLS) and not made_by_qt(control)
            if not (control.objectName() and (control.accessibleName() or control.objectName() == "follow_tail"))
        ]
        assert nameless == []


def test_every_control_of_the_window_has_a_name(window: MainWindow) -> None:
    controls = [control for control in window.findChildren(QWidget) if isinstance(control, CONTROLS) and not made_by_qt(control)]
    assert len(controls) > 100
    nameless = [
        (type(control).__name__, control.objectName(), control.parent().objectName())
        for control in controls
        if not control.isHidden() and not (control.objectName() and (control.accessibleName() or getattr(control, "text", str)()))
    ]
    assert nameless == []
