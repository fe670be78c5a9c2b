"""An app as a user writes one, with the inspector plugin in its Runner. It runs what it reads from stdin, a JSON object a line.

Arguments: the agent's folder, the SQLite file of its sessions or `memory`, and `embedded` for the embedded runtime. A line has `session`,
`message` and `sync`, for `Runner.run`. Each run is answered by a line: `{"session", "texts", "error"}`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

folder, database, mode = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
ROOT = "runtime" if mode == "embedded" else "google.adk"
sys.path.insert(0, str(folder.parent))
if mode == "embedded":
    importlib.import_module("inspector_app.engines.google_adk_imports").resolve_google_adk(folder)
    importlib.import_module("runtime.plugins.base_plugin")


def name(path: str) -> Any:
    module, _, attribute = path.rpartition(".")
    return getattr(importlib.import_module(f"{ROOT}.{module}"), attribute)


plugin = importlib.import_module("inspector_plugin")
plugin.SILENCE_SECONDS = float(os.environ.get("SILENCE", plugin.SILENCE_SECONDS))
InspectorPlugin = plugin.InspectorPlugin
agent = importlib.import_module(f"{folder.name}.agent").root_agent
types = importlib.import_module("google.genai.types")
if database == "memory":
    service = name("sessions.in_memory_session_service.InMemorySessionService")()
elif mode == "embedded":
    service = name("sessions.sqlite_session_service.SqliteSessionService")(database)
else:
    service = name("sessions.sqlite_session_service.SqliteSessionService")(db_path=database)
if "APP" in os.environ:
    app = name("apps.app.App")(name=os.environ["APP"], root_agent=agent, plugins=[InspectorPlugin()])
    if "NO_RUNNER" not in os.environ:
        runner = name("runners.Runner")(app=app, session_service=service)
else:
    runner = name("runners.Runner")(app_name="user_app", agent=agent, session_service=service, plugins=[InspectorPlugin()])
config = name("agents.run_config.RunConfig")(streaming_mode=name("agents.run_config.StreamingMode").SSE)


def tell(**fields: Any) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def texts_of(event: Any) -> list[str]:
    parts = event.content.parts if event.content and not event.partial else []
    return [
        part.text or (f"call {part.function_call.name}" if part.function_call else f"result {part.function_response.response}")
        for part in parts
    ]


def options_of(command: dict[str, Any]) -> dict[str, Any]:
    message = types.Content(role="user", parts=[types.Part(text=command["message"])])
    return {"user_id": "u", "session_id": command["session"], "new_message": message, "run_config": config}


async def run(command: dict[str, Any]) -> None:
    texts: list[str] = []
    if command["message"] == "close":
        await runner.close()
        return tell(closed=True)
    error = None
    try:
        if await service.get_session(app_name=runner.app_name, user_id="u", session_id=command["session"]) is None:
            await service.create_session(
                app_name=runner.app_name, user_id="u", session_id=command["session"], state=command.get("state") or {}
            )
        if command.get("sync"):
            await asyncio.to_thread(lambda: texts.extend(text for event in runner.run(**options_of(command)) for text in texts_of(event)))
        else:
            async for event in runner.run_async(**options_of(command)):
                texts.extend(texts_of(event))
    except Exception as failure:
        error = f"{type(failure).__name__}: {failure}"
    tell(session=command["session"], texts=texts, error=error)


async def main() -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    tasks: set[asyncio.Task[None]] = set()

    def begin(line: str) -> None:
        task = loop.create_task(run(json.loads(line)))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(begin, line)
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read, daemon=True).start()
    tell(ready=True)
    await ended.wait()
    if tasks:
        await asyncio.wait(tasks)


asyncio.run(main())
