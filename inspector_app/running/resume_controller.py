"""Resume with open eyes: works out what it will do, shows it, and resumes when told to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.session_document import SessionDocument
from inspector_app.documents.sources import Source
from inspector_app.running.preflight import preflight_of
from inspector_app.running.view_data import Place, Preflight
from inspector_app.shell.parts import Parts
from inspector_app.workspace.working_copy import WorkingCopy
from inspector_app.workspace.write_access import WriteAccess
from runtime.running.resume_plan import ResumePlan, plan_resume
from runtime.support.worker_threads import run_in_thread


class ResumeController(QObject):
    """Asks before an invocation is resumed.

    Attributes:
        plan: what was shown last.

    Signals:
        planned(Preflight, bool): this is what resuming will do, and whether it is to be held at the first event.
        outdated: what was planned does not hold any more.
    """

    planned = Signal(object, bool)
    outdated = Signal()

    def __init__(self, parts: Parts, taking_over: WriteAccess, copying: WorkingCopy, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._agents = parts.agents
        self._browse = parts.browse
        self._run = parts.run
        self._taking_over = taking_over
        self._copying = copying
        self._tasks = parts.tasks
        self.plan: ResumePlan | None = None
        for signal in (
            parts.cursor.session_changed,
            self._browse.session_loaded,
            self._browse.events_added,
            self._run.run_started,
            self._agents.agent_loaded,
        ):
            signal.connect(self._on_something_changed)

    def ask(self, invocation_id: str | None = None, *, paused: bool = False) -> None:
        """Work out what Resume will do, and show it; nothing runs before `accept`.

        Args:
            invocation_id: which invocation; that of `CurrentRun.resumable` if None.
            paused: hold at the first event.
        """
        if self._run.blocked("resume", invocation_id) is None:
            self._tasks.spawn(self._plan(invocation_id, paused), "Looking at what resuming will do")

    def accept(self, invocation_id: str, paused: bool, place: Place) -> None:
        """Resume what was shown.

        Args:
            invocation_id: which invocation.
            paused: hold at the first event.
            place: where to write what happens.
        """
        self._tasks.spawn(self._resume(invocation_id, paused, place), "Resuming")

    async def _resume(self, invocation_id: str, paused: bool, place: Place) -> None:
        session = self._browse.session
        if session is None:
            return
        if place == "copy":
            await self._copying.open_copy(session.source, session.address.key)
        elif not session.source.writing_allowed:
            await self._taking_over.allow(session.source)
        self._run.resume(invocation_id, paused=paused)

    async def _plan(self, invocation_id: str | None, paused: bool) -> None:
        session, invocation, loaded = self._browse.session, self._run.resumable(invocation_id), self._agents.loaded
        if session is None or invocation is None or loaded is None:
            return
        config = loaded.app.resumability_config
        events = session.events.in_memory if session.long is None else await session.source.events(session.address.key)
        last = max((index for index, event in enumerate(events) if event.invocation_id == invocation.invocation_id), default=-1)
        temp = await _temp_at(session, last)
        plan = await run_in_thread(
            lambda: plan_resume(
                list(events),
                invocation.invocation_id,
                loaded.app.root_agent,
                is_resumable=config is not None and config.is_resumable,
                temp_keys=temp,
            )
        )
        if plan is None or self._browse.session is not session or self._run.blocked("resume", invocation_id) is not None:
            return
        self.plan = plan
        shown = self._words(plan)
        shown.places = _places(session.source)
        self.planned.emit(shown, paused)

    def _words(self, plan: ResumePlan) -> Preflight:
        def number_of(event_id: str) -> int | None:
            place = self._browse.position_of(event_id)
            return None if place is None else place + 1

        return preflight_of(plan, number_of)

    def _on_something_changed(self) -> None:
        self.plan = None
        self.outdated.emit()


async def _temp_at(session: SessionDocument, index: int) -> Mapping[str, Any]:
    """Return the `temp:` keys after an event, as far as they were recorded and are known by now."""
    if not 0 <= index < len(session.events):
        return {}
    if session.history is not None:
        return session.history.state_at(index).temp
    past = await session.long.past_at(index, session.events) if session.long is not None else None
    return past.state.temp if past is not None else {}


def _places(source: Source) -> tuple[Place, ...]:
    """Return where a resumed run may write, the better choice first."""
    if source.writing_allowed:
        return ("here",)
    copy: tuple[Place, ...] = ("copy",) if source.can_copy else ()
    in_place: tuple[Place, ...] = () if not source.can_write else ("backup",) if source.can_copy else ("in place",)
    return copy + in_place
