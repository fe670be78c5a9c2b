"""Loading agents: asks for trust first, imports off the GUI thread."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from inspector_app.engines.agent_loader import AgentLoadError, LoadedAgent, load_agent
from inspector_app.engines.samples import is_bundled
from inspector_app.support.preferences import Preferences
from inspector_app.support.worker import Worker

_SKIPPED_FOLDERS = {"__pycache__", ".git", ".venv", "venv", "node_modules", ".adk"}
_MAX_LISTED = 1_000


class CurrentAgent(QObject):
    """The one agent that is loaded, and how it got there.

    Attributes:
        loaded: the agent that runs would use; None before one is loaded.

    Signals:
        trust_requested(str, Path, list[str]): the path to load, its folder, the folder's Python files; nothing has run yet.
        loading(str): a path is being imported.
        agent_loaded(LoadedAgent): it can run now.
        agent_failed(str, Exception): a path could not be loaded; the agent before it stays.

    Args:
        preferences: knows the trusted folders.
        trust_all: `--trust` was given: nothing is asked, and nothing is remembered.
    """

    trust_requested = Signal(str, object, list)
    loading = Signal(str)
    agent_loaded = Signal(object)
    agent_failed = Signal(str, object)

    def __init__(self, preferences: Preferences, *, trust_all: bool = False, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._trust_all = trust_all
        self._importer = Worker("agent-import")
        self.loaded: LoadedAgent | None = None

    async def open(self, path: str) -> None:
        """Load the agent at `path`, if its folder is trusted; ask otherwise."""
        folder = _folder_of(path)
        if folder is None:
            self.agent_failed.emit(path, AgentLoadError(f"There is no file or folder {path}."))
        elif self._trust_all or is_bundled(folder) or self._preferences.trusts(folder):
            await self._load(path)
        else:
            files = await self._importer.call(_python_files, folder)
            self.trust_requested.emit(path, folder, files)

    async def trust_and_load(self, path: str) -> None:
        """Remember that the folder is trusted, and load the agent."""
        folder = _folder_of(path)
        if folder is not None:
            self._preferences.trust(folder)
        await self.open(path)

    def close(self) -> None:
        """Let the importing thread end."""
        self._importer.close()

    async def _load(self, path: str) -> None:
        self.loading.emit(path)
        try:
            loaded = await self._importer.call(load_agent, path)
        except Exception as error:
            self.agent_failed.emit(path, error)
            return
        self.loaded = loaded
        self.agent_loaded.emit(loaded)


def _folder_of(path: str) -> Path | None:
    """Return the folder whose code loading `path` would run."""
    place = Path(path).expanduser().absolute()
    if place.is_dir():
        return place
    return place.parent if place.is_file() else None


def _python_files(folder: Path) -> list[str]:
    found: list[str] = []
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        found.extend(str((Path(root) / name).relative_to(folder)) for name in sorted(names) if name.endswith(".py"))
        if len(found) >= _MAX_LISTED:
            break
    return found
