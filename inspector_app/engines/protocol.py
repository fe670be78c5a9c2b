"""What the window, the commands and the server ask of an engine: an object that drives one agent.

An engine is made for one agent and one place where its sessions are stored. The debugger, its breakpoints and its steps are the same for
all engines: an engine reports to the debugger where its agent is, and waits there for the debugger's answer.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from runtime.sessions.session_key import SessionKey

if TYPE_CHECKING:
    from google.genai import types

    from runtime.agents.base_agent import BaseAgent
    from runtime.artifacts.base_artifact_service import BaseArtifactService
    from runtime.debugger.debugger import Debugger
    from runtime.debugger.request_recorder import RequestRecorder
    from runtime.events.event import Event
    from runtime.forks.recording import Recording
    from runtime.forks.session_replay import Repeat
    from runtime.memory.base_memory_service import BaseMemoryService
    from runtime.sessions.base_session_service import BaseSessionService

OnCommit = Callable[["Event", dict[str, Any]], None]
"""Called right after each commit with the event, the user's message included, and the `temp:` keys it set."""

Capability = Literal["hold_calls", "resume", "rewind", "confirm", "edit_errors", "rerun"]
"""What some engines, or some versions of google-adk, cannot do.

`hold_calls`: hold before model and tool calls, and edit them. `resume`: continue a stored invocation. `rewind`: take back invocations.
`confirm`: tools that ask for a confirmation. `edit_errors`: answer in place of a tool or model that has failed. `rerun`: repeat a run with
recorded answers.
"""


@dataclass(frozen=True, slots=True)
class CodePlace:
    """Where the code of an agent, a tool or a callback is.

    Attributes:
        kind: `agent`, `tool` or `callback`.
        agent: the agent's name.
        name: the tool's or the callback's name; an agent's own.
        file: the absolute path.
        line: from 1.
    """

    kind: str
    agent: str
    name: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Debugpy:
    """How a debugger of Python code may attach to an agent's process.

    Attributes:
        port: where debugpy listens, on this machine only.
        wait: whether the agent is loaded only when a debugger has attached.
    """

    port: int
    wait: bool = False

    @property
    def hint(self) -> str:
        """A sentence that says how to attach."""
        return f"debugpy listens on 127.0.0.1:{self.port}: attach VS Code (“Python Debugger: Remote Attach”) or PyCharm there."


USUAL_PORT = 5678  # where editors look for debugpy if nothing else is configured


def free_port(port: int) -> int:
    """Return a port; a free one for 0."""
    if port:
        return port
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def usual_port() -> int:
    """Return `USUAL_PORT` if it is free; otherwise a free one."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", USUAL_PORT))
        except OSError:
            return free_port(0)
    return USUAL_PORT


def places_from_json(given: object) -> tuple[CodePlace, ...]:
    """Return the places that a worker describes."""
    found = []
    for one in given if isinstance(given, list) else ():
        with suppress(KeyError, TypeError, ValueError):
            found.append(CodePlace(str(one["kind"]), str(one["agent"]), str(one["name"]), str(one["file"]), int(one["line"])))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class AgentDescription:
    """A loaded agent as data.

    Attributes:
        app_name: the app's name.
        folder: the agent's folder.
        resumable: whether the app keeps checkpoints.
        places: where its code is.
        files: the files of its own code that are loaded.
        root: the root agent and those below it: `name`, `type`, `description`, `model`, `tools` (names), `sub_agents` (or a workflow's
            nodes), `edges` (`from` and `to`, numbers of these, and `route`), `tool_agents` (those that it calls as tools).
    """

    app_name: str
    folder: str
    resumable: bool
    root: dict[str, Any] = field(default_factory=dict)
    places: tuple[CodePlace, ...] = ()
    files: tuple[str, ...] = ()


class Engine(Protocol):
    """Drives one agent."""

    @property
    def title(self) -> str:
        """A phrase for the status bar, such as `google-adk 2.13.0`."""

    @property
    def agent(self) -> AgentDescription:
        """The loaded agent."""

    def why_not(self, capability: Capability) -> str | None:
        """Return a sentence that says why the engine cannot do something; None if it can."""

    def attach(self, debugger: Debugger) -> None:
        """Let a debugger hold the next run. Pass that run to `Debugger.run`."""

    @property
    def unmarked_edits(self) -> dict[str, Any]:
        """The user's changes to calls of the last run that no committed event records; see `Interception.unmarked_edits`."""

    async def new_session(self, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None) -> SessionKey:
        """Create a session of the app without events.

        Args:
            user_id: the user.
            state: its first state; None: empty.
            session_id: its id; None: a new one.
        """

    def run(self, key: SessionKey, message: types.Content | None, invocation_id: str | None = None) -> AsyncGenerator[Event, None]:
        """Run, resume or answer. The agent continues only when the next event is requested.

        Args:
            key: the session.
            message: the user's message or answer; None resumes an invocation.
            invocation_id: the invocation to resume; None starts a new one, or resumes the one that the answer belongs to.
        """

    def rerun(self, key: SessionKey, recording: Recording, *, runs_tools: bool = False, strict: bool = False) -> Repeat:
        """Return a recorded run that can be repeated in a fork.

        Args:
            key: the fork, made before `recording.first_event_id`.
            recording: the recording.
            runs_tools, strict: see `runtime.forks.replay.Replay`.
        """

    async def rewind(self, key: SessionKey, invocation_id: str) -> None:
        """Take back an invocation and all later ones."""

    async def edit_state(self, key: SessionKey, changes: dict[str, Any]) -> Event:
        """Set state keys manually, with a committed event."""

    async def undo_state_edit(self, key: SessionKey, event_id: str) -> Event:
        """Undo a manual edit, with a committed event."""

    async def report_progress(self, key: SessionKey, call_id: str, response: dict[str, Any]) -> Event:
        """Report the progress of a long-running call, with a committed event."""

    async def cancel_open_calls(self, key: SessionKey, invocation_id: str, edits: dict[str, Any]) -> list[Event]:
        """Answer the calls that a stopped run left unanswered."""

    @property
    def leaves_threads(self) -> bool:
        """Whether a blocking function of a stopped run continues on its thread, because nothing can stop it."""

    async def close(self) -> None:
        """Release what the engine holds. No run may be active."""


class Store(Protocol):
    """Where an agent's sessions and files are stored: a source of sessions, as an engine sees it."""

    @property
    def target(self) -> str:
        """The database's path or URL, or a word for sessions in memory."""

    @property
    def layout_kind(self) -> str:
        """`v1`, `sqlite` and the like; `memory`."""

    @property
    def files(self) -> BaseArtifactService:
        """The artifact service."""

    @property
    def memory(self) -> BaseMemoryService:
        """The memory service."""

    async def service(self) -> BaseSessionService:
        """Return the session service that runs write through."""


class Agent(Protocol):
    """An agent that is ready to run, with the engine that drives it."""

    @property
    def name(self) -> str:
        """The app's name."""

    @property
    def folder(self) -> Path:
        """The folder it was loaded from."""

    @property
    def engine_title(self) -> str:
        """The engine, as a phrase for the status bar."""

    @property
    def records_ends(self) -> bool:
        """Whether its engine records how its runs end."""

    @property
    def root(self) -> BaseAgent:
        """The root agent; an outline of it if the agent is in another process."""

    @property
    def described(self) -> Mapping[str, Any]:
        """The root agent and those below it as data; see `AgentDescription.root`."""

    @property
    def places(self) -> tuple[CodePlace, ...]:
        """Where the code of its agents, tools and callbacks is."""

    @property
    def needs_file(self) -> bool:
        """Whether its sessions must be in a database, because the window cannot read its memory."""

    @property
    def is_blocked(self) -> bool:
        """Whether it must be loaded again before it can run."""

    def why_not(self, capability: Capability) -> str | None:
        """Return a sentence that says why it cannot do something; None if it can."""

    def active(self) -> AbstractContextManager[None]:
        """Set its environment variables in this process, if it runs here."""

    async def open_engine(
        self, store: Store, on_commit: OnCommit, requests: RequestRecorder | None = None, recording: Path | None = None
    ) -> Engine:
        """Return an engine that runs it on a store, until the next call.

        Args:
            store: where its sessions are.
            on_commit: called after each commit.
            requests: keeps the requests to models in memory.
            recording: the file in which model and tool calls are recorded; None: nowhere.

        Raises:
            KnownError: the engine cannot be started, or cannot use the store.
        """

    async def ask_model(self, agent_name: str, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request to an agent's model, outside of any run: nothing is stored, and no tool runs.

        Args:
            agent_name: the agent whose model, with its key, is asked.
            request: `model`, `contents` and `config`, as JSON values in google-genai's field names.

        Returns:
            The model's last response: `content`, `usage_metadata`, `model_version`, `error_code` and the like, as JSON values.

        Raises:
            Exception: there is no such agent, the request is not one, or the model raised.
        """

    async def close(self) -> None:
        """Release what it holds. No run may be active."""
