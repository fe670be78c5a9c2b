"""The arrangement of the docks: the default one, a saved one, or what a task needs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QWidget

from inspector_app.widgets.places import Pane

LAYOUT_VERSION = 7  # raised when docks are added or removed, so that an older saved layout is not restored

_SIDES = ("sessions", "detail")
_SIDE_AREAS = (Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea)

# Task → the panes displayed beside the stream: browsing databases, or debugging a run. None: those below the stream.
PERSPECTIVES = {"browse": ("sessions", "detail"), "debug": ("detail", None)}

_SESSIONS_SHARE = 0.155  # of the window's width
_DETAIL_SHARE = 0.33  # of the window's width
_BOTTOM_HEIGHT = 190  # pixels at least
_BOTTOM_SHARE = 0.2  # of the window's height
_BOTTOM_HEIGHT_EMPTY = 88  # pixels: two lines, for a Pending pane without items


class DockLayout(QObject):
    """Arranges the docks of the workbench, and keeps the widths of those at its sides and the height of those below.

    Args:
        bench: the workbench.
        panes: the panes, in the order of their numbers.
        docks: the dock of each pane, by its name.
    """

    def __init__(self, bench: QMainWindow, panes: Sequence[Pane], docks: Mapping[str, QDockWidget]) -> None:
        super().__init__(bench)
        self._bench = bench
        self._panes = panes
        self._docks = docks
        self._below = [pane.name for pane in sorted(panes, key=lambda pane: pane.tab) if pane.side == "below"]
        self._empty_pane = next((pane for pane in panes if pane.is_empty is not None), panes[-1])
        self._place_docks()
        self._bottom_height = _BOTTOM_HEIGHT
        self._bottom_is_low: bool | None = None
        bench.tabifiedDockWidgetActivated.connect(self.fit_lower)
        for dock in self._docks.values():
            dock.topLevelChanged.connect(self._show_titles)
            dock.dockLocationChanged.connect(self._show_titles)
        self._to_restore: QByteArray | None = None
        self._arranged = False
        self._shares: dict[str, float] = {}  # side pane → its share of the window's width
        self._settled = QTimer(self)  # runs while a new size of the window is laid out
        self._settled.setSingleShot(True)
        self._settled.setInterval(0)
        self._settled.timeout.connect(self._on_settled)
        self._settled_width = 0
        for name in _SIDES:
            self._docks[name].installEventFilter(self)

    def arrange(self, saved: QByteArray | None) -> None:
        """Restore the arrangement of the docks, or use the default one, as soon as the page has its size.

        Args:
            saved: the result of `saved_layout`; None uses the default arrangement.
        """
        self._to_restore = saved
        self._arranged = False
        if self._bench.isVisible():
            self._arrange_now()

    def saved_layout(self) -> QByteArray | None:
        """Return the arrangement of the docks, for `arrange`; None if they were never displayed."""
        if not self._arranged:
            return None
        # Qt stores widths in pixels, which are wrong in a window of another width.
        self._remember_shares(_SIDES)
        return QByteArray(json.dumps(self._shares).encode() + b"\n" + self._bench.saveState(LAYOUT_VERSION).data())

    def arrange_soon(self) -> None:
        """Arrange the docks when the workbench, which is displayed now, has its size."""
        QTimer.singleShot(0, self, self._arrange_now if not self._arranged else self._show_titles)  # hidden docks have no tabs

    def keep_shares(self) -> None:
        """Keep the side panes' shares of the width: the workbench has another size."""
        self._settled.start()
        if self._arranged:
            self._apply_shares()

    def _apply_shares(self) -> None:
        wanted = {self._docks[name]: round(share * self._bench.width()) for name, share in self._shares.items() if self._is_at_a_side(name)}
        if wanted:
            self._bench.resizeDocks(list(wanted), list(wanted.values()), Qt.Orientation.Horizontal)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remember the width that the user, or a layout, gave a side pane."""
        # While the window's own size changes, the docks are resized before the window is notified.
        if event.type() == QEvent.Type.Resize and self._bench.width() == self._settled_width:
            self._remember_shares([name for name in _SIDES if watched is self._docks[name]])
        return False

    def _on_settled(self) -> None:
        self._settled_width = self._bench.width()
        if self._arranged:
            self._remember_shares([name for name in _SIDES if name not in self._shares])

    def _remember_shares(self, names: Sequence[str]) -> None:
        self._shares.update({name: self._docks[name].width() / max(self._bench.width(), 1) for name in names if self._is_at_a_side(name)})

    def _is_at_a_side(self, name: str) -> bool:
        dock = self._docks[name]
        return dock.isVisible() and not dock.isFloating() and self._bench.dockWidgetArea(dock) in _SIDE_AREAS

    def _arrange_now(self) -> None:
        if self._arranged:
            return
        self._arranged = True
        shares, state = _parts_of_layout(self._to_restore)
        if state is None or not self._bench.restoreState(state, LAYOUT_VERSION):
            self.reset_layout()
        else:
            self._shares = shares
            self._apply_shares()
            self._settled.start()
            self._bottom_is_low = self._docks[self._empty_pane.name].height() <= _BOTTOM_HEIGHT_EMPTY
            self.fit_lower()
        self._show_titles()

    def show_perspective(self, name: str) -> None:
        """Reset the layout and show only the panes that a task needs.

        Args:
            name: a key of `PERSPECTIVES`.
        """
        self.reset_layout()
        for pane in self._panes:
            self._docks[pane.name].setVisible((None if pane.side == "below" else pane.name) in PERSPECTIVES[name])

    def reset_layout(self) -> None:
        """Restore the default arrangement of the docks."""
        for dock in self._docks.values():
            self._bench.removeDockWidget(dock)
            dock.setFloating(False)
        self._place_docks()
        self._docks[self._below[0]].raise_()
        self._bench.resizeDocks(
            [self._docks["sessions"], self._docks["detail"]],
            [int(self._bench.width() * _SESSIONS_SHARE), int(self._bench.width() * _DETAIL_SHARE)],
            Qt.Orientation.Horizontal,
        )
        self._shares.clear()
        self._settled.start()
        self._bottom_height, self._bottom_is_low = max(_BOTTOM_HEIGHT, int(self._bench.height() * _BOTTOM_SHARE)), None
        self.fit_lower()

    def _place_docks(self) -> None:
        for side, area in (("left", _SIDE_AREAS[0]), ("right", _SIDE_AREAS[1])):
            for pane in self._panes:
                if pane.side == side:
                    self._bench.addDockWidget(area, self._docks[pane.name])
        self._bench.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self._docks[self._below[0]])
        for before, after in pairwise(self._below):  # tabbed at once: side by side they would make the window wider
            self._bench.tabifyDockWidget(self._docks[before], self._docks[after])
        for dock in self._docks.values():
            dock.show()
        self._show_titles()

    def fit_lower(self) -> None:
        """Fit the height of the lower docks: small while an empty Pending pane is in front, else the previous height."""
        empty = self._docks[self._empty_pane.name]
        others = [self._docks[name] for name in self._below if self._docks[name] is not empty]
        front = next((dock for dock in (empty, *others) if not dock.visibleRegion().isEmpty()), others[-1])
        is_empty = self._empty_pane.is_empty is not None and self._empty_pane.is_empty()
        low = front is empty and is_empty and bool(self._bench.tabifiedDockWidgets(empty))
        if not self._arranged or low == self._bottom_is_low:
            return
        if low and self._bottom_is_low is False:
            tabs = next((bar.height() for bar in self._bench.findChildren(QTabBar) if bar.isVisible()), 0)
            self._bottom_height = front.height() + tabs
        self._bottom_is_low = low
        self._bench.resizeDocks([front], [_BOTTOM_HEIGHT_EMPTY if low else self._bottom_height], Qt.Orientation.Vertical)

    def _show_titles(self) -> None:
        """Show each dock's title bar, except where a tab has the same title."""
        for dock in self._docks.values():
            tabbed = bool(self._bench.tabifiedDockWidgets(dock)) and not dock.isFloating()
            bar = dock.titleBarWidget()
            if tabbed and bar is None:
                dock.setTitleBarWidget(QWidget(dock))
            elif not tabbed and bar is not None:
                dock.setTitleBarWidget(None)  # type: ignore[arg-type]  # None restores Qt's title bar
                bar.deleteLater()


def _parts_of_layout(saved: QByteArray | None) -> tuple[dict[str, float], QByteArray | None]:
    """Return the side panes' shares of the width, and Qt's own state, of a saved layout; an earlier version's has no shares."""
    head, line_end, state = bytes(saved.data() if saved is not None else b"").partition(b"\n")
    if not line_end or not head.startswith(b"{"):
        return {}, saved
    try:
        shares = {name: float(share) for name, share in json.loads(head).items() if name in _SIDES and 0 < share < 1}
    except (ValueError, TypeError):
        shares = {}
    return shares, QByteArray(state)
