"""Answers Qt's questions about the tree of sessions. A session's node is made when somebody asks for it first."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from inspector_app.presentation.event_summary import short_id
from inspector_app.presentation.values import ago, full_time, plain_tooltip, visible
from inspector_app.sessions.session_layout import Database, Layout
from inspector_app.sessions.session_node import MARKS, NO_MARK, Summary, TreeNode
from inspector_app.sessions.session_order import NEWEST_FIRST, ORDERS
from runtime.sessions.session import SessionKey

Index = QModelIndex | QPersistentModelIndex

NODE_ROLE = Qt.ItemDataRole.UserRole + 1
"""The `TreeNode` behind an index."""


class SessionRows(QAbstractItemModel):
    """A layout of some databases, as a view wants it.

    Args:
        now: returns epoch seconds; last updates are shown relative to it.
    """

    def __init__(self, parent: QObject | None = None, *, now: Callable[[], float] = time.time) -> None:
        super().__init__(parent)
        self._now = now
        self._databases: dict[str, Database] = {}
        self._laid = Layout(ORDERS[NEWEST_FIRST])
        self._session_nodes: dict[tuple[str, SessionKey], TreeNode] = {}

    def node(self, index: Index) -> TreeNode:
        """Return the node behind an index, the root for an invalid one."""
        if not index.isValid():
            return self._laid.root
        found: TreeNode = index.internalPointer()
        return found

    def index_of(self, key: str, session: SessionKey) -> QModelIndex:
        """Return a session's index, invalid where it is not there or filtered out."""
        node = self._shown(key, session)
        return self.createIndex(node.row, 0, node) if node is not None else QModelIndex()

    # which node

    def _shown(self, key: str, session: SessionKey) -> TreeNode | None:
        """Return a session's node, None where it is not there or filtered out."""
        node = self._session_nodes.get((key, session))
        if node is None:
            holder, row = self._find(key, self._laid.sessions.get(key, {}).get(session))
            node = self._child(holder, row) if holder is not None else None
        return node

    def _find(self, key: str, summary: Summary | None) -> tuple[TreeNode | None, int]:
        """Return the node right above a session, and its row there; None where it is not shown."""
        if summary is None:
            return None, -1
        parent = self._laid.parents.get((key, summary.key))
        if parent is not None:
            above = self._shown(key, parent)
            return above, [fork.key for fork in above.summaries].index(summary.key) if above is not None else -1
        user = self._laid.users.get((key, summary.key.app_name, summary.key.user_id))
        if user is None:
            return None, -1
        rank = self._laid.order.rank(summary)
        holder = self._holder(user, rank)
        row = bisect_left(holder.summaries, rank, key=self._laid.order.rank)
        is_there = row < len(holder.summaries) and holder.summaries[row].key == summary.key
        return (holder, row) if is_there else (None, -1)

    def _holder(self, user: TreeNode, rank: Any) -> TreeNode:
        """Return the page on which a session of some rank has its place; of a user without pages the user."""
        pages = user.pages
        if not pages:
            return user
        return pages[max(bisect_right(pages, rank, key=lambda page: self._laid.order.rank(page.summaries[0])) - 1, 0)]

    def _child(self, parent: TreeNode, row: int) -> TreeNode:
        child = parent.children[row]
        if child is None:
            summary = parent.summaries[row]
            session = summary.key
            path = (*parent.path, session.session_id)
            child = TreeNode("session", "", "", *NO_MARK, parent.database, path, row=row, session=session, summary=summary)
            child.parent = parent
            child.hold(self._laid.forks.get((parent.database, session), []))
            self._dress(child)
            parent.children[row] = child
            self._session_nodes[parent.database, session] = child
        return child

    def _dress(self, node: TreeNode) -> None:
        """Give a session's node its name, icon and last update. A fork below its parent is called by what was changed."""
        assert node.session is not None and node.summary is not None
        database = self._databases[node.database]
        node.icon, node.role, node.meaning = MARKS.get(database.marks.get(node.session, ""), NO_MARK)
        fork = database.forks.get(node.session)
        node.name, node.aside = visible(node.session.session_id), fork.text if fork is not None else ""
        if fork is not None and node.parent is not None and node.parent.kind == "session":
            node.name, node.aside = fork.text, short_id(node.session.session_id)
        node.detail = ago(node.summary.last_update_time, self._now())

    def _changed(self, node: TreeNode) -> None:
        index = self._index(node)
        self.dataChanged.emit(index, index)

    def _index(self, node: TreeNode) -> QModelIndex:
        return QModelIndex() if node.parent is None else self.createIndex(node.row, 0, node)

    # Qt's questions

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a child."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, self._child(self.node(parent), row))

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        """Return the index of the node above."""
        above = self.node(index).parent if index.isValid() else None
        return QModelIndex() if above is None else self._index(above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return how many children there are."""
        return len(self.node(parent).children) if parent.column() <= 0 else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return 1."""
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a node's name, the node, what it is in words, or a tooltip with all that is known."""
        if not index.isValid():
            return None
        node = self.node(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return node.name
        if role == NODE_ROLE:
            return node
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(self._tooltip(node))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return " ".join(filter(None, [node.kind, node.name, node.aside, node.detail, node.meaning]))
        return None

    def _tooltip(self, node: TreeNode) -> str:
        database = self._databases[node.database]
        if node.kind == "database":
            return f"{database.info.tooltip or database.info.title}\n{node.meaning}"
        if node.kind == "page":
            return f"{node.meaning} {node.name}, from {node.detail}"
        if node.summary is None:
            return f"{node.kind} {node.name}"
        summary = node.summary
        events = f"{summary.event_count:,} events" if summary.event_count is not None else "events are being counted"
        takes_up = database.sizes.get(summary.key, (0, ""))[1]
        updated = ", ".join(filter(None, (events, takes_up, f"last update {full_time(summary.last_update_time)}")))
        fork = database.forks.get(summary.key)
        lines = [f"session {visible(summary.key.session_id)}", updated, node.meaning, fork.tooltip if fork is not None else ""]
        return "\n".join(filter(None, lines))
