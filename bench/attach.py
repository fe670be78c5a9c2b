"""What the inspector plugin costs a hook: without a window, and with one that holds nothing.

Each hook is called by keyword, as google-adk's plugin manager calls it. CPU time of the calling thread, so that other processes do not
count; the base class's own empty hook is measured, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from google.genai import types

from inspector_app.engines.running_apps import PLUGIN, PROTOCOL
from runtime.events.event import Event
from runtime.plugins.base_plugin import BasePlugin

CALLS = 20_000  # of each hook in a turn, without a window
CALLS_ATTACHED = 1_000
TURNS = 7
LIMIT = 20e-6  # seconds a hook without a window, from the issue


async def measure(calls: int, hook: Any, **arguments: Any) -> float:
    """Return the CPU seconds that one call of a hook takes."""
    began = time.thread_time()
    for _ in range(calls):
        await hook(**arguments)
    return (time.thread_time() - began) / calls


def _plugin_module() -> Any:
    spec = importlib.util.spec_from_file_location("inspector_plugin", PLUGIN)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["inspector_plugin"] = module
    spec.loader.exec_module(module)
    return module


def _hooks(plugin: Any) -> dict[str, tuple[Any, dict[str, Any]]]:
    session = SimpleNamespace(app_name="bench", user_id="u", id="s", state={"a": 1}, events=[])
    agent = SimpleNamespace(name="agent")
    service = SimpleNamespace(append_event=None)
    context = SimpleNamespace(invocation_id="e-1", session=session, session_service=service, agent=agent, branch=None)
    callback = SimpleNamespace(_invocation_context=context)
    tool_context = SimpleNamespace(_invocation_context=context, function_call_id="c-1")
    tool = SimpleNamespace(name="tool", func=None)
    request = SimpleNamespace(model="m", contents=[types.Content(role="user", parts=[types.Part(text="hello")])], config=None)
    event = Event(author="agent", content=types.Content(role="model", parts=[types.Part(text="a piece")]), partial=True)

    async def start_and_end() -> None:
        await plugin.before_agent_callback(agent=agent, callback_context=callback)
        await plugin.after_agent_callback(agent=agent, callback_context=callback)

    return {
        "agent start and end": (start_and_end, {}),
        "before model": (plugin.before_model_callback, {"callback_context": callback, "llm_request": request}),
        "before tool": (plugin.before_tool_callback, {"tool": tool, "tool_args": {"a": 1}, "tool_context": tool_context}),
        "after tool": (plugin.after_tool_callback, {"tool": tool, "tool_args": {}, "tool_context": tool_context, "result": {}}),
        "on event (a piece)": (plugin.on_event_callback, {"invocation_context": context, "event": event}),
    }


async def _medians(hooks: dict[str, tuple[Any, dict[str, Any]]], calls: int) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for name in hooks}
    for _ in range(TURNS):
        for name, (hook, arguments) in hooks.items():
            found[name].append(await measure(calls, hook, **arguments))
    return {name: statistics.median(times) for name, times in found.items()}


def _attach(folder: Path) -> socket.socket:
    """Attach as a window that holds nothing, and reads everything."""
    (file,) = folder.glob("agent-inspector/*.json")
    app = json.loads(file.read_text("utf-8"))
    connection = socket.create_connection(("127.0.0.1", app["port"]))
    lines = [{"type": "attach", "protocol": PROTOCOL, "token": app["token"], "by": os.getpid()}, {"type": "policy", "hold": []}]
    connection.sendall("".join(json.dumps(line) + "\n" for line in lines).encode())

    def read() -> None:
        with contextlib.suppress(OSError):  # closed at the end
            while connection.recv(1 << 20):
                connection.sendall(b'{"type": "ping"}\n')

    threading.Thread(target=read, daemon=True).start()
    return connection


async def main() -> int:
    """Print the figures; return 1 if a hook without a window takes longer than the limit."""
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_RUNTIME_DIR"] = name
        module = _plugin_module()
        plugin = module.InspectorPlugin()
        empty = await _medians(_hooks(BasePlugin("empty")), CALLS)
        alone = await _medians(_hooks(plugin), CALLS)
        connection = _attach(Path(name))
        while module._window is None or module._window.policy.hold:
            await asyncio.to_thread(time.sleep, 0.01)
        attached = await _medians(_hooks(plugin), CALLS_ATTACHED)
        connection.close()
        await plugin.close()
    sys.stdout.write(f"{'hook':<20} {'empty hook':>12} {'no window':>12} {'attached':>12}   microseconds of CPU a call\n")
    for hook in alone:
        sys.stdout.write(f"{hook:<20} {empty[hook] * 1e6:>12.2f} {alone[hook] * 1e6:>12.2f} {attached[hook] * 1e6:>12.1f}\n")
    return int(max(alone.values()) > LIMIT)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
