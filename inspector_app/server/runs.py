"""The runs that are going on: one at a time in each session, all of them stopped before the server ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

from starlette.types import Receive

from runtime.errors import KnownError
from runtime.events import Event
from runtime.sessions.session import SessionKey


class SessionBusyError(KnownError):
    """The session is being run."""


class Run:
    """One run, from the request that began it to its last event.

    Args:
        runs: where it is kept.
        key: the session it has to itself.
        events: of the run.
    """

    def __init__(self, runs: Runs, key: SessionKey, events: AsyncGenerator[Event, None]) -> None:
        self._runs = runs
        self._key = key
        self.events = events
        self.answering: asyncio.Task[None] | None = None

    async def answer(self, answering: Coroutine[Any, Any, None], receive: Receive) -> None:
        """Answer the request with the run's events; stop, `finally` blocks and all, when the client goes away or the server ends.

        Args:
            answering: reads the events and sends them.
            receive: of the request; its body has been read.
        """
        try:
            # A TaskGroup cancels once; anyio's scopes, which starlette's streams run in, would cancel each await of a `finally` block anew.
            async with asyncio.TaskGroup() as group:
                self.answering = group.create_task(answering)
                watching = group.create_task(_client_gone(receive))
                self.answering.add_done_callback(lambda _: watching.cancel())
                watching.add_done_callback(lambda _: self.answering and self.answering.cancel())
        finally:
            self._runs.forget(self._key)


class Runs:
    """The runs that are going on."""

    def __init__(self) -> None:
        self._running: dict[SessionKey, Run] = {}

    def begin(self, key: SessionKey, events: AsyncGenerator[Event, None]) -> Run:
        """Give a run its session; `Run.answer` must follow at once, and gives it back.

        Raises:
            SessionBusyError: another run has it.
        """
        self.check_free(key)
        run = self._running[key] = Run(self, key, events)
        return run

    def check_free(self, key: SessionKey) -> None:
        """Raise SessionBusyError if the session is being run."""
        if key in self._running:
            raise SessionBusyError(f"Session {key.session_id} is being run by another request. Ask again when that one is done.")

    def forget(self, key: SessionKey) -> None:
        """Note that a session's run is over."""
        del self._running[key]

    async def stop(self, seconds: float) -> None:
        """Stop every run where it is.

        Args:
            seconds: to wait for the agents' `finally` blocks at most.
        """
        answering = [run.answering for run in self._running.values() if run.answering is not None]
        for task in answering:
            task.cancel()
        if answering:
            await asyncio.wait(answering, timeout=seconds)


async def _client_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
