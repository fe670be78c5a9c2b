from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types

from runtime.agents import LlmAgent, ReadonlyContext, SequentialAgent
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.models import ScriptedLlm
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import Reply
from runtime.tools import BaseTool, BaseToolset, FunctionTool, enterprise_web_search, google_maps_grounding, google_search, url_context
from runtime.tools.mcp_tool.mcp_connection import McpConnectionError
from tests.seeds.running import run, runner_for


def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


def subtract(a: int, b: int) -> int:
    """Subtracts."""
    return a - b


class Sums(BaseToolset):
    """Two tools, and a sentence in the instruction."""

    closed = 0

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        tools = [FunctionTool(add), FunctionTool(subtract)]
        return [tool for tool in tools if self._is_tool_selected(tool, readonly_context)]

    async def process_llm_request(self, *, tool_context: Any, llm_request: LlmRequest) -> None:
        llm_request.append_instructions(["Sums are available."])

    async def close(self) -> None:
        Sums.closed += 1
        raise OSError("it was shut already")


async def test_a_prefix_is_part_of_the_tools_names() -> None:
    seen: list[Any] = []

    def call(request: LlmRequest) -> Reply:
        seen.append(([tool.name for tool in request.config.tools[0].function_declarations], request.config.system_instruction))
        return Reply(calls=[("math_add", {"a": 1, "b": 2})])

    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[call, "3"]), tools=[Sums(tool_name_prefix="math")])
    events = await run(runner_for(agent))
    assert seen[0][0] == ["math_add", "math_subtract"]
    assert "Sums are available." in seen[0][1]
    (response,) = events[1].get_function_responses()
    assert (response.name, response.response) == ("math_add", {"result": 3})
    assert [tool.name for tool in await Sums().get_tools()] == ["add", "subtract"]


@pytest.mark.parametrize("chosen", [["add"], lambda tool, context: tool.name == "add"], ids=["names", "function"])
async def test_a_filter_selects_the_offered_tools(chosen: Any) -> None:
    assert [tool.name for tool in await Sums(tool_filter=chosen).get_tools()] == ["add"]


@pytest.mark.logs("runs without the tools of its")
async def test_a_toolset_that_cannot_list_its_tools_is_logged_and_left_out(caplog: pytest.LogCaptureFixture) -> None:
    class Unreachable(Sums):
        async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
            raise McpConnectionError("The server is not running.")

    offered: list[list[str | None]] = []

    def call(request: LlmRequest) -> Reply:
        offered.append([tool.name for tool in request.config.tools[0].function_declarations])
        return Reply(text="done")

    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[call]), tools=[Unreachable(tool_name_prefix="far"), Sums()])
    await run(runner_for(agent))

    assert offered == [["add", "subtract"]]
    (record,) = [record for record in caplog.records if record.levelname == "ERROR"]
    told = "Agent agent runs without the tools of its Unreachable (far_), which cannot be listed: The server is not running."
    assert (record.getMessage(), record.exc_info) == (told, None)


async def test_a_toolset_that_needs_another_engine_fails_the_run() -> None:
    class Elsewhere(Sums):
        async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
            raise EngineNeededError("This toolset")

    with pytest.raises(EngineNeededError, match="This toolset needs google-adk"):
        await run(runner_for(LlmAgent(name="agent", model=ScriptedLlm(replies=["x"]), tools=[Elsewhere()])))


async def test_the_runner_closes_every_toolset_of_its_tree(caplog: pytest.LogCaptureFixture) -> None:
    Sums.closed = 0
    agents = [LlmAgent(name=name, model=ScriptedLlm(replies=["x"]), tools=[Sums()]) for name in ("a", "b")]
    await runner_for(SequentialAgent(name="both", sub_agents=agents)).close()
    assert Sums.closed == 2
    assert "Could not close a Sums of agent b." in caplog.text


async def test_a_cancelled_close_closes_the_other_toolsets_first() -> None:
    began = asyncio.Event()

    class Slow(BaseToolset):
        async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
            return []

        async def close(self) -> None:
            began.set()
            await asyncio.Event().wait()

    class Other(Slow):
        closed = False

        async def close(self) -> None:
            Other.closed = True

    runner = runner_for(LlmAgent(name="agent", model=ScriptedLlm(replies=["x"]), tools=[Slow(), Other()]))
    async with asyncio.TaskGroup() as group:
        closing = group.create_task(runner.close())
        await began.wait()
        closing.cancel()
    assert closing.cancelled() and Other.closed


async def test_geminis_built_in_tools_can_be_combined_with_functions() -> None:
    request = LlmRequest(model="gemini-2.5-flash")
    for tool in (google_search, url_context, google_maps_grounding, enterprise_web_search, FunctionTool(add)):
        await tool.process_llm_request(tool_context=None, llm_request=request)  # type: ignore[arg-type]
    search, reader, places, enterprise, functions = request.config.tools or []
    assert isinstance(search, types.Tool) and search.google_search is not None
    assert isinstance(reader, types.Tool) and reader.url_context is not None
    assert isinstance(places, types.Tool) and places.google_maps is not None
    assert isinstance(enterprise, types.Tool) and enterprise.enterprise_web_search is not None
    assert isinstance(functions, types.Tool) and functions.function_declarations is not None


@pytest.mark.parametrize("tool", [google_search, url_context, google_maps_grounding, enterprise_web_search], ids=lambda tool: tool.name)
async def test_geminis_built_in_tools_refuse_other_models(tool: BaseTool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def offered(model: str | None) -> int:
        request = LlmRequest(model=model)
        await tool.process_llm_request(tool_context=None, llm_request=request)  # type: ignore[arg-type]
        return len(request.config.tools or [])

    monkeypatch.delenv("ADK_DISABLE_GEMINI_MODEL_ID_CHECK", raising=False)
    for other in ("openai/gpt-5", "projects/p/locations/l/publishers/anthropic/models/claude-4", "", None):
        with pytest.raises(ValueError, match=f"not supported for model {other}"):
            await offered(other)
    assert await offered("projects/p/locations/l/publishers/google/models/gemini-2.5-pro") == 1
    monkeypatch.setenv("ADK_DISABLE_GEMINI_MODEL_ID_CHECK", "true")
    assert await offered("in-house") == 1
