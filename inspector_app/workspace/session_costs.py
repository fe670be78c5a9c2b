"""What the displayed session costs: sums of its groups of events and of all of it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.documents.invocation_groups import InvocationGroup
from inspector_app.documents.open_session import OpenSession
from inspector_app.presentation.costs import CostSum, sums_of_runs
from inspector_app.presentation.prices import Prices
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from runtime.errors.storage_error import StorageError
from runtime.sessions.recorded_facts import RecordedFacts
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.events.event import Event

DELAY_MS = 600  # from new events to their prices: a stream is priced in batches, and a recording is written four times a second
LATEST_MS = 10_000  # the longest pause before what a slow process recorded late is looked for once more
MOST_SILENT = 60.0  # seconds after an event, for which another process may be running the calls in it
AT_ONCE = 2_000  # events priced on the thread before the sums are displayed


class SessionCosts(QObject):
    """The owner of the displayed session's costs. Prices are looked up on a thread, because the first look-up takes a third of a second.

    Of a long session, only the events since it was opened are priced. Calls that run are priced once they have returned, with what the
    agents as tools in them used.

    Attributes:
        total: the sum of all events; None if they are not all priced.

    Signals:
        changed: sums are known.

    Args:
        current: the displayed session.
        run: the run, whose open calls are waited for.
        prices: the prices.
        tasks: runs the look-ups.
    """

    changed = Signal()

    def __init__(self, current: CurrentSession, run: CurrentRun, prices: Prices, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._current = current
        self._run = run
        self._prices = prices
        self._tasks = tasks
        self._is_pricing = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self._on_due)
        self._late = QTimer(self, singleShot=True)
        self._late.timeout.connect(self._on_late)
        self._reset(None)
        current.session_loading.connect(self._on_session_loading)
        current.session_loaded.connect(self._on_session_loaded)
        current.events_added.connect(self._on_events_added)

    @property
    def total(self) -> CostSum | None:
        """See the class."""
        session = self._session
        is_priced = session is not None and (self._next >= len(session.events) or self._waits)
        return self._total if is_priced and not self._first else None

    def of_group(self, group: InvocationGroup) -> CostSum | None:
        """Return the sum of a group of the session; None if it is not known."""
        if group.first < self._first or group.first + group.count > self._next:
            return None
        return self._sums.get(group.first)

    def price_again(self) -> None:
        """Compute all sums again, after the prices have changed."""
        self._reset(self._session)
        self.changed.emit()
        self._timer.start()

    def _reset(self, session: OpenSession | None) -> None:
        self._session = session
        self._late.stop()
        self._sums: dict[int, CostSum] = {}
        self._total = CostSum()
        self._waits = False  # for a call that runs
        self._recorded: RecordedFacts | None = None  # read with the first prices, and again after calls
        self._first = self._next = session.events.stored_count if session is not None else 0

    def _on_session_loading(self) -> None:
        self._reset(None)
        self.changed.emit()

    def _on_session_loaded(self, session: OpenSession) -> None:
        self._reset(session)
        self._timer.start()  # what the session shows comes first

    def _on_events_added(self, events: Sequence[Event]) -> None:
        if self._session is None:
            return
        if len(self._session.events) - self._next >= AT_ONCE:
            self._on_due()  # before the first of them are evicted
        elif not self._timer.isActive():
            self._timer.start()

    def _on_due(self) -> None:
        if self._session is not None and not self._is_pricing:
            self._tasks.spawn(self._price(self._session), "Reading the prices", background=True)

    def _on_late(self) -> None:
        if self._session is not None and self._recorded is not None:
            self._tasks.spawn(self._look_again(self._session, self._recorded), "Reading what agents as tools used", background=True)

    async def _look_again(self, session: OpenSession, known: RecordedFacts) -> None:
        """Price again if more was recorded since; the recorder of a slow process writes after the result of a call."""
        with contextlib.suppress(StorageError):
            found = await session.source.recorded_facts(session.address.key)
            if self._session is not session or self._recorded is not known:
                return
            if len(found.inner) > len(known.inner):
                self.price_again()
            elif self._late.interval() < LATEST_MS:
                self._late.start(2 * self._late.interval())

    async def _price(self, session: OpenSession) -> None:
        self._is_pricing = True
        try:
            while self._session is session and await self._price_next(session) == AT_ONCE:
                pass
        finally:
            self._is_pricing = False
        if self._session is not session:
            self._on_due()
        elif self._next < len(session.events):
            self._timer.start()  # committed meanwhile

    async def _price_next(self, session: OpenSession) -> int:
        """Price the next events; return how many. They are in memory, as thousands follow an event before it is evicted."""
        unpriced = session.events.in_memory[max(self._next - session.events.stored_count, 0) :]
        if self._recorded is None or any(event.get_function_calls() for event in unpriced):
            try:
                self._recorded = await session.source.recorded_facts(session.address.key)
            except StorageError:  # the Request tab reports it
                self._recorded = RecordedFacts()
        start = max(self._next, session.events.stored_count)
        if start > self._next:
            self._first = start  # some were evicted unpriced: what came before is not known
        offset = start - session.events.stored_count
        batch = session.events.in_memory[offset : offset + AT_ONCE]
        is_running = self._run.phase != "idle" and self._run.address == session.address
        if batch and (is_running or time.time() - batch[-1].timestamp < MOST_SILENT):
            batch = _before_an_open_call(batch, session.events.in_memory[offset:])
        self._waits = not batch
        if not batch:
            return 0
        runs = await run_in_thread(sums_of_runs, batch, self._prices, self._recorded)
        if self._session is not session:
            return 0
        for place, run in runs:  # the events of a run are neighbours of one invocation, so they are in one group
            self._sums.setdefault(session.groups.first_of(start + place), CostSum()).add_sum(run)
            self._total.add_sum(run)
        self._next = start + len(batch)
        if time.time() - batch[-1].timestamp < MOST_SILENT and any(event.get_function_responses() for event in batch):
            self._late.start(DELAY_MS)
        self.changed.emit()
        return len(batch)


def _before_an_open_call(batch: list[Event], events: Sequence[Event]) -> list[Event]:
    """Return the events of a batch before the first one with a call that `events`, which begin with the batch, do not answer."""
    answered = {response.id for event in events for response in event.get_function_responses()}
    for number, event in enumerate(batch):
        if any(call.id not in answered and call.id not in (event.long_running_tool_ids or ()) for call in event.get_function_calls()):
            return batch[:number]
    return batch
