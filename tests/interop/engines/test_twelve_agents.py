"""Twelve agents in google-adk's style, with unchanged imports: their events on each engine are those that google-adk yields alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from runtime.storage.layouts.decode import parse_event
from tests.interop.engines.conftest import EMBEDDED, PYTHONS, Start, Started
from tests.interop.engines.differences import DIFFERENCES
from tests.interop.engines.twelve_alone import content_of

HERE = Path(__file__).parent

LOGIN = {"exchangedAuthCredential": {"authType": "oauth2", "oauth2": {"clientId": "me", "accessToken": "token"}}}

CONVERSATIONS: dict[str, list[Any]] = {
    "shop": ["Paper and ink, please."],
    "hooks": ["Look.", "Look again."],
    "report": ["Write about tea."],
    "desk": ["My bill is wrong.", "Thank you."],
    "boss": ["How long is the wall?"],
    "orders": ["Order tea.", {"order": {"status": "delivered"}}],
    "cleaner": [
        "Clean up.",
        {"adk_request_confirmation": {"confirmed": True}},
        {"adk_request_confirmation": {"confirmed": True, "payload": {"limit": 5}}},
    ],
    "mailer": ["Any mail?", {"adk_request_credential": LOGIN}],
    "form": ["Marktgasse 1"],
    "poet": ["A poem.", "Another."],
    "flow": ["hello", "hi"],
    "told": ["The weather?"],
}

# Each engine, and the google-adk whose events are expected.
PAIRS = {"2.13": "2.13", EMBEDDED: "1.39", "1.39": "1.39", "1.25": "1.25"}

IS_SOAK = bool(os.environ.get("INSPECTOR_SOAK"))

CASES = [
    (engine, name)
    for engine in PAIRS
    for name in CONVERSATIONS
    if IS_SOAK or engine == "2.13" or (engine == EMBEDDED and any(one.agent == name for one in DIFFERENCES))
]


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(HERE / "twelve", tmp_path_factory.mktemp("agents") / "twelve"))


@pytest.fixture(scope="module")
def alone(twelve: Path) -> Iterator[dict[str, dict[str, Any]]]:
    """Return what google-adk yields by itself: its version → name → events."""
    found: dict[str, dict[str, Any]] = {}
    for version in dict.fromkeys(PAIRS[engine] for engine, _ in CASES):
        talks = {name: talk for name, talk in CONVERSATIONS.items() if runs_on(name, version)}
        command = [PYTHONS[version](), str(HERE / "twelve_alone.py"), str(twelve), json.dumps(talks)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=twelve, timeout=110)
        assert done.returncode == 0, done.stderr
        found[version] = json.loads(done.stdout.splitlines()[-1])
    yield found


def runs_on(name: str, engine: str) -> bool:
    return engine != EMBEDDED if name == "told" else name != "flow" or engine.startswith("2.")


@pytest.mark.parametrize(("engine", "name"), CASES)
async def test_the_events_are_those_of_google_adk_alone(
    name: str, engine: str, twelve: Path, alone: dict[str, dict[str, Any]], start_engine: Start
) -> None:
    if not runs_on(name, engine):
        pytest.skip("workflow graphs need google-adk 2, and YAML agents google-adk")
    events = await converse(await start_engine(engine, twelve / name), CONVERSATIONS[name])
    ours, theirs = comparable(events), comparable(alone[PAIRS[engine]][name])
    for difference in DIFFERENCES:
        if difference.agent == name and engine in difference.engines:
            assert ours != theirs, f"no longer a difference: {difference}"
            ours, theirs = _left_out(difference.path, ours), _left_out(difference.path, theirs)
    assert ours == theirs


@pytest.mark.parametrize("name", ["boss", "desk", "form", "hooks", "report", "shop", "told"] if IS_SOAK else ["desk"])
async def test_the_stored_events_are_those_of_adk_run(name: str, twelve: Path, tmp_path: Path, start_engine: Start) -> None:
    theirs = saved_by_adk_run(twelve, name, tmp_path / "replay.json")
    started = await start_engine("2.13", twelve / name)
    await converse(started, CONVERSATIONS[name])
    ours = [event.model_dump(mode="json", exclude_none=True) for event, _ in started.committed]
    assert comparable(ours) == comparable(theirs)


def saved_by_adk_run(twelve: Path, name: str, replay: Path) -> list[dict[str, Any]]:
    replay.write_text(json.dumps({"state": {}, "queries": CONVERSATIONS[name]}))
    options = ["--replay", str(replay), "--save_session", "--session_id", "saved"]
    command = [PYTHONS["2.13"](), "-W", "ignore", "-m", "google.adk.cli", "run", *options, str(twelve / name)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=twelve, timeout=110)
    assert done.returncode == 0, done.stderr
    saved = json.loads((twelve / name / "saved.session.json").read_text())["events"]
    events = [parse_event(json.dumps(event)).model_dump(mode="json", exclude_none=True) for event in saved]
    return [{"node_info" if key == "nodeInfo" else key: value for key, value in event.items()} for event in events]


async def converse(started: Started, messages: list[Any]) -> list[dict[str, Any]]:
    key = await started.engine.new_session("u")
    events: list[dict[str, Any]] = []
    for message in messages:
        content = types.Content.model_validate(content_of(message, events))
        async for event in started.engine.run(key, content):
            events.append(event.model_dump(mode="json", exclude_none=True))
    return events


def _left_out(path: str, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if path == "order":
        return sorted(events, key=lambda event: json.dumps(event, sort_keys=True))
    return [_without(event, path.split(".")) for event in events]


def comparable(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events without times and with numbers in place of ids."""
    names: dict[str, str] = {}
    for event in events:
        for part in (event.get("content") or {}).get("parts") or []:
            if part.get("function_call"):
                names.setdefault(part["function_call"]["id"], f"call {len(names)}")
    for number, invocation in enumerate(dict.fromkeys(event["invocation_id"] for event in events)):
        names[invocation] = f"invocation {number}"
    plain = [{key: value for key, value in event.items() if key not in ("id", "timestamp")} for event in events]
    return [_renamed(event, names) for event in plain]


def _renamed(value: Any, names: dict[str, str]) -> Any:
    """Return a value with other ids, and without what is empty."""
    if isinstance(value, dict):
        renamed = {names.get(key, key): _renamed(item, names) for key, item in value.items()}
        if "auth_uri" in renamed or "authUri" in renamed:
            renamed.pop("state", None)  # a random text
        return {key: item for key, item in renamed.items() if item not in (None, {}, [], "")}
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    return re.sub(r"\bstate=\w+", "state", names.get(value, value)) if isinstance(value, str) else value


def _without(value: Any, path: list[str]) -> Any:
    if isinstance(value, list):
        return [_without(item, path[1:]) if path[0] == "*" else item for item in value]
    if not isinstance(value, dict):
        return value
    if len(path) == 1:
        return {key: item for key, item in value.items() if key != path[0]}
    return {key: _without(item, path[1:]) if path[0] in ("*", key) else item for key, item in value.items()}
