"""The files (artifacts) of the session on show: their versions at the selected event, and those that no event names."""

from __future__ import annotations

from collections.abc import Mapping, Set

from PySide6.QtCore import QObject

from inspector_app.controllers.browse import BrowseController, OpenSession
from inspector_app.controllers.run import RunController
from inspector_app.cursor import Cursor
from inspector_app.qt_models.state_tree import FileVersion
from inspector_app.tasks import Tasks
from inspector_app.views.main_window import MainWindow
from runtime.artifacts.artifact_names import USER_PREFIX
from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.sessions.session import SessionKey


class FilesController(QObject):
    """Behind the lane `files` of the state.

    A version is saved at once and named by the event that comes next; one that no committed event names is shown as unconfirmed
    (seed-readings: "`save_artifact` saves at once").

    Args:
        window: where they are shown.
        tasks, cursor, browse, run: of the window.
    """

    def __init__(
        self, window: MainWindow, tasks: Tasks, cursor: Cursor, browse: BrowseController, run: RunController, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._model = window.workbench.detail.state.model
        self._tasks = tasks
        self._cursor = cursor
        self._browse = browse
        self._run = run
        self._saves = _Saves()
        browse.state_computed.connect(self._show)
        run.hold_changed.connect(self._show)
        run.run_ended.connect(self._show)

    def _show(self, _what: object) -> None:
        session, index = self._browse.session, self._cursor.event_index
        if session is not None and session.address == self._run.address and self._run.phase in ("running", "stopping"):
            return  # it is looked at when it holds
        # Of a long session only those events are here that somebody looks at.
        if session is None or session.long is not None or index is None or index >= len(session.events):
            self._model.set_files([])
            return
        if self._saves.session is not session:
            self._saves = _Saves(session)
        self._saves.catch_up()
        named = self._saves.files_at(index)
        self._model.set_files(named)
        if index == len(session.events) - 1:
            self._tasks.spawn(self._show_unconfirmed(session, index, named), "Looking for files that no event names")

    async def _show_unconfirmed(self, session: OpenSession, index: int, named: list[FileVersion]) -> None:
        found = await unconfirmed(session.source.files, session.address.key, self._saves.named)
        if found and self._browse.session is session and self._cursor.event_index == index == len(session.events) - 1:
            self._model.set_files(named + found)


class _Saves:
    """What the events of a session saved, each event looked at once: the session grows, and is asked after each event.

    Attributes:
        session: whose.
        named: name and version of each file that an event names.

    Args:
        session: whose.
    """

    def __init__(self, session: OpenSession | None = None) -> None:
        self.session = session
        self.named: set[tuple[str, int]] = set()
        self._versions: list[tuple[int, FileVersion]] = []
        self._looked_at = 0

    def catch_up(self) -> None:
        """Look at the events that came since the last time."""
        assert self.session is not None
        events = self.session.events
        for place in range(self._looked_at, len(events)):
            for name, version in events[place].actions.artifact_delta.items():
                self._versions.append((place, FileVersion(name, version, place, events[place].author)))
                self.named.add((name, version))
        self._looked_at = len(events)

    def files_at(self, index: int) -> list[FileVersion]:
        """Return the session's files after the event at a place, by name."""
        found = {saved.name: saved for place, saved in self._versions if place <= index}
        return [found[name] for name in sorted(found)]


async def unconfirmed(files: BaseArtifactService, key: SessionKey, named: Set[tuple[str, int]]) -> list[FileVersion]:
    """Return the versions of a session's own files that no event names; the user's are shared, so another session's may name them.

    Args:
        files: keeps them.
        key: the session.
        named: name and version of each file that its events name.
    """
    names: Mapping[str, str] = {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id}
    return [
        FileVersion(name, version)
        for name in await files.list_artifact_keys(**names)
        if not name.startswith(USER_PREFIX)
        for version in await files.list_versions(**names, filename=name)
        if (name, version) not in named
    ]
