"""Watch a loaded agent's files and offer to reload it when they change."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer

from inspector_app.engines.protocol import Agent
from inspector_app.support.tasks import Tasks
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.messages import MessageBus
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from inspector_app.engines import agent_loader, child_agent
else:
    agent_loader = lazy_module("inspector_app.engines.agent_loader")
    child_agent = lazy_module("inspector_app.engines.child_agent")

CALM_MS = 200  # from a change to examining the files; an editor writes several times when it saves

Stamps = dict[Path, tuple[int, int] | None]


class AgentChanges(QObject):
    """Watches the files that loading the agent executed; of an agent that failed to load, its entry files and the one that failed.

    An agent is loaded again between runs only: a run keeps the code that it began with.

    Args:
        agents: loads agents.
        run: the run, and the invocation that could be resumed.
        tasks: runs the loading.
        messages: receives what a reload means for an invocation that is not finished.
        hint: offers to load the agent again.
    """

    def __init__(self, agents: CurrentAgent, run: CurrentRun, tasks: Tasks, messages: MessageBus, hint: HintBar) -> None:
        super().__init__(hint)
        self._agents = agents
        self._run = run
        self._messages = messages
        self._tasks = tasks
        self._hint = hint
        self._path = ""
        self._is_put_off = False
        self._is_reload = False
        self._loaded: Stamps = {}
        self._watcher = QFileSystemWatcher(self)
        self._calm = QTimer(self, singleShot=True, interval=CALM_MS)
        self._calm.timeout.connect(self._look)
        self._watcher.fileChanged.connect(self._on_changed)
        self._watcher.directoryChanged.connect(self._on_changed)
        self._hint.accepted.connect(self._load_again)
        agents.loading.connect(self._on_loading)
        agents.agent_loaded.connect(self._on_loaded)
        agents.agent_failed.connect(self._on_failed)
        run.run_started.connect(self._on_run_started)
        run.run_ended.connect(self._on_run_ended)

    def _on_loading(self, path: str) -> None:
        if path != self._path:
            self._loaded = {}
        self._path = path
        self._hint.hide()

    def _on_loaded(self, loaded: Agent) -> None:
        if self._agents.server:
            return
        self._note(loaded.files if isinstance(loaded, child_agent.ChildAgent) else ())
        if self._is_reload:
            self._messages.info(f"{loaded.name} was loaded again.{self._effect()}")
        self._is_reload = self._is_put_off = False

    def _on_failed(self, _path: str, error: Exception) -> None:
        file = getattr(error, "file", None)
        self._note([*self._loaded, *([Path(file)] if isinstance(file, str) else [])])
        self._is_reload = self._is_put_off = False

    def _note(self, files: Iterable[Path]) -> None:
        if self._path:
            self._loaded = {file: _stamp(file) for file in {*files, *agent_loader.files_of_agent(self._path)}}
            self._watch()

    def _effect(self) -> str:
        """Return a sentence that says what a reload does to the invocation that is not finished; empty if there is none."""
        loaded, unfinished = self._agents.loaded, self._run.unfinished()
        if self._run.phase != "idle":
            return " The run keeps the code that it began with."
        if unfinished is None or loaded is None:
            return ""
        reason = loaded.why_not("resume")
        if unfinished.can_be_resumed and reason:
            return f" Its {unfinished.word} invocation cannot be resumed: {reason}"
        when = "answered" if unfinished.status == "paused" else "resumed"
        return (
            f" Its {unfinished.word} invocation continues with the new code when it is {when};"
            " what the agent's modules kept in memory starts over."
        )

    def _on_run_started(self) -> None:
        if self._hint.text:
            self._look()

    def _on_run_ended(self) -> None:
        if self._is_put_off:
            self._load_again()
        elif self._hint.text:
            self._look()

    def _on_changed(self, _path: str) -> None:
        self._calm.start()

    def _look(self) -> None:
        self._watch()
        if all(_stamp(file) == stamp for file, stamp in self._loaded.items()):
            self._hint.hide()
        else:
            name = Path(self._path).name
            text = f"The code of {name} has changed since it was loaded.{self._effect()}"
            self._hint.suggest(text, "Reload", "rotate", "accent")

    def _watch(self) -> None:
        """Watch these files and their folders; a file that an editor replaced has to be added again."""
        wanted = {str(path) for file in self._loaded for path in (file, file.parent) if path.exists()}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if gone := watched - wanted:
            self._watcher.removePaths(sorted(gone))
        if new := wanted - watched:
            self._watcher.addPaths(sorted(new))

    def load_again(self) -> None:
        """Load the agent again if its code changed."""
        if self._hint.text:
            self._load_again()

    def _load_again(self) -> None:
        if self._run.phase != "idle":
            self._is_put_off = True
            self._hint.suggest(f"{Path(self._path).name} is loaded again when the run has ended.", "", "rotate", "accent")
            return
        self._is_reload = True
        self._tasks.spawn(self._agents.open(self._path), f"Loading {Path(self._path).name}")


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        stat = file.stat()
    except OSError:  # deleted
        return None
    return stat.st_mtime_ns, stat.st_size
