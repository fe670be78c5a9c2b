"""Our runtime resumes invocations that the real google-adk left crashed or paused, each in its own layout, to the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from runtime.apps import App, ResumabilityConfig
from runtime.events import Event
from runtime.history.invocations import invocations
from runtime.runners import Runner
from runtime.storage.open_service import open_session_service
from tests.agent_specs import build_agent
from tests.fixture_paths import copy_of
from tests.resumable_fixtures import expected_session, expected_state, resumable_before


def _texts(events: list[Any]) -> list[str]:
    return [part["text"] for event in events for part in (event.get("content") or {}).get("parts") or [] if part.get("text")]


def test_many_resumable_fixtures_are_found() -> None:
    assert len(resumable_before()) >= 40


@pytest.mark.parametrize(("before", "after"), resumable_before(), ids=lambda entry: entry["name"])
async def test_an_invocation_of_google_adk_is_resumed_to_its_end(before: dict[str, Any], after: dict[str, Any], tmp_path: Path) -> None:
    ((app_name, app),) = before["apps"].items()
    path = copy_of(f"open/{before['file']}", tmp_path)
    async with open_session_service(str(path)) as service:
        root = build_agent(app["agent"])
        runner = Runner(
            app=App(name=app_name, root_agent=root, resumability_config=ResumabilityConfig(is_resumable=True)), session_service=service
        )
        yielded: list[Event] = []
        for step in after["steps"]:
            if step["op"] != "run":
                continue
            message = types.Content.model_validate(step["message"]) if step["message"] else None
            stream = runner.run_async(
                user_id=step["user"], session_id=step["session"], invocation_id=step["invocation_id"], new_message=message
            )
            yielded += [event async for event in stream]
        session = await service.get_session(
            app_name=app_name, user_id=before["sessions"][0]["user_id"], session_id=before["sessions"][0]["id"]
        )
    assert session is not None
    assert invocations(session.events)[-1].status == "finished"
    theirs = expected_session(after)
    assert session.state == expected_state(before, after)
    assert len({event.id for event in session.events}) == len(session.events)
    ours = _texts([json.loads(event.model_dump_json(exclude_none=True)) for event in session.events])
    assert set(ours) == set(_texts(theirs["events"]))
    assert len(ours) <= len(_texts(theirs["events"]))
