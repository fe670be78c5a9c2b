"""The Runner: take an event from the agent, commit it, yield it, and only then resume the agent.

The steps of a run, starting from `run_async`:

1. Load the session, decide which invocation starts or is resumed, commit the user's message, and choose the first agent
   (`invocation_start.py`).
2. `_event_loop`: ask the agent for its next event; complete it and pass it to the plugins (`_process`); append it to the session
   (`_commit`); yield it. The agent is suspended at its own `yield` until the caller asks for the next event. When it resumes, its event is
   stored and `ctx.session.state` contains the event's changes.
3. When the agent is done, call the plugins, feed the memory, and compact old events if that is due (`_finish`).

For what agents do between two events, see `agents/base_agent.py` and `flows/llm_flow.py`; for changes without a run, `session_edits.py`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Literal, cast

from google.genai import types

from runtime.agents.base_agent import BaseAgent
from runtime.apps.app import App
from runtime.apps.summary import summary_if_due
from runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
from runtime.contexts.invocation_context import InvocationContext, Shared
from runtime.contexts.live_request_queue import LiveRequestQueue
from runtime.contexts.run_config import RunConfig
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.errors.not_found_error import SessionNotFoundError
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.events.marks import RESUMED, without_internal_metadata
from runtime.events.transcript import transcript, write_lines
from runtime.history.agent_tree import AgentTree
from runtime.memory.feed import remember_event, remember_session
from runtime.memory.in_memory_memory_service import InMemoryMemoryService
from runtime.plugins.base_plugin import BasePlugin
from runtime.plugins.plugin_manager import CLOSE_TIMEOUT, PluginManager
from runtime.running.invocation_start import (
    Start,
    agent_to_run,
    answered_calls,
    call_event,
    message_event,
    restore_invocation,
    start_of,
)
from runtime.running.local_writes import snapshot, take_back_local_writes, warn_of_lost_writes
from runtime.running.rebase import append_rebased
from runtime.running.run_end import is_recorded_as_finished, record_end
from runtime.running.session_edits import SessionEdits
from runtime.running.sync_run import in_own_loop
from runtime.sessions.base_session_service import BaseSessionService, load_for_run
from runtime.sessions.in_memory_session_service import InMemorySessionService
from runtime.sessions.session import Session
from runtime.sessions.state import apply_delta
from runtime.support.agent_thread import sync_calls_of
from runtime.support.ids import new_invocation_id
from runtime.support.merge import until_set
from runtime.support.structural_copy import structural_copy

logger = logging.getLogger(__name__)

_IDENTITY = {"id", "invocation_id", "timestamp"}  # what an event keeps when a plugin replaces it

_LONGEST_TURN = 0.01  # seconds without yielding to the event loop; longer ones would make a window unresponsive


class Runner(SessionEdits):
    """Runs an app's agents on sessions.

    Args:
        app: the app to run; or give `app_name` and `agent`.
        app_name: the app's name in the session service; overrides `app`'s name.
        agent: the root agent.
        plugins: hooks around every run; an app brings its own.
        session_service: stores the sessions.
        artifact_service: stores the files that agents save.
        memory_service: stores what is remembered across sessions.
        credential_service: stores credentials.
        plugin_close_timeout: maximum duration of one plugin's `close`, in seconds.
        auto_create_session: create a session that does not exist instead of raising `SessionNotFoundError`.
        feed_memory: pass each committed `event`, or each `invocation` that ended or paused, to the memory service; None: never. Errors of
            the memory service are logged and do not fail the run.

    Raises:
        ValueError: the arguments have neither an app nor both a name and an agent, or they have both.
    """

    def __init__(
        self,
        *,
        app: App | None = None,
        app_name: str | None = None,
        agent: BaseAgent | None = None,
        plugins: list[BasePlugin] | None = None,
        session_service: BaseSessionService,
        artifact_service: Any | None = None,
        memory_service: Any | None = None,
        credential_service: Any | None = None,
        plugin_close_timeout: float = CLOSE_TIMEOUT,
        auto_create_session: bool = False,
        feed_memory: Literal["event", "invocation"] | None = None,
    ) -> None:
        if app is None:
            if app_name is None or agent is None:
                raise ValueError("A Runner needs an app, or an app_name and an agent.")
        elif agent is not None or plugins is not None:
            raise ValueError("Give the Runner an app, or an agent and plugins, not both: the app has its own.")
        self.app = app
        self.app_name: str = app_name or app.name  # type: ignore[union-attr]  # one of them is there
        self.agent: BaseAgent = agent or app.root_agent  # type: ignore[union-attr]
        self.plugin_manager = PluginManager(app.plugins if app else plugins, plugin_close_timeout)
        self.context_cache_config = app.context_cache_config if app else None
        self.resumability_config = app.resumability_config if app else None
        self.session_service = session_service
        self.artifact_service = artifact_service
        self.memory_service = memory_service
        self.credential_service = credential_service
        self.auto_create_session = auto_create_session
        self.feed_memory = feed_memory if memory_service is not None else None
        self._running: dict[tuple[str, str], InvocationContext] = {}  # user and session → active run; edits go through it

    async def run_async(
        self,
        *,
        user_id: str,
        session_id: str,
        invocation_id: str | None = None,
        new_message: types.Content | None = None,
        state_delta: dict[str, Any] | None = None,
        run_config: RunConfig | None = None,
        yield_user_message: bool = False,
        abort_signal: asyncio.Event | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Run one invocation, or resume one.

        Each event is committed before it is yielded, and the agent resumes when the next one is requested. Closing the generator stops
        the agent at its current `yield` and runs its `finally` blocks.

        Args:
            user_id: the session's user.
            session_id: the session.
            invocation_id: the invocation to resume from its last checkpoint; the app must be resumable. With a message, a new invocation
                gets this id.
            new_message: the user's message. A function response answers a long-running call and resumes its invocation. Without a
                message and an invocation, an `LlmAgent` starts a new invocation over the session's events.
            state_delta: state changes committed with the message; without one, before the agent continues.
            run_config: settings of the run.
            yield_user_message: whether to yield the event of `new_message` first. It is committed in any case.
            abort_signal: ends the run when it is set, also in the middle of a call: the agent, its tools and its model are cancelled.
                Committed events stay, and a resumable app can continue the invocation. Agents and tools see it as `is_aborted`.

        Yields:
            The agents' events in order; nothing of them if the invocation is already finished.

        Raises:
            SessionNotFoundError: the session does not exist.
            ResumeError: there is nothing to run, or the invocation cannot be resumed; the text says why.
            Exception: what an agent, callback, tool or service raised; events committed before it stay committed.
        """
        session = await self._load(user_id, session_id, run_config)
        start = start_of(self.agent, session, invocation_id, new_message, is_resumable=self._is_resumable)
        ctx = self._new_context(session, start, run_config)
        if start.resumed_id is None and invocation_id is not None:
            ctx.invocation_id = invocation_id
        ctx.shared.sync_calls = sync_calls_of(self.agent.root_agent)
        if start.message is not None:
            try:
                said = await self._commit_message(ctx, start.message, state_delta)
            except Exception as error:
                await self._report(ctx, error)
                raise
            if yield_user_message:
                yield said
        ctx.agent = agent_to_run(self.agent, ctx)
        if ctx.end_of_agents.get(ctx.places.key(ctx.agent)):
            return  # the invocation is finished
        if new_message is None and await is_recorded_as_finished(self.session_service, ctx):
            return
        if new_message is None and state_delta:
            await self._commit(
                ctx, Event(invocation_id=ctx.invocation_id, author="user", actions=EventActions(state_delta=dict(state_delta)))
            )
        run = self._driven(ctx)
        if abort_signal is not None:
            ctx.shared.abort.signal, ctx.shared.abort.loop = abort_signal, asyncio.get_running_loop()
            run = until_set(run, abort_signal)
        async with aclosing(run) as events:
            async for event in events:
                yield event

    async def _driven(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        """Run the event loop, record how the run ends, and close what it opened."""
        key = ctx.user_id, ctx.session.id
        self._running[key] = ctx
        try:
            async with aclosing(self._event_loop(ctx)) as events:
                async for event in events:
                    yield event
        except Exception as error:
            await record_end(self.session_service, ctx, error)
            await self._report(ctx, error)
            raise
        except (asyncio.CancelledError, GeneratorExit):
            if ctx.is_aborted:  # an end that was wanted: plugins write what they have
                await self.plugin_manager.run_hook("after_run_callback", invocation_context=ctx)
            raise
        else:
            if ctx.is_aborted:
                await self.plugin_manager.run_hook("after_run_callback", invocation_context=ctx)
            else:
                await record_end(self.session_service, ctx, None)
        finally:
            await ctx.shared.close_resources()
            if self._running.get(key) is ctx:
                del self._running[key]

    async def _event_loop(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        """Commit each event of the agent, yield it, and resume the agent when the next one is requested."""
        instead = await self.plugin_manager.run_hook("before_run_callback", invocation_context=ctx)
        if instead is not None:
            event = Event(invocation_id=ctx.invocation_id, author="model", content=instead)
            await self._commit(ctx, event)
            yield event
        else:
            last_turn = time.monotonic()
            async with aclosing(ctx.agent.run_async(ctx)) as events:
                async for event in events:
                    if ctx.is_aborted:
                        return
                    try:
                        shown = await self._process(ctx, event)
                    except Exception as error:
                        self._refuse(ctx, event, error)
                    else:
                        yield shown
                    if time.monotonic() - last_turn > _LONGEST_TURN:
                        await asyncio.sleep(0)  # an agent that never awaits would block the loop: no window, no Ctrl+C, no other run
                        last_turn = time.monotonic()
        await self._finish(ctx)

    async def _process(self, ctx: InvocationContext, event: Event) -> Event:
        """Complete an event, pass it to the plugins, and commit it unless it is partial."""
        if not event.invocation_id:
            event.invocation_id = ctx.invocation_id
        if not self.plugin_manager.takes("on_event_callback") or _is_inner_checkpoint(ctx, event):
            if not event.partial:
                await self._commit(ctx, event)  # adds the metadata
                return event
            _add_run_metadata(ctx, event)
        else:
            _add_run_metadata(ctx, event)
            changed = await self.plugin_manager.run_hook("on_event_callback", invocation_context=ctx, event=event)
            if changed is not None and changed is not event:
                kept = _IDENTITY if changed.author else {*_IDENTITY, "author"}
                event = event.model_copy(update={name: getattr(changed, name) for name in changed.model_fields_set - kept})
                _add_run_metadata(ctx, event)
        if not event.partial:
            await self._commit(ctx, event)
        return event

    async def _commit(self, ctx: InvocationContext, event: Event) -> Event:
        """Append an event to the session, and return the stored snapshot. Nothing else of a run appends events."""
        shared = ctx.shared
        session, writer = ctx.session, event.actions.state_delta
        delta = dict(writer)
        async with shared.committing:
            _add_run_metadata(ctx, event)
            if not shared.has_resumed_mark:
                event.custom_metadata = {**(event.custom_metadata or {}), RESUMED: True}
            await append_rebased(self.session_service, ctx, event)
            committed = session.events[-1]
            shared.has_resumed_mark = True
            if delta:
                if shared.writes is not None:
                    shared.writes.commit(writer, delta)
                apply_delta(shared.committed_state, delta)  # including `temp:` keys, which the service removes from the event
                apply_delta(shared.committed_state, committed.actions.state_delta)  # the other values, as stored
        if self.feed_memory == "event":
            await remember_event(self.memory_service, session, committed)
        return committed

    def _refuse(self, ctx: InvocationContext, event: Event, error: Exception) -> None:
        """Raise a commit's error at the `yield` of the agent that produced the event.

        Raised from the event loop, the error would reach only the outermost generator. `BaseAgent` checks for it when it resumes.
        """
        take_back_local_writes(ctx)
        if not ctx.shared.note_failed_commit(event, error):
            raise error  # the event comes from a callback of the root: no agent code yielded it

    async def _finish(self, ctx: InvocationContext) -> None:
        """Run the after-run callbacks, feed the memory, and compact old events if that is due."""
        await self.plugin_manager.run_hook("after_run_callback", invocation_context=ctx)
        if self.feed_memory == "invocation":
            await remember_session(self.memory_service, ctx.session)
        config = self.app.events_compaction_config if self.app else None
        summary = await summary_if_due(config, self.agent, ctx.session) if config else None
        if summary is not None:
            await self._commit(ctx, summary)
        warn_of_lost_writes(ctx)

    async def _report(self, ctx: InvocationContext, error: Exception) -> None:
        """Tell the plugins that the run ends with an error."""
        if self.plugin_manager.plugins:
            await self.plugin_manager.notify("on_run_error_callback", invocation_context=ctx, error=error)

    async def _load(self, user_id: str, session_id: str, run_config: RunConfig | None = None) -> Session:
        """Return the session, created if it is missing and `auto_create_session` is set."""
        service = self.session_service
        names: dict[str, Any] = {"app_name": self.app_name, "user_id": user_id, "session_id": session_id}
        wanted = run_config.get_session_config if run_config else None
        load = partial(load_for_run, service) if wanted is None else partial(service.get_session, config=wanted)
        session = await load(**names)
        if session is None and self.auto_create_session:
            await service.create_session(**names)
            session = await load(**names)
        if session is None:
            raise SessionNotFoundError(
                f"Session not found: {session_id}. It does not exist for user {user_id!r} in app {self.app_name!r}; create it first"
                " with session_service.create_session(…)."
            )
        return session

    def _new_context(self, session: Session, start: Start, run_config: RunConfig | None = None) -> InvocationContext:
        """Return the context of a new run, or of a resumed one with what its committed events record."""
        ctx = InvocationContext(
            invocation_id=start.resumed_id or new_invocation_id(),
            agent=self.agent,
            session=session,
            session_service=self.session_service,
            artifact_service=self.artifact_service,
            memory_service=self.memory_service,
            credential_service=self.credential_service,
            user_content=start.user_content,
            run_config=run_config or RunConfig(),
            plugin_manager=self.plugin_manager,
            resumability_config=self.resumability_config,
        )
        ctx.shared.committed_state = snapshot(session.state)
        ctx.shared.commit = self._commit
        ctx.shared.asked_by = start.asked_by
        if start.resumed_id:
            restore_invocation(ctx)
        return ctx

    @property
    def _is_resumable(self) -> bool:
        return self.resumability_config is not None and self.resumability_config.is_resumable

    async def _commit_message(self, ctx: InvocationContext, message: types.Content, state_delta: dict[str, Any] | None) -> Event:
        """Commit the user's message as the invocation's first event, or as the answer to one of its calls, and return its event."""
        changed = await self.plugin_manager.run_hook("on_user_message_callback", invocation_context=ctx, user_message=message)
        if changed is not None:
            message, ctx.shared.asked_by = changed, call_event(ctx.session.events, answered_calls(changed))
        event = await message_event(ctx, message, state_delta)
        event = await self._commit(ctx, event)
        ctx.user_content = structural_copy(event.content)
        return event

    async def _context_for_edit(self, user_id: str, session_id: str) -> InvocationContext:
        return self._running.get((user_id, session_id)) or self._new_context(await self._load(user_id, session_id), Start())

    def run(
        self,
        *,
        user_id: str,
        session_id: str,
        new_message: types.Content | None = None,
        invocation_id: str | None = None,
        state_delta: dict[str, Any] | None = None,
        run_config: RunConfig | None = None,
    ) -> Generator[Event, None, None]:
        """Run one invocation from synchronous code; see `run_async`.

        The run uses its own thread and event loop, so it also works where a loop is running. The agent resumes when the next event is
        requested; leaving the `for` loop early stops it. Arguments, events and exceptions are those of `run_async`.
        """
        events = self.run_async(
            user_id=user_id,
            session_id=session_id,
            invocation_id=invocation_id,
            new_message=new_message,
            state_delta=state_delta,
            run_config=run_config,
        )
        return in_own_loop(events)

    async def run_debug(
        self,
        user_messages: str | list[str],
        *,
        user_id: str = "debug_user_id",
        session_id: str = "debug_session_id",
        run_config: RunConfig | None = None,
        quiet: bool = False,
        verbose: bool = False,
    ) -> list[Event]:
        """Send messages to the agent and print the conversation; for experiments.

        Args:
            user_messages: one message or several; each starts an invocation of its own.
            user_id: the session's user.
            session_id: the session; created if it does not exist.
            run_config: settings of the runs.
            quiet: print nothing.
            verbose: also print calls, their results and other parts.

        Returns:
            The events of all runs.
        """
        names: dict[str, Any] = {"app_name": self.app_name, "user_id": user_id, "session_id": session_id}
        if await self.session_service.get_session(**names) is None:
            await self.session_service.create_session(**names)
        events = []
        for text in [user_messages] if isinstance(user_messages, str) else user_messages:
            write_lines([] if quiet else [f"user > {text}"])
            message = types.Content(role="user", parts=[types.Part(text=text)])
            run = self.run_async(user_id=user_id, session_id=session_id, new_message=message, run_config=run_config)
            async with aclosing(run) as yielded:
                async for event in yielded:
                    events.append(event)
                    write_lines([] if quiet else transcript(event, verbose=verbose))
        return events

    async def run_inside(
        self, outer: InvocationContext, *, call_id: str | None, session: Session, new_message: types.Content | None
    ) -> AsyncGenerator[Event, None]:
        """Run the agent inside a function call of another run, as part of the same invocation, or continue it.

        Args:
            outer: the caller's context; its invocation id, run settings and model call count apply here too.
            call_id: the function call.
            session: a session of this Runner's own service; its events are continued.
            new_message: the message for the agent, or the answers to its calls; None if there are none.

        Yields:
            The events, as `run_async` does. Each is passed to the outermost run's plugins before the agent resumes.
        """
        resumed_id = outer.invocation_id if self._is_resumable and session.events else None
        ctx = self._new_context(session, Start.of(session, resumed_id, new_message), outer.run_config)
        ctx.run_inside(outer, call_id)
        try:
            if new_message is not None:
                await self._commit_message(ctx, new_message, None)
            ctx.agent = agent_to_run(self.agent, ctx)
            async with aclosing(self._event_loop(ctx)) as events:
                async for event in events:
                    if not _is_inner_checkpoint(ctx, event):
                        await outer.report_inner_event(event, call_id)
                    yield event
        except Exception as error:
            await self._report(ctx, error)
            raise
        finally:
            await ctx.shared.close_resources()

    async def run_live(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        live_request_queue: LiveRequestQueue,
        run_config: RunConfig | None = None,
        session: Session | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Raise `EngineNeededError`: live conversations run on google-adk. The parameters are google-adk's."""
        raise EngineNeededError("A live conversation (Runner.run_live)")
        yield  # makes it a generator

    async def close(self) -> None:
        """Close the plugins and the agents' toolsets. The services belong to their creator and stay open.

        Raises:
            PluginError: plugins failed to close.
            asyncio.CancelledError: the task was cancelled meanwhile; the other toolsets are closed first.
        """
        await self.plugin_manager.close()
        cancelled: asyncio.CancelledError | None = None
        for agent in (self.agent, *self.agent.descendants()):
            for toolset in getattr(agent, "toolsets", ()):
                try:
                    await toolset.close()
                except asyncio.CancelledError as error:  # close the others anyway
                    cancelled = error
                except Exception:
                    logger.exception("Could not close a %s of agent %s.", type(toolset).__name__, agent.name)
        if cancelled is not None:
            raise cancelled

    async def __aenter__(self) -> Runner:
        """Return the Runner itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the Runner."""
        await self.close()


def _is_inner_checkpoint(ctx: InvocationContext, event: Event) -> bool:
    """Return whether an event only is a checkpoint of a run inside a call: plugins do not see it, as google-adk's inner runs have none."""
    if ctx.shared.outer is None or event.content is not None:
        return False
    return bool(event.actions.end_of_agent) or event.actions.agent_state is not None


def _add_run_metadata(ctx: InvocationContext, event: Event) -> None:
    config = ctx.run_config
    metadata = config.custom_metadata if config else None
    if metadata:
        event.custom_metadata = {**without_internal_metadata(metadata), **(event.custom_metadata or {})}


def _run_inside(
    outer: InvocationContext,
    *,
    agent: AgentTree,
    call_id: str | None,
    plugins: Sequence[BasePlugin],
    session_service: BaseSessionService,
    session: Session,
    artifact_service: Any | None,
    new_message: types.Content | None,
) -> AsyncGenerator[Event, None]:
    """Run an agent inside a function call; see `InnerRun`."""
    runner = Runner(
        app_name=outer.app_name,
        agent=cast("BaseAgent", agent),  # the trees of a run are agents
        plugins=list(plugins),
        session_service=session_service,
        artifact_service=artifact_service,
        memory_service=outer.memory_service,
        credential_service=outer.credential_service,
    )
    runner.resumability_config = outer.resumability_config
    return runner.run_inside(outer, call_id=call_id, session=session, new_message=new_message)


class InMemoryRunner(Runner):
    """A Runner that keeps everything in memory; for experiments and tests.

    Args:
        agent: the root agent; or give `app`.
        app_name: the app's name.
        app: the app to run.
        plugins: hooks around every run.
        plugin_close_timeout: maximum duration of one plugin's `close`, in seconds.
    """

    def __init__(
        self,
        agent: BaseAgent | None = None,
        *,
        app_name: str | None = None,
        app: App | None = None,
        plugins: list[BasePlugin] | None = None,
        plugin_close_timeout: float = CLOSE_TIMEOUT,
    ) -> None:
        super().__init__(
            app=app,
            app_name=app_name or (None if app else "InMemoryRunner"),
            agent=agent,
            plugins=plugins,
            session_service=InMemorySessionService(),
            artifact_service=InMemoryArtifactService(),
            memory_service=InMemoryMemoryService(),
            plugin_close_timeout=plugin_close_timeout,
        )


Shared.inner_run = staticmethod(_run_inside)
