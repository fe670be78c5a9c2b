"""The command line's output for every google-adk database of the v1 layout and of adk web."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector_app.cli import main
from tests.fixture_paths import fixtures_dir, varied

STATUS = {"completed": "finished", "crashed": "interrupted", "failed": "interrupted", "paused": "paused"}

OTHERWISE = {
    # Its last turn called a tool that did not exist: the call has no result, and the model never answered.
    "adk1.39.1-v1-errors": "interrupted",
}


def databases() -> list[Any]:
    fixtures_dir()
    return [pytest.param(entry, id=entry["name"]) for entry in varied() if entry["layout"] in ("v1", "sqlite")]


@pytest.mark.sweep
@pytest.mark.parametrize("entry", databases())
def test_sessions_events_state_and_invocations_of_a_fixture(entry: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    folder = fixtures_dir() / "open"
    database = str(folder / entry["file"])
    expected = json.loads((folder / entry["expected"]).read_text("utf-8"))["sessions"]

    def lines(command: str, *arguments: str) -> list[Any]:
        assert main([command, database, *arguments, "--json"]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return [json.loads(line) for line in out.splitlines()]

    (listed,) = lines("sessions")
    found = {(session["app_name"], session["user_id"], session["id"]): session["event_count"] for session in listed}
    assert found == {(session["app_name"], session["user_id"], session["id"]): len(session["events"]) for session in expected}

    statuses = []
    for session in expected:
        which = ("--app", session["app_name"], "--user", session["user_id"], "--session", session["id"])
        # google-adk sorts by time, we sort by commit: the same events.
        assert {event["id"] for event in lines("events", *which)} == {event["id"] for event in session["events"]}
        (state,) = lines("state", *which)
        stored = {key: value for key, value in session["state"].items() if not key.startswith("temp:")}
        assert state["session"] | state["user"] | state["app"] == stored
        statuses += [invocation["status"] for invocation in lines("invocations", *which)[0]]

    expected_status = OTHERWISE.get(entry["name"]) or STATUS.get(entry.get("last_invocation_status") or "")
    if expected_status and statuses:
        assert statuses[-1] == expected_status
