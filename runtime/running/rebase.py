"""Events that others append to a session while a run commits to it.

The run's copy of the session is brought up to date and the run continues, unless both sides changed the same session key.
"""

from __future__ import annotations

from collections.abc import Iterable

from runtime.contexts.invocation_context import InvocationContext
from runtime.errors.storage_error import StaleSessionError
from runtime.events.event import Event
from runtime.events.marks import is_progress, is_state_edit
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.session import Session
from runtime.sessions.state import same_value, scope_of
from runtime.support.structural_copy import structural_copy

_UNSET = object()


async def append_rebased(service: BaseSessionService, ctx: InvocationContext, event: Event) -> None:
    """Append a run's event to its session, after the events that others appended since the run's last commit.

    Raises:
        StaleSessionError: both sides changed a session key, or the other side runs or rewinds the same invocation.
        Exception: what `append_event` raises.
    """
    while True:
        try:
            await service.append_event(ctx.session, event)
        except StaleSessionError as error:
            await _catch_up(service, ctx, event, error)
        else:
            return


async def _catch_up(service: BaseSessionService, ctx: InvocationContext, event: Event, error: StaleSessionError) -> None:
    """Bring a run's session up to date, or raise."""
    session = ctx.session
    stored = await service.session_for_run(app_name=session.app_name, user_id=session.user_id, session_id=session.id)
    known = _number_known(session, stored) if stored is not None else 0
    if stored is None or len(stored.events) <= known:
        raise error  # it was deleted, or another session has its name; or nothing is new, such as for an event with a used id
    added = stored.events[known:]
    theirs = {key for each in added for key in each.actions.state_delta}
    mine = _uncommitted_keys(ctx, theirs) | theirs.intersection(event.actions.state_delta)
    _check(ctx, event, added, {key for key in mine if scope_of(key) == "session"}, error)
    for key in theirs:
        ctx.shared.committed_state[key] = stored.state[key]
        if key not in mine:
            session.state[key] = structural_copy(stored.state[key])
    session.events.add_committed(added)
    session.last_update_time = stored.last_update_time
    session._revision = stored._revision


def _number_known(session: Session, stored: Session) -> int:
    """Return the number of stored events up to the last one of the run's copy; all of them if it is not stored.

    The copy may begin later than the stored session (`RunConfig.get_session_config`).
    """
    if not session.events:
        return 0
    last = session.events[-1].id
    return next((number for number in range(len(stored.events), 0, -1) if stored.events[number - 1].id == last), len(stored.events))


def _check(ctx: InvocationContext, event: Event, added: Iterable[Event], conflicts: set[str], error: StaleSessionError) -> None:
    name = ctx.session.id
    for other in added:
        if other.id == event.id:
            raise error
        if _drives(ctx, other):
            raise StaleSessionError(
                f"Invocation {ctx.invocation_id} of session {name} is being run elsewhere. Stop one of the runs; the other can be resumed."
            ) from error
        if other.actions.rewind_before_invocation_id:
            raise StaleSessionError(f"Session {name} was rewound while this invocation ran. Send the message again.") from error
    if conflicts:
        keys = ", ".join(sorted(conflicts))
        raise StaleSessionError(f"Session {name} was changed elsewhere during this run, in the same state keys: {keys}.") from error


def _drives(ctx: InvocationContext, other: Event) -> bool:
    """Return whether an event was committed by another run of this invocation."""
    if other.invocation_id != ctx.invocation_id or is_progress(other) or is_state_edit(other):
        return False
    return other.author == "user" or ctx.agent.root_agent.find_agent(other.author) is not None


def _uncommitted_keys(ctx: InvocationContext, keys: Iterable[str]) -> set[str]:
    """Return those of the keys whose value in the run's state is not the committed one."""
    state, committed = ctx.session.state, ctx.shared.committed_state
    return {key for key in keys if not same_value(state.get(key, _UNSET), committed.get(key, _UNSET))}
