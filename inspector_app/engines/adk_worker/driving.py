"""Starts a run, pulls its events, and reports what the session service commits."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
from typing import Any

from . import google_adk
from .channel import GATHER_SECONDS, Channel
from .current_run import CurrentRun
from .errors import WorkerError, error_fields
from .loading import is_blocked
from .plugin_file import plugin

LONGEST_TURN = 0.005  # seconds between turns of the event loop, for an agent that awaits nothing
RETURN_SECONDS = 0.05  # between two looks whether a function of a stopped run has returned


class Driver:
    """Drives one run at a time."""

    def __init__(self, run: CurrentRun, channel: Channel) -> None:
        self._run = run
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._next = asyncio.Event()
        self._is_held = False
        self._flushing: asyncio.TimerHandle | None = None
        self._turn_at = 0.0  # when the loop's other tasks have their turn, in its seconds
        self._committed_ids: set[str] = set()  # of this run
        self._appending: asyncio.Task[Any] | None = None  # the task that stores an event which no agent yielded
        run.on_committed = self._report_commit

    def check_idle(self) -> None:
        """Raise a WorkerError if a run is active."""
        if self._run.is_active:
            raise WorkerError("A run is active. Stop it first.")

    def start(self, command: dict[str, Any], runner: Any, root: Any) -> None:
        """Start a run. At once, so that a `stop` that follows finds it."""
        options = run_options(command)
        self._run.begin(command["id"], command["session_id"])
        self._is_held = False
        self._next.clear()
        self._channel.send("answer", id=command["id"], value={})
        self._task = self._loop.create_task(self._drive(runner, options))
        self._task.add_done_callback(lambda task: self._on_over(task, root))

    def pull(self) -> None:
        """Pull the next event."""
        self._next.set()

    def stop(self) -> None:
        """Cancel the run."""
        self._run.is_stopping = True
        self.cancel()

    def cancel(self) -> None:
        """Cancel the run, because the worker ends."""
        if self._run.is_active and self._task is not None:
            self._task.cancel()

    async def append(self, service: Any, session: Any, event: Any) -> Any:
        """Append an event that no agent yielded, to the Runner's own copy of the session if the run has one."""
        self._appending = asyncio.current_task()
        return await service.append_event(session, event)

    def _report_commit(self, session: Any, event: Any, fields: dict[str, Any]) -> None:
        """Report an event that the session service has stored."""
        if session is self._run.session:
            self._committed_ids.add(event.id)
        ahead = self._is_held and asyncio.current_task() is not self._appending
        self._send_soon("committed", plugin.event_json(event), with_next=True, ahead=ahead, **fields)

    async def _drive(self, runner: Any, options: dict[str, Any]) -> dict[str, Any] | None:
        """Run to the end; pull each event only when told. Return the failure as JSON; None if there is none."""
        try:
            async with contextlib.aclosing(runner.run_async(**options)) as events:
                async for event in events:
                    if self._run.is_stopping:  # the agent has swallowed its cancellation
                        break
                    await self._yielded(event)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # the agent's code may raise any
            return error_fields(error, self._run.folder)
        return None

    def _on_over(self, task: asyncio.Task[Any], root: Any) -> None:
        """Report the end of a run; also of one that was cancelled before it began.

        A sync function that a stopped run has left behind on the agent's own thread is waited for, as the next run could make no call
        before it returns. The inspector kills a process that takes too long to stop.
        """
        if self._run.is_stopping and is_blocked(root):
            self._loop.call_later(RETURN_SECONDS, self._on_over, task, root)
            return
        stopped = self._run.is_stopping or task.cancelled()
        failure = None if stopped else _result(task)
        unmarked = self._run.end()
        self._committed_ids.clear()
        self._task = None
        self._channel.send("end", run=self._run.run.id, error=failure, stopped=stopped, unmarked_edits=unmarked)

    async def _yielded(self, event: Any) -> None:
        self._run.look()  # a policy or a stop counts at once, also if the agent awaits nothing
        if event.partial:
            self._send_soon("partial", plugin.event_json(event), run=self._run.run.id)
        else:
            await self._report_yielded(event)
        if self._loop.time() >= self._turn_at:  # an agent that awaits nothing must not keep others waiting
            await asyncio.sleep(0)
            self._turn_at = self._loop.time() + LONGEST_TURN

    async def _report_yielded(self, event: Any) -> None:
        """Report an event that is not partial; wait until the next one is asked for, if the policy says so."""
        self._next.clear()
        waits = "event" in self._run.policy.hold
        text = None if event.id in self._committed_ids else plugin.event_json(event)
        fields = {"run": self._run.run.id, "event_id": event.id, "waits": waits}
        if not waits:
            self._send_soon("yielded", text, **fields)
        else:
            self._channel.send("yielded", text, **fields)
            self._is_held = True
            try:
                await self._next.wait()
            finally:
                self._is_held = False

    def _send_soon(self, kind: str, event: str | None, **fields: Any) -> None:
        self._channel.send_soon(kind, event, **fields)
        if self._flushing is None:
            self._flushing = self._loop.call_later(GATHER_SECONDS, self._flush)

    def _flush(self) -> None:
        self._flushing = None
        self._channel.flush()


def _result(task: asyncio.Task[dict[str, Any] | None]) -> dict[str, Any] | None:
    """Return the failure of a run. The end must be reported in any case: the inspector waits for it."""
    error = task.exception()
    return task.result() if error is None else error_fields(error, None)


def run_options(command: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Runner.run_async` for a `run` command."""
    types = importlib.import_module("google.genai.types")
    config = google_adk.module("google.adk.agents.run_config")
    options: dict[str, Any] = {"user_id": command["user_id"], "session_id": command["session_id"]}
    if command.get("message") is not None:
        options["new_message"] = types.Content.model_validate_json(json.dumps(command["message"]))
    if command.get("invocation_id") is not None:
        options["invocation_id"] = command["invocation_id"]
    if command.get("state_delta"):
        options["state_delta"] = command["state_delta"]
    mode = config.StreamingMode.SSE if command.get("streaming", True) else config.StreamingMode.NONE
    options["run_config"] = config.RunConfig(streaming_mode=mode)
    return options
