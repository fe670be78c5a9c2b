"""Databases → apps → users → sessions, with counts, last update and what is pending."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.presentation.session_info import DatabaseInfo, ForkInfo
from inspector_app.presentation.values import size
from inspector_app.sessions.moving_session_rows import MovingSessionRows
from inspector_app.sessions.session_layout import Database, Layout, News, lay_out
from inspector_app.sessions.session_node import Summary, TreeNode
from inspector_app.sessions.session_order import NEWEST_FIRST, ORDERS, matches
from inspector_app.sessions.wanted_sizes import WantedSizes
from runtime.sessions.session import SessionKey

MOST_ONE_BY_ONE = 50
"""Sessions that are put in their places one by one; for more the tree is laid out anew."""

STEPS_AT_ONCE = 8
"""Of a layout. What takes more, with more than some 2,500 sessions, is done while the window answers, and is then shown as a whole."""

SLICE_SECONDS = 0.004
"""That a layout may take of the window's time in each turn of its loop."""


class SessionTreeModel(MovingSessionRows):
    """The open databases and their sessions in the order that is asked for, narrowed by a filter.

    A large tree is laid out in slices. Until it is done the one before it is shown, and what is told of single sessions waits.

    Signals:
        sizes_wanted: sizes of sessions are looked at that are not known; see `take_wanted`.
        moving(bool): rows are about to be moved or removed one by one (True), or it is done: no view shall take that for a selection.

    Args:
        now: returns epoch seconds; last updates are shown relative to it.
    """

    sizes_wanted = Signal()
    moving = Signal(bool)

    def __init__(self, parent: QObject | None = None, *, now: Callable[[], float] = time.time) -> None:
        super().__init__(parent, now=now)
        self._filter = ""
        self._order = NEWEST_FIRST
        self._wanted = WantedSizes()
        self._laying_out: Generator[None, None, Layout] | None = None
        self._waiting: list[tuple[str, Sequence[Summary], Sequence[SessionKey]]] = []
        self._turns = QTimer(self)
        self._turns.setInterval(0)
        self._turns.timeout.connect(self._on_turn)

    # databases

    def set_database(self, key: str, info: DatabaseInfo, sessions: Sequence[Summary]) -> None:
        """Add a database or replace what is shown of it; marks of sessions that are still there stay.

        Args:
            key: names the database from now on, such as its path.
            info: how it is shown.
            sessions: all its sessions.
        """
        database = self._databases.setdefault(key, Database(info))
        database.info = info
        database.news = [News(sessions, all=True)]
        self._waiting = [told for told in self._waiting if told[0] != key]
        self._lay_out()

    def remove_database(self, key: str) -> None:
        """Take a database away; nothing happens if it is not there."""
        if key not in self._databases:
            return
        top = self._top(key)
        if top is not None:
            self._remove_row(self._laid.root, top.row)
            self._laid.sessions.pop(key)
            self._session_nodes = {place: node for place, node in self._session_nodes.items() if place[0] != key}
        del self._databases[key]
        self._lay_out()

    def set_database_size(self, key: str, count: int) -> None:
        """Show how large a database is.

        Args:
            key: the database; nothing happens if it is not there.
            count: bytes.
        """
        database = self._databases.get(key)
        if database is None or database.size == size(count):
            return
        database.size = size(count)
        top = self._top(key)
        if top is not None:
            top.detail = database.beside
            self._changed(top)

    def _top(self, key: str) -> TreeNode | None:
        return next((node for node in self._laid.root.branches if node.database == key), None)

    # the sessions in them

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
        if self._laying_out is not None:
            self._waiting.append((key, changed, removed))
        elif len(changed) + len(removed) > MOST_ONE_BY_ONE or self._moves_forks(database, changed, removed):
            database.news.append(News(changed, removed))
            self._lay_out()
        elif self._show_one_by_one(key, database, changed, removed):
            self._lay_out()

    def update_session(self, key: str, summary: Summary) -> None:
        """Show a session's newer summary, or a new session; see `update_sessions`."""
        self.update_sessions(key, [summary])

    def _show_one_by_one(self, key: str, database: Database, changed: Sequence[Summary], removed: Sequence[SessionKey]) -> bool:
        """Return whether there are too many in one place now."""
        is_crowded = False
        self.moving.emit(True)
        for session in removed:
            self._take_out(key, database.sessions.pop(session, None))
            database.marks.pop(session, None)
        for summary in changed:
            is_crowded |= self._put(key, summary, database.sessions.get(summary.key))
            database.sessions[summary.key] = summary
        self.moving.emit(False)
        return is_crowded

    @staticmethod
    def _moves_forks(database: Database, changed: Sequence[Summary], removed: Sequence[SessionKey]) -> bool:
        """Return whether forks, or what they come from, come or go: then others change their places, too."""
        if not database.forks:
            return False
        related = database.forks.keys() | {fork.parent for fork in database.forks.values()}
        new = [summary.key for summary in changed if summary.key not in database.sessions]
        return not related.isdisjoint([*new, *removed])

    def set_forks(self, key: str, forks: Mapping[SessionKey, ForkInfo]) -> None:
        """Show forks below the sessions they come from.

        Args:
            key: the database; nothing happens if it is not there.
            forks: all of them in it.
        """
        database = self._databases.get(key)
        if database is not None and database.forks != forks:
            database.forks = dict(forks)
            self._lay_out()

    # the order and the filter

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
            self._lay_out()

    def set_filter(self, text: str) -> None:
        """Show only sessions whose app, user or id contains every word of `text`, in any case."""
        folded = text.casefold().strip()
        if folded != self._filter:
            self._filter = folded
            self._lay_out()

    def _lay_out(self) -> None:
        self._laying_out = lay_out(self._databases, self._filter.split(), ORDERS[self._order])
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
        """Return whether the layout is done; then it is shown."""
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
        self._laid = laid
        self._session_nodes = {}
        for key, database in self._databases.items():
            database.sessions, database.news = laid.sessions[key], []
            database.marks = {session: mark for session, mark in database.marks.items() if session in database.sessions}
        for key, parent in laid.forks:
            self._shown(key, parent)  # for views, which open those that have something below
        self.endResetModel()
        waiting, self._waiting = self._waiting, []
        for told in waiting:
            self.update_sessions(*told)

    # what is shown beside them

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

    def refresh_times(self) -> None:
        """Say anew how long ago the last updates were."""
        for node in self._session_nodes.values():
            before = node.detail
            self._dress(node)
            if node.detail != before:
                self._changed(node)

    def size_of(self, node: TreeNode) -> str:
        """Return a session's size in words, as it was known last; empty until it is known. What is not known, or is old, is asked for."""
        if node.session is None or node.summary is None:
            return ""
        count, words = self._databases[node.database].sizes.get(node.session, (-1, ""))
        if node.summary.event_count not in (None, count):
            self._wanted.add(node.database, node.session)
            self.sizes_wanted.emit()
        return words

    def take_wanted(self, most: int) -> tuple[str, list[tuple[SessionKey, int]]]:
        """Return a database and some of its sessions whose sizes are wanted, with their counts of events: those looked at last.

        Args:
            most: at most this many.
        """
        key, wanted = self._wanted.take(most)
        sessions = self._databases[key].sessions if key in self._databases else {}
        counts = [(session, sessions[session].event_count) for session in wanted if session in sessions]
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

    # what is asked about them

    def sessions_below(self, node: TreeNode) -> list[SessionKey]:
        """Return the sessions of an app or user, or of all in a database, that pass the filter: forks of others, too."""
        names = node.path[1:]
        return [
            session
            for session in self._databases[node.database].sessions
            if session[: len(names)] == names and matches(session, self._laid.words)
        ]

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
        return self._laid.count

    @property
    def words(self) -> Sequence[str]:
        """What the filter looks for, case-folded, as far as it is laid out."""
        return self._laid.words

    @property
    def database_count(self) -> int:
        """How many databases are open."""
        return len(self._databases)
