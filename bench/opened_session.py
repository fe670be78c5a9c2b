"""Measurements in one session of the real window: opening, selecting, filtering, live streams."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.generated import LiveWriter
from bench.live_stream import LoopGaps, stream_events
from inspector_app.documents.session_document import Committed
from inspector_app.support.frame_batcher import FrameBatcher

SELECTIONS = 40
ELSEWHERE_PER_SECOND = 1_000
"""Events per second of a run in a session that is not displayed."""

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


async def measure(inspector: Any, database: str, seconds: float) -> dict[str, float]:
    """Open a database in the window and work in it; return the figures.

    Args:
        inspector: its window is visible.
        database: has one session.
        seconds: duration of the stream into this session, and of the stream into another one while this one is browsed; 0: none.
    """
    bench = _Bench(inspector)
    await bench.run(database, seconds)
    return bench.figures


class _Bench:
    def __init__(self, inspector: Any) -> None:
        self._inspector = inspector
        self.figures: dict[str, float] = {}
        self._bench = inspector.window.workbench
        self._events = inspector.features.stream.events

    async def run(self, database: str, seconds: float) -> None:
        self._gaps, figures = LoopGaps(), self.figures
        begin = time.perf_counter()
        await self._inspector.open([database])
        await self._until(lambda: self._bench.parts.stream.table.rowAt(self._bench.parts.stream.table.viewport().height() - 5) >= 0)
        figures["open to last row, ms"] = _ms(begin)
        await self._until(
            lambda: self._inspector.current.session.pages is None or self._inspector.current.session.pages.history is not None
        )
        figures["past read on the side, ms"] = _ms(begin)
        figures["RSS, MB"] = _rss()
        await self._inspector.tasks.wait_until_idle()
        figures["all read on the side, ms"] = _ms(begin)
        figures["RSS then, MB"] = _rss()
        figures["loop gap while reading, p99, ms"], figures["loop gap while reading, max, ms"] = self._gaps.take()
        await self._select()
        figures["loop gap while selecting, p99, ms"], figures["loop gap while selecting, max, ms"] = self._gaps.take()
        await self._filter("nothing like it", "no hit")
        await self._filter("PA4-17", "plain text")
        await self._filter('author == "pricing" and call.find_product', "condition")
        if seconds:
            await self._live(seconds)
            await self._select_while_another_runs(seconds)
        figures["RSS at the end, MB"] = _rss()
        self._gaps.stop()

    async def _select(self) -> None:
        seen: list[tuple[float, bool]] = []

        def on_state(computed: Any) -> None:
            seen.append((time.perf_counter(), computed is not None and computed.past is not None))

        self._inspector.current.state_computed.connect(on_state)
        details, states = [], []
        chance = random.Random(1)
        for _ in range(SELECTIONS):
            seen.clear()
            begin = time.perf_counter()
            self._bench.parts.stream.select_event(chance.randrange(self._events.event_count))
            await self._until(lambda: any(known for _, known in seen))
            details.append((seen[0][0] - begin) * 1000)
            states.append((next(at for at, known in seen if known) - begin) * 1000)
        self._inspector.current.state_computed.disconnect(on_state)
        self.figures["select: detail, ms"] = statistics.median(details)
        self.figures["select: state, ms"] = statistics.median(states)
        long, history = self._inspector.current.session.pages, self._inspector.current.session.history
        times = []
        for _ in range(SELECTIONS):
            index = chance.randrange(self._events.event_count)
            begin = time.perf_counter()
            if long is not None:
                long.history.state_at(index)  # its thread is idle now
            else:
                history.state_at(index)
            times.append(_ms(begin))
        self.figures["state at any event, ms"] = statistics.median(times)

    async def _filter(self, text: str, name: str) -> None:
        begin = time.perf_counter()
        self._bench.parts.filter_bar.set_text(text)
        first = None
        while self._inspector.features.stream.controller.filtering:
            await asyncio.sleep(0.002)
            if first is None and self._events.shown_count:
                first = _ms(begin)
        if first is not None:
            self.figures[f"filter, {name}: first hits, ms"] = first
        self.figures[f"filter, {name}: all, ms"] = _ms(begin)
        self._bench.parts.filter_bar.clear()
        await asyncio.sleep(0.1)
        _, self.figures[f"filter, {name}: loop gap max, ms"] = self._gaps.take()

    async def _live(self, seconds: float) -> None:
        current, address = self._inspector.current, self._inspector.cursor.session
        frames = FrameBatcher(lambda batch: current.add_committed(address, batch), self._inspector)
        writer = LiveWriter(address.database)
        self._inspector.work.tail.close()  # as in a run of the window, which reports its events itself
        self._bench.parts.stream.set_following(True)
        await asyncio.sleep(0.5)
        self._gaps.take()
        before, memory = self._events.event_count, _rss_now()
        begin = time.perf_counter()
        made = await stream_events(writer, seconds, lambda event: frames.add(Committed(event, {})), lambda: frames.waiting)
        writer.close()
        figures = self.figures
        figures["live: waiting at the end"] = made - (self._events.event_count - before)
        frames.flush()
        figures["live: memory, KB an event"] = (_rss_now() - memory) * 1024 / made
        figures["live: events/s shown"] = (self._events.event_count - before) / (time.perf_counter() - begin)
        figures["live: loop gap p99, ms"], figures["live: loop gap max, ms"] = self._gaps.take()
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
        await self._until(lambda: inspector.current.session is not None and inspector.current.session.address == on_show)
        await asyncio.sleep(1)
        self._gaps.take()
        figures, selected = self.figures, 0
        while inspector.run.phase != "idle":
            self._bench.parts.stream.select_event(selected % max(self._events.event_count, 1))
            selected += 997
            await asyncio.sleep(0.1)
        assert inspector.cursor.session == on_show
        name = "another session streams: loop gap"
        figures[f"{name} p99, ms"], figures[f"{name} max, ms"] = self._gaps.take()
        events = await inspector.databases.source(running.database).events(running.key)
        figures["another session streams: events/s"] = len(events) / seconds

    async def _until(self, ready: Callable[[], bool]) -> None:
        while not ready():  # noqa: ASYNC110 - Qt has no signal for a painted row
            await asyncio.sleep(0.001)


def _ms(begin: float) -> float:
    return (time.perf_counter() - begin) * 1000


def _rss_now() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _rss() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
