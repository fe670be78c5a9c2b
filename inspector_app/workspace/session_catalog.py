"""The owner of what is known about the sessions of the open databases without displaying them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import Source
from inspector_app.presentation.session_figures import waiting_of
from inspector_app.presentation.session_info import ForkInfo
from runtime.history.invocations import PendingItem, earlier_unanswered, present
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary


def mark_of(items: Sequence[PendingItem]) -> str:
    """Return the mark of a session with these pending items."""
    now = present(items)
    if not now:
        return "finished"
    return now[-1].status if now[-1].kind == "interrupted" else now[-1].kind


@dataclass(slots=True)
class _Listing:
    """One database's sessions: the list as it was read, and what changed since.

    The two are joined only on request: joining 100,000 summaries at each change would stall the window.
    """

    read: Sequence[SessionSummary]
    changed: dict[SessionKey, SessionSummary] = field(default_factory=dict)
    removed: set[SessionKey] = field(default_factory=set)
    forks: Mapping[SessionKey, ForkInfo] = field(default_factory=dict)

    def summaries(self) -> list[SessionSummary]:
        if not self.changed and not self.removed:
            return list(self.read)
        kept = [summary for summary in self.read if summary.key not in self.changed and summary.key not in self.removed]
        return [*kept, *self.changed.values()]

    def has(self, key: SessionKey) -> bool:
        if key in self.changed:
            return True
        return key not in self.removed and any(summary.key == key for summary in self.read)


class SessionCatalog(QObject):
    """Summaries, forks, pending items and marks of all sessions in the open databases.

    Attributes:
        pending: the pending items of each session that was examined; an empty list if there are none.

    Signals:
        listed(Source, list[SessionSummary]): a database was opened or listed again.
        removed(str): a database was closed.
        sessions_changed(str, Sequence[SessionSummary], Sequence[SessionKey]): sessions of a database are new or changed, and others were
            deleted.
        forks_changed(str): where sessions of a database were forked from is known.
        pending_changed(str, Collection[SessionKey]): pending items of these sessions of a database were found or answered.
        marks_changed(str, Collection[SessionKey]): these sessions of a database have another mark.
    """

    # Declared as `list`, each argument would be copied by Qt for every slot: 10 ms for 100,000 sessions.
    listed = Signal(object, object)
    removed = Signal(str)
    sessions_changed = Signal(str, object, object)
    forks_changed = Signal(str)
    pending_changed = Signal(str, object)
    marks_changed = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._listings: dict[str, _Listing] = {}
        self._running: tuple[SessionAddress, str] | None = None
        self._unfinished: set[SessionAddress] = set()
        self.pending: dict[SessionAddress, list[PendingItem]] = {}

    # sessions

    def list_database(self, source: Source, sessions: Sequence[SessionSummary]) -> None:
        """Add a database, or replace the list of its sessions; its forks and pending items stay.

        Args:
            source: the database.
            sessions: all its sessions.
        """
        before = self._listings.get(source.target)
        self._listings[source.target] = _Listing(sessions, forks=before.forks if before is not None else {})
        self.listed.emit(source, sessions)

    def remove_database(self, target: str) -> None:
        """Forget a closed database and its sessions."""
        self._listings.pop(target, None)
        self.pending = {address: items for address, items in self.pending.items() if address.database != target}
        self.removed.emit(target)
        self.pending_changed.emit(target, ())

    def count_sessions(self, target: str, sessions: Sequence[SessionSummary]) -> None:
        """Take the list of a database's sessions again, with the counts that listing left out.

        Args:
            target: the database.
            sessions: all its sessions.
        """
        listing = self._listings.get(target)
        if listing is not None:
            listing.read = sessions
            self.sessions_changed.emit(target, listing.summaries(), ())

    def update_sessions(self, target: str, changed: Sequence[SessionSummary], removed: Sequence[SessionKey] = ()) -> None:
        """Take new and newer summaries, and note deleted sessions.

        Args:
            target: the database; nothing happens if it is not open.
            changed: summaries of new and changed sessions.
            removed: deleted sessions.
        """
        listing = self._listings.get(target)
        if listing is None:
            return
        for summary in changed:
            listing.changed[summary.key] = summary
            listing.removed.discard(summary.key)
        for key in removed:
            listing.changed.pop(key, None)
            listing.removed.add(key)
        self.sessions_changed.emit(target, changed, removed)

    def sessions(self, target: str) -> list[SessionSummary]:
        """Return the summaries of a database's sessions, in no particular order."""
        listing = self._listings.get(target)
        return listing.summaries() if listing is not None else []

    def newest(self, most: int) -> list[SessionAddress]:
        """Return sessions of all databases, the latest updated first.

        Args:
            most: the maximum number of sessions.
        """
        all_sessions = ((target, summary) for target, listing in self._listings.items() for summary in listing.summaries())
        found = heapq.nlargest(most, all_sessions, key=lambda each: each[1].last_update_time)
        return [SessionAddress(target, summary.key) for target, summary in found]

    # forks

    def set_forks(self, target: str, forks: Mapping[SessionKey, ForkInfo]) -> None:
        """Set where a database's forks come from.

        Args:
            target: the database; nothing happens if it is not open.
            forks: all forks in it.
        """
        listing = self._listings.get(target)
        if listing is not None and listing.forks != forks:
            listing.forks = dict(forks)
            self.forks_changed.emit(target)

    def forks(self, target: str) -> Mapping[SessionKey, ForkInfo]:
        """Return the forks in a database."""
        listing = self._listings.get(target)
        return listing.forks if listing is not None else {}

    def fork_info(self, address: SessionAddress) -> ForkInfo | None:
        """Return where a session was forked from; None if it is no fork."""
        return self.forks(address.database).get(address.key)

    def parent_of(self, address: SessionAddress) -> SessionAddress | None:
        """Return the session that a fork comes from, if it is in the same database."""
        fork, listing = self.fork_info(address), self._listings.get(address.database)
        return SessionAddress(address.database, fork.parent) if fork and listing is not None and listing.has(fork.parent) else None

    # pending items and marks

    def set_pending(self, address: SessionAddress, items: list[PendingItem]) -> None:
        """Set a session's pending items; an empty list says that there are none."""
        self.set_all_pending(address.database, {address.key: items})

    def set_all_pending(self, target: str, found: Mapping[SessionKey, list[PendingItem]]) -> None:
        """Set the pending items of several sessions of a database."""
        for key, items in found.items():
            self.pending[SessionAddress(target, key)] = items
        self.pending_changed.emit(target, found.keys())
        self.marks_changed.emit(target, found.keys())

    def set_running(self, address: SessionAddress | None, mark: str = "") -> None:
        """Mark the session of the run, in place of the mark of its pending items.

        Args:
            address: the session; None when nothing runs any more.
            mark: `running` or `paused`.
        """
        running = (address, mark) if address is not None else None
        if running == self._running:
            return
        before, self._running = self._running, running
        if before is not None and before[0] != address:
            self.pending.setdefault(before[0], [])
            self._emit_mark(before[0])
        if address is not None:
            self._unfinished.discard(address)
            self._emit_mark(address)

    def set_unfinished(self, address: SessionAddress, is_unfinished: bool) -> None:
        """Say whether another process may still run an invocation of a session, which has not ended."""
        (self._unfinished.add if is_unfinished else self._unfinished.discard)(address)
        self.pending.setdefault(address, [])
        self._emit_mark(address)

    def mark(self, address: SessionAddress) -> str | None:
        """Return a session's mark; None if it was not examined."""
        if self._running is not None and self._running[0] == address:
            return self._running[1]
        items = self.pending.get(address)
        if items is None:
            return None
        return "unfinished" if address in self._unfinished and not present(items) else mark_of(items)

    def waits_for(self, address: SessionAddress) -> tuple[int, str]:
        """Return how many items of a session wait for a person, and the name of the last one's call; empty if there is none."""
        pending = self.pending.get(address, ())
        now = present(pending)
        return waiting_of(pending), now[-1].name or "" if now else ""

    def earlier(self, address: SessionAddress) -> str:
        """Return what earlier messages of a session still wait for; see `earlier_unanswered`."""
        return earlier_unanswered(self.pending.get(address, ()))

    def marks(self, target: str) -> dict[SessionKey, str]:
        """Return the marks of all examined sessions of a database."""
        examined: Iterable[SessionAddress] = self.pending
        if self._running is not None:
            examined = [*examined, self._running[0]]
        found = {address.key: self.mark(address) for address in examined if address.database == target}
        return {key: mark for key, mark in found.items() if mark is not None}

    def _emit_mark(self, address: SessionAddress) -> None:
        self.marks_changed.emit(address.database, (address.key,))
