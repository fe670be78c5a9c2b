"""Rewind: what taking back invocations restores. Nothing is deleted: one more event marks what is taken back, and its deltas restore it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from runtime.artifacts.artifact_names import USER_PREFIX
from runtime.artifacts.base_artifact_service import ERASED, BaseArtifactService
from runtime.errors.not_found_error import InvocationNotFoundError
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.history.explanation import explain
from runtime.history.rewound import without_rewound
from runtime.history.state_at import History
from runtime.sessions.session import Session
from runtime.sessions.state import same_value, scope_of
from runtime.support.ids import new_invocation_id

logger = logging.getLogger(__name__)


def start_of(events: Sequence[Event], invocation_id: str) -> int:
    """Return the index of an invocation's first event.

    Args:
        events: the session's, in commit order.
        invocation_id: an invocation that has not been taken back.

    Raises:
        InvocationNotFoundError: the session has no such invocation, or a rewind has already taken it back.
    """
    remaining = {event.invocation_id for event in without_rewound(events)}
    for index, event in enumerate(events):
        if event.invocation_id == invocation_id:
            if invocation_id not in remaining:
                raise InvocationNotFoundError(f"Invocation ID not found: {invocation_id}. A rewind has already taken it back.")
            return index
    raise InvocationNotFoundError(f"Invocation ID not found: {invocation_id}. The session has no such invocation.")


async def rewind_event(
    session: Session, first_state: Mapping[str, Any] | None, artifact_service: BaseArtifactService | None, invocation_id: str
) -> Event:
    """Restore the session's files to their versions before an invocation; return the event that rewinds it and all later invocations.

    Args:
        session: its present state.
        first_state: the session's own state at its creation; None if it was not recorded. Keys whose earlier value is then unknown become
            null, as in google-adk, and are logged.
        artifact_service: stores the files; None: they stay unchanged, which is logged.
        invocation_id: the first invocation to take back.

    Raises:
        InvocationNotFoundError: the session has no such invocation, or a rewind has already taken it back.
    """
    start = start_of(session.events, invocation_id)
    state_delta, unknown = restoring_delta(session, first_state, start)
    if unknown:
        logger.warning(
            "The first state of session %s was not recorded, so the rewind clears these keys: %s", session.id, ", ".join(unknown)
        )
    actions = EventActions(
        rewind_before_invocation_id=invocation_id,
        state_delta=state_delta,
        artifact_delta=await _restore_artifacts(artifact_service, session, start),
    )
    return Event(invocation_id=new_invocation_id(), author="user", actions=actions)


def restoring_delta(session: Session, first_state: Mapping[str, Any] | None, start: int) -> tuple[dict[str, Any], list[str]]:
    """Return the delta that restores the session's own state before an event, and its keys whose earlier value is unknown.

    `user:` and `app:` keys stay, as other sessions share them. Keys that did not exist, or whose earlier value is unknown, become null: a
    delta cannot remove a key.

    Args:
        session: its present state.
        first_state: the session's own state at its creation; None if it was not recorded.
        start: index of the event.
    """
    merge_patched_keys: set[str] = set()
    if first_state is None:
        writes: dict[str, list[Any]] = {}
        for event in session.events:
            for key, value in event.actions.state_delta.items():
                writes.setdefault(key, []).append(value)
        merge_patched_keys, _ = explain(writes, session.state)
    history = History(session.events, baseline=first_state, present=session.state, merge_patched_keys=merge_patched_keys)
    then = history.state_at(start - 1)
    now = {key: value for key, value in session.state.items() if scope_of(key) == "session"}
    unknown = sorted(key for key in then.unknown if key in now and key not in then.session)
    delta = {key: value for key, value in then.session.items() if key not in now or not same_value(now[key], value)}
    return delta | {key: None for key, value in now.items() if key not in then.session and value is not None}, unknown


async def _restore_artifacts(service: BaseArtifactService | None, session: Session, start: int) -> dict[str, int]:
    """Restore the session's files to their versions before an event; return the new version of each restored file."""
    before = versions_after(session.events[:start])
    changed = changed_files(session.events, start)
    if service is None:
        if changed:
            logger.warning("The Runner has no artifact service, so the rewind leaves these files unchanged: %s", ", ".join(changed))
        return {}
    names: dict[str, Any] = {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}
    delta = {}
    for name in changed:
        old = await service.load_artifact(**names, filename=name, version=before[name]) if name in before else None
        delta[name] = await service.save_artifact(**names, filename=name, artifact=ERASED if old is None else old)
    return delta


def changed_files(events: Sequence[Event], start: int) -> list[str]:
    """Return the sorted names of the session's own files that changed since the event at `start`."""
    before, now = versions_after(events[:start]), versions_after(events)
    return sorted(name for name, version in now.items() if before.get(name) != version and not name.startswith(USER_PREFIX))


def versions_after(events: Sequence[Event]) -> dict[str, int]:
    """Return the version of each file after the events."""
    versions: dict[str, int] = {}
    for event in events:
        versions.update(event.actions.artifact_delta)
    return versions
