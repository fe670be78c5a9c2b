"""The runtime's benchmark, written once for both packages: `python runtime_work.py PACKAGE SCALE` prints a JSON object.

PACKAGE is `runtime` or `google.adk`. SCALE 1 is the size of the goals (2,000 events, 1,000 turns); less is a smoke run. Work that does not
wait for a disk is measured in CPU time, which a busy machine changes less.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import logging
import sqlite3
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

OF = {"app_name": "app", "user_id": "u"}
ROUNDS = 7
QUICK_LOOK = 0.1  # a smaller scale only shows that the benchmark runs
LONG_ENOUGH = 4.0
"""Seconds after which slow work is not repeated."""
STEPS = 50
PARTS = {"text": "x" * 300}
DELTA = {"count": 1, "note": "y" * 100, "list": [1, 2, {"k": "v"}]}


def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    package, scale = sys.argv[1], float(sys.argv[2])
    if scale < QUICK_LOOK:
        gc.freeze()  # collecting what was imported takes longer than the work
    # On a real disk; /tmp may be in memory.
    with tempfile.TemporaryDirectory(dir="/var/tmp" if Path("/var/tmp").is_dir() else None) as folder:
        figures = asyncio.run(RuntimeWork(package, Path(folder), scale).measure())
    sys.stdout.write(json.dumps(figures) + "\n")


class Took(NamedTuple):
    """Seconds."""

    wall: float
    cpu: float


class RuntimeWork:
    """Measures the Runner and its agents."""

    def __init__(self, package: str, folder: Path, scale: float) -> None:
        self._ours = package == "runtime"
        self._folder = folder
        self._scale = scale
        self._rounds = ROUNDS if scale >= QUICK_LOOK else 1
        self._load: Callable[[str, str], Any] = lambda module, name: getattr(importlib.import_module(f"{package}.{module}"), name)
        self._types = importlib.import_module("google.genai.types")
        self._event, self._actions = self._load("events", "Event"), self._load("events", "EventActions")
        self._base_agent = self._load("agents", "BaseAgent")

    async def measure(self) -> dict[str, float]:
        """Return figure name → value."""
        many = max(20, int(2000 * self._scale))
        few = max(20, many // 10)
        figures = {
            "an event, µs": await self._per_event(many, self._new_event),
            "an event, its content made once, µs": await self._per_event(many, self._sharing(self._new_event)),
            "an event made beforehand, µs": await self._per_event(many, None),
            "an event made beforehand, of 200, µs": await self._per_event(few, None),
            "a partial event, µs": await self._per_event(many, self._new_partial),
            "a partial event, its content made once, µs": await self._per_event(many, self._sharing(self._new_partial)),
            "a partial event made beforehand, µs": await self._per_event(many, None, partial=True),
            "building an event, µs": self._building(many),
        }
        for kind in ("memory", "database"):
            for name, resumable in (("plain", False), ("resumable", True)):
                figures[f"{kind}: an event of {STEPS} steps, {name}, CPU µs"] = await self._steps(kind, resumable=resumable)
            figures |= await self._turn(kind, 0)
            figures |= await self._turn(kind, max(5, int(1000 * self._scale)))
        return figures

    # Events through the Runner

    async def _per_event(self, count: int, make: Callable[[], Any] | None, *, partial: bool = False) -> float:
        """Return the CPU µs of an event through `Runner.run_async`, in memory.

        Args:
            count: how many in one run.
            make: makes each as it is yielded; None: they are all made before.
            partial: which kind, if they are made before.
        """
        used = []
        for _ in range(self._rounds):
            made = [self._new_partial() if partial else self._new_event() for _ in range(count)] if make is None else None
            runner = await self._runner(self._emitter(count, make, made), self._service("memory"))
            gc.collect()
            used.append((await self._run(runner)).cpu / count)
        return statistics.median(used) * 1e6

    def _emitter(self, count: int, make: Callable[[], Any] | None, made: list[Any] | None) -> Any:
        class Emitter(self._base_agent):  # type: ignore[misc,name-defined]
            async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Any, None]:
                for number in range(count):
                    yield make() if make else made[number]  # type: ignore[index]

        return Emitter(name="emitter")

    def _content(self) -> Any:
        return self._types.Content(role="model", parts=[self._types.Part(**PARTS)])

    def _new_event(self, content: Any = None) -> Any:
        """Return an event of 700 bytes of JSON with three state keys."""
        actions = self._actions(state_delta=dict(DELTA))
        return self._event(author="emitter", invocation_id="i", content=content or self._content(), actions=actions)

    def _new_partial(self, content: Any = None) -> Any:
        return self._event(author="emitter", invocation_id="i", partial=True, content=content or self._content())

    def _sharing(self, make: Callable[[Any], Any]) -> Callable[[], Any]:
        content = self._content()
        return lambda: make(content)

    def _building(self, count: int) -> float:
        began = time.process_time()
        for _ in range(count):
            self._new_event()
        return (time.process_time() - began) / count * 1e6

    # Steps, with and without checkpoints

    async def _steps(self, kind: str, *, resumable: bool) -> float:
        """Return the CPU µs of each event of a SequentialAgent whose sub-agents yield one event each."""
        work = self

        class Step(self._base_agent):  # type: ignore[misc,name-defined]
            async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Any, None]:
                yield work._event(author=self.name, invocation_id=ctx.invocation_id, actions=work._actions(state_delta={"step": 1}))

        took: list[float] = []
        service = self._service(kind)
        began = time.perf_counter()
        for number in range(self._rounds):
            if took and time.perf_counter() - began > LONG_ENOUGH:
                break
            steps = [Step(name=f"step_{index}") for index in range(STEPS)]
            agent = self._load("agents", "SequentialAgent")(name="steps", sub_agents=steps)
            runner = await self._runner(agent, service, resumable=resumable, session_id=str(number))
            gc.collect()
            took.append((await self._run(runner, session_id=str(number))).cpu)
            session = await service.get_session(**OF, session_id=str(number))
            took[-1] /= len(session.events) - 1
        await close_service(service)
        return statistics.median(took) * 1e6

    # Turns of an LlmAgent

    async def _turn(self, kind: str, earlier: int) -> dict[str, float]:
        """Return the ms of one model → tool → model turn after earlier turns."""
        file = self._folder / f"{time.time_ns()}.db"
        service = self._service(kind, file)
        runner = await self._runner(self._assistant(), service)
        await self._run(runner)
        if earlier:
            service = await self._with_turns(kind, file, service, earlier)
            runner.session_service = service
            await self._run(runner)
        gc.collect()
        took: list[Took] = []
        while len(took) < 3 * self._rounds and sum(run.wall for run in took) < LONG_ENOUGH:
            took.append(await self._run(runner))
        await close_service(service)
        which = f"{kind}: turn after 1,000 turns" if earlier else f"{kind}: turn, fresh session"
        figures = {f"{which}, CPU ms": statistics.median(run.cpu for run in took) * 1e3}
        return figures if kind == "memory" else figures | {f"{which}, ms": statistics.median(run.wall for run in took) * 1e3}

    async def _with_turns(self, kind: str, file: Path, service: Any, earlier: int) -> Any:
        """Return a service whose session has its one turn so many times; running them all would take google-adk minutes."""
        if kind == "memory":
            session = await service.get_session(**OF, session_id="s")
            copies = [self._event.model_validate(data) for data in _repeated([_json_of(event) for event in session.events], earlier)]
            if self._ours:
                for event in copies:
                    await service.append_event(session, event)
            else:
                service.sessions["app"]["u"]["s"].events.extend(copies)
            return service
        await close_service(service)
        with closing(sqlite3.connect(file)) as connection, connection:
            turn = [json.loads(text) for (text,) in connection.execute("SELECT event_data FROM events ORDER BY rowid")]
            rows = ((data["id"], data["invocation_id"], _column(data["timestamp"]), json.dumps(data)) for data in _repeated(turn, earlier))
            columns = "app_name, user_id, session_id, id, invocation_id, timestamp, event_data"
            connection.executemany(f"INSERT INTO events ({columns}) VALUES ('app', 'u', 's', ?, ?, ?, ?)", rows)
        connection.close()
        return self._service(kind, file)

    def _assistant(self) -> Any:
        """Return an agent whose fake model calls a tool and then answers."""
        types, response = self._types, self._load("models", "LlmResponse")

        class FakeLlm(self._load("models", "BaseLlm")):  # type: ignore[misc]
            async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[Any, None]:
                if llm_request.contents[-1].parts[-1].function_response:
                    part = types.Part(text="done")
                else:
                    part = types.Part(function_call=types.FunctionCall(name="look_up", args={"item": "paper"}))
                yield response(content=types.Content(role="model", parts=[part]))

        async def look_up(item: str) -> dict[str, Any]:
            """Looks up a price."""
            return {"item": item, "cents": 500}

        return self._load("agents", "LlmAgent")(name="assistant", model=FakeLlm(model="fake"), instruction="Help.", tools=[look_up])

    # Shared helpers

    def _service(self, kind: str, file: Path | None = None) -> Any:
        if kind == "memory":
            return self._load("sessions", "InMemorySessionService")()
        file = file or self._folder / f"{time.time_ns()}.db"
        return self._load("sessions", "DatabaseSessionService")(db_url=f"sqlite{'' if self._ours else '+aiosqlite'}:///{file}")

    async def _runner(
        self, agent: Any, service: Any, *, resumable: bool = False, session_id: str = "s", plugins: Sequence[Any] = ()
    ) -> Any:
        await service.create_session(**OF, session_id=session_id)
        config = self._load("apps", "ResumabilityConfig")(is_resumable=resumable)
        app = self._load("apps", "App")(name="app", root_agent=agent, resumability_config=config, plugins=list(plugins))
        return self._load("runners", "Runner")(app=app, session_service=service)

    async def _run(self, runner: Any, *, session_id: str = "s") -> Took:
        """Return the arguments of an invocation."""
        message = self._types.Content(role="user", parts=[self._types.Part(text="go")])
        began, used = time.perf_counter(), time.process_time()
        async with aclosing(runner.run_async(user_id="u", session_id=session_id, new_message=message)) as events:
            async for _ in events:
                pass
        return Took(time.perf_counter() - began, time.process_time() - used)


def _repeated(turn: list[dict[str, Any]], times: int) -> Iterator[dict[str, Any]]:
    """Yield the events of a turn repeatedly, each time a little later."""
    at = turn[-1]["timestamp"]
    for number in range(times):
        for data in turn:
            at += 1e-5
            yield {**data, "id": f"{data['id']}-{number}", "invocation_id": f"{data['invocation_id']}-{number}", "timestamp": at}


def _json_of(event: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(event.model_dump_json(exclude_none=True))
    return data


def _column(epoch: float) -> str:
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


async def close_service(service: Any) -> None:
    """Close a session service of either package; google-adk's older ones have nothing to close."""
    if hasattr(service, "close"):
        await service.close()


if __name__ == "__main__":
    main()
