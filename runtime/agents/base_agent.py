"""The base class of agents: a node in a tree whose `run_async` yields events."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from enum import Enum
from typing import Any, ClassVar, TypeVar, cast

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from runtime.agents.base_agent_config import BaseAgentConfig
from runtime.border import refuse_stand_ins
from runtime.contexts.context import Context
from runtime.contexts.invocation_context import InvocationContext, InvocationPaused
from runtime.errors.agent_code_error import AgentExitError, SelfCancelledError, is_being_cancelled
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.errors.resume_error import ResumeError
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.events.marks import AGENT_PLACE, CALLBACK, REPLAYED_CHECKPOINT, recorded_place
from runtime.history.agent_places import place_of
from runtime.history.agent_tree import AgentTree
from runtime.history.checkpoints import Checkpoints
from runtime.support.calling import Callbacks, as_list, first_answer

logger = logging.getLogger(__name__)

BeforeAgentCallback = Callbacks
AfterAgentCallback = Callbacks


# Settings that google-adk 2's agents have as nodes of a workflow graph.
_OF_NODES = frozenset({"rerun_on_resume", "wait_for_output", "retry_config", "timeout", "parallel_worker"})


class BaseAgentState(BaseModel):
    """A custom agent's checkpoint; subclasses add the fields that describe the agent's position."""

    model_config = ConfigDict(extra="forbid")


class _StoredFields(BaseAgentState):
    """A checkpoint read without its class, with the stored fields."""

    model_config = ConfigDict(extra="allow")


AgentState = TypeVar("AgentState")


def callbacks_of(field: str) -> Any:
    """Return a property that is the callbacks of an agent's field as a list."""
    return property(lambda agent: list(as_list(getattr(agent, field))), doc=f"The `{field}` as a list.")


class BaseAgent(BaseModel):
    """An agent. Subclasses implement `_run_async_impl`; their annotated attributes are pydantic fields.

    Attributes:
        name: an identifier, unique in its tree.
        description: the agent's purpose, for other agents.
        parent_agent: set when the agent becomes a sub-agent; an agent has one parent.
        sub_agents: agents that it can call or transfer to.
        before_agent_callback: called before the agent runs; if it returns content, that is the answer and the agent does not run.
        after_agent_callback: called after the agent ran; if it returns content, that is an additional answer.
        state_schema: a model of the keys that the agent's callbacks and tools write to the state; other writes fail. Keys with a scope,
            such as `user:`, and the writes of other agents are not checked.
        config_type: the fields of such an agent in a YAML file, which google-adk reads.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    config_type: ClassVar[type[BaseAgentConfig]] = BaseAgentConfig

    name: str
    description: str = ""
    parent_agent: BaseAgent | None = Field(default=None, init=False, exclude=True, repr=False)
    sub_agents: list[BaseAgent] = Field(default_factory=list)
    before_agent_callback: Callbacks = None
    after_agent_callback: Callbacks = None
    state_schema: type[BaseModel] | None = None

    @model_validator(mode="before")
    @classmethod
    def _be_no_node(cls, given: Any) -> Any:
        if isinstance(given, dict):
            refuse_stand_ins(*given.values())
        if isinstance(given, dict) and not _OF_NODES.isdisjoint(given):
            name = next(name for name in given if name in _OF_NODES)
            if name not in cls.model_fields and given[name] not in (None, False):
                raise EngineNeededError(f"{name}=, a setting of a workflow graph's node,")
            return {key: value for key, value in given.items() if key not in _OF_NODES or key in cls.model_fields}
        return given

    @field_validator("name")
    @classmethod
    def _usable_name(cls, name: str) -> str:
        if not name.isidentifier():
            raise ValueError(f"{name!r} is not an agent name: use letters, digits and _, beginning with a letter or _.")
        if name == "user":
            raise ValueError("Agent name cannot be `user`: that name marks the user's events.")
        return name

    def model_post_init(self, context: Any, /) -> None:
        """Adopt the sub-agents.

        Raises:
            ValueError: one of them already has a parent.
        """
        for sub_agent in self.sub_agents:
            if sub_agent.parent_agent is not None:
                raise ValueError(
                    f"Agent {sub_agent.name!r} already has the parent {sub_agent.parent_agent.name!r}, it cannot become a sub-agent of"
                    f" {self.name!r} too. Use clone() to make another one."
                )
            sub_agent.parent_agent = self
        self._warn_of_equal_names()
        super().model_post_init(context)

    def _warn_of_equal_names(self) -> None:
        """Log the names that meet here: of this agent and one below it, or of agents below different sub-agents."""
        names = [sub_agent.name for sub_agent in self.sub_agents]
        for name in sorted({name for name in names if names.count(name) > 1}):
            logger.warning("Agent %r has several sub-agents named %r; only the first can be found by name.", self.name, name)
        places = {self.name: self.name}
        for sub_agent in self.sub_agents:
            inside = {agent.name: place_of(agent) for agent in reversed([sub_agent, *sub_agent.descendants()])}
            for name in sorted(places.keys() & inside.keys()):
                if places[name] != inside[name] and names.count(name) < 2:
                    logger.warning(
                        "Two agents are named %r: %s and %s. Rename one: only the first can be found by name, such as for a transfer.",
                        name,
                        places[name],
                        inside[name],
                    )
            places = {**inside, **places}

    # pydantic would compare whole trees, with endless recursion between parents and children.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @property
    def root_agent(self) -> BaseAgent:
        """The root of the tree."""
        return next(reversed([self, *self.ancestors()]))

    canonical_before_agent_callbacks: ClassVar[Any] = callbacks_of("before_agent_callback")
    canonical_after_agent_callbacks: ClassVar[Any] = callbacks_of("after_agent_callback")

    def find_agent(self, name: str) -> BaseAgent | None:
        """Return this agent or the agent below it with that name; None if there is none."""
        return self if self.name == name else self.find_sub_agent(name)

    def find_sub_agent(self, name: str) -> BaseAgent | None:
        """Return the agent below this one with that name; None if there is none."""
        for sub_agent in self.sub_agents:
            found = sub_agent.find_agent(name)
            if found is not None:
                return found
        return None

    def descendants(self) -> Iterator[BaseAgent]:
        """Yield every agent below this one."""
        for sub_agent in self.sub_agents:
            yield sub_agent
            yield from sub_agent.descendants()

    def ancestors(self) -> Iterator[BaseAgent]:
        """Yield every agent above this one, parent first."""
        agent = self.parent_agent
        while agent is not None:
            yield agent
            agent = agent.parent_agent

    def branch_of(self, sub_agent: AgentTree) -> str | None:
        """Return the name of the branch that this agent gives a sub-agent; None if the sub-agent runs on this agent's own branch."""
        return None

    def clone(self, update: dict[str, Any] | None = None) -> BaseAgent:
        """Return a copy without a parent; its sub-agents are copied too.

        Args:
            update: fields to replace; `sub_agents` given here are not copied.

        Raises:
            ValueError: `update` names a field that does not exist, or `parent_agent`.
        """
        changes = dict(update or {})
        unknown = sorted(changes.keys() - type(self).model_fields.keys() | changes.keys() & {"parent_agent"})
        if unknown:
            raise ValueError(_unknown_fields(type(self).__name__, unknown))
        copies = {sub_agent: sub_agent.clone() for sub_agent in self.sub_agents} if "sub_agents" not in changes else {}
        for field in type(self).model_fields:
            value = getattr(self, field)
            if field in changes or field == "parent_agent":
                continue
            if isinstance(value, list):
                changes[field] = [copies.get(item, item) if isinstance(item, BaseAgent) else item for item in value]
            elif isinstance(value, BaseAgent) and value in copies:
                changes[field] = copies[value]
        clone = self.model_copy(update={**changes, "parent_agent": None})
        for sub_agent in clone.sub_agents:
            sub_agent.parent_agent = None
        clone.model_post_init(None)
        return clone

    def run_async(self, parent_context: InvocationContext) -> AsyncGenerator[Event, None]:
        """Run the agent with its callbacks.

        Each yielded event is committed before the agent continues. If the commit fails, the exception is raised at the agent's own
        `yield`.

        Yields:
            The agent's events, and those of the agents it calls.
        """
        run = self._run(parent_context)
        parent_context.keep_run(run)
        return run

    def run_live(self, parent_context: InvocationContext) -> AsyncGenerator[Event, None]:
        """Raise `EngineNeededError`: live conversations run on google-adk."""
        raise EngineNeededError("A live conversation")

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        """Do the agent's work; subclasses implement it.

        Yields:
            The agent's events. When the generator resumes, the event is committed and `ctx.session.state` has its changes; if the
            commit failed, the error is raised at the `yield`.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement _run_async_impl.")
        yield  # makes it a generator

    async def _run(self, parent_context: InvocationContext) -> AsyncGenerator[Event, None]:
        ctx = parent_context.for_agent(self)
        if not ctx.shared.calls:
            ctx.read_progress()
        key = ctx.places.key(self)
        ctx.shared.calls[key] += 1
        resumed = ctx.resumed_checkpoints()
        if resumed and resumed.ended.get(key):
            return  # its end is committed, and its caller has not continued since
        called_back = resumed.called_back.get(key, {}) if resumed else {}
        has_callback_after = self.after_agent_callback is not None
        end: Event | None = None
        try:
            if "before_agent_callback" in called_back:
                ctx.end_invocation = called_back["before_agent_callback"]
            elif before := await self._callback_event(ctx, "before_agent_callback", self.before_agent_callback):
                if before.content is not None:
                    self._complete_answer(before)
                yield before
            if ctx.end_invocation:
                return
            async with aclosing(self._drive(ctx, resumed)) as events:
                async for event in events:
                    if has_callback_after and event.actions.end_of_agent and event.author == self.name and not event.partial:
                        end = event
                    else:
                        yield event
            if not ctx.end_invocation and "after_agent_callback" not in called_back:
                after = await self._callback_event(ctx, "after_agent_callback", self.after_agent_callback)
                if after:
                    yield after
            if end is not None:
                yield end  # after the callback: once its end is committed, neither agent nor callback is called again
        except InvocationPaused:
            if parent_context.depth:
                raise
        except SystemExit as error:
            failure = AgentExitError(f"The agent {self.name!r}", error)
            await self._report(ctx, failure)
            raise failure from error
        except asyncio.CancelledError as error:
            if is_being_cancelled():
                raise
            cancelled = SelfCancelledError(f"The agent {self.name!r}")
            await self._report(ctx, cancelled)
            raise cancelled from error
        except Exception as error:
            await self._report(ctx, error)
            raise
        finally:
            await ctx.close_runs()

    def _complete_answer(self, event: Event) -> None:
        """Complete an answer that a callback gave in place of this agent."""

    async def _report(self, ctx: InvocationContext, error: Exception) -> None:
        """Tell the plugins that this agent raised."""
        if ctx.plugin_manager.plugins:
            await ctx.plugin_manager.notify("on_agent_error_callback", agent=self, callback_context=Context(ctx), error=error)

    async def _drive(self, ctx: InvocationContext, resumed: Checkpoints | None) -> AsyncGenerator[Event, None]:
        """Run the implementation, fill in its events' branch, and raise commit errors at the event's `yield`."""
        walking_past = resumed is not None
        shared, branch = ctx.shared, ctx.branch  # read once: pydantic's attributes are slow
        place = ctx.places.place_to_record(self)
        failure: Exception | None = None
        async with aclosing(self._run_async_impl(ctx)) as events:
            while True:
                try:
                    event = await (anext(events) if failure is None else events.athrow(failure))
                except StopAsyncIteration:
                    return
                failure = None
                if not isinstance(event, Event):
                    failure = TypeError(f"{self.name} yielded a {type(event).__name__}; agents yield Event objects.")
                    continue
                if branch is not None and event.branch is None:
                    event.branch = branch
                if not event.author:
                    event.author = self.name
                if resumed and not event.partial:
                    walking_past = self._note_checkpoint(event, resumed, walking_past, ctx)
                is_own = shared.claim(event, ctx)
                if place is not None and is_own and event.author == self.name:
                    _record_place(event, place)
                try:
                    yield event
                finally:  # also if the run is closed here
                    if is_own:
                        failure = shared.take_failed_commit(event)

    def _note_checkpoint(self, event: Event, resumed: Checkpoints, walking_past: bool, ctx: InvocationContext) -> bool:
        """Mark a checkpoint that is already committed; at a new one, reset all agents below.

        Args:
            event: the resumed agent's event.
            resumed: the checkpoints committed before.
            walking_past: whether the agent has only passed over finished steps so far.
            ctx: the agent's context.

        Returns:
            `walking_past` for the next event.
        """
        key = ctx.places.key(self)
        if event.author != self.name or event.actions.agent_state is None or recorded_place(event) not in (None, key):
            return False
        is_same_place = ctx.shared.positions.get(key) == resumed.positions.get(key)  # or another sub-agent of that name
        if walking_past and is_same_place and event.actions.agent_state in resumed.seen.get(key, []):
            event.custom_metadata = {**(event.custom_metadata or {}), REPLAYED_CHECKPOINT: True}
            return True
        for below in self.descendants():
            resumed.forget(ctx.places.key(below))
        return False

    async def _callback_event(self, ctx: InvocationContext, hook: str, callbacks: Callbacks) -> Event | None:
        """Call the plugins' hook and the agent's callbacks; return the event with their content and changes, if any."""
        if callbacks is None and not ctx.plugin_manager.takes(hook):
            return None
        context = Context(ctx)
        with context.state.call():
            content = await ctx.plugin_manager.run_hook(hook, agent=self, callback_context=context)
            if content is None:
                content = await first_answer(ctx.sync_calls, callbacks, callback_context=context)
        if content is not None and hook == "before_agent_callback":
            ctx.end_invocation = True
        if content is None and not _changes_anything(context.actions):
            return None
        event = Event(
            invocation_id=ctx.invocation_id,
            author=self.name,
            branch=ctx.branch,
            content=cast("types.Content | None", content),
            actions=context.actions,
            custom_metadata={CALLBACK: hook} if ctx.is_resumable else None,
        )
        place = ctx.places.place_to_record(self)
        if place is not None:
            _record_place(event, place)
        return event

    def _load_agent_state(self, ctx: InvocationContext, state_type: type[AgentState]) -> AgentState | None:
        """Return this agent's checkpoint, or None if there is none or the app is not resumable.

        Args:
            ctx: the invocation.
            state_type: the checkpoint's class. For a class that is not a pydantic model, such as an Enum, an object with the stored
                fields is returned.

        Raises:
            ResumeError: the stored checkpoint does not fit the class, as the agent was changed since.
        """
        stored = ctx.agent_states.get(ctx.places.key(self)) if ctx.is_resumable else None
        if stored is None:
            return None
        if isinstance(state_type, type) and issubclass(state_type, BaseModel) and not issubclass(state_type, Enum):
            try:
                return cast("AgentState", state_type.model_validate(stored))
            except ValidationError as error:
                problems = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False))
                raise ResumeError(
                    f"The checkpoint of {self.name!r}, {json.dumps(stored)}, does not fit {state_type.__name__} ({problems}). The agent was"
                    " changed since its run was interrupted: restore its earlier version, or send a new message to start over."
                ) from error
        return cast("AgentState", _StoredFields.model_validate(stored))

    def _create_agent_state_event(
        self, ctx: InvocationContext, agent_state: BaseAgentState | None = None, *, end_of_agent: bool = False
    ) -> Event:
        """Return an event that commits this agent's checkpoint or end.

        Args:
            ctx: the invocation.
            agent_state: the checkpoint; if neither it nor `end_of_agent` is given, the one last set by `ctx.set_agent_state`.
            end_of_agent: whether the agent has finished.
        """
        key = ctx.places.key(self)
        if agent_state is not None or end_of_agent:
            ctx.set_agent_state(key, agent_state=agent_state, end_of_agent=end_of_agent)
        actions = EventActions()
        if ctx.end_of_agents.get(key):
            actions.end_of_agent = True
        elif key in ctx.agent_states:
            actions.agent_state = ctx.agent_states[key]
        return Event(invocation_id=ctx.invocation_id, author=self.name, branch=ctx.branch, actions=actions)


def _record_place(event: Event, place: str) -> None:
    """Record in an event which of several agents of its author's name it is from, unless it is recorded already."""
    if recorded_place(event) is None:
        event.custom_metadata = {**(event.custom_metadata or {}), AGENT_PLACE: place}


def _unknown_fields(kind: str, names: list[str]) -> str:
    if names == ["parent_agent"]:
        return "Cannot update `parent_agent` field in clone: an agent's parent is the agent whose sub-agent it becomes."
    return f"Cannot update nonexistent fields in clone of {kind}: {', '.join(names)}."


def _changes_anything(actions: EventActions) -> bool:
    return any(value != {} for value in actions.model_dump(exclude_none=True).values())
