"""Answers the question which engine runs the loaded agent, and changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector_app.engines.engine_choice import EngineChoice, EngineKind
from inspector_app.engines.protocol import Debugpy, usual_port
from inspector_app.opening.engine_menu import EngineMenu, EngineOption
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.messages import MessageBus
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from inspector_app.engines import child_agent, embedded
else:
    child_agent = lazy_module("inspector_app.engines.child_agent")
    embedded = lazy_module("inspector_app.engines.embedded")


class EngineController(QObject):
    """Fills the menu of engines, for the loaded agent.

    Args:
        agents: the loaded agent.
        run: no engine is changed during a run.
        tasks: loads the agent again.
        messages: receives reasons why the engine cannot be changed.
        menu: the engines.
    """

    def __init__(self, agents: CurrentAgent, run: CurrentRun, tasks: Tasks, messages: MessageBus, menu: EngineMenu) -> None:
        super().__init__(menu)
        self._agents = agents
        self._run = run
        self._tasks = tasks
        self._messages = messages
        self._menu = menu
        agents.agent_loaded.connect(self._on_agent_loaded)
        menu.chosen.connect(self._on_chosen)
        menu.debugpy_requested.connect(self._on_debugpy_requested)

    def ask(self) -> None:
        """Show the engines that can run the loaded agent."""
        if self._run.phase != "idle":
            self._messages.info(self._run.blocked("new_session") or "")
        elif self._agents.loaded is None:
            self._messages.info("Open an agent first (Ctrl+O).")
        else:
            debugpy = self._debugpy()
            self._menu.offer(self._options(), debugpy.port if debugpy is not None else None)

    def _options(self) -> list[EngineOption]:
        loaded, plan = self._agents.loaded, self._agents.plan
        is_child = isinstance(loaded, child_agent.ChildAgent)
        used = str(loaded.python or "") if isinstance(loaded, child_agent.ChildAgent) else ""
        found = {str(step.environment.python): step.environment for step in plan.decision.steps if step.environment} if plan else {}
        with_adk = [
            EngineOption("adk", python, f"google-adk {one.adk_version} ({python})", python == used)
            for python, one in found.items()
            if one.adk_version is not None
        ]
        return [
            *with_adk,
            EngineOption("embedded", "", f"{embedded.TITLE}, in this process", not is_child),
            EngineOption("embedded-process", "", f"{embedded.TITLE}, in a process of its own", is_child and not used),
        ]

    def _debugpy(self) -> Debugpy | None:
        loaded = self._agents.loaded
        return loaded.debugpy if isinstance(loaded, child_agent.ChildAgent) else None

    def _on_agent_loaded(self) -> None:
        if (debugpy := self._debugpy()) is not None:
            self._messages.info(debugpy.hint)

    def _on_debugpy_requested(self, wanted: bool) -> None:
        port = usual_port() if wanted else None
        self._tasks.spawn(self._agents.set_debugpy(port), "Starting the agent under debugpy" if wanted else "Loading the agent")

    def _on_chosen(self, kind: EngineKind, python: str) -> None:
        choice = EngineChoice(kind, python or None)
        self._tasks.spawn(self._agents.choose_engine(choice), "Changing the engine")
