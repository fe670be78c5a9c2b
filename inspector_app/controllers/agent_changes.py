"""Whoever mends an agent runs it again: that its code was changed since it was loaded is said, and it is loaded anew on request."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer

from inspector_app.controllers.agents import python_files
from inspector_app.controllers.parts import Parts
from runtime.worker_threads import run_in_thread

CALM_MS = 200
"""An editor that saves writes several times; it is looked at the files once, milliseconds later."""

Stamps = dict[str, tuple[int, int]]


class AgentChanges(QObject):
    """Watches the Python files of the loaded agent, or of the one that could not be loaded.

    Args:
        parts: of the window.
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
        self._calm.timeout.connect(self._on_calm)
        self._watcher.fileChanged.connect(self._on_changed)
        self._watcher.directoryChanged.connect(self._on_changed)
        self._hint.accepted.connect(self._load_again)
        parts.agents.loading.connect(self._on_loading)
        parts.window.commands.reload.triggered.connect(self._on_reload)

    def _on_loading(self, path: str) -> None:
        self._path = path
        self._hint.hide()
        self._tasks.spawn(self._note(path), "Looking at the agent's files")

    async def _note(self, path: str) -> None:
        stamps = await run_in_thread(_stamps, _folder(path))
        if path == self._path:
            self._loaded = stamps
            self._watch(stamps)

    def _on_changed(self, _path: str) -> None:
        self._calm.start()

    def _on_calm(self) -> None:
        self._tasks.spawn(self._look(self._path), "Looking at the agent's files")

    async def _look(self, path: str) -> None:
        stamps = await run_in_thread(_stamps, _folder(path))
        if path != self._path:
            return
        self._watch(stamps)
        if stamps == self._loaded:
            self._hint.hide()
        else:
            name = _folder(path).name
            self._hint.suggest(f"The code of {name} was changed since it was loaded.", "Load it again", "rotate", "accent")

    def _watch(self, stamps: Stamps) -> None:
        """Watch these files and their folders; what an editor put in a file's place has to be named anew."""
        folder = _folder(self._path)
        wanted = {str(folder)} | {str(folder / name) for name in stamps} | {str((folder / name).parent) for name in stamps}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if gone := watched - wanted:
            self._watcher.removePaths(sorted(gone))
        if new := wanted - watched:
            self._watcher.addPaths(sorted(new))

    def _on_reload(self) -> None:
        if not self._hint.isHidden():
            self._load_again()

    def _load_again(self) -> None:
        self._tasks.spawn(self._agents.open(self._path), f"Loading {_folder(self._path).name}")


def _folder(path: str) -> Path:
    place = Path(path).expanduser().absolute()
    return place if place.is_dir() else place.parent


def _stamps(folder: Path) -> Stamps:
    found = {}
    for name in python_files(folder):
        try:
            stat = (folder / name).stat()
        except OSError:  # gone since it was listed
            continue
        found[name] = (stat.st_mtime_ns, stat.st_size)
    return found
