"""A run in a server: its own message is found, each event is reported once, and each end that is not one is a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from typing import Any

import pytest
from google.genai import types

from inspector_app.engines.protocol import AgentDescription
from inspector_app.remote import requests
from inspector_app.remote.adk_server import AdkServer
from inspector_app.remote.mirror import Mirror
from inspector_app.remote.server_address import server_address
from inspector_app.remote.server_engine import ServerEngine, ServerRunError
from runtime.errors import NotFoundError, StorageError
from runtime.events.event import Event
from runtime.sessions.session_key import SessionKey
from tests.unit.inspector_app.remote.sessions_server import SessionsServer, event

KEY = SessionKey("desk", "user", "s")
MESSAGE = types.Content(role="user", parts=[types.Part(text="hi")])
SAID = {**event("said"), "author": "user"}


@pytest.fixture
def server() -> Iterator[SessionsServer]:
    served = SessionsServer()
    with served.running():
        yield served


class Driven:
    """A server's engine, and what it reported."""

    def __init__(self, address: str) -> None:
        server = AdkServer(server_address(address))
        self.mirror = Mirror(server)
        self.committed: list[Event] = []
        self.temp: dict[str, Any] = {}
        description = AgentDescription("desk", "", True)
        self.engine = ServerEngine(server, self.mirror, description, "a server", self._take)

    def _take(self, found: Event, temp: Mapping[str, Any]) -> None:
        self.committed.append(found)
        self.temp.update(temp)

    async def run(self, message: types.Content | None = MESSAGE) -> list[str]:
        async with aclosing(self.engine.run(KEY, message, "e-1")) as events:
            return [f"{found.id}{'…' if found.partial else ''}" async for found in events]


@pytest.fixture
def driven(server: SessionsServer) -> Iterator[Driven]:
    made = Driven(server.address)
    yield made
    made.mirror.close()


async def test_temp_values_of_a_server_are_reported_as_their_types(server: SessionsServer, driven: Driven) -> None:
    server.put("s", 1.0)
    whole = event("new", **{"k": 1, "temp:key": "hush"})
    server.run = [json.dumps({**whole, "id": "piece", "partial": True}), json.dumps(whole)]
    async with aclosing(driven.engine.run(KEY, MESSAGE, "e-1")) as events:
        shown = [found.model_dump_json() async for found in events]
    assert len(shown) == 2 and "hush" not in "".join(shown)
    assert driven.temp == {"temp:key": "not stored (str)"}


async def test_the_users_message_is_reported_before_the_first_event(server: SessionsServer, driven: Driven) -> None:
    server.put("s", 1.0, event("old"))
    server.run = [json.dumps({**event("piece"), "partial": True}), json.dumps(event("new"))]
    before, whole = server.sessions["s"], {**server.sessions["s"], "events": [event("old"), SAID, event("new")]}
    answers = iter([before, whole])
    server.answer = lambda path: next(answers)  # type: ignore[method-assign]  # the run stores its events
    assert await driven.run() == ["piece…", "new"]
    assert [found.id for found in driven.committed] == ["said", "new"]
    (body,) = server.bodies
    assert body["newMessage"]["parts"] == [{"text": "hi"}]
    assert (body["invocationId"], body["streaming"]) == ("e-1", True)


async def test_files_that_are_sent_apart_belong_to_their_event(server: SessionsServer, driven: Driven) -> None:
    server.put("s", 1.0)
    files = {**event("new"), "content": None, "actions": {"artifactDelta": {"note.txt": 0}}}
    server.run = [json.dumps(event("new")), json.dumps(files)]
    assert await driven.run() == ["new"]
    assert driven.committed[0].actions.artifact_delta == {"note.txt": 0}


@pytest.mark.parametrize(
    ("lines", "words"),
    [(['{"error": "no model"}'], "The agent failed in the server: no model"), (["{"], "an event that is not JSON"), (["3"], "not JSON")],
)
async def test_a_failure_is_one_sentence(server: SessionsServer, driven: Driven, lines: list[str], words: str) -> None:
    server.put("s", 1.0)
    server.run = [json.dumps(event("new")), *lines]
    with pytest.raises(StorageError, match=words) as found:
        await driven.run()
    assert isinstance(found.value, ServerRunError) == ("no model" in words)
    assert [each.id for each in driven.committed] == ["new"]


async def test_a_connection_that_is_cut_is_one_sentence(server: SessionsServer, driven: Driven) -> None:
    server.put("s", 1.0)
    server.run, server.is_cut = [json.dumps(event("new"))], True
    with pytest.raises(StorageError, match="ended the connection before its answer was complete"):
        await driven.run()


async def test_a_line_without_an_end_is_given_up(server: SessionsServer, driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "LARGEST_ANSWER", 100_000)
    server.put("s", 1.0)
    server.run = [json.dumps(event("new")), "a" * 1_000_000]
    with pytest.raises(StorageError, match="has a line of more than 100,000 bytes"):
        await driven.run()
    assert [each.id for each in driven.committed] == ["new"]


async def test_a_session_that_was_deleted_is_named(driven: Driven) -> None:
    with pytest.raises(NotFoundError, match="has no session s any more"):
        await driven.run()


async def test_what_the_protocol_lacks_is_refused(driven: Driven) -> None:
    with pytest.raises(StorageError, match="no rewind"):
        await driven.engine.rewind(KEY, "e-1")
    with pytest.raises(StorageError, match="takes no progress"):
        await driven.engine.report_progress(KEY, "c", {})
    assert driven.engine.why_not("hold_calls") and driven.engine.why_not("resume") is None
