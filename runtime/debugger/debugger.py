"""Hold, step and resume any async generator of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal, get_args

from runtime.debugger import stepping
from runtime.debugger.agent_calls import AgentCall, AgentCalls
from runtime.debugger.breakpoints import Breakpoints
from runtime.debugger.call_context import SharedContext
from runtime.debugger.calls import ModelCall, ToolCall
from runtime.debugger.hold import Hold, Report, RunningAgent, describe, running_agents
from runtime.debugger.stepping import Goal, Moment, Place, Reason
from runtime.events.kinds import Kind
from runtime.sessions.state import apply_delta
from runtime.support.lazy import lazy_module
from runtime.support.texts import text_of

if TYPE_CHECKING:
    from runtime.debugger.breakpoint import Breakpoint, When
    from runtime.events import event as event_model
    from runtime.events.event import Event
else:
    event_model = lazy_module("runtime.events.event")

DebuggerState = Literal["idle", "running", "paused", "stopping", "finished"]

ALL_PLACES: frozenset[Place] = frozenset(get_args(Place))

_PLACES: dict[Place, When] = {"event": "event", "before model": "before model", "before tool": "before tool", "error": "error"}


class _Waiting:
    """A hold that is in force or queued."""

    def __init__(self, hold: Hold, call: AgentCall | None, is_in_run: bool) -> None:
        self.hold = hold
        self.call = call
        self.is_in_run = is_in_run
        self.released = asyncio.Event()


class Debugger:
    """A gate between a run's events and their consumer.

    The Runner commits an event before it yields it, and the agent resumes only when the next event is requested. So a hold after an
    event means that the event is committed and the agent has not moved on. With the `Interception` plugin in the Runner, agents are also
    held when they start and end, and before they call a model or a tool; without it, every step is one event.

    Several agents can reach a hold at once, on parallel branches or as tools. One hold is in force at a time; the others are queued.

    One Debugger serves one run, or all runs of an attached app. Steps follow the run that was held. Call its methods on the event loop's
    thread.

    Args:
        paused: hold at the first event, or where this goal is reached.
        breakpoints: the agent's breakpoints and logpoints.
        state: the session's merged state before the run, for conditions that read state; the plugin provides it itself.
        on_change: called after each change of `state` or `hold`.
        on_report: called with the texts of logpoints and other reports.
        on_inner_event: called with each event of agents that run as tools, including partial ones, and with the ids of the function calls
            that lead to it. `run` does not yield such events.
    """

    def __init__(
        self,
        *,
        paused: bool | Goal = False,
        breakpoints: Breakpoints | None = None,
        state: Mapping[str, Any] | None = None,
        on_change: Callable[[], None] | None = None,
        on_report: Callable[[Report], None] | None = None,
        on_inner_event: Callable[[Event, tuple[str | None, ...]], None] | None = None,
    ) -> None:
        self.breakpoints = breakpoints if breakpoints is not None else Breakpoints()
        self.calls = AgentCalls()
        self._state: DebuggerState = "idle"
        self._line: list[_Waiting] = []  # the first is in force
        self._is_held = asyncio.Event()
        self._last_event: Event | None = None
        self._goal: Goal | None = stepping.next_event("start") if paused is True else paused or None
        self._followed: SharedContext | None = None  # the run that the goal is about; None: any
        self._beside: tuple[AgentCall, Reason] | None = None  # the agent whose tool call a command has held; it holds those beside it, too
        self._known_state: dict[str, Any] | None = dict(state) if state is not None else None
        self._from: dict[str, AgentCall | None] = {}  # event id → the call that yielded it, until the event arrives here
        self._told_failure: BaseException | None = None
        self._told_problems: set[int] = set()
        self._on_change = on_change
        self._on_report = on_report
        self._on_inner_event = on_inner_event
        self._on_possible_holds: Callable[[], None] | None = None
        self._passed: set[str] = set()  # events at which the agent did not wait
        self._pulling: asyncio.Task[object] | None = None  # set while the agent runs, not our consumer
        self._cut_off = False

    @property
    def state(self) -> DebuggerState:
        """`idle` before the run, `running`, `paused` at `hold`, `stopping` while the agent's `finally` blocks run, `finished`."""
        return self._state

    @property
    def hold(self) -> Hold | None:
        """The hold that is in force; None while the agent runs."""
        return self._line[0].hold if self._line and self._state == "paused" else None

    @property
    def waiting(self) -> tuple[Hold, ...]:
        """The queued holds; the first of them is in force after the present one is released."""
        return tuple(waiting.hold for waiting in self._line[1:])

    @property
    def runs_on(self) -> tuple[RunningAgent, ...]:
        """The agents that now run in parallel with the held one; `Hold.runs_on` has those at the time of the hold."""
        call = self._held_call() if self.hold is not None else None
        return running_agents(self.calls.beside(call)) if call is not None else ()

    @property
    def held(self) -> Event | None:
        """While held, the last committed event of the run; None while the agent runs, or before the first event."""
        return self._last_event if self.hold is not None else None

    @property
    def held_call(self) -> AgentCall | None:
        """The held agent's call; None while the agent runs, or if the call is unknown."""
        return self._held_call() if self.hold is not None else None

    def uncommitted(self) -> dict[str, Any]:
        """Return the state keys that the held agents wrote and that no event has carried yet; empty without the plugin."""
        return self.calls.uncommitted(self._held_call()) if self.hold is not None else {}

    @property
    def possible_holds(self) -> frozenset[Place]:
        """The places at which a command or a breakpoint may hold the run; all of them until a command has reached its goal."""
        if self._goal is not None:
            return ALL_PLACES
        found: set[Place] = {"before tool"} if self._beside is not None else set()
        for one in self.breakpoints:
            if one.enabled:
                found.update(("error", "event") if one.when == "error" else (one.when,))
        return frozenset(found)

    def on_possible_holds(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` before the agent continues after a command, and after a breakpoint has changed; return a function that ends this.

        An engine that cannot be held at once uses it to run without asking at places where nothing holds.
        """
        self._on_possible_holds = listener
        end = self.breakpoints.listen(listener)

        def stop_listening() -> None:
            self._on_possible_holds = None
            end()

        return stop_listening

    def passed(self, event_id: str) -> None:
        """Record that the agent does not wait at an event that is about to arrive, so that it cannot be held there."""
        self._passed.add(event_id)

    async def run(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """Yield the events of a run, holding where requested.

        Partial events are never held: they commit nothing.

        Args:
            events: the run; always closed at the end.
        """
        if self._state == "idle":
            self._change("running")
        try:
            async with aclosing(events):
                while self._state != "stopping":
                    try:
                        event = await self._pull(events)
                    except Exception as error:
                        await self._look_at_failure(error)
                        raise
                    if event is None:
                        return
                    waiting = None if event.partial else self._arrive(event)
                    yield event
                    if waiting is not None:
                        await waiting.released.wait()
        finally:
            self._line.clear()
            self.calls.clear()
            self._is_held.clear()
            self._change("finished")

    async def _pull(self, events: AsyncGenerator[Event, None]) -> Event | None:
        """Return the next event; None at the end, or after `stop`."""
        task = self._pulling = asyncio.current_task()
        try:
            return await anext(events, None)
        except asyncio.CancelledError:
            if not self._cut_off:
                raise
            return None
        finally:
            self._pulling = None
            if self._cut_off and task is not None:
                self._cut_off = False
                await _take_back_cancellation(task)

    def pause(self) -> None:
        """Hold as soon as possible: at the next committed event, or before the next call."""
        self._goal, self._followed = stepping.anything(), None
        self._tell_possible_holds()

    def step(self) -> None:
        """Run to the next committed event."""
        self._go(stepping.next_event())

    def step_over(self) -> None:
        """Run to the next event at the held agent's level; the agents that it calls run through."""
        self._go(stepping.over(self._held_call()))

    def step_into(self) -> None:
        """Run to the next model call, tool call or sub-agent, but not past the agent's end."""
        self._go(stepping.into(self._held_call()))

    def step_out(self) -> None:
        """Run to the agent's end and hold before its caller resumes. From an agent's end, run to the end of its caller."""
        call, hold = self._held_call(), self.hold
        self._go(stepping.out(call.caller if call is not None and hold is not None and hold.place == "agent end" else call))

    def run_to(self, kind: Kind) -> None:
        """Run to the next event of a kind.

        Args:
            kind: one of `runtime.events.kinds.KINDS`.
        """
        self._go(stepping.to_kind(kind))

    def resume(self) -> None:
        """Run to the next breakpoint. Tool calls beside the held one are released with it, unless a breakpoint has held them."""
        beside, self._beside = self._beside, None
        for waiting in self._line[1:]:
            if beside is not None and waiting.call is beside[0] and waiting.hold.place == "before tool" and waiting.hold.breakpoint is None:
                waiting.released.set()
                self._line.remove(waiting)
        self._go(None)

    def stop(self) -> None:
        """End the run: cancel what the agent awaits and run its `finally` blocks. A run that has not started does not start."""
        if self._state == "idle":
            self._state = "stopping"
        if self._state not in ("running", "paused"):
            return
        self._is_held.clear()
        self._change("stopping")
        for waiting in self._line:
            if waiting.is_in_run:  # the others are inside the agent, which is cancelled; released, they would make their call
                waiting.released.set()
        if self._pulling is not None:
            self._cut_off = True
            self._pulling.cancel()

    def run_ended(self, run: SharedContext) -> None:
        """Let a step that followed this run hold at the next one. Called for attached apps, which have several runs."""
        if self._followed is run:
            self._followed = None
        if self._beside is not None and self._beside[0].run is run:
            self._beside = None

    async def wait_until_held(self) -> Hold:
        """Wait for a hold and return it."""
        while (hold := self.hold) is None:  # it may have been released again meanwhile
            await self._is_held.wait()
        return hold

    def know_state(self, state: Mapping[str, Any]) -> None:
        """Set the committed state before the next event. Called by the plugin."""
        self._known_state = dict(state)

    def expect(self, event: Event, call: AgentCall | None) -> None:
        """Record which call yields an event that is about to be committed. Called by the plugin."""
        if not event.partial:
            self._from[event.id] = call

    async def hold_if_requested(
        self,
        place: Place,
        call: AgentCall | None,
        *,
        stands_for: Event | None = None,
        state: Mapping[str, Any] | None = None,
        tool: str = "",
        held_call: ModelCall | ToolCall | None = None,
        error: BaseException | None = None,
    ) -> None:
        """Hold an agent at a place inside it, if requested. Called by the plugin; returns when the agent may continue.

        Args:
            place: the place.
            call: the agent's call.
            stands_for: an event that represents the pending action, for conditions.
            state: the state for conditions.
            tool: the tool's name, at a tool call.
            held_call: the call that a person may inspect and change.
            error: the exception.
        """
        if self._state not in ("running", "paused"):
            return
        if error is not None:
            self._told_failure = error
        reason, met = self._why(Moment(place, call), stands_for, state, tool)
        if reason is None:
            return
        hold = self._hold(place, reason, met, call, tool=tool, held_call=held_call, error=error)
        await self._wait_in_line(_Waiting(hold, call, is_in_run=False))

    async def take_inner_event(self, event: Event, call: AgentCall | None, call_ids: tuple[str | None, ...]) -> None:
        """Handle an event of an agent that runs as a tool. Called by the plugin; returns when the agent may continue."""
        if self._on_inner_event is not None:
            self._on_inner_event(event, call_ids)
        if event.partial or self._state not in ("running", "paused"):
            return
        reason, met = self._why(Moment("event", call, event), event, None)
        if reason is not None:
            hold = self._hold("event", reason, met, call, event=event, inner=True)
            await self._wait_in_line(_Waiting(hold, call, is_in_run=False))

    def tell(self, report: Report) -> None:
        """Forward a report. Called by the plugin."""
        if self._on_report is not None:
            self._on_report(report)

    def _arrive(self, event: Event) -> _Waiting | None:
        """Handle a committed event; return its hold, if any."""
        call = self._from.pop(event.id, None)
        self._last_event = event
        waiting = None
        if event.id in self._passed:
            self._passed.discard(event.id)
        elif self._state in ("running", "paused"):
            reason, met = self._why(Moment("event", call, event), event, self._known_state)
            if reason is not None:
                waiting = _Waiting(self._hold("event", reason, met, call, event=event), call, is_in_run=True)
                self._queue(waiting)
        if self._known_state is not None:
            apply_delta(self._known_state, event.actions.state_delta)
        return waiting

    async def _look_at_failure(self, error: Exception) -> None:
        """Hold at the end of a failed run, unless the failure was already held where it happened."""
        shown: BaseException | None = error
        while shown is not None and shown is not self._told_failure:
            shown = shown.__cause__ or shown.__context__
        if shown is not None or self._state not in ("running", "paused"):
            return
        author = self._last_event.author if self._last_event else "agent"
        stands_for = event_model.Event(author=author, error_code=type(error).__name__, error_message=text_of(error))
        reason, met = self._why(Moment("error", None), stands_for, self._known_state)
        if reason is not None:
            waiting = _Waiting(self._hold("error", reason, met, None, error=error), None, is_in_run=True)
            self._queue(waiting)
            await waiting.released.wait()

    def _why(
        self, moment: Moment, event: Event | None, state: Mapping[str, Any] | None, tool: str = ""
    ) -> tuple[Reason | None, Breakpoint | None]:
        """Return the reason to hold at a moment: a command's goal or a breakpoint. Logpoints are reported."""
        met = self._met(moment, event, state, tool) if event is not None and len(self.breakpoints) else None
        is_followed = self._followed is None or moment.call is None or moment.call.run is self._followed
        if self._goal is not None and is_followed and self._goal.reached(moment):
            reason = self._goal.reason
            self._goal = None
            self._beside = (moment.call, reason) if moment.place == "before tool" and moment.call is not None else None
            return reason, met
        if self._beside is not None and moment.call is self._beside[0]:
            if moment.place == "before tool":
                return self._beside[1], met
            if moment.place in ("before model", "agent end"):
                self._beside = None
        return ("breakpoint" if met is not None else None), met

    def _met(self, moment: Moment, event: Event, state: Mapping[str, Any] | None, tool: str) -> Breakpoint | None:
        places: list[When] = [_PLACES[moment.place]] if moment.place in _PLACES else []
        if moment.place == "event" and (event.error_code or event.error_message):
            places.append("error")
        first = None
        for when in places:
            for one in self.breakpoints.met(when, event, state, tool):
                if one.log:
                    self.tell(Report("log", one.message(event, state), moment.event, one.id))
                else:
                    first = first or one
        for one in self.breakpoints:
            if one.problem and one.id not in self._told_problems:
                self._told_problems.add(one.id)
                self.tell(Report("problem", f"Breakpoint {one.id}: {one.problem}", moment.event, one.id))
        return first

    def _hold(
        self,
        place: Place,
        reason: Reason,
        met: Breakpoint | None,
        call: AgentCall | None,
        *,
        event: Event | None = None,
        inner: bool = False,
        tool: str = "",
        held_call: ModelCall | ToolCall | None = None,
        error: BaseException | None = None,
    ) -> Hold:
        agent = call.agent if call else event.author if event else None
        return Hold(
            place,
            reason,
            describe(place, reason, met, agent, tool, error),
            agent,
            call.branch if call else event.branch if event else None,
            event,
            inner,
            held_call,
            error,
            met.id if met is not None else None,
            running_agents(self.calls.beside(call)) if call else (),
        )

    def _held_call(self) -> AgentCall | None:
        return self._line[0].call if self._line else None

    def _queue(self, waiting: _Waiting) -> None:
        self._line.append(waiting)
        if len(self._line) == 1:
            self._is_held.set()
            self._change("paused")

    async def _wait_in_line(self, waiting: _Waiting) -> None:
        self._queue(waiting)
        try:
            await waiting.released.wait()
        finally:
            if waiting in self._line:  # the agent was cancelled while it was held
                self._leave_line(waiting)

    def _go(self, goal: Goal | None) -> None:
        held = self._held_call()
        self._goal, self._followed = goal, held.run if held is not None else None
        self._tell_possible_holds()
        if self._state == "paused":
            self._line[0].released.set()
            self._leave_line(self._line[0])

    def _tell_possible_holds(self) -> None:
        if self._on_possible_holds is not None:
            self._on_possible_holds()

    def _leave_line(self, waiting: _Waiting) -> None:
        was_in_force = self._line[0] is waiting
        self._line.remove(waiting)
        if not was_in_force or self._state != "paused":
            return
        if self._line:
            self._change("paused")
        else:
            self._is_held.clear()
            self._change("running")

    def _change(self, state: DebuggerState) -> None:
        self._state = state
        if self._on_change is not None:
            self._on_change()


async def _take_back_cancellation(task: asyncio.Task[object]) -> None:
    """Keep the task that `stop` cancelled alive: the run ends, but its consumer does not, even if the agent swallowed the cancellation.

    A commit delays the cancellation until it is done, and the agent may have yielded since without awaiting anything. Then the cancellation
    is still pending (from Python 3.13 on, `uncancel` withdraws it).
    """
    task.uncancel()
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        if task.cancelling():  # a cancellation by other code
            raise
