"""Loading agents: asks for trust first, imports off the GUI thread or in another process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from inspector_app.engines.agent_output import OnOutput
from inspector_app.engines.engine_choice import ENGINE_KINDS, EngineChoice, EnginePlan, plan_engine
from inspector_app.engines.preloading import load_engines
from inspector_app.engines.protocol import Agent, Debugpy, free_port
from inspector_app.engines.samples import is_bundled
from inspector_app.presentation.trust_question import TrustQuestion
from inspector_app.support.preferences import Preferences
from inspector_app.support.worker import Worker
from inspector_app.workspace.trust import Trust, read_code
from runtime.errors import KnownError
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from inspector_app.documents.sources import Source
    from inspector_app.engines import agent_loader, child_agent
else:
    agent_loader = lazy_module("inspector_app.engines.agent_loader")
    child_agent = lazy_module("inspector_app.engines.child_agent")


class CurrentAgent(QObject):
    """The one agent that is loaded, and how it got there.

    Attributes:
        trust: the trusted folders.
        debugpy: the port where a debugger may attach to an agent's process; None: none may.
        plan: which engine runs the agent loaded here, and why; None before one is loaded.
        server: the database of the server that runs `loaded`, which then has no code and no engine here; empty if it runs here.
        path: what was loaded, as the user wrote it; empty before.
        lacks_adk: whether google-adk would run what was opened last, if it were installed.
        busy: why the window starts no run of it now, as a sentence; empty if it does.

    Signals:
        choice_requested(str, tuple[str, ...]): the folder is no agent and holds these; nothing of them has run.
        trust_requested(TrustQuestion): the code of the folder is not trusted; nothing of it has run.
        loading(str): a path is being imported.
        agent_loaded(Agent): it can run now.
        visited_changed: a server's agent is used now, or is used no more; `agent_loaded` follows if there is an agent.
        agent_failed(str, Exception): a path could not be loaded; the agent before it stays.
        busy_changed: `busy` changed.

    Args:
        preferences: knows the trusted folders.
        trust_all: `--trust` was given: nothing is asked, and nothing is remembered.
        engine: the engine that was named for this window; it comes before what is remembered for a folder.
        on_output: called with what agents write, on any thread.
    """

    choice_requested = Signal(str, object)
    trust_requested = Signal(object)
    loading = Signal(str)
    agent_loaded = Signal(object)
    agent_failed = Signal(str, object)
    busy_changed = Signal()
    visited_changed = Signal()

    def __init__(
        self,
        preferences: Preferences,
        *,
        trust_all: bool = False,
        engine: EngineChoice | None = None,
        on_output: OnOutput = lambda line: None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._engine = engine if engine is not None and (engine.kind or engine.python) else None
        self.debugpy = engine.debugpy if engine is not None else None
        self._on_output = on_output
        self.trust = Trust(preferences)
        self._trust_all = trust_all
        self._importer = Worker("agent-import")
        self._own: Agent | None = None
        self._visited: Agent | None = None
        self.server = ""
        self.plan: EnginePlan | None = None
        self.path = ""
        self.lacks_adk = False
        self.busy = ""
        self._in_use: Agent | None = None
        self._retired: list[Agent] = []

    @property
    def loaded(self) -> Agent | None:
        """The agent that runs would use: that of the displayed session's server, else the loaded one; None before one is loaded."""
        return self._visited or self._own

    def described_for(self, app_name: str, source: Source) -> Mapping[str, Any]:
        """Return the root agent that runs an app's sessions, as data; empty if it is not known.

        Args:
            app_name: the app.
            source: where the sessions are.
        """
        loaded = self.loaded
        return source.described or (loaded.described if loaded is not None and loaded.name == app_name else {})

    def visit(self, agent: Agent | None, server: str = "") -> None:
        """Use an agent that a server runs, as long as a session of that server is displayed.

        Args:
            agent: the server's agent; None: the loaded one again.
            server: the server's database, where its sessions are.
        """
        if agent is not self._visited:
            self._visited, self.server = agent, server if agent is not None else ""
            self.visited_changed.emit()
            if self.loaded is not None:
                self.agent_loaded.emit(self.loaded)

    async def open(self, path: str) -> None:
        """Load the agent at `path`, if its folder is trusted; ask otherwise. The only agent in a folder need not be named."""
        await self._importer.call(load_engines)
        folder = _folder_of(path)
        if folder is None:
            self.agent_failed.emit(path, agent_loader.not_there(path))
            return
        try:
            names = await self._importer.call(agent_loader.agents_to_choose_from, path)
            if len(names) > 1:
                self.choice_requested.emit(path, names)
                return
            if names:
                path = str(Path(path) / names[0])
                folder = _folder_of(path) or folder
            plan = await self._importer.call(plan_engine, path, self._choice(folder))
        except KnownError as error:
            self.agent_failed.emit(path, error)
            return
        except OSError as error:  # deleted meanwhile, or unreadable
            self.agent_failed.emit(path, agent_loader.AgentLoadError(f"{path} cannot be read: {error.strerror or error}."))
            return
        if self._trust_all or is_bundled(folder):
            await self._load(path, plan)
        else:
            try:
                code = await self._importer.call(read_code, folder)
            except OSError as error:  # deleted meanwhile, or unreadable
                self.agent_failed.emit(path, agent_loader.AgentLoadError(f"{path} cannot be read: {error.strerror or error}."))
                return
            if reason := self.trust.doubt(code):
                self.trust_requested.emit(TrustQuestion(path, code, reason, plan.sentence, plan.lacks_adk))
            else:
                await self._load(path, plan)

    async def trust_and_load(self, question: TrustQuestion, *, changes: bool) -> None:
        """Remember that a folder is trusted, and load its agent. Code that changed since the question is asked about again.

        Args:
            question: as it was displayed.
            changes: whether the folder stays trusted after its code changes.
        """
        self.trust.remember(question.code, changes=changes)
        if question.code.digest is None:
            await self._load(question.path, await self._importer.call(plan_engine, question.path, self._choice(question.code.folder)))
        else:
            await self.open(question.path)

    async def load_again(self) -> bool:
        """Load the loaded agent again; return whether that succeeded, which needs trust in its code if that has changed."""
        before = self._own
        await self.open(self.path)
        return self._own is not before

    async def set_debugpy(self, port: int | None) -> None:
        """Load the agent again in a process to which a debugger may attach; None: to which none may."""
        before, self.debugpy = self.debugpy, port
        if not await self.load_again():
            self.debugpy = before

    async def choose_engine(self, choice: EngineChoice) -> None:
        """Remember the engine of the loaded agent's folder, and load the agent again."""
        assert self._own is not None
        self._engine = None
        if choice.kind == "embedded":
            self.debugpy = None
        self._preferences.keep_engine(self._own.folder, {"kind": choice.kind, "python": choice.python})
        await self.open(self.path)

    def set_busy(self, reason: str) -> None:
        """Say why the window starts no run of the agent; empty if it does."""
        self.busy = reason
        self.busy_changed.emit()

    def begin_use(self, agent: Agent) -> None:
        """Keep an agent for a run, also if another one is loaded meanwhile."""
        self._in_use = agent

    async def end_use(self) -> None:
        """Release the agent of a run that has ended."""
        self._in_use = None
        while self._retired:
            await self._retired.pop().close()

    async def close(self) -> None:
        """End the agent's process, and let the importing thread end."""
        self._importer.close()
        await self.end_use()
        if self._own is not None:
            await self._own.close()

    def _choice(self, folder: Path) -> EngineChoice:
        if self._engine is not None:
            return replace(self._engine, debugpy=self.debugpy)
        kept = self._preferences.engine(folder)
        kind, python = kept.get("kind"), kept.get("python")
        return EngineChoice(kind if kind in ENGINE_KINDS else None, python if isinstance(python, str) else None, self.debugpy)

    async def _load(self, path: str, plan: EnginePlan) -> None:
        self.lacks_adk = plan.lacks_adk
        self.loading.emit(path)
        before = self._own
        if isinstance(before, child_agent.ChildAgent) and before.debugpy is not None and before is not self._in_use:
            await before.close()  # its debugpy has the port; if the new one fails, the next run starts it again
        try:
            loaded = await self._load_on(plan, path)
        except Exception as error:
            self.agent_failed.emit(path, error)
            return
        self._own, self.plan, self.path = loaded, plan, path
        self.agent_loaded.emit(self.loaded)
        if before is self._in_use and before is not None:
            self._retired.append(before)
        elif before is not None:
            await before.close()

    async def _load_on(self, plan: EnginePlan, path: str) -> Agent:
        if plan.kind != "embedded":
            environment = plan.decision.environment if plan.kind == "adk" else None
            debugpy = Debugpy(free_port(plan.debugpy)) if plan.debugpy is not None else None
            return await child_agent.ChildAgent.load(plan.decision.agent, environment, self._on_output, debugpy)
        loaded: agent_loader.LoadedAgent = await self._importer.call(agent_loader.load_agent, path)
        return replace(loaded, on_output=self._on_output)


def _folder_of(path: str) -> Path | None:
    """Return the folder whose code loading `path` would run."""
    place = Path(path).expanduser().absolute()
    if place.is_dir():
        return place
    return place.parent if place.is_file() else None
