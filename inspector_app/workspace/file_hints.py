"""Hints that a database file was written to, so that it is polled less often."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject


class FileHints(QObject):
    """Watches a file, its write-ahead log and its folder by the operating system's means. Some changes are missed: network file systems
    do not report what other machines write.

    Args:
        file: the database.
        tell: called when something may have changed.
    """

    def __init__(self, file: Path, tell: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tell = tell
        self._paths = [file.parent, file, file.with_name(file.name + "-wal")]
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._on_changed)
        self._watcher.directoryChanged.connect(self._on_changed)
        self._watch()

    def _on_changed(self, _path: str) -> None:
        self._watch()
        self._tell()

    def _watch(self) -> None:
        """Watch files that were created since; a file that is replaced has to be added again."""
        watched = {*self._watcher.files(), *self._watcher.directories()}
        wanted = [str(path) for path in self._paths if str(path) not in watched and path.exists()]
        if wanted:
            self._watcher.addPaths(wanted)
