"""Measure the time to a program's first event: `python first_event.py PACKAGE` prints a JSON object.

PACKAGE is `runtime`, `google.adk`, or `google.genai`. Of the last only the types are imported: the least that the others can take.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from importlib import import_module
from typing import Any


def main() -> None:
    """Import, run an agent up to its first event, print."""
    package = sys.argv[1]
    began = time.process_time()
    if package == "google.genai":
        import_module("google.genai.types")
        _print(began, "import Runner and LlmAgent, CPU ms")
        return
    runner, _agent = import_module(f"{package}.runners").Runner, import_module(f"{package}.agents").LlmAgent
    imported = _print(began, "import Runner and LlmAgent, CPU ms")
    asyncio.run(_first_event(package, runner))
    _print(began, "import and first event, CPU ms", imported)


async def _first_event(package: str, runner_class: Any) -> None:
    types = import_module("google.genai.types")
    event = import_module(f"{package}.events").Event

    class Hello(import_module(f"{package}.agents").BaseAgent):  # type: ignore[misc]
        async def _run_async_impl(self, ctx: Any) -> Any:
            yield event(author=self.name, content=types.Content(role="model", parts=[types.Part(text="hello")]))

    names = {"app_name": "app", "user_id": "u", "session_id": "s"}
    service = import_module(f"{package}.sessions").InMemorySessionService()
    await service.create_session(**names)
    runner = runner_class(app_name="app", agent=Hello(name="hello"), session_service=service)
    message = types.Content(role="user", parts=[types.Part(text="go")])
    run = runner.run_async(user_id="u", session_id="s", new_message=message)
    await anext(run)
    await run.aclose()


def _print(began: float, name: str, earlier: dict[str, float] | None = None) -> dict[str, float]:
    figures = (earlier or {}) | {name: (time.process_time() - began) * 1e3}
    sys.stdout.write(json.dumps(figures) + "\n")
    return figures


if __name__ == "__main__":
    main()
