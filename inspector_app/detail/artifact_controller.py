"""The files (artifacts) that an event saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector_app.detail.artifact_buttons import artifact_dialog
from inspector_app.detail.event_detail import EventDetail
from inspector_app.documents.open_session import OpenSession
from inspector_app.presentation.values import visible
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.messages import MessageBus
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from runtime.artifacts import file_artifact_service
else:
    file_artifact_service = lazy_module("runtime.artifacts.file_artifact_service")


class ArtifactController(QObject):
    """A controller that opens a saved file in a dialog, or reports where it was expected.

    Args:
        current: the displayed session.
        tasks: runs the loading.
        messages: receives why a file cannot be shown.
        detail: the view with the files' buttons.
    """

    def __init__(self, current: CurrentSession, tasks: Tasks, messages: MessageBus, detail: EventDetail) -> None:
        super().__init__(detail)
        self._current = current
        self._tasks = tasks
        self._messages = messages
        self._detail = detail
        detail.cards.artifact_requested.connect(self._on_requested)

    def _on_requested(self, name: str, version: int) -> None:
        session = self._current.session
        if session is not None:
            self._tasks.spawn(self._open(session, name, version), f"Opening {name}")

    async def _open(self, session: OpenSession, name: str, version: int) -> None:
        key, files = session.address.key, session.source.files
        part = await files.load_artifact(
            app_name=key.app_name, user_id=key.user_id, session_id=key.session_id, filename=name, version=version
        )
        if part is None:
            where = f"in {files.root_dir}" if isinstance(files, file_artifact_service.FileArtifactService) else "here"
            self._messages.info(
                f"Version {version} of {visible(name[:100])} is not {where}: it was deleted, or its agent stores it elsewhere."
            )
            return
        artifact_dialog(name, version, part, self._detail).open()
