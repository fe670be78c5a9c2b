"""Hold, step and go on, round any async generator of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Literal

from runtime.events.event import Event

DebuggerState = Literal["idle", "running", "paused", "stopping", "finished"]


class Debugger:
    """A gate between a run's events and whoever watches them.

    The Runner commits an event before it yields it, and the agent goes on only when the next event is asked for. So holding after an event
    means: that event is committed, and the agent has not moved on.

    One Debugger watches one run. Its methods are called from the event loop's thread.

    Args:
        paused: hold at the first event.
        on_change: called after each change of `state`.
    """

    def __init__(self, *, paused: bool = False, on_change: Callable[[], None] | None = None) -> None:
        self._state: DebuggerState = "idle"
        self._held: Event | None = None
        self._hold_next = paused
        self._may_go_on = asyncio.Event()
        self._is_held = asyncio.Event()
        self._on_change = on_change
        self._pulling: asyncio.Task[object] | None = None  # set while the agent, not our consumer, is at work

    @property
    def state(self) -> DebuggerState:
        """`idle` before the run, `running`, `paused` at `held`, `stopping` while the agent's `finally` blocks run, `finished`."""
        return self._state

    @property
    def held(self) -> Event | None:
        """The committed event that the agent is held at; None while it runs."""
        return self._held

    async def run(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """Yield the events of a run, holding where it was asked for.

        Partial events are never held: nothing is committed with them.

        Args:
            events: closed in any case.
        """
        self._change("running")
        try:
            async with aclosing(events):
                while self._state != "stopping":
                    event = await self._pull(events)
                    if event is None:
                        return
                    holds = self._hold_next and not event.partial
                    if holds:
                        self._hold(event)
                    yield event
                    if holds:
                        await self._may_go_on.wait()
        finally:
            self._held = None
            self._is_held.clear()
            self._change("finished")

    async def _pull(self, events: AsyncGenerator[Event, None]) -> Event | None:
        """Return the next event; None at the end, also when `stop` cut it off."""
        self._pulling = asyncio.current_task()
        try:
            return await anext(events, None)
        except asyncio.CancelledError:
            if self._state != "stopping":
                raise
            self._pulling.uncancel()  # type: ignore[union-attr]  # the run is over, not whoever watches it
            return None
        finally:
            self._pulling = None

    def pause(self) -> None:
        """Hold at the next committed event."""
        self._hold_next = True

    def step(self) -> None:
        """Let the agent go on to its next committed event."""
        self._hold_next = True
        self._release()

    def resume(self) -> None:
        """Let the agent go on."""
        self._hold_next = False
        self._release()

    def stop(self) -> None:
        """End the run: whatever the agent awaits is cancelled, and every `finally` of it runs. Nothing happens without a run."""
        if self._state in ("running", "paused"):
            self._change("stopping")
            self._may_go_on.set()
            if self._pulling is not None:
                self._pulling.cancel()

    async def wait_until_paused(self) -> Event:
        """Return the event the agent is held at, as soon as it is held."""
        await self._is_held.wait()
        assert self._held is not None  # set before _is_held
        return self._held

    def _hold(self, event: Event) -> None:
        self._held = event
        self._may_go_on.clear()
        self._is_held.set()
        self._change("paused")

    def _release(self) -> None:
        if self._state == "paused":
            self._held = None
            self._is_held.clear()
            self._may_go_on.set()
            self._change("running")

    def _change(self, state: DebuggerState) -> None:
        self._state = state
        if self._on_change is not None:
            self._on_change()
