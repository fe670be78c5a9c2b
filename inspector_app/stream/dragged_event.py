"""An event that is dragged out of the stream: as a JSON file, written when the target asks for it, and as text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMetaType, QMimeData, QTemporaryDir, QUrl

from runtime.events.credentials import without_credentials

if TYPE_CHECKING:
    from runtime.events import Event

_FILES = "text/uri-list"
DRAGGED_AS = (_FILES, "text/plain")


class DraggedEvent(QMimeData):
    """The data of one drag.

    Its file is in a folder of its own, which is deleted with this object. File managers copy it after the drop, so the model keeps the
    data until the next drag.

    Args:
        event: the event.
        number: its number in the session, from 1.
    """

    def __init__(self, event: Event, number: int) -> None:
        super().__init__()
        self._event = event
        self._name = f"event-{number}-{re.sub(r'[^A-Za-z0-9_-]+', '_', event.author)[:40]}.json"
        self._folder: QTemporaryDir | None = None

    def formats(self) -> list[str]:
        """Return what a target can ask for."""
        return list(DRAGGED_AS)

    def hasFormat(self, mime_type: str) -> bool:
        """Return whether a target can ask for a type."""
        return mime_type in DRAGGED_AS

    def retrieveData(self, mime_type: str, preferred: QMetaType | QMetaType.Type) -> Any:
        """Return the data of a type; the file is written the first time that it is asked for."""
        if mime_type == _FILES:
            return [QUrl.fromLocalFile(str(self._file()))]
        return self._text() if mime_type == "text/plain" else None

    def remove_file(self) -> None:
        """Delete the file and its folder."""
        self._folder = None

    def _file(self) -> Path:
        if self._folder is None:
            self._folder = QTemporaryDir()
            (Path(self._folder.path()) / self._name).write_text(self._text(), "utf-8", "replace")
        return Path(self._folder.path()) / self._name

    def _text(self) -> str:
        return without_credentials(self._event).model_dump_json(exclude_none=True, indent=2)
