"""The files (artifacts) of the displayed session: their versions at the selected event, and those that no event names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector_app.documents.long_session import LongSession
from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.sources import Source
from inspector_app.state.state_tree import FileVersion, StateTreeModel
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from runtime.artifacts.artifact_names import USER_PREFIX
from runtime.errors.input_validation_error import InputValidationError
from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.event_pages import SavedFiles
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.artifacts.base_artifact_service import BaseArtifactService
    from runtime.events.event import Event


class FilesController(QObject):
    """A controller that fills the lane `files` of the state tree.

    `save_artifact` saves a version at once, and the next event names it; a version that no committed event names is shown as unconfirmed.
    The stored events of a long session are searched for file names once, after its past was read.

    Args:
        cursor: the selected event.
        current: the displayed session.
        run: the run; files of its session are read while it is held or has ended.
        tasks: runs the reading.
        model: the state's model.
    """

    def __init__(
        self,
        cursor: Cursor,
        current: CurrentSession,
        run: CurrentRun,
        tasks: Tasks,
        model: StateTreeModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._current = current
        self._run = run
        self._tasks = tasks
        self._model = model
        self._known = _Known()
        self._is_asking = False
        self._current.session_loaded.connect(self._on_session_loaded)
        self._current.events_added.connect(self._on_events_added)
        self._current.state_computed.connect(self._show)
        self._run.hold_changed.connect(self._show)
        self._run.run_ended.connect(self._show)

    def _on_session_loaded(self, session: OpenSession) -> None:
        first = len(session.events) - len(session.events.in_memory)
        self._known = _Known(first, newer=saved_by(session.events.in_memory, first))

    def _on_events_added(self, added: Sequence[Event]) -> None:
        session = self._current.session
        if session is not None:
            self._known.newer += saved_by(added, len(session.events) - len(added))

    def _show(self, _what: object = None) -> None:
        session, index, known = self._current.session, self._cursor.event_index, self._known
        if session is not None and session.address == self._run.address and self._run.phase in ("running", "stopping"):
            return  # shown when the agent is held
        if session is None or session.past is None or index is None or index >= len(session.events):
            self._model.set_files([])
            return
        self._model.set_files(files_at(known.saved, index))
        if known.looked_through < known.first:
            self._look_through(session, known)
        elif index == len(session.events) - 1 and not self._is_asking:
            self._is_asking = True
            self._tasks.spawn(self._show_unconfirmed(session, index, known), "Finding files that no event names")

    def _look_through(self, session: OpenSession, known: _Known) -> None:
        if session.pages is not None and not known.is_at_it:
            known.is_at_it = True
            self._tasks.spawn(self._find(session.pages, known), "Finding the files of a long session", background=True)

    async def _find(self, long: LongSession, known: _Known) -> None:
        try:
            async with aclosing(long.find_files(known.looked_through, known.first)) as found:
                async for saved, end in found:
                    known.older += saved
                    known.looked_through = end
        except StorageError:
            if not long.closed:
                raise
        finally:
            known.is_at_it = False
        if self._known is known and not long.closed:
            self._show()

    async def _show_unconfirmed(self, session: OpenSession, index: int, known: _Known) -> None:
        try:
            found = await _found_in(session.source, session.address.key, known.saved)
        finally:
            self._is_asking = False
        if self._known is not known or index != len(session.events) - 1:
            self._show()  # events were committed meanwhile
        elif found and self._cursor.event_index == index:
            self._model.set_files(files_at(known.saved, index) + found)


@dataclass(slots=True)
class _Known:
    """Which events of the displayed session name files.

    Attributes:
        first: the number of events that were not in memory when the session was loaded.
        looked_through: the number of those events that were searched.
        is_at_it: a search is in progress.
        older: files named by those events.
        newer: files named by later events.
    """

    first: int = 0
    looked_through: int = 0
    is_at_it: bool = False
    older: list[SavedFiles] = field(default_factory=list)
    newer: list[SavedFiles] = field(default_factory=list)

    @property
    def saved(self) -> list[SavedFiles]:
        """All events known to name files, in commit order."""
        return [*self.older, *self.newer]


def saved_by(events: Iterable[Event], first: int = 0) -> list[SavedFiles]:
    """Return the events that name files, with the files.

    Args:
        events: in commit order.
        first: the place of the first one.
    """
    return [
        SavedFiles(place, event.author, event.actions.artifact_delta)
        for place, event in enumerate(events, first)
        if event.actions.artifact_delta
    ]


def files_at(saved: Iterable[SavedFiles], index: int) -> list[FileVersion]:
    """Return the session's files after an event, by name.

    Args:
        saved: the files that the session's events name, in commit order.
        index: the event's place.
    """
    found = {
        name: FileVersion(name, version, place, author)
        for place, author, versions in saved
        if place <= index
        for name, version in versions.items()
    }
    return [found[name] for name in sorted(found)]


async def _found_in(source: Source, key: SessionKey, saved: Iterable[SavedFiles]) -> list[FileVersion]:
    if not source.has_files:
        return []
    return await unconfirmed(await run_in_thread(lambda: source.files), key, saved)


async def unconfirmed(files: BaseArtifactService, key: SessionKey, saved: Iterable[SavedFiles]) -> list[FileVersion]:
    """Return the versions of a session's files that no event names, except the user's files, which other sessions may name.

    Args:
        files: the service that stores the files.
        key: the session.
        saved: the files that the session's events name.
    """
    names: Mapping[str, str] = {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id}
    named = {named for entry in saved for named in entry.versions.items()}
    try:
        keys = await files.list_artifact_keys(**names)
    except InputValidationError:  # a session whose id cannot be a folder's name has no files
        return []
    return [
        FileVersion(name, version)
        for name in keys
        if not name.startswith(USER_PREFIX)
        for version in await files.list_versions(**names, filename=name)
        if (name, version) not in named
    ]
