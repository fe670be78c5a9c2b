"""A preview of a rewind, computed from the session's past alone.

`Runner.rewind_async` performs it. It deletes nothing; fork the session first to keep a copy without the rewind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runtime.artifacts.artifact_names import USER_PREFIX
from runtime.events.event import Event
from runtime.events.kinds import text_of
from runtime.events.marks import REQUEST_CALLS, TRANSFER_CALL
from runtime.history.invocations import Status, invocations
from runtime.history.rewound import without_rewound
from runtime.history.state_at import History
from runtime.running.rewind import changed_files, restoring_delta, start_of, versions_after
from runtime.sessions.event_list import EventList
from runtime.sessions.session import Session, SessionKey
from runtime.sessions.state import Change, scope_of


@dataclass(frozen=True, slots=True)
class UndoneInvocation:
    """An invocation that is taken back.

    Attributes:
        invocation_id: its id.
        message: the text that started it.
        events: the number of its events.
        status: its status before the rewind.
    """

    invocation_id: str
    message: str
    events: int
    status: Status


@dataclass(frozen=True, slots=True)
class UndoneFile:
    """A file that is restored to an earlier version.

    Attributes:
        name: the file's name.
        now: its present version.
        then: the restored version; None: the file did not exist and becomes empty.
    """

    name: str
    now: int
    then: int | None


@dataclass(frozen=True, slots=True)
class RewindPlan:
    """What a rewind takes back, and what it leaves.

    Attributes:
        invocation_id: the first invocation that is taken back.
        first_event_id: its first event; a fork before this event keeps the session as it was.
        undone: the invocations, in order.
        state: the session's own keys that change, from their present to their restored value; null for a key that did not exist.
        unknown: the keys among them that are cleared because their earlier value was not recorded.
        files: the session's files that change.
        stays: `user:` and `app:` keys, and `user:` files, that the invocations wrote; they stay unchanged.
        tools: tool name → how often it returned in these invocations; its effects outside the session are not undone.
    """

    invocation_id: str
    first_event_id: str
    undone: tuple[UndoneInvocation, ...]
    state: tuple[Change, ...]
    unknown: tuple[str, ...]
    files: tuple[UndoneFile, ...]
    stays: tuple[str, ...]
    tools: Mapping[str, int]


def rewind_plan(history: History, key: SessionKey, present: Mapping[str, Any], invocation_id: str) -> RewindPlan:
    """Return what taking back an invocation and all later ones would do.

    Raises:
        InvocationNotFoundError: the session has no such invocation, or a rewind has already taken it back.
    """
    events = history.events
    start = start_of(events, invocation_id)
    session = Session.construct_unchecked(key, dict(present), 0.0)
    session.events = EventList(events)
    delta, unknown = restoring_delta(session, history.baseline, start)
    undone = _undone(events, start)
    later = [event for event in events[start:] if event.invocation_id in {each.invocation_id for each in undone}]
    before, now = versions_after(events[:start]), versions_after(events)
    return RewindPlan(
        invocation_id=invocation_id,
        first_event_id=events[start].id,
        undone=undone,
        state=tuple(_change(name, value, present) for name, value in delta.items()),
        unknown=tuple(unknown),
        files=tuple(UndoneFile(name, now[name], before.get(name)) for name in changed_files(events, start)),
        stays=tuple(_shared(later)),
        tools=_tools(later),
    )


def _undone(events: Sequence[Event], start: int) -> tuple[UndoneInvocation, ...]:
    remaining = {event.id for event in without_rewound(events)}
    ids = dict.fromkeys(event.invocation_id for event in events[start:] if event.id in remaining)
    found = {each.invocation_id: each for each in invocations(events)}
    return tuple(_invocation(events, name, found[name].status) for name in ids)


def _invocation(events: Sequence[Event], invocation_id: str, status: Status) -> UndoneInvocation:
    own = [event for event in events if event.invocation_id == invocation_id]
    message = next((text_of(event) for event in own if event.author == "user" and event.content), "")
    return UndoneInvocation(invocation_id, message, len(own), status)


def _change(name: str, value: Any, present: Mapping[str, Any]) -> Change:
    return Change(name, present.get(name), value, "changed" if name in present else "added")


def _shared(events: Sequence[Event]) -> list[str]:
    keys = {key for event in events for key in event.actions.state_delta if scope_of(key) in ("user", "app")}
    files = {name for event in events for name in event.actions.artifact_delta if name.startswith(USER_PREFIX)}
    return [*sorted(keys), *(f"file {name}" for name in sorted(files))]


def _tools(events: Sequence[Event]) -> dict[str, int]:
    """Return how often each tool returned, without requests to a person and transfers: these have no effects outside the session."""
    names = (response.name or "?" for event in events for response in event.get_function_responses())
    return dict(Counter(name for name in names if name not in REQUEST_CALLS and name != TRANSFER_CALL))
