"""Prints a run's events and how it ended, which is the exit status."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from inspector_app.commands import stdout
from inspector_app.commands.driven import DrivenAgent
from inspector_app.commands.options.branching import ForkOptions
from inspector_app.commands.options.running import Resume, Run
from inspector_app.commands.output import pending_json, pending_text, print_event, print_json, print_line
from inspector_app.commands.selection import command_line, session_words
from inspector_app.engines.tracebacks import traceback_of
from inspector_app.presentation.event_summary import text_of
from inspector_app.presentation.values import example_response, visible, visible_lines
from runtime.errors import KnownError
from runtime.events import Event
from runtime.history.invocations import Invocation, PendingItem, invocations
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_url import without_password
from runtime.support.texts import error_text

FINISHED, FAILED, PAUSED = 0, 1, 3


async def drive(
    events: AsyncGenerator[Event, None],
    agent: DrivenAgent,
    key: SessionKey,
    options: Run | Resume | ForkOptions,
    earlier: set[str],
    invocation_id: str | None = None,
) -> int:
    """Print a run's events and how it ended.

    Args:
        events: the run's events.
        agent: what runs, and stores the session.
        key: the session.
        options: the command line's options.
        earlier: ids of the invocations before the run.
        invocation_id: the resumed invocation; None for a new one.

    Returns:
        The exit status.
    """
    printer = _Printer(options.json)
    failure: Exception | None = None
    resumed = invocation_id
    try:
        async with aclosing(events):
            async for event in events:
                invocation_id = resumed or event.invocation_id  # a replay runs several: the newest tells how it ended
                printer.show(event)
    except (stdout.OutputClosedError, stdout.OutputFailedError):
        raise
    except asyncio.CancelledError:  # Ctrl+C; the stored session may have a generated id, so print it
        where = f", invocation {visible(invocation_id)}" if invocation_id else ""
        stdout.complain(f"agent-inspector: Interrupted in session {visible(key.session_id)}{where}\n" if options.db else "")
        raise
    except Exception as error:
        failure = error
    ended = await _ended(agent, key, earlier, invocation_id, failure)
    contradicts = failure is not None and ended is not None and ended.status == "finished"  # its events do not record the failure
    if ended is not None and (options.json or not contradicts):
        _print_end(key, ended, options)
    return _status(failure, ended, options.agent or "")


async def then(events: AsyncGenerator[Event, None], report: Callable[[], None]) -> AsyncGenerator[Event, None]:
    """Yield a run's events; report at its end, however it ends."""
    try:
        async with aclosing(events):
            async for event in events:
                yield event
    finally:
        report()


async def _ended(
    agent: DrivenAgent, key: SessionKey, earlier: set[str], invocation_id: str | None, failure: Exception | None
) -> Invocation | None:
    """Return the invocation's present status; None if the run failed before the invocation started."""
    events = await agent.events(key)
    own = [event for event in events if event.invocation_id == invocation_id]
    found = invocations(events, ends=await agent.ends(key, own, failure)) if events else []
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
    stdout.complain(f"agent-inspector: The invocation did not finish ({ended.word}: {ended.reason}).\n")
    return FAILED


def _print_end(key: SessionKey, ended: Invocation, options: Run | Resume | ForkOptions) -> None:
    if options.json:
        end = {
            **key._asdict(),
            "invocation_id": ended.invocation_id,
            "status": ended.status,
            "pending": [pending_json(item) for item in ended.pending],
        }
        print_json({"run": end})
        return
    print_line(f"{ended.word}: {ended.reason}  (session {visible(key.session_id)}, invocation {visible(ended.invocation_id)})")
    if ended.status == "paused":
        print_line(f"Waiting for: {visible(pending_text(ended.pending))}. {visible(_how_to_answer(key, ended.pending, options))}")


def _how_to_answer(key: SessionKey, pending: Sequence[PendingItem], options: Run | Resume | ForkOptions) -> str:
    """Return the command that answers the first waiting call, to be pasted and changed."""
    database = (options.into if isinstance(options, ForkOptions) else None) or options.db
    if not database:
        return "The session was kept in memory only, so it cannot be continued. Give --db to store it."
    item = pending[0]
    call = ("--call", item.call_id) if len(pending) > 1 and item.call_id else ()
    words = ("resume", options.agent, "--db", without_password(database), *session_words(key), *call, *_engine_words(options))
    return f"Answer with: {command_line(*words, '--response', example_response(item.kind))}"


def _engine_words(options: Run | Resume | ForkOptions) -> tuple[str, ...]:
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
