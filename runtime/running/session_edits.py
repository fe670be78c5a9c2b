"""What changes a session without running an agent: state edited by hand, calls cancelled, progress reported, invocations taken back."""

from __future__ import annotations

import abc
from typing import Any

from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.contexts.invocation_context import InvocationContext
from runtime.events.event import Event
from runtime.running.rewind import rewind_event
from runtime.running.system_events import StateEditError, cancelled_calls, progress, state_edit, state_edit_undone
from runtime.sessions.base_session_service import BaseSessionService


class SessionEdits(abc.ABC):
    """The Runner's verbs that write into a session by events of their own, so that every change has its place in the history.

    A session that a run of this Runner is held in is changed through that run: its agents see the change when they go on.
    """

    session_service: BaseSessionService
    artifact_service: BaseArtifactService | None

    async def edit_state(self, *, user_id: str, session_id: str, changes: dict[str, Any]) -> Event:
        """Set state keys by hand, as a committed event by `system`; also while a run of this Runner is held in that session.

        Args:
            user_id: whose session.
            session_id: which session.
            changes: key with scope prefix → JSON value; None clears a key.

        Returns:
            The committed event; it remembers what was there before, for `undo_state_edit`.

        Raises:
            SessionNotFoundError: there is no such session.
            StateEditError: nothing is changed, or a key cannot be edited.
            UnstorableValueError: a value is not JSON.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        event = state_edit(changes, ctx.shared.committed_state, ctx.invocation_id)
        await self._commit(ctx, event)
        return event

    async def undo_state_edit(self, *, user_id: str, session_id: str, event_id: str) -> Event:
        """Take back what `edit_state` did, by the inverse event.

        Args:
            user_id: whose session.
            session_id: which session.
            event_id: of the edit.

        Raises:
            SessionNotFoundError: there is no such session.
            StateEditError: there is no such edit, or a key was changed again since.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        edit = next((event for event in ctx.session.events if event.id == event_id), None)
        if edit is None:
            raise StateEditError(f"Session {session_id} has no event {event_id}.")
        event = state_edit_undone(edit, ctx.shared.committed_state, ctx.invocation_id)
        await self._commit(ctx, event)
        return event

    async def cancel_open_calls(
        self, *, user_id: str, session_id: str, invocation_id: str, edits: dict[str, Any] | None = None
    ) -> list[Event]:
        """Give the calls that a stopped run left without a result one that says "cancelled", so that the conversation can go on.

        A resumed run then does not call them again. Calls that wait for a person or a long-running job keep waiting.

        Args:
            user_id: whose session.
            session_id: which session.
            invocation_id: of the run that was stopped.
            edits: what was changed by hand in these calls: `Interception.unmarked_edits`.

        Returns:
            The committed events; none if every call has its result.

        Raises:
            SessionNotFoundError: there is no such session.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        events = cancelled_calls(ctx.session.events, invocation_id, edits)
        for event in events:
            await self._commit(ctx, event)
        return events

    async def report_progress(self, *, user_id: str, session_id: str, call_id: str, response: dict[str, Any]) -> Event:
        """Tell how far a long-running call is. No agent runs; the call stays open until a function response of the user answers it.

        Args:
            user_id: whose session.
            session_id: which session.
            call_id: of the function call.
            response: the function response's object, such as `{"status": "pending", "done": 0.4}`.

        Returns:
            The committed event.

        Raises:
            SessionNotFoundError: there is no such session.
            ProgressError: there is no such call, it is not long-running, or it has been answered.
            UnstorableValueError: the response is not JSON.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        event = progress(ctx.session.events, call_id, response)
        await self._commit(ctx, event)
        return event

    async def rewind_async(self, *, user_id: str, session_id: str, rewind_before_invocation_id: str) -> None:
        """Take back an invocation and everything after it.

        The session's own state, also keys it was created with, and its files are restored; `user:` and `app:` keys and files stay.
        Agents do not see what was taken back any more; the session keeps it (contract: "Rewind restores what was there").

        Args:
            user_id: whose session.
            session_id: which session.
            rewind_before_invocation_id: the first invocation to take back.

        Raises:
            SessionNotFoundError: there is no such session.
            InvocationNotFoundError: the session has no such invocation, or it was taken back already.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        first_state = await self.session_service.first_state(ctx.session.key)
        await self._commit(ctx, await rewind_event(ctx.session, first_state, self.artifact_service, rewind_before_invocation_id))

    @abc.abstractmethod
    async def _context_for_edit(self, user_id: str, session_id: str) -> InvocationContext:
        """Return the context of the run in a session, or a new one over the session as it is stored."""

    @abc.abstractmethod
    async def _commit(self, ctx: InvocationContext, event: Event) -> None:
        """Append an event to the context's session."""
