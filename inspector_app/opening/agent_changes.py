"""Watches the loaded agent's files and offers to reload it when they change."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer

from inspector_app.engines.agent_loader import files_of_agent
from inspector_app.shell.parts import Parts

CALM_MS = 200  # milliseconds; an editor writes several times per save, and the files are checked once afterwards

Stamps = dict[Path, tuple[int, int] | None]


class AgentChanges(QObject):
    """Watches the files that ran when the agent was loaded, or the agent's own files if loading failed.

    Args:
        parts: the window's parts.
    """

    def __init__(self, parts: Parts, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._agents = parts.agents
        self._tasks = parts.tasks
        self._hint = parts.window.workbench.agent_hint
        self._path = ""
        self._loaded: Stamps = {}
        self._watcher = QFileSystemWatcher(self)
        self._calm = QTimer(self)
        self._calm.setSingleShot(True)
        self._calm.setInterval(CALM_MS)
        self._calm.timeout.connect(self._look)
        self._watcher.fileChanged.connect(self._on_changed)
        self._watcher.directoryChanged.connect(self._on_changed)
        self._hint.accepted.connect(self._load_again)
        parts.agents.loading.connect(self._on_loading)
        parts.agents.agent_loaded.connect(self._note)
        parts.agents.agent_failed.connect(self._note)
        parts.window.commands.reload.triggered.connect(self._on_reload)

    def _on_loading(self, path: str) -> None:
        self._path = path
        self._hint.hide()

    def _note(self, *_: object) -> None:
        if self._path:
            files = files_of_agent(self._path)
            self._loaded = {file: _stamp(file) for file in files}
            self._watch()

    def _on_changed(self, _path: str) -> None:
        self._calm.start()

    def _look(self) -> None:
        self._watch()
        if all(_stamp(file) == stamp for file, stamp in self._loaded.items()):
            self._hint.hide()
        else:
            name = Path(self._path).name
            self._hint.suggest(f"The code of {name} has changed since it was loaded.", "Reload", "rotate", "accent")

    def _watch(self) -> None:
        """Watch the files and their folders; a file that an editor replaced must be added again."""
        wanted = {str(path) for file in self._loaded for path in (file, file.parent) if path.exists()}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if gone := watched - wanted:
            self._watcher.removePaths(sorted(gone))
        if new := wanted - watched:
            self._watcher.addPaths(sorted(new))

    def _on_reload(self) -> None:
        if not self._hint.isHidden():
            self._load_again()

    def _load_again(self) -> None:
        self._tasks.spawn(self._agents.open(self._path), f"Loading {Path(self._path).name}")


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        stat = file.stat()
    except OSError:  # the file does not exist
        return None
    return stat.st_mtime_ns, stat.st_size
