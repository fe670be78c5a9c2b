"""Changes to a session without running an agent: manual state edits, cancelled calls, progress reports, rewinds."""

from __future__ import annotations

import abc
from typing import Any

from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.contexts.invocation_context import InvocationContext
from runtime.contexts.run_config import RunConfig
from runtime.events.event import Event
from runtime.events.marks import SYSTEM
from runtime.running.rewind import rewind_event
from runtime.running.system_events import StateEditError, cancelled_calls, progress, state_edit, state_edit_undone
from runtime.sessions.base_session_service import BaseSessionService


class SessionEdits(abc.ABC):
    """The Runner's methods that change a session by committing events of their own, so that the history records every change.

    If this Runner has an active run in the session, the change goes through that run, and its agents see it when they resume.

    Raises:
        SessionNotFoundError: by each method: the session does not exist.
    """

    session_service: BaseSessionService
    artifact_service: BaseArtifactService | None

    async def edit_state(self, *, user_id: str, session_id: str, changes: dict[str, Any], author: str = SYSTEM) -> Event:
        """Set state keys manually, with a committed event. This also works during a run of this Runner in that session.

        Args:
            changes: key with scope prefix → JSON value; None clears a key.
            author: the event's author; only an edit by `system` can be undone.

        Returns:
            The committed event; it records the earlier values, for `undo_state_edit`.

        Raises:
            StateEditError: the edit changes nothing, or a key cannot be edited.
            UnstorableValueError: a value is not JSON.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        event = state_edit(changes, ctx.shared.committed_state, ctx.invocation_id, author)
        await self._commit(ctx, event)
        return event

    async def undo_state_edit(self, *, user_id: str, session_id: str, event_id: str) -> Event:
        """Undo an `edit_state` by committing the inverse event.

        Raises:
            StateEditError: there is no such edit, or a key has changed since.
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
        """Commit a "cancelled" response for each call that a stopped run left without a result, so that the conversation can continue.

        A resumed run does not make these calls again. Calls that wait for a person or a long-running job keep waiting.

        Args:
            edits: manual edits of these calls: `Interception.unmarked_edits`.

        Returns:
            The committed events; none if every call has a result.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        events = cancelled_calls(ctx.session.events, invocation_id, edits)
        for event in events:
            await self._commit(ctx, event)
        return events

    async def report_progress(self, *, user_id: str, session_id: str, call_id: str, response: dict[str, Any]) -> Event:
        """Report the progress of a long-running call. No agent runs; the call stays open until a function response of the user answers it.

        Args:
            response: the function response's object, such as `{"status": "pending", "done": 0.4}`.

        Raises:
            ProgressError: there is no such call, it is not long-running, or it is already answered.
            UnstorableValueError: the response is not JSON.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        event = progress(ctx.session.events, call_id, response)
        await self._commit(ctx, event)
        return event

    async def rewind_async(
        self, *, user_id: str, session_id: str, rewind_before_invocation_id: str, run_config: RunConfig | None = None
    ) -> None:
        """Take back an invocation and all later ones.

        The session's own state, including keys from its creation, and its files are restored; `user:` and `app:` keys and files stay.
        Agents no longer see the events that were taken back; the session keeps them.

        Args:
            rewind_before_invocation_id: the first invocation to take back.
            run_config: not used, as in google-adk; a rewind reads the whole session.

        Raises:
            InvocationNotFoundError: the session has no such invocation, or a rewind has already taken it back.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        first_state = await self.session_service.first_state(ctx.session.key)
        await self._commit(ctx, await rewind_event(ctx.session, first_state, self.artifact_service, rewind_before_invocation_id))

    @abc.abstractmethod
    async def _context_for_edit(self, user_id: str, session_id: str) -> InvocationContext:
        """Return the context of the session's active run, or a new one over the stored session."""

    @abc.abstractmethod
    async def _commit(self, ctx: InvocationContext, event: Event) -> Event:
        """Append an event to the context's session, and return the stored snapshot."""
