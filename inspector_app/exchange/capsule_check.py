"""The check in the test that `capsule --pytest` writes: the agent still does what the capsule has recorded."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspector_app.engines.agent_loader import load_agent
from inspector_app.exchange.capsule import read_capsule
from inspector_app.exchange.exported_session import replaced_places
from runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
from runtime.events.event import Event
from runtime.forks.recorded_answers import Divergence
from runtime.forks.recording import Recording
from runtime.forks.rerun import Rerun
from runtime.forks.session_replay import SessionReplay, recordings_of
from runtime.memory.in_memory_memory_service import InMemoryMemoryService
from runtime.models.llm_request import LlmRequest
from runtime.runners import Runner
from runtime.sessions.in_memory_session_service import InMemorySessionService

Json = dict[str, Any]
_NOT_COMPARED = {"http_options", "labels", "abort_signal"}


def check_capsule(capsule: Path, agent: str | Path, *, run_tools: bool = True) -> None:
    """Run a capsule's session again with the recorded answers, and compare.

    Args:
        capsule: the file.
        agent: the agent's folder or file; it runs on the embedded runtime, without its model.
        run_tools: run its tools; otherwise their recorded results are given.

    Raises:
        AssertionError: the agent does something else than was recorded, or asks its model something else.
        KnownError: the capsule or the agent cannot be read.
    """
    read = read_capsule(Path(capsule))
    asked, divergences = replay(str(agent), read.events, read.first_state, run_tools=run_tools)
    problems = [f"The agent no longer does what was recorded: {each.what}" for each in divergences]
    expected = read.about.get("asked")
    if not problems and isinstance(expected, list):
        problems = _differences(expected, asked)
    assert not problems, "\n".join(problems)


def replay(agent: str, events: Sequence[Json], state: Json, *, run_tools: bool) -> tuple[list[Json], list[Divergence]]:
    """Run a session again on the embedded runtime, with recorded answers in place of its models.

    Args:
        agent: the agent's folder or file.
        events: the session's events as google-adk's event JSON.
        state: the session's initial state.
        run_tools: run the tools.

    Returns:
        What its models would have been asked, and where it differs from the recording.
    """
    recordings = recordings_of([Event.model_validate(event) for event in events])
    loaded = load_agent(agent)
    asked: list[Json] = []

    async def run() -> tuple[list[Json], list[Divergence]]:
        service = InMemorySessionService()
        runner = Runner(
            app=loaded.app,
            app_name=loaded.name,
            session_service=service,
            artifact_service=InMemoryArtifactService(),
            memory_service=InMemoryMemoryService(),
        )
        session = await service.create_session(app_name=loaded.name, user_id="user", state=state)

        def repeat(one: Recording) -> Rerun:
            return Rerun(runner, session.key, one, runs_tools=run_tools, strict=True, on_request=on_request)

        repeated = SessionReplay(recordings, repeat)
        with loaded.environment.active():
            async for _ in repeated.events():
                pass
        return asked, repeated.divergences

    def on_request(agent: str, request: LlmRequest) -> None:
        asked.append({"agent": agent, "request": _request_json(request)})

    return asyncio.run(run())


def _request_json(request: LlmRequest) -> Json:
    config = request.config.model_dump(mode="json", exclude_none=True, exclude=_NOT_COMPARED)
    contents = [content.model_dump(mode="json", exclude_none=True) for content in request.contents]
    clean = importlib.import_module("inspector_app.resources.plugins.recorder_plugin").redacted
    cleaned: Json = clean({"config": config, "contents": contents})
    return cleaned


def _differences(expected: Sequence[Any], asked: Sequence[Json]) -> list[str]:
    for number, (one, other) in enumerate(zip(expected, asked, strict=False), 1):
        for place in replaced_places(one, other):
            return [f"Model call {number} of {other['agent']} asks something else than was recorded, at {place}:\n{_at(other, place)}"]
    if len(expected) != len(asked):
        return [f"The agent would call its models {len(asked)} times; {len(expected)} times were recorded."]
    return []


def _at(value: Any, place: str) -> str:
    for step in place.split("/")[1:]:
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, ValueError):
            break
    return json.dumps(value, ensure_ascii=False)[:500]
