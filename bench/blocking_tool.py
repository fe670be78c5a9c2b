"""Measure how long the window does not answer while a plain function blocks as a tool.

`python -m bench.blocking_tool [--seconds S]` opens the real window off screen on an agent whose tool sleeps, or computes in Python, and
measures the gaps between turns of the loop: without a run, and during each.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.in_window import in_window

GOAL_MS = 50
AGENT = '''
import time
from runtime.agents import LlmAgent
from runtime.models import ScriptedLlm
from runtime.models.scripted_llm import Reply, Rule

def sleep() -> dict:
    """Sleep for long."""
    time.sleep(600)
    return {}

def compute() -> dict:
    """Compute for long."""
    end = time.monotonic() + 600
    while time.monotonic() < end:
        sum(range(1_000))
    return {}

rules = [Rule(when="^sleep$", reply=Reply(calls=[("sleep", {})])), Rule(when="^compute$", reply=Reply(calls=[("compute", {})]))]
root_agent = LlmAgent(name="blocking", model=ScriptedLlm(rules=rules), tools=[sleep, compute])
'''


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.blocking_tool")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    seconds = parser.parse_args().seconds
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    for name, gaps in _measure(seconds).items():
        p50, p99, worst = (gaps[min(int(len(gaps) * share), len(gaps) - 1)] for share in (0.5, 0.99, 1))
        sys.stdout.write(f"{name:32} gap p50 {p50:6.1f}   p99 {p99:6.1f}   max {worst:6.1f} ms   (goal: p99 under {GOAL_MS})\n")


def _measure(seconds: float) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}

    async def live(inspector: Any) -> int:
        inspector.show((1280, 800))
        await inspector.open([folder])
        await asyncio.sleep(1)
        found["nothing runs"] = await _gaps(seconds)
        for tool in ("sleep", "compute"):
            inspector.run.send(tool)
            while not _calls(inspector, tool):  # noqa: ASYNC110 - only the model of the stream knows
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            found[f"a tool that blocks: {tool}"] = await _gaps(seconds)
            inspector.run.stop()
            await inspector.tasks.wait_until_idle()
        return 0

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "agent.py").write_text(AGENT)
        in_window(live)
    return found


def _calls(inspector: Any, tool: str) -> bool:
    events = inspector.features.stream.events
    return any(call.name == tool for index in range(events.event_count) for call in events.committed(index).get_function_calls())


async def _gaps(seconds: float) -> list[float]:
    """Return the times between turns of the loop, sorted, in ms; it is asked to turn every millisecond."""
    gaps, last = [], time.perf_counter()
    end = last + seconds
    while last < end:
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        gaps.append((now - last) * 1000)
        last = now
    return sorted(gaps)


if __name__ == "__main__":
    main()
