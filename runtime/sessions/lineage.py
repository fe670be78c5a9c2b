"""The origin of forks.

A fork is an independent session: it has the events, times and ids of its parent up to one event, and continues from there. Its origin is
stored in the commit record of its creation (`tables.COMMITS`), so that it is deleted, converted and copied with the session.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from runtime.sessions.note import Note
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import Scope

if TYPE_CHECKING:
    from runtime.events.event import Event

# The difference between a fork and its parent: another user message, a re-run, another model answer, another tool result.
What = Literal["message", "rerun", "answer", "result"]


@dataclass(frozen=True, slots=True)
class Changed:
    """The user's change in a fork.

    Attributes:
        what: see `What`.
        event_id: the parent's event that was changed, if any.
        before, after: JSON values, as far as they are known.
    """

    what: What
    event_id: str | None = None
    before: Any = None
    after: Any = None


@dataclass(frozen=True, slots=True)
class Lineage:
    """The origin of a fork.

    Attributes:
        parent: the parent session.
        database: the parent's database, as a file path or a URL without password; None for the fork's own database.
        event_id: the last copied event; None if none was copied.
        event_count: number of copied events.
        at: time of the fork, epoch seconds.
        changed: the change, or None if nothing has been changed yet.
    """

    parent: SessionKey
    database: str | None
    event_id: str | None
    event_count: int
    at: float
    changed: Changed | None = None


class PastWrite(NamedTuple):
    """A write by another session to `user:` or `app:` in a fork's past; see `runtime.history.state_at.SharedWrite`."""

    before: int
    delta: Mapping[str, Any]
    complete: Scope | None = None


@dataclass(frozen=True, slots=True)
class SessionCopy:
    """A session as it was after one of its events, to be stored under another key or in another database.

    Attributes:
        events: the events in commit order, without `temp:` keys.
        state: the session's own keys after the last of these events.
        baseline: the session's own initial state; None if it was not recorded.
        user, app: shared keys (with prefix) to be set if they do not exist; empty in the parent's own database.
        shared: the writes of other sessions to shared keys until then.
        temp: `temp:` deltas by event id.
        created: time of the parent's creation, epoch seconds.
        lineage: the origin of a fork; None for a session that was imported from a file.
        notes: the notes on these events, by event id.
    """

    events: Sequence[Event]
    state: dict[str, Any]
    baseline: dict[str, Any] | None
    user: dict[str, Any]
    app: dict[str, Any]
    shared: list[PastWrite]
    temp: dict[str, dict[str, Any]]
    created: float
    lineage: Lineage | None
    notes: Mapping[str, Note] = field(default_factory=dict)


def dump_origin(lineage: Lineage | None, shared: Sequence[PastWrite]) -> str:
    """Return a copied session's origin as JSON text.

    Args:
        lineage: the origin of a fork; None for an imported session.
        shared: the writes of other sessions to shared keys in its past, and the values of these keys at the copy.
    """
    writes = [[write.before, dict(write.delta), write.complete] for write in shared]
    if lineage is None:
        return json.dumps({"parent": None, "shared": writes})
    changed = lineage.changed
    return json.dumps(
        {
            "parent": lineage.parent,
            "database": lineage.database,
            "event_id": lineage.event_id,
            "event_count": lineage.event_count,
            "at": lineage.at,
            "changed": changed and {"what": changed.what, "event_id": changed.event_id, "before": changed.before, "after": changed.after},
            "shared": writes,
        }
    )


def read_origin(text: str | None) -> tuple[Lineage | None, list[PastWrite]] | None:
    """Return what `dump_origin` wrote; None if there is nothing or it cannot be read.

    Args:
        text: the text in the commit record of the session's creation.
    """
    try:
        stored = json.loads(text or "null")
        if not isinstance(stored, dict):
            return None
        shared = [PastWrite(int(before), dict(delta), complete) for before, delta, complete in stored["shared"]]
        if stored["parent"] is None:
            return None, shared
        changed = stored["changed"]
        lineage = Lineage(
            parent=SessionKey(*map(str, stored["parent"])),
            database=stored["database"],
            event_id=stored["event_id"],
            event_count=int(stored["event_count"]),
            at=float(stored["at"]),
            changed=Changed(**changed) if changed else None,
        )
        return lineage, shared
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
