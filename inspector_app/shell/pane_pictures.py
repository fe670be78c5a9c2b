"""Saves and prints pictures of panes."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any, cast

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QPainter
from PySide6.QtWidgets import QApplication, QDialog, QDockWidget, QMenu, QTabBar, QWidget
from shiboken6 import isValid

from inspector_app.shell.main_window import MainWindow
from inspector_app.widgets.pictures import ask_for_file, paint_widget, save_picture


class PanePictures(QObject):
    """A controller of the commands that save or print the pane with the focus, and of the menu of a pane's title.

    Signals:
        done(str), failed(str): a sentence for the user.

    Args:
        window: the window.
        save, print_: the commands.
    """

    done = Signal(str)
    failed = Signal(str)

    def __init__(self, window: MainWindow, save: QAction, print_: QAction) -> None:
        super().__init__(window)
        self._window = window
        self._commands = (save, self._ask), (print_, self._print)
        save.triggered.connect(self._on_save)
        print_.triggered.connect(self._on_print)
        window.workbench.installEventFilter(self)

    def _on_save(self) -> None:
        self._ask(*self.pane_of(QApplication.focusWidget()))

    def _on_print(self) -> None:
        self._print(*self.pane_of(QApplication.focusWidget()))

    def pane_of(self, part: QWidget | None) -> tuple[str, QWidget]:
        """Return the title and the widget of the pane that a widget is in, which is the events if it is in no other; or the other page."""
        if self._window.page is not self._window.workbench:
            return "Page", self._window.page
        while part is not None and not isinstance(part, QDockWidget):
            part = part.parentWidget()
        return (part.accessibleName(), part.widget()) if part is not None else ("Events", self._window.workbench.middle)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Open the menu of a pane's title, or of its tab. Qt would list all panes, which the menu *Panes* does."""
        if event.type() != QEvent.Type.ContextMenu:
            return False
        place = cast(QContextMenuEvent, event)
        dock = self._dock_at(place.pos())
        if dock is not None:
            menu = QMenu(self._window.workbench)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            for command, run in self._commands:
                menu.addAction(command.icon(), command.text()).triggered.connect(partial(self._run, run, *self.pane_of(dock)))
            menu.popup(place.globalPos())
        return True

    def _dock_at(self, point: QPoint) -> QWidget | None:
        """Return the dock whose title or tab is at a point."""
        bench = self._window.workbench
        part = bench.childAt(point)
        while part is not None and not isinstance(part, QDockWidget | QTabBar):
            part = part.parentWidget()
        if isinstance(part, QTabBar):
            title = part.tabText(part.tabAt(part.mapFrom(bench, point)))
            return next((dock for dock in bench.findChildren(QDockWidget) if dock.windowTitle() == title and dock.isVisible()), None)
        return part

    def _run(self, run: Any, title: str, pane: QWidget, _checked: bool = False) -> None:
        run(title, pane)

    def _ask(self, title: str, pane: QWidget) -> None:
        ask_for_file(self._window, title.lower(), partial(self.save, pane))

    def save(self, pane: QWidget, file: str) -> None:
        """Save a picture of a pane as it is displayed.

        Args:
            pane: the pane.
            file: its suffix tells the format; see `save_picture`.
        """
        problem = save_picture(file, pane.size(), paint_widget(pane))
        if problem:
            self.failed.emit(problem)
        else:
            self.done.emit(f"The picture is in {file}.")

    def _print(self, title: str, pane: QWidget) -> None:
        try:
            printing = importlib.import_module("PySide6.QtPrintSupport")
        except ImportError as error:  # a library of the system is missing
            self.failed.emit(f"This system cannot print: {error}. Save the pane as a PDF document instead.")
            return
        printer = printing.QPrinter(printing.QPrinter.PrinterMode.HighResolution)
        printer.setDocName(f"Agent Inspector: {title}")
        dialog = printing.QPrintDialog(printer, self._window)
        dialog.setObjectName("print_pane")
        dialog.accepted.connect(partial(self.print_on, printer, pane))
        dialog.finished.connect(dialog.deleteLater)
        QDialog.open(dialog)  # its own `open` wants a slot

    def print_on(self, printer: Any, pane: QWidget) -> None:
        """Print a pane on one page, as large as fits.

        Args:
            printer: a QPrinter.
            pane: the pane.
        """
        painter = QPainter()
        if not isValid(pane) or not painter.begin(printer):
            self.failed.emit("The printer cannot be used. Save the pane as a PDF document instead.")
            return
        page = painter.viewport().size()
        factor = min(page.width() / max(pane.width(), 1), page.height() / max(pane.height(), 1))
        painter.scale(factor, factor)
        paint_widget(pane)(painter)
        painter.end()
