"""The files (artifacts) of the session on show: their versions at the selected event, and those that no event names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject

from inspector_app.controllers.browse import BrowseController, OpenSession
from inspector_app.controllers.run import RunController
from inspector_app.cursor import Cursor
from inspector_app.qt_models.state_tree import FileVersion
from inspector_app.tasks import Tasks
from inspector_app.views.main_window import MainWindow
from runtime.artifacts.artifact_names import USER_PREFIX
from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.errors.input_validation_error import InputValidationError
from runtime.events.event import Event
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
        named = files_at(session.events, index)
        self._model.set_files(named)
        if index == len(session.events) - 1:
            self._tasks.spawn(self._show_unconfirmed(session, index, named), "Looking for files that no event names")

    async def _show_unconfirmed(self, session: OpenSession, index: int, named: list[FileVersion]) -> None:
        found = await unconfirmed(session.source.files, session.address.key, session.events)
        if found and self._browse.session is session and self._cursor.event_index == index == len(session.events) - 1:
            self._model.set_files(named + found)


def files_at(events: Sequence[Event], index: int) -> list[FileVersion]:
    """Return the session's files after an event, by name.

    Args:
        events: of the session.
        index: the event's place.
    """
    found: dict[str, FileVersion] = {}
    for place in range(index + 1):
        event = events[place]
        for name, version in event.actions.artifact_delta.items():
            found[name] = FileVersion(name, version, place, event.author)
    return [found[name] for name in sorted(found)]


async def unconfirmed(files: BaseArtifactService, key: SessionKey, events: Sequence[Event]) -> list[FileVersion]:
    """Return the versions of a session's own files that no event names; the user's are shared, so another session's may name them.

    Args:
        files: keeps them.
        key: the session.
        events: all of its events.
    """
    names: Mapping[str, str] = {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id}
    named = {(name, version) for event in events for name, version in event.actions.artifact_delta.items()}
    try:
        keys = await files.list_artifact_keys(**names)
    except InputValidationError:  # a session named as no folder can be has no files
        return []
    return [
        FileVersion(name, version)
        for name in keys
        if not name.startswith(USER_PREFIX)
        for version in await files.list_versions(**names, filename=name)
        if (name, version) not in named
    ]
