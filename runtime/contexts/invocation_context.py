"""The context that the agents of one invocation share."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, SkipValidation

from runtime.auth.auth_credential import AuthCredential
from runtime.contexts.hooks import NO_HOOKS, Hooks
from runtime.contexts.live_request_queue import LiveRequestQueue
from runtime.contexts.run_config import RunConfig
from runtime.errors.known_error import KnownError
from runtime.events.event import Event
from runtime.history.agent_places import AgentPlaces
from runtime.history.agent_tree import AgentTree
from runtime.history.checkpoints import Checkpoints, read_checkpoints
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.event_list import EventList, events_of
from runtime.sessions.session import Session
from runtime.sessions.uncommitted_writes import UncommittedWrites
from runtime.support.agent_thread import AgentThread, SyncCalls


class LlmCallsLimitExceededError(KnownError):
    """Raised when an invocation makes more model calls than `RunConfig.max_llm_calls` allows."""


class InvocationPaused(BaseException):
    """Raised through the agents when a long-running call waits for its answer; caught at the invocation's outermost agent.

    It is an exception rather than a flag, so that no parent, custom agents included, continues past a waiting child. It is not an
    `Exception`, so that `except Exception` does not catch it.
    """


@dataclass(slots=True)
class LlmCallCount:
    """The number of model calls of an invocation, including those of agents that run as tools."""

    made: int = 0


class InnerRun(Protocol):
    """Run an agent inside a function call of another run; the Runner provides it, `AgentTool` calls it."""

    def __call__(
        self,
        outer: InvocationContext,
        *,
        agent: AgentTree,
        call_id: str | None,
        plugins: Sequence[Any],
        session_service: BaseSessionService,
        session: Session,
        artifact_service: Any | None,
        new_message: types.Content | None,
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of the inner run, or of one that continues the events of its session.

        Args:
            outer: the caller's context, whose invocation id, run settings, memory and model call count the inner run shares.
            agent: the agent to run.
            call_id: the function call.
            plugins: hooks of the inner run.
            session_service, session: where the inner events are committed.
            artifact_service: where the inner agents save files.
            new_message: the request to the agent, or answers to its calls; None if it only continues.
        """


class Resource(Protocol):
    """Something that is open until the end of a run, such as a connection."""

    async def close(self) -> None:
        """Close it; must not raise."""


@dataclass
class Abort:
    """The wish to end a run.

    Attributes:
        signal: ends the run when it is set.
        loop: the event loop that the signal belongs to.
        is_wanted: the run was ended from inside.
    """

    signal: asyncio.Event | None = None
    loop: asyncio.AbstractEventLoop | None = None
    is_wanted: bool = False


@dataclass(slots=True)
class Shared:
    """The data shared by all copies of a context.

    Attributes:
        llm_calls: model calls made so far.
        inner_run: runs an agent inside a function call. `runtime.runners` sets it for all contexts when it is imported, because
            contexts are below the Runner; None until then.
        outer: the outer context and function call, if this run's agent runs as a tool.
        committed_state: the state without uncommitted local writes.
        failed_commits: id() of an event that could not be committed → the error, until it is raised in the agent that yielded the
            event; parallel siblings may each have one.
        yielded_by: id() of an event on its way to the Runner → the context of the agent that yielded it.
        asked_by: the event with the call that the user's message answers; None if it answers none.
        resumed: the checkpoints that this run began with; None in a new invocation.
        is_prepared: whether the caller of an agent, not a Runner, said which agents are to continue: those without an end of theirs.
        has_resumed_mark: False until a resumed run has committed its first event.
        places: the agents of the tree, told apart also if they share a name; None until they are first needed.
        positions: key of a workflow agent → index of the sub-agent that its last checkpoint names.
        calls: key of an agent → number of its calls in this run.
        conversations: agent name and branch → the session as that agent's model sees it; only `flows` knows the values' type.
        inner_calls: branch, agent, tool and arguments → number of such calls, in the run of an agent that runs as a tool.
        committing: held while an event is committed, as the user may edit the state while agents on other branches run.
        sync_calls: where the run's synchronous code is called; None until the first call, in a context that no Runner made.
        writes: the uncommitted writes to the session's state; None until the first one.
        custom_metadata: data that callbacks and tools hand on during the run; it begins with that of the run's settings.
        credentials: key → a credential of a toolset, ready for use.
        resources: what tools opened for this run, by a key of their own; closed at its end.
        commit: commits an event that no agent yields; the Runner sets it.
        abort: whether the run is to end; the contexts of agents that run as tools have the same object.
    """

    inner_run: ClassVar[InnerRun | None] = None

    llm_calls: LlmCallCount = field(default_factory=LlmCallCount)
    outer: tuple[InvocationContext, str | None] | None = None
    committed_state: dict[str, Any] = field(default_factory=dict)
    failed_commits: dict[int, Exception] = field(default_factory=dict)
    yielded_by: dict[int, InvocationContext] = field(default_factory=dict)
    asked_by: Event | None = None
    resumed: Checkpoints | None = None
    is_prepared: bool = False
    has_resumed_mark: bool = True
    places: AgentPlaces | None = None
    positions: dict[str, int] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    conversations: dict[Any, Any] = field(default_factory=dict)
    inner_calls: Counter[Any] = field(default_factory=Counter)
    committing: asyncio.Lock = field(default_factory=asyncio.Lock)
    sync_calls: SyncCalls | None = None
    writes: UncommittedWrites | None = None
    custom_metadata: dict[str, Any] = field(default_factory=dict)
    credentials: dict[str | None, AuthCredential] = field(default_factory=dict)
    resources: dict[Any, Resource] = field(default_factory=dict)
    commit: Callable[[InvocationContext, Event], Awaitable[Event]] | None = None
    abort: Abort = field(default_factory=Abort)

    def claim(self, event: Event, context: InvocationContext) -> bool:
        """Claim an event for this context's agent; return False if an inner agent yielded it and this one only forwards it."""
        return self.yielded_by.setdefault(id(event), context) is context

    def note_failed_commit(self, event: Event, error: Exception) -> bool:
        """Record a failed commit; return False if no agent has claimed the event, so that no agent would receive the error."""
        is_claimed = id(event) in self.yielded_by
        if is_claimed:
            self.failed_commits[id(event)] = error
        return is_claimed

    def take_failed_commit(self, event: Event) -> Exception | None:
        """Return and remove the commit error of a claimed event; None if it was committed."""
        del self.yielded_by[id(event)]
        return self.failed_commits.pop(id(event), None)

    async def close_resources(self) -> None:
        """Close what tools opened for this run, all at the same time."""
        if self.resources:
            async with asyncio.TaskGroup() as group:
                while self.resources:
                    group.create_task(self.resources.popitem()[1].close())


class InvocationContext(BaseModel):
    """One invocation: the session, the services, and each agent's checkpoint.

    Copies for sub-agents share everything but `agent` and `branch`.

    Attributes:
        invocation_id: its id.
        agent: the agent that is running.
        session: the committed events; its `state` also shows uncommitted changes.
        session_service, artifact_service, memory_service, credential_service: the Runner's services.
        user_content: the message that began the invocation.
        run_config: settings of this run.
        branch: the path of parallel agents above this one.
        plugin_manager: the hooks of the app's plugins.
        resumability_config: whether checkpoints are kept.
        agent_states: agent name → its checkpoint. An agent that shares its name with others of the tree is listed by its place, as
            `AgentPlaces.key` returns it.
        end_of_agents: agent name, or place → whether it has finished.
        end_invocation: set by a callback or tool to end the invocation after the current step.
        live_request_queue: what the user sends in a live run; None in other runs.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", defer_build=True)

    invocation_id: str
    agent: Any
    session: Session
    session_service: BaseSessionService
    artifact_service: Any | None = None
    memory_service: Any | None = None
    credential_service: Any | None = None
    user_content: types.Content | None = None
    run_config: RunConfig | None = None
    branch: str | None = None
    # Whether an object has all methods of a Protocol takes 27 µs to find out, a twentieth of a short run.
    plugin_manager: SkipValidation[Hooks] = Field(default_factory=lambda: NO_HOOKS)
    resumability_config: Any | None = None
    agent_states: dict[str, dict[str, Any]] = Field(default_factory=dict)
    end_of_agents: dict[str, bool] = Field(default_factory=dict)
    end_invocation: bool = False
    live_request_queue: LiveRequestQueue | None = None

    # Not pydantic's private attributes: they are slow, and the Runner reads these for every event.

    @cached_property
    def shared(self) -> Shared:
        """The data shared by all agents of this invocation."""
        return Shared()

    @cached_property
    def depth(self) -> int:
        """The number of nested agent calls; 0 for the Runner's own context."""
        return 0

    @cached_property
    def _open_runs(self) -> list[AsyncGenerator[Event, None]]:
        """The runs of the sub-agents that this agent called."""
        return []

    def model_post_init(self, context: Any, /) -> None:
        """Create the shared data before the context is copied."""
        self.shared.custom_metadata.update((self.run_config.custom_metadata if self.run_config else None) or {})

    @property
    def is_resumable(self) -> bool:
        """Whether this invocation keeps checkpoints and pauses at long-running calls."""
        return self.resumability_config is not None and self.resumability_config.is_resumable

    @property
    def sync_calls(self) -> SyncCalls:
        """Where this run's synchronous tools, callbacks and instruction providers are called."""
        shared = self.shared
        if shared.sync_calls is None:
            shared.sync_calls = AgentThread()
        return shared.sync_calls

    @property
    def places(self) -> AgentPlaces:
        """The agents of the running agent's tree."""
        shared = self.shared
        if shared.places is None:
            shared.places = AgentPlaces(self.agent)
        return shared.places

    @property
    def writes(self) -> UncommittedWrites:
        """The writes to the session's state that no event has committed yet."""
        shared = self.shared
        if shared.writes is None:
            shared.writes = UncommittedWrites(self.session.state)
        return shared.writes

    @property
    def app_name(self) -> str:
        """The app's name."""
        return self.session.app_name

    @property
    def user_id(self) -> str:
        """The user's id."""
        return self.session.user_id

    def for_agent(self, agent: AgentTree) -> InvocationContext:
        """Return the context for a call of `agent` from this one."""
        return self.model_copy(update={"agent": agent, "depth": self.depth + 1, "_open_runs": []})

    def keep_run(self, run: AsyncGenerator[Event, None]) -> None:
        """Record a sub-agent's run, to be closed together with its caller's run."""
        runs = self._open_runs
        runs[:] = [open_run for open_run in runs if not _is_over(open_run)]
        runs.append(run)

    async def close_runs(self) -> None:
        """Close the sub-agents' runs that the agent left open.

        An agent stopped inside `async for event in sub_agent.run_async(ctx)` would leave the inner generator to the garbage collector,
        but its `finally` blocks must run now.
        """
        for run in reversed(self._open_runs):
            if not run.ag_running:  # type: ignore[attr-defined]  # typeshed knows generators' attributes only by their concrete type
                await run.aclose()

    def set_agent_state(self, agent_name: str, *, agent_state: BaseModel | None = None, end_of_agent: bool = False) -> None:
        """Set an agent's checkpoint; without either keyword, remove it.

        Args:
            agent_name: the agent, by its name or key; if several have the name, the running one.
            agent_state: the checkpoint.
            end_of_agent: whether the agent has finished.
        """
        key = self.places.key(self.agent) if agent_name == getattr(self.agent, "name", None) else agent_name
        self.agent_states.pop(key, None)
        self.end_of_agents.pop(key, None)
        if end_of_agent:
            self.end_of_agents[key] = True
        elif agent_state is not None:
            self.agent_states[key] = agent_state.model_dump(mode="json")
            self.end_of_agents[key] = False

    def populate_invocation_agent_states(self) -> None:
        """Set the agents' states from this invocation's committed events, in a resumable app; an agent that spoke has an empty one."""
        for event in self.invocation_events() if self.is_resumable else ():
            if event.actions.end_of_agent:
                self.set_agent_state(event.author, end_of_agent=True)
            elif event.actions.agent_state is not None:
                self.agent_states[event.author] = event.actions.agent_state
                self.end_of_agents[event.author] = False
            elif event.author != "user" and event.content and not self.agent_states.get(event.author):
                self.agent_states[event.author] = {}
                self.end_of_agents[event.author] = False

    def reset_sub_agent_states(self, agent_name: str) -> None:
        """Remove the checkpoints of all agents below an agent, as a loop does before its next iteration."""
        agent = self.agent.find_agent(agent_name)
        for below in agent.descendants() if agent else ():
            key = self.places.key(below)
            self.agent_states.pop(key, None)
            self.end_of_agents.pop(key, None)
            if self.shared.resumed:
                self.shared.resumed.forget(key)

    def invocation_events(self) -> list[Event]:
        """Return this invocation's committed events on all branches."""
        return events_of(self.session.events, self.invocation_id)

    def last_event(self) -> Event | None:
        """Return this invocation's last committed event, without decoding the others; None if there is none."""
        events = self.session.events
        if isinstance(events, EventList):
            return events.last_of_invocation(self.invocation_id)
        return next((event for event in reversed(events) if event.invocation_id == self.invocation_id), None)

    def should_pause_invocation(self, event: Event) -> bool:
        """Return whether an event's calls wait for an answer from outside, so that the agents after its agent do not run."""
        waiting = event.long_running_tool_ids or ()
        return any(call.id in waiting for call in event.get_function_calls()) if waiting else False

    @property
    def is_aborted(self) -> bool:
        """Whether the run was ended, by its caller (`abort_signal` of `Runner.run_async`) or by `abort`."""
        abort = self.shared.abort
        return abort.is_wanted or (abort.signal is not None and abort.signal.is_set())

    def abort(self) -> None:
        """End the run from inside; may be called on any thread.

        A run that was started with an `abort_signal` ends at once, another one when the current call of a model or tools has returned:
        its result is dropped.
        """
        abort = self.shared.abort
        abort.is_wanted = True
        if abort.signal is not None and abort.loop is not None:
            abort.loop.call_soon_threadsafe(abort.signal.set)

    def increment_llm_call_count(self) -> None:
        """Count a model call.

        Raises:
            LlmCallsLimitExceededError: the call exceeds the limit.
        """
        self.shared.llm_calls.made += 1
        limit = self.run_config.max_llm_calls if self.run_config else 0
        if 0 < limit < self.shared.llm_calls.made:
            raise LlmCallsLimitExceededError(
                f"The invocation stopped after {limit} model calls (RunConfig.max_llm_calls). Agents may be calling each other in a loop."
            )

    def run_inside(self, outer: InvocationContext, call_id: str | None) -> None:
        """Make this the context of a run inside another context's function call; both count as one invocation."""
        self.invocation_id = outer.invocation_id
        self.shared.llm_calls = outer.shared.llm_calls
        self.shared.sync_calls = outer.sync_calls
        self.shared.abort = outer.shared.abort
        self.shared.outer = (outer, call_id)
        for event in self.session.events:
            for call in event.get_function_calls() if event.author != "user" else ():
                self.number_of_call(event.branch, event.author, call)

    def number_of_call(self, branch: str | None, agent_name: str, call: types.FunctionCall) -> tuple[Any, ...]:
        """Count a call by an agent that runs as a tool; return what identifies it within the run."""
        what = (branch, agent_name, call.name, json.dumps(call.args, sort_keys=True, default=str))
        self.shared.inner_calls[what] += 1
        return *what, self.shared.inner_calls[what]

    async def report_inner_event(self, event: Event, call_id: str | None) -> None:
        """Report an event of an agent that runs inside a function call to the plugins of the outermost run.

        The inner agent continues when this returns.

        Args:
            event: the inner run's event, committed there unless it is partial.
            call_id: the id of this context's function call that the agent runs in.

        Raises:
            PluginError: a plugin's hook raised.
        """
        context, call_ids = self, [call_id]
        while context.shared.outer is not None:
            context, call_id = context.shared.outer
            call_ids.insert(0, call_id)
        hook = "on_inner_event_callback"
        await context.plugin_manager.run_hook(hook, invocation_context=context, event=event, call_ids=tuple(call_ids))

    def read_progress(self) -> None:
        """Read the committed checkpoints if this context resumes an invocation without a Runner: its maker has set agents' states."""
        if self.shared.resumed is None and self.is_resumable and (self.agent_states or self.end_of_agents):
            self.shared.is_prepared = True
            self.shared.resumed = read_checkpoints(self.invocation_events(), self.places)
            self.shared.resumed.ended.update(self.end_of_agents)
            self.shared.positions.update(self.shared.resumed.positions)

    def resumed_checkpoints(self) -> Checkpoints | None:
        """Return the checkpoints of a resumed run, or None if this is not the running agent's first call in it."""
        return self.shared.resumed if self.shared.calls[self.places.key(self.agent)] == 1 else None


def _is_over(run: AsyncGenerator[Event, None]) -> bool:
    return run.ag_frame is None  # type: ignore[attr-defined]
