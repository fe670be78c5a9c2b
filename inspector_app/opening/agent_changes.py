"""Watch a loaded agent's files and offer to reload it when they change."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer

from inspector_app.engines.agent_loader import files_of_agent
from inspector_app.support.tasks import Tasks
from inspector_app.widgets.actions import Actions
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.workspace.current_agent import CurrentAgent

CALM_MS = 200  # from a change to examining the files; an editor writes several times when it saves

Stamps = dict[Path, tuple[int, int] | None]


class AgentChanges(QObject):
    """Watches the files that loading the agent executed; of an agent that failed to load, its entry files.

    Args:
        agents: loads agents.
        tasks: runs the loading.
        commands: the menu's commands.
        hint: offers to load the agent again.
    """

    def __init__(self, agents: CurrentAgent, tasks: Tasks, commands: Actions, hint: HintBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._agents = agents
        self._tasks = tasks
        self._hint = hint
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
        agents.loading.connect(self._on_loading)
        agents.agent_loaded.connect(self._on_load_ended)
        agents.agent_failed.connect(self._on_load_ended)
        commands.reload.triggered.connect(self._on_reload)

    def _on_loading(self, path: str) -> None:
        self._path = path
        self._hint.hide()

    def _on_load_ended(self, *_: object) -> None:
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
        """Watch these files and their folders; a file that an editor replaced has to be added again."""
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
    except OSError:  # deleted
        return None
    return stat.st_mtime_ns, stat.st_size
