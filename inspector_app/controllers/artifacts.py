"""A look at the files that an event saved, where something keeps them."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector_app.controllers.browse import BrowseController, OpenSession
from inspector_app.controllers.sources import ARTIFACTS
from inspector_app.messages import MessageBus
from inspector_app.tasks import Tasks
from inspector_app.values import visible
from inspector_app.views.artifacts import artifact_dialog
from inspector_app.views.event_detail import EventDetail


class ArtifactController(QObject):
    """Opens a saved file in a window of its own, or says where it is.

    Args:
        browse, tasks, messages: of the window.
        detail: has the buttons.
    """

    def __init__(self, browse: BrowseController, tasks: Tasks, messages: MessageBus, detail: EventDetail) -> None:
        super().__init__(detail)
        self._browse = browse
        self._tasks = tasks
        self._messages = messages
        self._detail = detail
        detail.content.artifact_asked.connect(self._on_asked)

    def _on_asked(self, name: str, version: int) -> None:
        session = self._browse.session
        if session is not None:
            self._tasks.spawn(self._open(session, name, version), f"Opening {name}")

    async def _open(self, session: OpenSession, name: str, version: int) -> None:
        service, key = session.source.artifacts(), session.address.key
        if service is None:
            self._messages.info(
                f"{visible(name[:100])} is with the agent that saved it: beside this database there is no folder {ARTIFACTS!r}."
            )
            return
        part = await service.load_artifact(
            app_name=key.app_name, user_id=key.user_id, session_id=key.session_id, filename=name, version=version
        )
        if part is None:
            self._messages.info(f"{visible(name[:100])} has no version {version} any more, or it was saved elsewhere.")
            return
        artifact_dialog(name, version, part, self._detail).open()
