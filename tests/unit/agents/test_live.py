"""Live runs: the user, the model and the agent's tools all speak when they like, over one connection."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types
from pydantic import ValidationError
from websockets.exceptions import ConnectionClosedError, ConnectionClosedOK

from runtime.agents import BaseAgent, LiveRequest, LiveRequestQueue, LlmAgent, RunConfig, SequentialAgent
from runtime.agents.active_streaming_tool import ActiveStreamingTool
from runtime.agents.transcription_entry import TranscriptionEntry
from runtime.errors import EngineNeededError
from runtime.models.base_llm import LiveConnectionError
from runtime.models.gemini import Gemini
from runtime.models.llm_response import LlmResponse
from runtime.tools import ToolContext
from tests.seeds.live import DONE, LiveLlm, Talk, calling, heard, spoken, voiced
from tests.seeds.running import llm_agent, results, run, runner_for, stored, texts

pytestmark = pytest.mark.rule("R11")

AUDIO = types.Blob(data=b"\0\1", mime_type="audio/pcm")


def live_agent(name: str = "a", **more: Any) -> tuple[LlmAgent, LiveLlm]:
    model = LiveLlm()
    return LlmAgent(name=name, model=model, **more), model


def call(name: str, call_id: str = "c", **args: Any) -> types.FunctionCall:
    return types.FunctionCall(id=call_id, name=name, args=args)


async def test_a_turn_of_text_is_stored_before_the_model_gets_it() -> None:
    agent, model = live_agent()
    runner = runner_for(agent)
    async with Talk(runner) as talk:
        talk.type("hello")
        line = await model.line()
        assert await line.heard(1) == [types.UserContent("hello")]
        assert [(event.author, texts([event])) for event in (await stored(runner)).events] == [("user", ["hello"])]
        line.say(spoken("hi"))
        line.say(DONE)
        await talk.until(2)
        talk.queue.close()
    assert [(event.author, texts([event]), event.turn_complete) for event in talk.events] == [("a", ["hi"], None), ("a", [], True)]
    events = (await stored(runner)).events
    assert [event.author for event in events] == ["user", "a", "a"]
    assert len({event.invocation_id for event in events}) == 1
    assert line.closed == 1 and line.left


async def test_audio_goes_both_ways_and_is_not_stored() -> None:
    agent, model = live_agent()
    runner = runner_for(agent)
    async with Talk(runner) as talk:
        for send in (talk.queue.send_activity_start, lambda: talk.queue.send_realtime(AUDIO), talk.queue.send_activity_end):
            send()
        talk.queue.send_audio_stream_end()
        line = await model.line()
        sent = await line.heard(4)
        assert sent[1] == AUDIO and isinstance(sent[0], types.ActivityStart) and isinstance(sent[2], types.ActivityEnd)
        assert sent[3].audio_stream_end is True
        line.say(heard("what", finished=False))
        line.say(heard("what time"))
        line.say(LlmResponse(content=types.Content(role="model", parts=[types.Part(inline_data=AUDIO)])))
        line.say(voiced("noon"))
        line.say(LlmResponse(interrupted=True))
        line.say(LlmResponse())  # says nothing
        line.say(DONE)
        await talk.until(6)
        talk.queue.close()
    assert [event.author for event in talk.events] == ["user", "user", "a", "a", "a", "a"]
    kept = (await stored(runner)).events
    assert [event.id for event in kept] == [talk.events[index].id for index in (1, 3, 4, 5)]
    assert kept[2].interrupted and kept[3].turn_complete


async def test_what_was_spoken_is_part_of_later_requests() -> None:
    agent, model = live_agent()
    runner = runner_for(agent)
    async with Talk(runner) as talk:
        line = await model.line()
        for said in (heard("what "), heard("time"), voiced("noon")):
            line.say(said)
        await talk.until(3)
        talk.queue.close()
    async with Talk(runner) as again:
        line = await model.line()
        again.queue.close()
    assert [(content.role, (content.parts or [])[0].text) for content in line.history] == [("user", "what time"), ("model", "noon")]
    assert line.request.live_connect_config.history_config == types.HistoryConfig(initial_history_in_client_content=True)
    assert texts(await run(runner)) == ["written answer"]
    assert agent.canonical_live_model is model


async def test_calls_are_answered_once_their_results_are_stored() -> None:
    seen: list[str] = []

    def weather(city: str) -> dict[str, str]:
        return {"weather": f"rain in {city}"}

    def after(tool: Any, args: dict[str, Any], tool_context: ToolContext, tool_response: Any) -> None:
        seen.append(tool.name)
        tool_context.state["asked"] = args["city"]

    agent, model = live_agent(tools=[weather], after_tool_callback=after)
    runner = runner_for(agent, resumable=True)
    async with Talk(runner) as talk:
        line = await model.line()
        line.say(calling(call("weather", "1", city="Rome"), call("weather", "2", city="Oslo")))
        (answer,) = await line.heard(1)
        session = await stored(runner)
        assert results(session.events) == [("weather", {"weather": "rain in Rome"}), ("weather", {"weather": "rain in Oslo"})]
        assert answer == session.events[-1].content and [part.function_response.id for part in answer.parts] == ["1", "2"]
        assert session.state["asked"] == "Oslo" and seen == ["weather", "weather"]
        talk.queue.close()
    assert all(event.actions.agent_state is None and not event.actions.end_of_agent for event in (await stored(runner)).events)


async def test_another_agent_takes_over_on_a_connection_of_its_own() -> None:
    helper, second = live_agent("helper", description="helps")
    agent, first = live_agent(sub_agents=[helper])
    runner = runner_for(agent)
    async with Talk(runner) as talk:
        talk.type("help me")
        line = await first.line()
        await line.heard(1)
        line.say(calling(call("transfer_to_agent", agent_name="helper")))
        new = await second.line()
        assert line.closed == 1 and line.left and line.sent[1].parts[0].function_response.name == "transfer_to_agent"
        new.say(spoken("here"))
        await talk.until(3)
        assert talk.events[-1].author == "helper"
        assert "help me" in [part.text for content in new.history for part in content.parts or []]
        talk.queue.close()
    assert new.closed == 1
    async with Talk(runner) as again:  # the agent that spoke last continues
        await second.line()
        again.queue.close()


async def test_a_sequence_continues_when_an_agent_calls_task_completed() -> None:
    first, one = live_agent("one")
    second, two = live_agent("two")
    async with Talk(runner_for(SequentialAgent(name="both", sub_agents=[first, second]))) as talk:
        line = await one.line()
        assert "task_completed" in line.request.tools_dict and "task_completed" in str(line.request.config.system_instruction)
        line.say(calling(call("task_completed")))
        assert await two.line() and line.closed == 1
        talk.queue.close()
    assert first.tools == []  # the agents themselves stay as they are


async def test_streaming_tools_run_beside_the_conversation() -> None:
    ended: list[str] = []

    async def frames(input_stream: LiveRequestQueue, prefix: str = "saw") -> Any:
        try:
            while True:
                request = await input_stream.get()
                if request.blob is not None:
                    yield f"{prefix} {request.blob.data!r}"
        finally:
            ended.append(prefix)

    def stop_streaming(function_name: str) -> None:
        """Stop a tool."""

    agent, model = live_agent(tools=[frames, stop_streaming])
    async with Talk(runner_for(agent)) as talk:
        line = await model.line()
        declared = line.request.config.tools[0].function_declarations[0]  # type: ignore[index, union-attr]
        assert list(declared.parameters.properties) == ["prefix"]  # type: ignore[union-attr]
        line.say(calling(call("frames", "1")))
        await line.heard(1)
        talk.queue.send_realtime(AUDIO)
        sent = await line.heard(3)
        assert sent[0].parts[0].function_response.response == {
            "status": "The function is running asynchronously and the results are pending."
        }
        (told,) = [thing.parts[0].function_response for thing in sent[1:] if isinstance(thing, types.Content)]
        assert (told.id, told.response) == ("1", {"result": f"saw {AUDIO.data!r}"})
        line.say(calling(call("stop_streaming", "2", function_name="frames")))
        assert (await line.heard(4))[3].parts[0].function_response.response == {"status": "Successfully stopped streaming function frames"}
        assert ended == ["saw"]
        line.say(calling(call("stop_streaming", "3", function_name="frames")))
        assert "No active" in str((await line.heard(5))[4])
        line.say(calling(call("frames", "4", prefix="again")))
        await line.heard(6)
        talk.queue.send_realtime(AUDIO)
        await line.heard(8)
        talk.queue.close()
    assert ended == ["saw", "again"]  # stopped with the connection


async def test_the_model_learns_that_a_streaming_tool_failed(caplog: pytest.LogCaptureFixture) -> None:
    async def count() -> Any:
        yield {"n": 1}
        raise ZeroDivisionError("secret")

    agent, model = live_agent(tools=[count])
    async with Talk(runner_for(agent)) as talk:
        line = await model.line()
        line.say(calling(call("count")))
        sent = await line.heard(3)
        talk.queue.close()
    answers = [thing.parts[0].function_response.response for thing in sent]
    assert {"n": 1} in answers and {"error": "count() failed with an internal error."} in answers
    assert "secret" in caplog.text


async def test_a_consumer_that_leaves_closes_everything() -> None:
    stopped = asyncio.Event()

    async def forever() -> Any:
        try:
            await asyncio.Event().wait()
            yield 1
        finally:
            stopped.set()

    agent, model = live_agent(tools=[forever])
    before = asyncio.all_tasks()
    async with Talk(runner_for(agent)) as talk:
        line = await model.line()
        line.say(calling(call("forever")))
        await line.heard(1)
        await asyncio.sleep(0)  # the tool begins to wait
        talk.stop()
    assert line.closed == 1 and line.left and asyncio.all_tasks() == before
    runner = runner_for(agent)
    queue = LiveRequestQueue()
    events = runner.run_live(user_id="u", session_id="s", live_request_queue=queue)
    first = asyncio.ensure_future(anext(events))
    line = await model.line()
    line.say(spoken("one"))
    assert texts([await first]) == ["one"]
    await events.aclose()
    assert line.closed == 1 and line.left and asyncio.all_tasks() == before


async def test_a_connection_that_breaks() -> None:
    agent, model = live_agent()
    runner = runner_for(agent)
    with pytest.raises(BaseExceptionGroup) as raised:
        async with Talk(runner):
            (line := await model.line()).say(ConnectionClosedError(None, None))
    assert raised.group_contains(ConnectionClosedError) and line.closed == 1 and line.left
    async with Talk(runner):  # the model says goodbye
        (await model.line()).say(ConnectionClosedOK(None, None))


async def test_a_conversation_that_the_server_knows_is_continued() -> None:
    agent, model = live_agent()
    async with Talk(runner_for(agent)) as talk:
        line = await model.line()
        line.say(spoken("one"))
        line.say(LlmResponse(live_session_resumption_update=types.LiveServerSessionResumptionUpdate(new_handle="h")))
        line.say(ConnectionClosedError(None, None))
        again = await model.line()
        again.say(LlmResponse(go_away=types.LiveServerGoAway(time_left="1s")))
        last = await model.line()
        last.say(spoken("two"))
        await talk.until(3)
        talk.queue.close()
    assert [line.history for line in (again, last)] == [[], []] and all(one.closed == 1 for one in model.lines)
    assert last.request.live_connect_config.session_resumption == types.SessionResumptionConfig(handle="h")
    assert texts(talk.events) == ["one", "two"]


async def test_callbacks_screen_what_is_typed_and_spoken() -> None:
    def before(callback_context: Any, llm_request: Any) -> LlmResponse | None:
        callback_context.state["seen"] = llm_request.contents[0].parts[0].text
        return spoken("no") if "bad" in llm_request.contents[0].parts[0].text else None

    def after(callback_context: Any, llm_response: LlmResponse) -> LlmResponse | None:
        assert llm_response.output_transcription is not None
        return spoken("hush") if llm_response.output_transcription.text == "top secret" else None

    agent, model = live_agent(before_model_callback=before, after_model_callback=after)
    runner = runner_for(agent)
    async with Talk(runner) as talk:
        line = await model.line()
        talk.type("bad word")
        talk.type("good word")
        assert texts(await talk.until(1)) == ["no"] and talk.events[0].turn_complete
        assert [content.parts[0].text for content in await line.heard(1)] == ["good word"]
        assert (await talk.until(2))[1].actions.state_delta == {"seen": "good word"}
        line.say(heard("bad noise"))
        afresh = await model.line()  # what the model says to that is dropped
        assert line.closed == 1 and texts(talk.events)[-1] == "no"
        afresh.say(voiced("top ", finished=False))
        afresh.say(voiced("secret", finished=False))
        await model.line()
        assert texts(talk.events)[-1] == "hush" and afresh.closed == 1
        talk.queue.close()
    assert (await stored(runner)).state["seen"] == "bad noise"


async def test_requests_may_change_the_state() -> None:
    agent, model = live_agent()
    runner = runner_for(agent)
    async with Talk(runner) as talk:
        line = await model.line()
        talk.type("half", partial=True)
        talk.type("whole", state_delta={"a": 1})
        talk.queue.send(LiveRequest(state_delta={"b": 2}))
        await line.heard(2)
        talk.queue.send(LiveRequest(close=True, state_delta={"c": 3}))
    session = await stored(runner)
    assert texts(session.events) == ["whole"] and session.state == {"a": 1, "b": 2, "c": 3}


async def test_settings_of_the_connection() -> None:
    agent, model = live_agent(generate_content_config=types.GenerateContentConfig(temperature=0.5), instruction="Be kind.")
    async with Talk(runner_for(agent), run_config=RunConfig(proactivity=types.ProactivityConfig(proactive_audio=True))) as talk:
        request = (await model.line()).request
        talk.queue.close()
    config = request.live_connect_config
    assert (config.temperature, config.response_modalities) == (0.5, [types.Modality.AUDIO])
    assert config.proactivity and config.input_audio_transcription and config.output_audio_transcription
    assert "Be kind." in str(request.config.system_instruction)


async def test_an_output_schema_has_no_effect(caplog: pytest.LogCaptureFixture) -> None:
    agent, model = live_agent(output_schema=dict[str, str])
    async with Talk(runner_for(agent)) as talk:
        request = (await model.line()).request
        talk.queue.close()
    assert request.config.response_schema is None and not request.tools_dict
    assert "has an output_schema, which live conversations ignore" in caplog.text


async def test_a_user_calls_no_functions() -> None:
    agent, model = live_agent()
    with pytest.raises(BaseExceptionGroup) as raised:
        async with Talk(runner_for(agent)) as talk:
            talk.queue.send_content(types.Content(parts=[types.Part(function_call=call("x"))]))
    assert raised.group_contains(ValueError, match="cannot contain function calls") and model.lines[0].closed == 1


async def test_what_cannot_be_live_says_so() -> None:
    queue = LiveRequestQueue()

    async def begin(agent: BaseAgent, **more: Any) -> None:
        await anext(runner_for(agent).run_live(**{"user_id": "u", "session_id": "s", "live_request_queue": queue, **more}))

    with pytest.raises(EngineNeededError, match="Live audio with Gemini needs google-adk"):
        await begin(LlmAgent(name="a", model=Gemini(model="gemini-live-2.5-flash")))
    with pytest.raises(LiveConnectionError, match="Live connection is not supported for scripted"):
        await begin(llm_agent("a"))
    agent, _ = live_agent()
    with pytest.raises(EngineNeededError, match="save_live_blob"):
        await begin(agent, run_config=RunConfig(save_live_blob=True))
    with pytest.raises(ValueError, match="live_request_queue is required"):
        await begin(agent, live_request_queue=None)
    with pytest.raises(ValueError, match="user_id and session_id"):
        await begin(agent, session_id=None)
    with pytest.raises(NotImplementedError, match="BaseAgent does not implement _run_live_impl"):
        await begin(BaseAgent(name="plain"))


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


async def test_records_of_live_conversations() -> None:
    task = asyncio.create_task(asyncio.sleep(0))
    queue = LiveRequestQueue()
    tool = ActiveStreamingTool(task=task, stream=queue)
    assert tool.task is task and tool.stream is queue and ActiveStreamingTool().task is None
    entry = TranscriptionEntry(role="user", data=AUDIO)
    assert isinstance(entry.data, types.Blob) and TranscriptionEntry(data=types.UserContent("hi")).role is None
    for kind in (ActiveStreamingTool, TranscriptionEntry):
        with pytest.raises(ValidationError):
            kind(other=1)
    await task
