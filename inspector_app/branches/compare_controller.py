"""Comparisons of two sessions in any open databases, computed on a worker thread."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from inspector_app.branches.compare_page import ComparePage
from inspector_app.branches.comparison_aspects import aspects_of
from inspector_app.branches.session_picker import PickableSession, SessionPicker
from inspector_app.documents.session_address import SessionAddress
from inspector_app.presentation.values import counted, duration, visible
from inspector_app.workspace.workspace import Workspace
from runtime.compare.comparison import Comparison, Totals, compare
from runtime.history.state_at import History
from runtime.sessions.session_key import SessionKey
from runtime.support.worker_threads import run_in_thread

MOST_OFFERED = 5_000  # sessions in the picker; listing 100,000 would block the window


@dataclass(frozen=True, slots=True)
class _Compared:
    """The displayed comparison."""

    left: SessionAddress
    right: SessionAddress
    left_past: History
    right_past: History
    result: Comparison


class CompareController(QObject):
    """A controller that asks for a second session and shows the comparison.

    Signals:
        opened: the page displays a comparison.
        closed: the user closed the page.

    Args:
        work: the owners.
        page: the page to fill.
    """

    opened = Signal()
    closed = Signal()

    def __init__(self, work: Workspace, page: ComparePage) -> None:
        super().__init__(page)
        self._work = work
        self._page = page
        self._shown: _Compared | None = None
        self._pair = 0
        page.pair_selected.connect(self._on_pair_selected)
        page.event_requested.connect(self._on_event_requested)
        page.left.connect(self._on_left)

    def compare(self, left: SessionAddress, right: SessionAddress) -> None:
        """Show two sessions side by side with the first difference selected."""
        self._work.tasks.spawn(self._compare(left, right), "Comparing two sessions")

    async def _compare(self, left: SessionAddress, right: SessionAddress) -> None:
        one, other = await self._past(left), await self._past(right)
        if one is None or other is None:
            return
        result = await run_in_thread(compare, list(one.events), list(other.events))
        self._shown = _Compared(left, right, one, other, result)
        page = self._page
        page.model.set_rows(result.rows, one.events, other.events)
        self.opened.emit()
        titles = self._title(left), self._title(right)
        page.show_comparison(titles, (_totals(result.left), _totals(result.right)), result.differing)
        self._on_pair_selected(page.table.currentIndex().row())

    async def _past(self, address: SessionAddress) -> History | None:
        source = self._work.databases.source(address.database)
        return await source.history(address.key) if source is not None else None

    def ask(self) -> None:
        """Ask which session the selected one is compared with."""
        here = self._work.cursor.session
        if here is None:
            self._work.messages.info("Select the session to compare first.")
            return
        newest = self._work.catalog.newest(MOST_OFFERED)
        parent = self._work.catalog.parent_of(here)
        first = [parent] if parent is not None else []
        others = first + [address for address in newest if address not in [*first, here]]
        pickable = [PickableSession(address, self._title(address)) for address in others]
        if not pickable:
            self._work.messages.info("There is no other session: open another database, or fork this session.")
            return
        of_all = (
            "" if len(newest) < MOST_OFFERED else f" one of the {MOST_OFFERED:,} newest sessions (for others, use the session list's menu)"
        )
        picker = SessionPicker(f"Compare {self._name(here)} with{of_all}", pickable, self._page.window())
        picker.picked.connect(self._on_picked)
        picker.open()

    def _on_picked(self, address: SessionAddress) -> None:
        if self._work.cursor.session is not None:
            self.compare(self._work.cursor.session, address)

    def compare_session(self, database: str, key: SessionKey, other: SessionKey | None) -> None:
        """Compare a session with another one of its database.

        Args:
            database: the database of both sessions.
            key: the session.
            other: the other session, such as the parent of a fork; None compares with the selected session.
        """
        address = SessionAddress(database, key)
        if other is not None:
            self.compare(SessionAddress(database, other), address)
        elif self._work.cursor.session is not None:
            self.compare(self._work.cursor.session, address)

    def _name(self, address: SessionAddress) -> str:
        """Return a session's title, of a fork also what was changed."""
        fork, title = self._work.catalog.fork_info(address), self._work.titles.title(address)
        return title if fork is None or fork.text in title else f"{title}, {fork.text}"

    def _title(self, address: SessionAddress) -> str:
        source = self._work.databases.source(address.database)
        key = address.key
        database = source.title if source is not None else address.database
        return visible(f"{self._name(address)} · {key.app_name} · {key.user_id} · {database}")

    def _on_pair_selected(self, row: int) -> None:
        if self._shown is not None and row >= 0:
            self._pair = row
            self._work.tasks.spawn(self._show_pair(self._shown, row), "Comparing two events")

    async def _show_pair(self, shown: _Compared, row: int) -> None:
        pair = shown.result.rows[row]
        aspects = await run_in_thread(aspects_of, shown.left_past, pair.left, shown.right_past, pair.right, shown.result.call_ids)
        if self._shown is shown and self._pair == row:
            self._page.show_pair(aspects)

    def _on_event_requested(self, wants_right: bool, place: int) -> None:
        if self._shown is not None:
            past = self._shown.right_past if wants_right else self._shown.left_past
            self._work.cursor.request(self._shown.right if wants_right else self._shown.left, past.events[place].id)

    def _on_left(self) -> None:
        self._shown = None
        self._page.model.set_rows([], [], [])
        self.closed.emit()


def _totals(totals: Totals) -> str:
    parts = [counted(totals.events, "event"), counted(totals.tool_calls, "tool call"), duration(totals.seconds)]
    if totals.tokens:
        parts.insert(2, f"{totals.tokens:,} tokens")
    return " · ".join(parts)
