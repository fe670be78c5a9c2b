"""What a rewind will do, from the session's past alone: to be read before it is done.

`Runner.rewind_async` does it. Nothing is deleted by it; to keep what is taken back as it is, fork the session instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runtime.artifacts.artifact_names import USER_PREFIX
from runtime.events.event import Event
from runtime.events.kinds import REQUEST_TOOLS, TRANSFER_TOOL, text_of
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
        invocation_id: which.
        message: the text that began it.
        events: how many it has.
        status: how it stood.
    """

    invocation_id: str
    message: str
    events: int
    status: Status


@dataclass(frozen=True, slots=True)
class UndoneFile:
    """A file that is saved anew as it was.

    Attributes:
        name: of the file.
        now: its version.
        then: the version it gets back; None: it did not exist and becomes empty.
    """

    name: str
    now: int
    then: int | None


@dataclass(frozen=True, slots=True)
class RewindPlan:
    """What a rewind takes back, and what it cannot.

    Attributes:
        invocation_id: everything from this invocation on is taken back.
        first_event_id: its first event; a fork before it keeps the session as it is.
        undone: the invocations, in order.
        state: the session's own keys that change, from their value now to the one they get; a key that did not exist gets null.
        unknown: keys among them that are cleared because nobody recorded what they were.
        files: the session's files that change.
        stays: `user:` and `app:` keys, and `user:` files, that the invocations wrote: they stay as they are.
        tools: name → how often it returned in these invocations; what it did to the world stays done.
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
    """Return what taking back an invocation, and all after it, will do.

    Args:
        history: of the session.
        key: the session.
        present: its merged state now.
        invocation_id: the first invocation to take back.

    Raises:
        InvocationNotFoundError: the session has no such invocation, or it was taken back already.
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
    """Return how often each tool returned; questions to a person and transfers did nothing to the world."""
    names = (response.name or "?" for event in events for response in event.get_function_responses())
    return dict(Counter(name for name in names if name not in REQUEST_TOOLS and name != TRANSFER_TOOL))
