"""google-adk opens and continues sessions that we forked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runtime.forks.fork import Cut, fork_session
from runtime.sessions import DatabaseSessionService, SqliteSessionService
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from tests.agent_specs import build_agent, message
from tests.fixture_paths import fixtures_dir
from tests.interop.google_adk import adk_1_python, adk_python, run_adk
from tests.interop.google_adk_resume import RESUME, TREES
from tests.seeds.running import runner_for

KEY = SessionKey("app", "u", "s")

CONTINUE = """
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
seen = []
class Noting(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        seen.append(len(llm_request.contents))
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="theirs")]))
service = SqliteSessionService(args[0]) if args[1] == "sqlite" else DatabaseSessionService("sqlite+aiosqlite:///" + args[0])
names = dict(app_name=args[2], user_id=args[3], session_id=args[4])
before = await service.get_session(**names)
runner = Runner(app_name=args[2], agent=LlmAgent(name="agent", model=Noting(model="m")), session_service=service)
message = types.Content(role="user", parts=[types.Part(text="last")])
async for event in runner.run_async(user_id=args[3], session_id=args[4], new_message=message):
    pass
after = await service.get_session(**names)
texts = [part.text for event in after.events[len(before.events):] for part in event.content.parts]
return [dict(before.state), [[event.id, event.timestamp] for event in before.events], texts, len(seen)]
"""


@pytest.mark.parametrize("version", ["1.39", "2.13"])
async def test_google_adk_resumes_a_fork_at_every_event(version: str, tmp_path: Path) -> None:
    tree = TREES["seq_tools"]
    path = str(tmp_path / "s.db")
    async with DatabaseSessionService(path) as service:
        runner = runner_for(build_agent(tree["agent"]), service, resumable=True)
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=message(tree["message"])):
            pass
    with StoredDatabase.open(path) as database:
        whole, state = database.events(KEY), database.state(KEY)
    files = []
    for number, event in enumerate(whole):
        fork = await fork_session(path, KEY, Cut(at=event.id, session_id="s"), into=str(tmp_path / f"{number}.db"))
        files.append(str(fork.database))
    found = run_adk(
        RESUME, json.dumps(tree["agent"]), whole[0].invocation_id, *files, python=adk_1_python() if version == "1.39" else adk_python()
    )
    assert [after["state"] for after in found] == [state] * len(whole)


@pytest.mark.parametrize(("name", "layout"), [("adk1.16.0-v0-chat_tools", "v1"), ("adk1.39.1-v1-compaction", "sqlite")])
async def test_google_adk_continues_a_fork_of_any_layout(name: str, layout: str, tmp_path: Path) -> None:
    source, target = str(fixtures_dir() / "open" / f"{name}.db"), str(tmp_path / "fork.db")
    if layout == "sqlite":
        async with SqliteSessionService(target) as service:
            await service.create_session(app_name="other", user_id="u")
    with StoredDatabase.open(source) as database:
        key = database.sessions()[0].key
        history = database.history(key)
    index = len(history) // 2
    fork = await fork_session(source, key, Cut(at=history.events[index].id), into=target)
    state, events, texts, calls = run_adk(CONTINUE, target, layout, *fork.key)
    assert state == history.state_at(index).merged()
    assert events == [[event.id, pytest.approx(event.timestamp, abs=1e-6)] for event in history.events[: index + 1]]
    assert (texts, calls) == (["last", "theirs"], 1)
    with StoredDatabase.open(target) as database:
        past = database.history(fork.key)
        assert [past.state_at(place).session for place in range(index + 1)] == [
            history.state_at(place).session for place in range(index + 1)
        ]
        assert len(past) == index + 3
