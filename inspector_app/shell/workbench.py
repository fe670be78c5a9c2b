"""The panes of an open session, as docks round the event stream: each can be moved, hidden, and comes back where it was."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from PySide6.QtCore import QByteArray, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QDockWidget,
    QMainWindow,
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
from inspector_app.detail.timeline_view import TimelineView
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
from inspector_app.stream.event_list_model import EventListModel
from inspector_app.stream.event_stream import EventStreamView
from inspector_app.stream.filter_bar import FilterBar
from inspector_app.widgets.decision_card import DecisionCard
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.hint_bar import HintBar

LAYOUT_VERSION = 4
"""Raised when docks come or go, so that an older saved layout is not forced onto them."""

_DOCKING = (
    QMainWindow.DockOption.AllowNestedDocks
    | QMainWindow.DockOption.AllowTabbedDocks
    | QMainWindow.DockOption.AnimatedDocks
    | QMainWindow.DockOption.GroupedDragging
)
_BOTTOM = ("pending", "breakpoints", "timeline", "writers", "log")
"""The panes below, tabs of one place, from the left."""

PERSPECTIVES = {"browse": ("sessions", "detail"), "debug": ("detail", *_BOTTOM)}
"""The panes on show, beside the stream, for what people do here: look through databases, or follow one run."""

_SESSIONS_SHARE = 0.155
_DETAIL_SHARE = 0.33
_BOTTOM_HEIGHT = 190
"""Pixels, at least; in a high window it is a share of it."""
_BOTTOM_SHARE = 0.2
_LEAST_STREAM = 130
"""Pixels of the stream, whatever cards stand above it."""
_BOTTOM_HEIGHT_EMPTY = 88
"""Of Pending while nothing waits: what its two lines need. The events get the rest."""


class Workbench(QMainWindow):
    """Sessions left, events in the middle, the event's detail right, Pending and Log below.

    Attributes:
        stream, filter_bar, composer, detail, sessions, pending, breakpoints, timeline, writers, log: the panes.
        held: the card of a held agent, below the detail.
        resume_hint: offers to resume; preflight: what that will do; writing_hint: says that the database is read only;
            deletion_hint: that sessions were deleted, and can be put back; agent_hint: that the agent's code was changed.
        fork_hint: the message below begins a fork; fork_card, rewind_card: what these will do.
        override_card: an answer is written anew for a fork; origin_hint: where a fork on show comes from.
        problem: stands in for the stream when the session could not be read; database: while a database's own contents are looked at.

    Signals:
        asked_for: one of its panes is about to get the keyboard by its key; another page may be on show.
    """

    asked_for = Signal()

    def __init__(self, events: EventListModel, sessions: SessionTreeModel, parent: QWidget | None = None) -> None:
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
        self.fork_hint = HintBar("fork_hint")
        self.deletion_hint = HintBar("deletion_hint")
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
        self.held = HeldCard()
        self.filter_bar = FilterBar()
        self._centre = QStackedWidget()
        self._centre.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # what stands above it comes first
        self._centre.setMinimumHeight(_LEAST_STREAM)
        self._centre.addWidget(self.stream)
        self._centre.addWidget(self.problem)
        self._centre.addWidget(self.database)
        self.database.setMinimumWidth(_LEAST_STREAM)  # its tables would make the window wider than a small screen
        # In the order in which Tab goes through them.
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
        }
        hints = (self.resume_hint, self.writing_hint, self.database_hint, self.deletion_hint, self.agent_hint, self.fork_hint)
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

    @property
    def dock_actions(self) -> list[QAction]:
        """One for each pane: shows or hides it."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    @property
    def go_actions(self) -> list[QAction]:
        """One for each pane: brings it to the front and gives it the keyboard."""
        return list(self._go_actions)

    def _go_action(self, number: int, name: str) -> QAction:
        action = QAction(f'Go to "{self._docks[name].accessibleName()}"', self)
        action.setObjectName(f"go_to_{name}")
        action.setShortcut(QKeySequence(f"Alt+{number}"))
        action.triggered.connect(partial(self._on_go, name))
        return action

    def _on_go(self, name: str, _checked: bool = False) -> None:
        self.asked_for.emit()
        self.raise_pane(name)
        entrance = _entrance(self._docks[name].widget())
        if entrance is not None:
            entrance.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_problem(self, title: str, text: str, details: str | None) -> None:
        """Say, in place of the stream, why the session could not be read."""
        self.problem.show_problem(title, text, details)
        self._centre.setCurrentWidget(self.problem)

    def show_stream(self) -> None:
        """Show the stream again."""
        self._centre.setCurrentWidget(self.stream)
        self.filter_bar.show()

    def show_database_page(self) -> None:
        """Show, in place of the stream and its filter, what the database holds beside its sessions."""
        self._centre.setCurrentWidget(self.database)
        self.filter_bar.hide()

    def leave_database_page(self) -> None:
        """Show the stream, if a database's own contents are what is on show."""
        if self._centre.currentWidget() is self.database:
            self.show_stream()

    def filter_events(self) -> None:
        """Ask what to filter the events by."""
        self.leave_database_page()
        self.filter_bar.focus()

    def show_pending(self, count: int, listed: int | None = None) -> None:
        """Say in the pane's title how much waits, and how much of it is listed if that is not all."""
        part = f" ({listed:,} listed)" if listed is not None and listed < count else ""
        self._docks["pending"].setWindowTitle(f"Pending  {count:,}{part}" if count else "Pending")
        self._fit_bottom()

    def show_breakpoints(self, count: int) -> None:
        """Say in the pane's title how many breakpoints there are."""
        self._docks["breakpoints"].setWindowTitle(f"Breakpoints  {count}" if count else "Breakpoints")

    def _on_answered(self) -> None:
        """Take the keyboard to the events, where it goes on: the form is about to be closed."""
        self.stream.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_next_pane(self, step: int = 1) -> None:
        """Take the keyboard from one pane to the next: sessions, events, message, inspector, the held call, what is in front below.

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
            here = panes.index(self.stream) - (step > 0)  # the filter and the cards stand before the events
        entrance = _entrance(panes[(here + step) % len(panes)] if here is not None else panes[0])
        if entrance is not None:
            entrance.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def is_behind(self, part: QWidget) -> bool:
        """Whether a part of a pane cannot be seen, as another pane stands before it: to Qt it is visible all the same."""
        return any(dock.isAncestorOf(part) and dock.visibleRegion().isEmpty() for dock in self._docks.values())

    def raise_pane(self, name: str) -> None:
        """Bring a pane to the front: sessions, detail, pending, breakpoints, writers or log."""
        self._docks[name].show()
        self._docks[name].raise_()

    def arrange(self, saved: QByteArray | None) -> None:
        """Put the docks where they were, or where they belong, as soon as there is a size to share out.

        Args:
            saved: what `saved_layout` returned; None if nothing is remembered.
        """
        self._to_restore = saved
        self._arranged = False
        if self.isVisible():
            self._arrange_now()

    def saved_layout(self) -> QByteArray | None:
        """Return the arrangement of the docks, for `arrange`; None if they were never on show."""
        return self.saveState(LAYOUT_VERSION) if self._arranged else None

    def showEvent(self, event: QShowEvent) -> None:
        """Arrange the docks once the page has its size."""
        super().showEvent(event)
        QTimer.singleShot(0, self, self._arrange_now if not self._arranged else self._show_titles)  # hidden docks are no tabs yet

    def _arrange_now(self) -> None:
        if self._arranged:
            return
        self._arranged = True
        if self._to_restore is None or not self.restoreState(self._to_restore, LAYOUT_VERSION):
            self.reset_layout()
        else:
            self._bottom_is_low = self._docks["pending"].height() <= _BOTTOM_HEIGHT_EMPTY
            self._fit_bottom()
        self._show_titles()

    def show_perspective(self, name: str) -> None:
        """Put the panes where they belong, with only those on show that a task needs.

        Args:
            name: a key of `PERSPECTIVES`.
        """
        self.reset_layout()
        for pane, dock in self._docks.items():
            dock.setVisible(pane in PERSPECTIVES[name])

    def reset_layout(self) -> None:
        """Put every pane where it belongs."""
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
        self._bottom_height, self._bottom_is_low = max(_BOTTOM_HEIGHT, int(self.height() * _BOTTOM_SHARE)), None
        self._fit_bottom()

    def _place_docks(self) -> None:
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self._docks["sessions"])
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self._docks["detail"])
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self._docks[_BOTTOM[0]])
        for before, after in pairwise(_BOTTOM):  # each at once onto the others: side by side they would make the window wider
            self.tabifyDockWidget(self._docks[before], self._docks[after])
        for dock in self._docks.values():
            dock.show()
        self._show_titles()

    def _fit_bottom(self) -> None:
        """Give the bottom the height it needs: little while Pending is in front and empty, else what it had before."""
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
        for hint in (self.origin_hint, self.writing_hint, self.database_hint, self.deletion_hint, self.agent_hint):
            rows.addWidget(hint)
        for hint in (self.resume_hint, self.fork_hint):
            rows.addWidget(hint)
        for card in (self.preflight, self.fork_card, self.override_card, self.rewind_card):
            rows.addWidget(card)
        for decided in (
            self.held.focus_given_up,
            self.preflight.chosen,
            self.fork_card.chosen,
            self.rewind_card.chosen,
            self.override_card.submitted,
        ):
            decided.connect(self.stream.table.setFocus)  # else it goes wherever, with what is hidden
        rows.addWidget(self.filter_bar)
        rows.addWidget(self._centre, 1)
        rows.addWidget(self.composer)
        return middle

    def _show_titles(self) -> None:
        """Show each dock's title bar, except where a tab says the same."""
        for dock in self._docks.values():
            tabbed = bool(self.tabifiedDockWidgets(dock)) and not dock.isFloating()
            bar = dock.titleBarWidget()
            if tabbed and bar is None:
                dock.setTitleBarWidget(QWidget(dock))
            elif not tabbed and bar is not None:
                dock.setTitleBarWidget(None)  # type: ignore[arg-type]  # Qt: back to its own
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
    """A pane that may be a window of its own, where no key goes on to the main window."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the button that has the keyboard by Enter."""
        if not (self.isFloating() and press_focused(self, event)):
            super().keyPressEvent(event)


def _entrance(pane: QWidget) -> QWidget | None:
    """Return what takes the keyboard in a pane: the topmost list or text rather than a button, or what says that there is nothing."""
    inside = [pane, *pane.findChildren(QWidget)]
    able = [part for part in inside if part.isVisible() and part.isEnabled() and part.focusPolicy() & Qt.FocusPolicy.TabFocus]
    if not able:
        return next((part for part in inside if isinstance(part, EmptyState) and part.isVisible()), None)
    lists = [part for part in able if isinstance(part, QAbstractScrollArea)]
    return min(lists, key=lambda part: part.mapTo(pane, QPoint()).y(), default=able[0])
