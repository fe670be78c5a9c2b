"""Live audio: the names exist, and say which engine has it."""

from __future__ import annotations

import pytest
from google.genai import types

from runtime.agents import LiveRequest, LiveRequestQueue
from runtime.errors import EngineNeededError
from runtime.runners import InMemoryRunner
from tests.seeds.running import llm_agent

pytestmark = pytest.mark.rule("R11")


async def test_run_live_names_the_engine_that_has_it() -> None:
    runner = InMemoryRunner(llm_agent("a"))
    for run in (runner.run_live(user_id="u", session_id="s", live_request_queue=LiveRequestQueue()), runner.agent.run_live(None)):  # type: ignore[arg-type]
        with pytest.raises(EngineNeededError, match=r"Live audio .* needs the google-adk engine"):
            await anext(run)


async def test_a_queue_returns_its_requests_in_order() -> None:
    queue = LiveRequestQueue()
    queue.send_content(types.UserContent("hi"))
    queue.send_realtime(types.Blob(data=b"1", mime_type="audio/pcm"))
    queue.send_activity_start()
    queue.send_activity_end()
    queue.close()
    assert (await queue.get()).content == types.UserContent("hi")
    assert (await queue.get()).blob == types.Blob(data=b"1", mime_type="audio/pcm")
    assert (await queue.get()).activity_start is not None
    assert (await queue.get()).activity_end is not None
    assert await queue.get() == LiveRequest(close=True)
