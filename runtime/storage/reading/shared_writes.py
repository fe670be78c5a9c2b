"""Writes of a `user:` or `app:` key by all sessions that share it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from runtime.history.key_writers import Write, in_order, write_by
from runtime.history.turn_writes import turns_of
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import State
from runtime.storage.layouts.column_values import load_json_object
from runtime.storage.layouts.table_names import COMMITS
from runtime.storage.reading.event_rows import EventRows, ReadingConnection

if TYPE_CHECKING:
    from runtime.events.event import Event

_NOTHING = object()


class SharedCommit(NamedTuple):
    """A commit that wrote the key, or that recorded the complete state of its scope (`is_complete`).

    `session_id` is empty if it is unknown or the session was deleted. `value` is `_NOTHING` if the complete state lacks the key.
    """

    user_id: str
    session_id: str
    event_id: str | None
    value: Any
    is_complete: bool = False


def read_shared_commits(connection: ReadingConnection, rows: EventRows, key: SessionKey, name: str, *, ours: bool) -> list[SharedCommit]:
    """Return the commits that wrote a shared key, in commit order.

    Args:
        connection: a connection in a transaction.
        rows: the reader of the database's events.
        key: a session that shares the state key.
        name: the state key.
        ours: whether the database has our record of commits.
    """
    found = list(_recorded(connection, key, name)) if ours else []
    # The session's own events come without their delta; the value None means that the event has to be read.
    for user_id, session_id, event_id, delta in rows.unrecorded(connection, key) if ours else rows.written(connection, key):
        own = not ours and (user_id, session_id) == (key.user_id, key.session_id)
        if own or (name in delta and _shares(key, user_id, name)):
            found.append(SharedCommit(user_id, session_id, event_id, None if own else delta[name]))
    return found


def _recorded(connection: ReadingConnection, key: SessionKey, name: str) -> Iterator[SharedCommit]:
    rows = connection.execute(
        f"SELECT user_id, session_id, event_id, shared FROM {COMMITS} WHERE app_name = ? AND shared IS NOT NULL ORDER BY seq",
        key[:1],
    )
    of_user = name.startswith(State.USER_PREFIX)
    for user_id, session_id, event_id, shared in rows:
        delta = load_json_object(shared)
        is_complete = session_id == "" and event_id is None and bool(user_id) == of_user
        if _shares(key, user_id, name) and (is_complete or name in delta):
            yield SharedCommit(user_id, session_id, event_id, delta.get(name, _NOTHING), is_complete)


def _shares(key: SessionKey, user_id: str, name: str) -> bool:
    return user_id == key.user_id or not name.startswith(State.USER_PREFIX)


def shared_writes(
    key: SessionKey, name: str, commits: Iterable[SharedCommit], events_of: Callable[[SessionKey], list[Event]]
) -> list[Write]:
    """Return the writes of a shared key, the oldest first.

    Args:
        key: a session that shares the state key.
        name: the state key.
        commits: the commits that wrote the key.
        events_of: reads a session's events.
    """
    read: dict[SessionKey, dict[str, Event]] = {}
    turns: dict[SessionKey, Mapping[str, Any]] = {}
    writes: list[Write] = []
    complete = False
    for commit in commits:
        session = SessionKey(key.app_name, commit.user_id, commit.session_id)
        if commit.is_complete and not writes:
            complete = commit.value is _NOTHING
        if commit.event_id and session not in read:
            read[session] = {event.id: event for event in events_of(session)}
            turns[session] = turns_of(read[session].values())
        event = read[session].get(commit.event_id) if commit.event_id else None
        if event is not None and name in event.actions.state_delta:
            before = writes[-1].after if writes else None
            writes.append(write_by(event, session, turns[session], before, event.actions.state_delta[name]))
        elif event is None and commit.value is not _NOTHING:
            writes.append(Write(session, None, "", None, (), "", 0.0, None, commit.value, known=False))
    return in_order(writes, complete=complete)
