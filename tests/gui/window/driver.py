"""A driver for tests of the whole window: it reads what the user sees and acts through the real widgets.

Each part of the window has a small page object, such as `driver.stream` or `driver.composer`. Tests reach what has none through
`driver.inspector`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QMimeData, QModelIndex, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QListWidget, QPlainTextEdit, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.documents.session_address import SessionAddress
from inspector_app.opening.drop_target import DropTarget
from inspector_app.running.view_data import Preflight
from inspector_app.sessions.session_tree import NODE_ROLE
from inspector_app.shell.workbench import Workbench
from inspector_app.widgets.value_tree import FILES
from runtime.events.event import Event

FORK_KEY = (Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)


def text_of(part: QWidget, name: str) -> str:
    """Return the text of the label with this object name in a part of the window."""
    label = part.findChild(QLabel, name)
    assert label is not None
    return label.text()


class WindowDriver:
    """The whole window.

    Args:
        inspector: the application whose window is driven.
        qtbot: runs the event loop.
    """

    def __init__(self, inspector: Inspector, qtbot: QtBot) -> None:
        self.inspector = inspector
        self.qtbot = qtbot
        self.stream = Stream(self)
        self.sessions = Sessions(self)
        self.composer = Composer(self)
        self.breakpoints = Breakpoints(self)
        self.held = HeldCard(self)
        self.state = StatePane(self)
        self.fork = ForkCard(self)
        self.preflight = PreflightCard(self)

    @property
    def bench(self) -> Workbench:
        return self.inspector.window.workbench

    def run_until(self, condition: Callable[[], object], timeout: int = 10_000) -> None:
        """Run the event loop until `condition()` is true, for at most `timeout` ms."""
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=timeout)

    def run_until_idle(self) -> None:
        """Run the event loop until all tasks are done."""
        self.run_until(lambda: not self.inspector.tasks.running, timeout=20_000)

    def run_until_held(self) -> None:
        """Run the event loop until the agent is held."""
        self.run_until(lambda: self.inspector.run.phase == "paused")

    def run_message(self, text: str) -> SessionAddress:
        """Send a message with the run command, wait for the end of its run, and return the displayed session."""
        self.bench.parts.composer.set_text(text)
        with self.qtbot.waitSignal(self.inspector.run.run_ended, timeout=30_000):
            self.inspector.window.commands.run.trigger()
        self.run_until_idle()
        assert self.inspector.cursor.session is not None
        return self.inspector.cursor.session

    def drop(self, files: list[Path]) -> None:
        """Drop files on the window and wait until they are open."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
        event = QDropEvent(QPointF(50, 50), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
        self.inspector.window.findChild(DropTarget).eventFilter(self.inspector.window, event)
        self.run_until_idle()

    def log_text(self) -> str:
        """Return the lines of the log."""
        shown = self.bench.parts.log.findChild(QListWidget, "log_list")
        return "\n".join(shown.item(row).text() for row in range(shown.count()))

    def click(self, parent: QWidget, name: str) -> None:
        """Click a button of this object name, which must be visible and enabled."""
        button = parent.findChild(QPushButton, name)
        assert button.isVisible() and button.isEnabled(), f"{name}: {button.isVisible()}, {button.toolTip()}"
        self.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


class Part:
    """A part of the window."""

    def __init__(self, window: WindowDriver) -> None:
        self.window = window


class Stream(Part):
    """The event stream."""

    def rows(self) -> list[str]:
        """Return the summaries of all rows."""
        model = self.window.inspector.features.stream.events
        return [model.stream_row(row).summary for row in range(model.rowCount())]

    def events(self) -> list[Event]:
        """Return the committed events, which must be in memory."""
        model = self.window.inspector.features.stream.events
        return [model.committed(index) for index in range(model.event_count)]

    def ids(self) -> list[str]:
        """Return the ids of the committed events."""
        return [event.id for event in self.events()]

    def results(self, tool: str) -> list[dict[str, Any]]:
        """Return the results of a tool, in commit order."""
        responses = [response for event in self.events() for response in event.get_function_responses()]
        return [dict(response.response or {}) for response in responses if response.name == tool]

    def select(self, index: int) -> None:
        """Select the event at `index`."""
        self.window.bench.parts.stream.select_event(index)


class Sessions(Part):
    """The session list."""

    def ids(self) -> list[str]:
        """Return the ids of the listed sessions, from the top."""
        return [str(index.data(NODE_ROLE).session.session_id) for index in self.indexes("session")]

    def indexes(self, kind: str) -> list[QModelIndex]:
        """Return the rows of a kind, such as "database", "app", "user" or "session", from the top."""
        found: list[QModelIndex] = []
        model = self.window.inspector.features.sessions.model

        def walk(parent: QModelIndex) -> None:
            for row in range(model.rowCount(parent)):
                index = model.index(row, 0, parent)
                if index.data(NODE_ROLE).kind == kind:
                    found.append(index)
                walk(index)

        walk(QModelIndex())
        return found

    def click(self, kind: str) -> None:
        """Click the first row of a kind and wait until it is displayed."""
        tree = self.window.bench.parts.sessions.tree
        place = tree.visualRect(self.indexes(kind)[0]).center()
        self.window.qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
        self.window.run_until_idle()


class Composer(Part):
    """The field for messages."""

    def send(self, text: str) -> None:
        """Write a message and press Enter."""
        edit = self.window.inspector.window.findChild(QPlainTextEdit, "composer_edit")
        edit.setPlainText(text)
        self.window.qtbot.keyClick(edit, Qt.Key.Key_Return)


class Breakpoints(Part):
    """The breakpoints pane."""

    def add(self, condition: str, when: str = "event", tool: str = "", log: str = "") -> None:
        """Add a breakpoint with the form."""
        pane, qtbot = self.window.bench.parts.breakpoints, self.window.qtbot
        self.window.bench.raise_pane("breakpoints")
        combo = pane.findChild(QComboBox, "breakpoint_when")
        combo.setCurrentIndex(combo.findData(when))
        for name, text in (("breakpoint_tool", tool), ("breakpoint_log", log), ("breakpoint_condition", condition)):
            qtbot.keyClicks(pane.findChild(QLineEdit, name), text)
        qtbot.keyClick(pane.findChild(QLineEdit, "breakpoint_condition"), Qt.Key.Key_Return)


class HeldCard(Part):
    """The card of a held agent."""

    @property
    def editor(self) -> QPlainTextEdit:
        """The JSON editor; displayed first where there are fields."""
        card = self.window.bench.parts.held
        toggle = card.findChild(QToolButton, "held_json")
        if toggle.isVisible() and toggle.isEnabled() and not toggle.isChecked():
            toggle.click()
        return card.findChild(QPlainTextEdit, "held_editor")

    def press(self, name: str) -> None:
        """Click a button of this object name, once the moment after the last decision is over."""
        self.window.qtbot.waitUntil(self.window.bench.parts.held.findChild(QPushButton, name).isEnabled)
        self.window.click(self.window.bench.parts.held, name)


class StatePane(Part):
    """The state at the selected event."""

    def nodes(self) -> dict[str, tuple[str, str]]:
        """Return the text and the writer of each key."""
        model = self.window.bench.parts.detail.state.model
        return {node.key: (node.text, node.writer) for lane in model.node(QModelIndex()).children for node in lane.children}

    def values(self) -> dict[str, str]:
        """Return the text of each key."""
        return {key: text for key, (text, _) in self.nodes().items()}

    def files(self) -> list[tuple[str, str, str]]:
        """Return the name, the version and the writer of each file."""
        lanes = self.window.bench.parts.detail.state.model.node(QModelIndex()).children
        return [(node.key, node.text, node.writer) for lane in lanes if lane.lane == FILES for node in lane.children]


class ForkCard(Part):
    """The card that forks a session."""

    def ask(self, index: int) -> None:
        """Select an event and press the fork shortcut."""
        bench = self.window.bench
        bench.parts.stream.select_event(index)
        bench.parts.stream.table.setFocus()
        self.window.qtbot.keyClick(self.window.inspector.window, *FORK_KEY)
        self.window.run_until(lambda: bench.parts.fork_card.title != "")

    def choose(self, name: str) -> None:
        """Choose an option with Enter."""
        button = self.window.bench.parts.fork_card.button(name)
        assert button is not None and button.isEnabled(), button and button.toolTip()
        button.setFocus()
        self.window.qtbot.keyClick(button, Qt.Key.Key_Return)

    def wait(self, before: SessionAddress) -> SessionAddress:
        """Wait until another session than `before` is displayed and return its address."""
        inspector = self.window.inspector
        self.window.run_until(lambda: inspector.cursor.session not in (None, before) and inspector.current.session is not None)
        self.window.run_until(lambda: not inspector.tasks.running or inspector.run.phase != "idle")
        assert inspector.cursor.session is not None
        return inspector.cursor.session


class PreflightCard(Part):
    """The card that lists what a resume will do."""

    def read(self) -> Preflight:
        """Wait for the card and return what it shows."""
        card = self.window.bench.parts.preflight
        self.window.run_until(lambda: card.shown is not None)
        assert card.shown is not None
        return card.shown

    def accept(self) -> None:
        """Press Enter on the card."""
        self.read()
        self.window.qtbot.keyClick(self.window.bench.parts.preflight.findChild(QPushButton, "preflight_resume"), Qt.Key.Key_Return)
