"""Measure the timeline of many spans: `python -m bench.timeline [--spans N] [--agents N] [--size WxH]`.

The spans are model calls, tool calls of five tools, parallel ones among them, and the runs of the agents. The rows are computed on a worker
thread in the window; the first painting and each frame of panning and zooming happen on the window's thread.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Callable

from PySide6.QtWidgets import QApplication

from bench.table import headline
from inspector_app.presentation.spans import Activity, Span, Step
from inspector_app.presentation.timeline_rows import Section, timeline
from inspector_app.timeline.timeline_chart import TimelineChart
from inspector_app.widgets import theme

FRAMES = 200
TOOLS = 5


def made(count: int, agents: int) -> Activity:
    """Return `count` spans of some agents: calls of a model, and of tools beside each other."""
    chance = random.Random(1)
    found = Activity()
    clock, index = 1_795_000_000.0, 0
    while len(found.calls) < count:
        agent = f"agent_{chance.randrange(agents)}"
        length, invocation = chance.uniform(0.2, 2.0), f"i{index // 50}"
        model = Span("model", agent, "model", clock, clock + length, index, index, "612 tokens", invocation_id=invocation)
        found.calls.append(model)
        found.steps.setdefault((agent, ""), []).append(Step(index, clock, clock + length, ends=chance.random() < 0.3))
        clock += length
        for _ in range(chance.randrange(4)):
            lasted = chance.uniform(0.01, 0.5)
            name = f"tool_{chance.randrange(TOOLS)}"
            tool = Span("tool", agent, name, clock, clock + lasted, index, index + 1, invocation_id=invocation)
            tool.failed = chance.random() < 0.02
            found.calls.append(tool)
        clock += 0.5
        index += 2
        found.times.append(clock)
    return found


def main() -> None:
    """Print the times of computing the rows, of the first painting, and of panning and zooming."""
    parser = argparse.ArgumentParser(prog="python -m bench.timeline")
    parser.add_argument("--spans", type=int, default=100_000)
    parser.add_argument("--agents", type=int, default=6)
    parser.add_argument("--size", default="1280x300")
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication([])
    theme.apply(app, "dark")
    found = made(options.spans, options.agents)
    sys.stdout.write(headline(1))
    sys.stdout.write(f"{len(found.calls):,} calls of {options.agents} agents, {options.size} pixels\n\n| step | CPU ms |\n|---|---|\n")
    began = time.thread_time()
    shown = timeline([Section("", found)])
    _row("rows computed (worker thread)", [time.thread_time() - began])
    chart = TimelineChart()
    width, height = (int(number) for number in options.size.split("x"))
    chart.resize(width, height)
    chart.show()
    app.processEvents()
    roles = {f"agent_{number}": f"author{number % 4}" for number in range(options.agents)}
    began = time.thread_time()
    chart.set_timeline(shown, roles)
    chart.viewport().repaint()
    _row("given to the chart and painted first", [time.thread_time() - began])
    for factor in (1, 4, 30, 300, 5000):
        chart.fit()
        chart.zoom(factor)
        _row(f"a frame of panning at zoom {factor}", _frames(chart, lambda number: chart.pan(0.01 if number % 100 < 50 else -0.01)))
    chart.fit()
    _row("a frame of zooming", _frames(chart, lambda number: chart.zoom(1.1 if number % 100 < 50 else 1 / 1.1)))


def _frames(chart: TimelineChart, move: Callable[[int], None]) -> list[float]:
    times = []
    for number in range(FRAMES):
        began = time.thread_time()
        move(number)
        chart.viewport().repaint()
        times.append(time.thread_time() - began)
    return times


def _row(name: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    many = f" (p99 {ordered[int(len(ordered) * 0.99) - 1] * 1000:.1f}, most {ordered[-1] * 1000:.1f})" if len(ordered) > 1 else ""
    sys.stdout.write(f"| {name} | {statistics.median(ordered) * 1000:.1f}{many} |\n")


if __name__ == "__main__":
    main()
