"""A dialog that lists the running apps that the window can attach to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QLabel, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from inspector_app.opening.tile import Tile
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.layouts import laid_out, named, set_up_dialog
from inspector_app.widgets.tooltips import set_tooltip

REFRESH_MS = 2_000  # between two lists of the running apps, while the dialog is open


@dataclass(frozen=True, slots=True)
class AppRow:
    """A running app.

    Attributes:
        number: its place in the list, which identifies it.
        title: its name and process.
        text: its engine and its file.
        problem: a sentence that says why the window cannot attach to it; empty if it can.
    """

    number: int
    title: str
    text: str
    problem: str = ""


class AttachDialog(QDialog):
    """A dialog that lists running apps; a click attaches to one. Open it with `open()`.

    Signals:
        chosen(int): the user chose the app with this number.
        refresh_requested: the list is to be read again.

    Args:
        plugin: the path of the file that a user copies to their app.
    """

    chosen = Signal(int)
    refresh_requested = Signal()

    def __init__(self, plugin: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_up_dialog(self, "attach_dialog", "Attach to a running app", 620, 420)
        self._rows: Sequence[AppRow] | None = None
        self._problem = named(_label("bad", ""), "attach_problem")
        self._problem.hide()
        self._heading = named(_label("heading", "Looking for running apps…"), "attach_heading")
        self._list = laid_out(QVBoxLayout(), margins=(0, 0, 4, 0), spacing=8)
        self._scroll = _scrolling(self._list)
        self._how = self._how_to(plugin)
        self.cancel = push_button("Cancel", "attach_cancel", self.reject)
        self._lay_out()
        self._timer = QTimer(self, interval=REFRESH_MS)
        self._timer.timeout.connect(self.refresh_requested)

    @property
    def rows(self) -> Sequence[AppRow]:
        """The listed apps."""
        return self._rows or ()

    @property
    def problem(self) -> str:
        """Why the last attempt failed; empty for none."""
        return self._problem.text() if not self._problem.isHidden() else ""

    def show_rows(self, rows: Sequence[AppRow]) -> None:
        """Show the running apps."""
        if rows == self._rows:
            return
        self._rows = rows
        while (old := self._list.takeAt(0)) is not None:
            if (before := old.widget()) is not None:
                before.deleteLater()
        tiles = [self._tile(row) for row in rows]
        for tile in tiles:
            self._list.addWidget(tile)
        self._list.addStretch(1)
        count = "1 app is running" if len(rows) == 1 else f"{len(rows):,} apps are running"
        self._heading.setText(count if rows else "No app with the inspector plugin is running")
        self._scroll.setVisible(bool(rows))
        self._how.setVisible(not rows)
        next((tile for tile in tiles if tile.isEnabled()), self.cancel).setFocus()

    def show_problem(self, text: str) -> None:
        """Show why the window could not attach."""
        self._problem.setText(visible(text))
        self._problem.setVisible(bool(text))

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to read the list again now and then."""
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop reading the list."""
        self._timer.stop()
        super().hideEvent(event)

    def _tile(self, row: AppRow) -> Tile:
        tile = Tile("attach_app", "plug", visible(row.title), visible(row.problem or row.text), parent=self._scroll.widget())
        tile.setAccessibleName(f"Attach to {row.title}")
        set_tooltip(tile, f"{row.text}\n{row.problem}".strip())
        tile.setEnabled(not row.problem)
        tile.clicked.connect(partial(self.chosen.emit, row.number))
        return tile

    def _how_to(self, plugin: str) -> QWidget:
        card = QFrame(self)
        card.setProperty("card", True)
        laid_out(
            QVBoxLayout(card),
            _label("", "1. Copy this file next to your agent:"),
            _copied("attach_plugin", "Path of the plugin's file", plugin),
            _label("", "2. Add the plugin to your Runner or App:"),
            _copied("attach_import", "Import to add", "from .inspector_plugin import InspectorPlugin"),
            _copied("attach_code", "Argument to add", "plugins=[InspectorPlugin()]"),
            _label("", "3. Start the app as always. It is listed here while it runs."),
            _label("secondary", "The app listens on this machine only, for programs that can read your own files."),
            1,
            margins=(14, 12, 14, 12),
            spacing=8,
        )
        card.hide()
        return card

    def _lay_out(self) -> None:
        buttons = laid_out(QHBoxLayout(), 1, self.cancel)
        laid_out(
            QVBoxLayout(self),
            self._heading,
            self._problem,
            (self._scroll, 1),
            (self._how, 1),
            _label("secondary", "The app continues as before when you stop watching it, or close the window."),
            buttons,
            margins=(14, 14, 14, 12),
            spacing=10,
        )


def _scrolling(layout: QVBoxLayout) -> QScrollArea:
    area = named(QScrollArea(widgetResizable=True), "attach_list")
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    body = QWidget()
    body.setLayout(layout)
    area.setWidget(body)
    return area


def _copied(name: str, accessible: str, text: str) -> QLineEdit:
    """Return a line whose text can be selected and copied."""
    line = named(QLineEdit(text, readOnly=True), name, accessible)
    theme.use_mono(line)
    line.setCursorPosition(0)
    set_tooltip(line, text)
    return line


def _label(role: str, text: str) -> QLabel:
    label = plain_label(text, wraps=True)
    if role:
        label.setProperty("role", role)
    return label
