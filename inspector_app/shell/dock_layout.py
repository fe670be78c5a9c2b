"""The arrangement of the docks: the default one, a saved one, or what a task needs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise

from PySide6.QtCore import QByteArray, QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QWidget

from inspector_app.widgets.places import Pane, Side

LAYOUT_VERSION = 8  # raised when docks are added or removed, so that an older saved layout is not restored

_AREAS = {"left": Qt.DockWidgetArea.LeftDockWidgetArea, "right": Qt.DockWidgetArea.RightDockWidgetArea}
_SHARES = {"sessions": 0.19, "detail": 0.33}  # of the window's width
_LOWER_HEIGHT = 210  # pixels at least: a pending answer with its buttons, and below it room for the strip of messages
_LOWER_SHARE = 0.25  # of the window's height


class DockLayout(QObject):
    """Arranges the docks of the workbench; those at its sides keep their shares of its width, as Qt would give all new room to the events.

    Signals:
        replaced: the saved layout is of a version with other panes, and was replaced by the default one.

    Attributes:
        saved: the result of `saved_layout` to restore once the page is displayed and has its size; None is the default arrangement.

    Args:
        bench: the workbench.
        panes: the panes, in the order of their numbers.
        docks: the dock of each pane, by its name.
    """

    replaced = Signal()

    def __init__(self, bench: QMainWindow, panes: Sequence[Pane], docks: Mapping[str, QDockWidget]) -> None:
        super().__init__(bench)
        self._bench = bench
        self._panes = panes
        self._docks = docks
        self._below = [docks[pane.name] for pane in sorted(panes, key=lambda pane: pane.tab) if pane.side == "below"]
        self.saved: QByteArray | None = None
        self._arranged = False
        self._enlarged: tuple[QDockWidget, QByteArray] | None = None  # and the arrangement before
        self._perspective: tuple[tuple[Side, ...], QByteArray] | None = None  # its sides, and the arrangement before
        self._given = 0  # pixels of the lower panes' height that the strip of messages has
        self._shares = dict(_SHARES)
        self._place_docks()
        for dock in docks.values():
            dock.topLevelChanged.connect(self._show_titles)
            dock.dockLocationChanged.connect(self._show_titles)
        bench.installEventFilter(self)

    def saved_layout(self) -> QByteArray | None:
        """Return the arrangement of the docks; None if they were never displayed."""
        if not self._arranged:
            return None
        # Qt stores widths in pixels, which are wrong in a window of another width.
        self._remember_shares()
        state = self._enlarged[1] if self._enlarged is not None else self._bench.saveState(LAYOUT_VERSION)
        return QByteArray(json.dumps(self._shares).encode() + b"\n" + state.data())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrange the docks once the page has its size, keep the shares when that changes, and remember what the user drags."""
        if isinstance(watched, QTabBar):
            if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonDblClick:
                self.toggle_at(watched, event.position().toPoint())
            return False
        if event.type() == QEvent.Type.Show:
            QTimer.singleShot(0, self, self._show_titles if self._arranged else self._arrange)  # hidden docks have no tabs
        elif event.type() == QEvent.Type.Resize and self._arranged:
            self._apply_shares()
        elif event.type() == QEvent.Type.MouseButtonRelease:
            QTimer.singleShot(0, self, self._remember_shares)
        return False

    def toggle_at(self, tabs: QTabBar, point: QPoint) -> None:
        """Enlarge the pane of a tab, or put it back."""
        title = tabs.tabText(tabs.tabAt(point))
        dock = next((dock for dock in self._docks.values() if dock.windowTitle() == title), None)
        if self._enlarged is not None:
            self.leave_enlarged()
        elif dock is not None:
            self.enlarge(dock)

    def _arrange(self) -> None:
        self._arranged = True
        head, _, state = bytes(self.saved.data() if self.saved is not None else b"").partition(b"\n")
        try:
            saved = {name: float(share) for name, share in json.loads(head).items()}
        except (ValueError, TypeError, AttributeError):
            saved, state = {}, b""  # none, or one that was written without shares
        self._shares |= {name: share for name, share in saved.items() if name in _SHARES and 0 < share < 1}
        if self._bench.restoreState(state, LAYOUT_VERSION):
            self._apply_shares()
            self._show_titles()
        else:
            self.reset_layout()
            if state:
                self.replaced.emit()

    def _apply_shares(self) -> None:
        if self._enlarged is not None:
            return
        docks = self._docks_at_sides()
        widths = [round(self._shares[name] * self._bench.width()) for name in docks]
        self._bench.resizeDocks(list(docks.values()), widths, Qt.Orientation.Horizontal)

    def _remember_shares(self) -> None:
        if self._enlarged is not None:
            return
        self._shares |= {name: dock.width() / max(self._bench.width(), 1) for name, dock in self._docks_at_sides().items()}

    def _docks_at_sides(self) -> dict[str, QDockWidget]:
        found = {name: self._docks[name] for name in _SHARES if self._docks[name].isVisible() and not self._docks[name].isFloating()}
        return {name: dock for name, dock in found.items() if self._bench.dockWidgetArea(dock) in _AREAS.values()}

    def give_room(self, pixels: int) -> None:
        """Let the strip of messages take its height from the end of the lower panes, or give it back: nothing above moves."""
        lower = next((dock for dock in self._below if not dock.isFloating() and not dock.visibleRegion().isEmpty()), None)
        if lower is None:
            return
        before = lower.height()
        self._set_height(lower, before - pixels if pixels > 0 else before + min(-pixels, self._given))
        self._given = max(self._given + before - lower.height(), 0)

    def _tab_bars(self) -> list[QTabBar]:
        return self._bench.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)

    def _set_height(self, dock: QDockWidget, height: int) -> None:
        tabs = next((bar.height() for bar in self._tab_bars() if bar.isVisible() and bar.geometry().bottom() + 1 == dock.y()), 0)
        self._bench.resizeDocks([dock], [height + tabs], Qt.Orientation.Vertical)  # the height of a tabbed dock includes its tabs
        layout = self._bench.layout()
        if layout is not None:
            layout.activate()  # before anything is painted

    @property
    def enlarged(self) -> QDockWidget | None:
        """The pane that has the room of all others; None if none has."""
        return self._enlarged[0] if self._enlarged is not None else None

    def enlarge(self, dock: QDockWidget) -> None:
        """Give a pane, and those behind its tabs, the room of all others."""
        self.leave_enlarged()
        if dock.isFloating() or dock.isHidden():
            return
        self._remember_shares()
        self._enlarged = (dock, self._bench.saveState(LAYOUT_VERSION))
        stay = {dock, *self._bench.tabifiedDockWidgets(dock)}
        self._show_centre(False)
        for other in self._docks.values():
            if other not in stay and not other.isFloating():
                other.hide()

    def leave_enlarged(self) -> None:
        """Put all panes back where they were before one was enlarged; the same pane is in front."""
        if self._enlarged is None:
            return
        dock, before = self._enlarged
        front = next((one for one in (dock, *self._bench.tabifiedDockWidgets(dock)) if not one.visibleRegion().isEmpty()), dock)
        self._enlarged = None
        self._show_centre(True)
        self._restore(before)
        front.raise_()

    def show_only(self, *sides: Side) -> None:
        """Show only the panes of these sides, which a task needs; asked again, bring back what was hidden for it."""
        self.leave_enlarged()
        before = self._perspective
        if before is not None:
            self._restore(before[1])
            self._perspective = None
            if before[0] == sides:
                return
        self._perspective = (sides, self._bench.saveState(LAYOUT_VERSION))
        for pane in self._panes:
            self._docks[pane.name].setVisible(pane.side in sides)

    def _show_centre(self, shown: bool) -> None:
        centre = self._bench.centralWidget()
        if centre is not None:  # it is set after the docks on its left
            centre.setVisible(shown)

    def _restore(self, state: QByteArray) -> None:
        self._bench.restoreState(state, LAYOUT_VERSION)
        self._apply_shares()
        self._show_titles()

    def reset_layout(self) -> None:
        """Restore the default arrangement of the docks."""
        self._enlarged = self._perspective = None
        self._show_centre(True)
        for dock in self._docks.values():
            self._bench.removeDockWidget(dock)
            dock.setFloating(False)
        self._place_docks()
        self._below[0].raise_()
        self._shares = dict(_SHARES)
        self._apply_shares()
        self._bench.resizeDocks(self._below[:1], [max(_LOWER_HEIGHT, int(self._bench.height() * _LOWER_SHARE))], Qt.Orientation.Vertical)

    def _place_docks(self) -> None:
        for pane in self._panes:
            if pane.side in _AREAS:
                self._bench.addDockWidget(_AREAS[pane.side], self._docks[pane.name])
        self._bench.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self._below[0])
        for before, after in pairwise(self._below):  # tabbed at once: side by side they would make the window wider
            self._bench.tabifyDockWidget(before, after)
        for dock in self._docks.values():
            dock.show()
        self._show_titles()

    def _show_titles(self) -> None:
        """Show each dock's title bar, except where a tab has the same title."""
        for tabs in self._tab_bars():
            tabs.installEventFilter(self)
        for dock in self._docks.values():
            tabbed = bool(self._bench.tabifiedDockWidgets(dock)) and not dock.isFloating()
            bar = dock.titleBarWidget()
            if tabbed and bar is None:
                dock.setTitleBarWidget(QWidget(dock))
            elif not tabbed and bar is not None:
                dock.setTitleBarWidget(None)  # type: ignore[arg-type]  # None restores Qt's title bar
                bar.deleteLater()
