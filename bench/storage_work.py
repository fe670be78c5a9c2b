"""The storage benchmark, written once for both packages: `python storage_work.py PACKAGE SCALE` prints a JSON object.

PACKAGE is `runtime` or `google.adk`. SCALE 1 is the size of the goals (10,000 and 50,000 events); less is a smoke run.
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
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.generated import event_data

OF = {"app_name": "a", "user_id": "u"}
S = {**OF, "session_id": "s"}
BATCH = 100
QUICK_LOOK = 0.1  # a smaller scale only shows that the benchmark runs
LONG_ENOUGH = 2.0
"""Seconds after which slow work is not repeated."""


def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    package, scale = sys.argv[1], float(sys.argv[2])
    if scale < QUICK_LOOK:
        gc.freeze()  # collecting what was imported takes longer than the work
    # On a real disk; /tmp may be in memory.
    with tempfile.TemporaryDirectory(dir="/var/tmp" if Path("/var/tmp").is_dir() else None) as folder:
        figures = asyncio.run(StorageWork(package, Path(folder), scale).measure())
    sys.stdout.write(json.dumps(figures) + "\n")


class StorageWork:
    """Measures session services."""

    def __init__(self, package: str, folder: Path, scale: float) -> None:
        self.ours = package == "runtime"
        self._folder = folder
        self._scale = scale
        self._load: Callable[[str, str], Any] = lambda module, name: getattr(importlib.import_module(f"{package}.{module}"), name)
        self._event = self._load("events", "Event")
        self._config = self._load("sessions.base_session_service", "GetSessionConfig")

    async def measure(self) -> dict[str, float]:
        """Return figure name → value."""
        figures: dict[str, float] = {}
        for kind in ("memory", "database", "sqlite"):
            figures |= {f"{kind}: {name}": value for name, value in (await self._one(kind)).items()}
        if self.ours:
            figures["database: appends/s, NORMAL"], figures["database: append CPU µs, NORMAL"] = await self._appends("normal", 5000)
        return figures

    async def _one(self, kind: str) -> dict[str, float]:
        long, longest, listed = (max(60, int(count * self._scale)) for count in (10_000, 50_000, 10_000))
        figures: dict[str, float] = {}
        if kind != "memory":
            figures["appends/s, FULL"], figures["append CPU µs, FULL"] = await self._appends(kind, 3000 if self.ours else BATCH)
        service = await self._filled(kind, self._file(kind), 100)
        figures["append to a held session of 100, CPU µs"] = await self._held(service)
        await _close(service)
        service = await self._filled(kind, self._file(kind), longest)
        recent = self._config(num_recent_events=50)
        figures["last 50 of 50,000, ms"] = await _median(lambda: service.get_session(**S, config=recent), 20)
        last = event_data(longest - 50)["timestamp"]
        since = self._config(after_timestamp=last)
        figures["those after a time (50 of 50,000), ms"] = await _median(lambda: service.get_session(**S, config=since), 5)
        figures["append to a held session of 50,000, CPU µs"] = await self._held(service)
        await _close(service)
        file = self._file(kind)
        service = await self._filled(kind, file, long)
        figures["get_session of 10,000, ms"] = await _median(lambda: service.get_session(**S), 5)
        if self.ours:
            figures["get_session of 10,000 and every event, ms"] = await _median(lambda: self._all(service), 3)
            figures["session_for_run of 10,000, again, ms"] = await _median(lambda: service.session_for_run(**S), 9)
        runner, invocation_id = await self._interrupted(service)
        first = await _median(lambda: self._first(runner, invocation_id), 9)
        figures["resume at step 25 of 50 after 10,000, to the first event, ms"] = first
        await _close(service)
        if self.ours and kind != "memory":
            figures["the same by a new service, ms"] = await self._first_again(kind, file, runner, invocation_id)
        service = await self._listed(kind, listed)
        figures["list_sessions of 10,000, ms"] = await _median(lambda: service.list_sessions(**OF), 5)
        if self.ours:
            middle = (await service.list_sessions(**OF)).sessions[listed // 2].key
            figures["a page of 100 of 10,000, ms"] = await _median(lambda: service.list_sessions(**OF, limit=100, after=middle), 9)
        await _close(service)
        return figures

    # Measurements

    async def _appends(self, kind: str, count: int) -> tuple[float, float]:
        """Return commits per second and CPU time of one in µs, as medians of batches."""
        service = self._service(kind, self._file(kind))
        session = await service.create_session(**S)
        rates, cpu = [], []
        for start in range(0, max(BATCH, int(count * self._scale)), BATCH):
            events = [self._new(number) for number in range(start, start + BATCH)]
            began, used = time.perf_counter(), time.process_time()
            for event in events:
                await service.append_event(session, event)
            rates.append(BATCH / (time.perf_counter() - began))
            cpu.append((time.process_time() - used) / BATCH * 1e6)
        await _close(service)
        return statistics.median(rates), statistics.median(cpu)

    async def _held(self, service: Any) -> float:
        session = await service.get_session(**S)
        events = [self._new(1_000_000 + number) for number in range(60)]
        await service.append_event(session, events.pop())
        gc.collect()
        used = []
        for event in events:
            began = time.process_time()
            await service.append_event(session, event)
            used.append(time.process_time() - began)
        return statistics.median(used) * 1e6

    async def _all(self, service: Any) -> None:
        list((await service.get_session(**S)).events)

    async def _interrupted(self, service: Any) -> tuple[Any, str]:
        """Return a Runner, and an invocation of it that was closed half-way."""
        agent, app, resumability = self._load("agents", "BaseAgent"), self._load("apps", "App"), self._load("apps", "ResumabilityConfig")
        work = self

        class Steps(agent):  # type: ignore[misc,valid-type]
            async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Any, None]:
                for number in range(50):
                    yield work._event(author=self.name, invocation_id=ctx.invocation_id, actions=work._actions(number))

        wrapped = app(name="a", root_agent=Steps(name="steps"), resumability_config=resumability(is_resumable=True))
        runner = self._load("runners", "Runner")(app=wrapped, session_service=service)
        types = importlib.import_module("google.genai.types")
        run = runner.run_async(user_id="u", session_id="s", new_message=types.Content(role="user", parts=[types.Part(text="go")]))
        for _ in range(25):
            invocation_id = (await anext(run)).invocation_id
        await run.aclose()
        return runner, invocation_id

    async def _first_again(self, kind: str, file: Path, runner: Any, invocation_id: str) -> float:
        """Return the ms to the first event where nothing of the session is in memory, as after a crash."""
        took = []
        for _ in range(3):
            runner.session_service = self._service(kind, file)
            took.append(await _median(lambda: self._first(runner, invocation_id), 1))
            await _close(runner.session_service)
        return statistics.median(took)

    async def _first(self, runner: Any, invocation_id: str) -> None:
        run = runner.run_async(user_id="u", session_id="s", invocation_id=invocation_id)
        await anext(run)
        await run.aclose()

    # Filled services

    def _file(self, kind: str) -> Path:
        return self._folder / f"{kind}-{time.time_ns()}.db"

    def _service(self, kind: str, file: Path) -> Any:
        if kind == "memory":
            return self._load("sessions", "InMemorySessionService")()
        if kind == "sqlite":
            return self._load("sessions.sqlite_session_service", "SqliteSessionService")(str(file))
        service = self._load("sessions", "DatabaseSessionService")(f"sqlite{'' if self.ours else '+aiosqlite'}:///{file}")
        if kind == "normal":
            service._database._connect(create=True).exec_driver_sql("PRAGMA synchronous = NORMAL")
        return service

    async def _filled(self, kind: str, file: Path, count: int) -> Any:
        """Return a service with a session of `count` events, and one commit of its own after them."""
        service = self._service(kind, file)
        session = await service.create_session(**S)
        if kind == "memory":
            events = [self._event.model_validate(event_data(number)) for number in range(count)]
            if not self.ours:
                # Appending them would take google-adk a quarter of an hour.
                service.sessions["a"]["u"]["s"].events.extend(events)
                return service
            for event in events:
                await service.append_event(session, event)
            return service
        await _close(service)
        with closing(sqlite3.connect(file)) as connection, connection:
            columns = "id, app_name, user_id, session_id, invocation_id, timestamp, event_data"
            connection.executemany(f"INSERT INTO events ({columns}) VALUES (?, 'a', 'u', 's', ?, ?, ?)", self._rows(kind, count))
        connection.close()
        service = self._service(kind, file)
        session = await service.get_session(**S)
        await service.append_event(session, self._event.model_validate(event_data(count)))
        return service

    def _rows(self, kind: str, count: int) -> list[tuple[Any, ...]]:
        rows = []
        for number in range(count):
            data = event_data(number)
            at = data["timestamp"]
            when = at if kind == "sqlite" else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
            rows.append((data["id"], data["invocation_id"], when, json.dumps(data)))
        return rows

    async def _listed(self, kind: str, count: int) -> Any:
        file = self._file(kind)
        service = self._service(kind, file)
        for number in range(count if kind == "memory" else 1):
            await service.create_session(**OF, session_id=f"s-{number}", state={"step": number, "total": 4.2, "user:name": "maria"})
        if kind != "memory":
            await _close(service)
            with closing(sqlite3.connect(file)) as connection, connection:
                columns = "app_name, user_id, {id}, state, create_time, update_time"
                copy = f"INSERT INTO sessions ({columns}) SELECT {columns} FROM sessions WHERE id = 's-0'"
                for number in range(1, count):
                    connection.execute(copy.replace("{id}", "id", 1).replace("{id}", f"'s-{number}'"))
            connection.close()
            service = self._service(kind, file)
        return service

    def _new(self, number: int) -> Any:
        return self._event.model_validate(event_data(number) | {"id": f"new-{number}", "timestamp": time.time()})

    def _actions(self, number: int) -> Any:
        return self._load("events", "EventActions")(agent_state={"step": number}, state_delta={"step": number})


async def _median(work: Callable[[], Awaitable[Any]], times: int) -> float:
    """Return the median of several runs in ms (fewer if each takes seconds), with a garbage collection before each."""
    took: list[float] = []
    while len(took) < times and sum(took) < LONG_ENOUGH:
        gc.collect()
        began = time.perf_counter()
        await work()
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1e3


async def _close(service: Any) -> None:
    if hasattr(service, "close"):
        await service.close()


if __name__ == "__main__":
    main()
