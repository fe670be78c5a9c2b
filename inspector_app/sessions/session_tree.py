"""The Qt model of the session tree: databases → apps → users → sessions. The only app or user is not displayed."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal

from inspector_app.presentation.session_figures import OF_EVENTS, EventFigures, figures_used
from inspector_app.presentation.session_info import DatabaseInfo, ForkInfo
from inspector_app.presentation.values import plain_tooltip
from inspector_app.sessions.session_layout import Database, Layout, News, lay_out
from inspector_app.sessions.session_moves import SessionMoves
from inspector_app.sessions.session_node import Summary, TreeNode
from inspector_app.sessions.session_order import NEWEST_FIRST, ORDERS, SessionFilter, session_filter
from inspector_app.sessions.session_tree_nodes import SessionTreeNodes
from runtime.sessions.session_key import SessionKey

Index = QModelIndex | QPersistentModelIndex

NODE_ROLE = Qt.ItemDataRole.UserRole + 1  # the `TreeNode` behind an index

MOST_ONE_BY_ONE = 50  # changed sessions that are moved one by one; for more the tree is laid out again
STEPS_AT_ONCE = 8  # steps of a layout done at once, enough for some 2,500 sessions; the rest is done in slices
SOON_MS = 100  # from a change of titles or figures to a new layout, so that many changes cause one
SLICE_SECONDS = 0.004  # that a layout may hold the window's loop in each turn


class SessionTreeModel(QAbstractItemModel):
    """The open databases and their sessions, sorted and narrowed by a filter.

    A large tree is laid out in slices. Until that is done the tree before it is displayed, and changes of single sessions wait.

    Signals:
        title_wanted(str, SessionKey): a view displays this session of a database, whose title is not known.
        renamed(str, SessionKey, str): the user gave a session of a database another name.
        filter_read(str): what is wrong with the text of the filter; empty if nothing is.
        figures_wanted(bool): whether the order or the filter needs figures that take reading all events.
        moving(bool): rows are about to be moved or removed one by one (True), or that is done; views must not take it for a selection.

    Args:
        now: returns epoch seconds; last updates are shown relative to it.
    """

    title_wanted = Signal(str, object)
    renamed = Signal(str, object, str)
    filter_read = Signal(str)
    figures_wanted = Signal(bool)
    moving = Signal(bool)

    def __init__(self, parent: QObject | None = None, *, now: Callable[[], float] = time.time) -> None:
        super().__init__(parent)
        self._now = now
        self._nodes = SessionTreeNodes(now, self.title_wanted.emit)
        self._databases = self._nodes.databases
        self._moves = SessionMoves(self, self._nodes, self._index)
        self._text, self._filter = "", SessionFilter()
        self._order = NEWEST_FIRST
        self._used: frozenset[str] = frozenset()  # figures that the order or the filter uses, so that no single row can be moved
        self._laying_out: Generator[None, None, Layout] | None = None
        self._waiting: list[tuple[str, Sequence[Summary], Sequence[SessionKey]]] = []
        self._turns = QTimer(self, interval=0)
        self._turns.timeout.connect(self._on_turn)
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self._lay_out)

    # databases

    def set_database(self, key: str, info: DatabaseInfo, sessions: Sequence[Summary]) -> None:
        """Add a database or replace its list; marks of sessions that still exist stay.

        Args:
            key: identifies the database, such as its path.
            info: how it is displayed.
            sessions: all its sessions.
        """
        database = self._databases.setdefault(key, Database(info))
        database.info = info
        database.news = [News(sessions, all=True)]
        self._waiting = [told for told in self._waiting if told[0] != key]
        self._lay_out()

    def remove_database(self, key: str) -> None:
        """Remove a database; an unknown one is ignored."""
        if key not in self._databases:
            return
        top = self._nodes.database(key)
        if top is not None:
            self._moves.remove_row(self._nodes.layout.root, top.row)
            self._nodes.forget_database(key)
        del self._databases[key]
        self._lay_out()

    # the sessions in them

    def update_sessions(self, key: str, changed: Sequence[Summary], removed: Sequence[SessionKey] = ()) -> None:
        """Update sessions' summaries, add new sessions and remove deleted ones.

        Args:
            key: the database; an unknown one is ignored.
            changed: summaries of changed and new sessions.
            removed: deleted sessions.
        """
        database = self._databases.get(key)
        if database is None:
            return
        if self._laying_out is not None:
            self._waiting.append((key, changed, removed))
        elif self._used or len(changed) + len(removed) > MOST_ONE_BY_ONE or self._moves_forks(database, changed, removed):
            database.news.append(News(changed, removed))
            self._lay_out()
        elif self._show_one_by_one(key, database, changed, removed):
            self._lay_out()

    def update_session(self, key: str, summary: Summary) -> None:
        """Update a session's summary, or add a new session; see `update_sessions`."""
        self.update_sessions(key, [summary])

    def _show_one_by_one(self, key: str, database: Database, changed: Sequence[Summary], removed: Sequence[SessionKey]) -> bool:
        """Move single rows; return whether the tree must be laid out again."""
        is_crowded = False
        self.moving.emit(True)
        for session in removed:
            is_crowded |= self._moves.remove(key, database.sessions.pop(session, None))
            database.marks.pop(session, None)
        for summary in changed:
            is_crowded |= self._moves.put(key, summary, database.sessions.get(summary.key))
            database.sessions[summary.key] = summary
        self._count(key)
        self.moving.emit(False)
        return is_crowded

    def _count(self, key: str) -> None:
        """Update the text beside a database's name."""
        top = self._nodes.database(key)
        if top is not None:
            top.detail = self._databases[key].beside
            self._changed(top)

    @staticmethod
    def _moves_forks(database: Database, changed: Sequence[Summary], removed: Sequence[SessionKey]) -> bool:
        """Return whether forks or their parents are added or removed, which moves other sessions, too."""
        if not database.forks:
            return False
        related = database.forks.keys() | {fork.parent for fork in database.forks.values()}
        new = [summary.key for summary in changed if summary.key not in database.sessions]
        return not related.isdisjoint([*new, *removed])

    def set_forks(self, key: str, forks: Mapping[SessionKey, ForkInfo]) -> None:
        """Display forks below their parents.

        Args:
            key: the database; an unknown one is ignored.
            forks: all forks of the database.
        """
        database = self._databases.get(key)
        if database is not None and database.forks != forks:
            database.forks = dict(forks)
            self._lay_out()

    # the order and the filter

    @property
    def order(self) -> str:
        """The sort order: one of `ORDERS`."""
        return self._order

    def set_order(self, order: str) -> None:
        """Sort the sessions of each user.

        Args:
            order: one of `ORDERS`.
        """
        if order != self._order:
            self._order = order
            self._want_figures()
            self._lay_out()

    def _want_figures(self) -> None:
        self._used = figures_used(ORDERS[self._order].figure, self._filter.condition)
        self.figures_wanted.emit(not self._used.isdisjoint(OF_EVENTS))

    def set_filter(self, text: str) -> None:
        """Display only sessions that pass a filter; see `session_filter`. A condition with a mistake changes nothing."""
        if text.casefold().strip() == self._text:
            return
        self._text, found = text.casefold().strip(), session_filter(text)
        if not found.problem:
            self._filter = found
            self._want_figures()
            self._lay_out()
        self.filter_read.emit(found.problem)

    def _lay_out(self) -> None:
        self._soon.stop()
        self._laying_out = lay_out(self._databases, replace(self._filter, now=self._now()), ORDERS[self._order])
        for _ in range(STEPS_AT_ONCE):
            if self._next_step():
                return
        self._turns.start()

    def _on_turn(self) -> None:
        until = time.perf_counter() + SLICE_SECONDS
        while time.perf_counter() < until:
            if self._next_step():
                return

    def _next_step(self) -> bool:
        """Do a step of the layout; display the layout and return True when it is done."""
        assert self._laying_out is not None
        try:
            next(self._laying_out)
        except StopIteration as done:
            self._turns.stop()
            self._laying_out = None
            self._show(done.value)
            return True
        return False

    def _show(self, laid: Layout) -> None:
        self.beginResetModel()
        self._nodes.replace(laid)
        for key, database in self._databases.items():
            database.sessions, database.news = laid.sessions[key], []
            if top := self._nodes.database(key):
                top.detail = database.beside
            database.marks = {session: mark for session, mark in database.marks.items() if session in database.sessions}
        for key, parent in laid.forks:
            self._nodes.session(key, parent)  # views expand nodes that have children
        self.endResetModel()
        waiting, self._waiting = self._waiting, []
        for told in waiting:
            self.update_sessions(*told)

    # what is shown beside them

    def set_marks(self, key: str, marks: Mapping[SessionKey, str]) -> None:
        """Set the marks of a database's sessions; the other sessions lose theirs.

        Args:
            key: the database.
            marks: session → one of `MARKS`.
        """
        database = self._databases.get(key)
        if database is None:
            return
        touched = database.marks.keys() | marks.keys()
        database.marks = dict(marks)
        for session in touched:
            self._refresh(key, session)

    def set_titles(self, key: str, titles: Mapping[SessionKey, str], changed: Collection[SessionKey] = ()) -> None:
        """Display titles.

        Args:
            key: the database; an unknown one is ignored.
            titles: session → title, as far as they are known; the model keeps the mapping.
            changed: the sessions whose titles are new.
        """
        database = self._databases.get(key)
        if database is None:
            return
        database.titles = titles
        for session in changed if len(changed) < len(self._nodes.made) else [place[1] for place in self._nodes.made if place[0] == key]:
            self._refresh(key, session)
        if changed and (self._filter.words or "title" in self._used):
            self._soon.start()

    def set_figures(self, key: str, figures: Mapping[SessionKey, EventFigures]) -> None:
        """Take the figures of sessions' events.

        Args:
            key: the database; an unknown one is ignored.
            figures: session → figures, as far as they are known; the model keeps the mapping.
        """
        if key in self._databases:
            self._databases[key].figures = figures
            if not self._used.isdisjoint(OF_EVENTS):
                self._soon.start()

    def set_cost(self, key: str, session: SessionKey, text: str) -> None:
        """Display what a session's model calls cost."""
        database = self._databases.get(key)
        if database is not None and database.costs.get(session, "") != text:
            database.costs[session] = text
            self._refresh(key, session)

    def set_waiting(self, key: str, session: SessionKey, count: int, name: str) -> None:
        """Set how many items of a session wait for a person, and the last one's name; it is shown with the next mark."""
        if key in self._databases:
            self._databases[key].waits[session] = count, name

    def set_earlier(self, key: str, session: SessionKey, text: str) -> None:
        """Set what a session's earlier messages still wait for; it is shown with the next mark."""
        if key in self._databases:
            self._databases[key].earlier[session] = text

    def set_mark(self, key: str, session: SessionKey, mark: str | None) -> None:
        """Set one session's mark; None removes it."""
        database = self._databases.get(key)
        if database is None:
            return
        if mark is None:
            database.marks.pop(session, None)
        else:
            database.marks[session] = mark
        self._refresh(key, session)

    def _refresh(self, key: str, session: SessionKey) -> None:
        node = self._nodes.made.get((key, session))
        if node is not None:
            self._nodes.dress(node)
            self._changed(node)
        if "waiting" in self._used:
            self._soon.start()

    def refresh_times(self) -> None:
        """Update the texts that say how long ago the last updates were."""
        for node in self._nodes.made.values():
            before = node.detail
            self._nodes.dress(node)
            if node.detail != before:
                self._changed(node)

    # queries

    def sessions_below(self, node: TreeNode) -> list[SessionKey]:
        """Return the sessions of an app, user or database that pass the filter, forks included."""
        names, database = node.path[1:], self._databases[node.database]
        return [
            session
            for session, summary in database.sessions.items()
            if session[: len(names)] == names and database.passes(summary, self._nodes.layout.wanted)
        ]

    def fork_info(self, key: str, session: SessionKey) -> ForkInfo | None:
        """Return the origin of a fork; None for other sessions."""
        return self._databases[key].forks.get(session) if key in self._databases else None

    def parent_of(self, key: str, session: SessionKey) -> SessionKey | None:
        """Return the parent of a fork, if it is in the same database."""
        fork = self.fork_info(key, session)
        return fork.parent if fork is not None and fork.parent in self._databases[key].sessions else None

    @property
    def shown_sessions(self) -> int:
        """Number of sessions that pass the filter."""
        return self._nodes.layout.count

    @property
    def words(self) -> Sequence[str]:
        """The case-folded words of the filter in the displayed layout."""
        return self._nodes.layout.wanted.words

    @property
    def database_count(self) -> int:
        """Number of open databases."""
        return len(self._databases)

    # nodes and indexes

    def node(self, index: Index) -> TreeNode:
        """Return the node behind an index, the root for an invalid one."""
        if not index.isValid():
            return self._nodes.layout.root
        found: TreeNode = index.internalPointer()
        return found

    def index_of(self, key: str, session: SessionKey) -> QModelIndex:
        """Return a session's index, invalid where it does not exist or is filtered out."""
        node = self._nodes.session(key, session)
        return self._index(node) if node is not None else QModelIndex()

    def _index(self, node: TreeNode) -> QModelIndex:
        return QModelIndex() if node.parent is None else self.createIndex(node.row, 0, node)

    def _changed(self, node: TreeNode) -> None:
        index = self._index(node)
        self.dataChanged.emit(index, index)

    # Qt's questions

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a child."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, self._nodes.child(self.node(parent), row))

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        """Return the index of the node above."""
        above = self.node(index).parent if index.isValid() else None
        return QModelIndex() if above is None else self._index(above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of children."""
        return len(self.node(parent).children) if parent.column() <= 0 else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return 1."""
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a node's name, the node, its description in words, or a tooltip with everything known."""
        if not index.isValid():
            return None
        node = self.node(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return node.name
        if role == NODE_ROLE:
            return node
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(self._nodes.tooltip(node))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return " ".join(filter(None, [node.kind, node.name, node.detail, node.meaning]))
        if role == Qt.ItemDataRole.EditRole:
            return node.name
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let sessions be renamed."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.isValid() and self.node(index).session is not None else flags

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Report the name that the user gave to a session."""
        node = self.node(index)
        if role != Qt.ItemDataRole.EditRole or node.session is None or value == node.name:
            return False
        self.renamed.emit(node.database, node.session, value)
        return True
