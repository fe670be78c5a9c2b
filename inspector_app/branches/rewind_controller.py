"""Rewind with open eyes: says what it takes back and what it cannot, offers a fork first, and rewinds when told to."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from inspector_app.branches.fork_controller import ForkController
from inspector_app.branches.rewind_text import rewind_facts, rewind_title
from inspector_app.documents.session_document import SessionDocument
from inspector_app.presentation.decisions import Choice
from inspector_app.presentation.event_summary import short_id
from inspector_app.shell.parts import Parts
from inspector_app.shell.window_status import WindowStatus
from inspector_app.workspace.manual_events import ManualEvents
from runtime.errors.known_error import KnownError
from runtime.forks.fork import Cut
from runtime.running.rewind_plan import RewindPlan, rewind_plan
from runtime.support.worker_threads import run_in_thread

FORK, REWIND = "fork", "rewind"


class RewindController(QObject):
    """Asks before an invocation, and all after it, is taken back.

    Attributes:
        plan: what was shown last.

    Args:
        parts: of the window.
        forks: makes the fork that is offered in its place.
        commits: knows whether and how something may be committed by hand now.
        status: knows what is selected, and shows it.
    """

    def __init__(
        self, parts: Parts, forks: ForkController, commits: ManualEvents, status: WindowStatus, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bench = parts.window.workbench
        self._forks = forks
        self._commits = commits
        self._status = status
        self._messages = parts.messages
        self._tasks = parts.tasks
        self._cursor = parts.cursor
        self._browse = parts.browse
        self.plan: RewindPlan | None = None
        parts.window.commands.rewind.triggered.connect(self._on_rewind)
        self._bench.stream.rewind_asked.connect(self.ask)
        self._bench.rewind_card.chosen.connect(self._on_chosen)
        self._bench.rewind_card.cancelled.connect(self._on_cancelled)
        for signal in (self._cursor.session_changed, self._browse.session_loaded, self._browse.events_added):
            signal.connect(self._on_something_changed)

    def ask(self, index: int) -> None:
        """Show what rewinding to before an event's invocation will do; nothing happens before a choice.

        Args:
            index: of the event in the session on show.
        """
        session = self._browse.session
        event = session.events.cached(index) if session is not None and 0 <= index < len(session.events) else None
        if session is not None and event is not None:
            self._tasks.spawn(self._ask(session, event.invocation_id), "Looking at what rewinding will do")

    def _on_rewind(self) -> None:
        if self._cursor.event_index is not None:
            self.ask(self._cursor.event_index)

    async def _ask(self, session: SessionDocument, invocation_id: str) -> None:
        key = session.address.key
        history = await session.source.history(key)
        try:
            plan = await run_in_thread(lambda: rewind_plan(history, key, history.state_at(len(history) - 1).merged(), invocation_id))
        except KnownError as error:
            self._messages.info(str(error))
            return
        if self._browse.session is not session:
            return
        self.plan = plan
        blocked = self._commits.blocked_between_runs()
        self._bench.resume_hint.hide()  # one offer at a time
        self._bench.rewind_card.show_decision(
            rewind_title(plan),
            rewind_facts(plan),
            [
                Choice(FORK, "Fork instead", "A new session that ends before this invocation; this one stays as it is (Enter)"),
                Choice(REWIND, "Rewind", blocked or "Take these invocations back in this session", blocked is None),
            ],
            icon="backward",
            urgent=bool(plan.tools or plan.stays or plan.unknown),
        )

    def _on_cancelled(self) -> None:
        self._status.show_session_hints()
        self._bench.stream.table.setFocus()

    def _on_chosen(self, choice: str) -> None:
        plan, session = self.plan, self._browse.session
        if plan is None or session is None:
            return
        if choice == FORK:
            self._tasks.spawn(self._forks.fork(session, Cut(before=plan.first_event_id)), "Forking")
        elif blocked := self._commits.blocked_between_runs():  # a run may have begun since
            self._messages.info(blocked)
        elif choice == REWIND:
            self._tasks.spawn(self._rewind(session, plan), "Rewinding")

    async def _rewind(self, session: SessionDocument, plan: RewindPlan) -> None:
        engine = await self._commits.engine(session)
        await engine.rewind(session.address.key, plan.invocation_id)
        await self._browse.refresh_session(session.address)
        self._browse.invocations_found.emit(session)
        self._messages.info(f"Rewound to before {short_id(plan.invocation_id)}.")

    def _on_something_changed(self, *_: Any) -> None:
        self.plan = None
        self._bench.rewind_card.hide()
