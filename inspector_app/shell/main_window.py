"""The main window: tool bar, message bar, one page at a time, and status bar."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QIcon, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QStackedWidget, QVBoxLayout, QWidget

from inspector_app.shell.command_palette import CommandPalette
from inspector_app.shell.enter_presses import press_focused
from inspector_app.shell.message_bar import MessageBar
from inspector_app.shell.run_bar import RunBar
from inspector_app.shell.status_bar import StatusBar
from inspector_app.shell.tour import TourCard
from inspector_app.shell.workbench import Workbench
from inspector_app.widgets.motion import Motion
from inspector_app.widgets.places import Places

_ICON = Path(str(files("inspector_app.resources"))) / "desktop/icons/256x256/agent-inspector.png"
_MENUS = ("Run", "Session", "Find", "View", "Theme", "Help")
_AFTER_MENUS = 90  # places in the main menu from here on are below the submenus
_WORKBENCH_AT = 50  # its place among the pages


class MainWindow(QMainWindow):
    """The main window.

    Attributes:
        commands, parts: every command, and every part that a feature has placed, by its name.
        run_bar, message_bar, status, palette_card: the parts that every page has.
        motion: whether docks and menus may move.
        workbench: the page of an open session.

    Signals:
        paths_dropped(list[str]): files or folders were dropped onto the window.
        drag_changed(bool): something that can be dropped is over the window, or no more.
        page_changed: another page is displayed.
        leave_requested: the user wants to close the window; sessions that would be deleted may be saved first.
        close_requested: the window is to be closed; it stays open until `close_now` is called.

    Args:
        places: what the features have placed; the window owns it.
    """

    paths_dropped = Signal(list)
    drag_changed = Signal(bool)
    page_changed = Signal()
    leave_requested = Signal()
    close_requested = Signal()

    def __init__(self, places: Places) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle("Agent Inspector")
        self.setWindowIcon(QIcon(str(_ICON)))
        self.setAcceptDrops(True)
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
        pages = sorted(places.pages, key=lambda page: page.at)
        before = [page.widget for page in pages if page.at < _WORKBENCH_AT]
        for widget in (*before, self.workbench, *(page.widget for page in pages if page.at > _WORKBENCH_AT)):
            self._pages.addWidget(widget)
        self._of_session = [self.workbench, *(page.widget for page in pages if page.shows_session)]
        body = self._body()
        self.setCentralWidget(body)
        self.message_bar = MessageBar(body)
        self.palette_card = CommandPalette(menu, self)
        self.tour_card = TourCard(body)
        self._page_before_tour: QWidget | None = None
        self._below: QWidget | None = None
        self.motion = Motion(self.workbench)
        self.tour_card.ended.connect(self._on_tour_ended)
        places.page_requested.connect(self.show_page)
        places.workbench_requested.connect(self._on_workbench_requested)
        self.show_page(before[0])

    def show_page(self, page: QWidget) -> None:
        """Show one of the pages, such as `workbench`, and focus it if it has a method `focus`."""
        before, focused = self._pages.currentWidget(), QApplication.focusWidget()
        self._pages.setCurrentWidget(page)
        if before is not None and before is not page and (focused is None or before.isAncestorOf(focused)):
            # Qt would choose the next widget. Without events, what is being opened takes the focus soon.
            table = self.workbench.table
            (table if table.isVisible() else self.run_bar).setFocus(Qt.FocusReason.OtherFocusReason)
        self._page_before_tour = None  # what is opened meanwhile stays displayed
        if page is not self.workbench:
            self.tour_card.end()
        self.status.show_session_parts(self.session_is_in_sight)
        focus = getattr(page, "focus", None)
        if focus is not None:
            focus()
        self.page_changed.emit()

    def show_over(self, page: QWidget) -> None:
        """Show a page from which `go_back` returns to the one that is displayed now."""
        if self.page is not page:
            self._below = self.page
        self.show_page(page)

    def go_back(self, pages: Sequence[QWidget]) -> None:
        """Show what `show_over` has covered, if that is one of these pages; else the workbench."""
        self.show_page(self._below if self._below in pages and self._below is not None else self.workbench)

    @property
    def session_is_in_sight(self) -> bool:
        """Whether the displayed page shows the open session."""
        return self._pages.currentWidget() in self._of_session

    @property
    def page(self) -> QWidget | None:
        """The displayed page."""
        return self._pages.currentWidget()

    def close_now(self) -> None:
        """Close the window; call it when the run has ended."""
        self._may_close = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Emit a signal instead of closing: a person is asked about unsaved sessions, and a run must end before its window closes."""
        if self._may_close:
            event.accept()
            return
        event.ignore()
        (self.leave_requested if event.spontaneous() else self.close_requested).emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Paint all rows of the stream; a live stream postpones some."""
        super().resizeEvent(event)
        self.workbench.table.paint_next()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the focused button on Enter."""
        if not press_focused(self, event):
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Skip widgets that another pane covers: the user could not see what they type there."""
        passed: list[QWidget | None] = [QApplication.focusWidget()]
        while super().focusNextPrevChild(forward):
            focused = QApplication.focusWidget()
            if focused is None or not self.workbench.is_behind(focused):
                return True
            if focused in passed:  # back at the first one, or, where that was hidden, at another one
                self.workbench.table.setFocus(Qt.FocusReason.TabFocusReason)
                return True
            passed.append(focused)
        return False

    def current_pane(self) -> tuple[str, QWidget]:
        """Return the title and the widget of the pane with the focus; of another page, the page."""
        if self.page is self.workbench:
            return self.workbench.current_pane()
        return "Page", self._pages

    def nothing_has_focus(self) -> bool:
        """Return whether no pane has the keyboard, as after a start; a pane that has it keeps it."""
        focus, bar = self.focusWidget(), self.run_bar
        return focus is None or not focus.isVisible() or focus is bar or bar.isAncestorOf(focus)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files and folders, but not an event of this window."""
        if event.source() is None and _local_paths(event.mimeData()):
            event.acceptProposedAction()
            self.drag_changed.emit(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Report that nothing can be dropped any more."""
        self.drag_changed.emit(False)

    def dropEvent(self, event: QDropEvent) -> None:
        """Emit `paths_dropped` for the dropped files and folders."""
        self.drag_changed.emit(False)
        paths = _local_paths(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.paths_dropped.emit(paths)

    def start_tour(self) -> None:
        """Start the tour in the workbench; the displayed page returns after it."""
        before = self.page
        self.show_page(self.workbench)
        self._page_before_tour = before
        self.tour_card.start([stop for _, stop in sorted(self._places.tour, key=lambda entry: entry[0])])

    def _body(self) -> QWidget:
        body = QWidget(self)
        rows = QVBoxLayout(body)
        rows.setContentsMargins(8, 0, 8, 0)
        rows.setSpacing(6)
        rows.addWidget(self._pages, 1)
        return body

    def _make_menu(self) -> QMenu:
        menu = QMenu("Menu", self)
        menu.setToolTipsVisible(True)
        self._fill(menu, "", range(_AFTER_MENUS))
        menu.addSeparator()
        for title in _MENUS:
            submenu = menu.addMenu(title)
            if title == "View":
                submenu.addActions(self.workbench.go_actions)
                submenu.addMenu("Panes").addActions(self.workbench.dock_actions)
                submenu.addSeparator()
            self._fill(submenu, title, range(_AFTER_MENUS))
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

    def _on_workbench_requested(self) -> None:
        self.show_page(self.workbench)

    def _on_tour_ended(self) -> None:
        before, self._page_before_tour = self._page_before_tour, None
        if before is not None and self.page is self.workbench:
            self.show_page(before)


def _local_paths(data: QMimeData) -> list[str]:
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
