"""Commands read sessions of google-adk's server and of ours by its address, as from a database."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main
from tests.end2end.api_server import api_server
from tests.interop.adk_server import adk_api_server
from tests.interop.served_agents import write_desk
from tests.unit.inspector_app.main_calls import answer, refused


def post(address: str, path: str, body: dict[str, Any]) -> Any:
    """Post JSON, and return the answer's."""
    request = urllib.request.Request(address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as found:
        return json.load(found)


def said(text: str, session: str = "s1", user: str = "user") -> dict[str, Any]:
    message = {"role": "user", "parts": [{"text": text}]}
    return {"appName": "desk", "userId": user, "sessionId": session, "newMessage": message}


@pytest.fixture(scope="module", params=["google-adk", "ours"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with a session of `user`, and one of `ana`."""
    folder = write_desk(tmp_path_factory.mktemp("served") / "agents")
    with adk_api_server(folder) if request.param == "google-adk" else api_server(folder) as running:
        address = running if isinstance(running, str) else f"http://127.0.0.1:{running.port}"
        post(address, "/apps/desk/users/user/sessions/s1", {"k": 1, "user:name": "Ann"})
        for text in ("hello", "save a note", "approve"):
            post(address, "/run", said(text))
        post(address, "/apps/desk/users/ana/sessions/hers", {})
        yield address


def test_sessions_and_their_pending_items_are_listed(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    (session,) = answer(capsys, "sessions", server)
    assert (session["app_name"], session["user_id"], session["id"]) == ("desk", "user", "s1")
    assert [(item["kind"], item["name"]) for item in session["pending"]] == [("long_running", "ask_manager")]
    both = answer(capsys, "sessions", f"{server}?user=user&user=ana")
    assert [each["id"] for each in both] == ["hers", "s1"]


def test_events_state_and_invocations_are_those_of_the_server(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    with urllib.request.urlopen(f"{server}/apps/desk/users/user/sessions/s1", timeout=60) as found:
        served = json.load(found)
    assert main(["events", server, "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["id"] for event in events] == [event["id"] for event in served["events"]]
    assert events[1]["content"]["parts"][0]["text"] == "one two"
    assert main(["events", server, "--session", "s1", "--where", 'call.write_note.args.text == "hello"', "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert answer(capsys, "state", server) == {"session": {"k": 1, "notes": 1}, "user": {"user:name": "Ann"}, "app": {}, "unknown": []}
    assert [found["status"] for found in answer(capsys, "invocations", server)] == ["finished", "finished", "paused"]


def test_a_session_is_exported_and_another_users_is_named(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", server, str(tmp_path / "s.json")]) == 0
    assert len(json.loads((tmp_path / "s.json").read_text())["events"]) >= 9
    capsys.readouterr()
    assert main(["events", server, "--user", "ana", "--session", "hers"]) == 0
    assert "has no events" in capsys.readouterr().err


def test_commands_that_write_say_that_they_cannot(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    address = server.replace("127", "secret@127")
    for command in (["delete", address, "--session", "s1", "--yes"], ["fork", address, "--at", "x"], ["convert", address, "new.db"]):
        error = refused(capsys, *command)
        assert "is no database" in error
        assert "secret" not in error
