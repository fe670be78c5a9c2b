"""Resume: offers it, shows what it will do, and resumes after a confirmation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.sources import Source
from inspector_app.running.preflight import preflight_of
from inspector_app.running.preflight_card import PreflightCard
from inspector_app.running.view_data import Place, Preflight
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.widgets.tooltips import set_tooltip
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.workspace import Workspace
from runtime.events.plain_event import whole_event
from runtime.history.invocations import Invocation
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.running import resume_plan as resuming
else:
    resuming = lazy_module("runtime.running.resume_plan")


class ResumeController(QObject):
    """A controller that offers to resume and to allow writing, and asks before an invocation is resumed.

    Attributes:
        plan: the displayed plan; None once it is outdated.

    Signals:
        cancelled: the card was closed without resuming.

    Args:
        work: the owners.
        resume_hint: offers to resume.
        writing_hint: reports that the database is read-only, and offers to allow writing or to work on a copy.
        card: shows what resuming will do.
    """

    cancelled = Signal()

    def __init__(self, work: Workspace, resume_hint: HintBar, writing_hint: HintBar, card: PreflightCard) -> None:
        super().__init__(card)
        self._agents = work.agents
        self._current = work.current
        self._run = work.run
        self._write_access = work.write_access
        self._working_copy = work.working_copy
        self._tasks = work.tasks
        self._resume_hint = resume_hint
        self._writing_hint = writing_hint
        self._card = card
        self.plan: resuming.ResumePlan | None = None
        self._outdated = 0  # how often something changed that a plan depends on
        self._connect_signals(work.cursor, work.databases)

    def _connect_signals(self, cursor: Cursor, databases: OpenDatabases) -> None:
        current, run, agents = self._current, self._run, self._agents
        for signal in (cursor.session_changed, current.session_loaded, current.events_added, run.run_started, agents.agent_loaded):
            signal.connect(self._on_outdated)
        current.session_loading.connect(self._on_session_loading)
        for signal in (
            current.session_loaded,
            current.invocations_found,
            run.run_ended,
            agents.agent_loaded,
            databases.writing_allowed,
        ):
            signal.connect(self.show_hints)
        run.run_started.connect(self.hide_offer)
        self._write_access.others_found.connect(self._on_others_found)
        self._resume_hint.accepted.connect(self._on_accepted)
        self._writing_hint.accepted.connect(self._write_access.request)
        self._writing_hint.other_accepted.connect(self._working_copy.request)
        self._card.accepted.connect(self.accept)
        self._card.cancelled.connect(self._on_cancelled)

    def show_hints(self) -> None:
        """Offer to resume and to allow writing, where that is the next step."""
        self._writing_hint.hide()
        self._resume_hint.hide()
        session = self._current.session
        if session is None:
            return
        if not session.source.writing_allowed and not session.source.read_only_because:
            self._offer_writing(session.source)
        invocation = self._run.resumable()
        if invocation is not None and self._run.phase == "idle":
            self._offer_resume(session, invocation)

    def hide_offer(self) -> None:
        """Hide the offer to resume."""
        self._resume_hint.hide()

    def _offer_writing(self, source: Source) -> None:
        self._writing_hint.suggest(
            f"{source.title} was written by google-adk and is open read-only."
            if source.can_write
            else f"{source.read_only_reason} Changes need a copy.",
            "Allow writing… (backup)" if source.can_write else "",
            "lock",
            "accent",
            other="Work on a copy" if source.can_copy else "",
        )

    def _offer_resume(self, session: OpenSession, invocation: Invocation) -> None:
        blocked = self._run.blocked("resume")
        place = session.index_of(invocation.last_event_id)
        where = f" after event {place + 1}" if place is not None else ""
        next_step = blocked or f"Resume continues from {'its last checkpoint' if invocation.checkpoint else 'there'}."
        self._resume_hint.suggest(f"{invocation.word.capitalize()}{where}. {next_step}", "Resume", "triangle-exclamation")
        set_tooltip(self._resume_hint, f"Invocation {invocation.invocation_id}\n{invocation.word}: {invocation.reason}")
        self._resume_hint.button.setEnabled(blocked is None)
        set_tooltip(self._resume_hint.button, blocked or "Continue from the last checkpoint (Ctrl+Shift+R)")

    def ask(self, invocation_id: str | None = None, *, paused: bool = False) -> None:
        """Plan a resume and show the plan; nothing runs before `accept`.

        Args:
            invocation_id: the invocation; None means that of `CurrentRun.resumable`.
            paused: hold at the first event.
        """
        invocation = self._run.resumable(invocation_id)
        if invocation is not None and self._run.blocked("resume", invocation.invocation_id) is None:
            self._tasks.spawn(self._plan(invocation, paused), "Planning a resume")

    def accept(self, invocation_id: str, paused: bool, place: Place) -> None:
        """Resume as planned.

        Args:
            invocation_id: the invocation.
            paused: hold at the first event.
            place: where to write.
        """
        self._tasks.spawn(self._resume(invocation_id, paused, place), "Resuming")

    async def _resume(self, invocation_id: str, paused: bool, place: Place) -> None:
        session = self._current.session
        if session is None:
            return
        if place == "copy":
            await self._working_copy.open_copy(session.source, session.address.key)
        elif not session.source.writing_allowed:
            await self._write_access.allow(session.source)
        self._run.resume(invocation_id, paused=paused)

    async def _plan(self, invocation: Invocation, paused: bool) -> None:
        session, loaded, outdated = self._current.session, self._agents.loaded, self._outdated
        assert session is not None and loaded is not None  # `blocked` has checked it
        is_resumable = loaded.why_not("resume") is None
        events = session.events.in_memory if session.pages is None else await session.source.events(session.address.key)
        last = max((index for index, event in enumerate(events) if event.invocation_id == invocation.invocation_id), default=-1)
        temp = await _temp_at(session, last)
        ends = await session.source.ends(session.address.key)
        plan = await run_in_thread(
            lambda: resuming.plan_resume(
                [*map(whole_event, events)],
                invocation.invocation_id,
                loaded.root,
                is_resumable=is_resumable,
                temp_keys=temp,
                ends=ends,
            )
        )
        if plan is None or self._outdated != outdated:
            return
        self.plan = plan
        shown = self._words(plan)
        shown.places = _places(session.source)
        self._resume_hint.hide()
        self._card.ask(shown, paused=paused)

    def _words(self, plan: resuming.ResumePlan) -> Preflight:
        def number_of(event_id: str) -> int | None:
            place = self._current.position_of(event_id)
            return None if place is None else place + 1

        return preflight_of(plan, number_of)

    def _on_outdated(self) -> None:
        self._outdated += 1
        self.plan = None
        self._card.hide()

    def _on_session_loading(self) -> None:
        self._resume_hint.hide()
        self._writing_hint.hide()

    def _on_others_found(self, warning: str) -> None:
        self._writing_hint.suggest(warning, "Allow writing anyway", "triangle-exclamation")

    def _on_accepted(self) -> None:
        self.ask()

    def _on_cancelled(self) -> None:
        self.show_hints()
        self.cancelled.emit()


async def _temp_at(session: OpenSession, index: int) -> Mapping[str, Any]:
    """Return the recorded `temp:` keys after an event that have been read."""
    if not 0 <= index < len(session.events):
        return {}
    if session.history is not None:
        return session.history.state_at(index).temp
    pages = session.pages
    past = await pages.past_at(index, session.events) if pages is not None and pages.history is not None else None
    return past.state.temp if past is not None and past.state is not None else {}


def _places(source: Source) -> tuple[Place, ...]:
    """Return where a resumed run may write, the better choice first."""
    if source.writing_allowed:
        return ("here",)
    copy: tuple[Place, ...] = ("copy",) if source.can_copy else ()
    in_place: tuple[Place, ...] = () if not source.can_write else ("backup",) if source.can_copy else ("in place",)
    return copy + in_place
