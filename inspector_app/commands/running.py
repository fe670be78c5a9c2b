"""The `run` and `resume` subcommands, which run an agent."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.genai import types

from inspector_app.commands import stdout
from inspector_app.commands.child_runs import ChildSessions, check_resumable, message_of, open_child, session_of
from inspector_app.commands.options import Options
from inspector_app.commands.output import pending_json, pending_text, print_event, print_json, print_line
from inspector_app.commands.reading import check_layout_is_written, opened
from inspector_app.commands.selection import command_line, existing_key, session_words, whole_id
from inspector_app.documents.session_files import files_folder, files_of
from inspector_app.engines.agent_loader import LoadedAgent, check_agent_path, load_agent
from inspector_app.engines.engine_choice import EngineChoice, EnginePlan, plan_engine
from inspector_app.engines.recorder_file import recorder_plugin
from inspector_app.engines.tracebacks import traceback_of
from inspector_app.exchange.capsule import is_capsule
from inspector_app.presentation.event_summary import text_of
from inspector_app.presentation.values import error_text, visible, visible_lines
from inspector_app.support.preferences import Preferences
from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.artifacts.file_artifact_service import FileArtifactService
from runtime.contexts.run_config import RunConfig, StreamingMode
from runtime.errors import KnownError, NotFoundError, ResumeError, StorageError
from runtime.events import Event
from runtime.events.marks import CONFIRMATION_CALL, CREDENTIAL_CALL
from runtime.history.invocations import Invocation, PendingItem, invocations, with_recorded_ends
from runtime.memory.in_memory_memory_service import InMemoryMemoryService
from runtime.runners import Runner
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.in_memory_session_service import InMemorySessionService
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import State
from runtime.storage.connections.database_url import without_password
from runtime.storage.open_service import open_session_service
from runtime.storage.recordings.recording import recording_beside
from runtime.support.file_names import unusable_name

FINISHED, FAILED, PAUSED = 0, 1, 3

# The function that the answer is for, if a request waits instead of the tool itself.
_ANSWER_NAMES = {"confirmation": CONFIRMATION_CALL, "credential": CREDENTIAL_CALL}


def run(options: Options) -> int:
    """Send an agent a message, or as often as asked, or run a stored session or a capsule again."""
    with stdout.kept_for_answers(), ExitStack() as stack:
        if is_capsule(options.agent):
            unpacked = importlib.import_module("inspector_app.exchange.capsule_session").unpacked
            database, options.agent = stack.enter_context(unpacked(options.agent))
            if options.message is None and options.replay is None:
                options.replay = database
            options.engine = "embedded"
        if options.repeat is not None:
            done: int = asyncio.run(importlib.import_module("inspector_app.commands.repeating").repeat(options))
            return done
        if options.replay is not None:
            status: int = asyncio.run(importlib.import_module("inspector_app.commands.replaying").replay(options))
            return status
        if (plan := planned_engine(options)).kind != "embedded":
            return asyncio.run(_run_in_child(plan, options))
        loaded = load_agent(options.agent)
        service = open_session_service(options.db) if options.db else InMemorySessionService()
        return asyncio.run(_run(loaded, service, options))


def recording_of(options: Options) -> Path | None:
    """Return the file that records the model calls of a run: the one beside the database, as the window names it.

    None without a database file, with `--no-record`, or if recording is turned off in the window.
    """
    if options.no_record or options.db is None or "://" in options.db or not Preferences().records_requests:
        return None
    return recording_beside(Path(options.db))


def planned_engine(options: Options) -> EnginePlan:
    """Return what runs the agent that the options name."""
    check_agent_path(options.agent)
    return plan_engine(options.agent, EngineChoice(options.engine, options.python, options.debugpy))


async def _run_in_child(plan: EnginePlan, options: Options) -> int:
    async with open_child(plan, options.db, recording_of(options)) as engine:
        session, state = await session_of(engine, options)
        events = engine.run(session.key, message_of(options.message), state_delta=state, streaming=options.streaming)
        return await drive(events, ChildSessions(engine), session.key, options, {event.invocation_id for event in session.events})


async def _run(loaded: LoadedAgent, service: BaseSessionService, options: Options) -> int:
    async with service:
        app_name = options.app or loaded.name
        session = options.session and await service.get_session(app_name=app_name, user_id=options.user, session_id=options.session)
        state: dict[str, Any] = options.state
        if not session:
            session = await service.create_session(app_name=app_name, user_id=options.user, state=state, session_id=options.session)
            state = {key: value for key, value in state.items() if key.startswith(State.TEMP_PREFIX)}
        async with open_runner(loaded, app_name, service, files_of(options.db), recording_of(options)) as runner:
            events = runner.run_async(
                user_id=options.user,
                session_id=session.id,
                new_message=message_of(options.message),
                state_delta=state or None,
                run_config=RunConfig(streaming_mode=StreamingMode.SSE if options.streaming else StreamingMode.NONE),
            )
            return await drive(events, service, session.key, options, {event.invocation_id for event in session.events})


def resume(options: Options) -> int:
    """Resume an invocation."""
    with stdout.kept_for_answers():
        plan = planned_engine(options)
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
        if loaded is None:
            return asyncio.run(_resume_in_child(plan, key, chosen.invocation_id, answer, options))
        return asyncio.run(_resume(loaded, open_session_service(options.db), key, chosen.invocation_id, answer, options))


async def _resume_in_child(plan: EnginePlan, key: SessionKey, invocation_id: str, answer: types.Content | None, options: Options) -> int:
    async with open_child(plan, options.db, recording_of(options)) as engine:
        check_resumable(engine)
        events = engine.run(key, answer, invocation_id, streaming=False)
        return await drive(events, ChildSessions(engine), key, options, set(), invocation_id)


async def _resume(
    loaded: LoadedAgent,
    service: BaseSessionService,
    key: SessionKey,
    invocation_id: str,
    answer: types.Content | None,
    options: Options,
) -> int:
    async with service, open_runner(loaded, key.app_name, service, files_of(options.db), recording_of(options)) as runner:
        events = runner.run_async(user_id=key.user_id, session_id=key.session_id, invocation_id=invocation_id, new_message=answer)
        return await drive(events, service, key, options, set(), invocation_id)


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
        unfinished = [invocation for invocation in found if invocation.status in ("paused", "interrupted")]
        if not unfinished:
            raise ResumeError("There is nothing to resume: every invocation of the session is finished.")
        return unfinished[-1]
    for invocation in found:
        if invocation.invocation_id == invocation_id:
            if invocation.status in ("finished", "rewound"):
                raise ResumeError(f"The invocation {invocation_id} is {invocation.status} ({invocation.reason}) and cannot be resumed.")
            return invocation
    raise NotFoundError(f"The session has no invocation {invocation_id!r}.")


def _answer(invocation: Invocation, options: Options) -> types.Content:
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


async def drive(
    events: AsyncGenerator[Event, None],
    service: BaseSessionService | ChildSessions,
    key: SessionKey,
    options: Options,
    earlier: set[str],
    invocation_id: str | None = None,
) -> int:
    """Print a run's events and how it ended.

    Args:
        events: the run's events.
        service: stores the session.
        key: the session.
        options: the command line's options.
        earlier: ids of the invocations before the run.
        invocation_id: the resumed invocation; None for a new one.

    Returns:
        The exit status.
    """
    printer = _Printer(options.json)
    failure: Exception | None = None
    try:
        async with aclosing(events):
            async for event in events:
                invocation_id = invocation_id or event.invocation_id
                printer.show(event)
    except (stdout.OutputClosedError, stdout.OutputFailedError):
        raise
    except asyncio.CancelledError:  # Ctrl+C; the stored session may have a generated id, so print it
        where = f", invocation {visible(invocation_id)}" if invocation_id else ""
        stdout.complain(f"agent-inspector: Interrupted in session {visible(key.session_id)}{where}\n" if options.db else "")
        raise
    except Exception as error:
        failure = error
    ended = await _ended(service, key, earlier, invocation_id, failure)
    contradicts = failure is not None and ended is not None and ended.status == "finished"  # its events do not record the failure
    if ended is not None and (options.json or not contradicts):
        _print_end(key, ended, options)
    return _status(failure, ended, options.agent)


async def _ended(
    service: BaseSessionService | ChildSessions,
    key: SessionKey,
    earlier: set[str],
    invocation_id: str | None,
    failure: Exception | None,
) -> Invocation | None:
    """Return the invocation's present status; None if the run failed before the invocation started."""
    session = await service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
    if session is not None and isinstance(service, ChildSessions):
        service.run_has_ended([event for event in session.events if event.invocation_id == invocation_id], failure)
    found = with_recorded_ends(invocations(session.events), await service.recorded_ends(key)) if session else []
    for invocation in reversed(found):
        if invocation.invocation_id == invocation_id or (invocation_id is None and invocation.invocation_id not in earlier):
            return invocation
    return None


def _status(failure: Exception | None, ended: Invocation | None, agent: str) -> int:
    if isinstance(failure, KnownError):
        raise failure
    if failure is not None:
        place = Path(agent).expanduser().absolute()
        stdout.complain(traceback_of(failure, place if place.is_dir() else place.parent))
        stdout.complain(f"agent-inspector: The agent failed with {visible_lines(error_text(failure))}\n")
        return FAILED
    if ended is None or ended.status == "finished":
        return FINISHED
    if ended.status == "paused":
        return PAUSED
    stdout.complain(f"agent-inspector: The invocation did not finish: {ended.reason}.\n")
    return FAILED


def _print_end(key: SessionKey, ended: Invocation, options: Options) -> None:
    if options.json:
        end = {
            "app_name": key.app_name,
            "user_id": key.user_id,
            "session_id": key.session_id,
            "invocation_id": ended.invocation_id,
            "status": ended.status,
            "pending": [pending_json(item) for item in ended.pending],
        }
        print_json({"run": end})
        return
    print_line(f"{ended.status}: {ended.reason}  (session {visible(key.session_id)}, invocation {visible(ended.invocation_id)})")
    if ended.status == "paused":
        print_line(f"Waiting for: {visible(pending_text(ended.pending))}. {visible(_how_to_answer(key, ended.pending, options))}")


def _how_to_answer(key: SessionKey, pending: Sequence[PendingItem], options: Options) -> str:
    """Return the command that answers the first waiting call, to be pasted and changed."""
    database = getattr(options, "into", None) or options.db
    if not database:
        return "The session was kept in memory only, so it cannot be continued. Give --db to store it."
    item = pending[0]
    response = '{"confirmed": true}' if item.kind == "confirmation" else '{"result": "..."}'
    call = ("--call", item.call_id) if len(pending) > 1 and item.call_id else ()
    words = ("resume", options.agent, "--db", without_password(database), *session_words(key), *call, *_engine_words(options))
    return f"Answer with: {command_line(*words, '--response', response)}"


def _engine_words(options: Options) -> tuple[str, ...]:
    """Return the options that choose what runs the agent, as they were given."""
    named = (("--engine", options.engine), ("--python", options.python))
    return tuple(word for name, value in named if value is not None for word in (name, value))


@dataclass
class _Printer:
    """Prints events as they come. For people, the pieces of a streamed answer share a line; as JSON, each has its own line."""

    as_json: bool
    growing: bool = False

    def show(self, event: Event) -> None:
        """Print one event, partial or committed."""
        if event.partial and not self.as_json:
            stdout.write(visible_lines(text_of(event)))
            self.growing = True
            return
        if self.growing:
            print_line("")
            self.growing = False
        print_event(event, self.as_json)


def open_artifacts(folder: str | None, database: str) -> FileArtifactService | None:
    """Return the service for the folder with the files of a database's sessions; None if there is no folder.

    Args:
        folder: the named folder; None: the one beside the database, if it exists.
        database: path or URL.

    Raises:
        StorageError: the folder does not exist.
    """
    if folder is not None and (reason := unusable_name(Path(folder))):
        raise StorageError(f"{folder} {reason}.")
    if folder is not None and not Path(folder).is_dir():
        raise StorageError(f"There is no folder {folder}. Name the folder with the session's files after --artifacts.")
    found = files_folder(database) if folder is None else Path(folder)
    return FileArtifactService(found, follows_link=folder is not None) if found is not None and _is_folder(found) else None


def _is_folder(path: Path) -> bool:
    return unusable_name(path) is None and path.is_dir()


@asynccontextmanager
async def open_runner(
    loaded: LoadedAgent, app_name: str, service: BaseSessionService, artifacts: BaseArtifactService, recording: Path | None = None
) -> AsyncIterator[Runner]:
    """Yield a Runner for a loaded agent, with the agent's environment variables set, and close it afterwards.

    Args:
        loaded: the agent.
        app_name: the app name of its sessions.
        service: stores the sessions.
        artifacts: stores the files.
        recording: the file in which model and tool calls are recorded; None: nowhere.
    """
    runner = Runner(
        app=loaded.app, app_name=app_name, session_service=service, artifact_service=artifacts, memory_service=InMemoryMemoryService()
    )
    recorder = recorder_plugin(recording) if recording is not None else None
    if recorder is not None and runner.plugin_manager.get_plugin(recorder.name) is None:  # or the app has one
        runner.plugin_manager.register_plugin(recorder, first=True)
    with loaded.environment.active():
        try:
            yield runner
        finally:
            await runner.close()
