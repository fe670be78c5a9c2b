"""Commands read the sessions of an Agent Engine by its URI, and faults on the way are repeated."""

from __future__ import annotations

import json

import pytest

from inspector_app.cli import main
from tests.agent_engine import PLACE, StoredSession, agent_engine
from tests.unit.inspector_app.main_calls import answer, refused

URI = f"agentengine://{PLACE}/reasoningEngines/7"


def test_sessions_events_and_state_are_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    event = {"author": "desk", "invocationId": "e", "timestamp": "2026-01-01T00:00:00Z", "name": "x/events/1"}
    with agent_engine() as server:
        monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", server.address)
        server.sessions[f"{PLACE}/reasoningEngines/7/sessions/s"] = StoredSession("u", {"k": 1, "user:name": "Ann"}, [event])
        server.faults = ["500", "429"]
        (session,) = answer(capsys, "sessions", URI)
        assert (session["app_name"], session["user_id"], session["id"], session["event_count"]) == ("7", "u", "s", 1)
        assert main(["events", f"{URI}?app=desk", "--app", "desk", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["author"] == "desk"
        assert answer(capsys, "state", URI)["user"] == {"user:name": "Ann"}
        assert "is no database" in refused(capsys, "fork", URI, "--at", "x")


def test_what_is_no_engine_is_one_sentence(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "names no Agent Engine" in refused(capsys, "sessions", "agentengine://nonsense")
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    assert "GOOGLE_CLOUD_PROJECT" in refused(capsys, "sessions", "agentengine://7")
