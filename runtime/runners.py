"""The Runner: pull an event from the agent, commit it, yield it, and only then let the agent go on."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from typing import Any, Literal

from google.genai import types

from runtime.agents.base_agent import BaseAgent
from runtime.agents.callback_context import CallbackContext
from runtime.agents.invocation_context import InvocationContext
from runtime.agents.run_config import RunConfig
from runtime.apps.app import App
from runtime.apps.summary import summary_if_due
from runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
from runtime.artifacts.uploads import with_saved_files
from runtime.errors.not_found_error import SessionNotFoundError
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.events.ids import new_invocation_id
from runtime.events.marks import RESUMED
from runtime.invocation_start import agent_to_run, answered_calls, call_event, first_message, which_invocation
from runtime.memory.feed import remember_event, remember_session
from runtime.memory.in_memory_memory_service import InMemoryMemoryService
from runtime.plugins.base_plugin import BasePlugin
from runtime.plugins.plugin_manager import PluginManager
from runtime.resume import read_checkpoints
from runtime.rewind import restore_artifacts, start_of, state_to_restore
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.event_list import events_of
from runtime.sessions.in_memory_session_service import InMemorySessionService
from runtime.sessions.session import Session
from runtime.sessions.state import State, apply_delta
from runtime.sync_run import in_own_loop
from runtime.system_events import StateEditError, cancelled_calls, progress, state_edit, state_edit_undone
from runtime.transcript import transcript, write_lines

logger = logging.getLogger(__name__)


class Runner:
    """Runs an app's agents on sessions (seed: runtime-event-loop, "Rol del Runner").

    Args:
        app: what to run; or `app_name` and `agent`.
        app_name: names the app in the session service; overrides `app`'s name.
        agent: the root agent.
        plugins: hooks round every run.
        session_service: keeps sessions.
        artifact_service: keeps files that agents save.
        memory_service: remembers across sessions.
        credential_service: keeps credentials.
        auto_create_session: a session that does not exist is created instead of refused.
        feed_memory: tell the memory service what happened after each committed `event` or each `invocation` that reached its end or a
            pause; None: never. What goes wrong there is logged and fails nothing (seed: event-loop-pattern, step 7 of the Runner).

    Raises:
        ValueError: neither an app nor a name and an agent were given, or both.
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
        self.plugin_manager = PluginManager(app.plugins if app else plugins)
        self.resumability_config = app.resumability_config if app else None
        self.session_service = session_service
        self.artifact_service = artifact_service
        self.memory_service = memory_service
        self.credential_service = credential_service
        self.auto_create_session = auto_create_session
        self.feed_memory = feed_memory if memory_service is not None else None
        self._running: dict[tuple[str, str], InvocationContext] = {}  # by user and session

    async def run_async(
        self,
        *,
        user_id: str,
        session_id: str,
        invocation_id: str | None = None,
        new_message: types.Content | None = None,
        state_delta: dict[str, Any] | None = None,
        run_config: RunConfig | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Run one invocation, or resume one.

        Each event is committed before it is yielded, and the agent goes on when the next one is asked for. Closing the generator stops the
        agent where it is and runs its `finally` blocks.

        Args:
            user_id: whose session.
            session_id: which session.
            invocation_id: the invocation to resume from its last checkpoint, in a resumable app (seed: resume, "Reanudar un flujo de
                trabajo detenido").
            new_message: what the user says. A function response answers a long-running call and resumes its invocation.
            state_delta: state changes that go with the message.
            run_config: settings of this run.

        Yields:
            The agents' events in order; nothing if the invocation is finished already. (The user's own message is committed, not yielded.)

        Raises:
            SessionNotFoundError: there is no such session.
            ResumeError: there is nothing to run, or the invocation cannot be resumed; the text says why.
            Exception: what an agent, callback, tool or service raised; what was committed before stays.
        """
        session = await self._load(user_id, session_id)
        resumed_id = which_invocation(session, invocation_id, new_message, is_resumable=self._is_resumable)
        ctx = self._new_context(session, resumed_id, new_message, run_config)
        if new_message is not None:
            await self._append_message(ctx, new_message, state_delta)
        ctx.agent = agent_to_run(self.agent, ctx)
        if ctx.end_of_agents.get(ctx.agent.name):
            return
        self._running[user_id, session_id] = ctx
        try:
            async with aclosing(self._event_loop(ctx)) as events:
                async for event in events:
                    yield event
        finally:
            if self._running.get((user_id, session_id)) is ctx:
                del self._running[user_id, session_id]

    async def edit_state(self, *, user_id: str, session_id: str, changes: dict[str, Any]) -> Event:
        """Set state keys by hand, as a committed event by `system`; also while a run of this Runner is held in that session.

        Args:
            user_id: whose session.
            session_id: which session.
            changes: key with scope prefix → JSON value; None clears a key.

        Returns:
            The committed event; it remembers what was there before, for `undo_state_edit`.

        Raises:
            SessionNotFoundError: there is no such session.
            StateEditError: nothing is changed, or a key cannot be edited.
            UnstorableValueError: a value is no JSON.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        event = state_edit(changes, ctx.shared.committed_state, ctx.invocation_id)
        await self._commit(ctx, event)
        return event

    async def undo_state_edit(self, *, user_id: str, session_id: str, event_id: str) -> Event:
        """Take back what `edit_state` did, by the inverse event.

        Args:
            user_id: whose session.
            session_id: which session.
            event_id: of the edit.

        Raises:
            SessionNotFoundError: there is no such session.
            StateEditError: there is no such edit, or a key was changed again since.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        edit = next((event for event in ctx.session.events if event.id == event_id), None)
        if edit is None:
            raise StateEditError(f"Session {session_id} has no event {event_id}.")
        event = state_edit_undone(edit, ctx.shared.committed_state, ctx.invocation_id)
        await self._commit(ctx, event)
        return event

    async def cancel_open_calls(
        self, *, user_id: str, session_id: str, invocation_id: str, edits: dict[str, Any] | None = None
    ) -> list[Event]:
        """Give the calls that a stopped run left without a result one that says "cancelled", so that the conversation can go on.

        A resumed run then does not call them again. Calls that wait for a person or a long-running job keep waiting.

        Args:
            user_id: whose session.
            session_id: which session.
            invocation_id: of the run that was stopped.
            edits: what was changed by hand in these calls: `Interception.unmarked_edits`.

        Returns:
            The committed events; none if every call has its result.

        Raises:
            SessionNotFoundError: there is no such session.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        events = cancelled_calls(ctx.session.events, invocation_id, edits)
        for event in events:
            await self._commit(ctx, event)
        return events

    async def report_progress(self, *, user_id: str, session_id: str, call_id: str, response: dict[str, Any]) -> Event:
        """Tell how far a long-running call is. No agent runs; the call stays open until a function response of the user answers it.

        Args:
            user_id: whose session.
            session_id: which session.
            call_id: of the function call.
            response: the function response's object, such as `{"status": "pending", "done": 0.4}`.

        Returns:
            The committed event.

        Raises:
            SessionNotFoundError: there is no such session.
            ProgressError: there is no such call, it is not long-running, or it has been answered.
            UnstorableValueError: the response is no JSON.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        event = progress(ctx.session.events, call_id, response)
        await self._commit(ctx, event)
        return event

    async def rewind_async(self, *, user_id: str, session_id: str, rewind_before_invocation_id: str) -> None:
        """Take back an invocation and everything after it.

        The session's own state, also keys it was created with, and its files are restored; `user:` and `app:` keys and files stay.
        Agents do not see what was taken back any more; the session keeps it (contract: "Rewind restores what was there").

        Args:
            user_id: whose session.
            session_id: which session.
            rewind_before_invocation_id: the first invocation to take back.

        Raises:
            SessionNotFoundError: there is no such session.
            InvocationNotFoundError: the session has no such invocation, or it was taken back already.
        """
        ctx = await self._context_for_edit(user_id, session_id)
        session = ctx.session
        start = start_of(session.events, rewind_before_invocation_id)
        state_delta = state_to_restore(session, await self.session_service.first_state(session.key), start)
        actions = EventActions(
            rewind_before_invocation_id=rewind_before_invocation_id,
            state_delta=state_delta,
            artifact_delta=await restore_artifacts(self.artifact_service, session, start),
        )
        await self._commit(ctx, Event(invocation_id=new_invocation_id(), author="user", actions=actions))

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
        """Send messages to the agent and print what is said; for trying things out.

        Args:
            user_messages: one message or several, each an invocation of its own.
            user_id: whose session.
            session_id: which session; created if it does not exist.
            run_config: settings of the runs.
            quiet: print nothing.
            verbose: print calls, their results and other parts too.

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
        self, outer: InvocationContext, *, call_id: str | None, session: Session, new_message: types.Content
    ) -> AsyncGenerator[Event, None]:
        """Run the agent inside a function call of another run, as part of the same invocation (seed-readings: AgentTool).

        Args:
            outer: the caller's context; its invocation id, run settings and count of model calls hold here too.
            call_id: the function call.
            session: a session of this Runner's own service.
            new_message: what the agent is asked.

        Yields:
            The events, as `run_async` does; each is shown to the outermost run's plugins before the agent goes on.
        """
        ctx = self._new_context(session, None, new_message, outer.run_config)
        ctx.run_inside(outer, call_id)
        await self._append_message(ctx, new_message, None)
        async with aclosing(self._event_loop(ctx)) as events:
            async for event in events:
                await outer.report_inner_event(event, call_id)
                yield event

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

        It runs in a thread and an event loop of its own, so it also works where a loop is running. The agent goes on when the next event
        is asked for; leaving the `for` early stops it.
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

    async def close(self) -> None:
        """Close the plugins and the agents' toolsets. The services belong to whoever made them."""
        await self.plugin_manager.close()
        for agent in (self.agent, *self.agent.descendants()):
            for toolset in getattr(agent, "toolsets", ()):
                try:
                    await toolset.close()
                except Exception:  # the others are to be closed all the same
                    logger.exception("A %s of agent %s could not be closed.", type(toolset).__name__, agent.name)

    async def __aenter__(self) -> Runner:
        """Return the Runner itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the Runner."""
        await self.close()

    async def _context_for_edit(self, user_id: str, session_id: str) -> InvocationContext:
        """Return the context of the run in a session, or a new one over the session as it is stored."""
        running = self._running.get((user_id, session_id))
        return running or self._new_context(await self._load(user_id, session_id), None, None, None)

    async def _load(self, user_id: str, session_id: str) -> Session:
        service, app_name = self.session_service, self.app_name
        session = await service.session_for_run(app_name=app_name, user_id=user_id, session_id=session_id)
        if session is None and self.auto_create_session:
            session = await service.create_session(app_name=app_name, user_id=user_id, session_id=session_id)
        if session is None:
            raise SessionNotFoundError(
                f"Session not found: {session_id}. There is no such session of user {user_id!r} in app {self.app_name!r}; create it first"
                " with session_service.create_session(…)."
            )
        return session

    @property
    def _is_resumable(self) -> bool:
        return self.resumability_config is not None and self.resumability_config.is_resumable

    def _new_context(
        self, session: Session, resumed_id: str | None, message: types.Content | None, run_config: RunConfig | None
    ) -> InvocationContext:
        ctx = InvocationContext(
            invocation_id=resumed_id or new_invocation_id(),
            agent=self.agent,
            session=session,
            session_service=self.session_service,
            artifact_service=self.artifact_service,
            memory_service=self.memory_service,
            credential_service=self.credential_service,
            user_content=message or (first_message(session.events, resumed_id) if resumed_id else None),
            run_config=run_config or RunConfig(),
            plugin_manager=self.plugin_manager,
            resumability_config=self.resumability_config,
        )
        ctx.shared.committed_state = dict(session.state)
        past = events_of(session.events, resumed_id) if resumed_id else []
        if past:
            found = read_checkpoints(past, self.agent)
            ctx.shared.resumed = found
            ctx.shared.has_resumed_mark = False
            ctx.agent_states.update(found.states)
            ctx.end_of_agents.update(found.ended)
        return ctx

    async def _append_message(self, ctx: InvocationContext, message: types.Content, state_delta: dict[str, Any] | None) -> None:
        """Commit the user's message as the invocation's first event, or as the answer to one of its calls."""
        changed = await self.plugin_manager.ask("on_user_message_callback", invocation_context=ctx, user_message=message)
        message = message if changed is None else changed
        if not message.parts:
            raise ValueError("The new_message has no parts; give it at least one, such as types.Part(text=…).")
        if message.role is None:
            message = message.model_copy(update={"role": "user"})
        actions = EventActions(state_delta=dict(state_delta or {}))
        if self.artifact_service and ctx.run_config and ctx.run_config.save_input_blobs_as_artifacts:
            message = await with_saved_files(message, CallbackContext(ctx, event_actions=actions))
        asked_by = call_event(ctx.session.events, answered_calls(message))
        event = Event(
            invocation_id=ctx.invocation_id,
            author="user",
            content=message,
            branch=asked_by.branch if asked_by else None,
            actions=actions,
        )
        await self._commit(ctx, event)
        ctx.user_content = message

    async def _event_loop(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        """The heart: commit what the agent yields, pass it on, and let the agent go on when the next event is asked for."""
        instead = await self.plugin_manager.ask("before_run_callback", invocation_context=ctx)
        if instead is not None:
            event = Event(invocation_id=ctx.invocation_id, author="model", content=instead)
            await self._commit(ctx, event)
            yield event
        else:
            async with aclosing(ctx.agent.run_async(ctx)) as events:
                async for event in events:
                    try:
                        shown = await self._process(ctx, event)
                    except Exception as error:
                        # Raising here would reach only the outermost generator; the agent that yielded the event is told at its `yield`.
                        self._forget_local_writes(ctx)
                        if not ctx.shared.note_failed_commit(event, error):
                            raise  # of one of the root's callbacks: no agent's own code yielded it
                    else:
                        yield shown
        await self.plugin_manager.ask("after_run_callback", invocation_context=ctx)
        if self.feed_memory == "invocation":
            await remember_session(self.memory_service, ctx.session)
        await self._sum_up(ctx)
        self._warn_of_lost_writes(ctx)

    async def _sum_up(self, ctx: InvocationContext) -> None:
        """Commit a summary of old events, if the app wants one now."""
        config = self.app.events_compaction_config if self.app else None
        if config is not None:
            summary = await summary_if_due(config, self.agent, ctx.session, resumable=self._is_resumable)
            if summary is not None:
                await self._commit(ctx, summary)

    async def _process(self, ctx: InvocationContext, event: Event) -> Event:
        """Fill in what an event lacks, show it to the plugins, and commit it unless it is partial."""
        if not event.invocation_id:
            event.invocation_id = ctx.invocation_id
        if ctx.run_config and ctx.run_config.custom_metadata:
            event.custom_metadata = {**ctx.run_config.custom_metadata, **(event.custom_metadata or {})}
        if self.plugin_manager.plugins:
            changed = await self.plugin_manager.ask("on_event_callback", invocation_context=ctx, event=event)
            event = event if changed is None else changed
        if not event.partial:
            await self._commit(ctx, event)
        return event

    async def _commit(self, ctx: InvocationContext, event: Event) -> None:
        """Append an event to the session. The only place that does."""
        shared = ctx.shared
        if not shared.has_resumed_mark:
            event.custom_metadata = {**(event.custom_metadata or {}), RESUMED: True}
            shared.has_resumed_mark = True
        with_temp = dict(event.actions.state_delta)
        async with shared.committing:
            await self.session_service.append_event(ctx.session, event)
            if with_temp:
                apply_delta(shared.committed_state, with_temp)
                apply_delta(shared.committed_state, event.actions.state_delta)  # checked copies, without what is `temp:`
        if self.feed_memory == "event":
            await remember_event(self.memory_service, ctx.session, event)

    def _forget_local_writes(self, ctx: InvocationContext) -> None:
        """Make the state what was committed last (seed-readings: "local writes included")."""
        ctx.session.state.clear()
        ctx.session.state.update(ctx.shared.committed_state)

    def _warn_of_lost_writes(self, ctx: InvocationContext) -> None:
        """Say which keys were written to `ctx.session.state` directly and never reached an event."""
        committed = ctx.shared.committed_state
        lost = [key for key, value in ctx.session.state.items() if key not in committed or committed[key] is not value]
        lost = [key for key in lost if not key.startswith(State.TEMP_PREFIX) and committed.get(key) != ctx.session.state[key]]
        if lost:
            logger.warning(
                "These state keys were changed without an event and are not stored: %s. Write through a context's state, or yield an event"
                " with a state_delta.",
                ", ".join(sorted(lost)),
            )


class InMemoryRunner(Runner):
    """A Runner that keeps everything in memory, for trying things out.

    Args:
        agent: the root agent; or `app`.
        app_name: the app's name.
        app: what to run.
        plugins: hooks round every run.
    """

    def __init__(
        self,
        agent: BaseAgent | None = None,
        *,
        app_name: str | None = None,
        app: App | None = None,
        plugins: list[BasePlugin] | None = None,
    ) -> None:
        super().__init__(
            app=app,
            app_name=app_name or (None if app else "InMemoryRunner"),
            agent=agent,
            plugins=plugins,
            session_service=InMemorySessionService(),
            artifact_service=InMemoryArtifactService(),
            memory_service=InMemoryMemoryService(),
        )
