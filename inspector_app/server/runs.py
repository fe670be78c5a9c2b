"""The active runs: at most one per session, all stopped before the server shuts down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

from starlette.types import Receive

from runtime.errors import KnownError
from runtime.events import Event
from runtime.sessions.session_key import SessionKey


class SessionBusyError(KnownError):
    """The session has an active run."""


class Run:
    """One run, from its request to its last event.

    Args:
        runs: the collection it belongs to.
        key: its session, which no other run may use.
        events: the run's events.
    """

    def __init__(self, runs: Runs, key: SessionKey, events: AsyncGenerator[Event, None]) -> None:
        self._runs = runs
        self._key = key
        self.events = events
        self.answering: asyncio.Task[None] | None = None

    async def answer(self, answering: Coroutine[Any, Any, None], receive: Receive) -> None:
        """Respond with the run's events; stop the run and run its `finally` blocks when the client disconnects or the server shuts down.

        Args:
            answering: reads the events and sends them.
            receive: the request's channel; its body has been read.
        """
        try:
            # A TaskGroup cancels once; anyio's scopes, used by starlette's streams, would cancel each await of a `finally` block again.
            async with asyncio.TaskGroup() as group:
                self.answering = group.create_task(answering)
                watching = group.create_task(_client_gone(receive))
                self.answering.add_done_callback(lambda _: watching.cancel())
                watching.add_done_callback(lambda _: self.answering and self.answering.cancel())
        finally:
            self._runs.forget(self._key)


class Runs:
    """The active runs."""

    def __init__(self) -> None:
        self._running: dict[SessionKey, Run] = {}

    def begin(self, key: SessionKey, events: AsyncGenerator[Event, None]) -> Run:
        """Reserve a session for a run; call `Run.answer` at once, which releases it at the end.

        Raises:
            SessionBusyError: the session has an active run.
        """
        self.check_free(key)
        run = self._running[key] = Run(self, key, events)
        return run

    def check_free(self, key: SessionKey) -> None:
        """Raise SessionBusyError if the session has an active run."""
        if key in self._running:
            raise SessionBusyError(f"Session {key.session_id} has an active run by another request. Try again when that run is over.")

    def forget(self, key: SessionKey) -> None:
        """Release a session after its run."""
        del self._running[key]

    async def stop(self, seconds: float) -> None:
        """Stop all runs.

        Args:
            seconds: maximum time for the agents' `finally` blocks.
        """
        answering = [run.answering for run in self._running.values() if run.answering is not None]
        for task in answering:
            task.cancel()
        if answering:
            await asyncio.wait(answering, timeout=seconds)


async def _client_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
