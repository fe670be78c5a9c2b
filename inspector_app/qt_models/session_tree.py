"""Databases → apps → users → sessions, with counts, last update and what is pending."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from inspector_app.values import ago, full_time, plain_tooltip, size, visible
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
    def event_count(self) -> int | None: ...  # noqa: D102
    @property
    def last_update_time(self) -> float: ...  # noqa: D102


NEWEST_FIRST = "Newest first"
ORDERS: dict[str, Callable[[Summary], Any]] = {
    NEWEST_FIRST: lambda summary: (-summary.last_update_time, summary.key.session_id),
    "Longest first": lambda summary: (-(summary.event_count or 0), summary.key.session_id),
    "By id": lambda summary: summary.key.session_id,
}
"""How the sessions of a user may be sorted."""

MOST_WANTED = 200
"""Sessions whose sizes are asked for at a time: those looked at last; the others ask again when they are looked at again."""

MOST_ONE_BY_ONE = 50
"""Sessions that are put in their places one by one; for more the tree is built anew."""


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
        sentence: the same as text, whole.
        database: which one the parent is in; None: the fork's own.
    """

    parent: SessionKey
    text: str
    tooltip: str
    sentence: str = ""
    database: str | None = None


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
        summaries: of a user's sessions, in their order; a session's node is made when a view asks for it.
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
    children: list[TreeNode | None] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)

    @property
    def branches(self) -> list[TreeNode]:
        """The children that are no sessions."""
        return [child for child in self.children if child is not None and child.kind != "session"]

    @property
    def sessions(self) -> list[SessionKey]:
        """The session it is, or all sessions below."""
        if self.session is not None:
            return [self.session]
        nested = [child for child in self.children if child is not None and child.kind == "session"]
        forks = [key for child in nested for below in child.children if below is not None for key in _with_forks(below)]
        return [summary.key for summary in self.summaries] + forks + [key for branch in self.branches for key in branch.sessions]

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
    size: str = ""
    sizes: dict[SessionKey, tuple[int, str]] = field(default_factory=dict)
    """A session's size in words, and how many events it had then."""


class SessionTreeModel(QAbstractItemModel):
    """The open databases and their sessions in the order that is asked for, narrowed by a filter.

    Signals:
        sizes_wanted: sizes of sessions are looked at that are not known; see `take_wanted`.
        moving(bool): rows are about to be moved or removed one by one (True), or it is done: no view shall take that for a selection.
        forks_changed: it is known where other sessions come from.

    Args:
        now: returns epoch seconds; last updates are shown relative to it.
    """

    sizes_wanted = Signal()
    moving = Signal(bool)
    forks_changed = Signal()

    def __init__(self, parent: QObject | None = None, *, now: Callable[[], float] = time.time) -> None:
        super().__init__(parent)
        self._now = now
        self._databases: dict[str, _Database] = {}
        self._filter = ""
        self._order = NEWEST_FIRST
        self._root = _root_node()
        self._session_nodes: dict[tuple[str, SessionKey], TreeNode] = {}
        self._users: dict[tuple[str, str, str], TreeNode] = {}
        self._nested = 0
        self._wanted: dict[tuple[str, SessionKey], None] = {}

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
        self._databases[key] = _Database(info, by_key, marks)
        if before is not None:
            now = self._databases[key]
            now.forks, now.size, now.sizes = before.forks, before.size, before.sizes
        self._rebuild()

    def set_database_size(self, key: str, count: int) -> None:
        """Show how large a database is.

        Args:
            key: the database; nothing happens if it is not there.
            count: bytes.
        """
        database = self._databases.get(key)
        if database is not None and database.size != size(count):
            database.size = size(count)
            top = next(node for node in self._root.branches if node.database == key)
            top.detail = _beside(database)
            self._changed(top)

    def size_of(self, node: TreeNode) -> str:
        """Return a session's size in words, as it was known last; empty until it is known. What is not known, or is old, is asked for."""
        database = self._databases[node.database]
        if node.session is None or node.summary is None:
            return ""
        count, words = database.sizes.get(node.session, (-1, ""))
        if node.summary.event_count not in (None, count):
            place = (node.database, node.session)
            self._wanted.pop(place, None)
            self._wanted[place] = None
            if len(self._wanted) > MOST_WANTED:
                del self._wanted[next(iter(self._wanted))]
            self.sizes_wanted.emit()
        return words

    def take_wanted(self, most: int) -> tuple[str, list[tuple[SessionKey, int]]]:
        """Return a database and some of its sessions whose sizes are wanted, with their counts of events: those looked at last.

        Args:
            most: at most this many.
        """
        if not self._wanted:
            return "", []
        key = next(reversed(self._wanted))[0]
        places = [place for place in reversed(self._wanted) if place[0] == key][:most]
        for place in places:
            del self._wanted[place]
        sessions = self._databases[key].sessions if key in self._databases else {}
        counts = [(session, sessions[session].event_count) for _, session in places if session in sessions]
        return key, [(session, count) for session, count in counts if count is not None]

    def set_sizes(self, key: str, sizes: Mapping[SessionKey, tuple[int, str]]) -> None:
        """Show sessions' sizes.

        Args:
            key: the database; nothing happens if it is not there.
            sizes: how many events each had when it was measured, and its size in words.
        """
        database = self._databases.get(key)
        if database is None:
            return
        database.sizes.update(sizes)
        for session in sizes:
            node = self._session_nodes.get((key, session))
            if node is not None:
                self._changed(node)

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
            self.forks_changed.emit()

    def remove_database(self, key: str) -> None:
        """Take a database away; nothing happens if it is not there."""
        if self._databases.pop(key, None) is not None:
            self._rebuild()

    def update_sessions(self, key: str, changed: Sequence[Summary], removed: Sequence[SessionKey] = ()) -> None:
        """Show sessions' newer summaries, new sessions, and that some are gone.

        Args:
            key: the database; nothing happens if it is not there.
            changed: count and time now.
            removed: sessions that are not there any more.
        """
        database = self._databases.get(key)
        if database is None:
            return
        sessions = [*(summary.key for summary in changed), *removed]
        before = {session: database.sessions.get(session) for session in sessions}
        for summary in changed:
            database.sessions[summary.key] = summary
        for session in removed:
            database.sessions.pop(session, None)
            database.marks.pop(session, None)
        if len(sessions) > MOST_ONE_BY_ONE or database.forks:
            self._rebuild()
            return
        self.moving.emit(True)
        for session in removed:
            self._take_out(key, before[session])
        for summary in changed:
            self._put(key, summary, before[summary.key])
            before[summary.key] = summary  # it may be there twice
        self.moving.emit(False)

    def update_session(self, key: str, summary: Summary) -> None:
        """Show a session's newer summary, or a new session; see `update_sessions`."""
        self.update_sessions(key, [summary])

    def _put(self, key: str, summary: Summary, before: Summary | None) -> None:
        """Show one session where it belongs."""
        session = summary.key
        if not _matches(session, self._filter.split()):
            return
        user, row = self._find(key, before)
        if user is None:
            top = next(database for database in self._root.branches if database.database == key)
            user = self._branch(self._branch(top, "app", "cube", session.app_name), "user", "user", session.user_id)
            place = bisect_left(user.summaries, self._rank(summary), key=self._rank)
            self.beginInsertRows(self._index(user), place, place)
            user.summaries.insert(place, summary)
            user.children.insert(place, None)
            _number(user, place)
            self.endInsertRows()
            self._count(user)
            return
        node = user.children[row]
        self._move(user, row, summary)
        if node is not None:
            node.summary = summary
            self._dress(node)
            self._changed(node)

    def _move(self, user: TreeNode, row: int, summary: Summary) -> None:
        """Put a newer summary in an older one's place, and that where it belongs."""
        rank = self._rank(summary)
        place = bisect_left([*user.summaries[:row], *user.summaries[row + 1 :]], rank, key=self._rank)
        if place == row:
            user.summaries[row] = summary
            return
        index = self._index(user)
        self.beginMoveRows(index, row, row, index, place if place < row else place + 1)
        del user.summaries[row]
        user.summaries.insert(place, summary)
        user.children.insert(place, user.children.pop(row))
        _number(user, min(row, place))
        self.endMoveRows()

    def _find(self, key: str, summary: Summary | None) -> tuple[TreeNode | None, int]:
        """Return the user below which a session is shown, and its row; None where it is not shown."""
        user = self._users.get((key, summary.key.app_name, summary.key.user_id)) if summary is not None else None
        if user is None or summary is None:
            return None, -1
        row = bisect_left(user.summaries, self._rank(summary), key=self._rank)
        shown = row < len(user.summaries) and user.summaries[row].key == summary.key
        return (user, row) if shown else (None, -1)

    def _rank(self, summary: Summary) -> Any:
        return ORDERS[self._order](summary)

    def _branch(self, parent: TreeNode, kind: str, icon: str, name: str) -> TreeNode:
        """Return the app or user of that name, made where it belongs if it is not there."""
        branches = parent.branches
        row = bisect_left([branch.path[-1] for branch in branches], name)
        if row < len(branches) and branches[row].path[-1] == name:
            return branches[row]
        made = TreeNode(kind, visible(name), "", icon, "dim", kind, parent.database, (*parent.path, name))
        self.beginInsertRows(self._index(parent), row, row)
        made.parent = parent
        parent.children.insert(row, made)
        _number(parent, row)
        self.endInsertRows()
        if kind == "user":
            self._users[parent.database, made.path[1], name] = made
        return made

    def _take_out(self, key: str, before: Summary | None) -> None:
        user, row = self._find(key, before)
        if user is None or before is None:
            return
        self._remove_row(user, row)
        self._session_nodes.pop((key, before.key), None)
        self._count(user)
        node = user
        while node.parent is not None and node.kind != "database" and not node.children:
            if node.kind == "user":
                del self._users[key, node.path[1], node.path[2]]
            self._remove_row(node.parent, node.row)
            node = node.parent

    def _remove_row(self, parent: TreeNode, row: int) -> None:
        self.beginRemoveRows(self._index(parent), row, row)
        del parent.children[row]
        del parent.summaries[row : row + 1]
        _number(parent, row)
        self.endRemoveRows()

    def _count(self, node: TreeNode) -> None:
        node.detail = f"{len(node.children):,}"
        self._changed(node)

    def _index(self, node: TreeNode) -> QModelIndex:
        return QModelIndex() if node.parent is None else self.createIndex(node.row, 0, node)

    @property
    def order(self) -> str:
        """How sessions are sorted: one of `ORDERS`."""
        return self._order

    def set_order(self, order: str) -> None:
        """Sort the sessions of each user.

        Args:
            order: one of `ORDERS`.
        """
        if order != self._order:
            self._order = order
            self._rebuild()

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
        self._users = {}
        self._nested = 0
        for key, database in self._databases.items():
            self._add_database(key, database)
        self.endResetModel()

    def _add_database(self, key: str, database: _Database) -> None:
        info = database.info
        icon = "lock" if info.read_only else "database"
        meaning = "read only" if info.read_only else "can be written to"
        role = "dim" if info.read_only else "accent"
        top = self._root.add(TreeNode("database", visible(info.title), _beside(database), icon, role, meaning, key, (key,)))
        words = self._filter.split()
        apps: dict[str, dict[str, list[Summary]]] = {}
        for session, summary in database.sessions.items():
            if not words or _matches(session, words):
                apps.setdefault(session.app_name, {}).setdefault(session.user_id, []).append(summary)
        for app_name, users in sorted(apps.items(), key=lambda app: app[0]):
            app = top.add(TreeNode("app", visible(app_name), "", "cube", "dim", "app", key, (key, app_name)))
            for user_id, found in sorted(users.items(), key=lambda user: user[0]):
                user = app.add(TreeNode("user", visible(user_id), f"{len(found):,}", "user", "dim", "user", key, (*app.path, user_id)))
                user.summaries = sorted(found, key=self._rank)
                user.children = [None] * len(found)
                self._users[key, app_name, user_id] = user
        self._nest_forks(key, database)

    def _nest_forks(self, key: str, database: _Database) -> None:
        """Put each fork that is shown below its parent, the oldest first."""
        for session, fork in database.forks.items():
            node, above = self._shown(key, session), self._shown(key, fork.parent)
            if node is None or above is None or above is node or _is_below(above, node):
                continue
            parent = node.parent
            assert parent is not None
            del parent.children[node.row]
            del parent.summaries[node.row : node.row + 1]
            _number(parent, node.row)
            above.add(node)
            self._nested += 1

    def _shown(self, key: str, session: SessionKey) -> TreeNode | None:
        """Return a session's node, None where it is not there or filtered out."""
        node = self._session_nodes.get((key, session))
        database = self._databases.get(key)
        if node is None and database is not None:
            user, row = self._find(key, database.sessions.get(session))
            node = self._child(user, row) if user is not None else None
        return node

    def _child(self, parent: TreeNode, row: int) -> TreeNode:
        """Return a child; a session's node is made when somebody asks for it first."""
        child = parent.children[row]
        if child is None:
            summary = parent.summaries[row]
            session = summary.key
            path = (*parent.path, session.session_id)
            child = TreeNode("session", visible(session.session_id), "", *_NO_MARK, parent.database, path, parent, row, session, summary)
            self._dress(child)
            parent.children[row] = child
            self._session_nodes[parent.database, session] = child
        return child

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
        node = self._shown(key, session)
        return self.createIndex(node.row, 0, node) if node is not None else QModelIndex()

    def addresses(self) -> list[tuple[str, SessionKey]]:
        """Return every session, filtered out or not, the latest updated first."""
        listed = [
            (-summary.last_update_time, key, session)
            for key, database in self._databases.items()
            for session, summary in database.sessions.items()
        ]
        return [(key, session) for _, key, session in sorted(listed)]

    def fork_info(self, key: str, session: SessionKey) -> ForkInfo | None:
        """Return where a session was forked from; None if it was not."""
        return self._databases[key].forks.get(session) if key in self._databases else None

    def parent_of(self, key: str, session: SessionKey) -> SessionKey | None:
        """Return the session that a fork comes from, if it is in the same database."""
        fork = self.fork_info(key, session)
        return fork.parent if fork is not None and fork.parent in self._databases[key].sessions else None

    @property
    def shown_sessions(self) -> int:
        """How many sessions pass the filter."""
        return sum(len(user.summaries) for user in self._users.values()) + self._nested

    @property
    def database_count(self) -> int:
        """How many databases are open."""
        return len(self._databases)

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a child."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, self._child(self.node(parent), row))

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
        events = f"{summary.event_count:,} events" if summary.event_count is not None else "events are being counted"
        takes_up = self._databases[node.database].sizes.get(summary.key, (0, ""))[1]
        updated = ", ".join(filter(None, (events, takes_up, f"last update {full_time(summary.last_update_time)}")))
        lines = [f"session {visible(summary.key.session_id)}", updated, node.meaning]
        fork = self._databases[node.database].forks.get(summary.key)
        lines.append(fork.tooltip if fork is not None else "")
        return "\n".join(filter(None, lines))


def _beside(database: _Database) -> str:
    """Return what stands beside a database's name."""
    return " · ".join(filter(None, (database.size, visible(database.info.badge))))


def _with_forks(node: TreeNode) -> list[SessionKey]:
    forks = [key for child in node.children if child is not None for key in _with_forks(child)]
    return [node.session, *forks] if node.session is not None else forks


def _number(parent: TreeNode, first: int) -> None:
    """Tell children their rows, from a row on."""
    for row, child in enumerate(parent.children[first:], first):
        if child is not None:
            child.row = row


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
