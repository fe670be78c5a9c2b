"""The real `adk web` and `adk api_server` serve our database, and write to it while we hold one of its sessions."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.errors import StaleSessionError
from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService, SessionKey, SqliteSessionService
from runtime.storage.reading.reader import StoredDatabase
from tests.interop.google_adk import adk_python
from tests.interop.rich_events import RICH, dumped

AGENT = """
from google.adk.agents import BaseAgent
from google.adk.events import Event, EventActions
from google.genai import types

class Counter(BaseAgent):
    async def _run_async_impl(self, ctx):
        turn = ctx.session.state["turns"] + 1
        content = types.Content(role="model", parts=[types.Part(text=f"turn {turn}")])
        actions = EventActions(state_delta={"turns": turn, "user:turns": turn})
        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content, actions=actions)

root_agent = Counter(name="counter")
"""
OF = {"app_name": "counting", "user_id": "user"}
S = {**OF, "session_id": "s"}
KEY = SessionKey("counting", "user", "s")


class Served:
    """A running server of google-adk.

    Args:
        address: the server's address.
    """

    def __init__(self, address: str) -> None:
        self._sessions = f"{address}/apps/counting/users/user/sessions"
        self._run = f"{address}/run"
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def _ask(self, url: str, body: Any = None) -> Any:
        request = urllib.request.Request(url, json.dumps(body).encode() if body else None, {"Content-Type": "application/json"})
        with self._open(request, timeout=60) as answer:
            return json.load(answer)

    def listed(self) -> list[str]:
        return sorted(session["id"] for session in self._ask(self._sessions))

    def session(self) -> Any:
        return self._ask(f"{self._sessions}/s")

    def run(self, text: str) -> list[str]:
        """Send a message and return the agent's texts."""
        message = {"role": "user", "parts": [{"text": text}]}
        events = self._ask(self._run, {"appName": "counting", "userId": "user", "sessionId": "s", "newMessage": message})
        return [event["content"]["parts"][0]["text"] for event in events]


@contextmanager
def served(command: str, uri: str, folder: Path) -> Iterator[Served]:
    """Serve the folder's agent with `adk web` or `adk api_server`."""
    agent = folder / "agents" / "counting"
    agent.mkdir(parents=True)
    (agent / "__init__.py").write_text("from . import agent\n")
    (agent / "agent.py").write_text(AGENT)
    arguments = [command, "--host", "127.0.0.1", "--port", "0", "--session_service_uri", uri, str(agent.parent)]
    with subprocess.Popen(
        [adk_python(), "-W", "ignore", "-m", "google.adk.cli", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        said = []
        try:
            for line in process.stdout:
                said.append(line)
                found = re.search(r"Uvicorn running on (http://127\.0\.0\.1:\d+)", line)
                if found:
                    yield Served(found[1])
                    break
            else:
                raise AssertionError("".join(said))
        finally:
            process.terminate()
            process.stdout.read()


@pytest.mark.parametrize("command", ["web", "api_server"])
async def test_adk_serves_and_continues_our_sessions_while_we_hold_one(command: str, tmp_path: Path) -> None:
    file = tmp_path / "sessions.db"
    # `sqlite:` selects adk web's own layout, `sqlite+aiosqlite:` the v1 layout.
    service = DatabaseSessionService(f"sqlite:///{file}") if command == "web" else SqliteSessionService(file)
    async with service:
        held = await service.create_session(**S, state={"turns": 0})
        await service.create_session(**OF, session_id="other")
        for event in RICH:
            await service.append_event(held, event.model_copy(deep=True))
        with served(command, f"sqlite{'+aiosqlite' if command == 'web' else ''}:///{file}", tmp_path) as server:
            assert server.listed() == ["other", "s"]
            shown = server.session()
            assert shown["state"] == {key: value for key, value in held.state.items() if not key.startswith("temp:")}
            assert [{**event, "nodeInfo": None} for event in shown["events"]] == [
                {**json.loads(event.model_dump_json(by_alias=True, exclude_none=True)), "nodeInfo": None} for event in held.events
            ]
            assert server.run("next") == ["turn 1"]

            before = [dumped(event) for event in held.events]
            with pytest.raises(StaleSessionError, match=r"another program wrote to it at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d"):
                await service.append_event(held, Event(author="us"))
            assert [dumped(event) for event in held.events] == before
            held = await service.get_session(**S) or held
            assert [dumped(event) for event in held.events][: len(RICH)] == before
            assert [event.author for event in held.events][len(RICH) :] == ["user", "counter"]
            assert (held.state["turns"], held.state["user:turns"]) == (1, 1)
            await service.append_event(held, Event(author="us", actions=EventActions(state_delta={"turns": 10})))

            assert server.session()["events"][-1]["author"] == "us"
            assert server.run("and on") == ["turn 11"]
        held = await service.get_session(**S) or held
        authors = ["user", "counter", "us", "user", "counter"]
        assert [event.author for event in held.events][len(RICH) :] == authors
        await service.append_event(held, Event(author="us", actions=EventActions(state_delta={"turns": 20})))
    with StoredDatabase.open(str(file)) as database:
        history = database.history(KEY)
        assert [event.id for event in history.events] == [event.id for event in held.events]
        turns = [history.state_at(index).session["turns"] for index in range(len(RICH) - 1, len(history.events))]
        assert turns == [0, 0, 1, 10, 10, 11, 20]
        assert history.state_at(len(history.events) - 1).merged() == database.state(KEY)
