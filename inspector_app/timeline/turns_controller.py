"""The charts over the turns of the displayed session."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer

from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.recorded_spans import RecordedCalls, activity_of
from inspector_app.documents.session_ranges import MOST_OF_SESSION, EventRange
from inspector_app.presentation.costs import CostSum, cost_text, model_calls
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.spans import HeldTime
from inspector_app.presentation.turns import Turn, turns_of
from inspector_app.presentation.values import counted
from inspector_app.timeline.turns_view import TurnsView
from inspector_app.workspace.workspace import Workspace
from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.support.worker_threads import run_in_thread

_REST_MS = 500  # from a change to counting, so that a streaming run is counted twice a second
_REST_SHARE = 4  # times the last counting took, if that is longer: a long session that streams is counted less often


class TurnsController(QObject):
    """A controller that fills the charts.

    Args:
        work: the owners.
        view: the view to fill.
    """

    def __init__(self, work: Workspace, view: TurnsView) -> None:
        super().__init__(view)
        self._work = work
        self._view = view
        self._drawn: tuple[object, int] | None = None
        self._counting: OpenSession | None = None
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self._draw)
        work.cursor.event_changed.connect(self._on_event_changed)
        work.current.events_added.connect(self._on_changed)
        work.current.session_loaded.connect(self._on_loaded)
        work.current.session_loading.connect(self._on_loaded)
        work.current.calls_recorded.connect(self._on_recorded)
        view.displayed.came.connect(self._draw)
        view.picture.saved.connect(work.messages.info)
        view.picture.failed.connect(work.messages.warning)

    def _on_changed(self, *_: object) -> None:
        if not self._rest.isActive():
            self._rest.start()

    def _on_loaded(self, *_: object) -> None:
        self._drawn = None
        self._draw()

    def _on_recorded(self) -> None:
        self._drawn = None
        self._on_changed()

    def _on_event_changed(self, index: int | None) -> None:
        self._view.charts.select_event(index)

    def _draw(self) -> None:
        session = self._work.current.session
        if not self._view.displayed.now:
            self._drawn = None
            self._view.clear()
        elif session is None or not session.events:
            self._view.set_turns((), "")
        elif self._counting is not session and self._drawn != (session, len(session.events)):
            self._drawn, self._counting = (session, len(session.events)), session
            self._work.tasks.spawn(self._show(session), "Counting the turns", background=True)

    async def _show(self, session: OpenSession) -> None:
        began = time.perf_counter()
        try:
            await self._count(session)
        finally:
            if self._counting is session:
                self._counting = None
                self._rest.setInterval(max(_REST_MS, int((time.perf_counter() - began) * 1000 * _REST_SHARE)))
                self._on_changed()  # events may have been added meanwhile

    async def _count(self, session: OpenSession) -> None:
        if session.pages is not None and not self._view.charts.turns:
            self._view.show_note(f"Reading {min(len(session.events), MOST_OF_SESSION):,} events…")
        newest = await self._work.reader.newest(session)
        problem = ""
        try:
            recorded = await session.source.recorded_calls(session.address.key)
        except StorageError as error:
            recorded, problem = RecordedCalls(), str(error)
        turns = await run_in_thread(_turns, session.address.key, newest, recorded, tuple(self._work.run.holds()), self._work.prices)
        if self._work.current.session is not session:
            return
        part = f"The newest {len(newest.events):,} of {len(session.events):,} events" if newest.first else ""
        self._view.set_turns(turns, " · ".join(filter(None, (problem, part, _total(turns)))))
        self._view.charts.select_event(self._work.cursor.event_index)


def _turns(key: SessionKey, newest: EventRange, recorded: RecordedCalls, holds: Sequence[HeldTime], prices: Prices) -> list[Turn]:
    found = activity_of(newest.events, newest.first, recorded, holds)
    return turns_of(newest.events, newest.first, model_calls(key, newest.events, prices, recorded.facts), found.calls)


def _total(turns: list[Turn]) -> str:
    """Return what all turns used together, as a line."""
    total = CostSum.of_sums(turn.used for turn in turns)
    count = counted(len(turns), "turn")
    if not total.calls:
        return f"{count} · no event reports tokens"
    return f"{count} · {total.tokens.input:,} tokens in, {total.tokens.output:,} out · cost {cost_text(total)}"
