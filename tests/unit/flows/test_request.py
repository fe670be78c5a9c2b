"""Requests to models: the order of their tools, what they tell of transfers, and contents that are never stored."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

from runtime.agents import LlmAgent, RunConfig, SequentialAgent
from runtime.errors import EngineNeededError
from runtime.events import Event
from runtime.models import LlmRequest
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.sessions import DatabaseSessionService
from runtime.sessions.base_session_service import GetSessionConfig
from runtime.tools import google_search
from runtime.tools.google_search_tool import GoogleSearchTool
from tests.agent_specs import message
from tests.seeds.running import run, runner_for, stored, texts


class Answer(BaseModel):
    text: str


def look_up(word: str) -> str:
    """Looks a word up."""
    return word


def recording(requests: list[LlmRequest], *replies: Any) -> ScriptedLlm:
    """Return a model that keeps copies of its requests."""
    left = list(replies)

    def reply(request: LlmRequest) -> Any:
        requests.append(request.model_copy(update={"contents": list(request.contents)}))
        return left.pop(0)

    return ScriptedLlm(replies=[reply] * len(replies))


async def request_of(agent_or_tree: LlmAgent, requests: list[LlmRequest]) -> LlmRequest:
    await run(runner_for(agent_or_tree))
    return requests[0]


@pytest.mark.rule("R11")
async def test_the_answer_and_transfer_tools_come_before_the_agents_own() -> None:
    requests: list[LlmRequest] = []
    reply = Reply(calls=[("set_model_response", {"text": "x"})])
    helper = LlmAgent(name="helper", description="Helps.")
    agent = LlmAgent(name="root", model=recording(requests, reply), tools=[look_up], sub_agents=[helper], output_schema=Answer)
    request = await request_of(agent, requests)
    assert list(request.tools_dict) == ["set_model_response", "transfer_to_agent", "look_up"]
    declared = [each.name for tool in request.config.tools or [] for each in tool.function_declarations or []]  # type: ignore[union-attr]
    assert declared == list(request.tools_dict)


@pytest.mark.parametrize(
    ("model", "search", "offered"),
    [
        ("gemini-2.5-flash", google_search, []),
        ("gemini-3-pro", google_search, ["transfer_to_agent"]),
        ("gemini-2.5-flash", GoogleSearchTool(bypass_multi_tools_limit=True), ["transfer_to_agent", "google_search_agent"]),
    ],
)
async def test_no_transfer_to_the_parent_is_offered_beside_a_search_that_allows_no_functions(
    model: str, search: GoogleSearchTool, offered: list[str]
) -> None:
    requests: list[LlmRequest] = []
    searcher = LlmAgent(name="searcher", model=recording(requests, "x").model_copy(update={"model": model}), tools=[search])
    transfer = ScriptedLlm(replies=[Reply(calls=[("transfer_to_agent", {"agent_name": "searcher"})])])
    request = await request_of(LlmAgent(name="root", model=transfer, sub_agents=[searcher]), requests)
    assert list(request.tools_dict) == offered
    assert ("These other agents" in str(request.config.system_instruction)) is bool(offered)


async def test_an_agents_own_transfer_tool_replaces_the_usual_one() -> None:
    def transfer_to_agent(agent_name: str) -> str:
        """Goes nowhere."""
        return "here"

    requests: list[LlmRequest] = []
    agent = LlmAgent(name="root", model=recording(requests, "x"), tools=[transfer_to_agent], sub_agents=[LlmAgent(name="helper")])
    request = await request_of(agent, requests)
    assert list(request.tools_dict) == ["transfer_to_agent"]
    assert "take over" not in str(request.config.system_instruction)


@pytest.mark.rule("R11")
async def test_the_transfer_instruction_has_all_points_of_google_adks() -> None:
    requests: list[LlmRequest] = []
    middle = LlmAgent(
        name="middle",
        model=recording(requests, "x"),
        sub_agents=[LlmAgent(name="zoe", description="Knows animals."), LlmAgent(name="abe")],
    )
    root = LlmAgent(
        name="root",
        model=ScriptedLlm(replies=[Reply(calls=[("transfer_to_agent", {"agent_name": "middle"})])]),
        sub_agents=[middle, LlmAgent(name="peer")],
    )
    told = str((await request_of(root, requests)).config.system_instruction)
    for point in (
        "- zoe: Knows animals.",
        "Answer yourself if, going by your description, you are best placed to answer.",
        "call `transfer_to_agent` with its name, and write nothing besides the call",
        "no names but these: `abe`, `peer`, `root`, `zoe`.",
        "hand over to your parent agent root",
    ):
        assert point in told


@pytest.mark.rule("R11")
async def test_model_input_context_precedes_the_message_and_is_never_stored() -> None:
    requests: list[LlmRequest] = []
    known = types.UserContent("It is Monday.")
    agent = LlmAgent(name="root", model=recording(requests, "first", Reply(calls=[("look_up", {"word": "a"})]), "second"), tools=[look_up])
    runner = runner_for(agent)
    await run(runner, "one")
    await run(runner, "two", run_config=RunConfig(model_input_context=[known]))
    said = [[part.text or "call" for content in request.contents for part in content.parts or []] for request in requests]
    assert said[1] == ["one", "first", "It is Monday.", "two"]
    assert said[2][:3] == ["one", "first", "It is Monday."]
    assert "It is Monday." not in texts((await stored(runner)).events)
    assert known == types.UserContent("It is Monday.")


@pytest.mark.parametrize("memory", [True, False])
async def test_a_run_may_load_only_the_newest_events(memory: bool, tmp_path: Any) -> None:
    requests: list[LlmRequest] = []
    agent = LlmAgent(name="root", model=recording(requests, *"abc"))
    service = None if memory else DatabaseSessionService(f"sqlite:///{tmp_path / 'a.db'}")
    runner = runner_for(agent, service)
    await run(runner, "one")
    newest = RunConfig(get_session_config=GetSessionConfig(num_recent_events=1))
    await run(runner, "two", run_config=newest)
    await run(runner, "three")
    told = [[part.text for content in request.contents for part in content.parts or []] for request in requests]
    assert told == [["one"], ["a", "two"], ["one", "a", "two", "b", "three"]]
    await runner.session_service.close()


async def test_others_may_append_during_a_run_that_loaded_only_the_newest_events(tmp_path: Any) -> None:
    service = DatabaseSessionService(f"sqlite:///{tmp_path / 'a.db'}")
    replies = ["a", Reply(calls=[("look_up", {"word": "x"})]), "b", "c"]
    runner = runner_for(LlmAgent(name="root", model=ScriptedLlm(replies=replies), tools=[look_up]), service)
    await run(runner, "one")
    newest = RunConfig(get_session_config=GetSessionConfig(num_recent_events=1))
    async for event in runner.run_async(user_id="u", session_id="s", new_message=message("two"), run_config=newest):
        if event.get_function_calls():
            other = await stored(runner)
            await service.append_event(other, Event(author="user", invocation_id="other", message="meanwhile"))
    await run(runner, "three")
    assert texts((await stored(runner)).events) == ["one", "a", "two", "meanwhile", "b", "three", "c"]
    await service.close()


async def test_the_caller_may_choose_the_id_of_a_new_invocation() -> None:
    for resumable in (False, True):
        runner = runner_for(LlmAgent(name="root", model=ScriptedLlm(replies=["a", "b"])), resumable=resumable)
        await run(runner, "one", invocation_id="mine")
        await run(runner, "two")
        assert len({event.invocation_id for event in (await stored(runner)).events} - {"mine"}) == 1
        assert [event.invocation_id for event in (await stored(runner)).events[:2]] == ["mine", "mine"]


@pytest.mark.rule("R11")
async def test_a_single_turn_sub_agent_is_a_tool_of_its_parent() -> None:
    requests: list[LlmRequest] = []
    told: list[LlmRequest] = []
    helper = LlmAgent(name="helper", description="Helps.", mode="single_turn", model=recording(told, "helped"))
    peer = LlmAgent(name="peer", model=ScriptedLlm(replies=[]))
    agent = LlmAgent(
        name="root",
        model=recording(requests, Reply(calls=[("helper", {"request": "please"})]), "done"),
        sub_agents=[helper, peer],
    )
    events = await run(runner_for(agent))
    assert [list(request.tools_dict) for request in requests] == [["transfer_to_agent", "helper"]] * 2
    assert "helper" not in str(requests[0].config.system_instruction)
    assert events[1].get_function_responses()[0].response == {"result": "helped"}
    assert texts(events) == ["done"]
    assert told[0].config.system_instruction is None
    with pytest.raises(EngineNeededError, match="mode='task' needs google-adk"):
        LlmAgent(name="worker", mode="task")


@pytest.mark.rule("R11")
async def test_an_answer_of_a_callback_is_saved_under_the_output_key() -> None:
    agent = LlmAgent(name="root", output_key="out", before_agent_callback=lambda callback_context: types.UserContent("cached"))
    runner = runner_for(agent)
    await run(runner)
    assert (await stored(runner)).state == {"out": "cached"}


@pytest.mark.rule("R11")
async def test_a_message_cannot_make_calls() -> None:
    call = types.Part(function_call=types.FunctionCall(name="look_up", args={}))
    runner = runner_for(LlmAgent(name="root", model=ScriptedLlm(replies=[])))
    with pytest.raises(ValueError, match="cannot contain function calls"):
        [event async for event in runner.run_async(user_id="u", session_id="s", new_message=types.UserContent([call]))]


async def test_a_run_may_tell_agents_what_other_agents_thought() -> None:
    thinking = types.Content(role="model", parts=[types.Part(text="17 is prime", thought=True), types.Part(text="prime")])
    requests: list[LlmRequest] = []
    for config in (RunConfig(), RunConfig(include_thoughts_from_other_agents=True)):
        second = LlmAgent(name="second", model=recording(requests, "done"))
        first = LlmAgent(name="first", before_agent_callback=lambda callback_context: thinking)
        runner = runner_for(SequentialAgent(name="both", sub_agents=[first, second]))
        await run(runner, run_config=config)
    assert ["17 is prime" in str(request.contents) for request in requests] == [False, True]


async def test_a_run_adds_labels_and_options_to_every_request() -> None:
    requests: list[LlmRequest] = []
    own = types.GenerateContentConfig(
        labels={"team": "a", "who": "agent"}, http_options=types.HttpOptions(timeout=5, headers={"x": "agent", "y": "agent"})
    )
    agent = LlmAgent(name="agent", model=recording(requests, "done"), generate_content_config=own)
    of_run = RunConfig(labels={"who": "run"}, http_options=types.HttpOptions(headers={"x": "run"}, api_version="v1"))

    await run(runner_for(agent), run_config=of_run)

    (config,) = [request.config for request in requests]
    assert config.labels == {"team": "a", "who": "run", "adk_agent_name": "agent"}
    options = config.http_options
    assert isinstance(options, types.HttpOptions)
    assert (options.headers, options.timeout, options.api_version) == ({"x": "run", "y": "agent"}, 5, "v1")
    assert own.labels == {"team": "a", "who": "agent"}


def test_the_limit_of_model_calls_has_a_default_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert RunConfig().max_llm_calls == 500
    monkeypatch.setenv("ADK_MAX_LLM_CALLS", "7")
    assert (RunConfig().max_llm_calls, RunConfig(max_llm_calls=3).max_llm_calls) == (7, 3)
