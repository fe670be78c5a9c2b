"""Live audio: the names exist, and say which engine has it."""

from __future__ import annotations

import asyncio

import pytest
from google.genai import types
from pydantic import ValidationError

from runtime.agents import LiveRequest, LiveRequestQueue
from runtime.agents.active_streaming_tool import ActiveStreamingTool
from runtime.agents.transcription_entry import TranscriptionEntry
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


async def test_records_of_live_conversations() -> None:
    task = asyncio.create_task(asyncio.sleep(0))
    queue = LiveRequestQueue()
    tool = ActiveStreamingTool(task=task, stream=queue)
    assert tool.task is task and tool.stream is queue and ActiveStreamingTool().task is None
    entry = TranscriptionEntry(role="user", data=types.Blob(data=b"x", mime_type="audio/pcm"))
    assert isinstance(entry.data, types.Blob) and TranscriptionEntry(data=types.UserContent("hi")).role is None
    for kind in (ActiveStreamingTool, TranscriptionEntry):
        with pytest.raises(ValidationError):
            kind(other=1)
    await task
