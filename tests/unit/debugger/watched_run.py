"""A run of a real Runner under a debugger with its plugin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from runtime.agents import BaseAgent
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Hold, Report
from runtime.debugger.interception import Interception
from runtime.events import Event
from runtime.runners import Runner
from tests.agent_specs import message
from tests.seeds.running import runner_for


class WatchedRun:
    """One run and its holds."""

    def __init__(self, runner: Runner, **options: Any) -> None:
        self.runner = runner
        self.seen: list[Event] = []
        self.inner: list[tuple[Event, tuple[str | None, ...]]] = []
        self.reports: list[Report] = []
        self.error: BaseException | None = None
        self.finished = asyncio.Event()
        self.debugger = Debugger(
            on_report=self.reports.append, on_inner_event=lambda event, ids: self.inner.append((event, ids)), **options
        )
        self.interception = Interception(self.debugger)
        runner.plugin_manager.register_plugin(self.interception, first=True)

    async def play(self, **arguments: Any) -> None:
        arguments = {"new_message": message("go"), **arguments}
        run = self.runner.run_async(user_id="u", session_id="s", **arguments)
        try:
            async with aclosing(self.debugger.run(run)) as events:
                async for event in events:
                    self.seen.append(event)
        except Exception as error:
            self.error = error
        finally:
            self.finished.set()

    async def next_hold(self) -> Hold:
        async with asyncio.timeout(5):
            return await self.debugger.wait_until_held()

    async def then(self, command: Callable[[], None]) -> Hold:
        """Run a debugger command and return the next hold."""
        command()
        return await self.next_hold()

    async def to_event(self, text: str) -> Hold:
        """Step to the event with this text."""
        hold = await self.next_hold()
        while said(hold) != text:
            hold = await self.then(self.debugger.step)
        return hold


def said(hold: Hold) -> str:
    """Return where the agent is held in comparable form: a text, a call, or a place."""
    if hold.event is not None:
        parts = (hold.event.content.parts if hold.event.content else None) or []
        texts = [part.text or f"{part.function_call.name}()" if part.function_call else part.text or "result" for part in parts]
        return " ".join(filter(None, texts)) or "no content"
    return f"{hold.place} {hold.agent}"


@asynccontextmanager
async def watching(agent: BaseAgent, *, resumable: bool = False, **options: Any) -> AsyncGenerator[WatchedRun, None]:
    """Run an agent in the background; at the end of the block it is resumed and must finish."""
    run = WatchedRun(runner_for(agent, resumable=resumable), **options)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(run.play())
        yield run
        run.debugger.breakpoints.clear()
        while run.debugger.state != "finished":
            run.debugger.resume()
            await asyncio.sleep(0)
