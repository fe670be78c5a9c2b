"""The `run` and `resume` subcommands, which run an agent."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from google.genai import types

from inspector_app.commands import stdout
from inspector_app.commands.child_runs import message_of
from inspector_app.commands.driven import driven
from inspector_app.commands.driving import drive
from inspector_app.commands.opening import planned_engine, recording_of
from inspector_app.commands.options.running import Resume, Run
from inspector_app.commands.reading import check_layout_is_written, opened
from inspector_app.commands.selection import existing_key, session_key, whole_id
from inspector_app.engines.agent_loader import LoadedAgent, load_agent
from inspector_app.engines.engine_choice import EnginePlan
from inspector_app.exchange.capsule import is_capsule
from inspector_app.presentation.values import visible
from runtime.errors import NotFoundError, ResumeError
from runtime.events.marks import CONFIRMATION_CALL, CREDENTIAL_CALL
from runtime.history.invocations import Invocation
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import State

# The function that the answer is for, if a request waits instead of the tool itself.
_ANSWER_NAMES = {"confirmation": CONFIRMATION_CALL, "credential": CREDENTIAL_CALL}


def run(options: Run) -> int:
    """Send an agent a message, or as often as asked, or run a stored session or a capsule again."""
    with stdout.kept_for_answers(), ExitStack() as stack:
        if is_capsule(options.agent):
            unpacked = importlib.import_module("inspector_app.exchange.capsule_session").unpacked
            database, options.agent = stack.enter_context(unpacked(options.agent))
            if options.message is None and options.replay is None:
                options.replay = database
            options.engine = "embedded"
        if options.state_from is not None:
            options.state = {**_state_after(*options.state_from), **(options.state or {})}
        if options.repeat is not None:
            done: int = asyncio.run(importlib.import_module("inspector_app.commands.repeating").repeat(options))
            return done
        if options.replay is not None:
            status: int = asyncio.run(importlib.import_module("inspector_app.commands.replaying").replay(options))
            return status
        plan = planned_engine(options.agent, options.engine, options.python, options.debugpy)
        loaded = load_agent(options.agent) if plan.kind == "embedded" else None
        return asyncio.run(_run(plan, loaded, options))


def _state_after(target: str, session: str, event: str) -> dict[str, Any]:
    """Return the state that a stored session had after an event; keys whose value then is not recorded are named on stderr."""
    with opened(target) as database:
        key = session_key([summary.key for summary in database.listing()], None, None, session, target)
        name = whole_id("event", event, database.ids_beginning(key, event), key, target)
        history = database.history(key, plain=True)
    found = history.state_at(next(place for place, each in enumerate(history.events) if each.id == name))
    if found.unknown:
        stdout.complain(f"agent-inspector: Not set, as not recorded: {visible(', '.join(found.unknown))}\n")
    return found.merged()


async def _run(plan: EnginePlan, loaded: LoadedAgent | None, options: Run) -> int:
    async with driven(plan, loaded, options.db, options.app, recording_of(options)) as agent:
        state = options.state or {}
        key = SessionKey(agent.app_name, options.user, options.session or "")
        if options.session and (events := await agent.stored(key)) is not None:
            earlier = {event.invocation_id for event in events}
        else:
            key, earlier = await agent.new_session(options.user, state, options.session), set()
            state = {name: value for name, value in state.items() if name.startswith(State.TEMP_PREFIX)}
        run = agent.run(key, message_of(options.message or ""), state=state, streaming=options.streaming)
        return await drive(run, agent, key, options, earlier)


def resume(options: Resume) -> int:
    """Resume an invocation."""
    with stdout.kept_for_answers():
        plan = planned_engine(options.agent, options.engine, options.python, options.debugpy)
        loaded = load_agent(options.agent) if plan.kind == "embedded" else None
        if loaded is not None:
            options.app = options.app or loaded.name
        # Read-only at first: resuming a missing session must not create it.
        with opened(options.db) as database:
            check_layout_is_written(database, options.db)
            key = existing_key(database, options)
            found = database.invocations(key)
        if options.invocation is not None:
            options.invocation = whole_id("invocation", options.invocation, (each.invocation_id for each in found), key, options.db)
        chosen = _chosen(found, options.invocation)
        if loaded is not None:
            _check_resumable(loaded)
        answer = _answer(chosen, options) if options.response is not None else None
        return asyncio.run(_resume(plan, loaded, key, chosen.invocation_id, answer, options))


async def _resume(
    plan: EnginePlan,
    loaded: LoadedAgent | None,
    key: SessionKey,
    invocation_id: str,
    answer: types.Content | None,
    options: Resume,
) -> int:
    async with driven(plan, loaded, options.db, key.app_name, recording_of(options)) as agent:
        if reason := agent.why_not("resume"):
            raise ResumeError(reason)
        return await drive(agent.run(key, answer, invocation_id), agent, key, options, set(), invocation_id)


def _check_resumable(loaded: LoadedAgent) -> None:
    config = loaded.app.resumability_config
    if not (config and config.is_resumable):
        raise ResumeError(
            f"The app {loaded.name!r} is not resumable. Give it resumability_config=ResumabilityConfig(is_resumable=True) and run it again."
        )


def _chosen(found: Sequence[Invocation], invocation_id: str | None) -> Invocation:
    """Return the invocation to resume.

    Raises:
        NotFoundError: the session has no invocation with this id.
        ResumeError: the invocation is finished, or all are.
    """
    if invocation_id is None:
        unfinished = [invocation for invocation in found if invocation.is_open]
        if not unfinished:
            raise ResumeError("There is nothing to resume: every invocation of the session is finished.")
        return unfinished[-1]
    for invocation in found:
        if invocation.invocation_id == invocation_id:
            if invocation.status in ("finished", "rewound"):
                raise ResumeError(f"The invocation {invocation_id} is {invocation.status} ({invocation.reason}) and cannot be resumed.")
            return invocation
    raise NotFoundError(f"The session has no invocation {invocation_id!r}.")


def _answer(invocation: Invocation, options: Resume) -> types.Content:
    """Return the message that answers the waiting call.

    Raises:
        ResumeError: no call waits, several wait and none was named, or the named one does not wait.
    """
    waiting = [item for item in invocation.pending if item.call_id and options.call in (None, item.call_id)]
    if len(waiting) != 1:
        calls = ", ".join(f"{item.call_id} ({item.kind} {item.name})" for item in invocation.pending if item.call_id)
        if not calls:
            raise ResumeError(f"The invocation {invocation.invocation_id} does not wait for an answer. Resume it without --response.")
        reason = f"No waiting call has the id {options.call!r}" if options.call else "Several calls wait. Name one with --call"
        raise ResumeError(f"{reason}. Waiting calls: {calls}.")
    item = waiting[0]
    response = types.FunctionResponse(id=item.call_id, name=_ANSWER_NAMES.get(item.kind, item.name), response=options.response)
    return types.Content(role="user", parts=[types.Part(function_response=response)])
