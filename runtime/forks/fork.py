"""A fork: a session's contents after one of its events, as a new session. The original session is only read.

The fork has the events up to there with their ids and times, the state at creation and after each event, and the session's files as they
were. `user:` and `app:` keys are shared: in the same database, the fork sees their present values; in another one, they are set to their
values of that moment where they do not exist yet.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.errors.already_exists_error import AlreadyExistsError
from runtime.errors.known_error import KnownError
from runtime.errors.not_found_error import NotFoundError
from runtime.errors.storage_error import StorageError
from runtime.events.credentials import without_credentials
from runtime.events.plain_event import whole_event
from runtime.forks.files import FilesCopied, copy_files, remove_files
from runtime.history.scoped_state import ScopedState
from runtime.history.state_at import History
from runtime.sessions.lineage import Changed, Lineage, PastWrite, SessionCopy
from runtime.sessions.note import Note
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import independent
from runtime.storage.connections.database_url import database_url, file_of, named_file, without_password
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.support.file_names import unusable_name
from runtime.support.ids import new_uuid
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.artifacts.base_artifact_service import BaseArtifactService
    from runtime.events.event import Event
    from runtime.sessions import base_session_service
    from runtime.sessions.base_session_service import BaseSessionService
else:
    base_session_service = lazy_module("runtime.sessions.base_session_service")


class ForkError(KnownError):
    """A session cannot be forked this way; the message says why."""


@dataclass(frozen=True, slots=True)
class Fork:
    """A session that was made from another one.

    Attributes:
        key: the new session.
        database: the path or URL (no password) that it was requested in; None for a given service.
        lineage: its origin.
        notes: sentences for the person who forks.
    """

    key: SessionKey
    database: str | None
    lineage: Lineage
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cut:
    """The point at which a fork separates from its session, and the fork's id.

    Attributes:
        at: id of the last event to copy; None copies all events.
        before: instead of `at`, the first event that is not copied. An invocation's first event is its user's message.
        session_id: the new session's id; None for a generated one.
        changed: what will be different in the fork; recorded in its lineage.
        credentials: also copy the credentials that people gave to the session's agents.
        files_at: copy the files as they were after this event, for a run that is repeated up to there; None: as of the last copied event.
    """

    at: str | None = None
    before: str | None = None
    session_id: str | None = None
    changed: Changed | None = None
    files_at: str | None = None
    credentials: bool = False


@dataclass(frozen=True, slots=True)
class Files:
    """The services with the session's files and for the fork's files; the same one if only `source` is given."""

    source: BaseArtifactService
    target: BaseArtifactService | None = None


async def fork_session(
    source: str,
    key: SessionKey,
    cut: Cut | None = None,
    *,
    into: str | None = None,
    files: Files | None = None,
    notes: Mapping[str, Note] | None = None,
) -> Fork:
    """Fork a session of any database that can be read.

    Args:
        source: path or URL of the session's database.
        key: the session.
        cut: the fork's last event and id; by default all events and a generated id.
        into: path or URL of the fork's database, created if it does not exist. None: the same database, if it is ours. Naming another
            program's database here, even the same one, is the consent to write into it; a backup is made first.
        files: the service that has the session's files, and the service that receives the fork's.
        notes: the notes on the session's events, by event id; None: those in its database.

    Returns:
        The new session.

    Raises:
        ForkError: the database is another program's and `into` was not given.
        SessionNotFoundError: the session does not exist.
        NotFoundError: the session has no such event.
        AlreadyExistsError: the new session's id is taken.
        StorageError: a database cannot be read or written.
    """
    history, created, ours, ends, stored_notes = await run_in_thread(lambda: _read(source, key))
    if into is not None and (file := named_file(into)) is not None and (reason := unusable_name(file)):
        raise StorageError(f"{into} {reason}.")
    same_place = into is None or _same(source, into)
    if into is None and not ours:
        raise ForkError(
            f"{without_password(source)} was written by another program. Name a database for the fork with `into` (--into): a"
            " new one, or the same one; then a backup is made beside it and our own tables are added."
        )
    target = source if into is None else into
    service = await run_in_thread(lambda: open_session_service(target))
    async with service:
        fork = await fork_into(
            service,
            history,
            key,
            created,
            cut,
            same_place=same_place,
            database=_name(source),
            files=files,
            ends=ends,
            notes=stored_notes if notes is None else notes,
        )
    return Fork(fork.key, without_password(target), fork.lineage, fork.notes)


async def fork_into(
    service: BaseSessionService,
    history: History,
    key: SessionKey,
    created: float,
    cut: Cut | None = None,
    *,
    same_place: bool,
    database: str | None,
    files: Files | None = None,
    ends: Mapping[str, RecordedEnd] | None = None,
    notes: Mapping[str, Note] | None = None,
) -> Fork:
    """Fork a session into an open service; for what is not listed here, see `fork_session`.

    Args:
        service: stores the fork.
        history: the session's history; nothing else may use it during the call.
        created: when the session was created, epoch seconds.
        same_place: whether the service also stores the original session.
        database: the name of the session's database, for the lineage of a fork elsewhere.
        ends: the recorded ends of the session's invocations.
        notes: the notes on its events, by event id; those on copied events are copied.

    Raises:
        NotFoundError: the session has no such event.
        AlreadyExistsError: the new session's id is taken.
        StorageError: the fork cannot be stored.
    """
    cut = cut or Cut()
    index = index_of_cut(history.events, cut)
    fork_key = SessionKey(key.app_name, key.user_id, (cut.session_id or "").strip() or new_uuid())
    last = history.events[index].id if index >= 0 else None
    lineage = Lineage(key, None if same_place else database, last, index + 1, time.time(), cut.changed)
    # Reading a long session takes a second; a window must be able to draw meanwhile.
    copy, then = await run_in_thread(lambda: _copy(history, index, created, lineage, same_place=same_place))
    if notes:
        copy = replace(copy, notes={event.id: notes[event.id] for event in copy.events if event.id in notes})
    if not cut.credentials:
        copy = replace(copy, events=[without_credentials(event, shown=None) for event in copy.events])
    if await service.get_session(**_names(fork_key), config=base_session_service.GetSessionConfig(num_recent_events=0)) is not None:
        # Checked before a file is copied: files under this id belong to the existing session.
        raise AlreadyExistsError(f"Session with id {fork_key.session_id} already exists.")
    with_files = history.events[: (_index(history.events, cut.files_at) if cut.files_at else index) + 1]
    copied = await copy_files(files.source, files.target or files.source, key, fork_key, with_files) if files else FilesCopied()
    try:
        await service.store_copy(fork_key, copy)
    except BaseException as error:
        if files and not isinstance(error, AlreadyExistsError):
            await remove_files(files.target or files.source, fork_key, copied)
        raise
    taken_over = {event.id for event in copy.events}
    for name, end in (ends or {}).items():
        if end.last_event_id in taken_over:
            await service.record_end(fork_key, name, end)
    return Fork(fork_key, None, lineage, [*_notes(then, same_place), *copied.notes(with_files, asked=files is not None)])


def session_copy(history: History, created: float, lineage: Lineage | None = None) -> SessionCopy:
    """Return a copy of a whole session for another database.

    Args:
        history: the session's history.
        created: when the session was created, epoch seconds.
        lineage: its own origin, if it is a fork.
    """
    return _copy(history, len(history.events) - 1, created, lineage, same_place=False)[0]


def _copy(history: History, index: int, created: float, lineage: Lineage | None, *, same_place: bool) -> tuple[SessionCopy, ScopedState]:
    """Return the fork's contents, and the state at that moment."""
    events = [_as_taken_over(history, place) for place in range(index + 1)]
    then = history.state_at(index)
    copy = SessionCopy(
        events=events,
        state=independent(then.session),
        baseline=None if history.baseline is None else dict(history.baseline),
        user={} if same_place else independent(then.user),
        app={} if same_place else independent(then.app),
        shared=[PastWrite(write.before, write.delta, write.complete) for write in history.shared_until(index)],
        temp={event.id: dict(temp) for event in events if (temp := history.temp_of(event.id))},
        created=created or (events[0].timestamp if events else lineage.at if lineage is not None else 0.0),
        lineage=lineage,
    )
    return copy, then


def index_of_cut(events: Sequence[Event], cut: Cut) -> int:
    """Return the index of the last event that a fork copies; -1 for none.

    Raises:
        NotFoundError: the event does not exist.
    """
    if cut.before is not None:
        return _index(events, cut.before) - 1
    return _index(events, cut.at) if cut.at is not None else len(events) - 1


def _index(events: Sequence[Event], event_id: str) -> int:
    for index, event in enumerate(events):
        if event.id == event_id:
            return index
    raise NotFoundError(f"The session has no event {event_id!r}.")


def _names(key: SessionKey) -> dict[str, Any]:
    return {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id}


def _read(source: str, key: SessionKey) -> tuple[History, float, bool, dict[str, RecordedEnd], dict[str, Note]]:
    with StoredDatabase.open(source) as database:
        ends, notes = database.recorded_ends(key).get(key, {}), database.notes(key).get(key, {})
        return database.history(key), database.created(key), database.layout.ours, ends, notes


def _same(source: str, into: str) -> bool:
    one, other = database_url(source), database_url(into)
    file, other_file = file_of(one), file_of(other)
    if file is None or other_file is None:
        return one == other
    return file.resolve() == other_file.resolve()


def _name(source: str) -> str:
    file = named_file(source)
    return str(file.resolve()) if isinstance(file, Path) else without_password(source)


def _as_taken_over(history: History, index: int) -> Event:
    """Return an event with its delta in our form: complete values, and no `temp:` keys, which google-adk stored up to 1.16."""
    event = whole_event(history.events[index])
    delta = history.whole_delta(index)
    if all(delta.get(key, event) is value for key, value in event.actions.state_delta.items()):
        return event
    return event.model_copy(update={"actions": event.actions.model_copy(update={"state_delta": delta})})


def _notes(then: ScopedState, same_place: bool) -> list[str]:
    notes = []
    if then.unknown:
        notes.append(f"These keys' values at that moment were not recorded, so the fork does not have them: {', '.join(then.unknown)}.")
    shared = sorted([*then.user, *then.app])
    if shared and same_place:
        notes.append(f"These keys are shared with other sessions; the fork sees their present values: {', '.join(shared)}.")
    return notes
