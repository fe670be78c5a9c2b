"""Measure what the child engine adds to google-adk's own run: `python -m bench.engines [--scale N] [--rounds N] [--adk PYTHON]`.

The same agent runs in turn with google-adk's Runner alone, and through the engine: free-running, with the debugger's plugin and gate; with
a breakpoint that no event meets, so that each event is asked for; and with every partial event. The differences are the engine's own cost,
on the wall and in CPU time of both processes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from google.genai import types

from bench.table import ROOT, headline
from inspector_app.engines.child_engine import ChildEngine
from runtime.debugger.breakpoints import Breakpoints
from runtime.debugger.debugger import Debugger

STARTS = 5
GOAL_US = 300  # of an event, over google-adk's own
GOAL_START_MS = 300  # to ready, over the import of google-adk's Runner
GOAL_PARTIALS = 5_000  # a second, shown

AGENT = '''
from google.adk.agents import BaseAgent
from google.adk.events import Event, EventActions
from google.genai import types

class Bench(BaseAgent):
    async def _run_async_impl(self, ctx):
        work, count = ctx.user_content.parts[0].text.split()
        for number in range(int(count)):
            if work == "hooks":
                await ctx.plugin_manager.run_after_tool_callback(tool=TOOL, tool_args={}, tool_context=TOOL_CONTEXT(ctx), result={})
                continue
            content = types.Content(role="model", parts=[types.Part(text="x" * 300)])
            delta = {} if work == "partials" else {"count": number, "note": "y" * 100, "list": [1, 2, {"k": "v"}]}
            yield Event(author=self.name, invocation_id=ctx.invocation_id, partial=work == "partials" or None, content=content,
                        actions=EventActions(state_delta=delta))

from google.adk.tools import FunctionTool, ToolContext

def look_up(item: str) -> dict:
    """Look up a price."""
    return {}

TOOL = FunctionTool(look_up)
TOOL_CONTEXT = lambda ctx: ToolContext(ctx, function_call_id="c")
root_agent = Bench(name="bench")
'''

Figures = dict[str, tuple[float, float, float]]
"""Work → µs of a unit: on the wall, CPU of the agent's process, CPU of this one."""


def main() -> None:
    """Measure in turn, print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.engines")
    parser.add_argument("--scale", type=float, default=1.0, help="1: 1,000 events; less is a quick look")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--adk", metavar="PYTHON", default=os.environ.get("INSPECTOR_ADK_PYTHON"), help="a Python that has google-adk")
    options = parser.parse_args()
    if not options.adk:
        raise SystemExit("Name a Python that has google-adk with --adk or INSPECTOR_ADK_PYTHON.")
    count = max(10, int(1000 * options.scale))
    sys.stdout.write(f"# Engines\n\n{headline(options.rounds)}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "bench_agent.py")
        file.write_text(AGENT)
        rounds = [_round(options.adk, file, count) for _ in range(options.rounds)]
        starts = [_start(options.adk, file) for _ in range(max(1, round(STARTS * min(options.scale, 1))))]
    sys.stdout.write(_table(rounds))
    alone, ready = (min(one[index] for one in starts) for index in (0, 1))
    sys.stdout.write(f"\nimport google.adk.runners {alone:.0f} ms; child to ready {ready:.0f} ms: {ready - alone:+.0f} ms")
    sys.stdout.write(f" (goal: {GOAL_START_MS})\n")


def _round(python: str, file: Path, count: int) -> dict[str, Figures]:
    """Return google-adk's own figures and the engine's, measured in turn."""
    work = ["events", str(count), "partials", str(count), "hooks", str(count)]
    command = [python, "-W", "ignore", str(ROOT / "bench" / "engine_work.py"), str(file.parent), "2", *work]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    alone = {name: (wall, cpu, 0.0) for name, (wall, cpu) in json.loads(done.stdout.splitlines()[-1]).items()}
    return {"alone": alone, **asyncio.run(_engine(python, file, count))}


async def _engine(python: str, file: Path, count: int) -> dict[str, Figures]:
    engine = await ChildEngine.start(python, file, lambda event, temp: None)
    try:
        found: dict[str, Figures] = {}
        for _ in range(2):
            for name, debugger in _DEBUGGERS.items():
                for work in ("events", "partials", "hooks"):
                    took = await _run(engine, debugger(), f"{work} {count}")
                    best = found.setdefault(name, {}).setdefault(work, took)
                    found[name][work] = (min(best[0], took[0]), min(best[1], took[1]), min(best[2], took[2]))
    finally:
        await engine.close()
    scale = 1e6 / count
    return {name: {work: (a * scale, b * scale, c * scale) for work, (a, b, c) in one.items()} for name, one in found.items()}


def _with_breakpoint() -> Debugger:
    breakpoints = Breakpoints()
    breakpoints.add('author == "another"')
    return Debugger(breakpoints=breakpoints)


_DEBUGGERS: dict[str, Callable[[], Debugger]] = {"free": Debugger, "asked": _with_breakpoint}


async def _run(engine: ChildEngine, debugger: Debugger, message: str) -> tuple[float, float, float]:
    key = await engine.new_session("u")
    engine.attach(debugger)
    content = types.Content(role="user", parts=[types.Part(text=message)])
    assert engine.child.pid is not None
    theirs, mine, began = _cpu_of(engine.child.pid), time.process_time(), time.perf_counter()
    async with aclosing(debugger.run(engine.run(key, content))) as events:
        async for _ in events:
            pass
    return time.perf_counter() - began, _cpu_of(engine.child.pid) - theirs, time.process_time() - mine


def _cpu_of(pid: int) -> float:
    """Return a process's CPU time in seconds."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return 0.0


def _start(python: str, file: Path) -> tuple[float, float]:
    """Return the ms of google-adk's import, and of a child's start until it is ready."""
    began = time.perf_counter()
    subprocess.run([python, "-W", "ignore", "-c", "import google.adk.runners"], check=True)
    alone = time.perf_counter() - began

    async def start() -> float:
        began = time.perf_counter()
        engine = await ChildEngine.start(python, file, lambda event, temp: None)
        took = time.perf_counter() - began
        await engine.close()
        return took

    return alone * 1e3, asyncio.run(start()) * 1e3


def _table(rounds: list[dict[str, Figures]]) -> str:
    lines = [
        "| unit | google-adk alone, µs | the engine adds, µs | … CPU of the agent's process | … CPU of ours |",
        "|---|---|---|---|---|",
    ]
    for work, unit in (("events", "an event"), ("partials", "a partial event"), ("hooks", "a hook")):
        for name, how in (("free", "nothing holds"), ("asked", "each event asked for")):
            if work != "events" and name == "asked":
                continue
            pairs = [(one["alone"][work], one[name][work]) for one in rounds]
            alone = sorted(pair[0][0] for pair in pairs)[len(pairs) // 2]
            added = [sorted(engine[index] - plain[index] for plain, engine in pairs)[len(pairs) // 2] for index in (0, 1, 2)]
            goal = f" (goal: {GOAL_US})" if work == "events" else ""
            lines.append(f"| {unit}, {how} | {alone:.0f} | {added[0]:+.0f}{goal} | {added[1]:+.0f} | {added[2]:+.0f} |")
    partials = max(1e6 / one["free"]["partials"][0] for one in rounds)
    return "\n".join(lines) + f"\n\npartial events through the engine: {partials:,.0f}/s (goal: {GOAL_PARTIALS:,})\n"


if __name__ == "__main__":
    main()
