"""The check in the test that `capsule --pytest` writes: the agent still does what the capsule has recorded."""

from __future__ import annotations

import asyncio
import importlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from google.genai import types

from inspector_app.engines.agent_loader import load_agent
from inspector_app.exchange.capsule import Capsule, read_capsule
from inspector_app.exchange.exported_session import replaced_places
from runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
from runtime.errors import KnownError
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
TRIAL_SECONDS = 120
_SAYS = "agent-inspector: "
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
    asked, divergences = replay(str(agent), read, run_tools=run_tools)
    problems = [f"The agent no longer does what was recorded: {each.what}" for each in divergences]
    expected = read.about.get("asked")
    if not problems and isinstance(expected, list):
        if any(event.get("branch") for event in read.events):
            expected, asked = _in_any_order(expected), _in_any_order(asked)
        problems = _differences(expected, asked)
    if problems and (unknown := read.started.unknown):
        problems.append(f"What these keys held before the first event is not recorded: {', '.join(unknown)}.")
    assert not problems, "\n".join(problems)


def try_check(capsule: str, agent: str) -> str:
    """Run the check that a written test makes, in a process of its own, and return why it fails; empty if it passes.

    Args:
        capsule: the file.
        agent: the agent's folder or file; its tools run.
    """
    words = [sys.executable, "-B", "-m", __name__, str(Path(capsule).absolute()), str(Path(agent).absolute())]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=TRIAL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"It did not end within {TRIAL_SECONDS} seconds."
    said = done.stderr.decode("utf-8", "replace").rpartition(_SAYS)[2].strip()
    return "" if done.returncode == 0 else said or f"Its process ended with {done.returncode}."


def trial_sentence(failure: str) -> str:
    """Return what to say of a test that was run once; see `try_check`."""
    return f"It fails with the agent as it is: {failure}" if failure else "It was run once and passes."


def replay(agent: str, capsule: Capsule, *, run_tools: bool) -> tuple[list[Json], list[Divergence]]:
    """Run a capsule's session again on the embedded runtime, with recorded answers in place of its models.

    Args:
        agent: the agent's folder or file.
        capsule: the session and what it started from.
        run_tools: run the tools.

    Returns:
        What its models would have been asked, and where it differs from the recording.
    """
    events = [Event.model_validate(event) for event in capsule.events]
    places = {event.id: place for place, event in enumerate(events)}
    recordings, started = recordings_of(events), capsule.started
    loaded = load_agent(agent)
    asked: list[Json] = []

    async def run() -> tuple[list[Json], list[Divergence]]:
        service, files = InMemorySessionService(), InMemoryArtifactService()
        runner = Runner(
            app=loaded.app, app_name=loaded.name, session_service=service, artifact_service=files, memory_service=InMemoryMemoryService()
        )
        names: dict[str, Any] = {"app_name": loaded.name, "user_id": str(capsule.about.get("user_id"))}
        session = await service.create_session(**names, state=started.state, session_id=capsule.about.get("session_id"))
        await _save_earlier_files(files, capsule, events, {**names, "session_id": session.id})
        others = [*started.others]

        def repeat(one: Recording) -> Rerun:
            return Rerun(runner, session.key, one, runs_tools=run_tools, strict=True, on_request=on_request)

        divergences: list[Divergence] = []
        for recording in recordings:
            while others and others[0].place <= places[recording.first_event_id]:
                await service.create_session(**names, state=others.pop(0).delta)  # so that the shared keys change
            repeated = SessionReplay([recording], repeat)
            async for _ in repeated.events():
                pass
            if divergences := repeated.divergences:
                break
        return asked, divergences

    def on_request(agent: str, request: LlmRequest) -> None:
        asked.append({"agent": agent, "request": _request_json(request)})

    with loaded.environment.active():
        return asyncio.run(run())


async def _save_earlier_files(files: InMemoryArtifactService, capsule: Capsule, events: Sequence[Event], names: dict[str, Any]) -> None:
    """Save the files that were there before the events, which say what they saved themselves."""
    own = {(name, version) for event in events for name, version in event.actions.artifact_delta.items()}
    for name, version, part in capsule.files(types.Part.model_validate):
        if (name, version) not in own:
            await files.save_artifact(**names, filename=name, artifact=part)


def _request_json(request: LlmRequest) -> Json:
    config = request.config.model_dump(mode="json", exclude_none=True, exclude=_NOT_COMPARED)
    contents = [content.model_dump(mode="json", exclude_none=True) for content in request.contents]
    clean = importlib.import_module("inspector_app.resources.plugins.recorder_plugin").redacted
    cleaned: Json = clean({"config": config, "contents": contents})
    return cleaned


def _in_any_order(asked: Sequence[Json]) -> list[Json]:
    """Return requests with the parts of their conversations sorted: agents that run side by side answer in another order each time."""
    return [{**one, "request": {**one["request"], "contents": _sorted_parts(one["request"]["contents"])}} for one in asked]


def _sorted_parts(contents: Sequence[Json]) -> list[Json]:
    parts = [{"role": content.get("role"), "part": part} for content in contents for part in content.get("parts") or ()]
    return sorted(parts, key=lambda part: json.dumps(part, sort_keys=True))


def _differences(expected: Sequence[Any], asked: Sequence[Json]) -> list[str]:
    """Compare what each agent asks its models; the order in which agents that run side by side ask is no difference."""
    missing, added = list(expected), list(asked)
    for one in expected:
        if one in added:
            missing.remove(one)
            added.remove(one)
    for other in added:
        one = next((each for each in missing if each["agent"] == other["agent"]), None)
        if one is not None:
            place = next(iter(replaced_places(one, other)))
            number = asked.index(other) + 1
            return [f"Model call {number} of {other['agent']} asks something else than was recorded, at {place}:\n{_at(other, place)}"]
    if missing or added:
        return [f"The agent would call its models {len(asked)} times; {len(expected)} times were recorded."]
    return []


def _at(value: Any, place: str) -> str:
    for step in place.split("/")[1:]:
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, ValueError):
            break
    return json.dumps(value, ensure_ascii=False)[:500]


if __name__ == "__main__":
    try:
        check_capsule(Path(sys.argv[1]), sys.argv[2])
    except (AssertionError, KnownError) as failure:
        sys.exit(f"{_SAYS}{failure}")
