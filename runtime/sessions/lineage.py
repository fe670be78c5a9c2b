"""Where a session was forked from, and what is stored of a fork. Plain data.

A fork is a session of its own: it has the events, times and ids of its parent up to one event, and begins anew from there. What it came
of stands in our record of its creation (`tables.COMMITS`), so that deleting, converting or copying the session takes it along.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from runtime.events.event import Event
from runtime.sessions.session import SessionKey
from runtime.sessions.state import Scope

What = Literal["message", "rerun", "answer", "result"]
"""What is different in a fork from its parent: another user message, the same run again, another model answer, another tool result."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a person changed when forking.

    Attributes:
        what: see `What`.
        event_id: the parent's event that is different in the fork; None where there was none.
        before, after: JSON values, as far as they are known.
    """

    what: What
    event_id: str | None = None
    before: Any = None
    after: Any = None


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a fork comes from.

    Attributes:
        parent: the session.
        database: which database it is in: a file's path or an URL without a password; None: the fork's own.
        event_id: the last event that was taken over; None if none was.
        event_count: how many events were taken over.
        at: when it was forked, epoch seconds.
        changed: what was changed, None if nothing was yet.
    """

    parent: SessionKey
    database: str | None
    event_id: str | None
    event_count: int
    at: float
    changed: Changed | None = None


class PastWrite(NamedTuple):
    """What others wrote to `user:` and `app:` in a fork's past; see `runtime.history.state_at.SharedWrite`."""

    before: int
    delta: Mapping[str, Any]
    complete: Scope | None = None


@dataclass(frozen=True, slots=True)
class SessionCopy:
    """A session as it was after one of its events, to be stored under another name.

    Attributes:
        events: in commit order, without `temp:` keys.
        state: its own keys after the last of them.
        baseline: its own keys when it was created; None if nobody recorded them.
        user, app: shared keys (with prefix) to be set where they do not exist yet; empty in the parent's own database.
        shared: what others wrote to shared keys until then.
        temp: `temp:` deltas by event id.
        created: when the parent was created, epoch seconds.
        lineage: where it comes from.
    """

    events: Sequence[Event]
    state: dict[str, Any]
    baseline: dict[str, Any] | None
    user: dict[str, Any]
    app: dict[str, Any]
    shared: list[PastWrite]
    temp: dict[str, dict[str, Any]]
    created: float
    lineage: Lineage


def dump_origin(lineage: Lineage, shared: Sequence[PastWrite]) -> str:
    """Return what is stored of a fork's origin, as JSON text.

    Args:
        lineage: where it comes from.
        shared: what others wrote to shared keys in its past, and what they held when it was forked.
    """
    changed = lineage.changed
    return json.dumps(
        {
            "parent": lineage.parent,
            "database": lineage.database,
            "event_id": lineage.event_id,
            "event_count": lineage.event_count,
            "at": lineage.at,
            "changed": changed and {"what": changed.what, "event_id": changed.event_id, "before": changed.before, "after": changed.after},
            "shared": [[write.before, dict(write.delta), write.complete] for write in shared],
        }
    )


def read_origin(text: str | None) -> tuple[Lineage, list[PastWrite]] | None:
    """Return what `dump_origin` stored; None if that is nothing that can be read.

    Args:
        text: of the record of a session's creation.
    """
    try:
        stored = json.loads(text or "null")
        if not isinstance(stored, dict):
            return None
        changed = stored["changed"]
        lineage = Lineage(
            parent=SessionKey(*map(str, stored["parent"])),
            database=stored["database"],
            event_id=stored["event_id"],
            event_count=int(stored["event_count"]),
            at=float(stored["at"]),
            changed=Changed(**changed) if changed else None,
        )
        return lineage, [PastWrite(int(before), dict(delta), complete) for before, delta, complete in stored["shared"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
