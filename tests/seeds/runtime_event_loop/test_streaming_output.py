"""Seed: runtime-event-loop, "Salida Streaming vs. No-Streaming (`partial=True`)"."""

from __future__ import annotations

from runtime.agents import LlmAgent, RunConfig
from runtime.agents.run_config import StreamingMode
from runtime.models.scripted_llm import Reply, ScriptedLlm
from tests.agent_specs import message
from tests.seeds.running import run, runner_for, stored, texts


def talker() -> LlmAgent:
    return LlmAgent(
        name="talker", model=ScriptedLlm(replies=[Reply(text="one two three", chunks=["one ", "two ", "three"])]), output_key="said"
    )


async def test_pieces_are_forwarded_immediately_and_only_the_complete_answer_is_committed() -> None:
    runner = runner_for(talker())
    stream = runner.run_async(
        user_id="u", session_id="s", new_message=message("go"), run_config=RunConfig(streaming_mode=StreamingMode.SSE)
    )
    seen = []
    async for event in stream:
        session = await stored(runner)
        seen.append((event.partial, texts([event])[0], len(session.events), session.state))
    assert seen == [
        (True, "one ", 1, {}),
        (True, "two ", 1, {}),
        (True, "three", 1, {}),
        (False, "one two three", 2, {"said": "one two three"}),
    ]


async def test_without_streaming_there_is_one_event() -> None:
    runner = runner_for(talker())
    (event,) = await run(runner)
    assert not event.partial
    assert (await stored(runner)).state == {"said": "one two three"}
