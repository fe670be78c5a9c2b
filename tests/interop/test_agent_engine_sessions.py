"""Both runtimes read and write sessions of one Agent Engine."""

from __future__ import annotations

import json
import os
import site
from functools import partial

import pytest
from google.genai import types

from runtime.events import Event, EventActions
from runtime.sessions import VertexAiSessionService
from runtime.support.worker_threads import run_in_thread
from tests.agent_engine import agent_engine
from tests.interop.google_adk import adk_1_python, run_adk

KEY = {"app_name": "desk", "user_id": "u", "session_id": "s"}
# google-adk's service needs Google's client. The environment of the tests lends it; what google-adk's environment has comes first.
SERVICE = """
import sys
sys.path.append(args[0])
import google
google.__path__.append(args[0] + "/google")
from google.adk.sessions import VertexAiSessionService
import agentplatform
from google.oauth2.credentials import Credentials
class Here(VertexAiSessionService):
    def _build_api_client(self):
        options = types.HttpOptions(base_url=args[1], api_version="v1beta1")
        credentials = Credentials(token="none")
        return agentplatform.Client(project="test", location="us-central1", credentials=credentials, http_options=options).aio
if not hasattr(VertexAiSessionService, "_build_api_client"):  # google-adk 1.39 makes a client for each request
    Here._get_api_client = Here._build_api_client
service = Here("test", "us-central1", "7")
key = {"app_name": "desk", "user_id": "u", "session_id": "s"}
"""
READ = """
session = await service.get_session(**key)
return [session.state, [event.model_dump(mode="json", by_alias=True, exclude_none=True) for event in session.events]]
"""
WRITE = """
session = await service.get_session(**key)
content = types.Content(role="model", parts=[types.Part(text="theirs")])
event = Event(author="desk", invocation_id="e-2", content=content, actions=EventActions(state_delta={"k": 2, "user:seen": True}))
await service.append_event(session, event)
other = await service.create_session(app_name="desk", user_id="u", session_id="theirs", state={"a": [1]})
return [session.id for session in (await service.list_sessions(app_name="desk", user_id="u")).sessions]
"""


@pytest.mark.parametrize("version", ["2.13", "1.39"] if os.environ.get("INSPECTOR_SOAK") else ["2.13"])
async def test_each_reads_what_the_other_wrote(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    pytest.importorskip("agentplatform")
    lent = site.getsitepackages()[0]
    theirs_runs = partial(run_adk, python=None if version == "2.13" else adk_1_python())
    with agent_engine() as server:
        monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", server.address)
        server.pending = 1
        async with VertexAiSessionService("test", "us-central1", "7") as service:
            session = await service.create_session(**KEY, state={"k": 1, "user:name": "Ann"})
            picture = types.Part(inline_data=types.Blob(data=b"\xff", mime_type="a/b"))
            content = types.Content(role="model", parts=[types.Part(text="ours"), picture])
            event = Event(author="desk", invocation_id="e-1", content=content, custom_metadata={"x": {"y": [1]}})
            event.actions.artifact_delta["f"] = 1
            await service.append_event(session, event)
            state, events = await run_in_thread(theirs_runs, SERVICE + READ, lent, server.address)
            assert state == {"k": 1, "user:name": "Ann"}
            (theirs,) = events
            ours = json.loads(session.events[0].model_dump_json(by_alias=True, exclude_none=True))
            assert theirs["timestamp"] == pytest.approx(ours.pop("timestamp"), abs=1e-5)
            if version == "1.39":  # it gives events the ids of the engine's own resources
                del ours["id"]
            assert {name: theirs[name] for name in ours} == ours
            assert await run_in_thread(theirs_runs, SERVICE + WRITE, lent, server.address) == ["s", "theirs"]
            found = await service.get_session(**KEY)
            assert found is not None
            assert found.state == {"k": 2, "user:name": "Ann", "user:seen": True}
            assert [event.content.parts[0].text for event in found.events if event.content and event.content.parts] == ["ours", "theirs"]
            await service.append_event(found, Event(author="user", invocation_id="e-3", actions=EventActions(state_delta={"k": 3})))
            state, events = await run_in_thread(theirs_runs, SERVICE + READ, lent, server.address)
            assert (state["k"], len(events)) == (3, 3)
            assert [listed.id for listed in (await service.list_sessions(app_name="desk", user_id="u")).sessions] == ["s", "theirs"]
