"""A fork: everything a session had after one of its events, as a session of its own. The session it comes from is only read.

The fork has the events up to there with their ids and times, the state that was there at its creation and after each of them, and the
session's files as they were. `user:` and `app:` keys are shared: in the same database the fork sees them as they are now; in another one
they are set as they were then, where they do not exist yet.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.errors.already_exists_error import AlreadyExistsError
from runtime.errors.known_error import KnownError
from runtime.errors.not_found_error import NotFoundError
from runtime.events.event import Event
from runtime.forks.files import FilesCopied, copy_files, remove_files
from runtime.history.scoped_state import ScopedState
from runtime.history.state_at import History
from runtime.sessions.base_session_service import BaseSessionService, GetSessionConfig
from runtime.sessions.lineage import Changed, Lineage, PastWrite, SessionCopy
from runtime.sessions.session import SessionKey
from runtime.sessions.state import independent
from runtime.storage.connections.database_url import database_url, file_of, named_file, without_password
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.support.ids import new_uuid
from runtime.support.worker_threads import run_in_thread


class ForkError(KnownError):
    """A session cannot be forked that way; the text says why."""


@dataclass(frozen=True, slots=True)
class Fork:
    """A session that was made of another one.

    Attributes:
        key: the new session.
        database: the path or URL (no password) it was asked to be in; None for a service that was given.
        lineage: where it comes from.
        notes: what a person should know, sentences.
    """

    key: SessionKey
    database: str | None
    lineage: Lineage
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a fork begins to be a session of its own, and under which name.

    Attributes:
        at: the last event that is taken over, by id; None: all of them.
        before: instead, the first event that is not taken over. The first event of an invocation is its user's message.
        session_id: the new session's; None for a new one.
        changed: what will be different in it, for its lineage.
        files_at: files as they were after this event, where a run is to be made again up to there; None: as of the last event taken over.
    """

    at: str | None = None
    before: str | None = None
    session_id: str | None = None
    changed: Changed | None = None
    files_at: str | None = None


@dataclass(frozen=True, slots=True)
class Files:
    """Where the session's files are, and where the fork's go; the same place if there is only one."""

    source: BaseArtifactService
    target: BaseArtifactService | None = None


async def fork_session(
    source: str, key: SessionKey, cut: Cut | None = None, *, into: str | None = None, files: Files | None = None
) -> Fork:
    """Fork a session of any database that can be read.

    Args:
        source: path or URL of the database it is in.
        key: the session.
        cut: where, and under which name; all of it by default.
        into: path or URL of the database the fork goes to; made if it does not exist. None: the same, if it is ours. Naming another
            program's database here, also the same one again, is the consent to write into it; a backup is made first.
        files: where the session's files are kept.

    Returns:
        The new session.

    Raises:
        ForkError: the database is another program's and `into` was not given.
        SessionNotFoundError: there is no such session.
        NotFoundError: it has no such event.
        AlreadyExistsError: the new session's id is taken.
        StorageError: a database cannot be read, or not be written.
    """
    history, created, ours = await run_in_thread(lambda: _read(source, key))
    same_place = into is None or _same(source, into)
    if into is None and not ours:
        raise ForkError(
            f"{without_password(source)} was written by another program. Say with `into` (--into) where the fork shall be: in a"
            " new database, or in the same one, which gets a backup beside it and two tables of ours."
        )
    target = source if into is None else into
    service = await run_in_thread(lambda: open_session_service(target))
    async with service:
        fork = await fork_into(service, history, key, created, cut, same_place=same_place, database=_name(source), files=files)
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
) -> Fork:
    """Fork a session into a service that is open.

    Args:
        service: keeps the fork.
        history: of the session; nobody else uses it meanwhile.
        key: the session.
        created: when it was created, epoch seconds.
        cut: where, and under which name; all of it by default.
        same_place: the service is where the session is.
        database: what to call the place the session is in, for the lineage of a fork elsewhere.
        files: where the session's files are kept.

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
    # A long session takes a second: whoever waits for this may have a window to draw.
    copy, then = await run_in_thread(lambda: _copy(history, index, created, lineage, same_place=same_place))
    if await service.get_session(**_names(fork_key), config=GetSessionConfig(num_recent_events=0)) is not None:
        # Said before a file is copied: these names' files are that session's.
        raise AlreadyExistsError(f"Session with id {fork_key.session_id} already exists.")
    with_files = history.events[: (_index(history.events, cut.files_at) if cut.files_at else index) + 1]
    copied = await copy_files(files.source, files.target or files.source, key, fork_key, with_files) if files else FilesCopied()
    try:
        await service.store_copy(fork_key, copy)
    except BaseException as error:
        if files and not isinstance(error, AlreadyExistsError):
            await remove_files(files.target or files.source, fork_key, copied)
        raise
    return Fork(fork_key, None, lineage, [*_notes(then, same_place), *copied.notes(with_files, asked=files is not None)])


def _copy(history: History, index: int, created: float, lineage: Lineage, *, same_place: bool) -> tuple[SessionCopy, ScopedState]:
    """Return what the fork is to have, and the state that was there then."""
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
        created=created or (events[0].timestamp if events else lineage.at),
        lineage=lineage,
    )
    return copy, then


def index_of_cut(events: Sequence[Event], cut: Cut) -> int:
    """Return the index of the last event that a fork takes over; -1 for none.

    Raises:
        NotFoundError: there is no such event.
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


def _read(source: str, key: SessionKey) -> tuple[History, float, bool]:
    with StoredDatabase.open(source) as database:
        return database.history(key), database.created(key), database.layout.ours


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
    """Return an event with its delta as ours are: values whole, and no `temp:` keys, which google-adk stored up to 1.16."""
    event = history.events[index]
    delta = history.whole_delta(index)
    if all(delta.get(key, event) is value for key, value in event.actions.state_delta.items()):
        return event
    return event.model_copy(update={"actions": event.actions.model_copy(update={"state_delta": delta})})


def _notes(then: ScopedState, same_place: bool) -> list[str]:
    notes = []
    if then.unknown:
        notes.append(f"Nobody recorded what these keys were at that moment; the fork does not have them: {', '.join(then.unknown)}.")
    shared = sorted([*then.user, *then.app])
    if shared and same_place:
        notes.append(f"These keys are shared with other sessions; the fork sees them as they are now: {', '.join(shared)}.")
    return notes
