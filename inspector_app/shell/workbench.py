"""The panes of an open session, as docks around the event stream."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QDockWidget,
    QMainWindow,
    QSizePolicy,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from inspector_app.shell.dock import Dock
from inspector_app.shell.dock_layout import DockLayout
from inspector_app.shell.focus_home import FocusHome
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.widgets.places import Pane, Places, Side

_LEAST_STREAM = 130  # pixels that the cards below leave to the stream
_LEAST_PANE = 80  # pixels that the card below leaves to a pane


class Workbench(QMainWindow):
    """The panes: sessions on the left, events in the middle, the selected event on the right, the others below.

    Attributes:
        parts: every part that a feature has placed, by its name.
        layout_of_docks: arranges the docks.
        middle: the events, or what replaces them.
        dock_actions: the action of each dock that shows or hides it.
        table: the list of events, which gets the focus that others give up.

    Args:
        places: the panes, and what is in the middle.
    """

    def __init__(self, places: Places, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("workbench")
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockOptions(self.dockOptions() | QMainWindow.DockOption.AllowNestedDocks | QMainWindow.DockOption.GroupedDragging)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.parts = places.parts
        self._places = places
        self._stream = places.centre[0][0]
        self.table = places.parts.stream.table
        self._panes = sorted(places.panes, key=lambda pane: pane.number)
        self.middle = QStackedWidget()
        self.middle.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # the cards below it take precedence
        self.middle.setMinimumHeight(_LEAST_STREAM)
        for part, _ in places.centre:
            self.middle.addWidget(part)
        # The order is the tab order: what is left of the events comes before them.
        docks = {pane.name: self._dock(pane) for pane in self._panes if pane.side == "left"}
        self.setCentralWidget(self._make_middle())
        docks |= {pane.name: self._dock(pane) for pane in self._panes if pane.side != "left"}
        self._docks = {pane.name: docks[pane.name] for pane in self._panes}
        FocusHome(self.table, places.transient)
        self.dock_actions = [dock.toggleViewAction() for dock in self._docks.values()]
        for pane in self._panes:
            getattr(places.commands, f"go_to_{pane.name}").triggered.connect(partial(self._on_go, pane.name))
        self.layout_of_docks = DockLayout(self, self._panes, self._docks)
        for card in places.transient:
            if card not in places.under.values() and not isinstance(card, HintBar):
                card.installEventFilter(self)
        places.pane_requested.connect(self.raise_pane)
        places.pane_titled.connect(lambda name, title: self._docks[name].setWindowTitle(title))
        places.middle_requested.connect(self.show_in_the_middle)
        places.events_requested.connect(self._on_events_requested)
        places.focus_requested.connect(self.table.setFocus)

    def _on_go(self, name: str, _checked: bool = False) -> None:
        self.raise_pane(name)
        entrance = _entrance(self._docks[name].widget())
        if entrance is not None:
            entrance.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Put an enlarged pane back when a question is asked below the events, which it hides."""
        if event.type() == QEvent.Type.ShowToParent:
            self.layout_of_docks.leave_enlarged()
        return super().eventFilter(watched, event)

    def enlarge(self) -> None:
        """Give the pane with the focus, else the one in front below, the room of all others; or put all back."""
        layout = self.layout_of_docks
        if layout.enlarged is not None:
            layout.leave_enlarged()
            return
        focused = QApplication.focusWidget()
        docks = [*self._docks.items()]
        inside = (name for name, dock in docks if focused is not None and dock.isAncestorOf(focused) and not dock.isFloating())
        below = {pane.name for pane in self._panes if pane.side == "below"}
        in_front = (name for name, dock in docks if name in below and not dock.visibleRegion().isEmpty())
        name = next(inside, None) or next(in_front, None)
        if name is not None:
            layout.enlarge(self._docks[name])
            self._on_go(name)

    def show_in_the_middle(self, part: QWidget) -> None:
        """Show the events, or what replaces them."""
        self.middle.setCurrentWidget(part)
        for above in self._above:
            above.setVisible((part, True) not in self._places.centre)

    def _on_events_requested(self) -> None:
        """Show the events, unless they could not be read."""
        if (self.middle.currentWidget(), True) in self._places.centre:
            self.show_in_the_middle(self._stream)

    def focus_next_pane(self, step: int = 1) -> None:
        """Move the focus to the next pane: sessions, events, composer, detail, held card, the front tab below.

        Args:
            step: 1 for the next one, -1 for the one before.
        """
        middle = sorted([*self._places.middle, (0, self._stream, True)], key=lambda entry: entry[0])
        parts = [*self._stops("left"), *(part for _, part, _ in middle), *self._stops("right"), *self._stops("below")]
        passed = [part for _, part, is_stop in middle if not is_stop]
        focused = QApplication.focusWidget()
        here = next((at for at, part in enumerate(parts) if focused is part or (focused and part.isAncestorOf(focused))), -step)
        for away in range(1, len(parts) + 1):
            part = parts[(here + step * away) % len(parts)]
            entrance = None if part in passed or part.visibleRegion().isEmpty() else _entrance(part)
            if entrance is not None:
                entrance.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    def _stops(self, side: Side) -> list[QWidget]:
        """Return what *Next pane* visits on a side."""
        found: list[QWidget] = []
        for pane in self._panes:
            if pane.side == side:
                found += [*(pane.stops or (pane.widget,)), *(part for under, part in self._places.under.items() if under == pane.name)]
        return found

    def is_behind(self, part: QWidget) -> bool:
        """Return whether another pane covers a widget, which Qt still reports as visible."""
        return any(dock.isAncestorOf(part) and dock.visibleRegion().isEmpty() for dock in self._docks.values())

    def raise_pane(self, name: str) -> None:
        """Bring the pane of this name to the front."""
        large = self.layout_of_docks.enlarged
        if large is not None and self._docks[name] not in (large, *self.tabifiedDockWidgets(large)):
            self.layout_of_docks.leave_enlarged()
        self._docks[name].show()
        self._docks[name].raise_()

    def _make_middle(self) -> QWidget:
        middle = QWidget(self)
        rows = QVBoxLayout(middle)
        rows.setContentsMargins(0, 6, 0, 0)
        rows.setSpacing(6)
        # Hints and questions appear below the events, where they take room from the last rows and move nothing else.
        parts = sorted(self._places.middle, key=lambda entry: entry[0])
        self._above = [part for at, part, _ in parts if at < 0]
        for part in self._above:
            rows.addWidget(part)
        rows.addWidget(self.middle, 1)
        for part in [part for at, part, _ in parts if at > 0]:
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
            pane.widget.setMinimumHeight(_LEAST_PANE)  # instead of its hint: the card must not take height from other panes
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
