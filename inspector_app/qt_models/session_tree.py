"""Databases → apps → users → sessions, with counts, last update and what is pending."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from inspector_app.values import ago, full_time, plain_tooltip, visible
from runtime.sessions.session import SessionKey

Index = QModelIndex | QPersistentModelIndex

NODE_ROLE = Qt.ItemDataRole.UserRole + 1
"""The `TreeNode` behind an index."""

MARKS: dict[str, tuple[str, str, str]] = {
    "running": ("circle-play", "accent", "running now"),
    "paused": ("circle-pause", "warn", "paused"),
    "interrupted": ("triangle-exclamation", "bad", "interrupted: an invocation did not end; it can be resumed"),
    "confirmation": ("hand", "warn", "waits for a confirmation"),
    "long_running": ("hourglass-half", "accent", "waits for the answer of a long-running call"),
    "credential": ("key", "warn", "waits for a credential"),
    "finished": ("circle-check", "ok", "finished"),
}
"""Mark → icon, colour role, and what it means."""

_NO_MARK: tuple[str, str, str] = ("message", "dim", "")


class Summary(Protocol):
    """What is known of a session without reading its events."""

    @property
    def key(self) -> SessionKey: ...  # noqa: D102
    @property
    def event_count(self) -> int: ...  # noqa: D102
    @property
    def last_update_time(self) -> float: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class DatabaseInfo:
    """How a database is shown.

    Attributes:
        title: its name, such as `orders.db`.
        badge: layout and manner, such as `v1 · live`.
        read_only: whether nothing can be written to it now.
        tooltip: path and layout in full.
    """

    title: str
    badge: str = ""
    read_only: bool = False
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class ForkInfo:
    """Where a session was forked from, as it is shown.

    Attributes:
        parent: the session; it may be in another database, or gone.
        text: what was changed and where, a few words.
        tooltip: all that is known.
    """

    parent: SessionKey
    text: str
    tooltip: str


@dataclass(slots=True, eq=False)
class TreeNode:
    """A database, app, user or session.

    Attributes:
        kind: `database`, `app`, `user` or `session`.
        name: as shown, control characters written out.
        detail: what is secondary: badge, count or last update.
        icon, role: Font Awesome name and colour role.
        meaning: what the icon says, in words.
        database: key of the database it belongs to.
        session: the session it is, for sessions.
        path: names from the database down, for telling nodes apart.
    """

    kind: str
    name: str
    detail: str
    icon: str
    role: str
    meaning: str
    database: str
    path: tuple[str, ...]
    parent: TreeNode | None = None
    row: int = 0
    session: SessionKey | None = None
    summary: Summary | None = None
    children: list[TreeNode] = field(default_factory=list)

    def add(self, child: TreeNode) -> TreeNode:
        """Put a child at the end."""
        child.parent, child.row = self, len(self.children)
        self.children.append(child)
        return child


@dataclass(slots=True)
class _Database:
    info: DatabaseInfo
    sessions: dict[SessionKey, Summary]
    marks: dict[SessionKey, str] = field(default_factory=dict)
    forks: dict[SessionKey, ForkInfo] = field(default_factory=dict)


class SessionTreeModel(QAbstractItemModel):
    """The open databases and their sessions, newest first, narrowed by a filter.

    Args:
        now: returns epoch seconds; last updates are shown relative to it.
    """

    def __init__(self, parent: QObject | None = None, *, now: Callable[[], float] = time.time) -> None:
        super().__init__(parent)
        self._now = now
        self._databases: dict[str, _Database] = {}
        self._filter = ""
        self._root = _root_node()
        self._session_nodes: dict[tuple[str, SessionKey], TreeNode] = {}

    # filling it

    def set_database(self, key: str, info: DatabaseInfo, sessions: Sequence[Summary]) -> None:
        """Add a database or replace what is shown of it; marks of sessions that are still there stay.

        Args:
            key: names the database from now on, such as its path.
            info: how it is shown.
            sessions: all its sessions.
        """
        by_key = {summary.key: summary for summary in sessions}
        before = self._databases.get(key)
        marks = {session: mark for session, mark in before.marks.items() if session in by_key} if before else {}
        self._databases[key] = _Database(info, by_key, marks, before.forks if before else {})
        self._rebuild()

    def set_forks(self, key: str, forks: Mapping[SessionKey, ForkInfo]) -> None:
        """Show forks below the sessions they come from.

        Args:
            key: the database; nothing happens if it is not there.
            forks: all of them in it.
        """
        database = self._databases.get(key)
        if database is not None and database.forks != forks:
            database.forks = dict(forks)
            self._rebuild()

    def remove_database(self, key: str) -> None:
        """Take a database away; nothing happens if it is not there."""
        if self._databases.pop(key, None) is not None:
            self._rebuild()

    def update_session(self, key: str, summary: Summary) -> None:
        """Show a session's newer summary, or a new session.

        Args:
            key: the database; nothing happens if it is not there.
            summary: count and time now.
        """
        database = self._databases.get(key)
        if database is None:
            return
        database.sessions[summary.key] = summary
        node = self._session_nodes.get((key, summary.key))
        if node is None:
            self._rebuild()
            return
        node.summary = summary
        self._dress(node)
        self._changed(node)

    def set_marks(self, key: str, marks: Mapping[SessionKey, str]) -> None:
        """Set the marks of a database's sessions; those not named lose theirs.

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
            self._refresh_mark(key, session)

    def set_mark(self, key: str, session: SessionKey, mark: str | None) -> None:
        """Set one session's mark; None takes it away."""
        database = self._databases.get(key)
        if database is None:
            return
        if mark is None:
            database.marks.pop(session, None)
        else:
            database.marks[session] = mark
        self._refresh_mark(key, session)

    def _refresh_mark(self, key: str, session: SessionKey) -> None:
        node = self._session_nodes.get((key, session))
        if node is not None:
            self._dress(node)
            self._changed(node)

    def set_filter(self, text: str) -> None:
        """Show only sessions whose app, user or id contains every word of `text`, in any case."""
        folded = text.casefold().strip()
        if folded != self._filter:
            self._filter = folded
            self._rebuild()

    def refresh_times(self) -> None:
        """Say anew how long ago the last updates were."""
        for node in self._session_nodes.values():
            before = node.detail
            self._dress(node)
            if node.detail != before:
                self._changed(node)

    # building the tree

    def _rebuild(self) -> None:
        self.beginResetModel()
        self._root = _root_node()
        self._session_nodes = {}
        for key, database in self._databases.items():
            self._add_database(key, database)
        self.endResetModel()

    def _add_database(self, key: str, database: _Database) -> None:
        info = database.info
        icon = "lock" if info.read_only else "database"
        meaning = "read only" if info.read_only else "can be written to"
        role = "dim" if info.read_only else "accent"
        top = self._root.add(TreeNode("database", visible(info.title), visible(info.badge), icon, role, meaning, key, (key,)))
        words = self._filter.split()
        shown = [summary for session, summary in database.sessions.items() if _matches(session, words)]
        shown.sort(key=lambda summary: (summary.key.app_name, summary.key.user_id, -summary.last_update_time, summary.key.session_id))
        app: TreeNode | None = None
        user: TreeNode | None = None
        for summary in shown:
            session = summary.key
            if app is None or app.path[1] != session.app_name:
                app = top.add(TreeNode("app", visible(session.app_name), "", "cube", "dim", "app", key, (key, session.app_name)))
                user = None
            if user is None or user.path[2] != session.user_id:
                user = app.add(TreeNode("user", visible(session.user_id), "", "user", "dim", "user", key, (*app.path, session.user_id)))
            path = (*user.path, session.session_id)
            node = TreeNode("session", visible(session.session_id), "", *_NO_MARK, key, path, session=session, summary=summary)
            self._dress(user.add(node))
            self._session_nodes[key, session] = node
        for app in top.children:
            for user in app.children:
                user.detail = f"{len(user.children):,}"
        self._nest_forks(key, database)

    def _nest_forks(self, key: str, database: _Database) -> None:
        """Put each fork that is shown below its parent, the oldest first."""
        shown = [session for session in database.forks if (key, session) in self._session_nodes]
        for session in shown:
            node, above = self._session_nodes[key, session], self._session_nodes.get((key, database.forks[session].parent))
            if above is None or above is node or _is_below(above, node):
                continue
            assert node.parent is not None
            node.parent.children.remove(node)
            for row, left in enumerate(node.parent.children):
                left.row = row
            above.add(node)

    def _dress(self, node: TreeNode) -> None:
        """Give a session's node its icon and last update."""
        assert node.session is not None and node.summary is not None
        mark = self._databases[node.database].marks.get(node.session, "")
        node.icon, node.role, node.meaning = MARKS.get(mark, _NO_MARK)
        fork = self._databases[node.database].forks.get(node.session)
        node.name = visible(node.session.session_id) if fork is None else fork.text
        node.detail = ago(node.summary.last_update_time, self._now())

    def _changed(self, node: TreeNode) -> None:
        index = self.createIndex(node.row, 0, node)
        self.dataChanged.emit(index, index)

    # Qt's questions

    def node(self, index: Index) -> TreeNode:
        """Return the node behind an index, the root for an invalid one."""
        if not index.isValid():
            return self._root
        found: TreeNode = index.internalPointer()
        return found

    def index_of(self, key: str, session: SessionKey) -> QModelIndex:
        """Return a session's index, invalid where it is not there or filtered out."""
        node = self._session_nodes.get((key, session))
        return self.createIndex(node.row, 0, node) if node else QModelIndex()

    def addresses(self) -> list[tuple[str, SessionKey]]:
        """Return every session, filtered out or not, the latest updated first."""
        listed = [
            (-summary.last_update_time, key, session)
            for key, database in self._databases.items()
            for session, summary in database.sessions.items()
        ]
        return [(key, session) for _, key, session in sorted(listed)]

    def parent_of(self, key: str, session: SessionKey) -> SessionKey | None:
        """Return the session that a fork comes from, if it is in the same database."""
        fork = self._databases[key].forks.get(session) if key in self._databases else None
        return fork.parent if fork is not None and fork.parent in self._databases[key].sessions else None

    @property
    def shown_sessions(self) -> int:
        """How many sessions pass the filter."""
        return len(self._session_nodes)

    @property
    def database_count(self) -> int:
        """How many databases are open."""
        return len(self._databases)

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a child."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, self.node(parent).children[row])

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        """Return the index of the node above."""
        above = self.node(index).parent if index.isValid() else None
        if above is None or above.parent is None:
            return QModelIndex()
        return self.createIndex(above.row, 0, above)

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
            return " ".join(filter(None, [node.kind, node.name, node.detail, node.meaning]))
        return None

    def _tooltip(self, node: TreeNode) -> str:
        if node.summary is None:
            info = self._databases[node.database].info
            return f"{info.tooltip or info.title}\n{node.meaning}" if node.kind == "database" else f"{node.kind} {node.name}"
        summary = node.summary
        updated = f"{summary.event_count:,} events, last update {full_time(summary.last_update_time)}"
        lines = [f"session {visible(summary.key.session_id)}", updated, node.meaning]
        fork = self._databases[node.database].forks.get(summary.key)
        lines.append(fork.tooltip if fork is not None else "")
        return "\n".join(filter(None, lines))


def _root_node() -> TreeNode:
    return TreeNode("root", "", "", "", "", "", "", ())


def _is_below(node: TreeNode, above: TreeNode) -> bool:
    place: TreeNode | None = node
    while place is not None and place is not above:
        place = place.parent
    return place is above


def _matches(session: SessionKey, words: list[str]) -> bool:
    if not words:
        return True
    text = f"{session.app_name}\n{session.user_id}\n{session.session_id}".casefold()
    return all(word in text for word in words)
