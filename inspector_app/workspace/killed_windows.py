"""Sessions without a database whose window was killed. Closing a window deletes them; a killed one leaves its temporary database behind."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QObject

from inspector_app.documents.session_address import MEMORY
from inspector_app.documents.sources import Source
from inspector_app.support.preferences import Preferences
from inspector_app.workspace.open_databases import OpenDatabases


class KilledWindows(QObject):
    """Remembers this window's temporary database, and offers those of killed windows as recent items.

    Args:
        databases: tells when the temporary database exists.
        preferences: the record, shared by all windows.
    """

    def __init__(self, databases: OpenDatabases, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences
        databases.database_listed.connect(self._on_listed)

    def offer(self) -> list[str]:
        """Put the databases of killed windows first among the recent items.

        Returns:
            The databases that were not offered before.
        """
        found = []
        for file, pid in self._preferences.unsaved_files.items():
            if not Path(file).is_file():
                self._preferences.remove_unsaved_file(file)
            elif not _is_running(pid):
                self._preferences.remove_unsaved_file(file)
                self._preferences.add_recent(file)
                found.append(file)
        return found

    def _on_listed(self, source: Source, _: object) -> None:
        if source.is_unsaved and source.target != MEMORY and source.target not in self._preferences.unsaved_files:
            self._preferences.keep_unsaved_file(source.target, os.getpid())


def _is_running(pid: int) -> bool:
    """Return whether there is a process of this number; it may be a later one, and its end is then waited for."""
    import psutil  # 20 ms

    return bool(psutil.pid_exists(pid))
