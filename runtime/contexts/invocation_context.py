"""What all agents of one invocation share."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field

from runtime.contexts.hooks import NO_HOOKS, Hooks
from runtime.contexts.run_config import RunConfig
from runtime.errors.known_error import KnownError
from runtime.events.event import Event
from runtime.history.agent_tree import AgentTree
from runtime.history.checkpoints import Checkpoints
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.event_list import events_of
from runtime.sessions.session import Session


class LlmCallsLimitExceededError(KnownError):
    """The invocation made more model calls than `RunConfig.max_llm_calls` allows."""


class InvocationPaused(BaseException):
    """Raised through the agents when a long-running call waits for its answer; stops at the invocation's outermost agent.

    It is an exception rather than a flag, so that no parent, not even a user's custom agent, walks on past a child that waits; and not
    an `Exception`, so that `except Exception` lets it by.
    """


@dataclass(slots=True)
class LlmCallCount:
    """How many model calls an invocation made, those of agents that run as tools included."""

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
        new_message: types.Content,
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of the inner run.

        Args:
            outer: the caller's context; its invocation id, run settings, memory and count of model calls hold here too.
            agent: the agent to run.
            call_id: the function call.
            plugins: hooks of the inner run.
            session_service, session: where the inner events are committed.
            artifact_service: where the inner agents save files.
            new_message: the request to the agent.
        """


@dataclass(slots=True)
class Shared:
    """What all copies of a context share.

    Attributes:
        llm_calls: model calls made so far.
        inner_run: runs an agent inside a function call; None in a context that no Runner made.
        outer: the context and function call that this run is inside of, if its agent runs as a tool.
        committed_state: the state without local writes that no event has carried yet.
        failed_commits: id() of each event that could not be committed → why, until the agent that yielded it is told; siblings that run
            in parallel may each have one.
        yielded_by: id() of each event on its way to the Runner → the context of the agent that yielded it.
        resumed: the checkpoints this run began with; None in a fresh invocation.
        has_resumed_mark: False until a resumed run has committed its first event.
        calls: agent name → how often it was called in this run.
        conversations: agent name and branch → the session as that agent's model sees it; only `flows` knows what the values are.
        inner_calls: branch, agent, tool and arguments → how often that call was made, in the run of an agent that is a tool.
        committing: held while an event is committed: a person may edit the state while agents on other branches run on.
    """

    llm_calls: LlmCallCount = field(default_factory=LlmCallCount)
    inner_run: InnerRun | None = None
    outer: tuple[InvocationContext, str | None] | None = None
    committed_state: dict[str, Any] = field(default_factory=dict)
    failed_commits: dict[int, Exception] = field(default_factory=dict)
    yielded_by: dict[int, InvocationContext] = field(default_factory=dict)
    resumed: Checkpoints | None = None
    has_resumed_mark: bool = True
    calls: Counter[str] = field(default_factory=Counter)
    conversations: dict[Any, Any] = field(default_factory=dict)
    inner_calls: Counter[Any] = field(default_factory=Counter)
    committing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def claim(self, event: Event, context: InvocationContext) -> bool:
        """Claim an event for this context's agent; False if an agent further in yielded it, and this one only forwards it."""
        return self.yielded_by.setdefault(id(event), context) is context

    def note_failed_commit(self, event: Event, error: Exception) -> bool:
        """Remember why an event could not be committed; False if no agent has claimed it, so that nobody would be told."""
        is_claimed = id(event) in self.yielded_by
        if is_claimed:
            self.failed_commits[id(event)] = error
        return is_claimed

    def take_failed_commit(self, event: Event) -> Exception | None:
        """Return why an event that was claimed could not be committed; None if it was."""
        del self.yielded_by[id(event)]
        return self.failed_commits.pop(id(event), None)


class InvocationContext(BaseModel):
    """One invocation: the session, the services, and how far each agent is (seed: runtime-event-loop, "Invocation").

    Copies for sub-agents share everything but `agent` and `branch`.

    Attributes:
        invocation_id: its id.
        agent: the agent that is running.
        session: what was committed so far; its `state` also shows uncommitted changes.
        session_service, artifact_service, memory_service, credential_service: the Runner's.
        user_content: the message that began the invocation.
        run_config: settings of this run.
        branch: path of parallel agents that leads here.
        plugin_manager: the hooks of the app's plugins.
        resumability_config: whether checkpoints are kept.
        agent_states: agent name → its checkpoint.
        end_of_agents: agent name → whether it finished.
        end_invocation: set by a callback or tool to end everything after the present step.
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
    plugin_manager: Hooks = Field(default_factory=lambda: NO_HOOKS)
    resumability_config: Any | None = None
    agent_states: dict[str, dict[str, Any]] = Field(default_factory=dict)
    end_of_agents: dict[str, bool] = Field(default_factory=dict)
    end_invocation: bool = False

    # No private attributes of pydantic's: each look at one takes 2 µs, and the Runner looks for every event.

    @cached_property
    def shared(self) -> Shared:
        """What all agents of this invocation share."""
        return Shared()

    @cached_property
    def depth(self) -> int:
        """How many agents called each other to get here; 0 for the Runner's own context."""
        return 0

    @cached_property
    def _open_runs(self) -> list[AsyncGenerator[Event, None]]:
        """Runs of the sub-agents that the agent called."""
        return []

    def model_post_init(self, context: Any, /) -> None:
        """Make what all copies share before there is one."""
        _ = self.shared

    @property
    def is_resumable(self) -> bool:
        """Whether this invocation keeps checkpoints and pauses at long-running calls."""
        return self.resumability_config is not None and self.resumability_config.is_resumable

    @property
    def app_name(self) -> str:
        """The app's name."""
        return self.session.app_name

    @property
    def user_id(self) -> str:
        """The user's id."""
        return self.session.user_id

    def for_agent(self, agent: AgentTree) -> InvocationContext:
        """Return the context that `agent` runs in, called from this one."""
        return self.model_copy(update={"agent": agent, "depth": self.depth + 1, "_open_runs": []})

    def keep_run(self, run: AsyncGenerator[Event, None]) -> None:
        """Remember a sub-agent's run, so that it can be closed with its caller's."""
        runs = self._open_runs
        runs[:] = [open_run for open_run in runs if not _is_over(open_run)]
        runs.append(run)

    async def close_runs(self) -> None:
        """Close the runs of sub-agents that the agent left open.

        An agent that was stopped in `async for event in sub_agent.run_async(ctx)` leaves the inner generator to the garbage collector; its
        `finally` blocks must run now.
        """
        for run in reversed(self._open_runs):
            if not run.ag_running:  # type: ignore[attr-defined]  # typeshed knows generators' attributes only by their concrete type
                await run.aclose()

    def set_agent_state(self, agent_name: str, *, agent_state: BaseModel | None = None, end_of_agent: bool = False) -> None:
        """Set an agent's checkpoint; with neither keyword, forget it.

        Args:
            agent_name: whose.
            agent_state: where it is.
            end_of_agent: it finished.
        """
        self.agent_states.pop(agent_name, None)
        self.end_of_agents.pop(agent_name, None)
        if end_of_agent:
            self.end_of_agents[agent_name] = True
        elif agent_state is not None:
            self.agent_states[agent_name] = agent_state.model_dump(mode="json")
            self.end_of_agents[agent_name] = False

    def reset_sub_agent_states(self, agent_name: str) -> None:
        """Forget the checkpoints of everything below an agent, as a loop does before its next round.

        Args:
            agent_name: an agent of the running agent's tree.
        """
        agent = self.agent.find_agent(agent_name)
        for below in agent.descendants() if agent else ():
            self.set_agent_state(below.name)
            if self.shared.resumed:
                self.shared.resumed.forget(below.name)

    def invocation_events(self) -> list[Event]:
        """Return this invocation's committed events, of all branches."""
        return events_of(self.session.events, self.invocation_id)

    def should_pause_invocation(self, event: Event) -> bool:
        """Return whether an event's long-running calls pause this invocation (seed: resume, "Precaución")."""
        if not self.is_resumable or not event.long_running_tool_ids:
            return False
        return any(call.id in event.long_running_tool_ids for call in event.get_function_calls())

    def increment_llm_call_count(self) -> None:
        """Count a model call.

        Raises:
            LlmCallsLimitExceededError: it is one too many.
        """
        self.shared.llm_calls.made += 1
        limit = self.run_config.max_llm_calls if self.run_config else 0
        if 0 < limit < self.shared.llm_calls.made:
            raise LlmCallsLimitExceededError(
                f"The invocation stopped after {limit} model calls (RunConfig.max_llm_calls). An agent may be calling itself in a circle."
            )

    def run_inside(self, outer: InvocationContext, call_id: str | None) -> None:
        """Make this the context of a run inside a function call of another one: it counts as the same invocation.

        Args:
            outer: the caller's context.
            call_id: the function call.
        """
        self.invocation_id = outer.invocation_id
        self.shared.llm_calls = outer.shared.llm_calls
        self.shared.outer = (outer, call_id)

    async def report_inner_event(self, event: Event, call_id: str | None) -> None:
        """Show an event of an agent that runs inside a function call to the plugins of the outermost run.

        Args:
            event: of the inner run, committed there unless it is partial. The inner agent goes on when this returns.
            call_id: the function call of this context that the agent runs in.

        Raises:
            PluginError: a plugin's hook raised.
        """
        context, call_ids = self, [call_id]
        while context.shared.outer is not None:
            context, call_id = context.shared.outer
            call_ids.insert(0, call_id)
        hook = "on_inner_event_callback"
        await context.plugin_manager.run_hook(hook, invocation_context=context, event=event, call_ids=tuple(call_ids))

    def resumed_checkpoints(self) -> Checkpoints | None:
        """Return what a resumed run began with, if this is the running agent's first call in it; a later call begins anew."""
        return self.shared.resumed if self.shared.calls[self.agent.name] == 1 else None


def _is_over(run: AsyncGenerator[Event, None]) -> bool:
    return run.ag_frame is None  # type: ignore[attr-defined]
