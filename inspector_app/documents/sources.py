"""Sources of sessions: databases and this window's memory. They are read off the GUI thread."""

from __future__ import annotations

import abc
import contextlib
import gc
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector_app.documents.event_notes import EventNotes
from inspector_app.documents.long_session import LONG, TAIL, latest_invocations, with_older
from inspector_app.documents.recorded_spans import RecordedCalls
from inspector_app.documents.session_address import MEMORY
from inspector_app.documents.session_files import files_folder, files_of
from inspector_app.documents.trace_recording import key_of_traces
from inspector_app.presentation.session_figures import EventFigures, event_figures
from inspector_app.presentation.session_info import DatabaseInfo
from inspector_app.support.data_folder import cache_folder, unsaved_folder
from inspector_app.support.worker import Worker
from runtime.errors.known_error import KnownError
from runtime.errors.not_found_error import SessionNotFoundError
from runtime.errors.storage_error import StorageError
from runtime.history.in_memory import history_in_memory
from runtime.history.invocations import Invocation, PendingItem, invocations
from runtime.history.key_writers import Write, writes_of
from runtime.history.session_title import message_of, session_title
from runtime.history.state_at import History
from runtime.history.state_checkpoints import SharedWrite
from runtime.sessions.lineage import Lineage
from runtime.sessions.note import NAME, Note
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.recorded_facts import RecordedFacts
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import scope_of
from runtime.storage.reading.reader import SessionSummary, StoredDatabase
from runtime.storage.reading.shared_state import SharedScope, SharedState
from runtime.storage.recordings.recorded_call import RecordedExchange, RecordedModelCall, RecordedToolCall
from runtime.storage.recordings.recording import Recording, facts_beside, recording_beside
from runtime.storage.tail.open_tail import open_tail
from runtime.storage.tail.tail import Tail
from runtime.support.gc_freeze import collection_paused
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from inspector_app.engines import recorder_file
    from inspector_app.presentation.prices import Prices
    from runtime.artifacts.base_artifact_service import BaseArtifactService
    from runtime.events.event import Event
    from runtime.memory import in_memory_memory_service
    from runtime.memory.base_memory_service import BaseMemoryService
    from runtime.sessions import in_memory_session_service
    from runtime.sessions.base_session_service import BaseSessionService
    from runtime.sessions.session import Session
    from runtime.storage import open_service as open_services
else:
    recorder_file = lazy_module("inspector_app.engines.recorder_file")
    in_memory_memory_service = lazy_module("runtime.memory.in_memory_memory_service")
    in_memory_session_service = lazy_module("runtime.sessions.in_memory_session_service")
    open_services = lazy_module("runtime.storage.open_service")

MANY = 10_000  # listed sessions above which they are exempted from garbage collection
LARGE = 200_000_000  # bytes of a file above which the past of even a short session is read in the background


class Source(abc.ABC):
    """A store of sessions.

    Attributes:
        target: the path or URL it was opened by, or `MEMORY`; identifies the source.
        layout_kind: the database's layout, such as `v1`.
        title: its name in a narrow pane.
        badge: its layout in a word or three, such as "v1".
        note: details, for a tooltip.
        ours: whether Agent Inspector created it, so that writing needs no permission.
        can_write: whether writing can be allowed; the oldest layout, and those of other ADKs, are read-only.
        read_only_reason: why writing cannot be allowed, as a sentence; empty if it can.
        can_copy: whether it is a file that can be copied.
        recording: where the model requests of its runs are recorded; None if they are not.
        traces: where calls of any session are recorded that arrived as traces; None if they are not kept.
        is_paged: whether its events can be read page by page, including those just committed.
        writing_allowed: whether runs may write to it now.
        is_unsaved: whether it is in no database of the user's, so that closing the window asks whether to delete it.
        is_left: whether it is unsaved and an earlier window's, so that it stays when this window is closed.
        read_only_because: a sentence that says why nothing can be written to it and no copy be made; empty if one of them can be allowed.
        repeatable: sessions that a bundled sample or an eval made by itself and can make again; a note ends that.
        described: the root agent that runs its sessions, as data; empty where that is the loaded agent or none.
        file_bytes: the size of its file when it was last listed; 0 if it is not one.
        unfinished: session → the invocations that had pending items when the whole database was last scanned.
    """

    target: str
    layout_kind = "memory"
    title: str
    badge: str
    note: str
    ours: bool
    can_write = True
    read_only_reason = ""
    can_copy = False
    is_paged = False
    is_unsaved = False
    is_left = False
    read_only_because = ""
    recording: Path | None = None
    traces: Path | None = None
    described: Mapping[str, Any] = {}
    file_bytes = 0

    def __init__(self) -> None:
        self.writing_allowed = self.ours
        self.unfinished: Mapping[SessionKey, Sequence[Invocation]] = {}
        self.repeatable: set[SessionKey] = set()
        self._notes: dict[SessionKey, dict[str, Note]] = {}  # of sessions that are not in a database

    @property
    def is_kept(self) -> bool:
        """Whether it is unsaved and survives the window's process."""
        return self.is_unsaved and unsaved_folder(self.target) is not None

    @property
    def unsaved_notes(self) -> Mapping[SessionKey, Mapping[str, Note]]:
        """The notes that are in memory only, by session and event id."""
        return self._notes

    async def notes(self, key: SessionKey) -> dict[str, Note]:
        """Return the notes on a session's events, by event id."""
        return dict(self._notes.get(key, {}))

    async def set_note(self, key: SessionKey, event_id: str, note: Note) -> None:
        """Store a note on an event in place of an earlier one; an empty note deletes it.

        Raises:
            StorageError: it cannot be stored.
        """
        self.repeatable.discard(key)
        notes = self._notes.setdefault(key, {})
        notes.pop(event_id, None)
        if not note.is_empty:
            notes[event_id] = note

    # The services that only runs and files need are made when they are asked for: most windows begin by reading.

    @cached_property
    def files(self) -> BaseArtifactService:
        """The artifact service of its sessions."""
        return files_of(None)

    @property
    def has_files(self) -> bool:
        """Whether `files` has any; without them it is not made."""
        return "files" in self.__dict__

    @cached_property
    def memory(self) -> BaseMemoryService:
        """The memory service that its sessions share while the window is open."""
        return in_memory_memory_service.InMemoryMemoryService()

    async def record_end(self, key: SessionKey, invocation_id: str, end: RecordedEnd) -> None:
        """Record how a run ended that another program stored: in the database if it has our tables, else as long as it is open."""
        await (await self.service()).record_end(key, invocation_id, end)

    async def recorded_calls(self, key: SessionKey, invocations: Sequence[str] = ()) -> RecordedCalls:
        """Return the recorded model and tool calls of a session, or of some of its invocations; none if they were not recorded.

        Raises:
            StorageError: the recording is damaged.
        """
        models, tools = await run_in_thread(_recorded_calls, self.recording, self.traces, key, invocations)
        facts = await self.recorded_facts(key)
        facts.models = {**{call.event_id: call.model for call in models if call.event_id and call.model}, **facts.models}
        return RecordedCalls(models, tools, facts)

    @abc.abstractmethod
    async def sessions(self) -> list[SessionSummary]:
        """Return all sessions."""

    async def listing(self) -> list[SessionSummary]:
        """Return all sessions, without counts if the database is large; see `StoredDatabase.listing`."""
        return await self.sessions()

    @abc.abstractmethod
    async def events(self, key: SessionKey) -> list[Event]:
        """Return a session's events in commit order."""

    @abc.abstractmethod
    async def history(self, key: SessionKey) -> History:
        """Return a session's past."""

    async def displayed_history(self, key: SessionKey) -> History:
        """Return a session's past to be displayed; most of its events may be `PlainEvent`s."""
        return await self.history(key)

    @abc.abstractmethod
    async def created(self, key: SessionKey) -> float:
        """Return when a session was created, epoch seconds."""

    async def writes(self, key: SessionKey, name: str) -> list[Write]:
        """Return the writes of a session's state key, the oldest first. For a shared key, a database has other sessions' writes, too."""
        return writes_of(await self.history(key), key, name)

    async def event_figures(self, keys: Sequence[SessionKey], prices: Prices) -> dict[SessionKey, EventFigures]:
        """Return the figures of some sessions' events; those of a session that cannot be read are unknown."""
        found = {}
        for key in keys:
            found[key] = EventFigures()
            with contextlib.suppress(KnownError, KeyError):
                events, recorded = await self.events(key), await self.recorded_facts(key)
                found[key] = await run_in_thread(event_figures, key, events, prices, recorded)
        return found

    async def names(self) -> dict[SessionKey, str]:
        """Return the names that the user gave to sessions."""
        return self._own_names()

    def _own_names(self) -> dict[SessionKey, str]:
        return {key: notes[NAME].text for key, notes in self._notes.items() if NAME in notes}

    async def titles(self, keys: Sequence[SessionKey] | None = None) -> dict[SessionKey, str]:
        """Return the titles of some sessions or of all, see `session_title`; none for a session that does not exist."""
        keys = [summary.key for summary in await self.sessions()] if keys is None else keys
        lineages = await self.lineages()
        found = {}
        for key in keys:
            with contextlib.suppress(SessionNotFoundError, KeyError):
                history, created, name = await self.history(key), await self.created(key), (await self.notes(key)).get(NAME, Note())
                fork_at = lineages[key].event_count if key in lineages else None
                state = history.state_at(len(history.events) - 1).session
                message = await run_in_thread(message_of, history.events)
                found[key] = session_title(key, created, name=name.text, state=state, message=message, fork_at=fork_at)
        return found

    async def lineages(self) -> dict[SessionKey, Lineage]:
        """Return the origin of each fork."""
        return {}

    async def shared_scopes(self) -> list[SharedScope]:
        """Return the apps and users that have any known state, each app before its users."""
        return []

    async def shared_state(self, scope: SharedScope) -> SharedState:
        """Return the present state of an app or a user, as far as it is known."""
        return SharedState({}, None)

    @abc.abstractmethod
    async def service(self) -> BaseSessionService:
        """Return the service that runs write through.

        Raises:
            StorageError: the database cannot be opened for writing.
        """

    async def pending(self, key: SessionKey) -> list[PendingItem]:
        """Return a session's pending items."""
        return [item for entry in await self.latest_invocations(key) for item in entry.pending]

    async def latest_invocations(self, key: SessionKey) -> list[Invocation]:
        """Return a session's invocations; of a long one, those of its last events."""
        return invocations(await self.events(key), ends=await self.ends(key))

    async def ends(self, key: SessionKey) -> dict[str, RecordedEnd]:
        """Return the recorded ends of a session's invocations."""
        return {}

    async def pending_of_others(self, key: SessionKey) -> tuple[list[PendingItem], bool]:
        """Return the pending items of a session that another process has written to.

        Its open invocation is unfinished from now on: the other process may continue it.

        Returns:
            The items without that invocation's; whether there is one.
        """
        return await self.pending(key), False

    async def recorded_exchange(self, event_id: str) -> RecordedExchange | None:
        """Return the model call whose answer became an event, and its request, None if it was not recorded.

        Raises:
            StorageError: the recording is damaged.
        """
        for file in (self.recording, self.traces):
            found = await run_in_thread(_recorded_exchange, file, event_id) if file is not None else None
            if found is not None:
                return found
        return None

    async def recorded_facts(self, key: SessionKey) -> RecordedFacts:
        """Return what a recording knows of a session's events.

        Raises:
            StorageError: the recording cannot be read.
        """
        return RecordedFacts()

    def listed_count(self, key: SessionKey) -> int | None:
        """Return the number of events a session had when it was last listed; None if it was not counted."""
        return None

    async def is_longer_than(self, key: SessionKey, limit: int) -> bool:
        """Return whether a session has more events than a limit; False for a source whose sessions are in memory."""
        return False

    async def is_long(self, key: SessionKey) -> bool:
        """Return whether a session is too long to be read at once."""
        return False

    async def close(self) -> None:  # noqa: B027 - most sources hold something
        """Close the source."""


class DatabaseSource(Source):
    """A session database, read on a worker thread and written only when that is allowed."""

    def __init__(self, target: str, stored: StoredDatabase, worker: Worker) -> None:
        self.target = target
        self.title = Path(target).name if "://" not in target else target.split("?")[0].rsplit("/", 1)[-1]
        self.badge = stored.layout.format.badge
        self.note = "\n".join(filter(None, (target, stored.layout.title, stored.layout.note)))
        self.can_write = stored.layout.format.writer is not None
        self.ours = stored.layout.ours and self.can_write
        self.can_copy = "://" not in target or target.startswith("sqlite")
        if not self.can_write:
            self.read_only_reason = f"{self.title} {stored.layout.format.other_service}"
        self.is_paged = self.can_copy and stored.layout.format.is_json
        self.layout_kind = stored.layout.kind
        self.recording = recording_beside(Path(target)) if "://" not in target else None
        self._stored = stored
        self._worker = worker
        self._ends: dict[SessionKey, dict[str, RecordedEnd]] = {}  # of runs of google-adk, where our tables are not written
        self._service: BaseSessionService | None = None
        self._event_notes: EventNotes | None = EventNotes(target)
        self._counts: dict[SessionKey, int] = {}
        file = Path(target)
        # In a file of google-adk's, other sessions' writes are found only by reading all of it, which takes long for a large file.
        self._is_large = not self.ours and "://" not in target and file.is_file() and file.stat().st_size > LARGE
        super().__init__()

    @cached_property
    def files(self) -> BaseArtifactService:
        """See `Source.files`."""
        return files_of(self.target)

    @property
    def has_files(self) -> bool:
        """See `Source.has_files`."""
        folder = files_folder(self.target)
        return os.path.lexists(folder) if folder is not None else super().has_files

    def as_unsaved(self, left_at: float | None = None) -> DatabaseSource:
        """Present the database, which is a file of our own, as unsaved sessions.

        Args:
            left_at: when an earlier window last wrote to them, epoch seconds; None: they are this window's own.
        """
        self.title, self.badge = "not saved yet", ""
        self.note = "Sessions of this window, kept by the program. Save as… (Ctrl+S) puts them into a database of yours."
        if left_at is not None:
            self.is_left = True
            self.title = f"not saved yet, {time.strftime('%d %b %H:%M', time.localtime(left_at))}"
            self.note = "Sessions that an earlier window left. Save as… (Ctrl+S) puts them into a database of yours."
        self.ours = self.writing_allowed = self.can_write
        self.is_unsaved = True
        self.can_copy = False
        if not self.is_kept:
            self.recording = None
            self._event_notes = None
        return self

    @classmethod
    async def open(cls, target: str) -> DatabaseSource:
        """Open a database for reading; see `StoredDatabase.open` for the errors."""
        worker = Worker(f"reader of {target}")
        try:
            stored = await worker.call(StoredDatabase.open, target)
        except BaseException:
            worker.close()
            raise
        return cls(target, stored, worker)

    async def sessions(self) -> list[SessionSummary]:
        """See `Source.sessions`."""
        return await self._worker.call(self._listed, self._stored.sessions)

    async def listing(self) -> list[SessionSummary]:
        """See `Source.listing`."""
        return await self._worker.call(self._listed, self._stored.listing)

    def _listed(self, read: Callable[[], list[SessionSummary]]) -> list[SessionSummary]:
        self.file_bytes = file_size(Path(self.target)) if "://" not in self.target else 0
        with collection_paused():
            listed = read()
            self._counts = {summary.key: summary.event_count for summary in listed if summary.event_count is not None}
            if len(listed) > MANY:
                gc.freeze()  # they live as long as the window; collecting garbage among them would block it
        return listed

    def take_counts(self, counted: DatabaseSource) -> None:
        """Take the counts from another connection to the same database."""
        self._counts = counted._counts

    def listed_count(self, key: SessionKey) -> int | None:
        """See `Source.listed_count`."""
        return self._counts.get(key)

    async def events(self, key: SessionKey) -> list[Event]:
        """See `Source.events`."""
        return await self._worker.call(self._stored.events, key)

    async def recorded_facts(self, key: SessionKey) -> RecordedFacts:
        """See `Source.recorded_facts`."""
        return await self._worker.call(lambda: self._facts(key, self._stored.lineages()) if self.recording is not None else RecordedFacts())

    def _facts(self, key: SessionKey, lineages: Mapping[SessionKey, Lineage]) -> RecordedFacts:
        """Return what is known of a session's events; those that a fork has copied were recorded in its parents."""
        keys = [key]
        while (origin := lineages.get(keys[-1])) is not None and origin.database is None and origin.parent not in keys:
            keys.append(origin.parent)
        return facts_beside(self.recording, *keys)

    async def pending(self, key: SessionKey) -> list[PendingItem]:
        """See `Source.pending`; of a long session its last events are read, and `unfinished` for those before."""
        return await self._worker.call(self._pending, key)

    def _pending(self, key: SessionKey) -> list[PendingItem]:
        if not self._is_tail_read(key) and not self._ends.get(key):
            return self._stored.pending(key).get(key, [])
        return [item for entry in with_older(self._latest(key), self.unfinished.get(key, ())) for item in entry.pending]

    async def latest_invocations(self, key: SessionKey) -> list[Invocation]:
        """See `Source.latest_invocations`."""
        return await self._worker.call(self._latest, key)

    def _latest(self, key: SessionKey) -> list[Invocation]:
        ends = self._all_ends(key)
        if self._is_tail_read(key):
            return latest_invocations(self._stored.pages(key, self._counts.get(key)), ends)
        return invocations([*self._stored.plain_events(key)], ends=ends)

    def _is_tail_read(self, key: SessionKey) -> bool:
        """Return whether a session is so long that only its last events are read."""
        return self._stored.layout.format.is_json and self._stored.count_up_to(key, LONG + 1) > LONG

    def open_tail(self, known: Sequence[SessionSummary]) -> Tail:
        """Return a tail of the database; see `runtime.storage.tail.open_tail`. The caller's thread uses it.

        Args:
            known: the sessions as last listed.

        Raises:
            StorageError: it cannot be watched.
        """
        return open_tail(self.target, known, layout=self.layout_kind)

    async def complete(self) -> None:
        """Do nothing: a database is whole. A copy of a server's sessions is completed before it is scanned."""

    def stop_reading(self) -> None:
        """Cancel reads in progress; nothing can be read after that."""
        self._stored.stop()

    async def find_unfinished(self) -> dict[SessionKey, list[Invocation]]:
        """See `StoredDatabase.unfinished`."""
        return await self._worker.call(lambda: self._stored.unfinished(cache=cache_folder(self.target) / "pending"))

    async def is_longer_than(self, key: SessionKey, limit: int) -> bool:
        """See `Source.is_longer_than`."""
        return await self._worker.call(self._stored.count_up_to, key, limit + 1) > limit

    async def is_long(self, key: SessionKey) -> bool:
        """See `Source.is_long`."""
        if not self._stored.layout.format.is_json:
            return False
        count = await self._worker.call(self._stored.count_up_to, key, LONG + 1)
        return count > LONG or (count > 0 and self._is_large)

    async def ends(self, key: SessionKey) -> dict[str, RecordedEnd]:
        """See `Source.ends`."""
        return await self._worker.call(self._all_ends, key)

    def _all_ends(self, key: SessionKey) -> dict[str, RecordedEnd]:
        return {**self._stored.recorded_ends(key).get(key, {}), **self._ends.get(key, {})}

    async def record_end(self, key: SessionKey, invocation_id: str, end: RecordedEnd) -> None:
        """See `Source.record_end`."""
        self._ends.setdefault(key, {})[invocation_id] = end  # a storage that just failed may not keep it
        if self.ours and self.writing_allowed:
            await super().record_end(key, invocation_id, end)
            del self._ends[key][invocation_id]

    async def pending_of_others(self, key: SessionKey) -> tuple[list[PendingItem], bool]:
        """See `Source.pending_of_others`."""
        self._ends[key] = {name: end for name, end in self._ends.get(key, {}).items() if end.status != "unfinished"}
        items = await self.pending(key)
        left = [item for item in items if item.kind == "interrupted" and not item.is_past]
        for item in left:
            self._ends[key][item.invocation_id] = RecordedEnd("unfinished", "another process may still run it", item.event_id or "", 0)
        return [item for item in items if item not in left], bool(left)

    async def notes(self, key: SessionKey) -> dict[str, Note]:
        """See `Source.notes`."""
        if self._event_notes is None:
            return await super().notes(key)
        return await self._worker.call(self._event_notes.of, self._stored, key)

    async def set_note(self, key: SessionKey, event_id: str, note: Note) -> None:
        """See `Source.set_note`."""
        if self._event_notes is None:
            await super().set_note(key, event_id, note)
            return
        self.repeatable.discard(key)
        is_inside = self.writing_allowed and self._event_notes.are_inside(self._stored)
        await self._event_notes.put(await self.service() if is_inside else None, key, event_id, note)

    async def history(self, key: SessionKey) -> History:
        """See `Source.history`."""
        return await self._worker.call(self._stored.history, key)

    async def displayed_history(self, key: SessionKey) -> History:
        """See `Source.displayed_history`."""
        return await self._worker.call(lambda: self._stored.history(key, plain=True))

    async def created(self, key: SessionKey) -> float:
        """See `Source.created`."""
        return await self._worker.call(self._stored.created, key)

    async def writes(self, key: SessionKey, name: str) -> list[Write]:
        """See `Source.writes`."""
        return await self._worker.call(self._stored.writes, key, name)

    async def event_figures(self, keys: Sequence[SessionKey], prices: Prices) -> dict[SessionKey, EventFigures]:
        """See `Source.event_figures`."""
        return await self._worker.call(self._read_figures, keys, prices)

    def _read_figures(self, keys: Sequence[SessionKey], prices: Prices) -> dict[SessionKey, EventFigures]:
        found, lineages = {}, dict[SessionKey, Lineage]()
        with contextlib.suppress(KnownError):
            lineages = self._stored.lineages() if self.recording is not None else lineages
        for key in keys:
            found[key] = EventFigures()
            with contextlib.suppress(KnownError):
                found[key] = event_figures(key, list(self._stored.plain_events(key)), prices, self._facts(key, lineages))
        return found

    async def titles(self, keys: Sequence[SessionKey] | None = None) -> dict[SessionKey, str]:
        """See `Source.titles`."""
        return await self._worker.call(self._read_titles, keys)

    def _read_titles(self, keys: Sequence[SessionKey] | None) -> dict[SessionKey, str]:
        return self._stored.titles(keys, self._read_names())

    async def names(self) -> dict[SessionKey, str]:
        """See `Source.names`."""
        return await self._worker.call(self._read_names)

    def _read_names(self) -> dict[SessionKey, str]:
        return self._event_notes.names(self._stored) if self._event_notes is not None else self._own_names()

    async def lineages(self) -> dict[SessionKey, Lineage]:
        """See `Source.lineages`."""
        return await self._worker.call(self._stored.lineages)

    async def shared_scopes(self) -> list[SharedScope]:
        """See `Source.shared_scopes`."""
        return await self._worker.call(self._stored.shared_scopes)

    async def shared_state(self, scope: SharedScope) -> SharedState:
        """See `Source.shared_state`."""
        return await self._worker.call(self._stored.shared_state, scope)

    async def service(self) -> BaseSessionService:
        """See `Source.service`."""
        if self._service is None:
            self._service = await self._worker.call(lambda: open_services.open_session_service(self.target))
        return self._service

    async def close(self) -> None:
        """See `Source.close`."""
        self._worker.close(self._stored.close)
        if self._service is not None:
            await self._service.close()
        if self.is_kept and self.recording is not None:  # its file may be about to be deleted
            await run_in_thread(recorder_file.finish_recording, self.recording)


class UnsavedFile:
    """A database for the sessions of an agent that may be in another process; the first session creates it.

    Args:
        file: the database, or a missing or empty file.
    """

    def __init__(self, file: Path) -> None:
        self.target = str(file)
        self._service: BaseSessionService | None = None

    @property
    def layout_kind(self) -> str:
        """The file's layout; of a new file that of adk web, which every version of google-adk writes without other packages."""
        if not file_size(Path(self.target)):
            return "sqlite"
        with StoredDatabase.open(self.target) as database:
            return database.layout.kind

    @cached_property
    def files(self) -> BaseArtifactService:
        """The artifact service of its sessions."""
        return files_of(self.target)

    @cached_property
    def memory(self) -> BaseMemoryService:
        """The memory service that its sessions share."""
        return in_memory_memory_service.InMemoryMemoryService()

    async def service(self) -> BaseSessionService:
        """Return the service that runs write through."""
        if self._service is None:
            self._service = await run_in_thread(lambda: open_services.open_session_service(self.target))
        return self._service

    async def close(self) -> None:
        """Close the service."""
        if self._service is not None:
            await self._service.close()


class MemorySource(Source):
    """The sessions of runs without a database where such sessions are not kept in a file; closing the window deletes them."""

    target = MEMORY
    title = "not saved yet"
    badge = "in memory"
    note = "Sessions of this window. Closing the window deletes them. Save as… (Ctrl+S) puts them into a database of yours."
    ours = True
    is_unsaved = True

    def __init__(self) -> None:
        super().__init__()
        self._apps: set[str] = set()

    @cached_property
    def _service(self) -> in_memory_session_service.InMemorySessionService:
        return in_memory_session_service.InMemorySessionService()

    def add_app(self, app_name: str) -> None:
        """List the sessions of this app, too."""
        self._apps.add(app_name)

    async def sessions(self) -> list[SessionSummary]:
        """See `Source.sessions`."""
        found = []
        for app_name in sorted(self._apps):
            for listed in (await self._service.list_sessions(app_name=app_name)).sessions:
                session = await self._get(listed.key)
                found.append(SessionSummary(listed.key, len(session.events) if session else 0, listed.last_update_time))
        return found

    async def events(self, key: SessionKey) -> list[Event]:
        """See `Source.events`."""
        session = await self._get(key)
        # The list copies each event when it is read, which takes seconds for many.
        return await run_in_thread(list, session.events) if session else []

    async def ends(self, key: SessionKey) -> dict[str, RecordedEnd]:
        """See `Source.ends`."""
        return await self._service.recorded_ends(key)

    async def notes(self, key: SessionKey) -> dict[str, Note]:
        """See `Source.notes`."""
        return await self._service.notes(key)

    async def set_note(self, key: SessionKey, event_id: str, note: Note) -> None:
        """See `Source.set_note`."""
        await self._service.set_note(key, event_id, note)
        self.repeatable.discard(key)

    async def history(self, key: SessionKey) -> History:
        """See `Source.history`."""
        return await run_in_thread(history_in_memory, self._service, key)

    async def created(self, key: SessionKey) -> float:
        """See `Source.created`."""
        return self._service.created(key)

    async def lineages(self) -> dict[SessionKey, Lineage]:
        """See `Source.lineages`."""
        return self._service.lineages()

    async def shared_scopes(self) -> list[SharedScope]:
        """See `Source.shared_scopes`."""
        found = {}
        for summary in await self.sessions():
            for scope in (SharedScope(summary.key.app_name), SharedScope(summary.key.app_name, summary.key.user_id)):
                if scope not in found:
                    found[scope] = bool((await self.shared_state(scope)).values)
        return [scope for scope, has_any in found.items() if has_any]

    async def shared_state(self, scope: SharedScope) -> SharedState:
        """See `Source.shared_state`; every session of the scope has the same values."""
        wanted = "app" if scope.user_id is None else "user"
        listed = (await self._service.list_sessions(app_name=scope.app_name, user_id=scope.user_id)).sessions
        for key in (each.key for each in listed):
            session = await self._get(key)
            if session is not None:
                return SharedState({name: value for name, value in session.state.items() if scope_of(name) == wanted}, None)
        return SharedState({}, None)

    async def service(self) -> BaseSessionService:
        """See `Source.service`."""
        return self._service

    async def _get(self, key: SessionKey) -> Session | None:
        return await self._service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)

    async def close(self) -> None:
        """See `Source.close`."""
        if "_service" in self.__dict__:
            await self._service.close()


class AttachedSource(Source):
    """The sessions of a running app, as far as the app has reported them. The app keeps them; this is a copy in memory.

    Args:
        pid: the app's process.
        name: its name.
    """

    badge = "attached"
    ours = False
    can_write = False

    def __init__(self, pid: int, name: str) -> None:
        self.target = f"attached:{pid}"
        self.title = name
        self.note = f"Sessions that {name} (process {pid}) has used while this window was attached to it. Closing the window forgets them."
        self.read_only_because = f"{name} keeps this session itself: the window can only watch, hold and step it."
        self._sessions: dict[SessionKey, _AttachedSession] = {}
        super().__init__()

    def add_session(self, key: SessionKey, events: Sequence[Event], state: Mapping[str, object], *, is_whole: bool) -> None:
        """Add a session as it was when the window first saw it.

        Args:
            key: the session.
            events: its events.
            state: its merged state.
            is_whole: whether these are all its events, so that its initial state follows.
        """
        written = {name for event in events for name in event.actions.state_delta}
        first = {name: value for name, value in state.items() if name not in written} if is_whole else None
        before = self._sessions.get(key)
        self._sessions[key] = session = _AttachedSession(list(events), first, dict(state))
        if before is not None:  # the window was attached before
            session.temp, session.runs = before.temp, before.runs

    def add_event(self, key: SessionKey, event: Event, temp: Mapping[str, object]) -> None:
        """Add an event that the app has committed."""
        session = self._session(key)
        if all(event.id != other.id for other in session.events[-TAIL:]):
            session.events.append(event)
            if temp:
                session.temp[event.id] = dict(temp)

    def last_event(self, key: SessionKey) -> Event | None:
        """Return the last committed event of a session, if it has any."""
        session = self._sessions.get(key)
        return session.events[-1] if session is not None and session.events else None

    def begin_run(self, key: SessionKey, invocation_id: str) -> None:
        """Record that the app runs an invocation."""
        self._session(key).runs[invocation_id] = RecordedEnd("unfinished", "the window left before its end", "", 0)

    def end_run(self, key: SessionKey, invocation_id: str, problem: str) -> None:
        """Record the end of an invocation.

        Args:
            key: its session.
            invocation_id: the invocation.
            problem: a phrase that says why it did not run to its end; empty if it did.
        """
        self._session(key).runs[invocation_id] = RecordedEnd("failed" if problem else "finished", problem, "", time.time())

    def forget_runs(self) -> None:
        """Record that the app has ended: what it was running is interrupted, as far as the events tell."""
        for session in self._sessions.values():
            session.runs = {name: end for name, end in session.runs.items() if end.status != "unfinished"}

    def _session(self, key: SessionKey) -> _AttachedSession:
        return self._sessions.setdefault(key, _AttachedSession([], {}, {}))

    def count(self, key: SessionKey) -> int:
        """Return the number of known events of a session."""
        return len(self._sessions[key].events) if key in self._sessions else 0

    def summary(self, key: SessionKey) -> SessionSummary:
        """Return a session's summary."""
        session = self._sessions[key]
        return SessionSummary(key, len(session.events), session.events[-1].timestamp if session.events else session.seen)

    async def sessions(self) -> list[SessionSummary]:
        """See `Source.sessions`."""
        return [self.summary(key) for key in self._sessions]

    async def ends(self, key: SessionKey) -> dict[str, RecordedEnd]:
        """See `Source.ends`."""
        session = self._sessions[key]
        last = {event.invocation_id: event.id for event in session.events}
        return {name: end._replace(last_event_id=last[name]) for name, end in session.runs.items() if name in last}

    async def events(self, key: SessionKey) -> list[Event]:
        """See `Source.events`."""
        return list(self._sessions[key].events)

    async def history(self, key: SessionKey) -> History:
        """See `Source.history`."""
        session = self._sessions[key]
        temp = session.temp
        if session.first is None:
            return History(session.events, baseline=None, present=session.state, temp=temp)
        own = {name: value for name, value in session.first.items() if scope_of(name) == "session"}
        shared = [
            SharedWrite(-1, {name: value for name, value in session.first.items() if scope_of(name) == scope}, scope)
            for scope in ("user", "app")
        ]
        return History(session.events, baseline=own, shared=shared, temp=temp)

    async def created(self, key: SessionKey) -> float:
        """See `Source.created`; the time when the window first saw the session."""
        return self._sessions[key].seen

    async def service(self) -> BaseSessionService:
        """See `Source.service`.

        Raises:
            StorageError: always.
        """
        raise StorageError(self.read_only_because)


class _AttachedSession:
    """A session of a running app.

    Args:
        events: its events.
        first: its merged state before them; None if it is unknown.
        state: its merged state when it was first seen.
    """

    def __init__(self, events: list[Event], first: dict[str, Any] | None, state: dict[str, Any]) -> None:
        self.events = events
        self.first = first
        self.state = state
        self.temp: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, RecordedEnd] = {}  # by invocation; status `unknown` while the app runs it
        self.seen = time.time()


def database_info(source: Source) -> DatabaseInfo:
    """Return how a database is displayed in the list."""
    if source.read_only_because:
        return DatabaseInfo(source.title, source.badge, True, source.note, source.file_bytes)
    badge = source.badge if source.writing_allowed else f"{source.badge} · read-only"
    return DatabaseInfo(source.title, badge, not source.writing_allowed, source.note, source.file_bytes)


def file_size(file: Path) -> int:
    """Return the size of a database file and its write-ahead log in bytes; 0 if it was deleted."""
    total = 0
    for part in (file, file.with_name(f"{file.name}-wal")):
        with contextlib.suppress(OSError):
            total += part.stat().st_size
    return total


def _recorded_calls(
    file: Path | None, traces: Path | None, key: SessionKey, invocations: Sequence[str]
) -> tuple[list[RecordedModelCall], list[RecordedToolCall]]:
    """Return the calls from traces and from a recording; the recording, which is more exact, comes last."""
    models: list[RecordedModelCall] = []
    tools: list[RecordedToolCall] = []
    for where, of in ((traces, key_of_traces(key)), (file, key)):
        if where is not None and where.is_file():
            with closing(Recording(where)) as recording:
                models += recording.model_calls(of, invocations)
                tools += recording.tool_calls(of, invocations)
    return models, tools


def _recorded_exchange(file: Path, event_id: str) -> RecordedExchange | None:
    if not file.is_file():
        return None
    with closing(Recording(file)) as recording:
        return recording.exchange(event_id)
