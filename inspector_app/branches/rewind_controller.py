"""Rewind: shows what it undoes and what it cannot undo, and offers a fork instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from inspector_app.branches.fork_controller import ForkController
from inspector_app.branches.rewind_text import rewind_facts, rewind_title
from inspector_app.documents.open_session import OpenSession
from inspector_app.presentation.decisions import Choice
from inspector_app.presentation.event_summary import short_id
from inspector_app.widgets.decision_card import DecisionCard
from inspector_app.workspace.workspace import Workspace
from runtime.errors.known_error import KnownError
from runtime.forks.fork import Cut
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.running import rewind_plan as rewinding
else:
    rewinding = lazy_module("runtime.running.rewind_plan")

FORK, REWIND = "fork", "rewind"


class RewindController(QObject):
    """A controller that plans a rewind and asks before it is committed.

    Attributes:
        plan: the displayed plan; None once it is outdated.

    Signals:
        asked: the card was shown; other offers should be hidden.
        cancelled: the card was closed without a choice.

    Args:
        work: the owners.
        forks: creates the fork that is offered instead.
        card: asks what to do.
    """

    asked = Signal()
    cancelled = Signal()

    def __init__(self, work: Workspace, forks: ForkController, card: DecisionCard) -> None:
        super().__init__(card)
        self._work = work
        self._forks = forks
        self._card = card
        self.plan: rewinding.RewindPlan | None = None
        card.chosen.connect(self._on_chosen)
        card.cancelled.connect(self.cancelled)
        for signal in (work.cursor.session_changed, work.current.session_loaded, work.current.events_added):
            signal.connect(self._on_outdated)

    def ask(self, index: int) -> None:
        """Show what rewinding to before an event's invocation will do, and ask what to do.

        Args:
            index: the event's place in the displayed session.
        """
        session = self._work.current.session
        event = session.events.cached(index) if session is not None and 0 <= index < len(session.events) else None
        if session is not None and session.source.read_only_because:
            self._work.messages.info(session.source.read_only_because)
        elif session is not None and event is not None:
            self._work.tasks.spawn(self._ask(session, event.invocation_id), "Planning a rewind")

    def ask_at_selected(self) -> None:
        """Ask how to rewind to before the selected event's invocation."""
        if self._work.cursor.event_index is not None:
            self.ask(self._work.cursor.event_index)

    async def _ask(self, session: OpenSession, invocation_id: str) -> None:
        key = session.address.key
        history = await session.source.history(key)
        try:
            plan = await run_in_thread(
                lambda: rewinding.rewind_plan(history, key, history.state_at(len(history) - 1).merged(), invocation_id)
            )
        except KnownError as error:
            self._work.messages.info(str(error))
            return
        if self._work.current.session is not session:
            return
        self.plan = plan
        blocked = self._work.commits.blocked_between_runs()
        self.asked.emit()
        self._card.show_decision(
            rewind_title(plan),
            rewind_facts(plan),
            [
                Choice(FORK, "Fork instead", "A new session that ends before this invocation; this one stays as it is (Enter)"),
                Choice(REWIND, "Rewind", blocked or "Take these invocations back in this session", blocked is None),
            ],
            icon="backward",
            urgent=bool(plan.tools or plan.stays or plan.unknown),
        )

    def _on_chosen(self, choice: str) -> None:
        plan, session = self.plan, self._work.current.session
        if plan is None or session is None:
            return
        if choice == FORK:
            self._work.tasks.spawn(self._forks.fork(session, Cut(before=plan.first_event_id)), "Forking")
        elif blocked := self._work.commits.blocked_between_runs():  # a run may have begun since
            self._work.messages.info(blocked)
        elif choice == REWIND:
            self._work.tasks.spawn(self._rewind(session, plan), "Rewinding")

    async def _rewind(self, session: OpenSession, plan: rewinding.RewindPlan) -> None:
        engine = await self._work.commits.engine(session)
        await engine.rewind(session.address.key, plan.invocation_id)
        await self._work.current.refresh_invocations(session.address)
        self._work.messages.info(f"Rewound to before {short_id(plan.invocation_id)}.")

    def _on_outdated(self, *_: Any) -> None:
        self.plan = None
        self._card.hide()
