"""The main window: tool bar, one page at a time, the strip of messages, and status bar."""

from __future__ import annotations

from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QIcon
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QStackedWidget, QVBoxLayout, QWidget

from inspector_app.shell.command_palette import CommandPalette
from inspector_app.shell.enter_presses import EnterPresses
from inspector_app.shell.message_bar import MessageBar
from inspector_app.shell.run_bar import RunBar
from inspector_app.shell.status_bar import StatusBar
from inspector_app.shell.tour import TourCard
from inspector_app.shell.workbench import Workbench
from inspector_app.widgets.places import Places

_ICON = Path(str(files("inspector_app.resources"))) / "desktop/icons/256x256/agent-inspector.png"
_MENUS = ("Run", "Session", "Find", "View", "Theme", "Help")
_AFTER_MENUS = 90  # places in the main menu from here on are below the submenus


class MainWindow(QMainWindow):
    """The main window.

    Attributes:
        commands, parts: every command, and every part that a feature has placed, by its name.
        run_bar, message_bar, status, palette_card: the parts that every page has.
        workbench: the page of an open session.

    Signals:
        page_changed: another page is displayed.
        leave_requested: the user wants to close the window; sessions that would be deleted may be saved first.
        close_requested: the window is to be closed; it stays open until `close_now` is called.

    Args:
        places: what the features have placed; the window owns it.
    """

    page_changed = Signal()
    leave_requested = Signal()
    close_requested = Signal()

    def __init__(self, places: Places) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle("Agent Inspector")
        self.setWindowIcon(QIcon(str(_ICON)))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._may_close = False
        self._places = places
        places.setParent(self)
        places.window = self
        self.commands, self.parts = places.commands, places.parts
        self.addActions([action for _, _, action in places.menu])
        self.workbench = Workbench(places)
        menu = self._make_menu()
        self.run_bar = RunBar(places.bar, menu, self)
        self.addToolBar(self.run_bar)
        self.status = StatusBar(self)
        self.setStatusBar(self.status)
        self._pages = QStackedWidget()
        for page in (*places.pages, self.workbench):
            self._pages.addWidget(page)
        body = QWidget(self)
        rows = QVBoxLayout(body)
        rows.setContentsMargins(8, 0, 8, 0)
        rows.setSpacing(0)
        rows.addWidget(self._pages, 1)
        self.setCentralWidget(body)
        self.message_bar = MessageBar(body)
        rows.addWidget(self.message_bar)
        self.message_bar.height_changed.connect(self.workbench.layout_of_docks.give_room)
        self.palette_card = CommandPalette(menu, self)
        self.tour_card = TourCard(body)
        self._before: QWidget = self.workbench  # the page that was displayed before
        places.page_requested.connect(self.show_page)
        places.workbench_requested.connect(lambda: self.show_page(self.workbench))
        places.back_requested.connect(lambda: self.show_page(self._before))
        EnterPresses(self)
        self.show_page(places.pages[0])

    def show_page(self, page: QWidget) -> None:
        """Show one of the pages, such as `workbench`, and focus it if it has a method `focus`."""
        before, focused = self.page, QApplication.focusWidget()
        self._pages.setCurrentWidget(page)
        if before is not page:
            self._before = before
            if focused is None or before.isAncestorOf(focused):
                # Qt would choose the next widget. Without events, what is being opened takes the focus soon.
                table = self.workbench.table
                (table if table.isVisible() else self.run_bar).setFocus(Qt.FocusReason.OtherFocusReason)
        self.status.show_session_parts(self.session_is_in_sight)
        focus = getattr(page, "focus", None)
        if focus is not None:
            focus()
        self.page_changed.emit()

    @property
    def session_is_in_sight(self) -> bool:
        """Whether the displayed page shows the open session."""
        return self.page in (self.workbench, *self._places.pages_of_session)

    @property
    def page(self) -> QWidget:
        """The displayed page."""
        return cast(QWidget, self._pages.currentWidget())

    def close_now(self) -> None:
        """Close the window; call it when the run has ended."""
        self._may_close = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Emit a signal instead of closing: a person is asked about unsaved sessions, and a run must end before its window closes."""
        if not self._may_close:
            event.ignore()
            (self.leave_requested if event.spontaneous() else self.close_requested).emit()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Skip widgets that another pane covers: the user could not see what they type there."""
        passed = {QApplication.focusWidget()}
        while super().focusNextPrevChild(forward):
            focused = QApplication.focusWidget()
            if focused is not None and focused in passed:  # back at the first one, or, where that was hidden, at another one
                self.workbench.table.setFocus(Qt.FocusReason.TabFocusReason)
            elif focused is not None and self.workbench.is_behind(focused):
                passed.add(focused)
                continue
            return True
        return False

    def _make_menu(self) -> QMenu:
        menu = QMenu("Menu", self)
        menu.setToolTipsVisible(True)
        self._fill(menu, "", range(_AFTER_MENUS))
        menu.addSeparator()
        for title in _MENUS:
            self._fill(menu.addMenu(title), title, range(_AFTER_MENUS))
        menu.addSeparator()
        self._fill(menu, "", range(_AFTER_MENUS, 100))
        return menu

    def _fill(self, menu: QMenu, name: str, places: range) -> None:
        """Add the commands of a menu, with a line between its tens."""
        entries = sorted((entry for entry in self._places.menu if entry[0] == name and entry[1] in places), key=lambda entry: entry[1])
        for number, (_, section) in enumerate(groupby(entries, key=lambda entry: entry[1] // 10)):
            if number:
                menu.addSeparator()
            menu.addActions([action for _, _, action in section])
            if name == "View" and not number:
                menu.addMenu("Panes").addActions(self.workbench.dock_actions)
