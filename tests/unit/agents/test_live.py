"""Live conversations: their types are plain, and their runs are google-adk's."""

from __future__ import annotations

import pytest
from google.genai import types

from runtime.agents import LiveRequest, LiveRequestQueue, LlmAgent, RunConfig
from runtime.errors import EngineNeededError
from runtime.models import LlmRequest
from runtime.models.gemini import Gemini
from tests.seeds.running import llm_agent, runner_for

AUDIO = types.Blob(data=b"\0\1", mime_type="audio/pcm")


async def test_a_live_run_needs_google_adk() -> None:
    agent = llm_agent("a")
    live = runner_for(agent).run_live(user_id="u", session_id="s", live_request_queue=LiveRequestQueue(), run_config=RunConfig())
    with pytest.raises(EngineNeededError, match=r"A live conversation \(Runner\.run_live\) needs google-adk: install it"):
        await anext(live)
    for model in (agent.canonical_live_model, Gemini(model="gemini-live-2.5-flash")):
        with pytest.raises(EngineNeededError, match=f"A live connection to {model.model} needs google-adk"):
            model.connect(LlmRequest())


def test_the_settings_of_live_runs_are_kept() -> None:
    config = RunConfig(save_live_blob=True, speech_config=types.SpeechConfig(language_code="de-DE"), response_modalities=["AUDIO"])
    assert config.save_live_blob and config.speech_config and config.speech_config.language_code == "de-DE"
    assert LlmAgent(name="a", model=Gemini(model="gemini-live-2.5-flash")).canonical_live_model.model == "gemini-live-2.5-flash"


async def test_a_queue_returns_its_requests_in_order() -> None:
    queue = LiveRequestQueue()
    queue.send_content(types.UserContent("hi"))
    queue.send_realtime(AUDIO)
    assert not queue.closed
    queue.close()
    assert queue.closed
    assert (await queue.get()).content == types.UserContent("hi")
    assert (await queue.get()).blob == AUDIO
    assert await queue.get() == LiveRequest(close=True)
