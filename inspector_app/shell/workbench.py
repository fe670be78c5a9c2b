"""The panes of an open session, as docks around the event stream."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QDockWidget,
    QMainWindow,
    QMenu,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from inspector_app.shell.dock import Dock
from inspector_app.shell.dock_layout import DockLayout
from inspector_app.shell.focus_home import FocusHome
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.places import Pane, Places, Side

_DOCKING = (
    QMainWindow.DockOption.AllowNestedDocks
    | QMainWindow.DockOption.AllowTabbedDocks
    | QMainWindow.DockOption.AnimatedDocks
    | QMainWindow.DockOption.GroupedDragging
)
_LEAST_STREAM = 130  # pixels that the cards below leave to the stream


class Workbench(QMainWindow):
    """The panes: sessions on the left, events in the middle, the selected event on the right, the others below.

    Attributes:
        parts: every part that a feature has placed, by its name.
        layout_of_docks: arranges the docks.
        table: the list of events, which gets the focus that others give up.

    Signals:
        pane_menu_requested (QMenu, str, QWidget): the menu of this pane's title is about to open.

    Args:
        places: the panes, and what is in the middle.
    """

    pane_menu_requested = Signal(object, str, object)

    def __init__(self, places: Places, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("workbench")
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockOptions(_DOCKING)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.parts = places.parts
        self._places = places
        self._stream = places.centre[0][0]
        self.table = places.parts.stream.table
        self._panes = sorted(places.panes, key=lambda pane: pane.number)
        self._below = [pane.name for pane in sorted(self._panes, key=lambda pane: pane.tab) if pane.side == "below"]
        self._centre = QStackedWidget()
        self._centre.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # the cards below it take precedence
        self._centre.setMinimumHeight(_LEAST_STREAM)
        for part, hides_filter in places.centre:
            self._centre.addWidget(part)
            if hides_filter:
                part.setMinimumWidth(_LEAST_STREAM)  # its tables would make the window wider than a small screen
        # The order is the tab order: what is left of the events comes before them.
        docks = {pane.name: self._dock(pane) for pane in self._panes if pane.side == "left"}
        self._middle = self._make_middle()
        self.setCentralWidget(self._middle)
        docks |= {pane.name: self._dock(pane) for pane in self._panes if pane.side != "left"}
        self._docks = {pane.name: docks[pane.name] for pane in self._panes}
        FocusHome(self.table, places.transient)
        self._go_actions = [self._go_action(pane) for pane in self._panes]
        self.layout_of_docks = DockLayout(self, self._panes, self._docks)
        places.pane_requested.connect(self.raise_pane)
        places.pane_titled.connect(self.show_title)
        places.middle_requested.connect(self.show_in_the_middle)
        places.events_requested.connect(self._on_events_requested)
        places.focus_requested.connect(self.table.setFocus)

    @property
    def dock_actions(self) -> list[QAction]:
        """The action of each dock that shows or hides it."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    @property
    def go_actions(self) -> list[QAction]:
        """The action of each dock that brings it to the front and gives it the focus."""
        return list(self._go_actions)

    def _go_action(self, pane: Pane) -> QAction:
        action = QAction(f'Go to "{pane.title}"', self)
        action.setObjectName(f"go_to_{pane.name}")
        action.setShortcut(QKeySequence(f"Alt+{pane.number % 10}"))  # the tenth is Alt+0
        action.triggered.connect(self._places.work_requested)
        action.triggered.connect(partial(self._on_go, pane.name))
        self._places.need_something_open.append(action)
        return action

    def _on_go(self, name: str, _checked: bool = False) -> None:
        self.raise_pane(name)
        entrance = _entrance(self._docks[name].widget())
        if entrance is not None:
            entrance.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_in_the_middle(self, part: QWidget) -> None:
        """Show the events, or what replaces them."""
        self._centre.setCurrentWidget(part)
        for above in self._above:
            above.setVisible((part, True) not in self._places.centre)

    def show_stream(self) -> None:
        """Show the events again."""
        self.show_in_the_middle(self._stream)

    def _on_events_requested(self) -> None:
        """Show the events, unless they could not be read."""
        if (self._centre.currentWidget(), True) in self._places.centre:
            self.show_stream()

    def show_title(self, name: str, title: str) -> None:
        """Show another title of a pane; what it shows has changed too."""
        self._docks[name].setWindowTitle(title)
        self.layout_of_docks.fit_lower()

    def focus_next_pane(self, step: int = 1) -> None:
        """Move the focus to the next pane: sessions, events, composer, detail, held card, the front tab below.

        Args:
            step: 1 for the next one, -1 for the one before.
        """
        panes = [*self._stops("left"), *(part for _, part in sorted(self._places.middle_stops, key=lambda stop: stop[0]))]
        panes += [*self._stops("right"), *(pane for pane in self._stops("below") if not pane.visibleRegion().isEmpty())]
        panes = [pane for pane in panes if not pane.visibleRegion().isEmpty() and _entrance(pane) is not None]
        if not panes:
            return
        focused = QApplication.focusWidget()
        here = next((number for number, pane in enumerate(panes) if focused is pane or (focused and pane.isAncestorOf(focused))), None)
        if here is None and focused and self._stream in panes and self._middle.isAncestorOf(focused):
            # The filter precedes the events, hints and cards follow them.
            events = panes.index(self._stream)
            here = events - (step > 0) if any(part.isAncestorOf(focused) for part in self._above) else events + (step < 0)
        entrance = _entrance(panes[(here + step) % len(panes)] if here is not None else panes[0])
        if entrance is not None:
            entrance.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _stops(self, side: Side) -> list[QWidget]:
        """Return what *Next pane* visits on a side; below the events, that is the tab in front."""
        found: list[QWidget] = []
        for name in self._below if side == "below" else self._docks:
            pane = next(pane for pane in self._panes if pane.name == name)
            if pane.side == side:
                found += [*(pane.stops or (pane.widget,)), *(part for under, part in self._places.under.items() if under == name)]
        return found

    def current_pane(self) -> tuple[str, QWidget]:
        """Return the title and the widget of the pane with the focus; the events have it if no other pane has."""
        focused = QApplication.focusWidget()
        found = next((dock for dock in self._docks.values() if focused is not None and dock.isAncestorOf(focused)), None)
        return (found.accessibleName(), found.widget()) if found is not None else ("Events", self._centre)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of a pane's title, or of its tab. Qt would list all panes, which the menu *Panes* does."""
        menu = self._pane_menu(event.pos())
        if menu is not None:
            menu.popup(event.globalPos())

    def _pane_menu(self, point: QPoint) -> QMenu | None:
        dock = self._dock_at(point)
        if dock is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.pane_menu_requested.emit(menu, dock.accessibleName(), dock.widget())
        return menu

    def _dock_at(self, point: QPoint) -> QDockWidget | None:
        """Return the dock whose title or tab is at a point."""
        part = self.childAt(point)
        while part is not None and not isinstance(part, QDockWidget | QTabBar):
            part = part.parentWidget()
        if isinstance(part, QTabBar):
            title = part.tabText(part.tabAt(part.mapFrom(self, point)))
            return next((dock for dock in self._docks.values() if dock.windowTitle() == title and dock.isVisible()), None)
        return part

    def is_behind(self, part: QWidget) -> bool:
        """Return whether another pane covers a widget, which Qt still reports as visible."""
        return any(dock.isAncestorOf(part) and dock.visibleRegion().isEmpty() for dock in self._docks.values())

    def raise_pane(self, name: str) -> None:
        """Bring the pane of this name to the front."""
        self._docks[name].show()
        self._docks[name].raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the side panes' shares of the width; Qt would give all new room to the events."""
        super().resizeEvent(event)
        self.layout_of_docks.keep_shares()

    def showEvent(self, event: QShowEvent) -> None:
        """Arrange the docks once the page has its size."""
        super().showEvent(event)
        self.layout_of_docks.arrange_soon()

    def _make_middle(self) -> QWidget:
        middle = QWidget(self)
        rows = QVBoxLayout(middle)
        rows.setContentsMargins(0, 6, 0, 0)
        rows.setSpacing(6)
        # Hints and questions appear below the events, where they take room from the last rows and move nothing else.
        parts = sorted(self._places.middle, key=lambda entry: entry[0])
        self._above = [part for at, part in parts if at < 0]
        for part in self._above:
            rows.addWidget(part)
        rows.addWidget(self._centre, 1)
        for at, part in parts:
            if at > 0:
                rows.addWidget(part)
        return middle

    def _dock(self, pane: Pane) -> QDockWidget:
        dock = Dock(pane.name, pane.title, self)
        under = self._places.under.get(pane.name)
        if under is None:
            dock.setWidget(pane.widget)
        else:
            both = QWidget(self)
            rows = QVBoxLayout(both)
            rows.setContentsMargins(0, 0, 0, 0)
            rows.setSpacing(6)
            rows.addWidget(pane.widget, 5)
            rows.addWidget(under, 4)
            dock.setWidget(both)
        if pane.on_front is not None:
            dock.visibilityChanged.connect(pane.on_front)
        return dock


def _entrance(pane: QWidget) -> QWidget | None:
    """Return the widget of a pane that gets the focus: the topmost list or text, else the first button, else the empty state."""
    inside = [pane, *pane.findChildren(QWidget)]
    able = [part for part in inside if part.isVisible() and part.isEnabled() and part.focusPolicy() & Qt.FocusPolicy.TabFocus]
    if not able:
        return next((part for part in inside if isinstance(part, EmptyState) and part.isVisible()), None)
    lists = [part for part in able if isinstance(part, QAbstractScrollArea)]
    return min(lists, key=lambda part: part.mapTo(pane, QPoint()).y(), default=able[0])
