"""The sessions of the open databases, with a filter."""

from __future__ import annotations

import shlex
from functools import partial

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QStackedLayout,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from inspector_app.presentation.values import visible
from inspector_app.sessions.session_delegate import SessionDelegate
from inspector_app.sessions.session_node import TreeNode
from inspector_app.sessions.session_order import ORDERS
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.widgets import theme
from inspector_app.widgets.clipboard import add_copy_action, as_json
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.row_menu import RowMenu, passing_menu
from runtime.sessions.session_key import SessionKey

_OPEN_AT_MOST = 200  # children; a node with more stays closed until the user opens it
_OPEN_ALL_AT_MOST = 2_000  # sessions in the tree; above this, users stay closed too

_FILTER_HELP = (
    "Words of the title, app, user or id; or a condition over title, events, tokens, cost, duration, errors, waiting and age,"
    " such as cost > 0.05 and errors > 0. Times are in seconds."
)


class SessionTree(QTreeView):
    """The tree view; Enter activates the current row."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Report Enter as activation on every platform."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.activated.emit(self.currentIndex())
            return
        super().keyPressEvent(event)


class SessionsPane(QWidget):
    """Displays a `SessionTreeModel`.

    Attributes:
        tree: the tree view.
        filter: the filter field.
        order: the button with the menu of orders.

    Signals:
        session_selected(str, SessionKey): the user selected this session of a database.
        session_activated(str, SessionKey): the user pressed Enter on it or double-clicked it.
        compare_requested(str, SessionKey, SessionKey | None): the user wants to compare it with another session of its database, or
            (None) with the displayed one.
        row_chosen(str, tuple[str, ...]): the user clicked a row or pressed Enter on it; its database, and its app, user and session
            as far as the row has them.
        delete_requested(str, list[SessionKey]): the user wants to delete these sessions of a database.
        prune_requested(str): the user wants to delete old sessions of a database.
        export_requested(str, list[SessionKey]): the user wants to write these sessions of a database into a file.
        case_requested(str, SessionKey): the user wants to add this session to an eval set.
        replay_requested(str, SessionKey): the user wants to run this session again with its recorded answers.
        capsule_requested(str, SessionKey): the user wants to write this session into a capsule.
        run_again_requested(str, SessionKey): the user wants to run this session's messages again, several times.
        reading_stopped: the user does not want to wait until the figures of all sessions are read.
        import_requested(str): the user wants to import sessions into a database.
    """

    session_selected = Signal(str, object)
    session_activated = Signal(str, object)
    row_chosen = Signal(str, object)
    compare_requested = Signal(str, object, object)
    delete_requested = Signal(str, object)
    prune_requested = Signal(str)
    export_requested = Signal(str, object)
    import_requested = Signal(str)
    reading_stopped = Signal()
    case_requested = Signal(str, object)
    run_again_requested = Signal(str, object)
    replay_requested = Signal(str, object)
    capsule_requested = Signal(str, object)

    def __init__(self, model: SessionTreeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sessions_pane")
        self._model = model
        self._closed: set[tuple[str, ...]] = set()
        self._opened: set[tuple[str, ...]] = set()
        self._selected: tuple[str, SessionKey] | None = None
        self._restoring = False
        self.filter = named(QLineEdit(placeholderText="Filter sessions"), "session_filter", "Filter sessions")
        self.filter.setToolTip(_FILTER_HELP)
        theme.make_clearable(self.filter)
        self._said = named(ElidedLabel(), "sessions_said")
        self._said.setProperty("role", "secondary")
        self._stop = named(QToolButton(), "sessions_stop", "Stop reading")
        self._stop.setIcon(theme.icon("xmark", "dim"))
        theme.keep_icon_size(self._stop, 16)
        self._stop.setToolTip("Stop reading the events of the sessions")
        self._stop.clicked.connect(self.reading_stopped)
        self.order = self._make_order()
        self.tree = SessionTree()
        self._set_up_tree()
        self._empty = EmptyState("No database is open", "Open a session database or an agent, or drop one on the window.")
        self._nothing_found = EmptyState("No session matches the filter", "The filter searches title, app, user and session id.")
        self._stack = QStackedLayout()
        for page in (self._empty, self._nothing_found, self.tree):
            self._stack.addWidget(page)
        top = laid_out(QHBoxLayout(), (self.filter, 1), self.order, spacing=4)
        line = laid_out(QHBoxLayout(), (self._said, 1), self._stop, spacing=4)
        laid_out(QVBoxLayout(self), top, line, (self._stack, 1), margins=0, spacing=6)
        self._say("")
        self._clock = QTimer(self, interval=30_000)
        self._connect_signals()
        self._on_model_reset()

    def _say(self, text: str, *, can_stop: bool = False) -> None:
        self._said.setText(text)
        self._said.setVisible(bool(text))
        self._stop.setVisible(can_stop)

    def show_problem(self, text: str) -> None:
        """Show what is wrong with the filter; empty if nothing is."""
        self._say(visible(text))

    def show_reading(self, done: int, count: int) -> None:
        """Show how many sessions were read whose figures the order or the filter needs; nothing once all are."""
        if done < count:
            self._say(f"Reading events: {done:,} of {count:,} sessions", can_stop=True)
        elif not self._stop.isHidden():
            self._say("")

    def show_stopped(self) -> None:
        """Show that the figures of some sessions are not known."""
        self._say("Not all sessions were read.")

    def _make_order(self) -> QToolButton:
        button = named(QToolButton(), "session_order", "Sort sessions")
        button.setToolTip("Sort sessions")
        button.setIcon(theme.icon("arrow-down-wide-short", "dim"))
        theme.keep_icon_size(button, 16)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        group = QActionGroup(menu)
        for order in ORDERS:
            entry = menu.addAction(order)
            entry.setCheckable(True)
            entry.setChecked(order == self._model.order)
            group.addAction(entry)
        group.triggered.connect(self._on_order_chosen)
        button.setMenu(menu)
        return button

    def _on_order_chosen(self, entry: QAction) -> None:
        self._model.set_order(entry.text())

    def _set_up_tree(self) -> None:
        self.tree.setObjectName("session_tree")
        self.tree.setAccessibleName("Databases and sessions")
        self.tree.setModel(self._model)
        self.tree.setItemDelegate(SessionDelegate(self.tree))
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(12)
        self.tree.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def _connect_signals(self) -> None:
        self.filter.textChanged.connect(self._model.set_filter)
        self.filter.returnPressed.connect(self.tree.setFocus)
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self.filter, context=Qt.ShortcutContext.WidgetShortcut)
        escape.activated.connect(self._on_filter_escape)
        self._model.modelReset.connect(self._on_model_reset)
        self._model.moving.connect(self._on_moving)
        self._model.rowsInserted.connect(self._on_rows_inserted)
        self.tree.expanded.connect(self._on_expanded)
        self.tree.collapsed.connect(self._on_collapsed)
        self.tree.activated.connect(self._on_activated)
        self.tree.clicked.connect(self._on_row_chosen)
        self.tree.activated.connect(self._on_row_chosen)
        self.tree.selectionModel().currentChanged.connect(self._on_current_changed)
        RowMenu(self.tree, self.context_menu)
        self._clock.timeout.connect(self._model.refresh_times)
        self._clock.start()

    def select_session(self, database: str, session: SessionKey) -> bool:
        """Select a session and scroll to it; return whether it is displayed.

        Args:
            database: the database's key in the model.
            session: the session.
        """
        index = self._model.index_of(database, session)
        if not index.isValid():
            self._selected = (database, session)  # selected when it appears: a long list is still being laid out
            return False
        if not self.tree.viewport().rect().contains(self.tree.visualRect(index)):
            self.tree.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)
        self.tree.setCurrentIndex(index)
        return True

    def select_none(self) -> None:
        """Select no session."""
        self._selected = None
        self.tree.setCurrentIndex(QModelIndex())

    def set_empty_text(self, title: str, hint: str) -> None:
        """Set the text that is displayed while no database is open.

        Args:
            title: what is missing.
            hint: what to do.
        """
        self._empty.set_text(title, hint)

    def focus_filter(self) -> None:
        """Move the keyboard focus to the filter field."""
        self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter.selectAll()

    def _on_filter_escape(self) -> None:
        if self.filter.text():
            self.filter.clear()
        else:
            self.tree.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _on_model_reset(self) -> None:
        """Expand the branches and select the session as before the model was laid out again."""
        self._restoring = True
        self._open_branches(QModelIndex())
        self._restoring = False
        if self._selected is not None:
            self.select_session(*self._selected)
        self._show_page()

    def _show_page(self) -> None:
        """Show the tree, or a text that says why it is empty."""
        empty = self._model.database_count == 0
        filtered_out = bool(self.filter.text().strip()) and self._model.shown_sessions == 0
        self._stack.setCurrentWidget(self._empty if empty else self._nothing_found if filtered_out else self.tree)

    def _on_moving(self, moving: bool) -> None:
        """Keep the selection while rows move: Qt selects another row when the current one is removed, which the user did not do."""
        self._restoring = moving
        if moving or self._selected is None:
            return
        self._restoring = True
        index = self._model.index_of(*self._selected)
        if index != self.tree.currentIndex():
            self.tree.setCurrentIndex(index)
        self._restoring = False

    def _on_rows_inserted(self, parent: QModelIndex, first: int, last: int) -> None:
        """Expand inserted branches."""
        for row in range(first, last + 1):
            index = self._model.index(row, 0, parent)
            if self._model.node(index).kind != "session":
                self.tree.setExpanded(index, True)
        self._show_page()

    def _open_branches(self, parent: QModelIndex) -> None:
        many = self._model.shown_sessions > _OPEN_ALL_AT_MOST
        for row, node in enumerate(self._model.node(parent).children):
            if node is None or (node.kind == "session" and not node.children):
                continue
            index = self._model.index(row, 0, parent)
            few = node.kind == "database" or (len(node.children) <= _OPEN_AT_MOST and not (many and node.holds_sessions))
            is_first_page = node.kind == "page" and row == 0
            if node.path not in self._closed and (few or is_first_page or node.path in self._opened):
                self.tree.setExpanded(index, True)
                self._open_branches(index)

    def _on_expanded(self, index: QModelIndex) -> None:
        if not self._restoring:
            path = self._model.node(index).path
            self._closed.discard(path)
            self._opened.add(path)
            self._open_branches(index)

    def _on_collapsed(self, index: QModelIndex) -> None:
        path = self._model.node(index).path
        self._closed.add(path)
        self._opened.discard(path)

    def _on_current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        node = self._model.node(current)
        if self._restoring:
            return
        if node.session is not None and (node.database, node.session) != self._selected:
            self._selected = (node.database, node.session)
            self.session_selected.emit(node.database, node.session)

    def _on_activated(self, index: QModelIndex) -> None:
        node = self._model.node(index)
        if node.session is not None:
            self.session_activated.emit(node.database, node.session)

    def _on_row_chosen(self, index: QModelIndex) -> None:
        node = self._model.node(index)
        self.row_chosen.emit(node.database, node.path[1:])

    def _add_exchange(self, menu: QMenu, node: TreeNode) -> None:
        keys = [node.session] if node.session is not None else self._model.sessions_below(node)
        if keys:
            text = "Export the session…" if node.kind == "session" else f"Export the {len(keys):,} sessions of this {node.kind}…"
            export = menu.addAction(theme.icon("file-export", "dim"), text)
            export.triggered.connect(partial(self.export_requested.emit, node.database, keys))
        if node.session is not None:
            capsule = menu.addAction(theme.icon("box-archive", "dim"), "Export as a capsule…")
            capsule.triggered.connect(partial(self.capsule_requested.emit, node.database, node.session))
            case = menu.addAction(theme.icon("list-check", "dim"), "Add to an eval set…")
            case.triggered.connect(partial(self.case_requested.emit, node.database, node.session))
        if node.kind == "database":
            entry = menu.addAction(theme.icon("file-import", "dim"), "Import sessions…")
            entry.triggered.connect(partial(self.import_requested.emit, node.database))

    def _add_deletion(self, menu: QMenu, node: TreeNode) -> None:
        keys = [node.session] if node.session is not None else self._model.sessions_below(node)
        if node.kind == "database":
            prune = menu.addAction(theme.icon("trash-can", "bad"), "Delete old sessions…")
            prune.triggered.connect(partial(self.prune_requested.emit, node.database))
        elif keys:
            text = "Delete the session…" if node.kind == "session" else f"Delete the {len(keys):,} sessions of this {node.kind}…"
            delete = menu.addAction(theme.icon("trash-can", "bad"), text)
            delete.triggered.connect(partial(self.delete_requested.emit, node.database, keys))

    def context_menu(self, index: QModelIndex) -> QMenu | None:
        """Return the context menu of a row, None for an invalid index."""
        if not index.isValid():
            return None
        node = self._model.node(index)
        menu = passing_menu(self)
        if node.kind != "page":
            self._add_what_it_offers(menu, node)
        menu.addSeparator()
        menu.addAction(theme.icon("square-minus", "dim"), "Collapse all").triggered.connect(self.tree.collapseAll)
        return menu

    def _add_what_it_offers(self, menu: QMenu, node: TreeNode) -> None:
        add_copy_action(menu, "Copy path" if node.kind == "database" else f"Copy {node.kind} id", node.path[-1])
        if node.session is not None:
            add_copy_action(menu, "Copy title", node.name)
            add_copy_action(menu, "Copy as command line", _command_line(node))
            add_copy_action(menu, "Copy as JSON", as_json(_facts(node)))
            menu.addSeparator()
            rename = menu.addAction(theme.icon("pen", "dim"), "Rename…")
            rename.setShortcut(QKeySequence(Qt.Key.Key_F2))
            rename.triggered.connect(partial(self.tree.edit, self._model.index_of(node.database, node.session)))
            menu.addSeparator()
            self._add_comparing(menu, node)
            menu.addSeparator()
            self._add_running(menu, node)
        else:
            text = "User and app state, tables" if node.kind == "database" else f"State of this {node.kind}"
            menu.addAction(theme.icon("table", "dim"), text).triggered.connect(partial(self.row_chosen.emit, node.database, node.path[1:]))
        menu.addSeparator()
        self._add_exchange(menu, node)
        menu.addSeparator()
        self._add_deletion(menu, node)

    def _add_running(self, menu: QMenu, node: TreeNode) -> None:
        replay = menu.addAction(theme.icon("clapperboard", "dim"), "Replay with recorded answers…")
        replay.triggered.connect(partial(self.replay_requested.emit, node.database, node.session))
        again = menu.addAction(theme.icon("repeat", "dim"), "Run again several times…")
        again.triggered.connect(partial(self.run_again_requested.emit, node.database, node.session))

    def _add_comparing(self, menu: QMenu, node: TreeNode) -> None:
        assert node.session is not None
        parent = self._model.parent_of(node.database, node.session)
        if (node.database, node.session) != self._selected:
            self._compare_action(menu, "Compare with the displayed session", (node.database, node.session, None))
        if parent is not None:
            self._compare_action(menu, "Compare with the session it was forked from", (node.database, node.session, parent))

    def _compare_action(self, menu: QMenu, text: str, what: tuple[str, SessionKey, SessionKey | None]) -> None:
        action = menu.addAction(theme.icon("code-compare", "dim"), text)
        action.setData(what)
        action.triggered.connect(self._on_compare)

    def _on_compare(self) -> None:
        action = self.sender()
        assert isinstance(action, QAction)
        self.compare_requested.emit(*action.data())


def _facts(node: TreeNode) -> dict[str, object]:
    assert node.session is not None and node.summary is not None
    return {
        "title": node.name,
        "app_name": node.session.app_name,
        "user_id": node.session.user_id,
        "id": node.session.session_id,
        "event_count": node.summary.event_count,
        "last_update_time": node.summary.last_update_time,
    }


def _command_line(node: TreeNode) -> str:
    assert node.session is not None
    key = node.session
    words = ["agent-inspector", "events", node.database, "--app", key.app_name, "--user", key.user_id, "--session", key.session_id]
    return shlex.join(words)
