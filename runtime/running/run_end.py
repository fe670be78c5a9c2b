"""The record of how a run ended, where its events do not tell."""

from __future__ import annotations

import logging

from runtime.contexts.invocation_context import InvocationContext
from runtime.errors.storage_error import StaleSessionError
from runtime.events.event import Event
from runtime.events.marks import agent_key
from runtime.history.run_ends import end_of
from runtime.history.turns import closes_turn
from runtime.sessions.base_session_service import BaseSessionService

logger = logging.getLogger(__name__)


async def is_recorded_as_finished(service: BaseSessionService, ctx: InvocationContext) -> bool:
    """Return whether the last run of a context's invocation finished it."""
    events = ctx.invocation_events()
    end = (await service.recorded_ends(ctx.session.key)).get(ctx.invocation_id) if events else None
    return end is not None and end.status == "finished" and end.last_event_id == events[-1].id


async def record_end(service: BaseSessionService, ctx: InvocationContext, error: Exception | None) -> None:
    """Record how a run ended, unless its events tell. A failure to do so is logged and fails nothing.

    Args:
        service: stores the session.
        ctx: the run.
        error: what the run raised; None if it ended normally.
    """
    last = ctx.last_event()
    if last is None or isinstance(error, StaleSessionError):  # another run drives it
        return
    if error is None and ctx.shared.resumed is None and _is_plain_answer(ctx, last):
        return
    try:
        known = (await service.recorded_ends(ctx.session.key)).get(ctx.invocation_id) if ctx.shared.resumed is not None else None
        if known is None and not ctx.shared.has_resumed_mark:
            return  # this run changed nothing
        end = end_of(ctx.invocation_events(), error, known)
        if end is not None:
            await service.record_end(ctx.session.key, ctx.invocation_id, end)
    except Exception as failed:
        logger.warning("The end of invocation %s could not be recorded: %s", ctx.invocation_id, failed)


def _is_plain_answer(ctx: InvocationContext, event: Event) -> bool:
    """Return whether the events of a new run certainly tell that it is finished, which is the usual case."""
    if event.actions.end_of_agent:
        return bool(agent_key(event) == ctx.places.key(ctx.agent.root_agent))
    said = event.content is not None and event.author != "user" and event.error_code is None and not event.long_running_tool_ids
    return bool(said and not ctx.is_resumable and closes_turn(event))
