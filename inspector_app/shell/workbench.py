"""The panes of an open session, as docks around the event stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from PySide6.QtCore import QByteArray, QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractButton,
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

from inspector_app.branches.override_card import OverrideCard
from inspector_app.databases.database_page import DatabasePage
from inspector_app.detail.event_detail import EventDetail
from inspector_app.findings.findings_pane import FindingsPane
from inspector_app.graph.graph_pane import GraphPane
from inspector_app.opening.problem_page import ProblemPage
from inspector_app.running.breakpoints_pane import BreakpointsPane
from inspector_app.running.composer import Composer
from inspector_app.running.held_card import HeldCard
from inspector_app.running.pending_pane import PendingPane
from inspector_app.running.preflight_card import PreflightCard
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.sessions.sessions_pane import SessionsPane
from inspector_app.shell.enter_presses import press_focused
from inspector_app.shell.focus_home import FocusHome
from inspector_app.shell.log_pane import LogPane
from inspector_app.state.writers_pane import WritersPane
from inspector_app.stream.event_stream import EventStreamView
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.stream.filter_bar import FilterBar
from inspector_app.timeline.timeline_view import TimelineView
from inspector_app.timeline.turns_view import TurnsView
from inspector_app.widgets.decision_card import DecisionCard
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.widgets.tooltips import set_tooltip

LAYOUT_VERSION = 7  # raised when docks are added or removed, so that an older saved layout is not restored

_DOCKING = (
    QMainWindow.DockOption.AllowNestedDocks
    | QMainWindow.DockOption.AllowTabbedDocks
    | QMainWindow.DockOption.AnimatedDocks
    | QMainWindow.DockOption.GroupedDragging
)
# The tabs below the stream, from left to right.
_BOTTOM = ("pending", "breakpoints", "timeline", "charts", "graph", "writers", "log", "findings")

_SIDES = ("sessions", "detail")
_SIDE_AREAS = (Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea)

# Task → the panes displayed beside the stream: browsing databases, or debugging a run.
PERSPECTIVES = {"browse": ("sessions", "detail"), "debug": ("detail", *_BOTTOM)}

_SESSIONS_SHARE = 0.155  # of the window's width
_DETAIL_SHARE = 0.33  # of the window's width
_BOTTOM_HEIGHT = 190  # pixels at least
_BOTTOM_SHARE = 0.2  # of the window's height
_LEAST_STREAM = 130  # pixels that the cards below leave to the stream
_BOTTOM_HEIGHT_EMPTY = 88  # pixels: two lines, for a Pending pane without items


class Workbench(QMainWindow):
    """The panes: sessions on the left, events in the middle, the selected event on the right, Pending to Findings below.

    Attributes:
        stream, filter_bar, composer: the events, with their filter above and the composer below.
        detail, sessions, pending, breakpoints, timeline, writers, log, findings, charts, graph: the contents of the docks.
        held: the card of a held agent, below the detail.
        resume_hint: offers to resume the invocation.
        writing_hint: reports that the database is read-only.
        database_hint: offers to open the agent's own database.
        deletion_hint: reports deleted sessions and offers to restore them.
        replay_hint, capsule_hint: show how a replay went, and where a capsule was written.
        exchange_hint: shows the progress and the end of an export or import.
        note_hint: offers to restore a deleted note.
        agent_hint: reports that the agent's code changed.
        app_hint: offers the database of an attached app.
        fork_hint: reports that the next message begins a fork.
        origin_hint: names the session and the event that the displayed fork begins at.
        preflight, fork_card, rewind_card: show what resuming, forking and rewinding will do.
        override_card: edits an answer for a fork.
        problem: replaces the stream when the session cannot be read.
        database: replaces the stream while the contents of a database are displayed.

    Signals:
        pane_menu_requested (QMenu, str, QWidget): the menu of this pane's title is about to open.
        asked_for: a shortcut is about to move the focus to a pane; another page may be displayed.

    Args:
        events: the model of the event stream.
        sessions: the model of the session list.
    """

    asked_for = Signal()
    pane_menu_requested = Signal(object, str, object)

    def __init__(self, events: EventTableModel, sessions: SessionTreeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("workbench")
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockOptions(_DOCKING)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.stream = EventStreamView(events)
        self.composer = Composer()
        self.resume_hint = HintBar("resume_hint")
        self.writing_hint = HintBar("writing_hint")
        self.database_hint = HintBar("database_hint")
        self.agent_hint = HintBar("agent_hint")
        self.app_hint = HintBar("app_hint")
        self.fork_hint = HintBar("fork_hint")
        self.deletion_hint = HintBar("deletion_hint")
        self.exchange_hint = HintBar("exchange_hint")
        self.replay_hint, self.capsule_hint = HintBar("replay_hint"), HintBar("capsule_hint")
        self.note_hint = HintBar("note_deleted_hint")
        self.preflight = PreflightCard()
        self.fork_card = DecisionCard("fork_card", "What forking will do")
        self.override_card = OverrideCard()
        self.origin_hint = HintBar("origin_hint")
        self.rewind_card = DecisionCard("rewind_card", "What rewinding will do")
        self.problem = ProblemPage("session_problem")
        self.database = DatabasePage()
        self.detail = EventDetail()
        self.sessions = SessionsPane(sessions)
        self.pending = PendingPane()
        self.breakpoints = BreakpointsPane()
        self.timeline = TimelineView()
        self.writers = WritersPane()
        self.log = LogPane()
        self.findings = FindingsPane()
        self.charts = TurnsView()
        self.graph = GraphPane()
        self.held = HeldCard()
        self.filter_bar = FilterBar()
        self._centre = QStackedWidget()
        self._centre.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # the cards below it take precedence
        self._centre.setMinimumHeight(_LEAST_STREAM)
        self._centre.addWidget(self.stream)
        self._centre.addWidget(self.problem)
        self._centre.addWidget(self.database)
        self.database.setMinimumWidth(_LEAST_STREAM)  # its tables would make the window wider than a small screen
        # The order is the tab order.
        left = self._dock("sessions", "Sessions", self.sessions)
        self._middle = self._make_middle()
        self.setCentralWidget(self._middle)
        self._docks = {
            "sessions": left,
            "detail": self._dock("detail", "Inspector", self._detail_and_held()),
            "pending": self._dock("pending", "Pending", self.pending),
            "breakpoints": self._dock("breakpoints", "Breakpoints", self.breakpoints),
            "timeline": self._dock("timeline", "Timeline", self.timeline),
            "writers": self._dock("writers", "Who wrote", self.writers),
            "log": self._dock("log", "Log", self.log),
            "findings": self._dock("findings", "Findings", self.findings),
            "charts": self._dock("charts", "Charts", self.charts),
            "graph": self._dock("graph", "Graph", self.graph),
        }
        self._docks["findings"].visibilityChanged.connect(self.findings.set_displayed)
        drawn = {"timeline": self.timeline.displayed, "charts": self.charts.displayed, "graph": self.graph.displayed}
        for name, displayed in drawn.items():
            self._docks[name].visibilityChanged.connect(displayed.set_in_front)
        offers = (self.database_hint, self.app_hint, self.agent_hint)
        hints = (
            self.resume_hint,
            self.writing_hint,
            *offers,
            self.deletion_hint,
            self.note_hint,
            self.exchange_hint,
            self.replay_hint,
            self.capsule_hint,
            self.fork_hint,
        )
        FocusHome(self.stream.table, (*hints, self.preflight, self.fork_card, self.rewind_card, self.held))
        for answered in (self.pending.answered, self.pending.progress_given):
            answered.connect(self._on_answered)
        self._go_actions = [self._go_action(number, name) for number, name in enumerate(self._docks, 1)]
        self._place_docks()
        self._bottom_height = _BOTTOM_HEIGHT
        self._bottom_is_low: bool | None = None
        self.tabifiedDockWidgetActivated.connect(self._fit_bottom)
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

    @property
    def dock_actions(self) -> list[QAction]:
        """The action of each dock that shows or hides it."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    @property
    def go_actions(self) -> list[QAction]:
        """The action of each dock that brings it to the front and gives it the focus."""
        return list(self._go_actions)

    def _go_action(self, number: int, name: str) -> QAction:
        action = QAction(f'Go to "{self._docks[name].accessibleName()}"', self)
        action.setObjectName(f"go_to_{name}")
        action.setShortcut(QKeySequence(f"Alt+{number % 10}"))  # the tenth is Alt+0
        action.triggered.connect(partial(self._on_go, name))
        return action

    def _on_go(self, name: str, _checked: bool = False) -> None:
        self.asked_for.emit()
        self.raise_pane(name)
        entrance = _entrance(self._docks[name].widget())
        if entrance is not None:
            entrance.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_problem(self, title: str, text: str, details: str | None) -> None:
        """Show, in place of the stream, why the session could not be read."""
        self.problem.show_problem(title, text, details)
        self._centre.setCurrentWidget(self.problem)

    def show_stream(self) -> None:
        """Show the stream again."""
        self._centre.setCurrentWidget(self.stream)
        self.filter_bar.show()

    def show_database_page(self) -> None:
        """Show, in place of the stream and its filter, the database's tables and shared state."""
        self._centre.setCurrentWidget(self.database)
        self.filter_bar.hide()

    def leave_database_page(self) -> None:
        """Show the stream if the database page is displayed."""
        if self._centre.currentWidget() is self.database:
            self.show_stream()

    def filter_events(self) -> None:
        """Show the stream and move the focus to its filter."""
        self.leave_database_page()
        self.filter_bar.focus()

    def show_pending(self, count: int, listed: int | None = None) -> None:
        """Show the number of pending items in the pane's title.

        Args:
            count: all pending items.
            listed: how many of them the pane lists, if not all.
        """
        part = f" ({listed:,} listed)" if listed is not None and listed < count else ""
        self._docks["pending"].setWindowTitle(f"Pending  {count:,}{part}" if count else "Pending")
        self._fit_bottom()

    def show_breakpoints(self, count: int) -> None:
        """Show the number of breakpoints in the pane's title."""
        self._docks["breakpoints"].setWindowTitle(f"Breakpoints  {count}" if count else "Breakpoints")

    def show_findings(self, count: int) -> None:
        """Show the number of errors and warnings in the title of the pane of findings."""
        self._docks["findings"].setWindowTitle(f"Findings  {count:,}" if count else "Findings")

    def _on_answered(self) -> None:
        """Move the focus to the events, where the run continues: the form is about to close."""
        self.stream.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_next_pane(self, step: int = 1) -> None:
        """Move the focus to the next pane: sessions, events, composer, detail, held card, the front tab below.

        Args:
            step: 1 for the next one, -1 for the one before.
        """
        bottom = [self._docks[name].widget() for name in _BOTTOM if not self._docks[name].visibleRegion().isEmpty()]
        panes = [self.sessions.tree, self.stream, self.composer, self.detail, self.held, *bottom]
        panes = [pane for pane in panes if pane is not None and not pane.visibleRegion().isEmpty() and _entrance(pane) is not None]
        if not panes:
            return
        focused = QApplication.focusWidget()
        here = next((number for number, pane in enumerate(panes) if focused is pane or (focused and pane.isAncestorOf(focused))), None)
        if here is None and focused and self.stream in panes and self._middle.isAncestorOf(focused):
            # The filter precedes the events, hints and cards follow them.
            events = panes.index(self.stream)
            here = events - (step > 0) if self.filter_bar.isAncestorOf(focused) else events + (step < 0)
        entrance = _entrance(panes[(here + step) % len(panes)] if here is not None else panes[0])
        if entrance is not None:
            entrance.setFocus(Qt.FocusReason.ShortcutFocusReason)

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
        """Bring a pane to the front: sessions, detail, pending, breakpoints, timeline, writers, log, findings, charts or graph."""
        self._docks[name].show()
        self._docks[name].raise_()

    def arrange(self, saved: QByteArray | None) -> None:
        """Restore the arrangement of the docks, or use the default one, as soon as the page has its size.

        Args:
            saved: the result of `saved_layout`; None uses the default arrangement.
        """
        self._to_restore = saved
        self._arranged = False
        if self.isVisible():
            self._arrange_now()

    def saved_layout(self) -> QByteArray | None:
        """Return the arrangement of the docks, for `arrange`; None if they were never displayed."""
        if not self._arranged:
            return None
        # Qt stores widths in pixels, which are wrong in a window of another width.
        self._remember_shares(_SIDES)
        return QByteArray(json.dumps(self._shares).encode() + b"\n" + self.saveState(LAYOUT_VERSION).data())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the side panes' shares of the width; Qt would give all new room to the events."""
        super().resizeEvent(event)
        self._settled.start()
        if self._arranged:
            self._apply_shares()

    def _apply_shares(self) -> None:
        wanted = {self._docks[name]: round(share * self.width()) for name, share in self._shares.items() if self._is_at_a_side(name)}
        if wanted:
            self.resizeDocks(list(wanted), list(wanted.values()), Qt.Orientation.Horizontal)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remember the width that the user, or a layout, gave a side pane."""
        # While the window's own size changes, the docks are resized before the window is notified.
        if event.type() == QEvent.Type.Resize and self.width() == self._settled_width:
            self._remember_shares([name for name in _SIDES if watched is self._docks[name]])
        return False

    def _on_settled(self) -> None:
        self._settled_width = self.width()
        if self._arranged:
            self._remember_shares([name for name in _SIDES if name not in self._shares])

    def _remember_shares(self, names: Sequence[str]) -> None:
        self._shares.update({name: self._docks[name].width() / max(self.width(), 1) for name in names if self._is_at_a_side(name)})

    def _is_at_a_side(self, name: str) -> bool:
        dock = self._docks[name]
        return dock.isVisible() and not dock.isFloating() and self.dockWidgetArea(dock) in _SIDE_AREAS

    def showEvent(self, event: QShowEvent) -> None:
        """Arrange the docks once the page has its size."""
        super().showEvent(event)
        QTimer.singleShot(0, self, self._arrange_now if not self._arranged else self._show_titles)  # hidden docks have no tabs

    def _arrange_now(self) -> None:
        if self._arranged:
            return
        self._arranged = True
        shares, state = _parts_of_layout(self._to_restore)
        if state is None or not self.restoreState(state, LAYOUT_VERSION):
            self.reset_layout()
        else:
            self._shares = shares
            self._apply_shares()
            self._settled.start()
            self._bottom_is_low = self._docks["pending"].height() <= _BOTTOM_HEIGHT_EMPTY
            self._fit_bottom()
        self._show_titles()

    def show_perspective(self, name: str) -> None:
        """Reset the layout and show only the panes that a task needs.

        Args:
            name: a key of `PERSPECTIVES`.
        """
        self.reset_layout()
        for pane, dock in self._docks.items():
            dock.setVisible(pane in PERSPECTIVES[name])

    def reset_layout(self) -> None:
        """Restore the default arrangement of the docks."""
        for dock in self._docks.values():
            self.removeDockWidget(dock)
            dock.setFloating(False)
        self._place_docks()
        self._docks["pending"].raise_()
        self.resizeDocks(
            [self._docks["sessions"], self._docks["detail"]],
            [int(self.width() * _SESSIONS_SHARE), int(self.width() * _DETAIL_SHARE)],
            Qt.Orientation.Horizontal,
        )
        self._shares.clear()
        self._settled.start()
        self._bottom_height, self._bottom_is_low = max(_BOTTOM_HEIGHT, int(self.height() * _BOTTOM_SHARE)), None
        self._fit_bottom()

    def _place_docks(self) -> None:
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self._docks["sessions"])
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self._docks["detail"])
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self._docks[_BOTTOM[0]])
        for before, after in pairwise(_BOTTOM):  # tabbed at once: side by side they would make the window wider
            self.tabifyDockWidget(self._docks[before], self._docks[after])
        for dock in self._docks.values():
            dock.show()
        self._show_titles()

    def _fit_bottom(self) -> None:
        """Fit the height of the lower docks: small while an empty Pending pane is in front, else the previous height."""
        pending, log = self._docks["pending"], self._docks["log"]
        bottom = [self._docks[name] for name in _BOTTOM]
        front = next((dock for dock in bottom if not dock.visibleRegion().isEmpty()), log)
        low = front is pending and not self.pending.rows and log in self.tabifiedDockWidgets(pending)
        if not self._arranged or low == self._bottom_is_low:
            return
        if low and self._bottom_is_low is False:
            tabs = next((bar.height() for bar in self.findChildren(QTabBar) if bar.isVisible()), 0)
            self._bottom_height = front.height() + tabs
        self._bottom_is_low = low
        self.resizeDocks([front], [_BOTTOM_HEIGHT_EMPTY if low else self._bottom_height], Qt.Orientation.Vertical)

    def _detail_and_held(self) -> QWidget:
        part = QWidget(self)
        rows = QVBoxLayout(part)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(6)
        rows.addWidget(self.detail, 5)
        rows.addWidget(self.held, 4)
        return part

    def _make_middle(self) -> QWidget:
        middle = QWidget(self)
        rows = QVBoxLayout(middle)
        rows.setContentsMargins(0, 6, 0, 0)
        rows.setSpacing(6)
        for decided in (
            self.held.focus_given_up,
            self.preflight.chosen,
            self.fork_card.chosen,
            self.rewind_card.chosen,
            self.override_card.submitted,
        ):
            decided.connect(self.stream.table.setFocus)  # else Qt moves the focus of the hidden card to the next widget
        rows.addWidget(self.filter_bar)
        rows.addWidget(self._centre, 1)
        # Hints and questions appear below the events, where they take room from the last rows and move nothing else.
        for hint in (self.origin_hint, self.writing_hint, self.database_hint, self.app_hint, self.deletion_hint, self.agent_hint):
            rows.addWidget(hint)
        for hint in (self.note_hint, self.exchange_hint, self.capsule_hint, self.replay_hint, self.resume_hint, self.fork_hint):
            rows.addWidget(hint)
        for card in (self.preflight, self.fork_card, self.override_card, self.rewind_card):
            rows.addWidget(card)
        rows.addWidget(self.composer)
        return middle

    def _show_titles(self) -> None:
        """Show each dock's title bar, except where a tab has the same title."""
        for dock in self._docks.values():
            tabbed = bool(self.tabifiedDockWidgets(dock)) and not dock.isFloating()
            bar = dock.titleBarWidget()
            if tabbed and bar is None:
                dock.setTitleBarWidget(QWidget(dock))
            elif not tabbed and bar is not None:
                dock.setTitleBarWidget(None)  # type: ignore[arg-type]  # None restores Qt's title bar
                bar.deleteLater()

    def _dock(self, name: str, title: str, pane: QWidget) -> QDockWidget:
        dock = _Dock(title, self)
        dock.setObjectName(f"dock_{name}")
        dock.setAccessibleName(title)
        dock.setFeatures(
            QDockWidget.DockWidgetFeature.DockWidgetMovable
            | QDockWidget.DockWidgetFeature.DockWidgetClosable
            | QDockWidget.DockWidgetFeature.DockWidgetFloatable
        )
        dock.setWidget(pane)
        return dock


class _Dock(QDockWidget):
    """A dock, whose buttons name its pane: Qt names those of all docks alike.

    A floating dock is its own window, and the main window does not get its keys.
    """

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        self._title = title
        self.topLevelChanged.connect(self._name_buttons)
        self.featuresChanged.connect(self._name_buttons)
        self._name_buttons()

    def changeEvent(self, event: QEvent) -> None:
        """Name the buttons again, which Qt has named for another style."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._name_buttons()

    def _name_buttons(self, _changed: object = None) -> None:
        floats = f"{self._title} back into the window" if self.isFloating() else f"{self._title} in a window of its own"
        for name, does in (("close", f"Hide {self._title}"), ("float", floats)):
            button = self.findChild(QAbstractButton, f"qt_dockwidget_{name}button")
            if isinstance(button, QAbstractButton):
                button.setAccessibleName(does)
                set_tooltip(button, does)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the focused button on Enter."""
        if not (self.isFloating() and press_focused(self, event)):
            super().keyPressEvent(event)


def _entrance(pane: QWidget) -> QWidget | None:
    """Return the widget of a pane that gets the focus: the topmost list or text, else the first button, else the empty state."""
    inside = [pane, *pane.findChildren(QWidget)]
    able = [part for part in inside if part.isVisible() and part.isEnabled() and part.focusPolicy() & Qt.FocusPolicy.TabFocus]
    if not able:
        return next((part for part in inside if isinstance(part, EmptyState) and part.isVisible()), None)
    lists = [part for part in able if isinstance(part, QAbstractScrollArea)]
    return min(lists, key=lambda part: part.mapTo(pane, QPoint()).y(), default=able[0])


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
