"""One benchmark's work, written once for both runtimes: run with `--package runtime` or `--package google.adk`.

Prints one JSON object of figures. `bench/runtime.py` runs it in turn under each interpreter.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import json
import logging
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any


def load(package: str) -> Any:
    """Return the public names of the runtime under test, as attributes."""

    class Names:
        pass

    names = Names()
    for module, wanted in {
        "agents": ["BaseAgent", "LlmAgent", "RunConfig"],
        "apps": ["App", "ResumabilityConfig"],
        "events": ["Event", "EventActions"],
        "models": ["BaseLlm", "LlmResponse"],
        "runners": ["Runner"],
        "sessions": ["InMemorySessionService", "DatabaseSessionService"],
    }.items():
        loaded = importlib.import_module(f"{package}.{module}")
        for name in wanted:
            setattr(names, name, getattr(loaded, name))
    names.types = importlib.import_module("google.genai.types")  # type: ignore[attr-defined]
    return names


class Bench:
    """The workloads of numbers.md, "Runtime"."""

    def __init__(self, names: Any, package: str, rounds: int) -> None:
        self.n = names
        self.package = package
        self.rounds = rounds

    def message(self, text: str = "go") -> Any:
        """Return a user's message."""
        return self.n.types.Content(role="user", parts=[self.n.types.Part(text=text)])

    def event(self, author: str, number: int, *, partial: bool = False) -> Any:
        """Return an event of about 700 bytes of JSON with three state keys."""
        types = self.n.types
        return self.n.Event(
            author=author,
            invocation_id="i",
            partial=partial or None,
            content=types.Content(role="model", parts=[types.Part(text="x" * 300)]),
            actions=self.n.EventActions(state_delta={} if partial else {"count": number, "note": "y" * 100, "list": [1, 2, {"k": "v"}]}),
        )

    def emitter(self, count: int, *, partial: bool = False) -> Any:
        """Return an agent that yields so many events."""
        bench = self

        class Emitter(self.n.BaseAgent):  # type: ignore[name-defined,misc]
            async def _run_async_impl(self, ctx: Any) -> Any:
                for number in range(count):
                    yield bench.event(self.name, number, partial=partial)

        return Emitter(name="emitter")

    def assistant(self) -> Any:
        """Return an agent whose fake model calls a tool and then answers."""
        bench = self

        class FakeLlm(self.n.BaseLlm):  # type: ignore[name-defined,misc]
            async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
                types = bench.n.types
                last = llm_request.contents[-1].parts[-1]
                part = (
                    types.Part(text="done")
                    if last.function_response
                    else types.Part(function_call=types.FunctionCall(name="look_up", args={"item": "paper"}))
                )
                yield bench.n.LlmResponse(content=types.Content(role="model", parts=[part]))

        async def look_up(item: str) -> dict[str, Any]:
            """Looks up a price."""
            return {"item": item, "cents": 500}

        return self.n.LlmAgent(name="assistant", model=FakeLlm(model="fake"), instruction="Help.", tools=[look_up])

    async def run(self, runner: Any, **more: Any) -> tuple[int, float]:
        """Return how many events a run yields and the seconds it takes."""
        begin = time.perf_counter()
        count = 0
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=self.message(), **more):
            count += 1
        return count, time.perf_counter() - begin

    async def fresh(self, agent: Any, service: Any = None, *, resumable: bool = False) -> Any:
        """Return a Runner on a new session."""
        service = service or self.n.InMemorySessionService()
        await service.create_session(app_name="app", user_id="u", session_id="s")
        app = self.n.App(name="app", root_agent=agent, resumability_config=self.n.ResumabilityConfig(is_resumable=resumable))
        return self.n.Runner(app=app, session_service=service)

    async def per_event(self, count: int, *, partial: bool = False) -> float:
        """Return microseconds an event, building it included; the median of several runs."""
        seconds = []
        for _ in range(self.rounds):
            runner = await self.fresh(self.emitter(count, partial=partial))
            gc.collect()
            events, took = await self.run(runner)
            seconds.append(took / events)
        return statistics.median(seconds) * 1e6

    def building(self, count: int, *, partial: bool = False) -> float:
        """Return microseconds to build one event: the part that is not the Runner's."""
        begin = time.perf_counter()
        for number in range(count):
            self.event("emitter", number, partial=partial)
        return (time.perf_counter() - begin) / count * 1e6

    async def durable(self, count: int, folder: Path) -> float:
        """Return microseconds an event on a SQLite file."""
        prefix = "sqlite+aiosqlite" if self.package != "runtime" else "sqlite"
        service = self.n.DatabaseSessionService(db_url=f"{prefix}:///{folder / f'{time.time_ns()}.db'}")
        runner = await self.fresh(self.emitter(count), service)
        events, took = await self.run(runner)
        if hasattr(service, "close"):
            await service.close()
        return took / events * 1e6

    async def turns(self, earlier: int, service: Any = None) -> float:
        """Return milliseconds of one model → tool → model turn after so many earlier ones."""
        runner = await self.fresh(self.assistant(), service)
        for _ in range(earlier):
            await self.run(runner)
        return statistics.median([(await self.run(runner))[1] for _ in range(max(3, self.rounds))]) * 1e3


async def measure(bench: Bench, scale: float) -> dict[str, float]:
    """Run everything; `scale` shrinks the counts for a smoke run."""
    some = max(20, int(2000 * scale))
    figures: dict[str, float] = {}
    figures["event_us_2000"] = await bench.per_event(some)
    figures["build_us"] = bench.building(some)
    figures["event_us_200"] = await bench.per_event(max(20, some // 10))
    figures["partial_us"] = await bench.per_event(some, partial=True)
    figures["partial_build_us"] = bench.building(some, partial=True)
    with tempfile.TemporaryDirectory() as folder:
        figures["durable_us"] = await bench.durable(max(20, some // 10), Path(folder))
    figures["turn_ms_fresh"] = await bench.turns(0)
    figures["turn_ms_after_100"] = await bench.turns(max(3, int(100 * scale)))
    figures["turn_ms_after_1000"] = await bench.turns(max(5, int(1000 * scale)))
    return figures


def main() -> None:
    """Parse the arguments, measure, print JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", default="runtime")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    begin = time.perf_counter()
    names = load(arguments.package)
    imported = time.perf_counter() - begin
    figures = asyncio.run(measure(Bench(names, arguments.package, arguments.rounds), arguments.scale))
    figures["import_ms"] = imported * 1e3
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
