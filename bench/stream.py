"""The window on long sessions: what numbers of the stream, the state and the filter it reaches.

`python -m bench.stream [--events N …] [--seconds S] [--keep FOLDER]` generates databases, opens each in a process of its own, off screen,
and prints medians beside the goals; before that, how long the empty window takes from the start of its process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.in_window import in_window

GOALS = {
    "cold start to a usable window, ms": "1,000",
    "open to last row, ms": "200 at 10,000; first rows 500 at 1,000,000",
    "RSS, MB": "200 at 10,000; 250 at 1,000,000",
    "select: detail, ms": "33",
    "state at any event, ms": "20 at 100,000",
    "live: events/s shown": "10,000, all of them",
    "live: loop gap p99, ms": "10",
    "live: loop gap max, ms": "60",
    "live: memory, KB an event": "flat",
    "filter, plain text: first hits, ms": "200",
    "filter, plain text: all, ms": "3,000 at 1,000,000",
}
STARTS = 5
SELECTIONS = 40
EVENTS_PER_SECOND = 10_000
ELSEWHERE_PER_SECOND = 1_000
"""Of a run in another session than the one on show."""

TALKER = f"""
import asyncio, time
from google.genai import types
from runtime.agents import BaseAgent
from runtime.events import Event

class Talker(BaseAgent):
    async def _run_async_impl(self, ctx):
        begin, made, seconds = time.perf_counter(), 0, float(ctx.user_content.parts[0].text)
        while (passed := time.perf_counter() - begin) < seconds:
            while made < passed * {ELSEWHERE_PER_SECOND}:
                yield Event(author=self.name, content=types.Content(role="model", parts=[types.Part(text=str(made))]))
                made += 1
            await asyncio.sleep(0.002)

root_agent = Talker(name="talker")
"""
MADE_AT_ONCE = 100


def main() -> None:
    """Generate, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.stream")
    parser.add_argument("--events", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--seconds", type=float, default=60, help="of the live stream, on the session of 100,000 events")
    parser.add_argument("--keep", metavar="FOLDER", help="where the databases are kept for the next time")
    parser.add_argument("--measure", metavar="DATABASE", help=argparse.SUPPRESS)
    parser.add_argument("--live", type=float, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--start", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.start:
        sys.stdout.write(json.dumps(_start()) + "\n")
        return
    if options.measure:
        sys.stdout.write(json.dumps(_measure(options.measure, options.live)) + "\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        figures = {count: _opened(_database(Path(options.keep or folder), count), count, options.seconds) for count in options.events}
        figures[options.events[0]] = _cold_start() | figures[options.events[0]]
        _print(figures)


def _database(folder: Path, count: int) -> Path:
    from bench.generated import write_database

    file = folder / f"{count}.db"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_database(file, count)
    return file


def _opened(file: Path, count: int, seconds: float) -> dict[str, float]:
    return _in_a_process("--measure", str(file), "--live", str(seconds if count == 100_000 else 0))


def _cold_start() -> dict[str, float]:
    begun, shown, busy = time.time(), [], []
    for _ in range(STARTS):
        begun = time.time()
        figures = _in_a_process("--start")
        shown.append((figures["shown"] - begun) * 1000)
        busy.append(figures["busy"] * 1000)
    return {"cold start to a usable window, ms": statistics.median(shown), "cold start: processor time, ms": statistics.median(busy)}


def _in_a_process(*arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.stream", *arguments]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is measured is no first start, which compiles everything
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _print(figures: dict[int, dict[str, float]]) -> None:
    sys.stdout.write(f"{'':40}" + "".join(f"{count:>14,}" for count in figures) + "   goal\n")
    for name in dict.fromkeys(name for found in figures.values() for name in found):
        values = "".join(f"{found[name]:14,.1f}" if name in found else f"{'':14}" for found in figures.values())
        sys.stdout.write(f"{name:40}{values}   {GOALS.get(name, '')}\n")


def _start() -> dict[str, float]:
    figures: dict[str, float] = {}

    async def look(inspector: Any) -> int:
        inspector.show((1280, 800))
        inspector.window.repaint()
        await asyncio.sleep(0)  # the loop turns: a click would be answered
        figures["shown"], figures["busy"] = time.time(), time.process_time()
        return 0

    in_window(look)
    return figures


def _measure(database: str, seconds: float) -> dict[str, float]:
    figures: dict[str, float] = {}

    async def look(inspector: Any) -> int:
        inspector.show((1280, 800))
        await asyncio.sleep(0.3)
        with tempfile.TemporaryDirectory() as folder:
            # What is committed while the live stream is measured must not stay in a database that is kept.
            shown = shutil.copy(database, folder) if seconds else database
            await _Bench(inspector, figures).run(shown, seconds)
            await inspector.browse.close_database(shown)
        return 0

    in_window(look)
    return figures


class _Bench:
    def __init__(self, inspector: Any, figures: dict[str, float]) -> None:
        self._inspector = inspector
        self._figures = figures
        self._bench = inspector.window.workbench
        self._gaps: list[float] = []
        self._events = inspector.controller.events

    async def run(self, database: str, seconds: float) -> None:
        pulse = asyncio.ensure_future(self._pulse())
        figures = self._figures
        begin = time.perf_counter()
        await self._inspector.open([database])
        await self._until(lambda: self._bench.stream.table.rowAt(self._bench.stream.table.viewport().height() - 5) >= 0)
        figures["open to last row, ms"] = _ms(begin)
        await self._until(lambda: self._inspector.browse.session.long is None or self._inspector.browse.session.long.history is not None)
        figures["past read on the side, ms"] = _ms(begin)
        figures["RSS, MB"] = _rss()
        await self._inspector.tasks.wait_until_idle()
        figures["all read on the side, ms"] = _ms(begin)
        figures["RSS then, MB"] = _rss()
        figures["loop gap while reading, p99, ms"], figures["loop gap while reading, max, ms"] = self._take_gaps()
        await self._select()
        figures["loop gap while selecting, p99, ms"], figures["loop gap while selecting, max, ms"] = self._take_gaps()
        await self._filter("nothing like it", "no hit")
        await self._filter("PA4-17", "plain text")
        await self._filter('author == "pricing" and call.find_product', "condition")
        if seconds:
            await self._live(seconds)
            await self._select_while_another_runs(seconds)
        figures["RSS at the end, MB"] = _rss()
        pulse.cancel()

    async def _select(self) -> None:
        seen: list[tuple[float, bool]] = []

        def on_state(computed: Any) -> None:
            seen.append((time.perf_counter(), computed is not None and computed.past is not None))

        self._inspector.browse.state_computed.connect(on_state)
        details, states = [], []
        chance = random.Random(1)
        for _ in range(SELECTIONS):
            seen.clear()
            begin = time.perf_counter()
            self._bench.stream.select_event(chance.randrange(self._events.event_count))
            await self._until(lambda: any(known for _, known in seen))
            details.append((seen[0][0] - begin) * 1000)
            states.append((next(at for at, known in seen if known) - begin) * 1000)
        self._inspector.browse.state_computed.disconnect(on_state)
        self._figures["select: detail, ms"] = statistics.median(details)
        self._figures["select: state, ms"] = statistics.median(states)
        long, history = self._inspector.browse.session.long, self._inspector.browse.session.history
        times = []
        for _ in range(SELECTIONS):
            index = chance.randrange(self._events.event_count)
            begin = time.perf_counter()
            if long is not None:
                long.history.state_at(index)  # nothing else runs on its thread now
            else:
                history.state_at(index)
            times.append(_ms(begin))
        self._figures["state at any event, ms"] = statistics.median(times)

    async def _filter(self, text: str, name: str) -> None:
        begin = time.perf_counter()
        self._bench.filter_bar.set_text(text)
        first = None
        while self._inspector.controller.filtering:
            await asyncio.sleep(0.002)
            if first is None and self._events.shown_count:
                first = _ms(begin)
        if first is not None:
            self._figures[f"filter, {name}: first hits, ms"] = first
        self._figures[f"filter, {name}: all, ms"] = _ms(begin)
        self._bench.filter_bar.clear()
        await asyncio.sleep(0.1)
        _, self._figures[f"filter, {name}: loop gap max, ms"] = self._take_gaps()

    async def _live(self, seconds: float) -> None:
        from inspector_app.controllers.open_session import Committed
        from inspector_app.frames import Frames
        from runtime.worker_threads import run_in_thread

        browse, address = self._inspector.browse, self._inspector.cursor.session
        frames = Frames(lambda batch: browse.add_committed(address, batch), self._inspector)
        from bench.generated import LiveWriter

        writer = LiveWriter(address.database)
        self._inspector.controller.tail.close()  # as in a run of the window's own, which tells its events itself
        self._bench.stream.set_following(True)
        await asyncio.sleep(0.5)
        self._take_gaps()
        before, memory = self._events.event_count, _rss_now()
        begin = time.perf_counter()
        made = 0
        while (passed := time.perf_counter() - begin) < seconds:
            due = int(passed * EVENTS_PER_SECOND) - made
            for event in await run_in_thread(writer.commit, made, min(due, MADE_AT_ONCE)):
                frames.add(Committed(event, {}))
                made += 1
            await asyncio.sleep(0 if due > MADE_AT_ONCE else 0.001)
        writer.close()
        figures = self._figures
        figures["live: waiting at the end"] = made - (self._events.event_count - before)
        frames.flush()
        figures["live: memory, KB an event"] = (_rss_now() - memory) * 1024 / made
        figures["live: events/s shown"] = (self._events.event_count - before) / (time.perf_counter() - begin)
        figures["live: loop gap p99, ms"], figures["live: loop gap max, ms"] = self._take_gaps()
        assert self._events.event_count - before == made

    async def _select_while_another_runs(self, seconds: float) -> None:
        inspector, on_show = self._inspector, self._inspector.cursor.session
        with tempfile.TemporaryDirectory() as folder:
            agent = Path(folder) / "talker"
            agent.mkdir()
            (agent / "agent.py").write_text(TALKER)
            await inspector.open([str(agent)])
        inspector.cursor.select_session(None)
        inspector.run.send(str(seconds))
        await self._until(lambda: inspector.run.address is not None)
        running = inspector.run.address
        inspector.cursor.select_session(on_show)
        await self._until(lambda: inspector.browse.session is not None and inspector.browse.session.address == on_show)
        await asyncio.sleep(1)
        self._take_gaps()
        figures, selected = self._figures, 0
        while inspector.run.phase != "idle":
            self._bench.stream.select_event(selected % max(self._events.event_count, 1))
            selected += 997
            await asyncio.sleep(0.1)
        assert inspector.cursor.session == on_show
        name = "another session streams: loop gap"
        figures[f"{name} p99, ms"], figures[f"{name} max, ms"] = self._take_gaps()
        events = await inspector.browse.source(running.database).events(running.key)
        figures["another session streams: events/s"] = len(events) / seconds

    async def _pulse(self) -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            self._gaps.append((now - last) * 1000)
            last = now

    def _take_gaps(self) -> tuple[float, float]:
        gaps, self._gaps = sorted(self._gaps), []
        return (gaps[int(len(gaps) * 0.99)], gaps[-1]) if gaps else (0.0, 0.0)

    async def _until(self, ready: Callable[[], bool]) -> None:
        while not ready():  # noqa: ASYNC110 - Qt says nothing when a row is painted
            await asyncio.sleep(0.001)


def _ms(begin: float) -> float:
    return (time.perf_counter() - begin) * 1000


def _rss_now() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _rss() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
